/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_VMM_H
#define UNIPROF_KVM_VMM_H

#include <stddef.h>

#include "kvm/layout.h"

/*
 * The VMM's name, such as "QEMU", from the file name of its program: the name itself if
 * it is not a known one. @size is that of @name; it is truncated.
 */
void vmm_kind(const char *program, char *name, size_t size);

/*
 * A guest's name from its VMM's command line (/proc/PID/cmdline: @length bytes, each
 * argument ends with a 0; the last one may be cut): QEMU's -name, as libvirt gives it,
 * too; --id of Firecracker; --name of others. Returns 0, or -1 if there is none.
 */
int vmm_guest_name(const char *arguments, size_t length, char *name, size_t size);

/* How a VMM of this kind (vmm_kind()) with this command line splits its guest's memory;
 * NULL if that is not known. */
const struct layout_split *vmm_split(const char *kind, const char *arguments,
				     size_t length);

/*
 * Where QEMU's GDB stub listens on this host, from the same command line (-gdb, -s), as
 * uniprof's option --gdb takes it: a socket with an absolute path, or a port that the
 * loopback interface has. 0; -1 if there is none, or it is written otherwise.
 */
int vmm_gdb_address(const char *arguments, size_t length, char *address, size_t size);

#endif
