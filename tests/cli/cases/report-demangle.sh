# Names from g++ are demangled, or left mangled on request.
. "$CLI/lib.sh"
build_shop
sample_functions shop 'shop'
chains -s shop
chains -s shop --no-demangle
chains -s shop --no-demangle --demangle
# Names from a list of symbols, and in perf-script.
nm shop >shop.sym
chains -s shop.sym
report -i shop.up -s shop --format perf-script | sed -n 's/.* \(shop.*\) (.*/\1/p' | head -n 3

echo "# functions with the same demangled name are counted as one"
cat >lwt.sym <<'END'
1000 T camlLwt__bind_12
1010 T camlLwt__bind_345
1020 T _ZN3FooC1Ev
END
"$MAKE_RECORDING" >lwt.up <<'END'
info start 1000
domain 0 3 2 1 1 web
sample 2000 0 1 0 0x1004
sample 3000 0 1 0 0x1014
sample 4000 0 1 0 0x1024
end 1 5000
END
report -i lwt.up --format folded -s lwt.sym -v 2>&1 | grep -v 'lwt\.'
report -i lwt.up --format folded -s lwt.sym -v --no-demangle 2>&1 | grep -v 'lwt\.'
