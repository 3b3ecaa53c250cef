/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_PROGRAM_TABLE_H
#define UNIPROF_TABLES_PROGRAM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/error.h"
#include "symbols/links.h"
#include "symbols/program.h"
#include "symbols/symbols.h"
#include "tables/fibers/layout.h"
#include "tables/linux/layout.h"
#include "unwind/table.h"

/*
 * The unwind table of the programs that run in a guest, with what is needed to find out
 * whether a guest really runs them. Made from ELF files, or read from a file that
 * `uniprof table` has made.
 */

/* Bytes of code at an address, load offset included; in one page. */
#define TABLE_PLACE_SIZE 16
struct table_place {
	uint64_t address;
	uint8_t bytes[TABLE_PLACE_SIZE];
};

/* Maximum number of places to compare for each program. */
#define TABLE_PLACES 64
/* Number of places that suffice to decide; a small program has fewer, which must all be
 * seen. */
#define TABLE_PLACES_ENOUGH 8
/* Maximum number of programs in one table. */
#define TABLE_ORIGINS 64

/* A program that a table describes. */
struct table_origin {
	char name[64]; /* of the file */
	uint8_t build_id[SYMBOLS_BUILD_ID];
	size_t build_id_size;
	uint64_t build_id_address; /* where the guest has it; 0: not known */
	uint64_t hypercall_page;   /* where the guest has it; 0: nowhere known */
	/* The start of a Linux kernel's code; 0: it is another program. Kernels may run
	 * elsewhere (KASLR), and patch their code. */
	uint64_t linux_text;
	struct task_layout tasks;     /* of a Linux kernel; per_cpu is 0: not known */
	struct module_layout modules; /* of a Linux kernel; list is 0: not known */
	struct thread_layout threads; /* of a Linux kernel; init is 0: not known */
	/* Of a Linux kernel; order is MAPPINGS_UNKNOWN: not known */
	struct mapping_layout mappings;
	/* Of a unikernel: only its memory tells which one is right. */
	struct fiber_layout fibers[FIBER_LAYOUTS];
	size_t fiber_layouts;
	struct table_place place[TABLE_PLACES];
	size_t places;
	/* All of its code, from @low up to @high, in the table; 0: not known, because the
	 * table is from a file. */
	uint64_t low, high;
	/* How much higher the table has it than the file says, so that programs do not
	 * overlap in the table; sums wrap around. */
	uint64_t home;
};

struct program_table {
	struct unwind_table *table;
	enum cpu_kind cpu;
	struct table_origin *origin;
	size_t origins;
	/* The programs' code; NULL: not known, because the table is from a file. */
	struct program *program;
	/* Nobody has asked for it: the guest may also run other programs. */
	bool is_found;
};

/* The programs of a table where a guest has them. Starts as zeros, but for the table. */
struct placed_table {
	const struct program_table *table; /* NULL: none */
	/* whether the guest has a program; by program, as shift */
	bool is_found[TABLE_ORIGINS];
	/* how much higher the guest has a program than the table; sums wrap around */
	uint64_t shift[TABLE_ORIGINS];
	/* a bit each: programs that were found at the address of another one, each in its
	 * own address spaces */
	uint64_t rivals;
};

/* How much of the programs' code a table describes. */
struct table_coverage {
	uint64_t functions, functions_covered; /* by symbols; a rule for the start */
	uint64_t text, text_covered;	       /* bytes */
};

/*
 * Makes a table of the ELF files in @specs (program_open()). The rules are from call
 * frame information where there is any, else from machine code with symbols; an earlier
 * file has priority. @coverage is filled if it is not NULL. NULL with one line in @err on
 * failure, or if there is no rule at all.
 */
struct program_table *program_table_make(const char *const *specs, size_t count,
					 const char *debug_directory,
					 struct table_coverage *coverage,
					 struct error *err);

/* Like program_table_make(), for guests that move programs when they load them: programs
 * that overlap in their files, such as two PIEs, are apart in the table. */
struct program_table *program_table_make_apart(const char *const *specs, size_t count,
					       const char *debug_directory,
					       struct error *err);

/* Returns the CPU that the file in @spec has code for; CPU_UNKNOWN if it has no code, or
 * if there are no tables for its CPU. Whether it has rules is not known yet. */
enum cpu_kind program_table_cpu(const char *spec, const char *debug_directory);

/*
 * Tries to make a table of the file of @spec (symbols/spec.h), whose debug file is in
 * @debug_directory. True if that is possible; else @why has the reason: a file may have
 * only names, or be for one process, while a table is used in all address spaces.
 */
bool program_table_is_possible(const char *spec, struct error *why);

/* @table may be NULL. */
void program_table_free(struct program_table *table);

/* Locks the table's memory, so that it is never missing in a pause. */
int program_table_lock(const struct program_table *table, struct error *err);

/* Writes a table file (docs/table.md) to @fd; @path is for messages. */
int program_table_write(const struct program_table *table, int fd, const char *path,
			struct error *err);
/* Reads the table file at @path. NULL with @err set on failure. */
struct program_table *program_table_read(const char *path, struct error *err);
/* Reads a table file from memory; @name is for messages. NULL with @err set on failure.
 */
struct program_table *program_table_parse(const void *data, size_t size, const char *name,
					  struct error *err);

/* Adds the code, for a table of one program that was read from a file; takes over
 * @program. -1 with @err set, if out of memory or if this can't be the table's program.
 */
int program_table_add_code(struct program_table *table, struct program *program,
			   struct error *err);

/* Whether an address space contains a program; what says more is later. */
enum table_fit {
	TABLE_UNSEEN,  /* too little of the program's code is mapped to tell */
	TABLE_RIVALED, /* a program that was found before is at its address */
	TABLE_DIFFERS, /* other code is at its address */
	TABLE_FOREIGN, /* the table is for another CPU */
	TABLE_TAKEN,   /* the program is there, but as a copy of another one */
	TABLE_FITS,
};

/*
 * Compares a link of a chain, of a guest that runs the programs, with their code, as
 * program_check_link() does: between a return address and an address in the function that
 * was called. In bounded time. The links of a Linux kernel are unknown. Of programs at
 * one address, it suffices that one of them has the link.
 */
enum program_link placed_table_check_link(const struct placed_table *placed,
					  uint64_t caller, uint64_t callee);

/*
 * Looks for a program of the table that was not found yet, by its number, in the address
 * space of @cpu: compares the build-id where it is in memory, or else the code at the
 * places. Page by page, while the guest runs. A Linux kernel is also looked for at other
 * addresses, by its build-id, and another program by the code at the @count @addresses,
 * where the vCPU executes; the result must agree in all places. Sets is_found and shift
 * if the program is there, and rivals if others were found at its address in other
 * address spaces. Otherwise, @why gets one line.
 */
enum table_fit placed_table_find(struct placed_table *placed, size_t number,
				 const struct cpu *cpu, const struct guest_memory *memory,
				 const uint64_t *addresses, size_t count,
				 struct error *why);

/* Whether the table can be used for those of its programs that a guest has. A table that
 * was read from a file does not tell which rules are whose. */
bool program_table_is_separable(const struct program_table *table);

/* The programs that were found, but for rivals: those of the table for address spaces of
 * which nothing is known. */
struct placed_table placed_table_common(const struct placed_table *placed);

/*
 * Sets @here to those of the programs that were found that are in the address space of
 * @cpu, and where. Kernels, whose code may be hidden while a program runs, count as
 * there. A program that the guest moves, and that is not where it was found, is looked
 * for where @here has it, from an earlier call or as zeros, and by the code at the @count
 * @addresses, as placed_table_find() does. Page by page, while the guest runs.
 */
void placed_table_in(const struct placed_table *placed, const struct cpu *cpu,
		     const struct guest_memory *memory, const uint64_t *addresses,
		     size_t count, struct placed_table *here);

/* Whether the guest has the program at this place; whether two guests, or two address
 * spaces, have the same programs at the same places. */
bool placed_table_has(const struct placed_table *placed, size_t number, uint64_t shift);
bool placed_table_is_equal(const struct placed_table *a, const struct placed_table *b);

/* Whether it may depend on the address space which programs are there. */
bool placed_table_varies(const struct placed_table *placed);

/* Whether the guest has all programs where the table has them. */
bool placed_table_is_plain(const struct placed_table *placed);

/* Forgets programs that overlap an earlier one in the guest. */
void placed_table_part(struct placed_table *placed);

/* Makes the table of the programs that the guest has, to be freed with
 * unwind_table_free(). NULL if out of memory, or if programs overlap. */
struct unwind_table *placed_table_make(const struct placed_table *placed);
/* Makes that table, locked in memory. NULL also if no more memory may be locked. */
struct unwind_table *placed_table_make_locked(const struct placed_table *placed);

/* How much higher the guest has a program than its file says; sums wrap around. */
uint64_t placed_table_move(const struct placed_table *placed, size_t number);

/* Number of rows that the table has for a program; of a table that is not separable, the
 * first program has all rows. */
size_t program_table_rows(const struct program_table *table, size_t number);

/* How much higher the guest has the table's Linux kernel than the table; 0 if it was not
 * found. */
uint64_t placed_table_linux_shift(const struct placed_table *placed);

/* The address at which the guest has the code of the table's Linux kernel; 0: it was not
 * found. */
uint64_t placed_table_linux(const struct placed_table *placed);

/* The names of the programs that the guest has, separated by ", ", truncated to @size
 * bytes. */
void placed_table_names(const struct placed_table *placed, char *to, size_t size);
/* The build-ids of the programs that the guest has, in hexadecimal, separated by blanks;
 * a build-id that does not fit is left out. */
void placed_table_build_ids(const struct placed_table *placed, char *to, size_t size);

/* The address of the Linux kernel's code in the table, its symbol _text; 0: there is no
 * such kernel. */
uint64_t program_table_linux(const struct program_table *table);

/* Whether the file of the table's Linux kernel is known to have functions' names: boot
 * images have none. */
bool program_table_names_linux(const struct program_table *table);

/* Where the Linux kernel in the table has its tasks; NULL: not known. */
const struct task_layout *program_table_tasks(const struct program_table *table);
/* Where that kernel has its threads; NULL: not known. */
const struct thread_layout *program_table_threads(const struct program_table *table);
/* Likewise, where processes have their mappings. */
const struct mapping_layout *program_table_mappings(const struct program_table *table);

/* Where the unikernel in the table has its threads, one of the layouts; the number of the
 * program in the table is set. NULL: not known. */
const struct table_origin *program_table_fibers(const struct program_table *table,
						size_t *number);

/* Where the Linux kernel in the table has its modules; NULL: not known. */
const struct module_layout *program_table_modules(const struct program_table *table);

/*
 * The rules for the guest's page of hypercalls, which Xen fills in at run time, where the
 * programs have it or where @cpu executes; locked in memory, to be freed with
 * unwind_table_free(). NULL if there is no such page, or not yet. While the guest runs.
 */
struct unwind_table *placed_table_hypercalls(const struct placed_table *placed,
					     const struct cpu *cpu,
					     const struct guest_memory *memory);

/* The names of the programs, separated by ", ", truncated to @size bytes. */
void program_table_names(const struct program_table *table, char *to, size_t size);

#endif
