/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
#include "kvm/bpf/programs.h"

#include <errno.h>
#include <stddef.h>

#include "kvm/bpf/emit.h"

/* Places on the stack. */
#define INDEX	 (-16)
#define COUNTER	 (-24)
#define VM	 (-32)
#define NEW_SLOT (-56)			    /* a struct kernel_slot */
#define CONTEXT	 (-16)			    /* the program's arguments */
#define TRAPS	 (-24)			    /* HCR_EL2 */
#define VCPUS	 (TRAPS - 8 * KERNEL_BATCH) /* addresses of the VM's vCPUs */
#define SYSTEMS \
	(VCPUS - 8 * KERNEL_SYSTEMS_SPAN) /* system registers, and others between */

/* KVM_MP_STATE_STOPPED (Linux, include/uapi/linux/kvm.h). */
#define STATE_STOPPED 5

/* Steps of the walk over slots in one run: the kernel checks each of them. */
#define STEPS 64

/* Reads the number of the thread in register 8 (struct pid), as the running thread sees
 * it, to the memory in register 6. A thread of another pid namespace, which is not below,
 * has none. */
static void emit_tid(struct bpf_program *program, const struct kernel_layout *layout)
{
	const int32_t *offset = layout->offset;
	uint32_t is_above, is_other;

	emit(program, STORE_32, 6, 0, offsetof(struct kernel_vcpu, tid), -1);
	emit(program, CALL, 0, 0, 0, CURRENT_TASK);
	emit_follow(program, 9, 0, offset[TASK_PID]);
	emit_fetch(program, 7, 4, 9, offset[PID_LEVEL]);
	emit_fetch(program, 1, 4, 8, offset[PID_LEVEL]);
	is_above = emit_jump(program, IF_LESS, 1, 7, 0);
	/* pid->numbers[level of the running thread's own namespace] of both. */
	emit(program, MULTIPLY, 7, 0, 0, (int32_t)layout->upid_size);
	emit(program, ADD, 9, 7, 0, 0);
	emit(program, ADD, 8, 7, 0, 0);
	emit_follow(program, 9, 9, offset[PID_NUMBERS] + offset[UPID_SPACE]);
	emit_follow(program, 7, 8, offset[PID_NUMBERS] + offset[UPID_SPACE]);
	is_other = emit_jump(program, IF_EQUAL, 7, 9, 0);
	emit_exit(program, PROGRAM_DONE);
	jump_ends_here(program, is_other);
	emit_read(program, 6, offsetof(struct kernel_vcpu, tid), 4, 8,
		  offset[PID_NUMBERS] + offset[UPID_NUMBER]);
	jump_ends_here(program, is_above);
	emit_exit(program, PROGRAM_DONE);
}

/* Sets the memory in register 6 to @why a vCPU's registers can't be read if a member of
 * @size bytes, in the struct in register @from, is not 0. */
static void emit_hidden(struct bpf_program *program, const struct kernel_layout *layout,
			unsigned int from, enum kernel_member member, int32_t size,
			int32_t why)
{
	const int32_t place = offsetof(struct kernel_vcpu, hidden);
	uint32_t is_not;

	if (!layout->offset[member])
		return;
	emit_fetch(program, 9, size, from, layout->offset[member]);
	is_not = emit_jump(program, IF_EQUAL_TO, 9, 0, 0);
	emit(program, STORE_32, 6, 0, place, why);
	jump_ends_here(program, is_not);
}

void program_look(struct bpf_program *program, const struct kernel_layout *layout,
		  int vcpu)
{
	const int32_t *offset = layout->offset;
	uint32_t has_run;

	*program = (struct bpf_program){.count = 0};
	emit(program, LOAD, 6, 1, 0, 0);
	emit_vcpu(program, layout);
	emit_long(program, 6, MEMORY, (uint32_t)vcpu);
	emit(program, STORE_32, 6, 0, offsetof(struct kernel_vcpu, tid), 0);
	emit(program, STORE_32, 6, 0, offsetof(struct kernel_vcpu, hidden), 0);
	emit_follow(program, 8, 7, offset[VCPU_VM]);
	emit(program, STORE_NUMBER, 6, 0, offsetof(struct kernel_vcpu, exits), -1);
	if (offset[VCPU_EXITS])
		emit_read(program, 6, offsetof(struct kernel_vcpu, exits), 8, 7,
			  offset[VCPU_EXITS]);
	emit(program, STORE_32, 6, 0, offsetof(struct kernel_vcpu, index), 0);
	if (offset[VCPU_INDEX])
		emit_read(program, 6, offsetof(struct kernel_vcpu, index), 4, 7,
			  offset[VCPU_INDEX]);
	emit_hidden(program, layout, 7, VCPU_NESTED, 8, VCPU_IS_NESTED);
	emit_hidden(program, layout, 8, VM_PROTECTED, 1, VCPU_IS_PROTECTED);
	emit_hidden(program, layout, 8, VM_ENABLED, 1, VCPU_IS_PROTECTED);
	emit_hidden(program, layout, 8, VM_REALM, 1, VCPU_IS_PROTECTED);
	emit_follow(program, 8, 8, offset[VM_SLOTS]);
	emit_read(program, 6, offsetof(struct kernel_vcpu, generation), 8, 8,
		  offset[SLOTS_GENERATION]);
	emit_fetch(program, 8, 8, 7, offset[VCPU_PID]);
	has_run = emit_jump(program, IF_UNEQUAL_TO, 8, 0, 0);
	emit_exit(program, PROGRAM_DONE);
	jump_ends_here(program, has_run);
	emit_tid(program, layout);
}

/* Reads whether the vCPU in register 7 is off to the memory in register 6, where it is
 * not yet. */
static void emit_is_off(struct bpf_program *program, const struct kernel_layout *layout)
{
	bool has_state = layout->offset[VCPU_STATE] != 0;
	uint32_t is_on;

	if (has_state)
		emit_fetch(program, 8, 4, 7, layout->offset[VCPU_STATE]);
	else
		emit_fetch(program, 8, 1, 7, layout->offset[VCPU_OFF]);
	is_on = emit_jump(program, IF_UNEQUAL_TO, 8, 0, has_state ? STATE_STOPPED : 1);
	emit(program, STORE_NUMBER, 6, 0, offsetof(struct kernel_registers, is_off), 1);
	jump_ends_here(program, is_on);
}

/* Reads the system registers of the vCPU in register 7 to the memory in register 6. Those
 * that are close together are read at once: it is the number of reads that costs. */
static void emit_systems(struct bpf_program *program, const struct kernel_layout *layout)
{
	const int32_t place = offsetof(struct kernel_registers, system),
		      from = layout->offset[VCPU_SYSTEM] + layout->system_start;

	if (layout->system_size)
		emit_read(program, FRAME, SYSTEMS, layout->system_size, 7, from);
	for (int32_t i = 0; i < KERNEL_SYSTEMS; i++) {
		int32_t inside = layout->system[i] - layout->system_start;

		if (inside < 0 || inside >= layout->system_size) {
			emit_read(program, 6, place + 8 * i, 8, 7,
				  layout->offset[VCPU_SYSTEM] + layout->system[i]);
			continue;
		}
		emit(program, LOAD, 1, FRAME, SYSTEMS + inside, 0);
		emit(program, STORE, 6, 1, place + 8 * i, 0);
	}
}

/* Reads the vCPU in register 7, the @i-th of a batch, to the memory in register 6. Each
 * read costs: a vCPU whose thread is stopped is not off, nor will it run meanwhile. */
static void emit_registers(struct bpf_program *program,
			   const struct kernel_layout *layout, int32_t i)
{
	const int32_t *offset = layout->offset;
	int32_t awake = 1 << (KERNEL_BATCH + i);
	uint32_t is_awake, goes_on;

	emit(program, STORE_NUMBER, 6, 0, offsetof(struct kernel_registers, is_off), 0);
	is_awake = emit_jump(program, IF_HAS, 9, 0, awake);
	emit(program, STORE_32, 6, 0, offsetof(struct kernel_registers, before), -1);
	goes_on = emit_jump(program, JUMP, 0, 0, 0);
	jump_ends_here(program, is_awake);
	emit_read(program, 6, offsetof(struct kernel_registers, before), 4, 7,
		  offset[VCPU_CPU]);
	emit_is_off(program, layout);
	jump_ends_here(program, goes_on);
	emit_read(program, 6, 0, offsetof(struct kernel_registers, system), 7,
		  offset[VCPU_REGISTERS]);
	emit_systems(program, layout);
	emit(program, LOAD, 1, FRAME, TRAPS, 0);
	emit(program, STORE, 6, 1, offsetof(struct kernel_registers, traps), 0);
	emit_read(program, 6, offsetof(struct kernel_registers, after), 4, 7,
		  offset[VCPU_CPU]);
}

/* Sets register 8 to the node of an XArray whose entry is in register 8. */
static void emit_node(struct bpf_program *program)
{
	emit(program, MOVE, 1, 8, 0, 0);
	emit(program, AND_NUMBER, 1, 0, 0, 3);
	emit_check(program, IF_EQUAL_TO, 1, 0, 2);
	emit(program, ADD_NUMBER, 8, 0, 0, -2);
}

/*
 * Reads the addresses of the VM's vCPUs, from the index in register 6 on, from the tree
 * whose entry is in register 8: the only vCPU itself, or a node of 64 slots. Two levels
 * of nodes have room for all vCPUs that arm64 allows, 512.
 */
static void emit_tree(struct bpf_program *program, const struct kernel_layout *layout)
{
	const int32_t *offset = layout->offset;
	uint32_t is_node, is_single, is_leaf;

	emit(program, MOVE, 1, 8, 0, 0);
	emit(program, AND_NUMBER, 1, 0, 0, 3);
	is_node = emit_jump(program, IF_UNEQUAL_TO, 1, 0, 0);
	emit(program, STORE, FRAME, 8, VCPUS, 0);
	is_single = emit_jump(program, JUMP, 0, 0, 0);
	jump_ends_here(program, is_node);
	emit_node(program);
	emit_fetch(program, 7, 1, 8, offset[NODE_SHIFT]);
	is_leaf = emit_jump(program, IF_EQUAL_TO, 7, 0, 0);
	emit_check(program, IF_EQUAL_TO, 7, 0, 6);
	emit(program, MOVE, 7, 6, 0, 0);
	emit(program, AND_NUMBER, 7, 0, 0, 63 * 64);
	emit(program, DIVIDE, 7, 0, 0, 8);
	emit(program, ADD, 8, 7, 0, 0);
	emit_follow(program, 8, 8, offset[NODE_SLOTS]);
	emit_node(program);
	jump_ends_here(program, is_leaf);
	emit(program, AND_NUMBER, 6, 0, 0, 64 - KERNEL_BATCH);
	emit(program, MULTIPLY, 6, 0, 0, 8);
	emit(program, ADD, 8, 6, 0, 0);
	emit_read(program, FRAME, VCPUS, 8 * KERNEL_BATCH, 8, offset[NODE_SLOTS]);
	jump_ends_here(program, is_single);
}

/* Reads the addresses of vCPUs of the VM of the vCPU in register 7, all at once, and sets
 * register 9 to the bits of the vCPUs that are asked for, which must exist. A VM's
 * vCPUs exist as long as the VM. Changes all others. */
static void emit_vcpus(struct bpf_program *program, const struct kernel_layout *layout)
{
	const int32_t *offset = layout->offset;
	uint32_t has_all;

	emit(program, STORE_NUMBER, FRAME, 0, TRAPS, 0);
	emit_read(program, FRAME, TRAPS, 8, 7, offset[VCPU_TRAPS]);
	emit_follow(program, 8, 7, offset[VCPU_VM]);
	emit_fetch(program, 7, 4, 8, offset[VM_ONLINE]);
	emit(program, LOAD, 1, FRAME, CONTEXT, 0);
	emit(program, LOAD, 6, 1, 8, 0);
	emit(program, LOAD, 9, 1, 16, 0);
	emit(program, AND_NUMBER, 9, 0, 0, (1 << KERNEL_BATCH) - 1);
	emit_check(program, IF_LESS, 6, 7, 0);
	emit(program, SUBTRACT, 7, 6, 0, 0);
	has_all = emit_jump(program, IF_NOT_BELOW, 7, 0, KERNEL_BATCH);
	emit(program, MOVE, 1, 9, 0, 0);
	emit(program, SHIFT_RIGHT, 1, 7, 0, 0);
	emit_check(program, IF_EQUAL_TO, 1, 0, 0);
	jump_ends_here(program, has_all);
	if (offset[VM_TREE]) {
		emit_fetch(program, 8, 8, 8, offset[VM_TREE]);
		emit_tree(program, layout);
	} else {
		emit(program, MULTIPLY, 6, 0, 0, 8);
		emit(program, ADD, 8, 6, 0, 0);
		emit_read(program, FRAME, VCPUS, 8 * KERNEL_BATCH, 8, offset[VM_VCPUS]);
	}
	emit(program, LOAD, 1, FRAME, CONTEXT, 0);
	emit(program, LOAD, 1, 1, 24, 0);
	emit(program, MULTIPLY, 1, 0, 0, 1 << KERNEL_BATCH);
	emit(program, ADD, 9, 1, 0, 0);
}

/* Not a loop, which old kernels would have to be convinced of. */
void program_registers(struct bpf_program *program, const struct kernel_layout *layout,
		       int registers)
{
	const int32_t size = sizeof(struct kernel_registers);

	*program = (struct bpf_program){.count = 0};
	emit(program, STORE, FRAME, 1, CONTEXT, 0);
	for (int32_t i = 0; i < KERNEL_BATCH; i++)
		emit(program, STORE_NUMBER, FRAME, 0, VCPUS + 8 * i, 0);
	emit(program, LOAD, 6, 1, 0, 0);
	emit_vcpu(program, layout);
	emit_vcpus(program, layout);
	for (int32_t i = 0; i < KERNEL_BATCH; i++) {
		uint32_t is_asked = emit_jump(program, IF_HAS, 9, 0, 1 << i), is_not;

		is_not = emit_jump(program, JUMP, 0, 0, 0);
		jump_ends_here(program, is_asked);
		emit(program, LOAD, 7, FRAME, VCPUS + 8 * i, 0);
		emit_check(program, IF_UNEQUAL_TO, 7, 0, 0);
		emit_long(program, 6, MEMORY,
			  (uint64_t)(uint32_t)(i * size) << 32 | (uint32_t)registers);
		emit_registers(program, layout, i);
		jump_ends_here(program, is_not);
	}
	emit_exit(program, PROGRAM_DONE);
}

/* Adds the struct kvm_memory_slot in register 9 to the memory in register 6. */
static void emit_slot(struct bpf_program *program, const struct kernel_layout *layout)
{
	static const enum kernel_member members[] = {SLOT_FRAME, SLOT_PAGES,
						     SLOT_ADDRESS};
	uint32_t has_room;

	for (int32_t i = 0; i < 3; i++)
		emit_read(program, FRAME, NEW_SLOT + 8 * i, 8, 9,
			  layout->offset[members[i]]);
	emit(program, LOAD, 2, 6, offsetof(struct kernel_slots, count), 0);
	has_room = emit_jump(program, IF_LESS_THAN, 2, 0, KERNEL_SLOTS_MAX);
	emit_exit(program, PROGRAM_TOO_MANY);
	jump_ends_here(program, has_room);
	emit(program, MOVE, 1, 2, 0, 0);
	emit(program, ADD_NUMBER, 1, 0, 0, 1);
	emit(program, STORE, 6, 1, offsetof(struct kernel_slots, count), 0);
	emit(program, MULTIPLY, 2, 0, 0, sizeof(struct kernel_slot));
	emit(program, MOVE, 1, 6, 0, 0);
	emit(program, ADD, 1, 2, 0, 0);
	for (int32_t i = 0; i < 3; i++) {
		emit(program, LOAD, 2, FRAME, NEW_SLOT + 8 * i, 0);
		emit(program, STORE, 1, 2,
		     (int32_t)offsetof(struct kernel_slots, slot) + 8 * i, 0);
	}
}

/* Takes the number of the next list or slot to register 9. Returns a jump that is taken
 * if it is @count, or what is in register 1 if @count is 0: there is none. */
static uint32_t emit_next(struct bpf_program *program, uint32_t count)
{
	uint32_t is_last, goes_on;

	emit(program, LOAD, 9, 7, offsetof(struct kernel_walk, next), 0);
	if (count)
		return emit_jump(program, IF_NOT_BELOW, 9, 0, (int32_t)count);
	goes_on = emit_jump(program, IF_LESS, 9, 1, 0);
	is_last = emit_jump(program, JUMP, 0, 0, 0);
	jump_ends_here(program, goes_on);
	return is_last;
}

static void emit_advance(struct bpf_program *program)
{
	emit(program, MOVE, 1, 9, 0, 0);
	emit(program, ADD_NUMBER, 1, 0, 0, 1);
	emit(program, STORE, 7, 1, offsetof(struct kernel_walk, next), 0);
}

/* A step through the hash table: a slot, or the start of the next list. A slot is in the
 * lists of two tables, of which one is in use. Returns a jump that ends the walk. */
static uint32_t emit_hash_step(struct bpf_program *program,
			       const struct kernel_layout *layout)
{
	const int32_t *offset = layout->offset;
	uint32_t has_slot, is_last, is_list;

	emit(program, LOAD, 9, 7, offsetof(struct kernel_walk, node), 0);
	has_slot = emit_jump(program, IF_UNEQUAL_TO, 9, 0, 0);
	is_last = emit_next(program, layout->buckets);
	emit_advance(program);
	emit(program, MULTIPLY, 9, 0, 0, 8);
	emit(program, ADD, 9, 8, 0, 0);
	emit_read(program, 7, offsetof(struct kernel_walk, node), 8, 9,
		  offset[SLOTS_HASH]);
	is_list = emit_jump(program, JUMP, 0, 0, 0);
	jump_ends_here(program, has_slot);
	emit(program, LOAD, 1, FRAME, INDEX, 0);
	emit(program, SUBTRACT, 9, 1, 0, 0);
	emit(program, ADD_NUMBER, 9, 0, 0, -offset[SLOT_NODES]);
	emit_slot(program, layout);
	emit(program, LOAD, 1, FRAME, INDEX, 0);
	emit(program, ADD, 9, 1, 0, 0);
	emit_read(program, 7, offsetof(struct kernel_walk, node), 8, 9,
		  offset[SLOT_NODES]);
	jump_ends_here(program, is_list);
	return is_last;
}

/* A step through the array. Returns a jump that ends the walk. */
static uint32_t emit_array_step(struct bpf_program *program,
				const struct kernel_layout *layout)
{
	uint32_t is_last;

	emit(program, LOAD, 1, FRAME, INDEX, 0);
	is_last = emit_next(program, 0);
	emit_advance(program);
	emit(program, MULTIPLY, 9, 0, 0, (int32_t)layout->slot_size);
	emit(program, ADD, 9, 8, 0, 0);
	emit(program, ADD_NUMBER, 9, 0, 0, layout->offset[SLOTS_ARRAY]);
	emit_slot(program, layout);
	return is_last;
}

/* Ends the program if the generation in register 9 is not that of the memory in register
 * 6. */
static void emit_same(struct bpf_program *program)
{
	uint32_t is_same;

	emit(program, LOAD, 1, 6, offsetof(struct kernel_slots, generation), 0);
	is_same = emit_jump(program, IF_EQUAL, 1, 9, 0);
	emit_exit(program, PROGRAM_CHANGED);
	jump_ends_here(program, is_same);
}

/* Begins, with the second argument 0, or continues. Sets registers 6 and 7 to both
 * memories and 8 to struct kvm_memslots. */
static void emit_begin(struct bpf_program *program, const struct kernel_layout *layout,
		       int slots, int walk)
{
	const int32_t *offset = layout->offset;
	bool is_hash = layout->buckets != 0;
	uint32_t continues;

	emit(program, LOAD, 6, 1, 0, 0);
	emit(program, LOAD, 2, 1, 8, 0);
	emit(program, STORE, FRAME, 2, COUNTER, 0);
	emit_vcpu(program, layout);
	emit_follow(program, 8, 7, offset[VCPU_VM]);
	emit(program, STORE, FRAME, 8, VM, 0);
	emit_long(program, 6, MEMORY, (uint32_t)slots);
	emit_long(program, 7, MEMORY, (uint32_t)walk);
	emit_follow(program, 8, 8, offset[VM_SLOTS]);
	emit_fetch(program, 9, 4, 8, offset[is_hash ? SLOTS_INDEX : SLOTS_USED]);
	if (is_hash) {
		emit(program, AND_NUMBER, 9, 0, 0, 1);
		emit(program, MULTIPLY, 9, 0, 0, 16); /* struct hlist_node */
	}
	emit(program, STORE, FRAME, 9, INDEX, 0);
	emit_fetch(program, 9, 8, 8, offset[SLOTS_GENERATION]);
	emit(program, LOAD, 1, FRAME, COUNTER, 0);
	continues = emit_jump(program, IF_UNEQUAL_TO, 1, 0, 0);
	emit(program, STORE_NUMBER, 7, 0, offsetof(struct kernel_walk, node), 0);
	emit(program, STORE_NUMBER, 7, 0, offsetof(struct kernel_walk, next), 0);
	emit(program, STORE_NUMBER, 6, 0, offsetof(struct kernel_slots, count), 0);
	emit(program, STORE, 6, 9, offsetof(struct kernel_slots, generation), 0);
	jump_ends_here(program, continues);
	/* Slots that were seen may have been freed. */
	emit_same(program);
}

void program_slots(struct bpf_program *program, const struct kernel_layout *layout,
		   int slots, int walk)
{
	uint32_t top, is_last;

	*program = (struct bpf_program){.count = 0};
	emit_begin(program, layout, slots, walk);
	emit(program, STORE_NUMBER, FRAME, 0, COUNTER, 0);
	top = program->count;
	is_last = layout->buckets ? emit_hash_step(program, layout)
				  : emit_array_step(program, layout);
	emit(program, LOAD, 1, FRAME, COUNTER, 0);
	emit(program, ADD_NUMBER, 1, 0, 0, 1);
	emit(program, STORE, FRAME, 1, COUNTER, 0);
	/* Older kernels take only conditional jumps backwards. */
	emit(program, IF_LESS_THAN, 1, 0, (int32_t)top - (int32_t)program->count - 1,
	     STEPS);
	emit_exit(program, PROGRAM_MORE);
	jump_ends_here(program, is_last);
	emit(program, LOAD, 8, FRAME, VM, 0);
	emit_follow(program, 8, 8, layout->offset[VM_SLOTS]);
	emit_fetch(program, 9, 8, 8, layout->offset[SLOTS_GENERATION]);
	emit_same(program);
	emit_exit(program, PROGRAM_DONE);
}

/* The kernel's functions are for programs whose license it takes for compatible with the
 * GPL (include/linux/license.h). This file is under both licenses. */
int program_load(const struct bpf_program *program)
{
	if (program->is_full) {
		errno = E2BIG;
		return -1;
	}
	return bpf_program_load(program->insn, program->count, "Dual BSD/GPL");
}
