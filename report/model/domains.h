/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_DOMAINS_H
#define UNIPROF_REPORT_MODEL_DOMAINS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/names.h"
#include "report/load/summary.h"
#include "report/model/stacks.h"

/*
 * Names of domains. Several can have the same name, as a guest that reboots is a new
 * domain; reports merge them.
 */

/* domain_is_called() for a whole text. */
bool domain_is(const struct recording_domain *domain, const char *what);

/* The same for a list separated by commas; NULL is the list of all domains, including
 * unknown ones. */
bool domain_in_list(const struct recording_domain *domain, const char *list);

/* Whether @summary, of the whole recording @name, has a domain called @what, or all
 * domains of the list. If false, @err lists the existing domains. */
bool domain_is_known(const struct summary *summary, const char *what, const char *name,
		     struct error *err);
bool domain_list_is_known(const struct summary *summary, const char *list,
			  const char *name, struct error *err);

/* Whether the address is in the upper part, where kernels such as Linux are; NULL is an
 * unknown domain, with 64-bit addresses. */
bool domain_is_upper(const struct recording_domain *domain, uint64_t address);

#define DOMAIN_NAME_SIZE 280

/* Its name, or a substitute if it has none or is NULL (unknown). */
void domain_plain_name(char to[DOMAIN_NAME_SIZE], const struct recording_domain *domain);

#define DOMAIN_SPACE_SIZE 20

/* The address space of a process, as a number; empty for all others. */
void domain_space(char to[DOMAIN_SPACE_SIZE], const struct recording_domain *domain);

#define DOMAIN_PROCESS_SIZE (RECORDING_COMM + 16)

/* A process as NAME[PID] or, if these are not known, its address space; empty for all
 * others. */
void domain_process(char to[DOMAIN_PROCESS_SIZE], const struct recording_domain *domain);

/* The name; that of a process is followed by ':' and domain_process(). */
void domain_name(char to[DOMAIN_NAME_SIZE], const struct recording_domain *domain);

/*
 * The pid for the domain of that index in perf's formats: its id; or 32,768 plus the
 * index if it is unknown or an earlier domain with another name has the same id (on
 * another host). For a process, a number from DOMAIN_PROCESS_PIDS on, for use if its own
 * pid can't be. Numbers of 10,000 threads of each stay below 2^31. O(domains).
 */
#define DOMAIN_PROCESS_PIDS 200000
uint32_t domain_pid(const struct summary *summary, uint32_t index);

/*
 * The distinct names of the domains that are in the list, or are unknown and have samples
 * in @stacks; and instead of domains whose processes are told apart, of all that have
 * samples. The caller frees it; NULL if out of memory.
 */
struct names *domain_names(const struct summary *summary, const char *list,
			   const struct stacks *stacks);

#endif
