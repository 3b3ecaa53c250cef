# Source lines and inlined functions from DWARF, of any version, compressed or not, in
# the program or its debug file. square() is inlined into twice(), and that into
# Cart::add(int).
. "$CLI/lib.sh"
build_shop
sample_functions shop 'Cart3addEi'
echo "# inlined functions"
chains -s shop --inline
echo "# source lines"
chains -s shop --srcline | grep 'add(int) shop.cc:1[0-9]$'
echo "# inlined functions and source lines"
chains -s shop --srcline --inline | tee wanted | grep square
for options in -gdwarf-4 "-gdwarf-5 -gz" -fdebug-types-section; do
	build_shop $options
	sample_functions shop 'Cart3addEi'
	chains -s shop --srcline --inline | cmp - wanted && echo "the same with $options"
done
objcopy --only-keep-debug shop shop.debug
objcopy --strip-debug --add-gnu-debuglink=shop.debug shop
chains -s shop --srcline --inline | cmp - wanted && echo "the same from shop.debug"
sample_functions shop 'Cart3addEi' 4096
chains -s shop@0x1000 --srcline --inline | cmp - wanted && echo "the same with an offset"
sample_functions shop 'Cart3addEi'

echo "# each inlined function is a row"
report -i shop.up -s shop --inline --per-vcpu | grep -v '^#' | awk '{ print ($2 + 0 > 0), $NF }'
echo "# each inlined function is a frame"
report -i shop.up -s shop --inline --format perf-script |
	sed -n '/square/,/^$/ s/^.*[0-9a-f] \([a-z].*\)+0x.* (/\1 (/p' | sed 's,(/.*/,(,' | head -n 3

echo "# without DWARF"
rm shop.debug
report -i shop.up -s shop --srcline --format folded 2>&1 | sed 's,build-id/.*,build-id/...,
	s/ [0-9]*$//'
nm shop >shop.sym
report -i shop.up -s shop.sym --inline --format folded 2>&1 | head -n 1
report -i shop.up -s shop --srcline --format perf-script
