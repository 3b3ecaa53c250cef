# Collapsed stacks survive import and report: names with blanks, addresses, large counts.
. "$CLI/lib.sh"
cat >stacks.folded <<'END'
0x9004 7
a name with blanks 2
main 3
main;(anonymous namespace)::f(int, char) const 1
main;0x0 4
main;0x00ff 5
main;0x4000000000000010;x 6
main;0xABC 8
main;0xffffffffffffffff 9
main;main;main 250001
main;v::operator+=(x);+0x5 1000000
END
import -o a.up stacks.folded
report -i a.up --format folded 2>err | diff stacks.folded - && echo the same
import -f folded -o - - <stacks.folded 2>err | report -i - --format folded 2>err |
	diff stacks.folded - && echo the same
# To perf-script text and back.
report -i a.up --format perf-script 2>err | import -o - 2>err |
	report -i - --format folded 2>err | diff stacks.folded - && echo the same
info a.up | grep -E 'weight|samples   |command'
printf '# a comment\r\nmain;a 1\r\n\r\nmain;a 2\r\nmain 0\r\nmain;a\t4' | import -o b.up
report -i b.up --format folded
report -i a.up --format folded -s "$data/plain.sym" --weight wall | wc -l
echo "# unknown fields are not shown"
info a.up | sed -n '/^Domain/,/^Samples/p'
