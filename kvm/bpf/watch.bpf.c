/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Runs at an event of a vCPU's thread, which it interrupts: notes the guest's registers
 * as of its last exit, which KVM has in memory, and copies the top of its stack, by the
 * guest's page tables and KVM's memory slots, from the memory of the VMM, whose thread
 * this is. Reads only pages that are in memory. Nothing is stopped.
 *
 * watch.inc is made of this file by clang ("make watch"). Offsets and maps are constants
 * that watch.c replaces (enum watch_mark), so there are no relocations.
 *
 * All that changes in a walk is in a map, and volatile: the kernel takes what is loaded
 * from there for unknown, so that paths join. Otherwise, Linux 6.1 gives up after having
 * checked a million instructions.
 */
#include "kvm/bpf/watch.h"

typedef volatile struct watch_work work;

#define TEXT(n)	  #n
#define NUMBER(n) TEXT(n)
#define MARK(mark)                                                                  \
	({                                                                          \
		uint64_t number_;                                                   \
		asm volatile("%0 = %1 ll"                                           \
			     : "=r"(number_)                                        \
			     : "i"((unsigned long long)WATCH_MARK << 32 | (mark))); \
		number_;                                                            \
	})
#define INLINE static inline __attribute__((always_inline))

/* Functions of the kernel (include/uapi/linux/bpf.h). */
static void *(*const lookup)(uint64_t map, const void *key) = (void *)1;
static uint64_t (*const get_time)(void) = (void *)5;
static uint64_t (*const current_task)(void) = (void *)35;
static long (*const read_counter)(void *context, void *to, uint32_t size) = (void *)56;
static long (*const read_user)(volatile void *to, uint32_t size,
			       uint64_t from) = (void *)112;
static long (*const read_kernel)(volatile void *to, uint32_t size,
				 uint64_t from) = (void *)113;
static uint64_t (*const get_cookie)(void *context) = (void *)174;

#define ENTRY_PRESENT 1ull
#define ENTRY_LARGE   0x80ull
#define ENTRY_FRAME   0x000ffffffffff000ull
#define CR4_LA57      (1ull << 12)

/* Sets the VMM's address of the guest-physical one; 0: no memory. */
INLINE void find_address(const struct watch_places *places, work *w)
{
	uint64_t i;

	w->address = 0;
	w->region = 0;
#pragma unroll
	for (int step = WATCH_REGIONS / 2; step; step /= 2) {
		i = (w->region + step) & (WATCH_REGIONS - 1);
		if (w->guest >= places->region[i].guest)
			w->region = i;
	}
	i = w->region & (WATCH_REGIONS - 1);
	if (w->guest - places->region[i].guest < places->region[i].size)
		w->address = w->guest - places->region[i].guest +
			     places->region[i].address;
}

/* Sets the VMM's address of w->at; 0: it is not mapped, or not in memory. */
INLINE void translate(const struct watch_places *places, work *w, uint64_t cr3,
		      uint64_t cr4)
{
	w->table = cr3;
	w->is_found = 0;
#pragma unroll
	for (int level = 5; level > 0; level--) {
		const int shift = 12 + 9 * (level - 1);
		const uint64_t inside = (1ull << shift) - 1;

		if (w->is_found || (level == 5 && !(cr4 & CR4_LA57)))
			continue;
		w->guest = (w->table & ENTRY_FRAME) + (w->at >> shift & 511) * 8;
		find_address(places, w);
		w->table = 0;
		read_user(&w->table, 8, w->address);
		if (!(w->table & ENTRY_PRESENT)) {
			w->address = 0;
			return;
		}
		if (level == 1 || (level <= 3 && w->table & ENTRY_LARGE)) {
			w->guest = (w->table & ENTRY_FRAME & ~inside) | (w->at & inside);
			w->is_found = 1;
		}
	}
	find_address(places, w);
}

INLINE void read_registers(struct watch_event *event, uint64_t vcpu)
{
	uint64_t vmcb = 0;

	read_kernel(event->general, sizeof(event->general),
		    vcpu + MARK(WATCH_VCPU_GENERAL));
	read_kernel(&event->cr0, 8, vcpu + MARK(WATCH_VCPU_CR0));
	read_kernel(&event->cr3, 8, vcpu + MARK(WATCH_VCPU_CR3));
	read_kernel(&event->cr4, 8, vcpu + MARK(WATCH_VCPU_CR4));
	read_kernel(&event->efer, 8, vcpu + MARK(WATCH_VCPU_EFER));
	read_kernel(&vmcb, 8, vcpu + MARK(WATCH_VCPU_VMCB));
	read_kernel(&event->nested, 8, vmcb + VMCB_NESTED);
	read_kernel(event->segments, sizeof(event->segments), vmcb + VMCB_SEGMENTS);
	read_kernel(event->saved, sizeof(event->saved), vmcb + VMCB_SAVED);
	/* With nested paging, the guest changes it without an exit. */
	if (event->nested & 1)
		event->cr3 = event->saved[0];
}

/* While the thread is in KVM_RUN, the scheduler tells KVM when it switches to or from it
 * (preempt_notifier_register() in Linux's kernel/sched/core.c): the vCPU is in a list,
 * whose link is an address of the kernel, and else 0 or a poison. */
INLINE void read_exit(struct watch_event *event, uint64_t vcpu)
{
	uint64_t link = 0, run = 0;

	read_kernel(&link, 8, vcpu + MARK(WATCH_VCPU_LINK));
	if (link >> 48 == 0xffff) {
		event->flags = WATCH_LOADED;
		return;
	}
	event->flags = 0;
	read_kernel(&run, 8, vcpu + MARK(WATCH_VCPU_RUN));
	read_kernel(event->exit, sizeof(event->exit), run + WATCH_EXIT);
}

/* Whether the running thread is the one that ran the vCPU last. */
INLINE int is_its_thread(uint64_t vcpu)
{
	uint64_t thread = 0, ours = 1;

	read_kernel(&thread, 8, vcpu + MARK(WATCH_VCPU_PID));
	read_kernel(&ours, 8, current_task() + MARK(WATCH_TASK_PID));
	return thread == ours;
}

__attribute__((section("program"), used)) int watch(void *context)
{
	const volatile struct watch_places *places = (void *)MARK(WATCH_PLACES);
	const struct watch_vcpus *vcpus = (void *)MARK(WATCH_ADDRESSES);
	struct {
		uint64_t counter, enabled, running;
	} counts = {0};
	uint64_t index = get_cookie(context), vcpu, version;
	struct watch_ring *ring;
	struct watch_event *event;
	uint32_t key = (uint32_t)index;
	work *w;
	int i = 0;

	ring = lookup(MARK(WATCH_RINGS), &key);
	if (!ring || index >= WATCH_VCPUS)
		return 0;
	vcpu = vcpus->vcpu[index];
	if (!vcpu || !is_its_thread(vcpu))
		return 0;
	version = places->version;
	event = &ring->event[ring->count & (WATCH_EVENTS - 1)];
	event->time = get_time();
	read_counter(context, &counts, sizeof(counts));
	event->ran = counts.enabled;
	event->counted = *(const uint64_t *)((const char *)context + WATCH_PERIOD);
	read_registers(event, vcpu);
	read_exit(event, vcpu);
	w = &ring->work;
	w->at = (event->general[4] - WATCH_BELOW) & ~7ull;
	event->start = w->at;
	w->left = places->bytes + WATCH_BELOW;
	w->copied = 0;
	do {
		uint64_t size, copied;

		translate((const struct watch_places *)places, w, event->cr3, event->cr4);
		if (!w->address) {
			const uint64_t page = event->general[4] & -(uint64_t)WATCH_PAGE;

			/* The guest may never have used the page below that of the stack
			 * pointer. */
			if (w->copied || w->at >= page)
				break;
			w->at = page;
			event->start = page;
			continue;
		}
		size = WATCH_PAGE - (w->at & (WATCH_PAGE - 1));
		if (size > w->left)
			size = w->left;
		copied = w->copied;
		if (!size || size > WATCH_PAGE || copied > sizeof(event->word))
			break;
		if (read_user((char *)event->word + copied, size, w->address))
			break;
		w->copied += size;
		w->left -= size;
		w->at += size;
	} while (++i < WATCH_PAGES);
	event->bytes = w->copied;
	if (version & 1 || version != places->version)
		event->flags |= WATCH_TORN;
	ring->count++;
	return 0;
}
