/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_STORE_H
#define UNIPROF_XEN_STORE_H

#include "xen/internal.h"

/*
 * The domains in xenstore, the toolstack's database. If xenstored is dead or stuck, its
 * library would wait forever. So each call takes at most STORE_PATIENCE_S, and after one
 * such timeout, all further calls fail at once. -1 with the reason in @err on failure.
 */
#define STORE_PATIENCE_S 5

struct store_entry {
	uint32_t id;
	char name[256]; /* empty: unknown */
	char type[8];	/* "pv", "pvh" or "hvm"; empty: unknown */
};

/* What the toolstack says about a domain (xen/docs/misc/xenstore-paths.pandoc). */
struct store_facts {
	char type[8];	  /* type, as in struct store_entry */
	char vm[64];	  /* "/vm/" and the UUID; empty: unknown */
	uint64_t target;  /* wanted size of its memory, KiB; 0: unknown */
	uint64_t maximum; /* maximum size of its memory, KiB; 0: unknown */
	uint32_t vcpus;	  /* maximum number of vCPUs; 0: unknown */
};

/* Connects, as xen->store; without success, the calls below fail. */
void store_open(struct xen *xen);
/* Lists all domains, in any order. The caller frees the array. */
int store_list(struct xen *xen, struct store_entry **entries, size_t *count,
	       struct error *err);
/* Finds one domain; without name and type if it is not in xenstore. */
int store_find(struct xen *xen, uint32_t id, struct store_entry *entry,
	       struct error *err);
/* Reads what xenstore says about one domain. */
int store_describe(struct xen *xen, uint32_t id, struct store_facts *facts,
		   struct error *err);

#endif
