# shellcheck shell=bash disable=SC2034,SC2054
# The x86-64 lab: what Debian calls its parts and how QEMU starts them.
# scripts/lab reads this file; another CPU is another file of this shape.

xen_version=4.17
# The kernel's own package is found through it.
kernel_meta=linux-image-amd64
# Beside those that images.sh names for all CPUs.
arch_packages=()

# What only HVM guests need in dom0: a device model and the libraries that it
# is linked with, and a BIOS.
hvm_packages=(
	qemu-system-xen seabios
	libfdt1 libglib2.0-0 libjpeg62-turbo libpixman-1-0 libspice-server1 libusb-1.0-0
	libffi8 libgstreamer1.0-0 libgstreamer-plugins-base1.0-0 libopus0 liborc-0.4-0
	libpcre2-8-0 libsasl2-2 libssl3 libudev1 libunwind8
)

qemu="qemu-system-x86_64"
qemu_package="qemu-system-x86"
libdir=usr/lib/x86_64-linux-gnu
loader=lib64/ld-linux-x86-64.so.2
modules=(xen-privcmd xenfs xen-evtchn xen-gntdev xen-gntalloc nvme)
cpus=2

# arch_images ROOT DEST: leaves DEST/xen and DEST/kernel in the form that
# arch_qemu needs.
arch_images()
{
	# QEMU's multiboot loader wants the 32-bit ELF, not its gzip.
	gzip -dc "$1/boot/xen-$xen_version-amd64.gz" >"$2/xen"
	# Unpacked here, because the emulated CPU takes 5 s for it.
	arch_guest_kernel "$1"/boot/vmlinuz-* "$2/kernel"
}

# arch_guest_kernel BZIMAGE DEST: the ELF inside a bzImage. Offsets are those
# of the kernel's Documentation/x86/boot.rst: setup_sects, payload_offset,
# payload_length.
arch_guest_kernel()
{
	local sects offset length
	sects=$(od -An -tu1 -j $((0x1f1)) -N1 "$1")
	offset=$(od -An -tu4 -j $((0x248)) -N4 "$1")
	length=$(od -An -tu4 -j $((0x24c)) -N4 "$1")
	# The last four bytes are the unpacked length, which xz does not expect.
	dd if="$1" iflag=skip_bytes,count_bytes bs=1M status=none \
		skip=$(((sects + 1) * 512 + offset)) count=$((length - 4)) | xz -dc >"$2"
}

# arch_hvm ROOT TREE: puts what only HVM guests need into TREE, at its places
# in dom0; its packages are in ROOT/hvm.
arch_hvm()
{
	mkdir -p "$2/$libdir" "$2"/usr/{libexec,share/qemu/keymaps,share/seabios}
	find "$1/hvm/usr/lib" "$1/hvm/lib" -name '*.so*' ! -type d -exec cp -P {} "$2/$libdir/" \;
	cp "$1/hvm/usr/libexec/xen-qemu-system-i386" "$2/usr/libexec/"
	cp "$1/hvm/usr/share/seabios/bios-256k.bin" "$2/usr/share/seabios/"
	mkdir -p "$2/usr/lib/xen-$xen_version/boot"
	cp "$1/usr/lib/xen-$xen_version/boot/hvmloader" "$2/usr/lib/xen-$xen_version/boot/"
	# libxl gives QEMU "-vnc none" at least, and then QEMU wants a keymap; an
	# empty one will do where nobody types.
	: >"$2/usr/share/qemu/keymaps/en-us"
}

# arch_qemu IMAGES MEMORY DOM0_ARGS: sets qemu_args. Devices that both CPUs
# share are added by the caller.
arch_qemu()
{
	local xen_args="dom0_mem=768M,max:768M dom0_max_vcpus=1 dom0_vcpus_pin"
	xen_args+=" console=com1 com1=115200"

	qemu_args=(
		-accel tcg,thread=multi
		-machine q35
		# With PKU or SMAP a PV dom0 dies at its first exception; without
		# SVM there are no PVH guests.
		-cpu max,+svm,-la57,-pku,-pks,-smap
		-smp "$cpus" -m "$2"
		-kernel "$1/xen" -append "$xen_args"
		# tsc=reliable: else dom0 gives up the TSC in mid-run and each look
		# at the clock costs 20 us instead of 0.1.
		-initrd "$1/kernel console=hvc0 rdinit=/init tsc=reliable clocksource=tsc $3,$1/initrd"
	)
}
