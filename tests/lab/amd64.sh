# shellcheck shell=bash disable=SC2034,SC2054
# The x86-64 lab: Debian's names of its parts, and how QEMU starts them. Sourced by
# scripts/lab; there is one such file for each CPU.

xen_version=4.17
# A dependency of this package is the kernel's.
kernel_meta=linux-image-amd64
# Packages in addition to images.sh's, which are for all machines.
# tmux is a terminal for tests; the four before it are its libraries and what it must find. The
# last two are guests (cases/others.dom0).
arch_packages=(
	libxenstore4 libelf1 libdw1
	libevent-core-2.1-7 libutempter0 libc-bin ncurses-base tmux
	grub-xen-host memtest86+
)

# Needed in dom0 only for HVM guests: a device model, its libraries, and a BIOS.
hvm_packages=(
	qemu-system-xen seabios
	libfdt1 libglib2.0-0 libjpeg62-turbo libpixman-1-0 libspice-server1 libusb-1.0-0
	libffi8 libgstreamer1.0-0 libgstreamer-plugins-base1.0-0 libopus0 liborc-0.4-0
	libpcre2-8-0 libsasl2-2 libssl3 libudev1 libunwind8
)

# Where libxl expects the device model, and where its package has it.
hvm_qemu=usr/libexec/xen-qemu-system-i386

qemu="qemu-system-x86_64"
qemu_package="qemu-system-x86"
libdir=usr/lib/x86_64-linux-gnu
loader=lib64/ld-linux-x86-64.so.2
modules=(xen-privcmd xenfs xen-evtchn xen-gntdev xen-gntalloc ahci sd_mod)

# arch_disk ID NUMBER: sets disk to the QEMU device for drive ID. It is a SATA disk, because QEMU
# can't save the state of an NVMe controller.
arch_disk()
{
	disk="ide-hd,drive=$1,model=$1,bus=ide.$2"
}

# arch_images ROOT DEST: creates DEST/xen and DEST/kernel in the form that arch_qemu needs.
arch_images()
{
	# QEMU's multiboot loader wants the 32-bit ELF, not its gzip.
	gzip -dc "$1/boot/xen-$xen_version-amd64.gz" >"$2/xen"
	# Unpacked here, because it takes the emulated CPU 5 s.
	arch_guest_kernel "$1"/boot/vmlinuz-* "$2/kernel"
}

# arch_guest_kernel BZIMAGE DEST: the ELF inside a bzImage. Offsets are
# from the kernel's Documentation/x86/boot.rst: setup_sects, payload_offset,
# payload_length.
arch_guest_kernel()
{
	local sects offset length
	sects=$(od -An -tu1 -j $((0x1f1)) -N1 "$1")
	offset=$(od -An -tu4 -j $((0x248)) -N4 "$1")
	length=$(od -An -tu4 -j $((0x24c)) -N4 "$1")
	# The last four bytes are the unpacked length, which xz and zstd do not expect.
	dd if="$1" iflag=skip_bytes,count_bytes bs=1M status=none \
		skip=$(((sects + 1) * 512 + offset)) count=$((length - 4)) >"$2.packed"
	# Debian packs its kernels with xz until 6.1, with zstd later; zstd unpacks both.
	zstd -q -dc <"$2.packed" >"$2"
	rm "$2.packed"
}

# arch_hvm ROOT TREE: copies the files needed only for HVM guests to TREE, at their paths in
# dom0; their packages are in ROOT/hvm.
arch_hvm()
{
	mkdir -p "$2/$libdir" "$2/${hvm_qemu%/*}" "$2"/usr/share/{qemu/keymaps,seabios}
	find "$1/hvm" -name '*.so*' ! -type d -exec cp -P {} "$2/$libdir/" \;
	cp "$1/hvm/$hvm_qemu" "$2/$hvm_qemu"
	cp "$1/hvm/usr/share/seabios/bios-256k.bin" "$2/usr/share/seabios/"
	mkdir -p "$2/usr/lib/xen-$xen_version/boot"
	cp "$1/usr/lib/xen-$xen_version/boot/hvmloader" "$2/usr/lib/xen-$xen_version/boot/"
	# libxl always passes "-vnc none" to QEMU, which then needs a keymap; an empty one is
	# enough without a keyboard.
	: >"$2/usr/share/qemu/keymaps/en-us"
}

# arch_qemu IMAGES MEMORY DOM0_ARGS: sets qemu_args. Devices that both CPUs
# share are added by the caller.
arch_qemu()
{
	local xen_args="dom0_mem=768M,max:768M dom0_max_vcpus=$dom0_cpus dom0_vcpus_pin"
	xen_args+=" console=com1 com1=115200"

	qemu_args=(
		-accel tcg,thread=multi
		-machine q35
		# With PKU or SMAP, a PV dom0 crashes at its first exception; PVH guests
		# need SVM.
		-cpu max,+svm,-la57,-pku,-pks,-smap
		-smp "$cpus" -m "$2"
		-kernel "${hypervisor:-$1}/xen" -append "$xen_args"
		# tsc=reliable: otherwise dom0 stops using the TSC during a run, and each
		# read of the clock costs 20 us instead of 0.1.
		-initrd "$1/kernel console=hvc0 rdinit=/init tsc=reliable clocksource=tsc $3,$1/initrd"
	)
}
