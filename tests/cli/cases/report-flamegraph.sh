# The flame graph in the real Chromium shows the same as folded; clicks, search, hover and
# keys work.
# Not with sanitizers: it is Chromium that runs here; other cases draw flame graphs with them.
. "$CLI/lib.sh"
need_browser
make_recording web
report -i web.up -s "$data/web.sym" --format folded >web.folded 2>/dev/null
report -i web.up -s "$data/web.sym" --format flamegraph -o web.svg 2>/dev/null
grep -o 'Sampling: [^<]*' web.svg
for format in folded flamegraph; do
	report -i web.up -s "$data/web.sym" --invert --format $format -o inverted.$format 2>/dev/null
done
mv inverted.flamegraph inverted.svg
# Named frames of both halves of the addresses, and one without a name.
"$MAKE_RECORDING" >halves.up <<END
info start 1000
domain 0 5 1 1 1 web
sample 2000 0 1 0 0xffffffff81000004 0x1108 0x9004
sample 3000 0 1 0 0x1104
end 1 4000
END
cat "$data/plain.sym" - >halves.sym <<END
ffffffff81000000 T do_syscall_64
ffffffff81000100 D data
END
report -i halves.up -s halves.sym --format flamegraph -o halves.svg 2>/dev/null
# Both halves of 32-bit addresses.
"$MAKE_RECORDING" >small.up <<END
info start 1000
domain 0 5 3 4 1 web
sample 2000 0 1 0 0xc0008004 0xbf000108 0xb6f01004
end 1 4000
END
cat >small.sym <<END
b6f01000 T in_library
b6f02000 D data
bf000100 T in_module
bf000200 D data
c0008000 T vector_swi
c0009000 D data
END
report -i small.up -s small.sym --format flamegraph -o small.svg 2>/dev/null
# The size of the drawing is limited, however wide and deep the profile; the counts of the
# frames drawn are still complete.
{
	echo "info start 1000"
	echo "domain 0 1 2 1 4 big"
	echo "many 20000 20000 200 4000"
	echo "end 1 90000000000"
} | "$MAKE_RECORDING" >big.up
for format in flamegraph folded; do
	report -i big.up --format $format -o big.$format 2>/dev/null
done
awk '/<g class="c/ { drawn++ }
	match($0, /all \([0-9]* samples/) && !all { all = substr($0, RSTART, RLENGTH) }
	match($0, /of less than .* %/) { least = substr($0, RSTART, RLENGTH) }
	END { 
		enough = drawn > 2000 && drawn <= 40000
		print all, enough ? "enough frames" : drawn, least
	}' \
	big.flamegraph
awk '{ count = $NF; sub(/;.*/, ""); outermost[$0] += count }
	END { for (name in outermost) print name, outermost[name] }' big.folded |
	sort -k2nr | head -n 1
sed -n 's/.*<title>\(0x[0-9a-f]*\) (\([0-9]*\) samples.*/\1 \2/p' big.flamegraph |
	sort -k2nr | head -n 1
drive <<'END'
import os
import re
from browser import Browser, wait_for
from flame import frames, folded, name, stacks

with Browser() as browser:
    def find(title):
        return next(f for f in frames(browser) if f["title"] == title)

    def show(what):
        print(f"{what}:")
        for f in sorted(frames(browser), key=lambda f: (-f["y"], f["x"])):
            if f["shown"]:
                kind = set(f["classes"].split()) & {"caller", "match"}
                share = f["width"] / find("all (10 samples, 100.00 %)")["width"]
                print(f"  {f['title']}, {100 * share:.0f} % wide, '{f['text']}'",
                      *sorted(kind))

    def text(selector):
        return browser.script(
            "return document.querySelector(arguments[0]).textContent", selector)

    def reset_is_shown():
        return browser.script(
            "return getComputedStyle(document.querySelector('button')).visibility")

    browser.open(os.getcwd() + "/web.svg")
    print(browser.call("GET", "/title"))
    assert stacks(frames(browser)) == folded("web.folded")
    show("at first")

    middle = find("middle (5 samples, 50.00 %)")["element"]
    browser.point(middle)
    print("hover:", text(".details"))
    browser.point(middle, click=True)
    show("zoomed")
    browser.point(find("leaf (4 samples, 40.00 %)")["element"])
    print("hover:", text(".details"), "; reset is", reset_is_shown())
    browser.point(browser.script("return document.querySelector('button')"), click=True)
    assert len([f for f in frames(browser) if f["shown"]]) == len(frames(browser))
    print("hover:", text(".details") or "nothing", "; reset is", reset_is_shown())

    for press in "Control", "/":
        browser.keys("Control", "f") if press == "Control" else browser.keys("/")
        # middle calls itself: it counts once.
        browser.type("^mid|idle")
        print("search:", text(".matched"), "; matches",
              sorted(name(f) for f in frames(browser) if "match" in f["classes"]))
        browser.keys("Escape")
        print("Esc:", text(".matched") or "nothing",
              [f for f in frames(browser) if "match" in f["classes"]])
        browser.keys("Escape")  # leaves the box
    browser.keys("/")
    browser.type("(")
    print("search:", text(".matched"))
    browser.keys("Escape")
    browser.keys("Escape")

    browser.point(find("idle (3 samples, 30.00 %)")["element"], click=True)
    browser.keys("Escape")
    assert all(f["shown"] for f in frames(browser))

    before = find("idle (3 samples, 30.00 %)")["width"]
    browser.call("POST", "/window/rect", {"width": 800, "height": 700})
    # The page learns of its new size some time later.
    wait_for(lambda: 0 < find("idle (3 samples, 30.00 %)")["width"] < before)

    browser.open(os.getcwd() + "/inverted.svg")
    print(browser.call("GET", "/title"))
    assert stacks(frames(browser)) == folded("inverted.folded")

    for picture in "halves", "small":
        browser.open(f"{os.getcwd()}/{picture}.svg")
        legend = browser.script("""
            return Object.fromEntries(Array.from(
                document.querySelectorAll("svg > rect[class^=c]"),
                (r) => [getComputedStyle(r).fill, r.nextElementSibling.textContent]))""")
        fills = browser.script("""
            return Array.from(document.querySelectorAll(".frames > g"),
                (g) => [g.querySelector("title").textContent,
                        getComputedStyle(g.querySelector("rect")).fill])""")
        print("legend:", *legend.values(), sep="\n  ")
        for title, fill in fills[1:]:
            # A shade of the legend's nearest colour.
            def far(other):
                return sum((int(a) - int(b)) ** 2 for a, b in zip(
                    re.findall(r"\d+", other), re.findall(r"\d+", fill)))
            print(f"  {title}: {legend[min(legend, key=far)]}")
    print("errors:", browser.errors())

with open("page.html", "w") as page:
    page.write('<img src="web.svg">')
with Browser() as browser:  # as an image its scripts don't run
    browser.open(os.getcwd() + "/page.html")
    print("as an image:", browser.script(
        "const i = document.images[0]; return i.naturalWidth + ' ' + i.naturalHeight"))
END
grep -E 'href|url\(|@import|src=' web.svg || echo "nothing from elsewhere"
