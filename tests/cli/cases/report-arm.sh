# Recordings of ARM and RISC-V guests, with images from clang and lld: every address of a
# function has its name, despite mapping symbols and constants inside it, also in Thumb code,
# whose symbols are odd; perf prints the same for perf-data, and reports the CPU.
. "$CLI/lib.sh"
for program in clang ld.lld readelf nm; do
	command -v $program >/dev/null || skip "$program is not installed"
done
need_perf
cp "$data/arm.c" .

# build NAME CLANG-OPTION...
build()
{
	name=$1
	shift
	clang "$@" -g -O2 -fno-omit-frame-pointer -ffreestanding -nostdlib -static \
		-fuse-ld=lld -Wl,--build-id=sha1 -o $name.elf arm.c || exit 1
}

build arm64 --target=aarch64-linux-gnu
build arm32 --target=arm-linux-gnueabi -march=armv7-a -marm
build thumb --target=arm-linux-gnueabi -march=armv7-a -mthumb
# Labels would be names in perf's output.
build riscv64 --target=riscv64-linux-gnu -march=rv64gc -Wl,--discard-locals

# functions NAME: start, size and name of each from readelf, without the Thumb bit
functions()
{
	readelf -sW $1.elf | perl -ane 'next unless @F == 8 && $F[3] eq "FUNC";
		printf "%d %d %s\n", hex($F[1]) & ~1, $F[2], $F[7]' | sort -n
}

# record NAME CPU: makes NAME.up, with a sample at every second address of all functions
# and one with each of these as a return address; NAME.wanted has the count per function
record()
{
	functions $1 >functions
	{
		printf 'info start 1000\ndomain 0 3 2 %d 1 guest\n' $2
		perl -ane 'my ($start, $size) = @F;
			for (my $at = $start; $at < $start + $size; $at += 2) {
				printf "sample %d 0 1 0 %#x\n", 2000 + $at, $at;
				printf "sample %d 0 1 0 0x8 %#x\n", 2001 + $at, $at + 2;
			}' functions
		echo "end 1 9000000000"
	} | "$MAKE_RECORDING" >$1.up
	awk '{ print $3, int(($2 + 1) / 2) }' functions | sort >$1.wanted
}

# counts: how often the outermost functions of folded stacks are sampled, and how often
# they are callers
counts()
{
	awk '{ name = $1; caller = sub(/;.*/, "", name); count[name, caller] += $NF; names[name] }
		END { for (name in names) {
			print name, count[name, 0]
			if (count[name, 0] != count[name, 1])
				print name ": as a caller " count[name, 1]
		} }' | sort
}

cpu=3
for name in arm64 arm32 thumb riscv64; do
	[ $name != riscv64 ] || cpu=5
	record $name $cpu
	cpu=4
	nm $name.elf >$name.nm
	nm -S $name.elf >$name-sizes.nm
	nm $name.elf | grep ' [Tt] .' | sed 's/$/ [guest]/' >$name.kallsyms
	for symbols in $name.elf $name.nm $name-sizes.nm $name.kallsyms; do
		report -i $name.up -s $symbols --format folded 2>/dev/null | counts |
			cmp - $name.wanted && echo "$symbols: $(wc -l <$name.wanted) functions"
	done
	report -i $name.up -s $name.elf --format folded --inline --srcline 2>/dev/null |
		sed -n 's/ [0-9]*$//; /twice/p' | sort -u
	report -i $name.up -s $name.elf --format perf-script 2>/dev/null >ours
	report -i $name.up -s $name.elf --format perf-data -o perf.data 2>/dev/null
	perf script -F comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso >perfs 2>/dev/null
	cmp ours perfs && echo "perf script: $(grep -c '+0x' perfs) names"
	perf report --header-only | grep '^# arch'
	perf buildid-list | cut -d ' ' -f 1 >perfs
	readelf -n $name.elf | sed -n 's/.*Build ID: //p' | cmp - perfs
	perf report --stdio --no-children -g none -F sample,sym 2>/dev/null |
		grep '\[.\]' | sort -k 3
done
# A 64-bit kernel runs 32-bit programs, but none for other CPUs.
report -i arm64.up -s thumb.elf --format folded >/dev/null
make_elf x86.elf 0x11000
report -i arm64.up -s x86.elf
make_recording plain
report -i plain.up -s arm32.elf
# Domains of different CPUs have no CPU in common.
cat >both.txt <<END
info start 1000
domain 0 3 2 3 1 small
domain 1 4 2 4 1 smaller
sample 2000 0 1 0 0x1004
in 1
sample 3000 0 1 0 0x1004
end 1 4000
END
"$MAKE_RECORDING" <both.txt >both.up
for domain in small,smaller small smaller; do
	report -i both.up --domain $domain --format perf-data -o perf.data 2>/dev/null
	echo "$domain: $(perf report --header-only | grep '^# arch')"
done
