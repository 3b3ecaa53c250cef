# shellcheck shell=bash disable=SC2034
# Debian 11 instead of Debian 12: the differences from amd64.sh, which is sourced first.

suite=bullseye
xen_version=4.14
arch_packages=(libxenstore3.0 libelf1 libdw1)
# Debian 11 has no separate QEMU for Xen.
hvm_packages=(
	qemu-system-x86 seabios
	libaio1 libbsd0 libmd0 libcacard0 libcapstone4 libdaxctl1 libdrm2 libepoxy0 libexpat1
	libfdt1 libffi7 libgbm1 libgcrypt20 libglib2.0-0 libgmp10 libgnutls30 libgpg-error0
	libgstreamer1.0-0 libgstreamer-plugins-base1.0-0 libhogweed6 libibverbs1 libidn2-0
	libjpeg62-turbo libkmod2 libmount1 libblkid1 libndctl6 libnettle8 libnl-3-200
	libnl-route-3-200 libnspr4 libnss3 libnuma1 libopus0 liborc-0.4-0 libp11-kit0
	libpam0g libaudit1 libcap-ng0 libpcre3 libpixman-1-0 libpmem1 libpng16-16 librdmacm1
	libsasl2-2 libselinux1 libpcre2-8-0 libslirp0 libspice-server1 libssl1.1
	libsystemd0 libtasn1-6 libudev1 libunistring2 libunwind8 liburing1 libusb-1.0-0
	libusbredirparser1 libvdeplug2 libvirglrenderer1 libwayland-server0 libx11-6 libxau6
	libxcb1 libxdmcp6 libcap2 libsqlite3-0 libasound2 libbrlapi0.8 libncursesw6
	libpcsclite1
)
hvm_qemu=usr/bin/qemu-system-i386
