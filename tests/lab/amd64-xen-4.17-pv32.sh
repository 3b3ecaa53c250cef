# shellcheck shell=bash disable=SC2034
# Debian 12 with a hypervisor that runs 32-bit PV guests, as Debian's does not. Sourced after
# amd64.sh: dom0, the tools and the kernel are the same.

machine=amd64
hypervisor=hypervisor-pv32
hypervisor_suite=bookworm
hypervisor_config=CONFIG_PV32=y
