/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_CFI_PARTS_H
#define UNIPROF_TABLES_CFI_PARTS_H

/* Call frame information; for tables/cfi/ only. "DWARF" is DWARF version 5. */

#include "format/buffer.h"
#include "tables/cfi/cfi.h"

/* The numbers of registers in DWARF (System V ABI for AMD64, figure 3.36; DWARF for the
 * Arm 64-bit Architecture, section 4.1). */
struct cfi_machine {
	uint64_t sp, fp;
	bool has_link;	       /* calls leave the return address in a register */
	const uint8_t *others; /* their numbers in rules */
	uint64_t other_count;
};

/* The value that an expression computes, as far as rules need it. */
struct cfi_value {
	enum {
		VALUE_UNKNOWN,
		VALUE_NUMBER,	/* offset */
		VALUE_REGISTER, /* reg + offset */
		VALUE_WORD,	/* the word in memory at reg + word, + offset */
		VALUE_CFA,	/* the CFA + offset */
		VALUE_MASKED,	/* test & mask */
		VALUE_IS_LATE,	/* offset if (test & mask) >= limit, else 0 */
		VALUE_PLT,	/* reg + offset, + extra if (test & mask) >= limit */
	} kind;
	uint64_t reg, test; /* registers */
	int64_t word, offset, extra;
	uint64_t mask, limit;
};

/* Where a register of the caller is. */
struct cfi_place {
	enum {
		PLACE_SAME, /* in the register */
		PLACE_LOST,
		PLACE_CFA,   /* in memory, at the CFA + offset */
		PLACE_FROM,  /* in memory, at reg + offset */
		PLACE_OTHER, /* not expressible */
	} kind;
	uint64_t reg;
	int64_t offset;
};

/* A row of DWARF's table (section 6.4.1), reduced to the registers that rules need. */
struct cfi_row {
	struct cfi_value cfa;
	struct cfi_place caller, fp, sp;
};

/* A section, and how to read its entries. */
struct cfi_section {
	const uint8_t *data;
	size_t size;
	uint64_t address;
	bool is_eh; /* .eh_frame, else .debug_frame */
	const struct cfi_machine *machine;
};

/* A common information entry. */
struct cfi_common {
	size_t at; /* offset in the section */
	uint64_t code_factor, caller;
	int64_t data_factor;
	uint8_t encoding;   /* of the addresses in frame descriptions */
	bool has_data;	    /* augmentation data in frame descriptions */
	bool is_signal;	    /* the function's caller was interrupted */
	struct cfi_row row; /* the first one of each function */
};

/* A function being read. */
struct cfi_function {
	const struct cfi_section *section;
	const struct cfi_common *common;
	uint64_t start, end;
	uint64_t offset; /* added to addresses in the table */
	struct unwind_builder *builder;
	struct cfi_summary *summary;
};

/* Fixed-size little-endian numbers, and LEB128 with a sign (DWARF, section 7.6). */
uint64_t cfi_fixed(struct cursor *cursor, unsigned int size);
int64_t cfi_signed(struct cursor *cursor);

/* The encoding of an address that is left out (Linux Standard Base Core 5.0, section
 * 10.5.1). */
#define CFI_OMITTED 0xff

/* Reads a number in the format of an encoding of .eh_frame. False if it is damaged or the
 * format is not known. */
bool cfi_number(struct cursor *cursor, uint8_t encoding, uint64_t *number);

/*
 * Reads an address in an encoding of .eh_frame (Linux Standard Base Core 5.0,
 * section 10.5.1). False if it is not supported: indirect, or relative to anything but
 * its place.
 */
bool cfi_address(const struct cfi_section *section, struct cursor *cursor,
		 uint8_t encoding, uint64_t *address);

/* Runs the instructions of a common entry, which set its row. False if they are damaged.
 */
bool cfi_run_common(const struct cfi_section *section, struct cfi_common *common,
		    struct cursor code);

enum cfi_result {
	CFI_DONE,
	CFI_DAMAGED, /* rows after the damage are missing */
	CFI_FULL,    /* out of memory, or over the limits of tables */
};

/* Runs the instructions of a function and adds its rows to the builder. */
enum cfi_result cfi_run(const struct cfi_function *function, struct cursor code);

/* Evaluates an expression (DWARF, section 2.5). @has_cfa: it starts with the CFA on its
 * stack. */
struct cfi_value cfi_evaluate(struct cursor code, bool has_cfa);

/* Adds the row for the addresses from @start up to @end, which are the file's own. */
enum cfi_result cfi_add_row(const struct cfi_function *function,
			    const struct cfi_row *row, uint64_t start, uint64_t end);

#endif
