# Names with any bytes cause no markup, script or error, and give the same stacks and
# counts as folded, also in differences. The same for profiles without samples, without
# chains, of many domains, and of time.
. "$CLI/lib.sh"
need_browser
python3 - <<'END'
import os

NAMES = [
    b"</title></g><script>alert(1)</script>", b"]]><script>alert(2)</script>",
    b"</script><script>alert(3)</script>", b"<img src=x onerror=alert(4)>",
    b"a\" onload=\"alert(5)", b"a' onload='alert(6)'", b"&lt;&amp;&#60;&#x3c;&bogus;&",
    b"<!-- comment", b"--> x", b"<![CDATA[ x", b"<?xml x ?>", b"<!DOCTYPE x>",
    b"<!ENTITY x 'y'>%x;", b"${alert(7)}`", b"\\u003cscript\\u003e\\", b"\x01\x08\x1b[31m\x7f",
    b"bad \xff\xfe\xc0\xaf utf-8 \xed\xa0\x80", b"\xef\xbf\xbe\xef\xbf\xbf noncharacters",
    "caml\u00e9 \u6771\u4eac \U0001f525 \u202eright to left".encode(), b"f (3 samples, 9 %)",
    b"std::vector<int, std::allocator<int> >::operator[](unsigned long)",
    b"long_" + b"\xe2\x82\xac" * 3000, b"(", b"url(http://127.0.0.1:9/)", b"a;b",
]
BASE, SIZE = 0x1000, 0x100
with open("hostile.sym", "wb") as file:
    for i, name in enumerate(NAMES):
        file.write(b"%016x %016x T %s\n" % (BASE + i * SIZE, SIZE, name))
addresses = [BASE + i * SIZE + 8 for i in range(len(NAMES))]
with open("hostile.txt", "wb") as file:
    file.write(b"info start 1000\ninfo host </title><script>alert(8)</script>\xff\x01]]>\n")
    for i, domain in enumerate([b"<script>alert(9)</script>", b"\xff\x02\"'&]]>", b"-->"]):
        file.write(b"domain %d %d 2 1 2 %s\n" % (i, i + 3, domain))
    for domain in range(3):
        file.write(b"in %d\ncpu-time %d\n" % (domain, 20000 * domain))
        for i in range(len(NAMES)):
            chain = " ".join(hex(a) for a in addresses[i:i + 3 + domain])
            file.write(b"sample %d 0 1 0 %s\n" % (2000 + i * 3000000, chain.encode()))
        file.write(b"sample 900000000 1 1 0\n")
        file.write(b"sample 900000000 0 1 0 0xffffffff81000000 0x10 0xffffffffffffffff\n")
    file.write(b"end 1 1000000000\n")
# One chain of the maximum depth: format/FORMAT.md, 5.3. The totals at the end don't include
# it, hence the exit code.
deep = (bytes([1, 1, 1, 15, 1, 0, 17, 2, 0x80, 0x08, 18, 1, 0, 19, 2, 0x80, 0x10,
               22, 2, 0, 0, 23, 4, 8, 0x10, 0, 0, 20, 0xfe, 0x07]) + b"\x01" * 1022)
with open("deep.txt", "w") as file:
    file.write(f"domain 0 1 2 1 1 deep\nchunk 3 {deep.hex()}\nend 1 3000\n")
with open("none.txt", "w") as file:
    file.write("domain 0 1 2 1 1 none\nend 1 3000\n")
with open("chainless.txt", "w") as file:
    file.write("domain 0 1 2 1 1 chainless\nsample 2000 0 1 0\nend 1 3000\n")
END
for name in hostile deep none chainless; do
	"$MAKE_RECORDING" <$name.txt >$name.up || echo "$name failed"
done
# pictures NAME RECORDING OPTION...: makes folded and flamegraph
pictures()
{
	name=$1 recording=$2
	shift 2
	for format in folded flamegraph; do
		report -i "$recording.up" -s hostile.sym --format $format "$@" \
			-o "$name.$format" 2>/dev/null
	done
	mv "$name.flamegraph" "$name.svg"
}
for name in hostile deep none chainless; do
	pictures $name $name
done
pictures one hostile --domain 3
pictures wall hostile --weight wall
pictures cpu-time hostile --weight cpu-time
pictures two hostile --domain 4,5 --state running
"$UNIPROF" diff -s hostile.sym --format flamegraph none.up hostile.up -o against.svg 2>/dev/null
cp hostile.folded against.folded
drive <<'END'
import os
import xml.etree.ElementTree as etree
from browser import Browser
from flame import folded, frames, name, stacks

MOST = 1000


def as_shown(stack):
    """What the picture makes of names that XML can't hold, or that are too long."""
    for character in "\ufffe\uffff":
        stack = stack.replace(character, "\ufffd" * 3)
    return ";".join(name if len(name) <= MOST else name[:MOST] + "\u2026"
                    for name in stack.split(";"))


with Browser() as browser:
    for file in ["hostile", "deep", "none", "chainless", "one", "wall", "cpu-time", "two",
                 "against"]:
        etree.parse(file + ".svg")
        browser.open(f"{os.getcwd()}/{file}.svg")
        found = frames(browser)
        shown = dict(stacks(found))
        expected = {as_shown(s): n for s, n in folded(file + ".folded").items()}
        assert shown == expected, (file, set(shown.items()) ^ set(expected.items()))
        kinds = browser.script("""
            const kinds = {};
            for (const e of document.querySelectorAll("*")) {
                kinds[e.localName] = (kinds[e.localName] || 0) + 1;
                for (const a of e.attributes)
                    if (/^on/i.test(a.name))
                        throw new Error("a handler: " + a.value);
            }
            return kinds;""")
        assert kinds["script"] == 1, kinds
        assert set(kinds) <= {"svg", "title", "style", "rect", "text", "g", "script", "metadata",
                              "foreignObject", "div", "button", "input"}, kinds
        if found:
            browser.point(found[-1]["element"], click=True)
            browser.keys("/")
            browser.type("<")
        requests = browser.script(
            "return performance.getEntriesByType('resource').map(e => e.name)")
        print(file, len(shown), "stacks;", found[0]["title"] if found else "no frames",
              browser.errors(), requests)
END
