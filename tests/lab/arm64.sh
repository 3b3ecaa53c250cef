# shellcheck shell=bash disable=SC2034,SC2054
# The arm64 lab: Debian's names of its parts, and how QEMU starts them. See amd64.sh. The
# unpacked packages are also the sysroot of the cross-build.

xen_version=4.17
# The cloud kernel is a third of the size, and has NVMe and the serial card built in.
kernel_meta=linux-image-cloud-arm64
# libfdt for xl; the rest for the cross-build.
arch_packages=(
	libxenstore4 libelf1 libdw1 libfdt1
	libc6-dev linux-libc-dev libxen-dev libelf-dev libdw-dev libiberty-dev liblzma-dev
	zlib1g-dev libzstd-dev libbz2-dev liblz4-dev libseccomp-dev
)
hvm_packages=()

qemu="qemu-system-aarch64"
qemu_package="qemu-system-arm"
libdir=usr/lib/aarch64-linux-gnu
loader=lib/ld-linux-aarch64.so.1
modules=(xen-privcmd xenfs xen-evtchn xen-gntdev xen-gntalloc)

arch_disk()
{
	disk="nvme,drive=$1,serial=$1"
}

# Both can be booted unchanged.
arch_images()
{
	cp "$1/boot/xen-$xen_version-arm64" "$2/xen"
	cp "$1"/boot/vmlinuz-* "$2/kernel"
}

arch_guest_kernel()
{
	cp "$1" "$2"
}

arch_qemu()
{
	local xen_args="dom0_mem=768M,max:768M dom0_max_vcpus=$dom0_cpus dom0_vcpus_pin"
	xen_args+=" console=dtuart dtuart=/pl011@9000000"

	qemu_args=(
		-accel tcg,thread=multi
		-machine virt,virtualization=on,gic-version=3
		# The architecture's own algorithm for pointer authentication is slow to emulate.
		-cpu max,pauth-impdef=on
		-smp "$cpus" -m "$2"
		-kernel "$1/xen" -append "$xen_args"
		# Above Xen, which is at the start of memory (0x40000000), and apart.
		-device "guest-loader,addr=0x49000000,kernel=$1/kernel,bootargs=console=hvc0 rdinit=/init $3"
		-device "guest-loader,addr=0x4e000000,initrd=$1/initrd"
	)
}
