/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_MEMORY_MEMORY_H
#define UNIPROF_KVM_MEMORY_MEMORY_H

#include <sys/types.h>

#include "guest/guest.h"

/*
 * A guest's memory, read-only. Shared memory of the VMM (memfd, files) is mapped once.
 * Private memory is copied: the pages that the last rehearsal looked at in one call, at
 * the first access of a pause, and other pages one by one.
 */
struct kvm_memory;

/* Allocates all memory that is ever needed. NULL with the reason in @err on failure. */
struct kvm_memory *kvm_memory_new(pid_t pid, struct error *err);
void kvm_memory_free(struct kvm_memory *memory);

/*
 * Finds out, while the guest runs and with the registers of its last pause, where its
 * memory is, if that is unknown or no longer fits; at most once per second. True if it
 * was found elsewhere.
 */
bool kvm_memory_learn(struct kvm_memory *memory, const struct guest *guest);

/* Prepares for a pause, in which all copied pages will be copied again. */
void kvm_memory_prepare(struct kvm_memory *memory);

/* Functions of struct guest_ops. */
void kvm_memory_begin(void *memory, uint64_t now, unsigned int map_calls);
const void *kvm_memory_get(void *memory, uint64_t frame);
const void *kvm_memory_map(void *memory, uint64_t frame);
bool kvm_memory_missed(void *memory);
uint64_t kvm_memory_misses(const void *memory);

#endif
