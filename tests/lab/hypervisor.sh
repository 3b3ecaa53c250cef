# shellcheck shell=bash disable=SC2154
# Builds a hypervisor from Debian's source, for the machines whose file sets `hypervisor`, the
# folder for it, hypervisor_suite, the release whose source it is, and hypervisor_config, what
# is configured otherwise than Debian's. Sourced by scripts/lab after images.sh.

check_compiler()
{
	local command package missing=()
	while read -r command package; do
		command -v "$command" >/dev/null || missing+=("$package")
	done <<-EOF
		bison bison
		dpkg-source dpkg-dev
		flex flex
		gcc gcc
		make make
		python3 python3
	EOF
	[ ${#missing[@]} = 0 ] ||
		die "packages are missing; run: apt-get install ${missing[*]}"
}

# The release's own archive has the source as long as the mirror has the release; that of its
# security updates need not be there.
fetch_source()
{
	local suite=$hypervisor_suite new=cache/$hypervisor.new apt_state
	rm -rf "$new"
	apt_state=$PWD/$new/apt
	mkdir -p "$apt_state"/{lists,archives}/partial
	list_suite deb-src >"$apt_state/sources.list"
	say "downloading the source of Xen from $suite"
	apt get update || die "apt could not download the list of sources for $suite"
	(cd "$new" && apt get source --download-only xen) ||
		die "apt could not download the source of Xen"
	rm -rf "$new/apt"
	rm -rf "cache/$hypervisor"
	mv "$new" "cache/$hypervisor"
}

stamp_hypervisor()
{
	{
		(cd "cache/$hypervisor" && sha256sum -- *)
		cat "$parts/hypervisor.sh"
		echo "$hypervisor_config"
	} | sha256sum
}

# Fails if any part does: as its result is looked at, the shell does not stop at an error.
build_hypervisor()
{
	local new=$hypervisor.new
	local source=$new/source
	rm -rf "$hypervisor" "$new"
	mkdir "$new" &&
		dpkg-source --no-copy -x "cache/$hypervisor"/xen_*.dsc "$source" &&
		{ cat "$source/debian/xen-kconfig" && echo "$hypervisor_config"; } >"$source/xen/.config" &&
		make_xen olddefconfig &&
		grep -qx "$hypervisor_config" "$source/xen/.config" &&
		make_xen -j"$(nproc)" build &&
		cp "$source/xen/xen" "$new/xen" &&
		rm -rf "$source" &&
		stamp_hypervisor >"$new/stamp" &&
		mv "$new" "$hypervisor"
}

# The lab may be prepared by a make that has options of its own.
make_xen()
{
	env -u MAKEFLAGS -u MAKELEVEL XEN_CONFIG_EXPERT=y make -C "$source/xen" "$@"
}

prepare_hypervisor()
{
	ls "cache/$hypervisor"/*.dsc >/dev/null 2>&1 || { check_compiler && fetch_source; }
	[ "$(cat "$hypervisor/stamp" 2>/dev/null)" != "$(stamp_hypervisor)" ] || return 0
	check_compiler
	say "building Xen with $hypervisor_config"
	build_hypervisor >"$hypervisor.log" 2>&1 ||
		die "Xen can't be built: see $lab/$hypervisor.log"
}
