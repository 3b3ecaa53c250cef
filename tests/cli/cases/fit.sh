# The right file is never taken for another build: what an interrupt stopped, and a program that
# its kernel returns to, follow no call. Few addresses decide only if they agree.
. "$CLI/lib.sh"
cat >web.s <<'END'
	.globl _start, work, calls
	.type _start, @function
	.type work, @function
	.text
_start:
	.rept 32
	call work	# 5 bytes, at 0x100000 + 5 * i
	.endr
	.size _start, . - _start
work:
	.fill 0x200, 1, 0x90
	.size work, . - work
END
as -o web.o web.s && ld -o web.elf -Ttext 0x100000 web.o || exit 1

# recording CHAIN...: one with these chains, each a comma-separated list of addresses
recording()
{
	{
		echo "domain 0 1 2 1 1 web"
		time=2000
		for chain; do
			echo "sample $time 0 1 0 $(echo "$chain" | tr , ' ')"
			time=$((time + 1000))
		done
		echo "end 1 99000"
	} | "$MAKE_RECORDING" >web.up
}
# judge WHAT CHAIN...
judge()
{
	echo "# $1"
	shift
	recording "$@"
	report -i web.up -s web.elf -v --format folded 2>&1 >/dev/null |
		grep -o 'web.elf does not match.*in it\|web.elf in the domain.*'
}
# right N, interrupted N, wrong N: chains with different addresses
right()
{
	for i in $(seq 1 "$1"); do echo "0x1000a4,$(printf 0x%x $((0x100000 + 5 * i)))"; done
}
interrupted()
{
	for i in $(seq 1 "$1"); do
		echo "0x1000a4,0x100005,0x4ffffffffffffffd,$(printf 0x%x $((0x100120 + i))),0x100005"
	done
}
wrong()
{
	for i in $(seq 1 "$1"); do echo "0x1000a4,$(printf 0x%x $((0x100120 + i)))"; done
}
judge "interrupts" $(right 5) $(interrupted 9)
judge "a kernel that is not in the file" $(right 5) \
	$(interrupted 9 | sed 's/,0x4ffffffffffffffd//; s/0x1000a4,0x100005/0xffffffff81000100/')
judge "two addresses are too few" $(wrong 2)
judge "three that agree suffice" $(wrong 3)
judge "a fifth of 19 is too little" $(right 15) $(wrong 4)
judge "half of 18 is enough" $(right 9) $(wrong 9)
judge "a tenth of many is too little" $(right 30) $(wrong 4)
