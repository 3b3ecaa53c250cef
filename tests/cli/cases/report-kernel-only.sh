# Only samples of the kernel, or of processes: the sampled address decides.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >two.up <<END
domain 0 7 2 1 1 linux
domain 1 9 2 2 1 old
sample 1000000000 0 1 0 0x1004 0xffffffff81000010
sample 1001000000 0 1 0 0xffffffff81000010 0x1104
sample 1002000000 0 1 0 0x7fffffffffffffff
weight 4
sample 1003000000 0 1 0 0x8000000000000000
sample 1003500000 0 1 0
weight 1
in 1
sample 1004000000 0 1 0 0xbeffffff
sample 1005000000 0 1 0 0xbf000000
in 2
sample 1005000000 0 1 0 0xbf000000
sample 1006000000 0 1 0 0x8000000000000000
end 1 2000000000
END
for only in --kernel-only --user-only '--kernel-only --user-only' '--user-only --kernel-only'; do
	echo "# $only"
	# shellcheck disable=SC2086 # words
	report two.up --format folded $only 2>/dev/null
done
echo "# time since the vCPU's last sample"
report two.up --format folded --weight wall --kernel-only 2>/dev/null
report two.up --kernel-only 2>/dev/null | head -n 1
