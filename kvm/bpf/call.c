/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/bpf/call.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compat.h"

/* include/uapi/linux/bpf.h */
#define MAP_CREATE     0
#define PROG_LOAD      5
#define MAP_FREEZE     22
#define TYPE_ARRAY     2
#define RAW_TRACEPOINT 17
#define F_MMAPABLE     (1u << 10)
#define LINK_CREATE    28
#define PERF_EVENT     7  /* the type of a program */
#define ON_EVENTS      41 /* where it is attached */

/* The parts of union bpf_attr. */
struct map_create {
	uint32_t type, key_size, value_size, entries, flags;
};

struct map_freeze {
	uint32_t map;
};

struct prog_load {
	uint32_t type, count;
	uint64_t insns, license;
};

/* With what follows the license, for programs that are more than tried. */
struct named_load {
	struct prog_load load;
	uint32_t log_level, log_size;
	uint64_t log;
	uint32_t version, flags;
	char name[16];
};

struct link_create {
	uint32_t program, target, type, flags;
	uint64_t cookie;
};

struct prog_run {
	uint32_t program, result;
	uint32_t data_sizes[2];
	uint64_t data[2];
	uint32_t repeat, duration;
	uint32_t context_size, context_size_out;
	uint64_t context, context_out;
};

static int bpf_call(int command, void *arguments, size_t size)
{
	return (int)syscall(SYS_bpf, command, arguments, size);
}

/* Makes an array, which this process may only write if it is not @frozen. */
static int array_new(uint32_t size, uint32_t count, uint32_t flags, int frozen)
{
	struct map_create create = {.type = TYPE_ARRAY,
				    .key_size = 4,
				    .value_size = size,
				    .entries = count,
				    .flags = flags};
	struct map_freeze freeze = {0};
	int map = bpf_call(MAP_CREATE, &create, sizeof(create)), errnum;

	if (map < 0 || !frozen)
		return map;
	freeze.map = (uint32_t)map;
	if (bpf_call(MAP_FREEZE, &freeze, sizeof(freeze)) == 0)
		return map;
	errnum = errno;
	close(map);
	errno = errnum;
	return -1;
}

int bpf_memory_new(uint32_t size, int visible)
{
	return array_new(size, 1, visible ? F_MMAPABLE : 0, 1);
}

int bpf_array_new(uint32_t size, uint32_t count, int writable)
{
	return array_new(size, count, F_MMAPABLE, !writable);
}

void *bpf_array_map(int array, size_t size, int writable)
{
	void *at = mmap(NULL, size, writable ? PROT_READ | PROT_WRITE : PROT_READ,
			MAP_SHARED, array, 0);

	return at == MAP_FAILED ? NULL : at;
}

const void *bpf_memory_map(int memory, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ, MAP_SHARED, memory, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* A raw tracepoint's program can be run without one; and it takes the arguments of a run
 * as a tracepoint's. */
int bpf_program_load(const struct bpf_insn_word *insns, uint32_t count,
		     const char *license)
{
	struct prog_load load = {.type = RAW_TRACEPOINT,
				 .count = count,
				 .insns = (uintptr_t)insns,
				 .license = (uintptr_t)license};

	return bpf_call(PROG_LOAD, &load, sizeof(load));
}

int bpf_event_program_load(const struct bpf_insn_word *insns, uint32_t count,
			   const char *license, const char *name, char *log, size_t size)
{
	struct named_load load = {.load = {.type = PERF_EVENT,
					   .count = count,
					   .insns = (uintptr_t)insns,
					   .license = (uintptr_t)license},
				  .log_level = log ? 1 : 0,
				  .log_size = log ? (uint32_t)size : 0,
				  .log = (uintptr_t)log};

	strncpy(load.name, name, sizeof(load.name) - 1);
	return bpf_call(PROG_LOAD, &load, sizeof(load));
}

int bpf_event_link(int program, int event, uint64_t cookie)
{
	struct link_create link = {.program = (uint32_t)program,
				   .target = (uint32_t)event,
				   .type = ON_EVENTS,
				   .cookie = cookie};

	return bpf_call(LINK_CREATE, &link, sizeof(link));
}

int bpf_program_run(int program, const uint64_t *arguments, unsigned int count)
{
	struct prog_run run = {.program = (uint32_t)program,
			       .context_size = count * (uint32_t)sizeof(*arguments),
			       .context = (uintptr_t)arguments};

	if (bpf_call(BPF_RUN, &run, sizeof(run)) < 0)
		return -1;
	return (int)run.result;
}
