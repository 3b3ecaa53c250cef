# SPDX-License-Identifier: BSD-3-Clause
"""Decodes messages of protocol buffers."""

VARINT, I64, LEN = 0, 1, 2


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def typed_fields(data):
    """Yields the fields of a message: (number, wire type, value)"""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == VARINT:
            value, at = varint(data, at)
        else:
            assert key & 7 in (I64, LEN), f"wire type {key & 7}"
            size = 8
            if key & 7 == LEN:
                size, at = varint(data, at)
            assert at + size <= len(data), "the profile is cut"
            value, at = data[at : at + size], at + size
        yield key >> 3, key & 7, value


def fields(data):
    """Yields the fields of a message: (number, value)"""
    for number, _, value in typed_fields(data):
        yield number, value


def packed(value):
    """Yields the values of a repeated number, which may be packed"""
    if isinstance(value, int):
        yield value
        return
    at = 0
    while at < len(value):
        number, at = varint(value, at)
        yield number
