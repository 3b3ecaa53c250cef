# Names with any bytes, as of domains, hosts and functions, are text in the page of --format
# html: no markup, no script, no request, and no error.
. "$CLI/lib.sh"
need_browser
python3 - <<'END'
NAMES = [
    b"</script><script>window.pwned=1</script>", b"<img src=x onerror=window.pwned=1>",
    b"a\" onload=\"window.pwned=1", b"&lt;&amp;&#60;&#x3c;&bogus;&", b"<!-- comment", b"--> x",
    b"${window.pwned=1}`", b"\\u003cscript\\u003e\\", b"\x01\x08\x1b[31m\x7f", b"__proto__",
    b"constructor", b"bad \xff\xfe\xc0\xaf utf-8 \xed\xa0\x80", b"\xef\xbf\xbe noncharacters",
    "caml\u00e9 \u6771\u4eac \U0001f525 \u202eright to left".encode(), b"x" * 20000,
    b"javascript:window.pwned=1", b"url(http://127.0.0.1:9/)", b"(", b"",
]
with open("hostile.sym", "wb") as file:
    for i, name in enumerate(NAMES):
        file.write(b"%016x %016x T %s\n" % (0x1000 + i * 0x100, 0x100, name))
with open("hostile.txt", "wb") as file:
    file.write(b"info start 1000\ninfo host </title><script>window.pwned=1</script>\xff\x01\n")
    file.write(b"info command <img src=x onerror=window.pwned=1>\n")
    for i, domain in enumerate([NAMES[0], b"\xff\x02\"'&]]>", NAMES[1]]):
        file.write(b"domain %d %d 2 1 2 %s\n" % (i, i + 3, domain))
    for i in range(60):
        chain = " ".join(hex(0x1008 + (i + j) % len(NAMES) * 0x100) for j in range(5))
        file.write(b"in %d\nspace 4096\nprocess 7 </script><b>\n" % (i % 3))
        file.write(b"sample %d 0 %d 0 %s\n" % (2000 + i * 3000000, i % 6, chain.encode()))
    for i, name in enumerate([NAMES[0], b"<b>\xff", b"__proto__"]):
        file.write(b"in %d\nspace 8192\nprocess %d %s\nthread %d %s\n" % (i, i, name[:15], i + 1, name[:15]))
        file.write(b"wait 3000 %d %d 0 0x1008 0x1108\nwait 0 0 1 0 0x1208\n" % (9000000 + i * 50000, i + 7))
    file.write(b"waits 18446744073709551000 100000000 9 9 9 9 9\n")
    # The largest time, and chains without addresses
    file.write(b"sample 18446744073709551000 1 1 0\nsample 0 1 1 4\n")
    file.write(b"end 1 18446744073709551000\n")
END
"$MAKE_RECORDING" <hostile.txt >hostile.up
report -i hostile.up -s hostile.sym --per-process --format html -o hostile.html 2>/dev/null
drive <<'END'
import os

from browser import Browser, wait_for

VIEWS = ["", "#t=modules&g=modules&k=module", "#t=tree&g=inverted&k=state", "#t=about&h=seconds",
         "#t=processes&f=3&q=%28", "#f=3&q=.", "#z=99999999&f=99999999&d=77&r=9-1,x&c=0-1&k=change",
         "#w=__proto__&s=constructor&t=<img>&q=%E0%A4", "#w=wall&t=domains", "#w=cpu-time&t=states",
         "#w=wait&t=threads&k=state", "#w=wait&h=seconds&t=processes&i=99&s=idle", "#w=wait&t=exits&q=x&r=0-9"]
with Browser() as browser:
    browser.open(os.path.abspath("hostile.html"))
    for view in VIEWS:
        browser.script("location.hash = arguments[0]", view)
        wait_for(lambda: browser.script("return Boolean(globalThis.uniprof)"))
        browser.script("return new Promise((done) => setTimeout(done, 20))")
        print(view, browser.script("""
            return [Boolean(globalThis.pwned), document.querySelectorAll("img, b, script[src]").length,
                    performance.getEntriesByType("resource").length].join(" ")"""))
    print("errors:", browser.errors())
    print(browser.script("return document.title"))
    # A regular expression that takes forever is stopped, and the page goes on meanwhile.
    ticks = browser.script("""
        return new Promise((done) => {
            let ticks = 0;
            const tick = setInterval(() => {
                ticks++;
                if (uniprof.names.done)
                    return;
                clearInterval(tick);
                done(ticks);
            }, 10);
            uniprof.state.set({ w: "samples", r: [], q: "^(x+x+)+y" });
        })""")
    print(browser.script("return document.querySelector('#found').textContent"), ticks > 3 or ticks)
    browser.script("uniprof.state.set({ q: '^x+$' })")
    wait_for(lambda: not browser.script("return Boolean(uniprof.names.done)"))
    print(browser.script("return document.querySelector('#found').textContent"))
    browser.script("location.hash = '#'")
    print(*sorted(name[:60] for name in browser.script("""
        return Array.from(document.querySelectorAll("#table tbody th"), (cell) => cell.textContent)""")),
          sep="\n")
END
