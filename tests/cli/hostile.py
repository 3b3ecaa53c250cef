# SPDX-License-Identifier: BSD-3-Clause
"""Runs every output on recordings of hostile shapes (make-hostile.c).

usage: hostile.py [--few] [--formats FORMAT,...] UNIPROF MAKE_HOSTILE BYTES FILLER SHAPE...

--formats: only these formats of reports, and the other commands. --few: without options of reports
that change what is counted. Each command is to take at most 300 MB and 2 s. It is CPU time that is
measured, which other work on the machine makes longer, too: it may take three times as long here.
"""
import os
import resource
import subprocess
import sys

FEW = sys.argv[1] == "--few"
if FEW:
    del sys.argv[1]
FORMATS = []
if sys.argv[1] == "--formats":
    FORMATS = sys.argv[2].split(",")
    del sys.argv[1:3]

SECONDS = 2 * 3
MEGABYTES = 300


def formats():
    if FORMATS:
        return FORMATS
    listed = subprocess.run([sys.argv[1], "report", "--format", "help"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    return [line.split()[0] for line in listed.splitlines()]


def commands(path):
    yield ["info", "-v", "-i", path]
    for name in formats():
        yield ["report", "-i", path, "--format", name]
    yield ["diff", "--format", "flamegraph", path, path]
    yield ["archive", "-i", path, "-o", "/dev/null", "-s", "few.sym"]
    if FEW:
        return
    yield ["report", "-i", path, "--per-vcpu", "--format", "histogram-csv"]
    yield ["report", "-i", path, "--weight", "wall", "--time", "10%,90%"]
    yield ["report", "-i", path, "--format", "callgrind", "--srcline", "--inline"]
    yield ["report", "-i", path, "--per-process", "--format", "histogram-csv"]
    yield ["report", "-i", path, "--per-process", "--format", "flamegraph"]
    yield ["report", "-i", path, "--weight", "wait", "--format", "html"]
    yield ["diff", "--per-process", path, path]


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS * 2, SECONDS * 2))


def follow(uniprof, path):
    """A pipe, because top waits for more of a file without an end."""
    return ["sh", "-c", 'cat "$2" | "$1" top --batch 1 -i -', "sh", uniprof, path]


def run(command):
    """Returns what went wrong; None if nothing did."""
    with open("/dev/null", "w", encoding="ascii") as null, \
            open("stderr", "w+b") as errors:
        process = subprocess.Popen(command, stdout=null, stderr=errors,
                                   preexec_fn=limit)
        _, status, usage = os.wait4(process.pid, 0)
        errors.seek(0)
        said = errors.read()
    code = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    if code not in (0, 1, 3) or code == 1 and said.count(b"\n") != 1:
        return f"exit code {code}, {said[:200]}"
    if seconds > SECONDS:
        return f"{seconds:.1f} s"
    if usage.ru_maxrss > MEGABYTES * 1024:
        return f"{usage.ru_maxrss >> 10} MB"
    return None


def main():
    uniprof, make, size, filler, *shapes = sys.argv[1:]
    with open("few.sym", "w", encoding="ascii") as out:
        out.write("100000 T few\n")
    for shape in shapes:
        with open("hostile.up", "wb") as out:
            subprocess.run([make, shape, size, filler], stdout=out, check=True)
        wrong = 0
        path = "hostile.up"
        for command in [*([uniprof, *c] for c in commands(path)), follow(uniprof, path)]:
            what = run(command)
            if what:
                wrong += 1
                print(f"{shape}: {' '.join(command)}: {what}")
        if not wrong:
            print(f"{shape}: all commands end in time")


main()
