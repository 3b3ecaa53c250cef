/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FILE_KERNEL_NAMES_H
#define UNIPROF_RECORD_FILE_KERNEL_NAMES_H

#include "record/file/series.h"
#include "record/linux/kallsyms_names.h"

/*
 * Gives names to the addresses of Linux kernels in samples, by the names that the kernels
 * have themselves (record/linux/kallsyms.h), so that reports need no file of the kernel.
 * Each address gets one name in each file, also those that were sampled before the names
 * were known.
 */
struct kernel_names;

/* NULL if out of memory. */
struct kernel_names *kernel_names_new(void);
/* @names may be NULL. */
void kernel_names_free(struct kernel_names *names);

/* Takes the names of a domain's kernel, which it owns from now on, and writes those of
 * the addresses seen so far: 0, or -1 with the reason in @err. */
int kernel_names_add(struct kernel_names *names, uint32_t domain,
		     struct kallsyms *kallsyms, struct series *series, struct error *err);

/* Notes the addresses of a sample, and writes the names of new ones: 0, or -1. */
int kernel_names_sample(struct kernel_names *names, const struct sample *sample,
			struct series *series, struct error *err);

/* Forgets which addresses have names: a new file has begun. */
void kernel_names_renew(struct kernel_names *names);

#endif
