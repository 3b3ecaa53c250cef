# Not with sanitizers: they map more than its bound on memory.
# Symbol files may be compressed with gzip, xz, zstd or bzip2, as the build of Mini-OS does: images
# and lists, in several members. Damaged files and decompression bombs are refused.
. "$CLI/lib.sh"
build_shop
sample_functions shop 'Cart3addEi'
nm shop >shop.sym
chains -s shop --inline >wanted
chains -s shop.sym >wanted.sym
for file in shop shop.sym; do
	gzip -k $file
	xz -k $file
	zstd -q -k $file
	bzip2 -k $file
done
for suffix in gz xz zst bz2; do
	chains -s shop.$suffix --inline | cmp - wanted && echo "a program in .$suffix"
	chains -s shop.sym.$suffix | cmp - wanted.sym && echo "a list in .$suffix"
done
head -n 10 shop.sym | gzip >members.gz
tail -n +11 shop.sym | gzip >>members.gz
chains -s members.gz | cmp - wanted.sym && echo "two members"
head -n 10 shop.sym | zstd -q >frames.zst
tail -n +11 shop.sym | zstd -q >>frames.zst
chains -s frames.zst | cmp - wanted.sym && echo "two frames"
gzip -c shop.sym | report -i shop.up -s /dev/stdin --format folded | sed 's/ [0-9]*$//' |
	sort -u | cmp - wanted.sym && echo "a pipe"
echo "# truncated"
for suffix in gz xz zst bz2; do
	head -c 300 shop.sym.$suffix >cut.$suffix
	report -i shop.up -s cut.$suffix 2>&1
done
echo "# decompression bombs of 70 MB"
for tool in gzip xz zstd bzip2; do
	perl -e 'print "\n" x 1e6 for 1 .. 70' | $tool -c >bomb.$tool
	(ulimit -v 400000 && report -i shop.up -s bomb.$tool 2>&1)
done
