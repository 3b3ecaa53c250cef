/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_KVM_H
#define UNIPROF_KVM_KVM_H

#include "guest/host.h"

/*
 * This host's KVM. Guests are the processes that have vCPUs (VMMs: QEMU, Firecracker and
 * others); their ids are pids. Its open() also fails if there is no way to read registers
 * (x86 only, Linux 5.6).
 */
extern const struct hypervisor kvm_hypervisor;

/* A QEMU whose command line says where its GDB stub listens on this host. */
struct kvm_stub {
	char address[256]; /* address of the stub, as the option --gdb takes it */
	char name[256];	   /* name of the guest, by QEMU's option -name; empty: none */
};

/* Lists guests as host_ops.list() does, without a host. */
int kvm_vmm_list(struct guest_info **guests, size_t *count, struct error *err);
/* Lists, as host_ops.list() does, the QEMUs that can be sampled through a stub that this
 * process may connect to, as guests with is_indirect. It reads command lines, for which
 * neither KVM nor a permission is needed. */
int kvm_stub_list(struct guest_info **guests, size_t *count, struct error *err);
/* Lists the QEMUs that emulate their guests and have no such stub, as guests with
 * is_mute. */
int kvm_mute_list(struct guest_info **guests, size_t *count, struct error *err);
/* Finds the stub of the process @id: 0, or -1 if it has none that this process may
 * connect to. */
int kvm_stub_find(uint32_t id, struct kvm_stub *stub);
/* Whether KVM can show the vCPUs of the process @id to this process: 0, or -1 with the
 * reason in @err. Changes nothing in the process. */
int kvm_permits(uint32_t id, struct error *err);

#endif
