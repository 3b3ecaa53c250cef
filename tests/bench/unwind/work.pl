# Work for tests/bench/unwind/programs: calls of its own functions, sorting, regular expressions.
# miniperl has no modules.
sub fibonacci { my ($n) = @_; return $n < 2 ? 1 : fibonacci($n - 1) + fibonacci($n - 2) }

while (1) {
	fibonacci(18);
	my $line = join(",", sort { $a <=> $b } map { $_ * 7 % 1013 } 1 .. 2000);
	$line =~ s/1(\d+)/$1x/g;
}
