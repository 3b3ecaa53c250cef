# A sample without addresses is counted, not lost.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >empty.up <<END
domain 0 1 2 1 1 empty
sample 2000 0 1 2
sample 3000 0 1 0 0x1004 0x1108
end 1 4000
END
for format in folded histogram-csv perf-script; do
	report -i empty.up --format $format -s "$data/plain.sym"
done
