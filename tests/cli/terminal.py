# SPDX-License-Identifier: BSD-3-Clause
"""Runs `uniprof top -i RECORDING` on a terminal that gets hundreds of sizes, or kills it:
terminal.py UNIPROF RECORDING resize|crash"""

import fcntl
import os
import random
import resource
import select
import signal
import struct
import subprocess
import sys
import termios
import time

# In this order, with pauses, they once crashed ncurses.
CRASHED = [(24, 7), (5, 10000), (1000, 3), (24, 2)]
PATIENCE = 120  # seconds, on a busy machine


class Top:
    """uniprof top on a terminal of its own, whose size changes."""

    def __init__(self):
        self.terminal, self.slave = os.openpty()
        self.mode = termios.tcgetattr(self.slave)
        self.shown = b""
        self.resize(24, 80)
        self.process = subprocess.Popen(
            [sys.argv[1], "top", "-i", sys.argv[2]],
            stdin=self.slave, stdout=self.slave, stderr=subprocess.DEVNULL,
            env=dict(os.environ, TERM="xterm"),
            start_new_session=True, preexec_fn=self.take_terminal)
        self.wait_for(b"q quit")

    def take_terminal(self):
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def resize(self, rows, columns):
        """The kernel sends SIGWINCH if the size is another one."""
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        """Reads what is shown for some time."""
        until = time.monotonic() + seconds
        while True:
            left = max(until - time.monotonic(), 0)
            if not select.select([self.terminal], [], [], left)[0]:
                return
            self.shown += os.read(self.terminal, 1 << 16)
            if not left:
                return

    def wait_for(self, text):
        """Waits until the text is shown, and forgets what was shown before its end."""
        until = time.monotonic() + PATIENCE
        while text not in self.shown:
            if self.process.poll() is not None:
                sys.exit(f"top has ended: {self.process.returncode}")
            if time.monotonic() > until:
                sys.exit(f"waited in vain for {text}")
            self.read(0.05)
        self.shown = self.shown.split(text, 1)[1]

    def end(self):
        """Waits for the end; prints how it was, and what is left of it on the terminal."""
        until = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < until:
            self.read(0.05)
        self.read(0)
        print("exit code", self.process.poll())
        if termios.tcgetattr(self.slave) != self.mode:
            print("the terminal has another mode")
        # The normal screen, a visible cursor.
        for left, entered in ((b"\x1b[?1049l", b"\x1b[?1049h"), (b"\x1b[?25h", b"\x1b[?25l")):
            if self.shown.rfind(left) <= self.shown.rfind(entered):
                print("top has not left the terminal as it was")
        os.close(self.slave)
        os.close(self.terminal)


def some_size(most):
    return random.choice([0, 1, 2, 3, random.randint(1, 50), random.randint(1, most)])


def resize_often():
    top = Top()
    for size in CRASHED * 2:
        top.resize(*size)
        top.read(0.15)
    for count in range(400):
        top.resize(some_size(1000), some_size(10000))
        # Bursts of ten, and slower changes.
        top.read(random.uniform(0.05, 0.2) if count % 20 == 0 or count >= 380 else 0)
    for rows, columns in ((5, 20), (1, 1), (24, 80)):
        top.resize(rows, columns)
        top.read(0.1)
    top.shown = b""
    top.resize(25, 81)
    top.wait_for(b"uniprof top: web, ended")
    top.wait_for(b"90.0%")
    top.wait_for(b"q quit")
    os.write(top.terminal, b"q")
    top.end()


def crash():
    for number in signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS:
        top = Top()
        top.shown = b"\x1b[?1049h\x1b[?25l"
        os.kill(top.process.pid, number)
        top.end()


random.seed(int(os.environ.get("SEED", "1")))
{"resize": resize_often, "crash": crash}[sys.argv[3]]()
