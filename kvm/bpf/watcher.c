/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/bpf/watcher.h"

#include <errno.h>
#include <linux/bpf_perf_event.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compat.h"
#include "kvm/bpf/types.h"

#ifdef __x86_64__
_Static_assert(offsetof(struct bpf_perf_event_data, sample_period) == WATCH_PERIOD,
	       "the program reads the period there");
#endif

#define KVM_AMD "/sys/module/kvm_amd"

/* Room for the kernel's reasons to refuse the program, bytes */
#define LOG_SIZE (1u << 20)

struct watched {
	int event, link; /* -1: none */
	uint64_t next;	 /* number of the next event to take */
};

struct watcher {
	unsigned int count;
	struct watch_maps maps;
	int program, note, peek, peeked;
	const struct watch_ring *ring; /* @count of them */
	struct watch_places *places;
	const struct watch_event *seen; /* by peek */
	struct watch_event *taken;	/* the last one of each vCPU */
	struct watched vcpu[WATCH_VCPUS];
};

int watch_offsets_find(struct watch_offsets *offsets, struct error *err)
{
	static const char *const members[WATCH_MARKS][2] = {
		[WATCH_TASK_PID] = {"task_struct", "thread_pid"},
		[WATCH_VCPU_PID] = {"kvm_vcpu", "pid"},
		[WATCH_VCPU_RUN] = {"kvm_vcpu", "run"},
		[WATCH_VCPU_LINK] = {"kvm_vcpu", "preempt_notifier.link.pprev"},
		[WATCH_VCPU_GENERAL] = {"kvm_vcpu", "arch.regs"},
		[WATCH_VCPU_CR0] = {"kvm_vcpu", "arch.cr0"},
		[WATCH_VCPU_CR3] = {"kvm_vcpu", "arch.cr3"},
		[WATCH_VCPU_CR4] = {"kvm_vcpu", "arch.cr4"},
		[WATCH_VCPU_EFER] = {"kvm_vcpu", "arch.efer"},
		/* A struct vcpu_svm begins with its struct kvm_vcpu. */
		[WATCH_VCPU_VMCB] = {"vcpu_svm", "vmcb"},
	};
	struct kernel_types types;
	int status = 0;

	if (access(KVM_AMD, F_OK) < 0)
		return error_set(err, "only KVM on AMD has a guest's registers in memory "
				      "(kvm_amd)");
	if (kernel_types_open(&types, "kvm_amd", err) < 0)
		return -1;
	for (unsigned int i = WATCH_TASK_PID; i < WATCH_MARKS && status == 0; i++) {
		uint64_t offset;

		if (btf_member(types.all, members[i][0], members[i][1], &offset) &&
		    offset < INT32_MAX / 2)
			offsets->offset[i] = (uint32_t)offset;
		else
			status = error_set(err,
					   "this kernel does not tell where %s.%s is",
					   members[i][0], members[i][1]);
	}
	kernel_types_close(&types);
	return status;
}

/* Ends the text after its last line but one, and returns that line: the last one tells
 * what the check has cost. */
static const char *last_reason(char *log)
{
	const char *last = "";

	for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
		if (strncmp(line, "processed ", 10) != 0 && line[0])
			last = line;
	return last;
}

/* Explains why the kernel has refused the program, in one line. */
static int explain_refusal(const struct bpf_program *program, struct error *err)
{
	int errnum = errno;
	char *log = errnum == EPERM ? NULL : calloc(1, LOG_SIZE);

	if (!log)
		return kernel_explain(errnum, err);
	program_load_watch(program, log, LOG_SIZE - 1);
	if (log[0])
		error_set(err, "the kernel refuses the program for events: %s",
			  last_reason(log));
	else
		kernel_explain(errnum, err);
	free(log);
	return -1;
}

static int load_programs(struct watcher *watcher, const struct kernel *kernel,
			 const struct watch_offsets *offsets, struct error *err)
{
	struct bpf_program program;

	program_note(&program, kernel_layout(kernel), watcher->maps.addresses);
	watcher->note = program_load(&program);
	if (watcher->note < 0)
		return kernel_explain(errno, err);
	program_peek(&program, kernel_layout(kernel), offsets, watcher->peeked);
	watcher->peek = program_load(&program);
	if (watcher->peek < 0)
		return kernel_explain(errno, err);
	program_watch(&program, offsets, &watcher->maps);
	watcher->program = program_load_watch(&program, NULL, 0);
	return watcher->program < 0 ? explain_refusal(&program, err) : 0;
}

static int make_memory(struct watcher *watcher)
{
	struct watch_maps *maps = &watcher->maps;

	maps->rings = bpf_array_new(sizeof(*watcher->ring), watcher->count, false);
	maps->places = bpf_array_new(sizeof(*watcher->places), 1, true);
	maps->addresses = bpf_memory_new(sizeof(struct watch_vcpus), false);
	watcher->peeked = bpf_memory_new(sizeof(*watcher->seen), true);
	if (maps->rings < 0 || maps->places < 0 || maps->addresses < 0 ||
	    watcher->peeked < 0)
		return -1;
	watcher->ring = bpf_array_map(maps->rings,
				      watcher->count * sizeof(*watcher->ring), false);
	watcher->places = bpf_array_map(maps->places, sizeof(*watcher->places), true);
	watcher->seen = bpf_memory_map(watcher->peeked, sizeof(*watcher->seen));
	watcher->taken = calloc(watcher->count, sizeof(*watcher->taken));
	return watcher->ring && watcher->places && watcher->seen && watcher->taken ? 0
										   : -1;
}

struct watcher *watcher_new(const struct kernel *kernel,
			    const struct watch_offsets *offsets, unsigned int count,
			    struct error *err)
{
	struct watcher *watcher;

	if (count > WATCH_VCPUS) {
		error_set(err, "it has more than %u vCPUs", WATCH_VCPUS);
		return NULL;
	}
	watcher = calloc(1, sizeof(*watcher));
	if (!watcher) {
		error_set(err, "out of memory");
		return NULL;
	}
	watcher->count = count;
	watcher->maps = (struct watch_maps){-1, -1, -1};
	watcher->program = watcher->note = watcher->peek = watcher->peeked = -1;
	for (unsigned int i = 0; i < WATCH_VCPUS; i++)
		watcher->vcpu[i] = (struct watched){-1, -1, 0};
	if (make_memory(watcher) < 0)
		kernel_explain(errno, err);
	else if (load_programs(watcher, kernel, offsets, err) == 0)
		return watcher;
	watcher_free(watcher);
	return NULL;
}

static void close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

void watcher_free(struct watcher *watcher)
{
	if (!watcher)
		return;
	for (unsigned int i = 0; i < watcher->count; i++)
		close_all((int[]){watcher->vcpu[i].link, watcher->vcpu[i].event}, 2);
	if (watcher->ring)
		munmap((void *)watcher->ring, watcher->count * sizeof(*watcher->ring));
	if (watcher->places)
		munmap(watcher->places, sizeof(*watcher->places));
	if (watcher->seen)
		munmap((void *)watcher->seen, sizeof(*watcher->seen));
	close_all((int[]){watcher->program, watcher->note, watcher->peek, watcher->peeked,
			  watcher->maps.rings, watcher->maps.places,
			  watcher->maps.addresses},
		  7);
	free(watcher->taken);
	free(watcher);
}

static void choose_event(uint64_t period, const struct event_kind *kind,
			 struct perf_event_attr *attributes)
{
	*attributes = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER5,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period,
		.disabled = 1,
	};
	if (!kind)
		return;
	attributes->type = kind->type;
	attributes->config = kind->config;
	attributes->exclude_host = kind->is_guest_only;
	attributes->freq = 1;
	attributes->sample_freq = NS_PER_S / period;
}

/* Explains why perf_event_open(2) has failed. */
static int explain_event(const struct event_kind *kind, int errnum, struct error *err)
{
	if (kind && (errnum == ENOENT || errnum == EOPNOTSUPP || errnum == ENODEV))
		return error_set(err, "this host's CPU does not count %s%s", kind->name,
				 kind->is_guest_only ? ", or not by guest" : "");
	if (kind && errnum == EINVAL)
		return error_set(err,
				 "the kernel refuses %s at this rate, or at all "
				 "(kernel.perf_event_max_sample_rate)",
				 kind->name);
	return error_errno(err, errnum, "perf_event_open(2)");
}

int watcher_begin(struct watcher *watcher, unsigned int i, int fd, pid_t tid,
		  uint64_t period, const struct event_kind *kind, struct error *err)
{
	const uint64_t arguments[] = {(uint64_t)fd, i};
	struct perf_event_attr attributes;
	struct watched *vcpu = &watcher->vcpu[i];

	if (bpf_program_run(watcher->note, arguments, 2) != PROGRAM_DONE)
		return error_set(err, "vCPU %u can't be found", i);
	choose_event(period, kind, &attributes);
	vcpu->event = (int)syscall(SYS_perf_event_open, &attributes, tid, -1, -1,
				   PERF_FLAG_FD_CLOEXEC);
	if (vcpu->event < 0)
		return explain_event(kind, errno, err);
	vcpu->link = bpf_event_link(watcher->program, vcpu->event, i);
	if (vcpu->link < 0)
		return error_errno(err, errno,
				   "events can't run programs (Linux 5.15): bpf(2)");
	if (ioctl(vcpu->event, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return error_errno(err, errno, "can't begin an event");
	return 0;
}

/* Separates memory accesses that the kernel's program must see, or make, in order. AMD's
 * CPUs keep loads in order, and stores; only the compiler may not. */
static void keep_order(void)
{
	__asm__ volatile("" ::: "memory");
}

/* The kernel's program may run at any time. */
static void begin_change(struct watch_places *places)
{
	__atomic_store_n(&places->version, places->version + 1, __ATOMIC_RELAXED);
	keep_order();
}

static void end_change(struct watch_places *places)
{
	keep_order();
	__atomic_store_n(&places->version, places->version + 1, __ATOMIC_RELAXED);
}

bool watcher_place(struct watcher *watcher, const struct layout *layout)
{
	struct watch_places *places = watcher->places;
	bool fits = layout->count <= WATCH_REGIONS;

	begin_change(places);
	for (unsigned int i = 0; i < WATCH_REGIONS; i++) {
		const struct region *region = &layout->region[i];
		bool is_used = fits && i < layout->count;

		places->region[i].guest = is_used ? region->guest : UINT64_MAX;
		places->region[i].size = is_used ? region->size : 0;
		places->region[i].address = is_used ? region->address : 0;
	}
	end_change(places);
	return fits;
}

void watcher_copy(struct watcher *watcher, unsigned int bytes)
{
	begin_change(watcher->places);
	watcher->places->bytes = bytes < WATCH_STACK ? bytes : WATCH_STACK;
	end_change(watcher->places);
}

/* Copies the event, which may be overwritten meanwhile. */
static void copy_event(const struct watch_event *from, struct watch_event *event)
{
	const size_t head = offsetof(struct watch_event, word);

	memcpy(event, from, head);
	if (event->bytes > sizeof(event->word) || event->bytes % 8 || event->start % 8)
		event->bytes = 0;
	memcpy(event->word, from->word, event->bytes);
}

bool watch_ring_take(const struct watch_ring *ring, uint64_t *next,
		     struct watch_event *event, uint64_t *lost)
{
	uint64_t count = __atomic_load_n(&ring->count, __ATOMIC_ACQUIRE);

	for (int tries = 0; tries < WATCH_EVENTS && count != *next; tries++) {
		/* The event after the last one may be being written. */
		if (count - *next > WATCH_EVENTS - 1) {
			*lost += count - *next - (WATCH_EVENTS - 1);
			*next = count - (WATCH_EVENTS - 1);
		}
		copy_event(&ring->event[*next % WATCH_EVENTS], event);
		keep_order();
		count = __atomic_load_n(&ring->count, __ATOMIC_ACQUIRE);
		if (count - *next < WATCH_EVENTS) {
			++*next;
			return true;
		}
	}
	return false;
}

const struct watch_event *watcher_next(struct watcher *watcher, unsigned int i,
				       uint64_t *lost)
{
	struct watch_event *event = &watcher->taken[i];

	if (!watch_ring_take(&watcher->ring[i], &watcher->vcpu[i].next, event, lost))
		return NULL;
	return event;
}

const struct watch_event *watcher_peek(const struct watcher *watcher, int fd)
{
	const uint64_t arguments[] = {(uint64_t)fd};

	if (fd < 0 || bpf_program_run(watcher->peek, arguments, 1) != PROGRAM_DONE)
		return NULL;
	return watcher->seen;
}
