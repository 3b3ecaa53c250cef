/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
#include "kvm/bpf/emit.h"

#define SCRATCH (-8) /* place on the stack */

#define ANON_INODE_MAGIC 0x09041934	    /* include/uapi/linux/magic.h */
#define KVM_VCPU	 0x757063762d6d766b /* "kvm-vcpu" */
#define VM_VCPU		 0x3a757063762d6d76 /* "vm-vcpu:" */

void emit(struct bpf_program *program, uint8_t code, unsigned int to, unsigned int from,
	  int32_t offset, int32_t number)
{
	if (program->count == PROGRAM_MAX)
		program->is_full = true;
	else
		program->insn[program->count++] = (struct bpf_insn_word){
			code, (uint8_t)(to | from << 4), (int16_t)offset, number};
}

uint32_t emit_jump(struct bpf_program *program, uint8_t code, unsigned int to,
		   unsigned int from, int32_t number)
{
	emit(program, code, to, from, 0, number);
	return program->count - 1;
}

void jump_ends_here(struct bpf_program *program, uint32_t jump)
{
	program->insn[jump].offset = (int16_t)(program->count - jump - 1);
}

void emit_long(struct bpf_program *program, unsigned int to, unsigned int kind,
	       uint64_t number)
{
	emit(program, LOAD_LONG, to, kind, 0, (int32_t)(uint32_t)number);
	emit(program, 0, 0, 0, 0, (int32_t)(uint32_t)(number >> 32));
}

void emit_exit(struct bpf_program *program, int32_t result)
{
	emit(program, MOVE_NUMBER, 0, 0, 0, result);
	emit(program, EXIT, 0, 0, 0, 0);
}

void emit_check(struct bpf_program *program, uint8_t condition, unsigned int to,
		unsigned int from, int32_t number)
{
	uint32_t good = emit_jump(program, condition, to, from, number);

	emit_exit(program, (int32_t)program->count);
	jump_ends_here(program, good);
}

void emit_read(struct bpf_program *program, unsigned int to, int32_t place, int32_t size,
	       unsigned int from, int32_t offset)
{
	emit(program, MOVE, 3, from, 0, 0);
	emit(program, ADD_NUMBER, 3, 0, 0, offset);
	emit(program, MOVE, 1, to, 0, 0);
	emit(program, ADD_NUMBER, 1, 0, 0, place);
	emit(program, MOVE_NUMBER, 2, 0, 0, size);
	emit(program, CALL, 0, 0, 0, READ_KERNEL);
}

void emit_fetch(struct bpf_program *program, unsigned int to, int32_t size,
		unsigned int from, int32_t offset)
{
	emit(program, STORE_NUMBER, FRAME, 0, SCRATCH, 0);
	emit_read(program, FRAME, SCRATCH, size, from, offset);
	emit(program, LOAD, to, FRAME, SCRATCH, 0);
}

void emit_follow(struct bpf_program *program, unsigned int to, unsigned int from,
		 int32_t offset)
{
	emit_fetch(program, to, 8, from, offset);
	emit_check(program, IF_UNEQUAL_TO, to, 0, 0);
}

void emit_vcpu(struct bpf_program *program, const struct kernel_layout *layout)
{
	const int32_t *offset = layout->offset;

	emit(program, CALL, 0, 0, 0, CURRENT_TASK);
	emit_follow(program, 8, 0, offset[TASK_FILES]);
	emit_follow(program, 8, 8, offset[FILES_TABLE]);
	emit_fetch(program, 9, 4, 8, offset[TABLE_SIZE]);
	emit_check(program, IF_LESS, 6, 9, 0);
	emit_follow(program, 8, 8, offset[TABLE_FILES]);
	emit(program, MULTIPLY, 6, 0, 0, 8);
	emit(program, ADD, 8, 6, 0, 0);
	emit_follow(program, 8, 8, 0);
	/* Only the kernel names files of this file system. */
	emit_follow(program, 9, 8, offset[FILE_DENTRY]);
	emit_follow(program, 7, 9, offset[DENTRY_SUPER]);
	emit_fetch(program, 7, 8, 7, offset[SUPER_MAGIC]);
	emit_check(program, IF_EQUAL_TO, 7, 0, ANON_INODE_MAGIC);
	emit_follow(program, 9, 9, offset[DENTRY_NAME]);
	emit_fetch(program, 7, 8, 9, 0);
	emit_long(program, 1, 0, KVM_VCPU);
	emit_check(program, IF_EQUAL, 7, 1, 0);
	emit_fetch(program, 7, 8, 9, 1);
	emit_long(program, 1, 0, VM_VCPU);
	emit_check(program, IF_EQUAL, 7, 1, 0);
	emit_follow(program, 7, 8, offset[FILE_PRIVATE]);
}
