# info -s ELF checks the links between callers and callees against the code: a direct call,
# one of a function that jumps to another, a PLT-like jump, an indirect call, an interrupt,
# calls of other functions, and no call at all.
. "$CLI/lib.sh"
cat >links.s <<'END'
	.macro function name
	.p2align 4
	.globl \name
	.type \name, @function
\name:
	.endm
	.macro end name
	.size \name, . - \name
	.endm
	function work
	nop
	ret
	end work
	function jumps
	test %edi, %edi
	je 1f
	jmp work
1:	ret
	end jumps
	function jumps_twice
	jmp jumps
	end jumps_twice
	function jumps_anywhere
	jmp *%rax
	end jumps_anywhere
	function other
	nop
	ret
	end other
	function handler
	nop
	iretq
	end handler
	function main
	call work
after_direct:
	call jumps
after_jump:
	call jumps_twice
after_jumps:
	call jumps_anywhere
after_anywhere:
	call *%rax
after_indirect:
	call other
after_other:
	nop
after_nothing:
	nop
	ret
	end main
END
as -o links.o links.s && ld -o links -Ttext 0x100000 -e main links.o || exit 1
at()
{
	nm links | sed -n "s/^\([0-9a-f]*\) . $1\$/0x\1/p"
}
{
	echo "info start 1000"
	echo "domain 0 3 2 1 1 web"
	echo "domain 1 4 2 1 1 db"
	for after in direct jump jumps anywhere indirect other nothing; do
		echo "sample $((time += 1000)) 0 1 0 $(at work) $(at after_$after)"
	done
	# In a handler, and in a function that the handler called.
	echo "sample $((time += 1000)) 0 1 0 $(at handler) $(at after_nothing)"
	# Outside of the file.
	echo "weight 10"
	echo "sample $((time += 1000)) 0 1 0 $(at work) 0x500000"
	echo "weight 100"
	echo "in 1"
	echo "sample $((time += 1000)) 0 1 0 $(at work) $(at after_other)"
	echo "end 1 $((time += 1000))"
} | "$MAKE_RECORDING" >links.up
links()
{
	info "$@" links.up | sed -n '/^Links/,$p'
}
links -s links
links -s links,domain=web
links -s links@0x100000
info -s links.s links.up
info -s links,domain= links.up
info -s nothing links.up
# Without -s, nothing is checked; but the recorder may have done so, chunk by chunk.
links
{
	echo "info start 1000"
	echo "sample 1000 0 1 0 0x100 0x200"
	echo "links 900 90 0 5"
	echo "flush"
	echo "sample 2000 0 1 8 0x100"
	echo "links 0 0 10 0"
	echo "end 1 3000"
} | "$MAKE_RECORDING" >recorded.up
info recorded.up | sed -n '/^Call chains/,$p'
