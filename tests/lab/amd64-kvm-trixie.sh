# shellcheck shell=bash disable=SC2034
# Debian 13's kernel for the KVM host, without QEMU: the differences from amd64-kvm.sh, which is sourced
# first.

suite=trixie
arch_packages=(libelf1t64 libdw1t64 libxxhash0)
hvm_packages=()
