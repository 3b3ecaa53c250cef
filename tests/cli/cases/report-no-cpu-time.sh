# Asking for CPU time that a recording, or a part of it, does not have is an error.
. "$CLI/lib.sh"
make_recording web
for format in histogram folded perf-script; do
	report -i web.up -s "$data/web.sym" --weight cpu-time --format $format
done
"$MAKE_RECORDING" >part.up <<END
domain 0 1 2 1 1 part
sample 2000 0 1 0 0x1104
flush
cpu-time 10000
sample 3000 0 1 0 0x1104
end 1 4000
END
report -i part.up -s "$data/plain.sym" --weight cpu-time
report -i part.up -s "$data/plain.sym" --weight wall --format folded
