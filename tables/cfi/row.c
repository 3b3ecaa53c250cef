/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/cfi/parts.h"

/* From a row of call frame information to a rule of the table. */

/* Whether the number is an offset, not one of the marks UNWIND_KEPT and UNWIND_LOST. */
static bool is_offset(int64_t number)
{
	return number > INT32_MIN && number < INT32_MAX;
}

static const struct unwind_rule unknown = {.kind = UNWIND_UNKNOWN};

/* Sets the register that a rule is relative to; false if it can't be. */
static bool set_base(struct unwind_rule *rule, const struct cfi_machine *machine,
		     uint64_t reg)
{
	rule->from_fp = reg == machine->fp;
	if (rule->from_fp || reg == machine->sp)
		return true;
	if (reg >= machine->other_count)
		return false;
	rule->other = (uint8_t)(machine->others[reg] + 1);
	return true;
}

/* Where the rule's frame pointer is, in a function whose CFA is as in @row. */
static void set_fp(struct unwind_rule *rule, const struct cfi_row *row)
{
	const struct cfi_place *fp = &row->fp;

	rule->fp = UNWIND_LOST;
	if (fp->kind == PLACE_SAME) {
		rule->fp = UNWIND_KEPT;
	} else if (fp->kind == PLACE_CFA && is_offset(fp->offset)) {
		rule->fp = (int32_t)fp->offset;
	} else if (fp->kind == PLACE_FROM && fp->reg == row->cfa.reg &&
		   is_offset(fp->offset)) {
		rule->fp_by_register = true;
		rule->fp = (int32_t)fp->offset;
	}
}

/* Makes the rule for code that a signal or an interrupt stopped. The code's registers are
 * at a distance from the stack pointer, given as expressions or by the CFA. */
static struct unwind_rule stopped_rule(const struct cfi_machine *machine,
				       const struct cfi_row *row)
{
	struct unwind_rule rule = {.kind = UNWIND_INTERRUPTED};
	const struct cfi_value *cfa = &row->cfa;
	int64_t base = cfa->offset, sp = row->sp.offset;

	if (!set_base(&rule, machine, cfa->reg) || rule.other)
		return unknown;
	if (cfa->kind == VALUE_WORD && row->caller.kind == PLACE_FROM &&
	    row->caller.reg == cfa->reg && !cfa->offset) {
		/* The CFA is the saved stack pointer. */
		base = 0;
		sp = cfa->word;
	} else if (cfa->kind != VALUE_REGISTER || row->caller.kind != PLACE_CFA ||
		   row->sp.kind != PLACE_CFA) {
		return unknown;
	}
	if (!is_offset(base) || !is_offset(sp) || !is_offset(row->caller.offset))
		return unknown;
	rule.cfa = (int32_t)base;
	rule.word = (int32_t)sp;
	rule.caller = (int32_t)row->caller.offset;
	set_fp(&rule, row);
	/* Both kinds of places are offsets from one address. */
	if (rule.fp_by_register != (cfa->kind == VALUE_WORD) && rule.fp != UNWIND_KEPT)
		rule.fp = UNWIND_LOST;
	rule.fp_by_register = false;
	return rule;
}

static struct unwind_rule rule_of(const struct cfi_function *function,
				  const struct cfi_row *row)
{
	const struct cfi_machine *machine = function->section->machine;
	const struct cfi_value *cfa = &row->cfa;
	struct unwind_rule rule = {.kind = UNWIND_CALLER};

	if (row->caller.kind == PLACE_LOST)
		return (struct unwind_rule){.kind = UNWIND_OUTERMOST};
	if (function->common->is_signal)
		return stopped_rule(machine, row);
	if ((cfa->kind != VALUE_REGISTER && cfa->kind != VALUE_WORD) ||
	    !set_base(&rule, machine, cfa->reg) || !is_offset(cfa->offset) ||
	    !is_offset(cfa->word))
		return unknown;
	rule.from_word = cfa->kind == VALUE_WORD;
	rule.word = (int32_t)cfa->word;
	rule.cfa = (int32_t)cfa->offset;
	if (row->caller.kind == PLACE_CFA && is_offset(row->caller.offset))
		rule.caller = (int32_t)row->caller.offset;
	else if (row->caller.kind == PLACE_SAME && machine->has_link)
		rule.caller = UNWIND_KEPT;
	else
		return unknown;
	set_fp(&rule, row);
	return rule;
}

static enum cfi_result add_rule(const struct cfi_function *function,
				const struct cfi_row *row, uint64_t start, uint64_t end)
{
	struct unwind_rule rule = rule_of(function, row);

	if (start >= end)
		return CFI_DONE;
	function->summary->rows++;
	if (rule.kind == UNWIND_UNKNOWN) {
		function->summary->unknown++;
		return CFI_DONE;
	}
	return unwind_builder_add(function->builder, start + function->offset,
				  end + function->offset, &rule)
		       ? CFI_FULL
		       : CFI_DONE;
}

/* A linkage table has entries of 16 bytes. A hostile file could have a single byte in
 * each of many. */
#define PLT_ENTRY_MIN 8
#define PLT_SIZE_MAX  (1u << 24)

/* Entries of a procedure linkage table, each with a part before and one after its push.
 */
static enum cfi_result add_entries(const struct cfi_function *function,
				   const struct cfi_row *row, uint64_t start,
				   uint64_t end)
{
	const struct cfi_value *plt = &row->cfa;
	struct cfi_row early = *row, late = *row;

	early.cfa = (struct cfi_value){
		.kind = VALUE_REGISTER, .reg = plt->reg, .offset = plt->offset};
	late.cfa = early.cfa;
	late.cfa.offset = (int64_t)((uint64_t)plt->offset + (uint64_t)plt->extra);
	while (start < end) {
		uint64_t entry = start & ~plt->mask, limit = entry + plt->limit;
		uint64_t next = entry + plt->mask + 1;
		bool is_early = start < limit;
		uint64_t stop = is_early ? limit : next;

		if (stop > end)
			stop = end;
		if (add_rule(function, is_early ? &early : &late, start, stop) !=
		    CFI_DONE)
			return CFI_FULL;
		start = stop;
	}
	return CFI_DONE;
}

enum cfi_result cfi_add_row(const struct cfi_function *function,
			    const struct cfi_row *row, uint64_t start, uint64_t end)
{
	const struct cfi_value *cfa = &row->cfa;
	uint64_t entry = cfa->mask + 1;

	/* The condition is on the instruction's address, which is DWARF's register 16,
	 * the return address (System V ABI for AMD64, figure 3.36). */
	if (cfa->kind == VALUE_PLT && cfa->test == function->common->caller &&
	    entry >= PLT_ENTRY_MIN && (entry & cfa->mask) == 0 && cfa->limit &&
	    cfa->limit < entry && start < end && end - start <= PLT_SIZE_MAX)
		return add_entries(function, row, start, end);
	return add_rule(function, row, start, end);
}
