# The page of --format html in a browser: what it shows at first, by the address, by keyboard
# and by mouse; the same by Back; no request and no error.
# Not with sanitizers: it tests the page; html-agrees and html-baseline write pages with them.
. "$CLI/lib.sh"
need_browser
make_big
report -i big.up -s big.sym --format html -o big.html 2>/dev/null
report -i big.up -s big.sym --format html --weight cpu-time -o cpu.html 2>/dev/null
{
	echo "info start 1000000000"
	echo "info frequency 4000"
	echo "domain 0 3 4 1 1 web"
	echo "sample 1000000000 0 1 0 0x100001"
	echo "sample 1250000000 0 1 0 0x100001"
	echo "exit 2 0x3f8"
	echo "sample 1500000000 0 1 0 0x100101"
	echo "exit 5 0"
	echo "sample 1750000000 0 3 0 0x100101"
	echo "pause 20000000 4"
	echo "missed 4"
	echo "end 1 2000000000"
} | "$MAKE_RECORDING" >exits.up
report -i exits.up -s big.sym --format html -o exits.html 2>/dev/null
# Of two threads, one waits for a lock, then runs, then sleeps on; the other one is idle.
{
	echo "info start 1000000000"
	echo "domain 0 3 4 1 1 web"
	echo "sample 1000000000 0 1 0 0x100001"
	echo "process 7 app"
	echo "thread 8 pool"
	echo "wait 1000000000 1500000000 2 0 0x100101 0x100001"
	echo "wait 2500000000 0 1 0 0x100201 0x100001"
	echo "thread 7 app"
	echo "wait 1000000000 0 4 0 0x100301 0x100001"
	echo "waits 3000000000 100000000 20 2 0 0 1000"
	echo "end 1 3000000000"
} | "$MAKE_RECORDING" >waits.up
report -i waits.up -s big.sym --format html -o waits.html 2>/dev/null
report -i waits.up -s big.sym --format html --weight wait --min-wait 600ms -o long.html 2>/dev/null
report -i big.up --format html --weight wait -o none.html || echo "exit code $?"
build_shop
sample_functions shop 'Cart3addEi'
report -i shop.up -s shop --inline --srcline --format html -o lines.html 2>/dev/null
grep -c 'default-src .none.' big.html
grep -oE '(src|href)="[^"]*"' big.html
drive <<'END'
import os

from browser import Browser, wait_for

with Browser() as browser:
    def text(selector):
        return browser.script("return document.querySelector(arguments[0]).textContent", selector)

    def rows(count=3):
        return browser.script("""
            return Array.from(document.querySelectorAll("#table tbody tr"), (row) =>
                Array.from(row.cells, (cell) => cell.textContent).join(" | "))""")[:count]

    def focus(selector):
        browser.script("document.querySelector(arguments[0]).focus()", selector)

    def address():
        return browser.script("return location.hash")

    def show(path):
        browser.open(os.path.abspath(path))
        wait_for(lambda: browser.script("return Boolean(globalThis.uniprof)"))

    show("big.html")
    print(browser.script("return document.title"), "|", text("#summary"))
    print(*rows(), sep="\n")
    print("a screen reader finds:")
    found = browser.accessible()
    for role, name, properties in found:
        if role in ("heading", "table", "columnheader", "tablist", "status", "Canvas", "application"):
            print(" ", role, "|", name)
        if role == "tab":
            print(" ", role, "|", name, "|", properties.get("selected"))
    print("  rows:", *[name for role, name, _ in found if role == "rowheader"][:3])
    print("  without a name:", [(role, name) for role, name, _ in found if not name and role in (
        "button", "combobox", "searchbox", "textbox", "checkbox", "radio", "tab", "link", "application")])
    print("search:")
    browser.keys("/")
    browser.type("^function_(3|7)$")
    wait_for(lambda: not browser.script("return Boolean(uniprof.names.done)"))
    print(text("#found"), address())
    print(*rows(), sep="\n")
    browser.keys("Escape")
    print("a range, by keyboard:")
    focus("#heat")
    browser.keys("ArrowRight")
    browser.keys("Shift", "ArrowRight")
    browser.keys("Enter")
    print(address(), "|", text("#summary"), "|", text("#ranges"))
    print("the flame graph, by keyboard:")
    focus("#flame canvas")
    for key in ("ArrowUp", "ArrowUp", "ArrowRight"):
        browser.keys(key)
    print(text("#frame-details"))
    browser.keys("Enter")
    print(address())
    browser.keys("s")
    print(address(), text("#frame-details"))
    print("Back:")
    browser.script("history.back()")
    wait_for(lambda: "f=" not in address())
    browser.script("history.back()")
    wait_for(lambda: "z=" not in address() and browser.script("return uniprof.state.now.z") == 0)
    print(address(), "|", text("#summary"))
    print("by mouse:")
    browser.script("document.querySelector('#reset').click()")
    browser.point(browser.script("return document.querySelector('#heat')"))
    print(text("#time-details"))
    browser.point(browser.script("return document.querySelector('#tabs [data-tab=vcpus]')"), click=True)
    print(address(), *rows(), sep="\n")
    browser.drag(browser.script("return document.querySelector('#heat')"), (-300, 0), (-100, 0))
    print(browser.script("return uniprof.state.now.r.length"), address() != "#t=vcpus")
    browser.script("history.back()")
    wait_for(lambda: browser.script("return uniprof.state.now.r.length") == 0)
    browser.point(browser.script("return document.querySelector('#table tbody button')"), click=True)
    print(address(), text("#summary"))
    browser.script("location.hash = '#t=threads&y=name'")
    wait_for(lambda: "each" in text("#table"))
    print(*rows(2), sep="\n")
    browser.point(browser.script("return document.querySelector('#table tbody button')"), click=True)
    print(address(), text("#summary"))
    browser.script("location.hash = '#t=tree&r=1-2,3-4&s=busy'")
    wait_for(lambda: "Call tree" in text("#table"))
    print(text("#summary"), *rows(2), sep="\n")
    browser.script("location.hash = '#r=0-2&c=2-5&y=-change'")
    wait_for(lambda: "interval" in text("#table"))
    print(*rows(), sep="\n")
    print("exits, missed rounds, pauses:")
    show("exits.html")
    browser.script("location.hash = '#t=exits'")
    wait_for(lambda: "Exits" in text("#table"))
    print(*rows(), sep="\n")
    browser.point(browser.script("return document.querySelector('#table tbody button')"), click=True)
    print(address(), text("#summary"))
    browser.point(browser.script("return document.querySelector('#heat')"))
    print(text("#time-details"))
    # The shares of the cells' width with the colour of pauses, and with any of samples
    print(browser.script("""
        const canvas = document.querySelector("#heat"), left = 150, width = canvas.width - left;
        const { data } = canvas.getContext("2d").getImageData(left, 10, width, 1);
        const is = (i, ...colour) => colour.every((part, j) => data[i * 4 + j] === part);
        let paused = 0, drawn = 0;
        for (let i = 0; i < width; i++) {
            paused += is(i, 217, 154, 0);
            drawn += data[i * 4 + 3] === 255 && !is(i, 185, 185, 185);
        }
        return [paused, drawn - paused].map((part) => `${(100 * part / width).toFixed(0)} %`)"""))
    print("waits:")
    show("waits.html")
    print(text("#summary"))
    browser.script("location.hash = '#w=wait&t=threads&k=kind'")
    wait_for(lambda: "Threads" in text("#table"))
    print(text("#summary"), *rows(), sep="\n")
    print(browser.script("""
        return Array.from(document.querySelectorAll("#tabs button:not([hidden])"), (tab) => tab.textContent).join(", ")"""))
    # The thread's row, where it ran; then colours of the flame graph
    browser.point(browser.script("return document.querySelector('#heat')"))
    print(text("#time-details"))
    print(browser.script("""
        const canvas = document.querySelector("#flame canvas");
        return Array.from(canvas.getContext("2d").getImageData(9, canvas.height - 24, 1, 1).data).join(" ")"""))
    browser.point(browser.script("return document.querySelector('#table tbody tr:nth-child(2) button')"), click=True)
    print(address(), text("#summary"), *rows(), sep="\n")
    browser.script("location.hash = '#w=samples&p=0'")
    wait_for(lambda: "sample" in text("#summary"))
    print(text("#summary"), browser.script("return document.querySelector('#process').parentElement.hidden"))
    browser.script("location.hash = '#w=wait&s=uninterruptible&r=0.25-2&t=vcpus'")
    wait_for(lambda: "Functions" in text("#table"))
    print(text("#summary"), *rows(), sep="\n")
    browser.script("location.hash = '#w=wait&t=states&h=seconds&k=state'")
    wait_for(lambda: "States" in text("#table"))
    print(*rows(), sep="\n")
    show("long.html")
    print(text("#summary"))
    print("inlined functions and source lines:")
    show("lines.html")
    browser.script("location.hash = '#q=square|twice&y=name'")
    wait_for(lambda: browser.script("return uniprof.state.now.q && !uniprof.names.done"))
    print(text("#found"), *rows(9), sep="\n")
    print(browser.script("""
        const { graph } = uniprof.flame.picture, { count, parent } = graph.tree;
        return Array.from({ length: count }, (_, i) => i).filter((i) => /^square/.test(graph.name(i)))
            .map((i) => [i, parent[i], parent[parent[i]]].map((node) => graph.name(node)).join(" in ")).slice(0, 3)"""))
    show("cpu.html")
    print(text("#summary"))
    print("requests:", browser.script("return performance.getEntriesByType('resource').length"),
          "errors:", browser.errors())
END
