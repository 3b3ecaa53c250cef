# A recording of a KVM guest: its VMM, and the host's kernel.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >kvm.up <<END
info start 1000
info hypervisor KVM, Linux 6.1.0
domain 0 4711 4 1 2 web
vmm QEMU
sample 2000 0 1 0 0x1000
end 1 9000
END
info kvm.up | grep -e hypervisor -e '^  id' -e type -e VMM -e vCPUs
