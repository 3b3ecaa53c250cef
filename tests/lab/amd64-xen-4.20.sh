# shellcheck shell=bash disable=SC2034
# Debian 13 instead of Debian 12: the differences from amd64.sh, which is sourced first.

suite=trixie
xen_version=4.20
arch_packages=(libxenstore4 libelf1t64 libdw1t64)
hvm_packages=(
	qemu-system-xen seabios
	libfdt1 libglib2.0-0t64 libjpeg62-turbo libpixman-1-0 libspice-server1 libusb-1.0-0
	libffi8 libgstreamer1.0-0 libgstreamer-plugins-base1.0-0 libopus0 liborc-0.4-0t64
	libpcre2-8-0 libsasl2-2 libssl3t64 libudev1 libatomic1 libselinux1 libmount1 libblkid1
	libcap2 libxxhash0
)
