# fish completes commands, options, the values of options, domains and files.
# Not with sanitizers: it is fish that runs here.
. "$CLI/lib.sh"
command -v fish >/dev/null || skip "fish is not installed"
export HOME="$PWD"
pretend_domains
completions fish >completions.fish
mkdir files files/folder && touch files/a.data
fish --no-execute completions.fish || echo "fish can't read them"
cat >try.fish <<'END'
source completions.fish
cd files
for line in "uniprof re" "uniprof --v" "uniprof help st" "uniprof record --j" "uniprof record " \
	"uniprof record -T 1 m" "uniprof record -F " "uniprof stack w" \
	"uniprof report --format f" "uniprof report --format=f" "uniprof report --state " \
	"uniprof report --symfs " "uniprof report -s " "uniprof import -f xen" \
	"uniprof diff --base" "uniprof diff a" "uniprof list " "uniprof help --" \
	"uniprof report --domain " "uniprof report -i ../db.up --domain " \
	"uniprof top -i ../db.up --domain=db1,"
	echo "$line:" (complete -C "$line" | string replace \t "|")
end
END
fish try.fish
