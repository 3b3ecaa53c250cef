# bash completes commands, options and the values of options.
bash -s "$CLI/../../scripts/completions" "$UNIPROF" <<'END'
. <("$1" "$2")
# try WORD...: the completions of the last word, in one line
try()
{
	COMP_WORDS=(uniprof "$@") COMP_CWORD=$#
	_uniprof
	echo "$*: ${COMPREPLY[*]}"
}
try re
try --v
try record --j
try report --format f
try report --state ""
try import -f xen
try diff --base
try diff a.data b
END
