# Output of xenctx: all vCPUs, no call chain in user mode, a second run after it.
. "$CLI/lib.sh"
tab=$(printf '\t')
cat >xenctx.txt <<END
vcpu0:
rip: ffffffff810013aa hypercall_page+0x3aa
flags: 00000246 i z p
rsp: ffffffff81801f08
rax: 0000000000000000${tab}rcx: ffffffff810013aa${tab}rdx: 0000000000000000
 gs: 0000 @ ffff88003f600000/0000000000000000
Code (instr addr 810013aa)
cc cc cc cc <c3> cc cc cc


Stack:
 ffffffff810085d0 0000000000000000 0000000000000002 ffffffff8101d79f

Call Trace:
                    [<ffffffff810013aa>] hypercall_page+0x3aa <--
ffffffff81801f08:   [<ffffffff810085d0>] xen_safe_halt+0x10
ffffffff81801f20:   [<ffffffff8101d79f>] default_idle+0x1f
ffffffff81801f28:   [<ffffffff81001000>] _text

vcpu1 offline

vcpu2:
rip: 00007f0012345678
flags: 00000246 i z p

cs:eip: e019:c01013a7 hypercall_page+0x3a7
flags: 00000246 i z p
Stack Trace:
          * [<c01013a7>] hypercall_page+0x3a7 <--
c0401f00: |   c0123456
c0401f04: |-- c0401f20
c0401f08: | [<c0108000>] xen_idle+0x8
PC:       00000000c0008000 arch_cpu_idle
END
import -o xenctx.up xenctx.txt
report -i xenctx.up --format perf-script
report -i xenctx.up --format folded 2>err
