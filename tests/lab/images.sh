# shellcheck shell=bash disable=SC2154
# Downloads Debian's packages and makes the images that scripts/lab boots, for the CPU whose
# file (amd64.sh etc.) was sourced before.

# xen_version is empty for a machine without Xen.
xen_packages=(
	"xen-hypervisor-$xen_version-$arch"
	"xen-utils-$xen_version"
	xen-utils-common
	xenstore-utils
	"libxenmisc$xen_version"
	libxencall1 libxendevicemodel1 libxenevtchn1 libxenforeignmemory1
	libxengnttab1 libxenhypfs1 libxentoolcore1 libxentoollog1
	libyajl2 libuuid1 libncurses6 libtinfo6
)
[ -n "$xen_version" ] || xen_packages=()
packages=(
	"${xen_packages[@]}"
	libc6 libgcc-s1 libstdc++6 libseccomp2
	liblzma5 libbz2-1.0 libzstd1 liblz4-1 zlib1g
	busybox-static zstd
	"${arch_packages[@]}"
)
images=image-$machine
cache=cache/$machine
root=root-$machine
guest=linux-$machine

check_host()
{
	local command package missing=()
	while read -r command package; do
		command -v "$command" >/dev/null || missing+=("$package")
	done <<-EOF
		$qemu $qemu_package
		cpio cpio
		flock util-linux
		setpriv util-linux
		taskset util-linux
		xz xz-utils
		zstd zstd
	EOF
	[ ${#missing[@]} = 0 ] ||
		die "packages are missing; run: apt-get install ${missing[*]}"
}

# Prints the .deb files of this lab, one per line, or fails if some are not in the cache.
cached()
{
	local wanted file
	[ -e "$cache/list" ] || return 1
	{
		IFS= read -r wanted
		[ "$wanted" = "${packages[*]} ${hvm_packages[*]}" ] || return 1
		while read -r file; do
			[ -e "$cache/$file" ] || return 1
			echo "$cache/$file"
		done
	} <"$cache/list"
}

# apt get|cache ARG...: apt for the lab's architecture and Debian release. If either is
# not this machine's own, apt uses separate package lists, so that this machine's dpkg
# and sources are not changed.
apt()
{
	# As root, apt would complain that its sandbox user can't write here.
	local tool=apt-$1 options=(-qq -o APT::Sandbox::User=root)
	[ -z "$apt_state" ] || options+=(
		-o "APT::Architecture=$arch" -o "APT::Architectures=$arch"
		-o "Dir::State=$apt_state" -o Dir::State::status=/dev/null
		-o "Dir::Cache=$apt_state"
	)
	[ -z "$suite" ] || options+=(
		-o "Dir::Etc::sourcelist=$apt_state/sources.list" -o Dir::Etc::sourceparts=/dev/null
	)
	shift
	"$tool" "${options[@]}" "$@"
}

# list_suite deb|deb-src: prints the source of release $suite, on the mirror of this machine's
# own packages.
list_suite()
{
	local key=/usr/share/keyrings/debian-archive-keyring.gpg
	apt-get indextargets --format "$1 [signed-by=$key] \$(SITE) $suite main" \
		'Created-By: Packages' 'Origin: Debian' 'Component: main' | head -n 1 | grep . ||
		die "this machine's apt has no Debian mirror (is apt-get update needed?)"
}

fetch()
{
	local kernel wanted new=$cache.new apt_state=''
	command -v apt-get >/dev/null || die "apt-get is missing; the lab needs it to download packages"
	rm -rf "$new"
	mkdir -p "$new"
	if [ -n "$suite" ] || [ "$(dpkg --print-architecture)" != "$arch" ]; then
		apt_state=$PWD/$new/apt
		mkdir -p "$apt_state"/{lists,archives}/partial
		[ -z "$suite" ] || list_suite deb >"$apt_state/sources.list"
		say "downloading the package list for ${suite:-$arch}"
		apt get update || die "apt could not download the package list for ${suite:-$arch}"
	fi
	kernel=$(apt cache depends --important "$kernel_meta" 2>/dev/null |
		sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p')
	[ -n "$kernel" ] || die "apt has no package $kernel_meta; run: apt-get update"

	wanted=("${packages[@]}" "${hvm_packages[@]}" "$kernel")
	say "downloading ${#wanted[@]} packages"
	(cd "$new" && apt get download "${wanted[@]}") ||
		die "apt could not download the lab's packages; is apt-get update needed?"
	rm -rf "$new/apt"
	{
		echo "${packages[*]} ${hvm_packages[*]}"
		(cd "$new" && printf '%s\n' *.deb)
	} >"$new/list"
	rm -rf "$cache"
	mv "$new" "$cache"
}

# Files only for HVM guests go to a separate folder, because build_dom0 takes all libraries
# that it finds.
unpack()
{
	local deb package link file new=$root.new
	rm -rf "$root" "$new"
	mkdir -p "$new/hvm"
	while read -r deb; do
		package=${deb##*/}
		case " ${hvm_packages[*]} " in
		*" ${package%%_*} "*) dpkg -x "$deb" "$new/hvm" ;;
		*) dpkg -x "$deb" "$new" ;;
		esac
	done < <(cached)
	# Since Debian 13, packages have no files directly in /lib and /bin.
	for link in bin sbin lib lib64; do
		[ -e "$new/$link" ] || [ ! -e "$new/usr/$link" ] || ln -s "usr/$link" "$new/$link"
	done
	# Absolute links would lead out of the tree.
	find "$new" -lname '/*' -printf '%p %l\n' |
		while read -r link file; do
			[ ! -e "$new$file" ] || ln -sfnr "$new$file" "$link"
		done
	mv "$new" "$root"
}

# module_order NAME...: prints module files, each after its dependencies.
module_order()
{
	local name file depends
	for name in "$@"; do
		name=${name//-/_}
		[[ " $seen " != *" $name "* ]] || continue
		seen+=" $name"
		file=$(find "$root/lib/modules/" -name "${name//_/[-_]}.ko*" -print -quit)
		[ -n "$file" ] || die "the kernel has no module '$name'"
		# Debian compresses modules since 6.12.
		if [ "${file%.xz}" != "$file" ]; then
			xz -d "$file"
			file=${file%.xz}
		fi
		depends=$(tr '\0' '\n' <"$file" | sed -n 's/^depends=//p')
		# shellcheck disable=SC2086
		module_order ${depends//,/ }
		echo "$file"
	done
}

pack()
{
	(cd "$1" && find . | sort | cpio --quiet -o -H newc -R 0:0) | zstd -q -5 >"$2"
}

# The wrappers in /usr/sbin only detect the running version of Xen, which is known here.
copy_xen()
{
	local tree=$1 file

	cp -rL "$root/usr/lib/xen-$xen_version" "$tree/usr/lib/"
	rm -rf "$tree/usr/lib/xen-$xen_version"/{lib,boot}
	for file in "$tree/usr/lib/xen-$xen_version/bin"/*; do
		ln -s "../lib/xen-$xen_version/bin/${file##*/}" "$tree/usr/sbin/"
	done
	find "$root/usr/bin" -name 'xenstore*' -exec cp -P {} "$tree/usr/bin/" \;
}

# A terminal needs a locale with UTF-8, and the description of itself.
copy_tmux()
{
	mkdir -p "$1"/usr/lib/{locale/C.utf8,terminfo/s}
	cp "$root/usr/bin/tmux" "$1/usr/bin/"
	cp "$root/usr/lib/locale/C.utf8/LC_CTYPE" "$1/usr/lib/locale/C.utf8/"
	cp "$root/lib/terminfo/s/screen" "$1/usr/lib/terminfo/s/"
}

build_dom0()
{
	local tree=$1 seen='' dir file

	mkdir -p "$tree"/{dev,proc,sys,run,tmp,lab,root,etc/xen,usr/bin,usr/sbin,usr/lib/modules}
	mkdir -p "$tree/$libdir" "$tree"/var/{lib,log}
	ln -s usr/bin "$tree/bin"
	ln -s usr/sbin "$tree/sbin"
	ln -s usr/lib "$tree/lib"
	ln -s ../run "$tree/var/run"
	ln -s ../run/lock "$tree/var/lock"

	cp "$root/bin/busybox" "$tree/usr/bin/"
	mkdir -p "$tree/${loader%/*}"
	cp -L "$root/$loader" "$tree/$loader"
	for dir in "${libdir#usr/}" "$libdir" "usr/lib/xen-$xen_version/$libdir" \
		"usr/lib/xen-$xen_version/${libdir#usr/}"; do
		[ -d "$root/$dir" ] || continue
		find "$root/$dir" -maxdepth 1 -name '*.so*' -exec cp -P {} "$tree/$libdir/" \;
	done
	[ -z "$xen_version" ] || copy_xen "$tree"
	cp "$root/usr/bin/zstd" "$tree/usr/bin/"
	[ ! -e "$root/usr/bin/tmux" ] || copy_tmux "$tree"
	install -m 755 "$parts"/{add-hvm,wait-disk,wait-guest} "$tree/usr/bin/"

	module_order "${modules[@]}" >"$tree/files"
	while read -r file; do
		cp "$file" "$tree/usr/lib/modules/"
		echo "/lib/modules/${file##*/}"
	done <"$tree/files" >"$tree/usr/lib/modules/list"
	rm "$tree/files"
	cp "$parts/xl.conf" "$tree/etc/xen/"
	echo 'root:x:0:0:root:/root:/bin/sh' >"$tree/etc/passwd"
	echo 'root:x:0:' >"$tree/etc/group"
	install -m 755 "$parts/init" "$tree/init"
}

build_guest()
{
	local tree=$1
	mkdir -p "$tree"/{bin,dev,proc,sys}
	cp "$root/bin/busybox" "$tree/bin/"
	install -m 755 "$parts/guest-init" "$tree/init"
}

stamp()
{
	cat "$cache/list" "$parts/$arch.sh" "$parts/$machine.sh" "$parts/images.sh" \
		"$parts"/{init,guest-init,add-hvm,wait-disk,wait-guest,xl.conf} | sha256sum
}

prepare()
{
	local new=$images.new
	check_host
	cached >/dev/null || fetch
	[ -z "$hypervisor" ] || prepare_hypervisor
	[ "$(cat "$images/stamp" 2>/dev/null)" != "$(stamp)" ] || return 0

	say "building the lab's images"
	rm -rf "$images" "$new" "$guest"
	mkdir -p "$new" "$guest"
	unpack
	arch_images "$root" "$new"
	build_dom0 "$new/tree"
	# 390 MB that are no longer needed.
	rm -rf "$root/lib/modules/"
	pack "$new/tree" "$new/initrd"
	rm -rf "$new/tree"

	if [ ${#hvm_packages[@]} -gt 0 ]; then
		mkdir "$new/hvm"
		arch_hvm "$root" "$new/hvm"
		tar -C "$new/hvm" --owner=0 --group=0 --numeric-owner -b 2048 -cf "$new/hvm.tar" .
		rm -rf "$new/hvm"
	fi

	cp "$root"/boot/vmlinuz-* "$guest/vmlinuz"
	arch_guest_kernel "$guest/vmlinuz" "$guest/vmlinux"
	build_guest "$new/guest"
	pack "$new/guest" "$guest/initrd"
	rm -rf "$new/guest"
	[ "$machine" != amd64 ] || ln -sfn "$guest" linux

	stamp >"$new/stamp"
	mv "$new" "$images"
}
