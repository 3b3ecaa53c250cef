# Collapsed stacks with oddities found in real files.
. "$CLI/lib.sh"
again()
{
	import -o a.up
	report -i a.up --format folded
}
echo "# frames without a name are kept, but dropped at the end of a stack"
printf 'a;;b 1\n;b 2\n;;c 3\nd; 4\nd;; 5\n' | again
echo "# counts with a fraction are rounded"
printf 'a 1.5\nb 1.49\nc 2.\nd 0.5\ne 0.4\nf 7.999999\n' | again
echo "# a name that ends with a number, among other names"
printf 'GC Thread 3 55\nmain;a 2\n' | again
echo "# names that start with #, and comments"
printf '#anonymous;#2 1\n#method 2\nmain;#method 3\n# x;y 4\n# as of 2026\n#\n#!x\n' >names
again <names
import -o a.up names 2>err
report -i a.up --format folded >once
import -o a.up once 2>err
report -i a.up --format folded | diff once - && echo "the same again"
# The same names from a symbol file.
echo "0000000000001000 0000000000000010 #f
0000000000001010 0000000000000010 # g" >hash.sym
"$MAKE_RECORDING" >hash.up <<'END'
info start 1000
domain 0 3 2 1 1 web
sample 2000 0 1 0 0x1001 0x1015
sample 2001 0 1 0 0x1001
end 1 9000
END
report -i hash.up -s hash.sym --format folded | tee once | again
