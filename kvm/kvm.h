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

#endif
