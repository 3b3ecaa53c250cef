/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "kvm/bpf/emit.h"
#include "kvm/bpf/watch.h"
#include "kvm/bpf/watcher.h"

#define INDEX (-16) /* place on the stack: number of the vCPU */

/* LOAD_LONG's sources for a map, and for a map's value, in the upper half of registers.
 */
#define FROM_MAP   (1 << 4)
#define FROM_VALUE (2 << 4)

static const uint64_t code[] = {
#include "kvm/bpf/watch.inc"
};

#define CODE_COUNT (sizeof(code) / sizeof(code[0]))

/* Makes the program that is given the descriptor of a vCPU and its number, and notes the
 * vCPU's address in struct watch_vcpus. */
void program_note(struct bpf_program *program, const struct kernel_layout *layout,
		  int addresses)
{
	*program = (struct bpf_program){.count = 0};
	emit(program, LOAD, 6, 1, 0, 0);
	emit(program, LOAD, 2, 1, 8, 0);
	emit(program, STORE, FRAME, 2, INDEX, 0);
	emit_vcpu(program, layout);
	emit(program, LOAD, 1, FRAME, INDEX, 0);
	emit_check(program, IF_LESS_THAN, 1, 0, WATCH_VCPUS);
	emit(program, MULTIPLY, 1, 0, 0, 8);
	emit_long(program, 6, MEMORY, (uint32_t)addresses);
	emit(program, ADD, 6, 1, 0, 0);
	emit(program, STORE, 6, 7, 0, 0);
	emit_exit(program, PROGRAM_DONE);
}

void program_peek(struct bpf_program *program, const struct kernel_layout *layout,
		  const struct watch_offsets *offsets, int event)
{
	static const struct {
		enum watch_mark member;
		int32_t place, size;
	} reads[] = {
		{WATCH_VCPU_GENERAL, offsetof(struct watch_event, general),
		 sizeof(((struct watch_event *)0)->general)},
		{WATCH_VCPU_CR0, offsetof(struct watch_event, cr0), 8},
		{WATCH_VCPU_CR3, offsetof(struct watch_event, cr3), 8},
		{WATCH_VCPU_CR4, offsetof(struct watch_event, cr4), 8},
		{WATCH_VCPU_EFER, offsetof(struct watch_event, efer), 8},
	};

	*program = (struct bpf_program){.count = 0};
	emit(program, LOAD, 6, 1, 0, 0);
	emit_vcpu(program, layout);
	emit_long(program, 6, MEMORY, (uint32_t)event);
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		emit_read(program, 6, reads[i].place, reads[i].size, 7,
			  (int32_t)offsets->offset[reads[i].member]);
	emit_fetch(program, 7, 8, 7, (int32_t)offsets->offset[WATCH_VCPU_VMCB]);
	emit_read(program, 6, offsetof(struct watch_event, nested), 8, 7, VMCB_NESTED);
	emit_read(program, 6, offsetof(struct watch_event, segments),
		  sizeof(((struct watch_event *)0)->segments), 7, VMCB_SEGMENTS);
	emit_read(program, 6, offsetof(struct watch_event, saved),
		  sizeof(((struct watch_event *)0)->saved), 7, VMCB_SAVED);
	emit_exit(program, PROGRAM_DONE);
}

/* Replaces a mark in the instruction, which has the lower half of the constant; the next
 * one has the upper half. */
static void replace_mark(struct bpf_insn_word *insn, const struct watch_offsets *offsets,
			 const struct watch_maps *maps)
{
	const int map[] = {[WATCH_RINGS] = maps->rings,
			   [WATCH_PLACES] = maps->places,
			   [WATCH_ADDRESSES] = maps->addresses};
	unsigned int mark = (unsigned int)insn[0].number;

	if (mark >= WATCH_MARKS)
		return;
	insn[1].number = 0;
	if (mark >= WATCH_TASK_PID) {
		insn[0].number = (int32_t)offsets->offset[mark];
		return;
	}
	insn[0].number = map[mark];
	insn[0].registers |= mark == WATCH_RINGS ? FROM_MAP : FROM_VALUE;
}

void program_watch(struct bpf_program *program, const struct watch_offsets *offsets,
		   const struct watch_maps *maps)
{
	_Static_assert(CODE_COUNT <= PROGRAM_MAX, "the program fits");

	*program = (struct bpf_program){.count = CODE_COUNT};
	memcpy(program->insn, code, sizeof(code));
	for (size_t i = 0; i + 1 < CODE_COUNT; i++) {
		if (program->insn[i].code != LOAD_LONG)
			continue;
		if ((uint32_t)program->insn[i + 1].number == WATCH_MARK)
			replace_mark(&program->insn[i], offsets, maps);
		i++;
	}
}

int program_load_watch(const struct bpf_program *program, char *log, size_t size)
{
	return bpf_event_program_load(program->insn, program->count, "Dual BSD/GPL",
				      WATCH_NAME, log, size);
}
