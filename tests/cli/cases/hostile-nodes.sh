# Small recordings with the maximum number of call chain nodes: no command takes long or
# much memory.
# Not with sanitizers: they need more memory and time than the bounds that it checks.
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
# Formats that write each chain, each node, each function, or each sample with its chain; of chains
# or names that are longer, two of them
python3 "$CLI/hostile.py" --few --formats folded,html,histogram,perf-script,speedscope \
	"$UNIPROF" "$MAKE_HOSTILE" 20000 0 deep nodes
python3 "$CLI/hostile.py" --few --formats folded,html \
	"$UNIPROF" "$MAKE_HOSTILE" 20000 0 deep-samples long-names
