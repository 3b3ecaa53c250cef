/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LINUX_KALLSYMS_NAMES_H
#define UNIPROF_RECORD_LINUX_KALLSYMS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"

/*
 * The names of a Linux kernel's functions, in the form that the kernel has in its memory
 * (Linux, kernel/kallsyms.c and scripts/kallsyms.c): symbols in the order of their
 * addresses, and for each the number of its tokens, then these. A token is a text of
 * one or more characters; the first character of a symbol is its type, as in nm.
 */

#define KALLSYMS_TOKENS	   256
#define KALLSYMS_TOKEN_MAX 64 /* bytes of a token, with its 0 */
/* Number of symbols from one marker to the next */
#define KALLSYMS_STEP 256
/* Maximum number of symbols; kernels with everything built in have some 300,000 */
#define KALLSYMS_SYMBOLS_MAX (1u << 20)
/* Maximum size of all symbols' numbers of tokens, bytes */
#define KALLSYMS_NAMES_MAX (16u << 20)
/* Maximum length of a symbol, with its type; longer ones are cut */
#define KALLSYMS_SYMBOL_MAX 512

/* Copies of the kernel's tables. */
struct kallsyms {
	uint8_t token[KALLSYMS_TOKENS * KALLSYMS_TOKEN_MAX];
	uint16_t token_at[KALLSYMS_TOKENS]; /* where each token is in @token */
	uint32_t symbols;		    /* number of symbols */
	uint8_t *name;			    /* lengths and numbers of tokens */
	size_t name_size;
	uint32_t *marker; /* where every 256th symbol is in @name */
	uint32_t markers;
	uint32_t *offset; /* by symbol: see @base */
	/* Offsets are from here on or, if @is_signed, -1 - offset of those that are
	 * negative; others are addresses. */
	uint64_t base;
	bool is_signed;
};

/* @kallsyms may be NULL. */
void kallsyms_free(struct kallsyms *kallsyms);

/* Where a symbol with numbers of tokens is in @name, and the bytes of its length. */
struct kallsyms_place {
	uint32_t at;	 /* first number of a token */
	uint32_t length; /* count of numbers */
	uint32_t next;	 /* where the next symbol is */
};

/* Decodes the length at @at of the @size bytes at @name; false if the symbol does not end
 * within them. From Linux 6.1 on, lengths from 128 on have two bytes. */
bool kallsyms_place(const uint8_t *name, size_t size, uint32_t at,
		    struct kallsyms_place *place);

/*
 * Checks the tables as a whole, and finds out which form the offsets have. False if they
 * can't be a kernel's: symbols do not end at the markers, or addresses do not ascend.
 */
bool kallsyms_check(struct kallsyms *kallsyms);

/* A function of the kernel. */
struct kallsyms_function {
	char name[KALLSYMS_SYMBOL_MAX];
	uint64_t start; /* its first address */
	uint64_t next;	/* address of the next symbol; 0: there is none */
};

/* Finds the function that contains @address, which is in the kernel and not in a module.
 * False if there is none. */
bool kallsyms_find(const struct kallsyms *kallsyms, uint64_t address,
		   struct kallsyms_function *function);

/* Sets @addresses to those of the @count symbols called @names, of any type; 0 if there
 * is none. Those of data of each CPU may be low. Goes through all symbols, which takes
 * some milliseconds. */
void kallsyms_addresses(const struct kallsyms *kallsyms, const char *const *names,
			size_t count, uint64_t *addresses);

#endif
