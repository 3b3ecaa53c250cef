# Small recordings that contain as much as allowed: no command takes long or much memory.
# For recordings with many nodes see hostile-nodes.
# Not with sanitizers: they need more memory and time than the bounds that it checks.
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
python3 "$CLI/hostile.py" "$UNIPROF" "$MAKE_HOSTILE" 20000 0 samples names lines
# Of as many vCPUs as all formats can write
python3 "$CLI/hostile.py" "$UNIPROF" "$MAKE_HOSTILE" 10000 0 vcpus
# With one format for each of: samples, chains, functions, vCPUs
formats=firefox,folded,histogram,html
python3 "$CLI/hostile.py" --formats $formats "$UNIPROF" "$MAKE_HOSTILE" 20000 0 spaces waits
python3 "$CLI/hostile.py" --few --formats $formats "$UNIPROF" "$MAKE_HOSTILE" 20000 0 \
	weights domains infos empty unknown fields frames
