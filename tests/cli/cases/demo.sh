# The demo hides what the compiler prints, unless it fails; names a page and a flame graph that are there;
# prints notes once; and says that the missed rounds are the emulator's. Here, make, the lab and the packages are pretended.
. "$CLI/lib.sh"
mkdir -p tree/scripts tree/build/guest bin
cp "$CLI/../../scripts/demo" tree/scripts/
ln -s "$UNIPROF" tree/build/uniprof
make_elf tree/build/guest/guest.elf 0x1000
make_recording web
cat >bin/make <<'END'
#!/bin/sh
for i in $(seq 150); do echo "  CC     build/$i.o"; done
echo "error: no guests" >&2
[ ! -e "$BROKEN" ]
END
echo '#!/bin/sh' >tree/scripts/install-packages
cat >tree/scripts/lab <<'END'
#!/bin/sh
[ "$1" = prepare ] || cp "$RECORDED" "$3/uniprof.data"
END
chmod +x bin/make tree/scripts/*
export RECORDED="$PWD/web.up" BROKEN="$PWD/broken" PATH="$PWD/bin:$PATH"
tree/scripts/demo >out 2>&1 || echo "exit code $?"
echo "lines of the compiler: $(grep -c '  CC ' out)"
sed -n '/^>>> booting/p; /^>>> done/,$p' out | sed "s,$PWD/,,"
grep -c 'uniprof report: note: .* have no name' out
grep -c '<html' "$(sed -n 's/^page of all: *\([^ ]*\).*/\1/p' out)"
grep -c '<svg' "$(sed -n 's/^flame graph: *\([^ ]*\).*/\1/p' out)"
touch broken
tree/scripts/demo >out 2>&1 || echo "broken: exit code $?, $(grep -c 'error: no guests' out) error"
