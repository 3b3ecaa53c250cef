# A small recording with the maximum number of programs: see hostile-nodes.
# Not with sanitizers: they need more memory and time than the bounds that it checks.
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
python3 "$CLI/hostile.py" "$UNIPROF" "$MAKE_HOSTILE" 60000 0 programs
