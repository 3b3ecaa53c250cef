# shellcheck shell=bash disable=SC2034,SC2054
# An arm64 KVM host instead of Xen: the same kernel, whose KVM is built in, at EL2 of the emulated
# CPU. Sourced by scripts/lab after arm64.sh.

xen_version=
arch_packages=(libelf1 libdw1)
modules=()

arch_images()
{
	cp "$1"/boot/vmlinuz-* "$2/kernel"
}

arch_qemu()
{
	qemu_args=(
		-accel tcg,thread=multi
		-machine virt,virtualization=on,gic-version=3
		-cpu "${KVM_CPU:-max,pauth-impdef=on}"
		-smp "$cpus" -m "$2"
		-kernel "${KVM_KERNEL:-$1/kernel}" -initrd "$1/initrd"
		-append "console=ttyAMA0 rdinit=/init ${KVM_MODE:+kvm-arm.mode=$KVM_MODE} $3"
	)
}
