/* SPDX-License-Identifier: BSD-3-Clause */

/* Events of vCPUs: the ring that the kernel's program writes, whatever it contains; what
 * this kernel makes of the programs, and what is left of them after SIGKILL. That they
 * see vCPUs, the lab's case no-stop shows. */

#define _GNU_SOURCE 1
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compat.h"
#include "kvm/bpf/watcher.h"
#include "kvm/registers.h"

#define PROG_GET_FD_BY_ID 13 /* include/uapi/linux/bpf.h */

static struct watch_ring *ring_new(uint64_t count)
{
	struct watch_ring *ring = calloc(1, sizeof(*ring));

	assert_non_null(ring);
	ring->count = count;
	for (uint64_t i = count < WATCH_EVENTS ? 0 : count - WATCH_EVENTS; i < count;
	     i++) {
		struct watch_event *event = &ring->event[i % WATCH_EVENTS];

		event->time = i;
		event->bytes = 16;
		event->word[1] = 100 + i;
	}
	return ring;
}

static void events_are_taken_in_order_once(void **state)
{
	struct watch_event *event = malloc(sizeof(*event));
	struct watch_ring *ring = ring_new(5);
	uint64_t next = 0, lost = 0;

	(void)state;
	for (uint64_t i = 0; i < 5; i++) {
		assert_true(watch_ring_take(ring, &next, event, &lost));
		assert_int_equal(event->time, i);
		assert_int_equal(event->bytes, 16);
		assert_int_equal(event->word[1], 100 + i);
	}
	assert_false(watch_ring_take(ring, &next, event, &lost));
	assert_int_equal(next, 5);
	assert_int_equal(lost, 0);
	free(ring);
	free(event);
}

/* The place of the 64th last event is that of the next one, which may be being written.
 */
static void overwritten_events_are_lost(void **state)
{
	struct watch_event *event = malloc(sizeof(*event));
	struct watch_ring *ring = ring_new(1000);
	uint64_t next = 7, lost = 3;
	unsigned int taken = 0;

	(void)state;
	while (watch_ring_take(ring, &next, event, &lost))
		assert_int_equal(event->time, 1000 - (WATCH_EVENTS - 1) + taken++);
	assert_int_equal(taken, WATCH_EVENTS - 1);
	assert_int_equal(next, 1000);
	assert_int_equal(lost, 3 + 1000 - 7 - (WATCH_EVENTS - 1));
	free(ring);
	free(event);
}

static void no_ring_makes_a_reader_leave_it(void **state)
{
	static const uint64_t counts[] = {
		0, 1, 63, 64, 65, 1ull << 63, UINT64_MAX - 1, UINT64_MAX};
	struct watch_event *event = malloc(sizeof(*event));
	/* Nothing can be read behind it. */
	struct watch_ring *ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(ring, MAP_FAILED);
	memset(ring, 0xff, sizeof(*ring));
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
			uint64_t next = counts[k], lost = 0;
			unsigned int taken = 0;

			ring->count = counts[i];
			while (watch_ring_take(ring, &next, event, &lost)) {
				assert_true(event->bytes <= sizeof(event->word));
				assert_true(++taken < WATCH_EVENTS);
			}
			assert_int_equal(next, counts[i]);
		}
	ring->count = 3;
	for (uint32_t i = 0; i < 3; i++)
		ring->event[i].bytes = (uint32_t[]){sizeof(event->word) + 8, 4,
						    sizeof(event->word)}[i];
	ring->event[2].start = 8;
	for (uint64_t i = 0, lost = 0; watch_ring_take(ring, &i, event, &lost);)
		assert_int_equal(event->bytes, i == 3 ? sizeof(event->word) : 0);
	munmap(ring, sizeof(*ring));
	free(event);
}

#ifdef __x86_64__
static void registers_are_converted(void **state)
{
	struct watch_event event = {
		.cr0 = 0x80000011, .cr3 = 0x1000, .cr4 = 0x20, .efer = 0x500};
	struct cpu cpu;

	(void)state;
	for (unsigned int i = 0; i < WATCH_GENERAL; i++)
		event.general[i] = 100 + i;
	event.segments[0] = 0x0a9b0010; /* CS: selector 0x10, 64-bit code */
	event.segments[2] = 0x0c930018;
	event.saved[0] = 0x7000;
	event.saved[4] = 0x246;
	assert_true(kvm_registers_of_event(&event, &cpu));
	assert_int_equal(cpu_kind(&cpu), CPU_X86_64);
	assert_int_equal(cpu.x86.reg[0], 100);
	assert_int_equal(cpu.x86.reg[X86_RSP], 104);
	assert_int_equal(cpu.x86.reg[15], 115);
	assert_int_equal(cpu.x86.rip, 116);
	assert_int_equal(cpu.x86.rflags, 0x246);
	assert_int_equal(cpu.x86.cs, 0x10);
	assert_int_equal(cpu.x86.ss, 0x18);
	assert_int_equal(cpu.x86.cr3, 0x1000);
	assert_false(cpu.x86.is_compat);
	/* Nested paging: the guest sets CR3 without KVM. */
	event.nested = 1;
	assert_true(kvm_registers_of_event(&event, &cpu));
	assert_int_equal(cpu.x86.cr3, 0x7000);
	/* 32-bit code in long mode. */
	event.segments[0] = 0x0cfb0023;
	assert_true(kvm_registers_of_event(&event, &cpu));
	assert_true(cpu.x86.is_compat);
	/* Encrypted: SEV, SEV-ES. */
	event.nested = 3;
	assert_false(kvm_registers_of_event(&event, &cpu));
	event.nested = 7;
	assert_false(kvm_registers_of_event(&event, &cpu));
}
#endif

/* A kernel's offsets: any will do where no vCPU is known. */
static struct watch_offsets some_offsets(void)
{
	struct watch_offsets offsets;

	for (unsigned int i = 0; i < WATCH_MARKS; i++)
		offsets.offset[i] = 8 * i;
	return offsets;
}

static struct watcher *watcher_here(struct kernel **kernel)
{
	const struct watch_offsets offsets = some_offsets();
	struct error err = {.text = ""};
	struct watcher *watcher = NULL;

	*kernel = kernel_open(false, &err);
	if (*kernel)
		watcher = watcher_new(*kernel, &offsets, 2, &err);
	if (!watcher) {
		/* Without the permission; a kernel that has it takes the programs. */
		assert_true(err.text[0] != 0);
		assert_null(strstr(err.text, "refuses"));
		kernel_close(*kernel);
		print_message("%s\n", err.text);
		skip();
	}
	return watcher;
}

static void this_kernel_takes_the_programs(void **state)
{
	struct kernel *kernel;
	struct watcher *watcher = watcher_here(&kernel);
	struct error err;
	uint64_t lost = 0;

	(void)state;
	/* A descriptor that is no vCPU's is refused. */
	assert_int_equal(watcher_begin(watcher, 0, 0, getpid(), 1000000, NULL, &err), -1);
	assert_string_equal(err.text, "vCPU 0 can't be found");
	assert_null(watcher_peek(watcher, 0));
	assert_null(watcher_peek(watcher, -1));
	assert_null(watcher_next(watcher, 1, &lost));
	assert_int_equal(lost, 0);
	watcher_free(watcher);
	kernel_close(kernel);
}

static void more_vcpus_or_parts_of_memory_than_fit_are_refused(void **state)
{
	static struct layout layout = {.count = WATCH_REGIONS + 1};
	const struct watch_offsets offsets = some_offsets();
	struct kernel *kernel;
	struct watcher *watcher = watcher_here(&kernel);
	struct error err;

	(void)state;
	assert_null(watcher_new(kernel, &offsets, WATCH_VCPUS + 1, &err));
	assert_string_equal(err.text, "it has more than 64 vCPUs");
	assert_false(watcher_place(watcher, &layout));
	layout.count--;
	assert_true(watcher_place(watcher, &layout));
	watcher_free(watcher);
	kernel_close(kernel);
}

static int find_number(const char *path, const char *label)
{
	char line[128];
	FILE *file = fopen(path, "r");
	int number = -1;

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, label, strlen(label)) == 0)
			number = atoi(line + strlen(label));
	if (file)
		fclose(file);
	return number;
}

/* In a child: has events of its own thread run the program, and reports its id. */
static void run_events(int to)
{
	const struct watch_offsets offsets = some_offsets();
	const struct watch_maps maps = {
		bpf_array_new(sizeof(struct watch_ring), 1, false),
		bpf_array_new(sizeof(struct watch_places), 1, true),
		bpf_memory_new(sizeof(struct watch_vcpus), false)};
	struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
					     .size = PERF_ATTR_SIZE_VER5,
					     .config = PERF_COUNT_SW_CPU_CLOCK,
					     .sample_period = 1000000};
	struct bpf_program *program = malloc(sizeof(*program));
	int loaded, event, id = -1;
	char path[64];

	program_watch(program, &offsets, &maps);
	loaded = program_load_watch(program, NULL, 0);
	event = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
	if (loaded >= 0 && event >= 0 && bpf_event_link(loaded, event, 0) >= 0) {
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", loaded);
		id = find_number(path, "prog_id:");
	}
	if (write(to, &id, sizeof(id)) == sizeof(id))
		for (;;)
			;
	_exit(1);
}

static int program_of_id(int id)
{
	uint32_t arguments[3] = {(uint32_t)id};

	return (int)syscall(SYS_bpf, PROG_GET_FD_BY_ID, arguments, sizeof(arguments));
}

static void nothing_is_left_of_a_killed_process(void **state)
{
	const struct timespec moment = {0, 10000000};
	int pipes[2], id = -1, fd;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		run_events(pipes[1]);
	assert_int_equal(read(pipes[0], &id, sizeof(id)), sizeof(id));
	fd = id > 0 ? program_of_id(id) : -1;
	close(fd);
	nanosleep(&moment, NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(pipes[0]);
	close(pipes[1]);
	if (fd < 0)
		skip(); /* no permission */
	for (int i = 0; i < 500; i++) {
		fd = program_of_id(id);
		if (fd < 0)
			break;
		close(fd);
		nanosleep(&moment, NULL);
	}
	assert_int_equal(fd, -1);
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_taken_in_order_once),
		cmocka_unit_test(overwritten_events_are_lost),
		cmocka_unit_test(no_ring_makes_a_reader_leave_it),
#ifdef __x86_64__
		cmocka_unit_test(registers_are_converted),
#endif
		cmocka_unit_test(this_kernel_takes_the_programs),
		cmocka_unit_test(more_vcpus_or_parts_of_memory_than_fit_are_refused),
		cmocka_unit_test(nothing_is_left_of_a_killed_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
