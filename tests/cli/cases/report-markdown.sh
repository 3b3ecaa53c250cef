# A page in Markdown: what was recorded, what is missing, and tables whose counts add up.
. "$CLI/lib.sh"
make_recording web two odd
report -i web.up -s "$data/web.sym" --format markdown 2>/dev/null
echo "== two domains, time"
report -i two.up -s "$data/web.sym" --format markdown --weight wall 2>/dev/null |
	sed -n '/^## vCPUs/,$p'
echo "== a chain of 30 functions, and recursion"
awk 'BEGIN { for (i = 0; i < 30; i++) printf "%x T f%d\n", 4096 + i * 256, i }' >long.sym
{
	echo "domain 0 1 2 1 1 web"
	echo "sample 1000 0 1 0 $(awk 'BEGIN { for (i = 29; i >= 0; i--)
		for (n = 0; n < (i % 10 == 5 ? 3 : 1); n++) printf " 0x%x", 4097 + i * 256 }')"
	echo "end 1 2000"
} | "$MAKE_RECORDING" >long.up
report -i long.up -s long.sym --format markdown 2>/dev/null | sed -n '/^## Call chains/,$p'
echo "== more functions and chains than are shown"
{
	echo "domain 0 1 2 1 1 web"
	i=0
	while [ $i -lt 30 ]; do
		echo "sample $((1000 + i)) 0 1 0 $((4096 + i * 256))"
		i=$((i + 1))
	done
	echo "end 1 2000"
} | "$MAKE_RECORDING" >many.up
report -i many.up -s long.sym --format markdown 2>/dev/null | grep 'other'
echo "== no samples"
echo "end 1 5" | "$MAKE_RECORDING" >empty.up
report -i empty.up --format markdown 2>/dev/null

# A reader of Markdown finds the tables, and no markup in names: not in those of guests and
# functions, nor in a chain of 1,024 functions.
command -v cmark-gfm >/dev/null || skip "cmark-gfm is not installed"
command -v python3 >/dev/null || skip "python3 is not installed"
make_hard
{
	echo "info host <b>*host*</b>"
	echo 'info command record `a`|b | c ![x](http://x/y) \|'
	echo 'domain 0 1 2 1 1 ``|<img src="x">[a](b)*'
	echo "sample 1000 0 1 0 0x1000 0x1101"
	echo "sample 2000 0 1 0 0x1100 0x1001"
	echo "end 1 3000"
} | "$MAKE_RECORDING" >marks.up
cat >marks.sym <<'END'
1000 T operator||(A<int>, `b`) ![i](j) \| <script>
1100 T `
END
for recording in marks odd hard; do
	symbols=$recording.sym
	[ -e $symbols ] || symbols=$data/$recording.sym
	report -i $recording.up -s $symbols --format markdown 2>/dev/null >$recording.md
	cmark-gfm --unsafe -e table $recording.md >$recording.html
done
python3 - <<'END'
import html.parser

class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.widths, self.codes, self.code = set(), [], [], False
    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "table":
            self.widths.append([])
        elif tag == "tr":
            self.widths[-1].append(0)
        elif tag in ("td", "th"):
            self.widths[-1][-1] += 1
        self.code |= tag == "code"
        if tag == "code":
            self.codes.append("")
    def handle_endtag(self, tag):
        self.code &= tag != "code"
    def handle_data(self, text):
        if self.code:
            self.codes[-1] += text

for name in "marks", "odd", "hard":
    page = Page()
    page.feed(open(name + ".html").read())
    known = {"h1", "h2", "p", "table", "thead", "tbody", "tr", "td", "th", "code"}
    print(name, sorted(page.tags - known), [sorted(set(table)) for table in page.widths],
          max(map(len, page.codes)))
    if name == "marks":
        print(*sorted(set(page.codes)), sep="\n")
END
