# The differential flame graph in the real Chromium: widths, numbers and colours match the
# folded difference, whichever side is drawn; zoom and search work.
# Not with sanitizers: it tests the picture; report-flamegraph-names draws differences with them.
. "$CLI/lib.sh"
need_browser
make_recording web two
sed -e 's/0x1300/0x1204/' -e '/1040000/d' "$data/web.txt" | "$MAKE_RECORDING" >new.up
{
	echo "info start 1000"
	echo "domain 0 1 2 1 4 big"
	echo "many 3000 400 10 30"
	echo "end 1 90000000000"
} | "$MAKE_RECORDING" >other.up
make_plain
echo "domain 0 1 2 1 1 none" | "$MAKE_RECORDING" >none.up

# pictures NAME OPTION... BASELINE NEW: folded, and drawn with the widths of either side
pictures()
{
	name=$1
	shift
	"$UNIPROF" diff --format folded "$@" -o "$name.folded" 2>>err
	for side in new baseline; do
		"$UNIPROF" diff --format flamegraph --widths $side "$@" \
			-o "$name-$side.svg" 2>>err
	done
}

pictures web -s "$data/web.sym" web.up new.up
pictures same -s "$data/web.sym" web.up web.up
pictures parent -s "$data/web.sym" --parent middle web.up new.up
pictures inverted --invert -s "$data/web.sym" web.up new.up
pictures domains -s "$data/web.sym" web.up two.up
pictures big -s big.sym big.up other.up
pictures appears none.up web.up
"$UNIPROF" diff --format flamegraph -s "$data/web.sym" web.up new.up 2>/dev/null |
	cmp - web-new.svg && echo "widths are the new one's by default"
drive <<'END'
import os
import re
from collections import defaultdict
from browser import Browser
from flame import frames, name

NUMBERS = re.compile(r"\((\d+) samples?, ([\d.]+) %; (new|baseline) (\d+), ([\d.]+) %; "
                     r"([+-][\d.]+) points\)$")
PICTURES = ["web", "same", "parent", "inverted", "domains", "big", "appears"]


def chains(path):
    """Both counts, callees included, by chain of names from the root."""
    counts = defaultdict(lambda: [0, 0])
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, *own = line.rsplit(" ", 2)
            parts = ["all"] + stack.split(";")
            for depth in range(1, len(parts) + 1):
                for side in 0, 1:
                    counts[tuple(parts[:depth])][side] += int(own[side])
    return counts


def drawn_chains(found):
    """The frames by chain, from where they stand."""
    by_row = sorted({f["y"] for f in found}, reverse=True)
    shown, rows = {}, {y: [] for y in by_row}
    for f in found:
        below = rows[by_row[by_row.index(f["y"]) - 1]] if f["y"] != by_row[0] else []
        chain = [c for c, g in below
                 if g["x"] <= f["x"] and f["x"] + f["n"] <= g["x"] + g["n"]]
        assert len(chain) == (f["y"] != by_row[0]), f
        chain = (chain[0] if chain else ()) + (name(f),)
        rows[f["y"]].append((chain, f))
        shown[chain] = f
    return shown


def colour(fill):
    red, _, blue = (int(part) for part in re.findall(r"\d+", fill))
    return "more" if red > blue + 16 else "less" if blue > red + 16 else "same"


with Browser() as browser:
    def text(selector):
        return browser.script(
            "return document.querySelector(arguments[0]).textContent", selector)

    def fills():
        return browser.script("""
            return Array.from(document.querySelectorAll(".frames > g > rect"),
                (r) => getComputedStyle(r).fill)""")

    def lines():
        return browser.script("""
            return Array.from(document.querySelectorAll("svg > text"),
                (t) => t.textContent)""")

    def check(picture, side):
        """Every frame there should be is there, with the right numbers and colour."""
        browser.open(f"{os.getcwd()}/{picture}-{side}.svg")
        drawn = side == "new"
        wanted = {c: n for c, n in chains(picture + ".folded").items() if n[drawn]}
        # Percentages are of all samples, including samples removed by a filter.
        whole = chains(picture.replace("parent", "web") + ".folded")["all",]
        found = frames(browser)
        shown = drawn_chains(found)
        colours = dict(zip(map(id, found), map(colour, fills())))
        if picture != "big":  # of which not all frames are wide enough
            assert set(shown) == set(wanted), set(shown) ^ set(wanted)
        assert len(shown) > 0.5 * len(wanted)
        within = re.search(r"within ([\d.]+) points", " ".join(lines()))
        met = set()
        for chain, f in shown.items():
            n = wanted[chain]
            percent = [100 * n[i] / whole[i] if whole[i] else 0 for i in (0, 1)]
            match = NUMBERS.search(f["title"])
            assert match, f["title"]
            assert int(match[1]) == n[drawn] == f["n"] and int(match[4]) == n[not drawn]
            assert match[3] == ("baseline" if drawn else "new")
            assert abs(float(match[2]) - percent[drawn]) < 0.006, f["title"]
            assert abs(float(match[5]) - percent[not drawn]) < 0.006, f["title"]
            delta = percent[1] - percent[0]
            assert abs(float(match[6]) - delta) < 0.006, f["title"]
            is_same = within and abs(delta) < float(within[1]) + 0.005
            kind = colours[id(f)]
            met.add(kind)
            assert kind == ("more" if delta > 0 else "less") or is_same, (kind, f["title"])
        print(f"{picture}, {side}:", *sorted(met))

    for picture in PICTURES:
        for side in "new", "baseline":
            if (picture, side) != ("appears", "baseline"):
                check(picture, side)

    browser.open(os.getcwd() + "/big-new.svg")
    # The larger the change, the deeper the colour.
    def depth(fill):
        parts = [int(part) for part in re.findall(r"\d+", fill)]
        return max(parts) - min(parts)

    for kind in "more", "less":
        changes = sorted((abs(float(NUMBERS.search(f["title"])[6])), depth(fill))
                         for f, fill in zip(frames(browser), fills())
                         if colour(fill) == kind)
        depths = [depth for _, depth in changes]
        assert depths == sorted(depths), changes
        print(f"{kind}: {len(set(depths))} shades")

    browser.open(os.getcwd() + "/web-new.svg")
    print(browser.call("GET", "/title"), *lines(), sep="\n")

    def find(title):
        return next(f for f in frames(browser) if f["title"].startswith(title))

    leaf = find("leaf (4 samples")["element"]
    browser.point(leaf)
    print("hover:", text(".details"))
    browser.point(leaf, click=True)
    assert find("leaf (4 samples")["width"] == find("all")["width"]
    browser.keys("Escape")
    browser.keys("/")
    browser.type("leaf")
    print("search:", text(".matched"))
    top = browser.script("return document.querySelector('.bar rect').getBBox().y")
    assert top > 62 and all(f["y"] > top + 30 for f in frames(browser))
    browser.open(os.getcwd() + "/web-baseline.svg")
    print(lines()[5])
    browser.open(os.getcwd() + "/same-new.svg")
    print(lines()[5])
    browser.open(os.getcwd() + "/appears-baseline.svg")
    assert not frames(browser)
    print(*lines()[5:], sep="\n")
    print("errors:", browser.errors())
END
