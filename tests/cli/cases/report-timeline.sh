# The timeline: a map for each vCPU of each domain, whose cells add up to the counts of
# folded; in the real Chromium, cells are at the positions of their times, and show them.
. "$CLI/lib.sh"
need_browser
{
	echo "info start 500000000"
	echo "info frequency 99000"
	echo "domain 0 3 2 1 3 web"
	echo "domain 1 4 2 1 1 <script>alert(1)</script>]]>&\""
	echo "domain 2 5 2 1 1 web" # as after a reboot
	echo "cpu-time 4000000"
	# Busy from 2.50 to 2.54 s and from 4.00 to 4.04 s after the start.
	for at in 3000 3010 3020 3030 4500 4510 4520 4530; do
		echo "sample ${at}000000 0 1 0 0x1004 0x1108"
	done
	echo "sample 500000000 1 3 0 0x1104"
	echo "sample 1500000000 1 2 0 0x1104"
	echo "sample 5600000000 1 0 0 0x1104" # in an unknown state
	echo "weight 3"
	echo "sample 5700000000 1 3 0"
	echo "in 1"
	echo "sample 5800000000 0 1 0 0x1104"
	echo "in 2"
	echo "sample 6400000000 0 1 0 0x1104"
	echo "sample 400000000 2 1 0 0x1104" # before the start
	echo "end 1 6500000000"
} | "$MAKE_RECORDING" >short.up
# A week, and more vCPUs than are drawn.
awk 'BEGIN {
	print "info start 1000\ninfo frequency 100000\ndomain 0 1 2 1 4 long"
	for (i = 0; i < 6048; i++)
		for (vcpu = 0; vcpu < 4; vcpu++)
			printf "sample %.0f %d %d 0\n", 1000 + i * 100000000000, vcpu,
				1 + 2 * (i % 2)
	print "end 1 604800000001000"
}' | "$MAKE_RECORDING" >week.up
awk 'BEGIN {
	print "info start 1000\ninfo frequency 100000\ndomain 0 1 2 1 99 wide"
	for (i = 0; i < 9900; i++)
		printf "sample %.0f %d 1 0\n", 1000 + i * 50000000, i % 99
	print "end 1 495000001000"
}' | "$MAKE_RECORDING" >wide.up
# Times that no recorder would write.
"$MAKE_RECORDING" >odd.up <<END
domain 0 1 2 1 1 odd
sample 18446744073709551615 0 1 0
sample 0 0 1 0
sample 9223372036854775808 0 3 0
sample 18446744073709551615 0 1 0
end 1 0
END
"$MAKE_RECORDING" >brief.up <<'END'
domain 0 1 2 1 1 brief
sample 1 0 1 0
sample 2800000000 0 1 0
end 1 2900000000
END
echo "domain 0 1 2 1 1 none" | "$MAKE_RECORDING" >none.up
# pictures NAME RECORDING OPTION...: makes the timeline, and the counts of folded
pictures()
{
	name=$1 recording=$2
	shift 2
	report -i "$recording.up" --format timeline "$@" -o "$name.svg" 2>/dev/null
	"$UNIPROF" report -i "$recording.up" --format folded "$@" 2>/dev/null |
		awk '{ sum += $NF } END { printf "%.0f\n", sum }' >"$name.sum"
}
for name in short week wide odd brief none; do
	pictures $name $name
done
pictures blocked short --state blocked
pictures running short --state running
pictures cpu-time short --weight cpu-time
pictures wall short --weight wall
drive <<'END'
import os
import re
import xml.etree.ElementTree as etree
from browser import Browser

PANELS = """
return Array.from(document.querySelectorAll(".panel"), (panel) => {
    const edge = panel.querySelector(".edge").getBoundingClientRect();
    return {
        head: panel.querySelector("text").textContent,
        times: Array.from(panel.querySelectorAll("text.dim"), (t) => t.textContent),
        cells: Array.from(panel.querySelectorAll(".cells g path"), (path) => {
            const box = path.getBoundingClientRect();
            return {
                level: path.parentNode.getAttribute("class"),
                title: path.querySelector("title").textContent,
                x: (box.x - edge.x) / edge.width, y: (edge.bottom - box.bottom) / edge.height,
            };
        }),
    };
})"""

with Browser() as browser:
    for file in ("short", "blocked", "running", "cpu-time", "wall", "week", "wide", "odd",
                 "brief", "none"):
        etree.parse(file + ".svg")
        browser.open(f"{os.getcwd()}/{file}.svg")
        panels = browser.script(PANELS)
        texts = browser.script("return Array.from(document.querySelectorAll("
                               "'svg > text'), (t) => t.textContent)")
        print(f"{file}:", *texts, sep="\n  ")
        counted = 0
        for panel in panels:
            shown, count = map(int, re.search(r"%: (\d+) of (\d+)", panel["head"]).groups())
            # The unfiltered total is shown beside the filtered one.
            counted += shown if file in ("blocked", "running", "cpu-time") else count
            in_cells = sum(int(re.search(r"%, (\d+) of", c["title"])[1])
                           for c in panel["cells"])
            assert in_cells == shown, panel["head"]
        left_out = re.search(r"Not drawn: (\d+)", " ".join(texts))
        counted += int(left_out[1]) if left_out else 0
        assert counted == int(open(file + ".sum").read()), (file, counted)
        for panel in panels[:4]:
            print(" ", panel["head"], "|", *panel["times"])
            for c in panel["cells"][:4]:
                print(f"    {c['level']} {c['x']:.3f} {c['y']:.3f} {c['title']}")
        assert browser.script("return document.querySelectorAll('script').length") == 0
        print("  errors:", browser.errors())
END
