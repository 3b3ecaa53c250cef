/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
#ifndef UNIPROF_KVM_BPF_EMIT_H
#define UNIPROF_KVM_BPF_EMIT_H

#include "kvm/bpf/programs.h"

/* Makes programs of bpf(2), instruction by instruction; for programs only. The last 8
 * bytes of the stack are theirs. */

/* Instructions (Linux, Documentation/bpf/standardization/instruction-set.rst). */
#define ADD_NUMBER    0x07
#define ADD	      0x0f
#define SUBTRACT      0x1f
#define MULTIPLY      0x27
#define AND_NUMBER    0x57
#define SHIFT_RIGHT   0x7f
#define DIVIDE	      0x37
#define MOVE_NUMBER   0xb7
#define MOVE	      0xbf
#define LOAD_LONG     0x18 /* a number of 64 bits, in two words */
#define LOAD	      0x79
#define STORE_32      0x62 /* a number */
#define STORE_NUMBER  0x7a
#define STORE	      0x7b
#define JUMP	      0x05
#define IF_EQUAL      0x1d
#define IF_HAS	      0x45 /* one of the number's bits */
#define IF_UNEQUAL_TO 0x55
#define IF_EQUAL_TO   0x15
#define IF_LESS	      0xad
#define IF_LESS_THAN  0xa5
#define IF_NOT_BELOW  0x35
#define CALL	      0x85
#define EXIT	      0x95
#define MEMORY	      2 /* the source of LOAD_LONG: a map's value (BPF_PSEUDO_MAP_VALUE) */

/* Functions of the kernel (include/uapi/linux/bpf.h). They change registers 0 to 5. */
#define CURRENT_TASK 35	 /* bpf_get_current_task() */
#define READ_KERNEL  113 /* bpf_probe_read_kernel(to, size, from), fills with zeros */

#define FRAME 10 /* register: the end of the stack */

void emit(struct bpf_program *program, uint8_t code, unsigned int to, unsigned int from,
	  int32_t offset, int32_t number);

/* Emits a jump whose end is set by jump_ends_here(), and returns its place. */
uint32_t emit_jump(struct bpf_program *program, uint8_t code, unsigned int to,
		   unsigned int from, int32_t number);

void jump_ends_here(struct bpf_program *program, uint32_t jump);

void emit_long(struct bpf_program *program, unsigned int to, unsigned int kind,
	       uint64_t number);

void emit_exit(struct bpf_program *program, int32_t result);

/* Ends the program, unless the condition is true. The result tells the place. */
void emit_check(struct bpf_program *program, uint8_t condition, unsigned int to,
		unsigned int from, int32_t number);

/* Copies @size bytes from the kernel's address in register @from, plus @offset, to the
 * address in register @to, plus @place. */
void emit_read(struct bpf_program *program, unsigned int to, int32_t place, int32_t size,
	       unsigned int from, int32_t offset);

/* Reads 4 or 8 bytes to a register. */
void emit_fetch(struct bpf_program *program, unsigned int to, int32_t size,
		unsigned int from, int32_t offset);

/* Reads a pointer, which must not be NULL, to a register. */
void emit_follow(struct bpf_program *program, unsigned int to, unsigned int from,
		 int32_t offset);

/* Sets register 7 to the vCPU whose descriptor is in register 6. Changes all others. */
void emit_vcpu(struct bpf_program *program, const struct kernel_layout *layout);

#endif
