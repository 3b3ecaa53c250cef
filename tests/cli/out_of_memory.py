# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command of uniprof with some of its allocations failing: out_of_memory.py UNIPROF FAIL NAME
COMMAND...

FAIL is the library made of fail_allocation.c. Each allocation that is chosen fails once alone, and
once with all that follow. The command then gives its normal result, or reports that it is out of
memory and exits with 1. Prints a line with NAME.
"""

import os
import re
import subprocess
import sys
import tempfile

POINTS = 20  # allocations that fail
SHORT = re.compile(rb"memory|can't start a thread")


def run(command, fail, **more):
    """The command's exit code, its output, and what it says."""
    process = subprocess.run(
        command, env={**os.environ, "LD_PRELOAD": fail, **more},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # A chunk that is not compressed makes archive write more.
    said = re.sub(rb": [0-9]* bytes,", b": N bytes,", process.stderr)
    return process.returncode, process.stdout, said


def script(uniprof, recording):
    """The recording's samples as text; None if it is none."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(recording)
        file.flush()
        process = subprocess.run([uniprof, "report", "-i", file.name, "--format", "perf-script"],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return None if process.returncode else process.stdout


def is_same(uniprof, did, good):
    """Whether the result is the same as with enough memory, except that a recording may have
    chunks that are not compressed."""
    if did == good:
        return True
    if did[0] != good[0] or did[2] != good[2]:
        return False
    text = script(uniprof, did[1])
    return text is not None and text == script(uniprof, good[1])


def says_so(did):
    """Whether the result is one line about memory, and exit code 1."""
    return did[0] == 1 and did[2].count(b"\n") == 1 and SHORT.search(did[2])


def main(uniprof, fail, name, *command):
    with tempfile.NamedTemporaryFile() as file:
        good = run(command, fail, FAIL_COUNT=file.name)
        count = int(file.read())
    if count <= POINTS:
        print(f"{name}: only {count} allocations")
    wrong = 0
    for at in range(1, count + 1, count // POINTS + 1):
        for rest in {}, {"FAIL_REST": "1"}:
            did = run(command, fail, FAIL_AT=str(at), **rest)
            if is_same(uniprof, did, good) or says_so(did):
                continue
            wrong += 1
            if wrong == 1:
                print(f"{name}: allocation {at} {rest}: exit code {did[0]}")
                print(did[2].decode(errors="replace")[:500])
    if not wrong:
        print(f"{name}: done, or out of memory")


main(*sys.argv[1:])
