/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/bpf/call.h"

#include <errno.h>
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

int bpf_memory_new(uint32_t size, int visible)
{
	struct map_create create = {.type = TYPE_ARRAY,
				    .key_size = 4,
				    .value_size = size,
				    .entries = 1,
				    .flags = visible ? F_MMAPABLE : 0};
	struct map_freeze freeze = {0};
	int map = bpf_call(MAP_CREATE, &create, sizeof(create)), errnum;

	if (map < 0)
		return -1;
	freeze.map = (uint32_t)map;
	if (bpf_call(MAP_FREEZE, &freeze, sizeof(freeze)) == 0)
		return map;
	errnum = errno;
	close(map);
	errno = errnum;
	return -1;
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

int bpf_program_run(int program, const uint64_t *arguments, unsigned int count)
{
	struct prog_run run = {.program = (uint32_t)program,
			       .context_size = count * (uint32_t)sizeof(*arguments),
			       .context = (uintptr_t)arguments};

	if (bpf_call(BPF_RUN, &run, sizeof(run)) < 0)
		return -1;
	return (int)run.result;
}
