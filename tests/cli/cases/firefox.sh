# The Firefox Profiler's own program reads what --format firefox writes: each function has the
# same self and total as in the collapsed stacks, and there are markers.
# Not with sanitizers: it is the Firefox Profiler's program that runs here; report-cores writes such
# files with them.
. "$CLI/lib.sh"
make_recording web two
report -i web.up -s "$data/web.sym" --format firefox 2>/dev/null
echo "# time, of two domains"
report -i two.up -s "$data/web.sym" --format firefox --weight wall 2>/dev/null |
	grep -o '"processName.*"weightType": "[^"]*"'
report --format firefox web.up web.up

need_modules @firefox-devtools/profiler-cli
make_big
export PROFILER_CLI_SESSION_DIR=$PWD/sessions
profiler()
{
	node "$npm_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js" "$@"
}
trap 'profiler stop --all >/dev/null 2>&1' EXIT

# functions: NAME SELF TOTAL of each function in the profile that is loaded, as self_and_total
functions()
{
	for thread in $(profiler thread list --json | jq -r '.threads[].threadHandle'); do
		profiler thread functions --thread "$thread" --include-idle --limit 0 --json
	done | jq -r '.functions[] | [.name, .selfSamples, .totalSamples] | @tsv' |
		awk -F '\t' -v unit=$1 '{ self[$1] += $2 * unit; total[$1] += $3 * unit }
			END { for (name in total)
				printf "%s\t%.0f\t%.0f\n", name, self[name], total[name] }' | sort
}

report -i web.up -s "$data/web.sym" --format firefox -o web.json 2>/dev/null
profiler load web.json >/dev/null 2>&1 || skip "profiler-cli does not run with this version of node"
profiler profile info --json | jq -r '.name, (.processes[].threads[] | "\(.name): \(.cpuMs) ms")'
profiler thread markers --json | jq -r '.byType[] | "\(.markerName): \(.count)"'
profiler stop --all >/dev/null
for weight in samples wall; do
	report -i big.up -s big.sym --weight $weight --format firefox -o big.json 2>/dev/null
	report -i big.up -s big.sym --weight $weight --format folded 2>/dev/null |
		sed 's/^[^;]*;//' | self_and_total >expected
	profiler load big.json >/dev/null 2>&1
	functions $([ $weight = samples ] && echo 1 || echo 1000) >shown
	profiler stop --all >/dev/null
	diff expected shown && echo "$weight:" $(wc -l <shown) functions agree
done
