/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_GDB_REGISTERS_H
#define UNIPROF_GDB_REGISTERS_H

#include "arch/arch.h"
#include "base/error.h"

/*
 * Where a CPU's registers are, according to a stub's description of its target: XML
 * (Debugging with GDB, appendix G) whose file target.xml names the CPU and further files.
 * Registers have numbers in the order of the description unless it gives other numbers.
 * Pure functions.
 */

#define GDB_REGISTERS 38 /* maximum number of needed registers */
#define GDB_FILES     16
#define GDB_FILE_NAME 64

struct gdb_register {
	bool is_known;
	uint32_t number;
	uint32_t size;	 /* bytes, at most 8 */
	uint32_t offset; /* in the reply to 'g', bytes; may be beyond its end */
};

struct gdb_registers {
	char architecture[32]; /* GDB's name of the CPU */
	/* Names of the files that target.xml includes. */
	char file[GDB_FILES][GDB_FILE_NAME];
	unsigned int files;
	uint32_t next;	 /* number of the next register */
	uint32_t offset; /* offset of the next register; UINT16_MAX: unknown */
	struct gdb_register at[GDB_REGISTERS];
};

/* Reads a file: first target.xml, then the files that it includes, in their order. -1 if
 * the CPU or the description is not supported. */
int gdb_registers_scan(struct gdb_registers *registers, const char *xml,
		       struct error *err);

/* Returns the number of needed registers, once all files were read without error; -1 if
 * one is missing. */
int gdb_registers_check(const struct gdb_registers *registers, struct error *err);

/* Sets @cpu by the values of the needed registers. */
void gdb_registers_cpu(const struct gdb_registers *registers, const uint64_t *value,
		       struct cpu *cpu);

#endif
