#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A second reader of recordings, made from format/FORMAT.md and nothing else. chunks.py
is a part of it.

usage: read.py FILE...

Prints the contents of the files, one item per line. It is compared with uniprof's own
reader (tests/unit/format/test_reader_format.c), and is an example. It needs the zstd
command for compressed chunks.
"""

import sys

sys.dont_write_bytecode = True
from chunks import (WRAP, Damage, File, Numbers, Order,  # noqa: E402
                    column, fields_of, fixed, number, place_of, sums)

SAMPLE_LIMIT = NODE_LIMIT = 1 << 18
NAME_COUNT_LIMIT = 1 << 20
# Limits of a whole recording: a constant, and an amount for each byte of it (section 10)
SUMS = {"payload": (16 << 20, 256), "samples": (1 << 20, 64), "nodes": (1 << 20, 16),
        "names": (1 << 18, 1), "names payload": (16 << 20, 32)}
ALL_NAMES_LIMIT = 1 << 22
NAMES_PAYLOAD_LIMIT = 256 << 20
DEPTH_LIMIT = 1024
CPU_TIME_LIMIT = 1 << 53
COMM_LIMIT = 15
EXIT_LIMIT = (1 << 48) - 1
NAME_LIMIT = 65535
LINE_LIMIT = 64
PATH_LIMIT = 4095
BUILD_ID_LIMIT = 32
UNITS_LIMIT = 2**52 - 1
SEGMENT_LIMIT = 4
BUCKETS = 1920
ROOTS = 16
SEARCH = 32
RUNNING = 1


def text(fields, tag, length):
    return fields.get(tag, b"")[:length].split(b"\0")[0].hex()


def info(fields):
    print("info", *(number(fields, tag) for tag in (1, 6, 7, 8, 9, 10)),
          text(fields, 2, 63), text(fields, 3, 255), text(fields, 4, 1023),
          text(fields, 5, 63), text(fields, 11, 31))


def moves(fields):
    """How much higher the guest has the first 12 files, without zeros at the end."""
    numbers = Numbers(fields.get(15, b""))
    values = []
    while numbers.at < len(numbers.data) and len(values) < 12:
        values.append(numbers.number())
    while values and not values[-1]:
        values.pop()
    return [f"{value:x}" for value in values]


def domain(fields):
    uuid = fields.get(4, bytes(16))
    if len(uuid) != 16:
        raise Damage
    print("domain", *(number(fields, tag) for tag in (1, 2, 5, 6, 7, 8)),
          text(fields, 3, 255), uuid.hex(), number(fields, 9), number(fields, 10),
          text(fields, 11, 127), text(fields, 12, 127), text(fields, 13, 31),
          number(fields, 14), *moves(fields))


def end(fields):
    print("end", *(number(fields, tag) for tag in range(1, 8)))


class Tree:
    """The caller and the address of each node, and where chains end."""

    def __init__(self, fields):
        self.known, self.near, self.call = (
            Numbers(fields.get(tag, b"")) for tag in (20, 21, 22))
        self.call_low = Numbers(fields.get(23, b""))
        self.address = [0] * ROOTS
        self.caller = [None] * ROOTS
        self.lists = {}
        self.last = {}
        self.ends = []
        self.count = number(fields, 17)
        if self.count > NODE_LIMIT:
            raise Damage
        self.make_chains(Numbers(fields.get(18, b"")), Numbers(fields.get(19, b"")))

    def make_chains(self, drop, growth):
        path = [0]
        while drop.left():
            length = len(path) - 1
            up = drop.number()
            more = growth.signed()
            if up > length:
                path = [path[0] + up - length]
                if path[0] >= ROOTS:
                    raise Damage
            else:
                del path[len(path) - up:]
            more += length - (len(path) - 1)
            if (not 0 <= more <= ROOTS + self.count - len(self.caller) or
                    len(path) - 1 + more > DEPTH_LIMIT or
                    len(self.ends) == self.count + ROOTS):
                raise Damage
            for _ in range(more):
                path.append(self.make_node(path[-1]))
            self.ends.append(path[-1])
        if len(self.caller) != self.count + ROOTS:
            raise Damage

    def make_node(self, caller):
        base = self.address[caller]
        callees = self.lists.setdefault(base * 0x9E3779B97F4A7C15 % WRAP >> 50, [])
        place = callees.index(self.last[caller]) + 1 if caller in self.last else 0
        choice = self.known.number() if place < len(callees) else 0
        node = len(self.caller)
        self.caller.append(caller)
        if choice:
            if choice > min(SEARCH, len(callees) - place):
                raise Damage
            self.last[caller] = callees[place + choice - 1]
            self.address.append(self.address[self.last[caller]])
            return node
        if caller in self.last:
            address = self.address[self.last[caller]] + self.near.signed()
        elif callees:
            address = self.address[callees[0]] + self.near.signed()
        else:
            low = fixed(self.call_low.take(2))
            address = base + self.call.signed() * 65536 + low
        address %= WRAP
        self.address.append(address)
        most = place + SEARCH
        while (place < min(most, len(callees)) and
               self.address[callees[place]] < address):
            place += 1
        callees.insert(place, node)
        self.last[caller] = node
        return node

    def chain(self, node):
        addresses = []
        while node >= ROOTS:
            addresses.append(self.address[node])
            node = self.caller[node]
        return addresses, node


def leaves(fields, count, tree):
    """The node at which each sample's stack ends."""
    stacks = [low + 128 * high for low, high in zip(
        column(fields, 15, count, WRAP), column(fields, 16, count, WRAP, default=0))]
    if any(stack >= len(tree.ends) for stack in stacks):
        raise Damage
    return [tree.ends[stack] for stack in stacks]


def times(fields, count):
    """The time of each sample."""
    differences = Numbers(fields.get(3, b""))
    rows = Numbers(fields[6]) if 6 in fields else None
    unit = number(fields, 4, 1)
    step = number(fields, 5)
    time = number(fields, 2)
    values = []
    while len(values) < count:
        if values:
            time = (time + (step + differences.signed()) * unit) % WRAP
        row = rows.number() if rows else 1
        if not 0 < row <= count - len(values):
            raise Damage
        values += [time] * row
    return values


def bucket_start(bucket):
    if bucket < 64:
        return bucket
    shift = bucket // 32 - 1
    return (bucket - 32 * shift) << shift


def pauses(fields):
    numbers = Numbers(fields.get(26, b""))
    counts = {}
    bucket = 0
    while numbers.left():
        bucket += numbers.number()
        count = numbers.number()
        if bucket >= BUCKETS:
            raise Damage
        counts[bucket] = (counts.get(bucket, 0) + count) % WRAP
    return [f"{bucket_start(b)}:{n}" for b, n in sorted(counts.items()) if n]


def cpu_times(fields, states):
    """In ns; "-" if unknown."""
    unit = number(fields, 12, 1)
    usual = number(fields, 13)
    if not 0 < unit <= CPU_TIME_LIMIT:
        raise Damage
    if 11 not in fields:
        return ["-"] * len(states)
    numbers = Numbers(fields[11])
    times = []
    for state in states:
        units = (usual + numbers.signed()) % WRAP if state == RUNNING else numbers.number()
        times.append(units * unit)
    if any(time > CPU_TIME_LIMIT for time in times):
        raise Damage
    return times


def weights(fields, count):
    return column(fields, 10, count, 2**32 - 1, default=1, lowest=1)


def processes(fields, count):
    """Address space, pid and name, tid and name of each sample; 0 or empty if unknown."""
    numbers = Numbers(fields.get(33, b"\0" if count else b""))
    listed = []
    while numbers.left() and len(listed) < count:
        listed.append(numbers.number())
    if count and not listed:
        raise Damage
    known = len(listed)
    listed = [f"{space:x} {pid} {name.hex()}- {tid} {thread.hex()}-"
              for space, pid, name, tid, thread in
              zip(listed, column(fields, 35, known, 2**32 - 1, default=0),
                  texts(fields, 36, known, COMM_LIMIT),
                  column(fields, 38, known, WRAP - 1, default=0),
                  texts(fields, 39, known, COMM_LIMIT))]
    return [listed[index] for index in
            column(fields, 34, count, known - 1, default=0)]


def rows_of(fields):
    """What samples and waits have in common, and the counts of samples."""
    count = number(fields, 1)
    if count > SAMPLE_LIMIT:
        raise Damage
    tree = Tree(fields)
    states = column(fields, 9, count, 255, default=0)
    rows = list(zip(
        column(fields, 7, count, 65535, default=0),
        column(fields, 8, count, 8191, default=0),
        states,
        weights(fields, count),
        cpu_times(fields, states),
        column(fields, 14, count, 2, default=0),
        processes(fields, count)))
    leaf = leaves(fields, count, tree)
    column(fields, 37, count, EXIT_LIMIT, default=0)
    counts = [number(fields, tag) for tag in (24, 25, 27, 28)] + pauses(fields)
    for tag in (29, 30, 31, 32):
        number(fields, tag)
    chains = [tree.chain(node) for node in leaf]
    ends = [" ".join([str(root), *(f"{address:x}" for address in chain)])
            for chain, root in chains]
    return list(zip(times(fields, count), rows, ends)), counts


def samples(fields):
    rows, counts = rows_of(fields)
    for time, numbers, chain in rows:
        print("sample", time, *numbers, chain)
    print("counts", *counts)


def waits(fields):
    rows, _ = rows_of(fields)
    until = number(fields, 42)
    unit = number(fields, 41, 1)
    lengths = column(fields, 40, len(rows), WRAP - 1)
    counts = [number(fields, tag) for tag in (43, 44, 45, 46, 47, 48, 49, 50)]
    if not unit:
        raise Damage
    lines = []
    before = 0
    for (start, row, chain), length in zip(rows, lengths):
        index, _, state, _, _, kind, process = row
        start = (start + before) % WRAP
        end = start + (length - 1) * unit if length else until
        before += end - start if length else 0
        if not start <= end <= until or kind == 2:
            raise Damage
        lines.append(("wait", start, end, int(length > 0), index, state, process, chain))
    for line in lines:
        print(*line)
    print("rounds", until, *counts)


def texts(fields, tag, count, limit=NAME_LIMIT):
    """A text column; texts end at a 0 byte."""
    return [value.split(b"\0")[0] for value in byte_strings(fields, tag, count, limit)]


def byte_strings(fields, tag, count, limit):
    if tag not in fields:
        return [b""] * count
    numbers = Numbers(fields[tag])
    values = []
    for _ in range(count):
        length = numbers.number()
        if length > limit:
            raise Damage
        values.append(numbers.take(length))
    return values


def names(fields):
    count = number(fields, 1)
    if count > NAME_COUNT_LIMIT:
        raise Damage
    rows = list(zip(
        column(fields, 2, count, 65535, default=0),
        sums(fields, 3, count, 0),
        column(fields, 4, count, WRAP - 1, default=0),
        texts(fields, 5, count),
        texts(fields, 6, count)))
    if not all(name for _, _, _, name, _ in rows):
        raise Damage
    kinds = column(fields, 7, count, WRAP - 1, default=0)
    lines = lines_of(fields, count)
    paths = texts(fields, 13, count, PATH_LIMIT)
    ids = byte_strings(fields, 14, count, BUILD_ID_LIMIT)
    for (index, address, offset, name, dso), kind, own, path, build_id in zip(
            rows, kinds, lines, paths, ids):
        print("name", index, f"{address:x}", offset, name.hex(), dso.hex(), kind & 7,
              path.hex(), build_id.hex(),
              *(part for function, path, line in own
                for part in (function.hex(), path.hex(), line)))


def lines_of(fields, count):
    """The lines of each name."""
    total = number(fields, 8)
    counts = column(fields, 9, count, LINE_LIMIT, default=0)
    used = sum(counts)
    if total > NAME_COUNT_LIMIT or used > total:
        raise Damage
    lines = zip(texts(fields, 10, used), texts(fields, 11, used),
                column(fields, 12, used, 2**32 - 1))
    return [[next(lines) for _ in range(own)] for own in counts]


def mappings(fields):
    count = number(fields, 1)
    if count > NAME_COUNT_LIMIT:
        raise Damage
    if count and any(tag not in fields for tag in range(2, 11)):
        raise Damage
    rows = zip(
        column(fields, 2, count, 65535),
        sums(fields, 3, count, 0),
        sums(fields, 4, count, 0),
        sums(fields, 5, count, 0),
        sums(fields, 6, count, 0),
        column(fields, 7, count, UNITS_LIMIT, lowest=1),
        column(fields, 8, count, UNITS_LIMIT),
        texts(fields, 9, count, PATH_LIMIT),
        byte_strings(fields, 10, count, BUILD_ID_LIMIT))
    lines = []
    for index, space, pid, time, start, size, offset, path, build_id in rows:
        start = start * 4096 % WRAP
        if pid >= 2**32 or start + size * 4096 > WRAP:
            raise Damage
        lines.append(("mapping", index, space, pid, time, f"{start:x}", size * 4096,
                      offset * 4096, path.hex(), build_id.hex()))
    for line in lines:
        print(*line)


def program(fields):
    numbers = Numbers(fields.get(7, b""))
    segments = []
    while numbers.left() and len(segments) < 3 * SEGMENT_LIMIT:
        segments.append(numbers.number())
    segments += [0] * (3 * SEGMENT_LIMIT - len(segments))
    shown = []
    for i in range(0, len(segments), 3):
        if not segments[i + 1]:
            break
        shown += segments[i:i + 3]
    print("program", text(fields, 1, 255), text(fields, 2, 1023), text(fields, 3, 255),
          text(fields, 4, 63), number(fields, 5), f"{number(fields, 6):x}",
          *(f"{part:x}" for part in shown))


def count_up(sums, kind, payload):
    """Adds the contents of a chunk to the sums of the recording."""
    sums["payload"] += len(payload)
    if kind in (5, 8):
        sums["names payload"] += len(payload)
    try:
        fields = fields_of(payload)
        if kind in (3, 7):
            sums["samples"] += number(fields, 1)
            sums["nodes"] += number(fields, 17)
        if kind == 5:
            sums["names"] += number(fields, 1) + number(fields, 8)
        if kind == 8:
            sums["names"] += number(fields, 1)
    except Damage:
        pass


def is_too_much(sums, end):
    return (any(sums[what] > free + each * end for what, (free, each) in SUMS.items())
            or sums["names"] > ALL_NAMES_LIMIT
            or sums["names payload"] > NAMES_PAYLOAD_LIMIT)


KINDS = {1: info, 2: domain, 3: samples, 4: end, 5: names, 6: program,
         7: waits, 8: mappings}


def read(path):
    with open(path, "rb") as file:
        recording = File(file.read())
    found = False
    sums = dict.fromkeys(SUMS, 0)
    order = Order()
    for kind, payload, end_of_chunk in recording.chunks():
        found = True
        count_up(sums, kind, payload)
        if is_too_much(sums, end_of_chunk):
            print("too much for its size")
            return
        missing = order.take(place_of(payload))
        if missing is None:
            print("out of place")
        elif missing:
            print("missing", missing)
        if kind not in KINDS:
            print(f"chunk {kind} of {len(payload)} bytes")
            continue
        try:
            KINDS[kind](fields_of(payload))
        except Damage:
            print(KINDS[kind].__name__, "damaged")
    print(f"{'done' if found else 'no recording'}, passed over {recording.bytes} bytes "
          f"in {recording.places} places{', cut' if recording.cut else ''}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for name in sys.argv[1:]:
        read(name)
