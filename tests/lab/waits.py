#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what was read of the threads of lab-waits with what is known of them.

usage: waits.py shown LOG SHOWN
       waits.py shares RECORDING PROGRAM TURNS
       waits.py readings LEAST LOG RECORDING PROGRAM KALLSYMS
       waits.py speed WORK

LOG: the guest's console, with the stacks that its kernel printed; SHOWN: output of `uniprof
stack --threads`, once or several times, with the names of kernel and program. RECORDING: made with
--waits. TURNS: what the program printed before and after the recording of how long it was in its
waits. LEAST: number of chains that must be in the recording. WORK: lines "with" or "without", each
with the work and the time that the guest printed at the start and at the end of a part of a second.
Prints a line for each check, "ok" or "FAILED".
"""

import bisect
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../format"))
import read  # pylint: disable=wrong-import-position

# What the program does in each thread: the functions of the chains, outermost first.
START = ("run_apart", "run_thread")
NAP = ("nap", "system_call")
PROGRAM = {
    "sleeper": {START + ("sleep_again",) + NAP},
    "forever": {START + ("sleep_forever",) + NAP},
    "futex": {START + ("wait_for_futex",) + NAP, START + ("wait_for_futex", "system_call")},
    "reader": {START + ("read_pipe",) + NAP, START + ("read_pipe", "system_call")},
    "writer": {START + ("write_pipe",) + NAP},
    "poller": {START + ("poll_again", "system_call")},
    "pauser": {START + ("pause_forever", "system_call")},
    "vforker": {START + ("wait_for_child",) + NAP, START + ("wait_for_child", "run_apart")},
}
# Threads that take turns with another wait and a nap
TURNS = ("futex", "reader", "vforker")


def verdict(good, text):
    print("ok" if good else "FAILED", text)


def printed_stacks(path):
    """What the kernel printed: for each thread, a set of chains, outermost first."""
    stacks, name, chain = {}, None, []

    def keep():
        if name and chain:
            stacks.setdefault(name, set()).add(tuple(reversed(chain)))

    with open(path, errors="replace") as log:
        for line in log:
            start = re.match(r"STACK (\w+)", line)
            frame = re.match(r"\[<0>\] ([\w.]+)\+0x", line)
            if start or not frame:
                keep()
                name, chain = start and start.group(1), []
            else:
                chain.append(frame.group(1))
    return stacks


def shown_threads(path):
    """(name, kernel's functions, program's functions) of each chain, outermost first."""
    name, kernel, own = None, [], []
    with open(path) as shown:
        for line in list(shown) + ["thread"]:
            # The child of vforker is a process of its own, with the same name.
            head = re.match(r"thread(?: \d+ '([^']*)' of )?", line)
            frame = re.match(r"  ([0-9a-f]{16})(?: ([\w.]+)\+0x\w+ \()?", line)
            if head:
                if kernel:
                    yield name, tuple(reversed(kernel)), tuple(reversed(own))
                name, kernel, own = head.group(1), [], []
            elif frame:
                (kernel if frame.group(1)[0] == "f" else own).append(frame.group(2) or "?")


def is_same(kernel, stack):
    """Whether a chain and what the kernel printed are of the same calls. A function can have
    several names: those of system calls that are the same for 32-bit programs. /proc leaves out the innermost functions, which are the scheduler's."""
    kernel, stack = ([re.sub("^__(ia32|x64|do)_sys_", "sys_", name) for name in names]
                     for names in (kernel, stack))
    return kernel[:len(stack)] == stack and kernel[-2:] == ["schedule", "__schedule"]


def check_shown(log, path):
    stacks = printed_stacks(log)
    counts = {name: [0, 0] for name in PROGRAM}
    others = {}
    for name, kernel, own in shown_threads(path):
        if name not in counts:
            continue
        good = (own in PROGRAM[name] and
                any(is_same(kernel, stack) for stack in stacks.get(name, ())))
        counts[name][0] += 1
        counts[name][1] += good
        if not good:
            others[name] = (";".join(own), ";".join(kernel))
    for name, (count, good) in counts.items():
        verdict(count > 0 and good >= 0.995 * count,
                f"{name}: {good} of {count} chains are as the kernel says"
                f"{' but ' + ' and '.join(others[name]) if name in others else ''}")


def waits_of(path):
    """The waits of a recording, joined: (thread, from, to, state, end, addresses)."""
    run = subprocess.run([sys.executable, read.__file__, path], stdout=subprocess.PIPE,
                         check=True, text=True)
    waits = {}
    until = 0
    for line in run.stdout.splitlines():
        word = line.split()
        # The child of vforker is a process of its own.
        if word[0] == "wait" and word[7] == "1":
            thread = bytes.fromhex(word[10].rstrip("-")).decode()
            waits[(word[4], word[9], word[1])] = [
                thread, int(word[1]), int(word[2]), word[3] == "1", word[5], word[11],
                [int(address, 16) for address in word[12:]]]
        elif word[0] == "rounds":
            until = int(word[1])
    for wait in waits.values():
        if not wait[3]:
            wait[2] = until
    return list(waits.values())


def known_shares(path):
    """The part of the time between the first and the last line that each thread did not nap."""
    turns = {}
    with open(path) as lines:
        for line in lines:
            name, first, second = line.split()[1:4]
            turns.setdefault(name, []).append((int(first), int(second)))
    shares = {}
    for name, sums in turns.items():
        other, napped = (last - first for first, last in zip(sums[0], sums[-1]))
        shares[name] = other / max(1, other + napped)
    return shares


def whole_turns(waits):
    """The times that a thread has not napped and has, ns, in whole turns: (from, to, naps) of its
    waits come in the order of time."""
    starts = [i for i in range(1, len(waits)) if waits[i - 1][2] and not waits[i][2]]
    times = [0, 0]
    for start, end, naps in waits[starts[0]:starts[-1]] if starts else ():
        times[naps] += end - start
    return times


def check_recording(path, program, turns):
    run = subprocess.run(["nm", program], stdout=subprocess.PIPE, check=True, text=True)
    symbols = sorted((int(line.split()[0], 16), line.split()[2])
                     for line in run.stdout.splitlines())
    at = dict((name, start) for start, name in symbols)["nap"]
    nap = range(at, [start for start, _ in symbols if start > at][0])
    waits = {}
    for thread, start, end, _, _, _, chain in sorted(waits_of(path), key=lambda wait: wait[1]):
        waits.setdefault(thread, []).append(
            (start, end, any(address in nap for address in chain)))
    shares = known_shares(turns)
    for thread in TURNS:
        other, napped = whole_turns(waits.get(thread, []))
        seconds = (other + napped) / 1e9
        got = other / max(1, other + napped)
        share = shares.get(thread, 0)
        verdict(seconds > 20 and abs(got - share) <= 0.02,
                f"{thread}: {100 * got:.1f} % of {seconds:.1f} s, of {100 * share:.1f} % known")


class Symbols:
    """Names of a list as nm or /proc/kallsyms print it."""

    def __init__(self, lines):
        self.places = {}  # by name: its addresses
        for line in lines:
            word = line.split()
            if word[1] in "tTwW" and "[" not in line:
                self.places.setdefault(word[2], set()).add(int(word[0], 16))
        self.starts = sorted(set().union(*self.places.values()))

    def start(self, address):
        """Where the function begins that the address is in."""
        return self.starts[bisect.bisect_right(self.starts, address) - 1]

    def has(self, name, address):
        return self.start(address) in self.places.get(name, ())


def check_readings(least, log, path, program, kallsyms):
    """Each chain of a thread that is not about to run is one that the guest's kernel printed for that
    thread, with the part of the program that leads there."""
    with open(kallsyms) as lines:
        kernel = Symbols(lines)
    run = subprocess.run(["nm", program], stdout=subprocess.PIPE, check=True, text=True)
    own = Symbols(run.stdout.splitlines())
    stacks = printed_stacks(log)
    counts = {"all": 0, "whole": 0, "printed": 0, "mixed": 0, "runnable": 0}
    others = {}
    for thread, _, _, _, state, end, chain in waits_of(path):
        if thread not in PROGRAM:
            continue
        if state == "3":
            counts["runnable"] += 1
            continue
        # Outermost first; all but the innermost are return addresses.
        chain = [address - (i > 0) for i, address in enumerate(chain)][::-1] or [0]
        inner = [address for address in chain if address >> 63]
        outer = [address for address in chain if not address >> 63]
        counts["all"] += 1
        whole = own.has("_start", chain[0]) or own.has("run_apart", chain[0])
        counts["whole"] += whole
        printed = any(
            len(inner) >= len(stack) + 2 and kernel.has("schedule", inner[-2]) and
            all(kernel.has(name, address) for name, address in zip(stack, inner))
            for stack in stacks.get(thread, ()))
        counts["printed"] += printed
        naps = any(kernel.has("hrtimer_nanosleep", address) for address in inner)
        mixed = naps != any(own.has("nap", address) for address in outer)
        counts["mixed"] += mixed
        if mixed or not printed or not whole:
            others[thread] = " ".join(f"{address:x}" for address in chain) + " end " + end
    text = ", ".join(f"{count} {name}" for name, count in counts.items())
    for thread, chain in others.items():
        print(f"  {thread}: {chain}")
    verdict(counts["all"] >= int(least) and counts["mixed"] == 0, f"none is torn: {text}")
    verdict(counts["printed"] >= 0.995 * counts["all"] and counts["whole"] >= 0.995 * counts["all"],
            "99.5 % are whole, and as the kernel says")


def check_speed(path):
    """The guest works as fast with --waits as without: the difference is below twice its standard
    error, or 1 %."""
    speeds = {"with": [], "without": []}
    with open(path) as lines:
        for line in lines:
            kind, work, start, more, end = line.split()
            speeds[kind].append((int(more) - int(work)) / (int(end) - int(start)))
    means = {kind: sum(list) / len(list) for kind, list in speeds.items()}
    error = math.sqrt(sum(
        sum((speed / means["without"] - means[kind] / means["without"])**2 for speed in list) /
        (len(list) - 1) / len(list) for kind, list in speeds.items()))
    slower = 1 - means["with"] / means["without"]
    verdict(abs(slower) <= max(0.01, 2 * error),
            f"the guest is {100 * slower:.2f} % slower with --waits, standard error "
            f"{100 * error:.2f} %, {len(speeds['with'])} times each")


if __name__ == "__main__":
    {"shown": check_shown, "shares": check_recording, "readings": check_readings,
     "speed": check_speed}[sys.argv[1]](*sys.argv[2:])
