# shellcheck shell=bash disable=SC2034,SC2054
# A KVM host instead of Xen: the same kernel with kvm-amd, on an emulated AMD CPU with SVM.
# Sourced by scripts/lab after amd64.sh.

xen_version=
arch_packages=(libelf1 libdw1)
modules=(kvm-amd ahci sd_mod)

# QEMU itself, of which Debian has a small one that has no machine but microvm. Its firmware and
# option ROMs are in qemu-system-data.
hvm_packages=(qemu-system-x86 qemu-system-data libfdt1 libglib2.0-0 libpcre2-8-0 libpixman-1-0)
hvm_qemu=usr/bin/qemu-system-x86_64-microvm

arch_images()
{
	arch_guest_kernel "$1"/boot/vmlinuz-* "$2/kernel"
}

arch_hvm()
{
	mkdir -p "$2/$libdir" "$2/usr/bin" "$2/usr/share/qemu"
	find "$1/hvm" -name '*.so*' ! -type d ! -path '*/qemu/*' -exec cp -P {} "$2/$libdir/" \;
	cp "$1/hvm/$hvm_qemu" "$2/usr/bin/qemu-system-x86_64"
	cp -L "$1"/hvm/usr/share/qemu/{bios-microvm,linuxboot_dma,pvh}.bin "$2/usr/share/qemu/"
}

arch_qemu()
{
	# If the emulated host stands still, a kernel that panics ends the run after about a minute,
	# not at the time limit.
	local watchdog='watchdog_thresh=30 softlockup_panic=1 panic=-1'
	qemu_args=(
		-accel tcg,thread=multi
		-machine q35
		-cpu max,+svm,-la57
		-smp "$cpus" -m "$2"
		-kernel "$1/kernel" -initrd "$1/initrd"
		-append "console=ttyS0 rdinit=/init tsc=reliable clocksource=tsc mitigations=off $watchdog $3"
	)
}
