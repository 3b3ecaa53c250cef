# SPDX-License-Identifier: BSD-3-Clause
"""Numbers, fields and chunks of recordings (format/FORMAT.md, sections 2 to 5), for read.py."""

import subprocess
import zlib

MAGIC = b"\xabUPR"
HEADER = 24
SIZE_LIMIT = 16 << 20
FIELDS = 4096
WRAP = 1 << 64


class Damage(Exception):
    """A payload breaks the rules."""


# Numbers (section 2)

class Numbers:
    """The numbers in some bytes, one after the other."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def left(self):
        return len(self.data) - self.at

    def take(self, size):
        if size > self.left():
            raise Damage
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self):
        value = 0
        for i in range(10):
            byte = self.take(1)[0]
            if i == 9 and byte > 1:
                raise Damage
            value |= (byte & 0x7F) << (7 * i)
            if byte < 0x80:
                return value
        raise Damage

    def signed(self):
        stored = self.number()
        return -((stored + 1) // 2) if stored % 2 else stored // 2


def number(fields, tag, default=0):
    return Numbers(fields[tag]).number() if tag in fields else default


def column(fields, tag, count, highest, default=None, lowest=0):
    """A column of numbers; required if there is no default."""
    if tag not in fields:
        if default is None and count:
            raise Damage
        return [default] * count
    numbers = Numbers(fields[tag])
    values = [numbers.number() for _ in range(count)]
    if any(not lowest <= value <= highest for value in values):
        raise Damage
    return values


def sums(fields, tag, count, start):
    """A column of differences, added up."""
    if count and tag not in fields:
        raise Damage
    numbers = Numbers(fields.get(tag, b""))
    values = []
    for _ in range(count):
        start = (start + numbers.signed()) % WRAP
        values.append(start)
    return values


# Chunks (sections 3 and 4)

def fixed(data):
    return int.from_bytes(data, "little")


def decode(encoding, stored, size):
    """The payload, or None."""
    if encoding == 0:
        return stored if len(stored) == size else None
    if encoding != 1:
        return None
    run = subprocess.run(["zstd", "-d", "-c", "-q"], input=stored,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return run.stdout if run.returncode == 0 and len(run.stdout) == size else None


class File:
    """The intact chunks of a file, and the damage around them."""

    def __init__(self, data):
        self.data = data
        self.bytes = 0
        self.places = 0
        self.cut = False
        self.in_damage = False

    def pass_over(self, size):
        if not self.in_damage:
            self.places += 1
        self.in_damage = True
        self.bytes += size

    def header(self, at):
        """Type, encoding, sizes and checksum; None if there is no header."""
        head = self.data[at:at + HEADER]
        if len(head) < HEADER:
            if head[:4] == MAGIC[:len(head)]:
                self.cut = True
            return None
        if head[:4] != MAGIC or fixed(head[20:24]) != zlib.crc32(head[:20]):
            return None
        stored, payload = fixed(head[8:12]), fixed(head[12:16])
        if stored > SIZE_LIMIT or payload > SIZE_LIMIT:
            return None
        if len(self.data) - at - HEADER < stored:
            self.cut = True
            return None
        return (fixed(head[4:6]), fixed(head[6:8]), stored, payload, fixed(head[16:20]))

    def chunks(self):
        at = 0
        while at < len(self.data):
            header = self.header(at)
            if not header:
                further = self.data.find(MAGIC[:1], at + 1)
                further = len(self.data) if further < 0 else further
                self.pass_over(further - at)
                at = further
                continue
            kind, encoding, stored_size, size, checksum = header
            stored = self.data[at + HEADER:at + HEADER + stored_size]
            at += HEADER + stored_size
            payload = None
            if zlib.crc32(stored) == checksum:
                payload = decode(encoding, stored, size)
            if payload is None:
                self.pass_over(HEADER + stored_size)
                continue
            self.in_damage = False
            self.cut = False
            yield kind, payload, at


# Payloads (section 5)

def fields_of(payload):
    """The bytes of each field by its tag."""
    numbers = Numbers(payload)
    fields = {}
    count = 0
    while numbers.left():
        tag = numbers.number()
        count += 1
        if tag in fields and tag < 64 or count > FIELDS:
            raise Damage
        fields[tag] = numbers.take(numbers.number())
    return fields


def place_of(payload):
    """Mark and number of a chunk (section 5.6); None if it has none."""
    numbers = Numbers(payload)
    try:
        if not numbers.left() or numbers.number() != 0:
            return None
        place = Numbers(numbers.take(numbers.number()))
        return place.number(), place.number()
    except Damage:
        return None


class Order:
    """Compares the places of chunks."""

    def __init__(self):
        self.mark = None
        self.next = 0

    def take(self, place):
        """The number of chunks missing before this one; None if it is out of place."""
        if place is None:
            return 0 if self.mark is None else None
        mark, number = place
        if self.mark is None:
            self.mark = mark
        if mark != self.mark or number < self.next:
            return None
        missing = number - self.next
        self.next = min(number + 1, WRAP - 1)
        return missing
