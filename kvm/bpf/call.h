/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_BPF_CALL_H
#define UNIPROF_KVM_BPF_CALL_H

#include <stddef.h>
#include <stdint.h>

/*
 * bpf(2), as far as it is needed (Linux, include/uapi/linux/bpf.h, which older systems
 * lack). Results are -1 with errno set on failure.
 */

/* The command that runs a program, BPF_PROG_TEST_RUN. */
#define BPF_RUN 10

struct bpf_insn_word {
	uint8_t code;
	uint8_t registers; /* the destination in the lower half, the source in the upper
			    */
	int16_t offset;
	int32_t number;
};

/* Makes memory of @size bytes, zeroed, that only programs can write, and returns its
 * descriptor (Linux 5.2). With @visible, it can be mapped by bpf_memory_map()
 * (Linux 5.5). */
int bpf_memory_new(uint32_t size, int visible);
/* Maps such memory, read-only; NULL with errno set on failure. */
const void *bpf_memory_map(int memory, size_t size);

/* Makes an array of @count such memories, visible, one after another. @writable: this
 * process may write it, too. */
int bpf_array_new(uint32_t size, uint32_t count, int writable);
/* Maps an array of @size bytes; for writing, too, if it is writable. */
void *bpf_array_map(int array, size_t size, int writable);

/* Has the kernel check and translate a program under @license. It is attached to nothing,
 * and its descriptor is returned (Linux 5.10). */
int bpf_program_load(const struct bpf_insn_word *insns, uint32_t count,
		     const char *license);
/* Maximum number of a program's arguments. */
#define BPF_ARGUMENTS 12

/* Runs a program once, in the calling thread's context, with @count arguments, which must
 * be at least those that it uses. Returns its result. */
int bpf_program_run(int program, const uint64_t *arguments, unsigned int count);

/* As bpf_program_load(), for a program that events of perf_event_open(2) run. Its name
 * is @name. The reason of a refusal is in @log, of @size bytes, unless @log is NULL. */
int bpf_event_program_load(const struct bpf_insn_word *insns, uint32_t count,
			   const char *license, const char *name, char *log, size_t size);
/* Has the event run the program, which learns the @cookie, as long as the returned
 * descriptor is open (Linux 5.15). */
int bpf_event_link(int program, int event, uint64_t cookie);

#endif
