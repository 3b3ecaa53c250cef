# Compressed DWARF is read unless it would take gigabytes; the names are found either way.
. "$CLI/lib.sh"
build_shop -gz
sample_functions shop 'Cart3addEi'
chains -s shop --inline | grep -c square
chains -s shop >wanted
# 250 MB of zeros compress to 250 kB, and a claim of gigabytes takes no more.
perl -e 'print "\0" x 1e6 for 1 .. 250' >zeros
objcopy --decompress-debug-sections --update-section .debug_str=zeros shop large
objcopy --compress-debug-sections=zlib large bomb
objcopy --compress-debug-sections=zlib-gnu large bomb-gnu
for file in bomb bomb-gnu; do
	[ "$(wc -c <$file)" -lt 1000000 ] || echo "$file is no bomb"
	{ report -i shop.up -s $file --inline --srcline --format folded >chains; } 2>&1
	sed 's/ [0-9]*$//' chains | sort -u | cmp - wanted && echo "the names are there"
done
