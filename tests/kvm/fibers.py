#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what was read of the threads of fibers.c with what they do.

usage: fibers.py RECORDING PROGRAM [BEFORE AFTER]

RECORDING: made with --waits, of a guest that runs PROGRAM. BEFORE and AFTER: lines that the guest
printed at the start and at the end; shares of time are compared with what they say. Prints a line
for each check, "ok" or "FAILED".
"""

import bisect
import os
import subprocess
import sys

START = ("run_thread",)
NAP = ("nap", "schedule")
# What each thread does when it does not run: the functions of the chains, outermost first.
CHAINS = {
    "worker": {("_start", "guest_main", "worker", "schedule"), START + ("worker", "schedule")},
    "idle": {("thread_starter",), START + ("idle", "schedule")},
    "sleeper": {START + ("sleeper", "nap_long") + NAP, START + ("sleeper", "nap_short") + NAP},
    "waiter": {START + ("waiter",) + NAP, START + ("waiter", "wait_for_work", "schedule")},
    "waker": {START + ("waker", "prepare") + NAP, START + ("waker", "wait_for_order", "schedule")},
    "forever": {START + ("forever", "schedule")},
    "deep": {START + ("deep",) + ("dive",) * 40 + NAP},
    "ping": {("thread_starter",), START + ("ping", "wait_for_pong", "schedule")},
    "pong": {START + ("pong",) + ("wait_for_ping",) * depth + ("schedule",) for depth in range(1, 5)},
    "spawner": {START + ("spawner",) + NAP},
    "brief": {("thread_starter",), START + ("brief",) + NAP},
}
# What the guest prints of threads: cycles in a function, and elsewhere
PRINTED = (("sleeper", "nap_long"), ("waiter", "wait_for_work"), ("waker", "wait_for_order"))


def verdict(good, text):
    print("ok" if good else "FAILED", text)


def functions_of(program):
    """A function that names the functions of a chain, outermost first."""
    run = subprocess.run(["nm", program], stdout=subprocess.PIPE, check=True, text=True)
    symbols = sorted((int(line.split()[0], 16), line.split()[2])
                     for line in run.stdout.splitlines() if line.split()[1] in "tT")
    starts = [start for start, _ in symbols]

    def names(addresses):
        places = [int(address, 16) for address in addresses]
        return tuple(symbols[bisect.bisect_right(starts, place - (i > 0)) - 1][1]
                     for i, place in enumerate(places))[::-1]
    return names


def read_recording(path, names):
    """Waits (thread, length, end, functions) and samples (thread, functions)."""
    reader = os.path.join(os.path.dirname(__file__), "../format/read.py")
    run = subprocess.run([sys.executable, reader, path], stdout=subprocess.PIPE, check=True,
                         text=True)
    waits, samples, until = {}, [], 0
    for line in run.stdout.splitlines():
        word = line.split()
        if word[0] == "wait":
            thread = bytes.fromhex(word[10].rstrip("-")).decode().lower()
            waits[(word[9], word[1])] = [thread, int(word[1]), int(word[2]), word[3] == "1",
                                         word[11], names(word[12:])]
        elif word[0] == "rounds":
            until = int(word[1])
        elif word[0] == "sample":
            samples.append((bytes.fromhex(word[12].rstrip("-")).decode(), names(word[14:])))
    return [(thread, (end if is_over else until) - start, root, chain)
            for thread, start, end, is_over, root, chain in waits.values()], samples


def check_chains(waits):
    for thread in sorted(CHAINS):
        chains = [(root, chain) for name, _, root, chain in waits if name == thread]
        bad = [chain for root, chain in chains if root != "0" or chain not in CHAINS[thread]]
        # These switch so often that they seldom wait for as long as it takes to read a chain.
        is_quick = thread in ("worker", "ping", "pong")
        verdict((chains or is_quick) and len(bad) <= 0.005 * len(chains),
                f"{thread}: {len(chains) - len(bad)} of {len(chains)} chains are whole and right"
                f"{' but ' + ';'.join(bad[0]) if bad else ''}")
    others = {name for name, _, _, _ in waits} - set(CHAINS)
    verdict(not others, f"no other threads {others or ''}")


def check_shares(waits, before, after):
    spent = [int(last) - int(first)
             for first, last in zip(before.split()[1:], after.split()[1:])]
    for i, (thread, function) in enumerate(PRINTED):
        share = spent[2 * i] / max(1, spent[2 * i] + spent[2 * i + 1])
        times = [(length, function in chain) for name, length, _, chain in waits if name == thread]
        whole = sum(length for length, _ in times)
        got = sum(length for length, is_in in times if is_in) / max(1, whole)
        verdict(whole > 1e9 and abs(got - share) <= 0.02,
                f"{thread}: {100 * got:.1f} % of {whole / 1e9:.1f} s, of {100 * share:.1f} % known")


def check_samples(samples):
    """Samples have the thread that ran, once the program was found in the guest.

    A sample has none if the guest has gone on to another thread before it could be read: 22 % were
    seen on a busy host.
    """
    named = [(thread, chain) for thread, chain in samples if thread]
    # In the last two, a thread has not called its own function yet, or has left it.
    right = [thread for thread, chain in named
             if {thread, "thread_starter", "thread_exit"} & set(chain)]
    verdict(samples and len(named) >= 0.7 * len(samples),
            f"{len(named)} of {len(samples)} samples have a thread")
    verdict(len(right) >= 0.995 * len(named), f"{len(right)} of {len(named)} have the right one")


if __name__ == "__main__":
    WAITS, SAMPLES = read_recording(sys.argv[1], functions_of(sys.argv[2]))
    check_chains(WAITS)
    check_samples(SAMPLES)
    if len(sys.argv) > 3:
        check_shares(WAITS, sys.argv[3], sys.argv[4])
