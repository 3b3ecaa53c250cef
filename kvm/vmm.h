/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_VMM_H
#define UNIPROF_KVM_VMM_H

#include <stdbool.h>
#include <stddef.h>

#include "kvm/memory/layout.h"

/*
 * Sets @name to a VMM's name, such as "QEMU", by the path of its program; an unknown
 * program's own name is used. It is truncated to @size bytes.
 */
void vmm_kind(const char *program, char *name, size_t size);

/*
 * Whether VMMs of this kind (vmm_kind()) may use synchronized registers
 * (KVM_CAP_SYNC_REGS) on x86. False only for those whose source never writes
 * kvm_valid_regs there.
 */
bool vmm_syncs(const char *kind);

/*
 * Finds a guest's name in its VMM's command line (/proc/PID/cmdline: @length bytes, each
 * argument ends with a 0; the last one may be cut): QEMU's -name, which libvirt gives,
 * too; Firecracker's --id; Solo5's unikernel; other VMMs' --name. Returns 0, or -1 if
 * there is none.
 */
int vmm_guest_name(const char *arguments, size_t length, char *name, size_t size);

/* Finds out how a VMM of this kind (vmm_kind()), with this command line, splits its
 * guest's memory; NULL if that is not known. */
const struct layout_split *vmm_split(const char *kind, const char *arguments,
				     size_t length);

/* Returns whether the command line is that of a QEMU that runs a whole guest, but not for
 * Xen. */
bool vmm_is_emulator(const char *arguments, size_t length);

/*
 * Finds in QEMU's command line (-gdb, -s) where its GDB stub listens on this host, as
 * uniprof's option --gdb takes it: a socket with an absolute path, or a port of the
 * loopback interface. 0; -1 if there is none, or its address has another form.
 */
int vmm_gdb_address(const char *arguments, size_t length, char *address, size_t size);

#endif
