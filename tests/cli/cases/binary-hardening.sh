# The program is built with hardening against memory errors, and does not contain the path
# of its build folder. Builds with sanitizers check more.
readelf -hlW "$UNIPROF" | grep -oE -e 'DYN \(Position-Independent|GNU_RELRO'
readelf -dW "$UNIPROF" | grep -o 'BIND_NOW'
readelf -lW "$UNIPROF" | grep GNU_STACK | grep -o 'RW '
readelf --dyn-syms -W "$UNIPROF" | grep -qE '__stack_chk_fail|__[at]san_init' &&
	echo "stack protector or sanitizer"
readelf --dyn-syms -W "$UNIPROF" | grep -qE '__snprintf_chk|__[at]san_init' &&
	echo "checked library calls or sanitizer"
grep -c "$(cd "$CLI/../.." && pwd)" "$UNIPROF"
true
