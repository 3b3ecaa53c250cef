# help --man shows the manual pages that the program has in it, word by word as groff shows them, in 80
# columns but for examples; on a terminal by the pager, with bold letters.
. "$CLI/lib.sh"
command -v groff >/dev/null || skip "groff is not installed"
pages=$CLI/../../docs/man
for page in "$pages"/*.1; do
	name=$(basename "$page" .1)
	command=${name#uniprof}
	# groff writes a heading and a footing, and breaks lines after hyphens.
	groff -man -Tascii -P-cbou -rHY=0 -rLL=78n "$page" 2>/dev/null | sed '1d;$d; s/^ *[o+] / * /' |
		perl -0pe 's/(?<=[a-z])-\n\s+/-/g; s/^\s+//; s/\s+/\n/g' >groff
	"$UNIPROF" help --man ${command#-} >shown || echo "$name: exit code $?"
	perl -0pe 's/\s+/\n/g' shown | diff groff - >different || head different
	sed '/^EXAMPLES/,$d' shown | awk -v name="$name" 'length > 80 { print name ": " $0 }'
done
"$UNIPROF" help --man stack >shown
sed -n 1,3p shown
"$UNIPROF" help --man dump | cmp - shown
"$UNIPROF" help --man >shown
wc -l <shown
"$UNIPROF" help --man reprot
command -v script >/dev/null || skip "script (bsdutils) is not installed"
TERM=xterm PAGER='sed s/^/page:/' script -qec "$UNIPROF help --man list" typescript </dev/null >/dev/null
tr -d '\r' <typescript | sed '/^Script /d; 8q' | cat -v
