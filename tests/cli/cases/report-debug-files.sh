# Names of stripped images come from debug files, found by build-id or .gnu_debuglink, and
# from .gnu_debugdata. Files of another build are refused.
. "$CLI/lib.sh"
# from OPTION...: where the names come from, and whether there are any
from()
{
	report -i shop.up --format folded -v "$@" 2>&1 | sed "s,$PWD,PWD,g
		s/$id/ID/; s/${id#??}/REST/; s,/${id%"${id#??}"}/,/AB/,
		s/[0-9]* functions at 0x[^,]*/functions/; s/at 0x.*-0x[0-9a-f]*/at .../
		s/[0-9.]* %/N %/g; /bytes,/d; s/^0x.*/0x.../; /exit code\|CRC/!s/ [0-9]*$//" | uniq
}
link="--add-gnu-debuglink=shop.debug"
build_shop
sample_functions shop 'Cart3addEi'
id=$(readelf -n shop | sed -n 's/.*Build ID: //p')
mv shop whole
objcopy --only-keep-debug whole shop.debug
objcopy --strip-all --remove-section=.gnu_debuglink whole shop
by_id=.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug

echo "# not found"
from -s shop --debug-dir "$PWD/dir"
mkdir -p "dir/${by_id%/*}" .debug "dir$PWD"
echo "# found by build-id"
cp shop.debug "dir/$by_id"
from -s shop --debug-dir "$PWD/dir"
echo "# files of another build are refused"
cp shop.cc other.cc && echo 'int other;' >>other.cc
g++ -g -O2 -no-pie -Wl,--build-id=sha1 -o "dir/$by_id" other.cc
from -s shop --debug-dir "$PWD/dir" | sed 's/build-id is [0-9a-f]*/build-id is OTHER/'
echo "# not an ELF file"
echo text >"dir/$by_id"
from -s shop --debug-dir "$PWD/dir"
rm "dir/$by_id"

echo "# found by .gnu_debuglink: beside the image, in .debug, in the debug directory"
objcopy $link shop
from -s shop --debug-dir none
mv shop.debug .debug
from -s shop --debug-dir none
mv .debug/shop.debug "dir$PWD"
from -s shop --debug-dir "$PWD/dir"
echo "# without a build-id; with a wrong CRC"
objcopy --remove-section=.note.gnu.build-id shop
from -s shop --debug-dir "$PWD/dir"
printf x >>"dir$PWD/shop.debug"
from -s shop --debug-dir "$PWD/dir" | sed 's/CRC is [0-9a-f]*, not [0-9a-f]*/CRC is wrong/'

echo "# .gnu_debugdata, damaged, and far too large"
objcopy --strip-debug whole mini
xz -k mini
objcopy --remove-section=.gnu_debuglink --add-section .gnu_debugdata=mini.xz shop mini.elf
from -s mini.elf --debug-dir none
head -c 100 mini.xz >cut.xz
objcopy --remove-section=.gnu_debuglink --add-section .gnu_debugdata=cut.xz shop cut.elf
from -s cut.elf --debug-dir none
{ cat mini; head -c 100000000 /dev/zero; } | xz -1 >bomb.xz
objcopy --remove-section=.gnu_debuglink --add-section .gnu_debugdata=bomb.xz shop bomb.elf
from -s bomb.elf --debug-dir none

echo "# below --symfs"
mkdir -p "guest-root/usr/bin" "guest-root/usr/lib/debug/${by_id%/*}"
objcopy --strip-all whole guest-root/usr/bin/shop
objcopy --only-keep-debug whole "guest-root/usr/lib/debug/$by_id"
from -s /usr/bin/shop --symfs guest-root
from -s usr/bin/shop,domain=web --symfs "$PWD/guest-root"
from -s /usr/bin/shop
echo "# only exported symbols have names"
build_shop -rdynamic
id=$(readelf -n shop | sed -n 's/.*Build ID: //p')
sample_functions shop '(payEi|addEi)'
strip shop
objcopy --remove-section=.gnu_debuglink shop
from -s shop --debug-dir none
by_id=.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug
mkdir -p "dir/${by_id%/*}"
cp whole "dir/$by_id"
from -s shop --debug-dir "$PWD/dir" | sed 's/build-id is [0-9a-f]*/build-id is OTHER/'
objcopy --remove-section=.note.gnu.build-id shop
from -s shop --debug-dir none
