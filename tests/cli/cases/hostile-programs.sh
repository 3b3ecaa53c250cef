# A small recording with the maximum number of programs: see hostile-nodes. Only the formats that
# have programs, and one for the names, which programs give in the same way in all others.
# Not with sanitizers: they need more memory and time than the bounds that it checks.
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
python3 "$CLI/hostile.py" --formats folded,flamegraph,html,perf-data,pprof \
	"$UNIPROF" "$MAKE_HOSTILE" 40000 0 programs
