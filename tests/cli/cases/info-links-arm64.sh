# info -s ELF checks links against arm64 code, too.
. "$CLI/lib.sh"
cat >links.s <<'END'
	.macro function name
	.p2align 2
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
	cbz x0, 1f
	b work
1:	ret
	end jumps
	function jumps_anywhere
	br x1
	end jumps_anywhere
	function other
	nop
	ret
	end other
	function handler
	nop
	eret
	end handler
	function main
	bl work
after_direct:
	bl jumps
after_jump:
	bl jumps_anywhere
after_anywhere:
	blr x2
after_indirect:
	bl other
after_other:
	nop
after_nothing:
	nop
	ret
	end main
END
clang --target=aarch64-linux-gnu -nostdlib -fuse-ld=lld -static -Wl,-Ttext=0x100000 -Wl,-e,main \
	-o links links.s || exit 1
at()
{
	nm links | sed -n "s/^\([0-9a-f]*\) . $1\$/0x\1/p"
}
{
	echo "info start 1000"
	echo "domain 0 3 2 3 1 web"
	for after in direct jump anywhere indirect other nothing; do
		echo "sample $((time += 1000)) 0 1 0 $(at work) $(at after_$after)"
	done
	echo "sample $((time += 1000)) 0 1 0 $(at handler) $(at after_nothing)"
	echo "end 1 $((time += 1000))"
} | "$MAKE_RECORDING" >links.up
info -s links links.up | sed -n '/^Links/,$p'
echo 'nop' | clang --target=arm-linux-gnueabi -nostdlib -fuse-ld=lld -static -o arm -x assembler - \
	2>/dev/null || exit 1
info -s arm links.up
