# If the reader of a long report exits, the report ends silently.
. "$CLI/lib.sh"
{
	echo "domain 0 1 2 1 4 big"
	echo "many 100000 1000 12 100"
	echo "end 1 90000000000"
} | "$MAKE_RECORDING" >big.up
"$UNIPROF" report -i big.up --format perf-script 2>err | head -n 1
cat err >&2
# Ignoring SIGPIPE makes no difference.
(
	trap '' PIPE
	"$UNIPROF" report -i big.up --format perf-script 2>err
	echo "exit code $?" >code
) | head -n 1
cat err code
