# Command lines that top refuses.
. "$CLI/lib.sh"
need_no_hypervisor
make_recording web
for arguments in '' 'web' '-i web.up' '-i web.up web --batch 1' '-i web.up -F 99 --batch 1' \
	'-i web.up --batch 0' '-i web.up --window 5 --time 1,2 --batch 1' 'web --time 1,2 --batch 1' \
	'-i web.up --batch 1 --sort size' '-i nothing.up --batch 1' '-i web.up -s nothing --batch 1'; do
	# shellcheck disable=SC2086
	"$UNIPROF" top $arguments
	echo "exit code $?"
done
# The recorder is asked to start, and says why it can't.
without_devices "$UNIPROF" top --batch 1 web
echo "exit code $?"
"$UNIPROF" top --batch 1 -F 100000 web
echo "exit code $?"
