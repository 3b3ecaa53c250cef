# A large count takes few samples, whose weights have 32 bits, and comes back.
. "$CLI/lib.sh"
try()
{
	import -o a.up
	info a.up | grep -E '^  (samples|weight) '
	report -i a.up --format folded
}
echo 'main;work 9999999999999' | try
{ echo 'main 4294967295'; echo 'idle 4294967296'; } | try
