# SPDX-License-Identifier: BSD-3-Clause
# Functions shared by the cases of the GDB stub's tests; others are in tests/kvm/lib.sh.
# shellcheck shell=sh disable=SC2034,SC2154

. "$HERE/../kvm/lib.sh"

# A sample takes a millisecond, and guests are slow: of 1000 samples at times that are
# independent, six points are four standard deviations.
WEIGHT=samples
LEAST=1000
POINTS=6

# boot NAME PROGRAM OPTION...: starts a QEMU whose guest prints to NAME.out; its stub is at
# the address in the variable gdb, its monitor at NAME.monitor. Sets vmm to its pid.
boot()
{
	name=$1
	shift
	rm -f "$name.out"
	gdb=unix:$PWD/$name.gdb
	"$@" -accel tcg -nodefaults -display none -serial stdio \
		-gdb "$gdb,server=on,wait=off" \
		-monitor "unix:$name.monitor,server=on,wait=off" >"$name.out" 2>>"$name.err" &
	vmm=$!
	vmms="$vmms $vmm"
	wait_for "the guest's first line" grep -q first "$name.out"
}

# boot_x86 NAME [PROGRAM [OPTION...]]
boot_x86()
{
	name=$1
	ELF=$PROGRAMS/${2:-guest.elf}
	shift $(($# > 1 ? 2 : 1))
	boot "$name" qemu-system-x86_64 -M microvm -m 64 -smp 2 -kernel "$ELF" "$@"
}

# boot_arm64 NAME [PROGRAM]
boot_arm64()
{
	ELF=$PROGRAMS/../gdb/${2:-arm64.elf}
	boot "$1" qemu-system-aarch64 -M virt -cpu cortex-a57 -m 64 -kernel "$ELF"
}

boot_riscv64()
{
	ELF=$PROGRAMS/../gdb/riscv64.elf
	boot "$1" qemu-system-riscv64 -M virt -m 64 -bios none -kernel "$ELF"
}

# is_status NAME STATUS: succeeds if the guest's status is STATUS (running, paused)
is_status()
{
	monitor "$1" "info status" | grep -q "VM status: $2"
}

# addresses: prints whether the stub shows physical addresses to a debugger (0: no)
addresses()
{
	python3 -c '
import socket, sys
stub = socket.socket(socket.AF_UNIX)
stub.connect(sys.argv[1])
stub.sendall(b"$qqemu.PhyMemMode#2c")
answer = b""
while b"+$" not in answer or answer[-3:-2] != b"#":
    answer += stub.recv(100)
print(answer.decode()[-4])
stub.sendall(b"$c#63")
' "${gdb#unix:}"
}

# record_enough SECONDS OPTION...: records; on a busy host, once more for as long as it takes to have
# twice LEAST samples, which are not independent there: QEMU may be stopped again before it has run
record_enough()
{
	seconds=$1
	shift
	record -T "$seconds" "$@"
	count=$("$UNIPROF" info uniprof.data | sed -n 's/^  samples  *\([0-9]*\).*/\1/p')
	[ "$count" -ge $((2 * LEAST)) ] || record -T $((2 * seconds * LEAST / (count + 1) + 4)) "$@"
}

# note_pauses: prints the pauses of the last recording
note_pauses()
{
	sed -n 's/.*; \(pause median.*time\);.*/\1/p' record.err >>"$NOTES"
}
