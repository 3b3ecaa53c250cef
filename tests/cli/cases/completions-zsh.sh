# zsh completes commands, options, the values of options, domains and files.
# Not with sanitizers: it is zsh that runs here.
. "$CLI/lib.sh"
command -v zsh >/dev/null || skip "zsh is not installed"
export HOME="$PWD"
pretend_domains
mkdir functions && completions zsh >functions/_uniprof
mkdir files files/folder && touch files/a.data
zsh -n functions/_uniprof || echo "zsh can't read them"
cd files || exit 1
zsh -f "$CLI/offers.zsh" "$HOME/functions" "uniprof rep" "uniprof --v" "uniprof help st" \
	"uniprof record --j" "uniprof record " "uniprof record -T 1 m" "uniprof record -F " \
	"uniprof stack w" "uniprof report --format f" "uniprof report --format=f" \
	"uniprof report --state " "uniprof report --symfs " "uniprof report -s " \
	"uniprof import -f xen" "uniprof diff --base" "uniprof diff a" "uniprof list " "uniprof help --" \
	"uniprof report --domain " "uniprof report -i ../db.up --domain " \
	"uniprof top -i ../db.up --domain=db1,d"
