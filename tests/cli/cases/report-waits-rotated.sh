# A file of record --rotate has waits that began before it: of them, only the time since its start counts,
# so that the sums of all files are right. A recorder that was killed leaves a file without an end, of
# which the last chunk may be cut. All commands take such files.
. "$CLI/lib.sh"
cat >web.sym <<END
1000 T futex_wait
1100 T do_read
1300 T main
1500 D data
END
waits()
{
	cat <<END
space 0x9000
process 10 nginx
thread 10 nginx
END
}
"$MAKE_RECORDING" >web.data.1 <<END
info start 1000000000
domain 0 1 4 1 1 web
sample 1000001000 0 1 0 0x1304
$(waits)
wait 1000000000 0 1 0 0x1004 0x1304
thread 11 pool
wait 1500000000 0 2 0 0x1104 0x1304
waits 2000000000 100000000 10 2 0 0 12345
end 5 2000000000
END
"$MAKE_RECORDING" >web.data.2 <<END
info start 2000000000
domain 0 1 4 1 1 web
sample 2000001000 0 1 0 0x1304
$(waits)
wait 1000000000 0 1 0 0x1004 0x1304
waits 2100000000 100000000 1 2 0 0 12345
thread 11 pool
wait 1500000000 2300000000 2 0 0x1104 0x1304
thread 10 nginx
wait 1000000000 2700000000 1 0 0x1004 0x1304
waits 3000000000 100000000 9 2 0 0 12345
END
for file in web.data.1 web.data.2; do
	echo "# $file"
	report $file -s web.sym --weight wait --format folded --per-thread
	report $file -s web.sym --weight wait --format rows 2>/dev/null
	info $file | sed -n '/^Waits/,/^  threads/p'
done
echo "# with --min-wait, by the whole wait"
report web.data.2 -s web.sym --weight wait --format folded --min-wait 1s
echo "# both"
report web.data.1 web.data.2 -s web.sym --weight wait --format folded --per-thread
"$UNIPROF" diff web.data.1 web.data.2 -s web.sym --weight wait --format histogram-csv
echo "# killed in the last chunk"
head -c -20 web.data.2 >cut.data
report cut.data -s web.sym --weight wait --format folded
"$UNIPROF" archive -s web.sym cut.data -o stored.up
report stored.up --weight wait --format folded
