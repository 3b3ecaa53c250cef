# A function whose code is in two source files has its lines in both, and functions with
# the same name in two domains stay apart.
. "$CLI/lib.sh"
command -v callgrind_annotate >/dev/null || skip "valgrind is not installed"
cat >body.h <<'END'
	sum += n * 3;
	sum ^= n;
END
cat >two.c <<'END'
int burn(volatile int n)
{
	volatile int sum = n;
#include "body.h"
	return sum + 1;
}

int main(void)
{
	return burn(3);
}
END
gcc -g -O1 -fno-inline -no-pie -o two two.c || exit 1
sample_functions two ' burn$'
report -i shop.up -s two --srcline --format callgrind -o lines
callgrind_annotate --threshold=100 lines >annotated
grep -o '%) .*' annotated | grep -o -e 'sum += n \* 3;' -e 'sum ^= n;' -e 'return sum + 1;' | sort
# The two files' lines add up to the function.
report -i shop.up -s two --format folded | sed 's/.* //' >folded
awk '/^calls=/ { getline; next } /^[0-9]/ { sum += $2 } END { print sum }' lines |
	cmp - folded && echo "all of it"
grep -e '^f[ie]=' lines | sed "s,$PWD,HERE,"

echo "# two domains"
address=$(nm two | sed -n 's/ T burn$//p')
"$MAKE_RECORDING" >domains.up <<END
info start 1000
domain 0 3 2 1 1 web
domain 1 4 2 1 1 db
sample 2000 0 1 0 0x$address
sample 3000 0 1 0 0x$address
in 1
sample 4000 0 1 0 0x$address
end 1 9000
END
report -i domains.up -s two --srcline --format callgrind -o lines
callgrind_annotate --threshold=100 lines | grep -o '^ *[0-9.]* .*two.c:burn.*'
report -i domains.up -s two --format callgrind -o lines
callgrind_annotate --threshold=100 lines | grep -o '^ *[0-9.]* .*:burn.*'
