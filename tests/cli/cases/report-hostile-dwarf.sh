# DWARF that refers to itself, or is nested deeper than any compiler's, is read up to the
# limits.
. "$CLI/lib.sh"
# program BLOCKS INLINED: f(), and in it that many lexical blocks in each other, and in
# them that many inlined functions, whose abstract origins are themselves
program()
{
	perl -e '
my ($blocks, $inlined) = @ARGV;
my $where = ".quad 0x1000\n.long 16\n";
sub abbrev { ".uleb128 " . join(",", @_) . ",0,0\n" }
print ".globl f\n.type f,\@function\nf: .fill 16,1,0x90\n.size f,16\n",
	".section .debug_abbrev,\"\",\@progbits\n",
	abbrev(1, 0x11, 1, 0x11, 1, 0x12, 6), abbrev(2, 0x2e, 1, 0x11, 1, 0x12, 6),
	abbrev(3, 0x0b, 1, 0x11, 1, 0x12, 6),
	abbrev(4, 0x1d, 1, 0x31, 0x13, 0x11, 1, 0x12, 6), ".byte 0\n",
	".section .debug_info,\"\",\@progbits\n.long 2f-1f\n1: .value 4\n.long 0\n.byte 8\n",
	".uleb128 1\n$where.uleb128 2\n$where", ".uleb128 3\n$where" x $blocks;
print "5: .uleb128 4\n.long 5b-1b+4\n$where" for 1 .. $inlined;
print ".fill ", $blocks + $inlined + 2, ",1,0\n2:\n"' "$1" "$2" >deep.s
	as -o deep.o deep.s && ld -e 0 -Ttext=0x1000 -o deep deep.o || exit 1
}
"$MAKE_RECORDING" >shop.up <<'END'
info start 1000
domain 0 3 2 1 1 web
sample 2000 0 1 0 0x1004
end 1 9000
END
for size in "2 2" "0 1000" "300000 1" "0 300000"; do
	program $size
	report -i shop.up -s deep --inline --srcline --format folded |
		perl -ne 'print s/;\[unknown\]//g + 0, " unknown functions inlined: $_"'
done
