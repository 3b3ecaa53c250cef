# SPDX-License-Identifier: BSD-3-Clause
"""Reads the flame graph shown by a browser."""

import sys
from collections import defaultdict

sys.setrecursionlimit(5000)  # up to 1,024 frames are stacked

FRAMES = """
return Array.from(document.querySelectorAll(".frames > g"), (g) => ({
    element: g, title: g.querySelector("title").textContent,
    text: g.querySelector("text") ? g.querySelector("text").textContent : "",
    x: +g.dataset.x, n: +g.dataset.n, y: +g.querySelector("rect").getAttribute("y"),
    left: +g.querySelector("rect").getAttribute("x"),
    width: +g.querySelector("rect").getAttribute("width"),
    shown: getComputedStyle(g).display != "none", classes: g.getAttribute("class"),
}))"""


def frames(browser):
    return browser.script(FRAMES)


def name(frame):
    return frame["title"].rsplit(" (", 1)[0]


def stacks(found):
    """Returns counts by chain of names, as in folded, from the positions of the frames."""
    counts = defaultdict(int)
    if not found:
        return counts
    row = sorted({frame["y"] for frame in found}, reverse=True)
    above = defaultdict(list)
    for frame in found:
        above[frame["y"]].append(frame)

    def visit(frame, path):
        own = frame["n"]
        level = row.index(frame["y"]) + 1
        for other in above[row[level]] if level < len(row) else []:
            if frame["x"] <= other["x"] < frame["x"] + frame["n"]:
                assert other["x"] + other["n"] <= frame["x"] + frame["n"], other
                visit(other, path + [name(other)])
                own -= other["n"]
        assert own >= 0, frame
        if own and path:
            counts[";".join(path)] += own

    visit(found[0], [])
    assert abs(sum(counts.values()) - found[0]["n"]) == 0, "all"
    return counts


def folded(path):
    """Returns counts by chain of names from a file of collapsed stacks."""
    with open(path, encoding="utf-8", newline="\n") as file:
        lines = [line.rpartition(" ") for line in file.read().split("\n")[:-1]]
    return {stack: int(count) for stack, _, count in lines}
