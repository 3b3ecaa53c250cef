# Symbols for another CPU are refused; symbols for the other width of the CPU give a warning.
. "$CLI/lib.sh"
# elf NAME CLASS MACHINE: a program with the function f() at 0x1000.
elf()
{
	perl -e '
my ($class, $machine) = @ARGV;
my $wide = $class == 2;
my $names = "\0.shstrtab\0.symtab\0.strtab\0.text\0";
my $strings = "\0f\0";
my @symbols = $wide
	? (pack("LCCSQQ", 0, 0, 0, 0, 0, 0), pack("LCCSQQ", 1, 18, 0, 4, 0x1000, 512))
	: (pack("LLLCCS", 0, 0, 0, 0, 0, 0), pack("LLLCCS", 1, 0x1000, 512, 18, 0, 4));
my $symtab = join "", @symbols;
my ($head, $section) = $wide ? (64, 64) : (52, 40);
my $at = $head;
my @sections = ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
for (["\0", 1, 3, $names, 0, 0, 0], [11, 11, 2, $symtab, 3, 1, length $symbols[0]],
     [19, 19, 3, $strings, 0, 0, 0]) {
	my (undef, $name, $type, $data, $link, $info, $entry) = @$_;
	push @sections, [$name, $type, 0, 0, $at, length $data, $link, $info, 1, $entry];
	$at += length $data;
}
push @sections, [27, 8, 6, 0x1000, $at, 0x1000, 0, 0, 16, 0];
print pack("a4CCCCx8SSL", "\x7fELF", $class, 1, 1, 0, 2, $machine, 1),
	pack($wide ? "QQQLSSSSSS" : "LLLLSSSSSS", 0x1000, 0, $at, 0, $head, 0, 0, $section,
	     scalar @sections, 1),
	$names, $symtab, $strings,
	map { pack($wide ? "LLQQQQLLQQ" : "LLLLLLLLLL", @$_) } @sections;
' "$2" "$3" >"$1"
}
make_recording plain
elf x86-64.elf 2 62
elf i386.elf 1 3
elf arm64.elf 2 183
elf riscv.elf 2 243
elf s390.elf 2 22
for name in x86-64 i386 arm64 riscv s390; do
	report -i plain.up --format folded -s $name.elf
done
# With several domains, only the reported domains that the file is for are checked.
"$MAKE_RECORDING" >two.up <<END
domain 0 3 2 1 1 web
domain 1 4 2 3 1 arm
sample 2000 0 1 0 0x1004
in 1
sample 3000 0 1 0 0x1004
end 1 4000
END
report -i two.up --format folded -s x86-64.elf
report -i two.up --format folded -s x86-64.elf,domain=web -s arm64.elf,domain=4
report -i two.up --format folded -s x86-64.elf,domain=arm
report -i two.up --format folded -s x86-64.elf --domain web
