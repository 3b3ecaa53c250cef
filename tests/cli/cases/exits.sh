# With --exits, why a vCPU was not in the guest's code is the innermost function, below the instruction
# that it left, even the first one of a function; filters and other outputs take it for one.
. "$CLI/lib.sh"
{
	echo "info start 1000000000"
	echo "info frequency 99000"
	echo "domain 0 3 4 1 1 web"
	echo "sample 1010000000 0 1 0 0x1100 0x1208"
	echo "exit 2 0x3f8"
	echo "sample 1020000000 0 1 0 0x1104 0x1208"
	echo "sample 1030000000 0 1 0 0x1100 0x1208"
	echo "exit 1 0x60"
	echo "sample 1040000000 0 1 0 0x1204"
	echo "exit 3 0xfeb00"
	echo "sample 1050000000 0 1 0 0x1204"
	echo "exit 4 0xfeb00"
	echo "sample 1060000000 0 1 0 0x1204"
	echo "exit 5 0"
	echo "sample 1070000000 0 3 0 0x1004 0x1208"
	echo "exit 6 0"
	echo "sample 1080000000 0 1 0 0x1204"
	echo "exit 7 10"
	echo "sample 1090000000 0 1 0 0x1204"
	echo "exit 7 4095"
	echo "sample 1100000000 0 1 0 0x1204"
	echo "exit 15 7" # of a later version
	for wait in 0 1 2 3 4 99; do
		echo "sample 1105000000 0 3 0 0x1204"
		echo "exit 8 $wait"
	done
	echo "sample 1110000000 0 1 0"
	echo "end 1 2000000000"
} | "$MAKE_RECORDING" >exits.up
printf '%s\n' '1000 T idle' '1100 T put_char' '1200 T main' '1300 T end' >exits.sym
show()
{
	report -i exits.up -s exits.sym "$@" 2>/dev/null
}
echo "# without --exits"
show --format folded
echo "# with"
show --exits --format folded
echo "# which code leaves the guest to write to the console"
show --exits --symbol-filter 'io out' --format folded
echo "# which code leaves the guest"
show --state exit --format folded
show --state exit | head -n 1
show --state exit --format timeline | grep -c '<rect'
echo "# by reason"
show --exits --symbol-filter '^.exit: ' --percent-limit 0
show --sort exit --percent-limit 6
echo "# and by function"
show --state exit --exits --tree --invert --symbol-filter 'io out'
echo "# rows"
show --format rows --time ,0.06
echo "# perf-script"
show --exits --format perf-script --time ,0.03
echo "# on Xen, hypercalls are such reasons"
{
	echo "domain 0 3 1 1 1 web"
	echo "sample 1010000000 0 1 0 0x13a4 0x1204"
	echo "sample 1020000000 0 3 0 0x13a4 0x1004"
	echo "sample 1030000000 0 1 0 0x1344 0x1204"
	echo "sample 1040000000 0 1 0 0x1204 0x13a4"
	echo "sample 1050000000 0 1 0"
	echo "end 1 2000000000"
} | "$MAKE_RECORDING" >exits.up
printf '%s\n' '1000 T idle' '1200 T main' '1300 T hypercall_page' '2300 T end' >xen.sym
report -i exits.up -s xen.sym --state exit --format folded 2>/dev/null
report -i exits.up -s xen.sym --sort exit 2>/dev/null
echo "# the longest chain stays as it is"
{
	echo "domain 0 3 4 1 1 web"
	echo "exit 2 0x3f8"
	echo "sample 1010000000 0 1 0$(awk 'BEGIN { while (n++ < 1024) printf " 0x1204" }')"
	echo "end 1 2000000000"
} | "$MAKE_RECORDING" >exits.up
show --exits --format folded | awk -F ';' '{ print NF, $NF }'
