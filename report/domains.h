/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_DOMAINS_H
#define UNIPROF_REPORT_DOMAINS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "report/names.h"
#include "report/stacks.h"
#include "report/summary.h"

/*
 * What domains are called. Several may have the same name, as a guest that
 * reboots is a new domain: in reports they are one.
 */

/* Whether @what is the domain's name, with or without the host's name and '/' before
 * it that domains of several hosts have, or its id in decimal. False for NULL, a
 * domain that the recording says nothing of. */
bool domain_is(const struct recording_domain *domain, const char *what);

/* The same for one of a list with commas; a list that is NULL has all domains,
 * unknown ones too. */
bool domain_in_list(const struct recording_domain *domain, const char *list);

/* Whether @summary, of the whole recording @name, has a domain that is called
 * @what, or all of the list; false, and which there are in @err, otherwise. */
bool domain_is_known(const struct summary *summary, const char *what, const char *name,
		     struct error *err);
bool domain_list_is_known(const struct summary *summary, const char *list,
			  const char *name, struct error *err);

#define DOMAIN_NAME_SIZE 256

/* Its name, or what stands for it when it has none or, being NULL, is unknown. */
void domain_name(char to[DOMAIN_NAME_SIZE], const struct recording_domain *domain);

/*
 * The domain of that index as a process of perf's: its id; or 32,768 and the index where
 * it is unknown, or domains of another name had the same id before, as those of other
 * hosts may have. 10,000 threads of each have numbers below 2^31. Takes as long as there
 * are domains.
 */
uint32_t domain_pid(const struct summary *summary, uint32_t index);

/*
 * The different names of the domains that are in the list, or have samples in
 * @stacks and are unknown. The caller's to free; NULL when memory is short.
 */
struct names *domain_names(const struct summary *summary, const char *list,
			   const struct stacks *stacks);

#endif
