#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the samples of a hostile guest, for check.sh's check_harm and for that of the KVM tests.

usage: hostile.py FOLDER GUEST

The guest spins in a separate function for each kind of harm (tests/guest), so the sampled
address identifies the kind.
"""

import collections
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "format"))
sys.dont_write_bytecode = True
import read  # noqa: E402

# How chains end: format/FORMAT.md.
(WHOLE, TOO_DEEP, NOT_PRESENT, NOT_CANONICAL, NOT_ASCENDING, UNALIGNED,
 NO_PAGE, NOT_READY, NOT_CALLED) = range(9)
UNKNOWN = 11
ALL_OF_STORM = 12  # here only
NAMES = ["whole", "too deep", "not present", "not canonical", "not ascending",
         "unaligned", "no page", "not ready", "not called", "real mode", "not captured",
         "unknown", "all frames"]
# Of storm's whole chain. It is found in a guest that a busy emulator does not run between two pauses,
# since each pause finds more of its pages mapped.
STORM_FRAMES = 256

# The ends of chains that must be seen, and the ends that may be seen.
EXPECTED = {
    "self": ([NOT_ASCENDING], []),
    "pair": ([NOT_ASCENDING], []),
    "endless": ([TOO_DEEP], []),
    "unmapped": ([NOT_PRESENT], []),
    "noncanonical": ([NOT_CANONICAL], []),
    "unaligned": ([UNALIGNED], []),
    "across": ([WHOLE], []),
    "cut": ([NOT_PRESENT], []),
    # An entry of a page table is no return address.
    "recursive": ([], [NOT_ASCENDING, NOT_CALLED]),
    "beyond": ([NO_PAGE], []),
    "ones": ([NO_PAGE], []),
    "huge": ([NO_PAGE], []),
    "reserved": ([NO_PAGE], []),
    "flicker": ([WHOLE, NOT_PRESENT], []),
    "remap": ([WHOLE, NOT_ASCENDING], []),
    "moving": ([WHOLE], [NOT_READY]),
    "storm": ([NOT_READY], [TOO_DEEP, NO_PAGE, ALL_OF_STORM]),
    # Each page is a different one, and fails slowly: mapping ends at the limit of a round.
    "nowhere": ([], [NO_PAGE, NOT_READY]),
    # An old mapping shows the page for some time after it was released.
    "balloon": ([], [WHOLE, NO_PAGE, NOT_READY]),
    "apic": ([NO_PAGE], []),
    "device": ([NO_PAGE], []),
    "grants": ([WHOLE], []),
    "shared": ([], list(range(9))),  # what Xen has there
    # The last of 255 frames is reached, and leads down.
    "apart": ([NOT_ASCENDING], [NOT_READY]),
    "modes": ([WHOLE], []),
}
# Kinds that a guest lacks or that Xen refuses, by the first part of its name.
MISSING = {
    "pv": {"beyond", "ones", "huge", "reserved", "storm", "nowhere", "balloon", "apic",
           "device", "grants", "modes"},
    "pvh": {"device"},
    "kvm": {"moving", "storm", "balloon", "device", "grants", "shared", "apart", "modes"},
    "arm64": {"apic", "shared", "modes"},
    "arm32": {"noncanonical", "apic", "shared", "modes"},
}
# Bytes of each kind's function before it has the frame pointer: tests/guest/*/spin*.S. An
# emulator that stalls there is sampled there.
PROLOGUE = {"pv": 13, "pvh": 13, "kvm": 13, "arm64": 20, "arm32": 40}

MOST_PAUSES = 4   # of a round: record/sampling.h
MOST_MAPS = 72 + 128  # of a round, for one vCPU: ROUND_MAPS and ENTRIES_MAPS
MOST_MAPPED = 16384  # pages: xen/pages.c
# How many times the pause of a chain of 10 addresses any kind's may take. The worst
# chain costs about 2,500 looks at pages instead of about 10. In the lab an ARM machine's
# hypercalls take less of a pause, so that such a chain is 4 to 8 times the usual there.
MOST_LONGER = 8
MOST_LONGER_ARM = 16


def check(what, good):
    print("ok" if good else "FAILED", f"{guest}: {what}")


def read_symbols(path):
    """The addresses of each kind's function."""
    kinds = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            kind = words[-1].removeprefix("hostile_")
            if kind in EXPECTED and kind != words[-1]:
                start, size = int(words[0], 16), int(words[1], 16)
                kinds[kind] = range(start + PROLOGUE[cpu], start + size)
    return kinds


def kind_of(address):
    """None for the guest's usual work."""
    for kind, addresses in kinds.items():
        if address in addresses:
            return kind
    return None


def recorded(path):
    """The sampled address, the chain's end and length and the weight of each recorded sample."""
    with open(path, "rb") as file:
        recording = read.File(file.read())
    for number, payload, _ in recording.chunks():
        if number != 3:
            continue
        fields = read.fields_of(payload)
        count = read.number(fields, 1)
        tree = read.Tree(fields)
        leaves = read.leaves(fields, count, tree)
        for weight, leaf in zip(read.weights(fields, count), leaves):
            addresses, end = tree.chain(leaf)
            yield addresses[0], end, len(addresses), weight


def check_ends(source, samples):
    """Whether the chains of each kind end as they should."""
    ends = collections.defaultdict(collections.Counter)
    for address, end, frames, weight in samples:
        kind = kind_of(address)
        # The recorder may not know of an end whether it is the outermost one.
        if end == UNKNOWN:
            end = ALL_OF_STORM if kind == "storm" and frames == STORM_FRAMES else WHOLE
        ends[kind][end] += weight
    for kind, (needed, possible) in EXPECTED.items():
        if kind in missing:
            continue
        seen = ends[kind]
        # One or two samples may be from just before or after.
        good = sum(seen[end] for end in needed + possible)
        text = ", ".join(f"{n} {NAMES[end]}" for end, n in sorted(seen.items()))
        check(f"{source}: {kind} has {text or 'no samples'}",
              good > 0 and good + 2 >= 0.98 * seen.total() and all(seen[e] for e in needed))
    usual = ends[None]
    check(f"{source}: {usual[WHOLE]} of {usual.total()} samples of the usual work are whole",
          usual[WHOLE] > 0.98 * usual.total())


def median(numbers):
    return sorted(numbers)[len(numbers) // 2]


def check_costs(rounds):
    pauses = max(r[3] for r in rounds)
    maps = max(r[5] for r in rounds)
    check(f"a round has at most {pauses} pauses", pauses <= MOST_PAUSES)
    check(f"a round has at most {maps} map calls", maps <= MOST_MAPS)
    # A sample in another mode must be taken again.
    modes = [r[3] for r in rounds if kind_of(r[0]) == "modes"]
    if "modes" not in missing:
        check(f"{len(modes)} rounds of modes have {sum(modes)} pauses",
              0 < sum(modes) < 1.1 * len(modes))
    times = collections.defaultdict(list)
    for address, _, _, paused, time, _ in rounds:
        if paused:
            times[kind_of(address)].append(time)
    usual = median(times.pop(None))
    # A stall of the emulator has much weight among few samples; on ARM, where turns are short,
    # even among all samples of a kind, so the minimum is used.
    fewest, typical = (20, min) if is_arm else (30, median)
    ratio, kind = max((typical(t) / usual, k) for k, t in times.items() if len(t) >= fewest)
    check(f"no kind's pauses are longer than those of {kind}, {ratio:.1f} times the usual",
          ratio < (MOST_LONGER_ARM if is_arm else MOST_LONGER))


def check_probe(path):
    with open(path, encoding="ascii") as file:
        *lines, last = file.read().splitlines()
    rounds = [(int(a, 16), *map(int, rest)) for a, *rest in map(str.split, lines)]
    _, in_pause, _, most = last.split()
    check(f"{in_pause} map calls were made during pauses", in_pause == "0")
    check(f"at most {most} pages were mapped", 0 < int(most) <= MOST_MAPPED)
    check_costs(rounds)
    check_ends("probe", ((r[0], r[1], r[2], 1) for r in rounds))


folder, guest = sys.argv[1:]
cpu = guest.split("-")[0]
is_arm = cpu.startswith("arm")
kinds = read_symbols(f"{folder}/{guest}.symbols")
with open(f"{folder}/{guest}.log", encoding="ascii", errors="replace") as log:
    refused = {line.split()[1].rstrip(":") for line in log if ": not allowed" in line}
missing = set(EXPECTED) - kinds.keys() | refused
check(f"it does all but {len(missing)} of {len(EXPECTED)} kinds", missing == MISSING[cpu])
if cpu != "kvm":
    check_probe(f"{folder}/{guest}.probe")
check_ends("recording", recorded(f"{folder}/{guest}.data"))
