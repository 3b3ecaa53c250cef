/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/cfi/parts.h"

/* Call frame instructions (DWARF, sections 6.4.2 and 7.24; the GNU ones: LSB Core 5.0,
 * section 10.5; AArch64: DWARF for the Arm 64-bit Architecture, section 4.4.1). */

/* In the upper two bits, with an operand in the others: */
enum {
	CFA_ADVANCE_LOC = 1,
	CFA_OFFSET,
	CFA_RESTORE,
};

enum {
	CFA_NOP,
	CFA_SET_LOC,
	CFA_ADVANCE_LOC1,
	CFA_ADVANCE_LOC2,
	CFA_ADVANCE_LOC4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER_STATE,
	CFA_RESTORE_STATE,
	CFA_DEF_CFA,
	CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_MIPS_ADVANCE_LOC8 = 0x1d,
	CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_AARCH64_NEGATE_RA_STATE = 0x2d,
	CFA_GNU_ARGS_SIZE,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED,
};

/* Compilers use one level. */
#define REMEMBERED_MAX 16

struct run {
	const struct cfi_section *section;
	const struct cfi_common *common;
	const struct cfi_function *function; /* NULL: of a common entry */
	struct cursor code;
	uint64_t at; /* the row applies from here on */
	struct cfi_row row;
	struct cfi_row remembered[REMEMBERED_MAX];
	unsigned int depth;
	enum cfi_result result;
};

/* Returns the row's place of register @reg; NULL if rules don't need it. */
static struct cfi_place *place_of(const struct run *run, struct cfi_row *row,
				  uint64_t reg)
{
	if (reg == run->common->caller)
		return &row->caller;
	if (reg == run->section->machine->fp)
		return &row->fp;
	if (reg == run->section->machine->sp)
		return &row->sp;
	return NULL;
}

static void set_place(struct run *run, uint64_t reg, struct cfi_place place)
{
	struct cfi_place *to = place_of(run, &run->row, reg);

	if (to)
		*to = place;
}

static int64_t scale_offset(const struct run *run, int64_t factored)
{
	return (int64_t)((uint64_t)factored * (uint64_t)run->common->data_factor);
}

static void set_offset(struct run *run, uint64_t reg, int64_t factored)
{
	set_place(run, reg,
		  (struct cfi_place){.kind = PLACE_CFA,
				     .offset = scale_offset(run, factored)});
}

/* Sets the place of a register at an address that an expression computes. */
static void set_expression(struct run *run, uint64_t reg)
{
	struct cfi_value value = cfi_evaluate(
		cursor_take(&run->code, cursor_varint(&run->code)), true);
	struct cfi_place place = {PLACE_OTHER, value.reg, value.offset};

	if (value.kind == VALUE_CFA)
		place.kind = PLACE_CFA;
	if (value.kind == VALUE_REGISTER)
		place.kind = PLACE_FROM;
	set_place(run, reg, place);
}

/* DW_CFA_def_cfa_register and _offset need a CFA that is a register and an offset (DWARF,
 * section 6.4.2.2). */
static void set_cfa_register(struct run *run, uint64_t reg)
{
	if (run->row.cfa.kind != VALUE_REGISTER)
		run->row.cfa.kind = VALUE_UNKNOWN;
	run->row.cfa.reg = reg;
}

static void set_cfa_offset(struct run *run, int64_t offset)
{
	if (run->row.cfa.kind != VALUE_REGISTER)
		run->row.cfa.kind = VALUE_UNKNOWN;
	run->row.cfa.offset = offset;
}

static void set_cfa(struct run *run, uint64_t reg, int64_t offset)
{
	run->row.cfa = (struct cfi_value){
		.kind = VALUE_REGISTER, .reg = reg, .offset = offset};
}

static void restore_place(struct run *run, uint64_t reg)
{
	struct cfi_row first = run->common->row;
	const struct cfi_place *place = place_of(run, &first, reg);

	if (place)
		set_place(run, reg, *place);
}

/* Adds the row up to @to, where the next one starts. */
static bool end_row(struct run *run, uint64_t to)
{
	if (to > run->function->end)
		to = run->function->end;
	run->result = cfi_add_row(run->function, &run->row, run->at, to);
	run->at = to;
	return run->result == CFI_DONE && run->at < run->function->end;
}

/* Moves on by @factored units of code; false at the end of the function. */
static bool advance_row(struct run *run, uint64_t factored)
{
	uint64_t distance, to;

	if (!run->function) { /* common entries have no addresses */
		run->result = CFI_DAMAGED;
		return false;
	}
	if (!factored)
		return true;
	if (__builtin_mul_overflow(factored, run->common->code_factor, &distance) ||
	    __builtin_add_overflow(run->at, distance, &to))
		to = UINT64_MAX;
	return end_row(run, to);
}

static bool set_location(struct run *run)
{
	uint64_t to;

	if (!run->function ||
	    !cfi_address(run->section, &run->code, run->common->encoding, &to) ||
	    to < run->at) {
		run->result = CFI_DAMAGED;
		return false;
	}
	return to == run->at || end_row(run, to);
}

static bool remember_row(struct run *run)
{
	if (run->depth == REMEMBERED_MAX)
		return false;
	run->remembered[run->depth++] = run->row;
	return true;
}

static bool recall_row(struct run *run)
{
	if (!run->depth)
		return false;
	run->row = run->remembered[--run->depth];
	return true;
}

/* Runs an instruction that describes a register's place; false if @op is none. */
static bool run_place_instruction(struct run *run, uint8_t op)
{
	struct cursor *code = &run->code;
	uint64_t reg;

	switch (op) {
	case CFA_OFFSET_EXTENDED:
	case CFA_OFFSET_EXTENDED_SF:
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		reg = cursor_varint(code);
		if (op == CFA_OFFSET_EXTENDED)
			set_offset(run, reg, (int64_t)cursor_varint(code));
		else if (op == CFA_OFFSET_EXTENDED_SF)
			set_offset(run, reg, cfi_signed(code));
		else
			set_offset(run, reg, (int64_t)(0 - cursor_varint(code)));
		return true;
	case CFA_RESTORE_EXTENDED:
		restore_place(run, cursor_varint(code));
		return true;
	case CFA_UNDEFINED:
		set_place(run, cursor_varint(code), (struct cfi_place){PLACE_LOST, 0, 0});
		return true;
	case CFA_SAME_VALUE:
		set_place(run, cursor_varint(code), (struct cfi_place){PLACE_SAME, 0, 0});
		return true;
	case CFA_EXPRESSION:
		set_expression(run, cursor_varint(code));
		return true;
	case CFA_REGISTER:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
	case CFA_VAL_EXPRESSION:
		reg = cursor_varint(code);
		if (op == CFA_VAL_EXPRESSION)
			cursor_take(code, cursor_varint(code));
		else if (op == CFA_VAL_OFFSET_SF)
			cfi_signed(code);
		else
			cursor_varint(code);
		set_place(run, reg, (struct cfi_place){PLACE_OTHER, 0, 0});
		return true;
	}
	return false;
}

/* Runs an instruction that defines the CFA; false if @op is none. */
static bool run_cfa_instruction(struct run *run, uint8_t op)
{
	struct cursor *code = &run->code;
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = cursor_varint(code);
		set_cfa(run, reg, (int64_t)cursor_varint(code));
		return true;
	case CFA_DEF_CFA_SF:
		reg = cursor_varint(code);
		set_cfa(run, reg, scale_offset(run, cfi_signed(code)));
		return true;
	case CFA_DEF_CFA_REGISTER:
		set_cfa_register(run, cursor_varint(code));
		return true;
	case CFA_DEF_CFA_OFFSET:
		set_cfa_offset(run, (int64_t)cursor_varint(code));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa_offset(run, scale_offset(run, cfi_signed(code)));
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		run->row.cfa = cfi_evaluate(cursor_take(code, cursor_varint(code)),
					    false);
		return true;
	}
	return false;
}

/* Runs any other instruction. False at the end of the function, or if it is damaged. */
static bool run_other_instruction(struct run *run, uint8_t op)
{
	struct cursor *code = &run->code;
	bool is_valid = true;

	switch (op) {
	case CFA_NOP:
	case CFA_AARCH64_NEGATE_RA_STATE: /* codes in return addresses are removed */
		return true;
	case CFA_SET_LOC:
		return set_location(run);
	case CFA_ADVANCE_LOC1:
		return advance_row(run, cfi_fixed(code, 1));
	case CFA_ADVANCE_LOC2:
		return advance_row(run, cfi_fixed(code, 2));
	case CFA_ADVANCE_LOC4:
		return advance_row(run, cfi_fixed(code, 4));
	case CFA_MIPS_ADVANCE_LOC8:
		return advance_row(run, cfi_fixed(code, 8));
	case CFA_REMEMBER_STATE:
		is_valid = remember_row(run);
		break;
	case CFA_RESTORE_STATE:
		is_valid = recall_row(run);
		break;
	case CFA_GNU_ARGS_SIZE:
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		if (op == CFA_GNU_ARGS_SIZE)
			cursor_varint(code);
		break;
	default:
		is_valid = false;
	}
	if (!is_valid)
		run->result = CFI_DAMAGED;
	return is_valid;
}

/* Runs one instruction. False at the end of the function, or if something is wrong. */
static bool run_instruction(struct run *run)
{
	uint8_t op = *run->code.at++;

	switch (op >> 6) {
	case CFA_ADVANCE_LOC:
		return advance_row(run, op & 0x3f);
	case CFA_OFFSET:
		set_offset(run, op & 0x3f, (int64_t)cursor_varint(&run->code));
		return true;
	case CFA_RESTORE:
		restore_place(run, op & 0x3f);
		return true;
	}
	return run_cfa_instruction(run, op) || run_place_instruction(run, op) ||
	       run_other_instruction(run, op);
}

static enum cfi_result run_instructions(struct run *run)
{
	while (run->code.at != run->code.end) {
		bool goes_on = run_instruction(run);

		if (run->code.failed)
			return CFI_DAMAGED;
		if (!goes_on)
			break;
	}
	return run->result;
}

bool cfi_run_common(const struct cfi_section *section, struct cfi_common *common,
		    struct cursor code)
{
	struct run run = {.section = section, .common = common, .code = code};

	if (run_instructions(&run) != CFI_DONE)
		return false;
	common->row = run.row;
	return true;
}

enum cfi_result cfi_run(const struct cfi_function *function, struct cursor code)
{
	struct run run = {
		.section = function->section,
		.common = function->common,
		.function = function,
		.code = code,
		.at = function->start,
		.row = function->common->row,
	};
	enum cfi_result result = run_instructions(&run);

	if (result == CFI_DONE && run.at < function->end)
		end_row(&run, function->end);
	return result == CFI_DONE ? run.result : result;
}
