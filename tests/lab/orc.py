#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the ORC of a Linux kernel with the table that `uniprof table` makes of it.

orc.py VMLINUX TABLE: reads the sections of the one as Linux describes them
(arch/x86/include/asm/orc_types.h, arch/x86/kernel/unwind_orc.c) and the file format of the
other (docs/table.md), both on its own, and looks at the start and at the end of each row.
Prints one line; the exit code is 1 if there is a difference.
"""
import bisect
import struct
import sys

KEPT, LOST = -1 << 31, (1 << 31) - 1
HYPERCALL_PAGE = 2  # xen/include/public/elfnote.h
UNDEFINED, PREV_SP, DX, DI, BP, SP, R10, R13, BP_INDIRECT, SP_INDIRECT = range(10)
NUMBERS = {DX: 2, DI: 7, R10: 10, R13: 13}
UNKNOWN, END, CALL, REGS, PARTIAL = range(5)


def read_sections(data):
    (shoff,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, shoff + size * i) for i in range(count)]
    at = headers[names][4]
    return {data[at + h[0]:data.index(b"\0", at + h[0])].decode(): h for h in headers}


def find_hypercalls(data, notes):
    """The address of the page in the note for Xen; None: there is none."""
    at, end = notes[4], notes[4] + notes[5]
    while at < end:
        name, size, kind = struct.unpack_from("<III", data, at)
        content = at + 12 + (name + 3 & ~3)
        if data[at + 12:at + 12 + name] == b"Xen\0" and kind == HYPERCALL_PAGE:
            return struct.unpack_from("<Q", data, content)[0]
        at = content + (size + 3 & ~3)
    return None


def rule_of(sp_offset, bp_offset, bits, is_new):
    """A rule as (kind, flags, word, cfa, caller, fp); None: there is none."""
    sp, bp, kind = bits & 15, bits >> 4 & 15, bits >> 8
    if is_new:
        kind &= 7
    elif sp == UNDEFINED:
        kind = END if kind & 0xC else UNKNOWN
    else:
        kind = CALL + (kind & 3)
    if kind == END:
        return (2, 0, 0, 0, 0, 0)
    if kind == UNKNOWN or sp in (UNDEFINED, PREV_SP):
        return None
    from_fp = sp in (BP, BP_INDIRECT)
    from_word = sp in (SP_INDIRECT, BP_INDIRECT)
    flags = from_fp | from_word << 1
    if sp in NUMBERS:
        flags |= 1 + NUMBERS[sp] << 8
    word = sp_offset if sp == BP_INDIRECT else 0
    cfa = sp_offset if sp in (SP, BP, SP_INDIRECT) else 0
    if kind in (REGS, PARTIAL):
        if sp not in (SP, BP):
            return None
        regs = {REGS: (152, 128, 32), PARTIAL: (24, 0, KEPT)}[kind]
        return (3, flags, regs[0], cfa, regs[1], regs[2])
    fp = KEPT
    if bp == PREV_SP:
        fp = bp_offset
    elif bp == BP and from_fp:
        flags |= 4
        fp = bp_offset
    elif bp != UNDEFINED:
        fp = LOST
    return (1, flags, word, cfa, -8, fp)


def read_orc(data):
    """Rows as (address, end, rule)."""
    sections = read_sections(data)
    ips, entries = sections[".orc_unwind_ip"], sections[".orc_unwind"]
    count = ips[5] // 4
    assert entries[5] == 6 * count
    banner = data.index(b"Linux version ")
    version = data[banner + 14:banner + 40].split()[0].split(b".")
    is_new = (int(version[0]), int(version[1])) >= (6, 4)
    addresses = [ips[3] + 4 * i + offset for i, (offset,) in
                 enumerate(struct.iter_unpack("<i", data[ips[4]:ips[4] + ips[5]]))]
    rules = [rule_of(*row, is_new) for row in
             struct.iter_unpack("<hhH", data[entries[4]:entries[4] + entries[5]])]
    rows = sorted(zip(addresses, [rule is not None for rule in rules], rules),
                  key=lambda row: row[:2])
    return [(row[0], following[0], row[2]) for row, following in zip(rows, rows[1:])
            if row[0] < following[0]], find_hypercalls(data, sections[".notes"])


PUSHES = bytes.fromhex("50 57 56 52 51 6ada 4150 4151 4152 4153 53 55 4154 4155 4156 4157")


def find_known(data, rows):
    """The addresses where the code shows more than the rows say, each with its rule.

    In retpolines, `call` pushes a return address, which is then overwritten by that of the
    jump's target. Entries save the registers of what they interrupted. Before, and where a
    system call ends, rcx has the program's address."""
    name, kind, flags, address, offset, size = read_sections(data)[".text"]
    text = data[offset:offset + size]
    found, calls, at = {}, [], -1

    def called(word):
        return (4, 2 << 8, word, 0, 0, KEPT)

    for start, end, rule in rows:
        code = text[start - address:end - address]
        if rule != (2, 0, 0, 0, 0, 0) or not code:
            continue
        if code.startswith(b"\x59\x41\x5b") and len(code) <= 32:
            places = {start: 16, start + 1: 8, start + 2: 8}
            places.update({place: 0 for place in range(start + 3, end)})
        elif code.endswith(PUSHES):
            lengths = [2 if text[i - address] in (0x41, 0x6A) else 1 for i in
                       range(end - len(PUSHES), end) if (i - end + len(PUSHES)) in
                       (0, 1, 2, 3, 4, 5, 7, 9, 11, 13, 15, 16, 17, 19, 21, 23)]
            places, place = {}, end - len(PUSHES)
            for number_of_push, length in enumerate(lengths):
                places.update({place + i: 8 * number_of_push for i in range(length)})
                place += length
            if b"\x0f\x01\xf8\x65\x48\x89\x24\x25" in code[:12]:
                calls.append(start)
                at_rsp = {place: KEPT for place in range(start, end - 40)}
                at_rsp.update({place: LOST for place in range(end - 40, end - 30)})
                at_rsp.update({place: 0 for place in range(end - 30, end - 28)})
                at_rsp.update({place: 8 for place in range(end - 28, end - 26)})
                at_rsp[end - 26] = 16
                found.update({place: called(word) for place, word in at_rsp.items()})
        elif code.endswith(b"\x48\x0f\x07") and b"\x5f\x5c\x0f\x01\xf8" in code[-24:]:
            last = start + code.rindex(b"\x5f\x5c\x0f\x01\xf8")
            calls.append(last)
            found.update({place: called(KEPT) for place in range(last + 2, end)})
            found.update({last: called(8), last + 1: called(0)})
            if code[last - 1 - start] == 0x58:
                found[last - 1] = called(16)
            continue
        else:
            continue
        found.update({place: (3, 0, 24, at_sp, 0, KEPT) for place, at_sp in places.items()})
    assert len(calls) == 2, "the entry and the end of system calls are not found"
    while (at := text.find(bytes.fromhex("e807000000f3900faee8ebf9"), at + 1)) >= 0:
        if (address + at) % 32:
            continue
        for start, end, cfa in (at, at + 5, 8), (at + 12, at + 16, 16):
            for place in range(start, end):
                found[address + place] = (1, 0, 0, cfa, -8, KEPT)
    return found


def number(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def read_table(data):
    """The starts of its ranges, and the ranges as (start, end, rule)."""
    assert data[:8] == b"\177uprtbl\n"
    data = data[20 + struct.unpack_from("<I", data, 16)[0]:]
    assert data[:8] == b"\177unwind\n"
    rules, ranges = struct.unpack_from("<II", data, 16)
    rule = [struct.unpack_from("<HHiiii", data, 24 + 20 * i) for i in range(rules)]
    at, end, table = 24 + 20 * rules, 0, []
    for _ in range(ranges):
        gap, at = number(data, at)
        size, at = number(data, at)
        which, at = number(data, at)
        table.append((end + gap, end + gap + size, rule[which]))
        end += gap + size
    assert at == len(data)
    return [row[0] for row in table], table


def main():
    with open(sys.argv[1], "rb") as file:
        kernel = file.read()
    rows, hypercalls = read_orc(kernel)
    known_code = find_known(kernel, rows)
    with open(sys.argv[2], "rb") as file:
        starts, table = read_table(file.read())
    known = different = 0
    for start, end, rule in rows:
        known += rule is not None
        for address in (start, end - 1):
            i = bisect.bisect_right(starts, address) - 1
            found = table[i][2] if i >= 0 and address < table[i][1] else None
            if hypercalls and hypercalls <= address < hypercalls + 4096:
                different += found is not None
            elif found != known_code.get(address, rule):
                different += 1
                if different < 10:
                    print(f"{address:x}: {known_code.get(address, rule)} in the kernel, {found} in the table",
                          file=sys.stderr)
    for address, rule in known_code.items():
        i = bisect.bisect_right(starts, address) - 1
        different += i < 0 or address >= table[i][1] or table[i][2] != rule
    print(f"{len(rows)} rows of ORC, {known} of them with a rule: {different} differences")
    return different != 0 or known < 100000


sys.exit(main())
