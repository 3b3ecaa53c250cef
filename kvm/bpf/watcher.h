/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
#ifndef UNIPROF_KVM_BPF_WATCHER_H
#define UNIPROF_KVM_BPF_WATCHER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/guest.h"
#include "kvm/bpf/kernel.h"
#include "kvm/bpf/watch.h"
#include "kvm/memory/layout.h"

/*
 * Watches a guest's vCPUs without stopping them: an event of each vCPU's thread, at every
 * period of its CPU time or of what the CPU counts, interrupts the thread, and a program
 * notes the registers and the top of the stack (kvm/bpf/watch.bpf.c). For KVM on AMD,
 * which has all that in memory. The kernel ends events and program when this process
 * ends, however it does.
 */
struct watcher;

/* The program's name, as the kernel lists it. */
#define WATCH_NAME "uniprof_watch"

/* Where the running kernel has members, by enum watch_mark. */
struct watch_offsets {
	uint32_t offset[WATCH_MARKS];
};

/* Finds them: 0, or -1 with the reason in @err if this is no KVM on AMD, or the kernel
 * does not tell. */
int watch_offsets_find(struct watch_offsets *offsets, struct error *err);

/*
 * Prepares to watch @count vCPUs: 0 events so far. Needs CAP_BPF and CAP_PERFMON, or
 * CAP_SYS_ADMIN. NULL with the reason in @err on failure. @kernel must outlive the
 * watcher.
 */
struct watcher *watcher_new(const struct kernel *kernel,
			    const struct watch_offsets *offsets, unsigned int count,
			    struct error *err);
/* @watcher may be NULL. */
void watcher_free(struct watcher *watcher);

/* Begins the events of the vCPU @i, of which this process has the descriptor @fd, and
 * which the thread @tid runs, of this @kind, or of its CPU time if that is NULL: 0, or
 * -1. Needs these capabilities, too. @period: from one event to the next, ns */
int watcher_begin(struct watcher *watcher, unsigned int i, int fd, pid_t tid,
		  uint64_t period, const struct event_kind *kind, struct error *err);

/* Tells where the guest's memory is. False, and nothing is read there, if it has too many
 * parts. */
bool watcher_place(struct watcher *watcher, const struct layout *layout);
/* Sets how much of stacks is copied, bytes, at most WATCH_STACK. */
void watcher_copy(struct watcher *watcher, unsigned int bytes);

/* Returns the next event of the vCPU @i, valid until the next call for this vCPU, and
 * adds the number of events that were lost before it to @lost; NULL: there is none. */
const struct watch_event *watcher_next(struct watcher *watcher, unsigned int i,
				       uint64_t *lost);

/* Reads the registers of a vCPU that does not run, of which this process has the
 * descriptor @fd. The result changes with the next call. NULL if it can't be read. */
const struct watch_event *watcher_peek(const struct watcher *watcher, int fd);

/*
 * Copies the event with the number *@next from a ring that is written meanwhile, and
 * increments *@next; after events that are overwritten already, whose number is added to
 * @lost. False if there is none. @event is safe to use, whatever the ring contains.
 */
bool watch_ring_take(const struct watch_ring *ring, uint64_t *next,
		     struct watch_event *event, uint64_t *lost);

/* The maps of the program. */
struct watch_maps {
	int rings, places, addresses;
};

/* Makes the program that notes a vCPU's address in the map @addresses. Its arguments are
 * the descriptor, and the number of the vCPU. */
void program_note(struct bpf_program *program, const struct kernel_layout *layout,
		  int addresses);
/* Makes the program that reads a vCPU's registers into the memory @event, a struct
 * watch_event without the stack. Its argument is the descriptor. */
void program_peek(struct bpf_program *program, const struct kernel_layout *layout,
		  const struct watch_offsets *offsets, int event);
/* Makes the program for events. */
void program_watch(struct bpf_program *program, const struct watch_offsets *offsets,
		   const struct watch_maps *maps);
/* Loads the program for events; -1 with errno set, and in @log why it is refused, if that
 * is not NULL. */
int program_load_watch(const struct bpf_program *program, char *log, size_t size);

#endif
