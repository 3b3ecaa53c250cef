# pprof finds the sampled instructions in the guest image, because the addresses are those
# of the image. (It skips the last instruction of a function.)
. "$CLI/lib.sh"
command -v go >/dev/null || skip "golang-go is not installed"
command -v gcc >/dev/null || skip "gcc is not installed"
cat >guest.s <<'END'
	.globl _start, work
	.type _start, @function
	.type work, @function
work:	nop
	inc %eax
	ret
	.size work, . - work
_start:	call work
	jmp _start
	.size _start, . - _start
END
gcc -nostdlib -static -Wl,--build-id=none -o guest.elf guest.s
work=0x$(nm guest.elf | awk '$3 == "work" { print $1 }')
start=0x$(nm guest.elf | awk '$3 == "_start" { print $1 }')
{
	echo "domain 0 1 2 1 1 guest"
	printf 'sample 1 0 1 0 %d %d\n' $((work + 1)) $((start + 5))
	printf 'sample 2 0 1 0 %d %d\n' $((work + 1)) $((start + 5))
	printf 'sample 3 0 1 0 %d %d\n' $((work)) $((start + 5))
	echo "end 1 4"
} | "$MAKE_RECORDING" >guest.up
report -i guest.up -s guest.elf --format pprof -o guest.pb.gz
for function in work _start; do
	PPROF_BINARY_PATH=$PWD go tool pprof -disasm=$function guest.pb.gz |
		sed 's/^\( *[0-9.]* *[0-9.]*\) *[0-9a-f]*: /\1 /'
done
