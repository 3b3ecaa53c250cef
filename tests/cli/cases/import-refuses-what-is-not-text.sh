# A file that is not a profile as text is refused, even if some of its lines look like one: no
# recording is made, and an older one stays in place.
. "$CLI/lib.sh"
try()
{
	import -o a.up "$@"
	report -i a.up --format folded
	ls
}
printf 'main 7\n' >text && import -o a.up text
# Programs contain lines that end in digits.
printf '\177ELF\002\001\001\0\0\0\nmain 1\nmain;leaf 2\n' >program && try program
# Also if the first NUL byte comes late, and from a pipe
{ printf 'main 1\n%.0s' $(seq 20000) && printf 'main\0 1\n'; } >late && try late
try -f folded <late
printf 'two words\nchapter 1\nmore words\nthe end\n' >prose && try prose
# A format chosen by mistake
printf 'web 1 [0] 1.0: x:\n\t10 a\n\t20 b\n\n' >script && try -f folded script
# As many good lines as bad ones are imported.
printf 'two words\nchapter 1\n' >half && try half
