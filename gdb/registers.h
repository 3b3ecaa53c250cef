/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_GDB_REGISTERS_H
#define UNIPROF_GDB_REGISTERS_H

#include "arch/arch.h"
#include "base/error.h"

/*
 * Where a CPU's registers are, by the description that a stub gives of its target: XML
 * (Debugging with GDB, appendix G) whose file target.xml names the CPU and further files.
 * Registers have numbers in the order of the description unless it gives others. Pure
 * functions.
 */

#define GDB_REGISTERS 38 /* that are needed, at most */
#define GDB_FILES     16
#define GDB_FILE_NAME 64

struct gdb_register {
	bool is_known;
	uint32_t number;
	uint32_t size;	 /* bytes: at most 8 */
	uint32_t offset; /* bytes, in the reply to 'g', if that is long enough */
};

struct gdb_registers {
	char architecture[32]; /* GDB's name of it */
	/* The files that target.xml includes. */
	char file[GDB_FILES][GDB_FILE_NAME];
	unsigned int files;
	uint32_t next;	 /* the number of the next register */
	uint32_t offset; /* and its offset */
	struct gdb_register at[GDB_REGISTERS];
};

/* Reads a file: target.xml first, and then those that it includes, in this order. -1 if
 * this CPU or description is not supported. */
int gdb_registers_scan(struct gdb_registers *registers, const char *xml,
		       struct error *err);

/* After all files: the number of registers that are needed; -1 if one is missing. */
int gdb_registers_check(const struct gdb_registers *registers, struct error *err);

/* Sets @cpu by the values of those registers. */
void gdb_registers_cpu(const struct gdb_registers *registers, const uint64_t *value,
		       struct cpu *cpu);

#endif
