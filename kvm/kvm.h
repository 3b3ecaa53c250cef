/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_KVM_H
#define UNIPROF_KVM_KVM_H

#include "guest/host.h"

/*
 * Opens this host's KVM. Guests are the processes that have vCPUs (VMMs: QEMU,
 * Firecracker and others); their ids are pids. NULL with the reason in @err if there is
 * no KVM, no permission, or no way to read registers (x86 only, Linux 5.6).
 * @force is for Xen only.
 */
struct host *kvm_open(bool force, struct error *err);

/* Whether this machine has KVM at all: what failed otherwise is worth a message. */
bool kvm_exists(void);

/* A QEMU whose command line says where its GDB stub listens on this host. */
struct kvm_stub {
	char address[256]; /* as uniprof's option --gdb takes it */
	char name[256];	   /* by its option -name; empty: none */
};

/*
 * For QEMUs that can't be sampled in this way, but through their stubs. What is looked at
 * are command lines, for which neither KVM nor a permission is needed.
 *
 * kvm_stub_list(): as host_ops.list(), those QEMUs that this process may connect to. What
 * only a connection would show, such as the number of vCPUs, is 0.
 * kvm_stub_find(): the stub of the process @id: 0, or -1 if it is not one of them.
 * kvm_permits(): whether KVM can show the vCPUs of the process @id to this one: 0, or -1
 * with the reason. Changes nothing in it.
 */
int kvm_stub_list(struct guest_info **guests, size_t *count, struct error *err);
int kvm_stub_find(uint32_t id, struct kvm_stub *stub);
int kvm_permits(uint32_t id, struct error *err);

#endif
