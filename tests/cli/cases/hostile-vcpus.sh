# A recording with the maximum number of call chain nodes, and many vCPUs: see hostile-nodes. Most
# of the file is filler, since a larger recording may have more nodes.
# Not with sanitizers: they need more memory and time than the bounds that it checks.
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
python3 "$CLI/hostile.py" "$UNIPROF" "$MAKE_HOSTILE" 400000 300000 vcpus-and-nodes
