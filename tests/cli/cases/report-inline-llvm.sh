# Inlined functions are the same as llvm-symbolizer's, also in nested functions, lambdas and
# local classes, at up to 2,000 addresses of each program.
# Not with sanitizers: report-inline reads such programs with them.
. "$CLI/lib.sh"
command -v llvm-symbolizer >/dev/null || skip "llvm is not installed"
# sample: makes PROGRAM.up, a sample at each of many addresses of the program, and lists them
sample()
{
	nm -S --defined-only program | perl -ne '
next unless /^(\S+) (\S+) [tTwWi] / && !$seen{$1}++;
push @all, hex($1) .. hex($1) + hex($2) - 1;
END {
	my $step = @all > 2000 ? @all / 2000 : 1;
	for (my $i = 0; $i < @all; $i += $step) { printf "%#x\n", $all[$i] }
}' >addresses
	{
		echo "info start 1000"
		echo "domain 0 3 2 1 1 web"
		awk '{ print "sample", 2000 + NR, 0, 1, 0, $1 }' addresses
		echo "end 1 90000000"
	} | "$MAKE_RECORDING" >program.up
}
# Constructors and destructors have several symbols at one address, all with the same name.
one_name()
{
	sed -E 's/([CD])[0124](E|I)/\1x\2/g'
}
# one_line: of blocks with a function to every other line
one_line()
{
	perl -00 -wne 'my @lines = split /\n/; print join(";", @lines[grep { $_ % 2 == 0 } 0 .. $#lines]), "\n"'
}
compare()
{
	sample
	report -i program.up -s program --inline --no-demangle --format perf-script |
		perl -wne 'if (/^\s+[0-9a-f]+ (.*?)(\+0x[0-9a-f]+)? \(/) { push @chain, $1 }
			if (/^$/) { print join(";", @chain), "\n"; @chain = () }' |
		one_name >ours
	llvm-symbolizer --no-demangle -e program <addresses | one_line | one_name >theirs
	[ "$(grep -c ';' theirs)" -gt 50 ] || echo "hardly anything is inlined"
	[ "$(wc -l <addresses)" = "$(wc -l <ours)" ] || echo "not all samples are there"
	cmp ours theirs && echo "$*: the same"
}
for build in "g++ -O2" "g++ -O3 -gdwarf-4" "g++ -O2 -flto" "clang++ -O2" "clang++ -O3 -gdwarf-4"; do
	$build -std=c++17 -g -o program "$data/nested.cc" || exit 1
	compare "$build"
done
for build in "gcc -O1" "gcc -O2"; do
	$build -g -z execstack -o program "$data/nested.c" || exit 1
	compare "$build"
done
