/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_MEMORY_H
#define UNIPROF_KVM_MEMORY_H

#include <sys/types.h>

#include "guest/guest.h"

/*
 * A guest's memory, read-only. Shared memory of the VMM (memfd, files) is mapped once.
 * Private memory is copied: what the last rehearsal looked at in one call at the first
 * access of a pause, other pages one by one.
 */
struct kvm_memory;

/* All memory is allocated here. NULL with the reason in @err on failure. */
struct kvm_memory *kvm_memory_new(pid_t pid, struct error *err);
void kvm_memory_free(struct kvm_memory *memory);

/*
 * With the registers of a pause, while the guest runs: finds out where its memory is, if
 * that is not known or no longer fits; at most once per second. True if that has changed.
 */
bool kvm_memory_learn(struct kvm_memory *memory, const struct guest *guest);

/* Before a pause: what was copied is copied again in it. */
void kvm_memory_prepare(struct kvm_memory *memory);

/* As in struct guest_ops. */
void kvm_memory_begin(void *memory, uint64_t now, unsigned int map_calls);
const void *kvm_memory_get(void *memory, uint64_t frame);
const void *kvm_memory_map(void *memory, uint64_t frame);
bool kvm_memory_missed(void *memory);
uint64_t kvm_memory_misses(const void *memory);

#endif
