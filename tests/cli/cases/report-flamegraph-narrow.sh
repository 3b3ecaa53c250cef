# Frames that are too narrow to be drawn are found by search and shown by zoom, with the counts
# of folded; if even their list would be too long, the share is "at least". A picture that is
# higher than the window opens at its root.
# Not with sanitizers: it is Chromium that runs here; other cases draw flame graphs with them.
. "$CLI/lib.sh"
need_browser
make_recording_of() {
	{
		echo "info start 1000"
		echo "domain 0 1 2 1 4 $1"
		shift
		echo "many $*"
		echo "end 1 90000000000"
	} | "$MAKE_RECORDING"
}
make_recording_of some 20000 9000 8 3000 >some.up
make_recording_of huge 20000 20000 60 4000 >huge.up
for name in some huge; do
	for format in flamegraph folded; do
		report -i $name.up --format $format -o $name.$format 2>/dev/null
	done
	mv $name.flamegraph $name.svg
done
drive <<'END'
import os
import re
from browser import Browser
from flame import folded, frames, name

counts = {name: folded(name + ".folded") for name in ("some", "huge")}

def share(file, pattern):
    """The exact share of the samples with a frame that matches, in percent."""
    found = sum(count for stack, count in counts[file].items()
                if any(re.search(pattern, frame) for frame in stack.split(";")))
    return 100 * found / sum(counts[file].values())

with Browser() as browser:
    def matched(pattern):
        browser.keys("/")
        browser.type(pattern)
        text = browser.script("return document.querySelector('.matched').textContent")
        browser.keys("Escape")
        browser.keys("Escape")
        return text

    browser.open(os.getcwd() + "/some.svg")
    for pattern in "f$", "77.$", "0X1.*E":
        pattern = pattern.lower()
        exact = f"matched: {share('some', pattern):.2f} %"
        print(pattern, "exact" if matched(pattern) == exact else
              (matched(pattern), exact))
    print("capital letters:", matched("0X1.*E"))
    # A frame called by "all" that has narrow callees, which the zoom makes wide enough.
    found = frames(browser)
    row = sorted({f["y"] for f in found}, reverse=True)[1]
    at = min((f for f in found if f["y"] == row and f["n"] >= 100), key=lambda f: f["n"])
    browser.script("""
        [...document.querySelectorAll('.frames > g')].find(
            (g) => g.querySelector('title').textContent == arguments[0])
            .querySelector('rect').dispatchEvent(new MouseEvent('click', {bubbles: true}))""",
                   at["title"])
    zoomed = frames(browser)
    titles = sorted(f["title"] for f in zoomed if f["shown"] and f["y"] < row)
    expected = {}
    for stack, count in counts["some"].items():
        path = stack.split(";")
        if path[0] == name(at):
            for depth in range(2, len(path) + 1):
                key = ";".join(path[:depth])
                expected[key] = expected.get(key, 0) + count
    total = sum(counts["some"].values())
    wanted = sorted(f"{key.split(';')[-1]} ({n} sample{'s' * (n > 1)}, {100 * n / total:.2f} %)"
                    for key, n in expected.items())
    print("zoomed:", "all frames" if titles == wanted else (len(titles), len(wanted)),
          "more elements" if len(zoomed) > len(found) else "")

    browser.open(os.getcwd() + "/huge.svg")
    print("at the root:", browser.script(
        "return scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight"))
    text = matched("77")
    least = float(re.search(r"at least ([0-9.]+) %", text)[1])
    print("huge:", 0 < least <= share("huge", "77") or (text, share("huge", "77")))
    print("errors:", browser.errors())
END
