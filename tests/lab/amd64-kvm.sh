# shellcheck shell=bash disable=SC2034,SC2054
# A KVM host instead of Xen: the same kernel with kvm-amd, on an emulated AMD CPU with SVM.
# Sourced by scripts/lab after amd64.sh.

xen_version=
arch_packages=(libelf1 libdw1)
hvm_packages=()
modules=(kvm-amd nvme)

arch_images()
{
	arch_guest_kernel "$1"/boot/vmlinuz-* "$2/kernel"
}

arch_qemu()
{
	qemu_args=(
		-accel tcg,thread=multi
		-machine q35
		-cpu max,+svm,-la57
		-smp "$cpus" -m "$2"
		-kernel "$1/kernel" -initrd "$1/initrd"
		-append "console=ttyS0 rdinit=/init tsc=reliable clocksource=tsc mitigations=off $3"
	)
}
