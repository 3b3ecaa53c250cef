# bash completes commands, options, the values of options, domains and files.
. "$CLI/lib.sh"
pretend_domains
completions bash >completions.bash
mkdir files && touch files/a.data
bash -s <<'END'
. ./completions.bash
cd files
# bash knows it only while it completes a line.
compopt() { echo "compopt $*"; }
# try WORD...: the completions of the last word, in one line
try()
{
	COMP_WORDS=(uniprof "$@") COMP_CWORD=$#
	_uniprof
	echo "$*: ${COMPREPLY[*]}"
}
try re
try --v
try help st
try record --j
try record ""
try record -T 1 m
try record -F ""
try stack w
try report --format f
try report --format = f
try report --format =
try report --state ""
try report --symfs ""
try report -s ""
try import -f xen
try diff --base
try diff a.data b
try help --m
try report --domain ""
try report ../db.up --domain ""
try report -i ../db.up --domain = db1,
try top -i ../db.up --domain db1,d
END
