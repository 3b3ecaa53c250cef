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

/* Prefixes the domain's name, or its id, with the host, for recordings of several hosts.
 * @host: at most 255 bytes. */
void domain_name_host(struct recording_domain *domain, const char *host);

/* Whether the domain was unwound by a table of its programs. */
bool domain_has_table(const struct recording_domain *domain);

/* Maximum number of an unwind table's files that the recording can name. */
#define DOMAIN_FILES 64

/* Finds the symbol file at @path, which may have an offset behind it, among the files
 * that the domain was unwound by: returns its number, DOMAIN_FILES if it can't be told
 * because the list was truncated or has several of this name, or -1 if it is none of
 * them. */
int domain_table_file(const struct recording_domain *domain, const char *path);

/* domain_is_called() for a whole text. */
bool domain_is(const struct recording_domain *domain, const char *what);

/* Whether domain_is() for one of @list, separated by commas; NULL is the list of all
 * domains, including unknown ones. */
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

#define DOMAIN_NAME_SIZE 340

/* Sets @to to the domain's name, or to a substitute if it has no name or is NULL
 * (unknown). */
void domain_plain_name(char to[DOMAIN_NAME_SIZE], const struct recording_domain *domain);

#define DOMAIN_SPACE_SIZE 20

/* Sets @to to the address space of a process, as a number; to "" for other domains. */
void domain_space(char to[DOMAIN_SPACE_SIZE], const struct recording_domain *domain);

#define DOMAIN_PROCESS_SIZE (2 * RECORDING_COMM + 48)

/* Sets @to to a process as NAME[PID] or, if its name and pid are not known, its address
 * space; to "" for other domains. */
void domain_process(char to[DOMAIN_PROCESS_SIZE], const struct recording_domain *domain);

/* Sets @to to the domain's name, which for a process is followed by ':' and
 * domain_process(). */
void domain_name(char to[DOMAIN_NAME_SIZE], const struct recording_domain *domain);

/*
 * Returns the pid for the domain with index @domain in perf's formats: its id; or 32,768
 * plus the index if it is unknown or an earlier domain with another name has its id (on
 * another host). For a process, a number from DOMAIN_PROCESS_PIDS on, for use if its own
 * pid can't be used. Tids of 10,000 threads of each stay below 2^31. O(domains).
 */
#define DOMAIN_PROCESS_PIDS 200000
uint32_t domain_pid(const struct summary *summary, uint32_t index);

/*
 * Returns the distinct names of the domains that are in the list, or are unknown and have
 * samples in @stacks; where processes are told apart, the names of all that have samples.
 * The caller frees the names; NULL if out of memory.
 */
struct names *domain_names(const struct summary *summary, const char *list,
			   const struct stacks *stacks);

#endif
