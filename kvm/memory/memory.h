/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_MEMORY_MEMORY_H
#define UNIPROF_KVM_MEMORY_MEMORY_H

#include <sys/types.h>

#include "guest/guest.h"
#include "kvm/bpf/kernel.h"
#include "kvm/memory/fetch.h"
#include "kvm/memory/layout.h"

/*
 * A guest's memory, read-only. Shared memory of the VMM (memfd, tmpfs, hugetlbfs) is
 * mapped once. Other memory is copied (kvm/memory/copies.h).
 *
 * Only pages that are in memory are read: reading never makes a page, and never waits for
 * the program that would have to provide it. A page that is not there is a miss, and is
 * fetched by another thread while the guest runs (kvm/memory/fetch.h).
 */
struct kvm_memory;

/* Allocates all memory that is ever needed. @watch is the result of share_watch(),
 * @kernel may be NULL. NULL with the reason in @err on failure. */
struct kvm_memory *kvm_memory_new(pid_t pid, int watch, struct fetch *fetch,
				  const struct kernel *kernel, struct error *err);
void kvm_memory_free(struct kvm_memory *memory);

/* Asks KVM, while the guest runs, where its memory is, unless that has not changed. @vcpu
 * is this process's descriptor of one of its vCPUs. */
void kvm_memory_follow(struct kvm_memory *memory, int vcpu);

/*
 * If KVM can't be asked: finds out, while the guest runs and with the registers of its
 * last pause, where its memory is, if that is unknown or no longer fits; at most once per
 * second, but sooner after the first searches that find nothing. True if it was found
 * elsewhere.
 */
bool kvm_memory_learn(struct kvm_memory *memory, const struct guest *guest);

enum memory_knowledge {
	MEMORY_EXACT,	 /* KVM has told */
	MEMORY_GUESSED,	 /* guessed; no guess was wrong so far */
	MEMORY_UNKNOWN,	 /* no guess is right, or right guesses become wrong again */
	MEMORY_TOO_MANY, /* as MEMORY_UNKNOWN, because there are too many slots */
};
/* Returns how it is known where the guest's memory is. */
enum memory_knowledge kvm_memory_knowledge(const struct kvm_memory *memory);

/* Returns where the guest's memory is, as KVM has told, and in @serial a number that
 * changes with it and is not 0; NULL if KVM has not. */
const struct layout *kvm_memory_exact(const struct kvm_memory *memory, uint64_t *serial);

/* Returns whether the VMM has truncated the file with the guest's memory. */
bool kvm_memory_is_cut(const struct kvm_memory *memory);

/* Prepares for a pause, in which the pages of this round will be copied again. */
void kvm_memory_prepare(struct kvm_memory *memory);

/* Functions of struct guest_ops. */
void kvm_memory_begin(void *memory, uint64_t now, unsigned int map_calls);
const void *kvm_memory_get(void *memory, uint64_t frame);
const void *kvm_memory_map(void *memory, uint64_t frame);
bool kvm_memory_missed(void *memory);
uint64_t kvm_memory_misses(const void *memory);

#endif
