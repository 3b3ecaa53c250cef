/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/file/kernel_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "unwind/returns.h"

/* As perf calls a kernel whose file is not known */
#define KERNEL_DSO "[kernel.kallsyms]"

/* Places for addresses in the hash table, and how many of them may be in use. A kernel
 * under load shows some thousand. */
#define PLACES	   (1u << 16)
#define PLACES_MAX (PLACES / 4 * 3)

struct kernel_names {
	struct kallsyms **kernel; /* by domain; NULL: not known */
	size_t domains;
	size_t count; /* places in use */
	struct place {
		uint64_t address; /* to look up; 0: the place is free */
		uint32_t domain;
	} place[PLACES];
};

struct kernel_names *kernel_names_new(void)
{
	return calloc(1, sizeof(struct kernel_names));
}

void kernel_names_free(struct kernel_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->domains; i++)
		kallsyms_free(names->kernel[i]);
	free(names->kernel);
	free(names);
}

void kernel_names_renew(struct kernel_names *names)
{
	memset(names->place, 0, sizeof(names->place));
	names->count = 0;
}

/* Writes the name of the address, if the kernel has one. */
static int write_name(const struct kernel_names *names, const struct place *place,
		      struct series *series, struct error *err)
{
	struct kallsyms_function function;
	struct recording_name name = {.domain = place->domain,
				      .is_symbol = true,
				      .address = place->address,
				      .name = {.at = function.name},
				      .dso = {KERNEL_DSO, sizeof(KERNEL_DSO) - 1}};

	if (place->domain >= names->domains || !names->kernel[place->domain] ||
	    !kallsyms_find(names->kernel[place->domain], place->address, &function))
		return 0;
	name.offset = place->address - function.start;
	name.is_last = place->address + 1 == function.next;
	name.name.length = strlen(function.name);
	return series_place(series, &name, err);
}

int kernel_names_add(struct kernel_names *names, uint32_t domain,
		     struct kallsyms *kallsyms, struct series *series, struct error *err)
{
	if (domain >= names->domains) {
		if (!array_grow_zeroed(&names->kernel, names->domains, (size_t)domain + 1,
				       sizeof(struct kallsyms *))) {
			kallsyms_free(kallsyms);
			return 0;
		}
		names->domains = (size_t)domain + 1;
	}
	kallsyms_free(names->kernel[domain]);
	names->kernel[domain] = kallsyms;
	for (size_t i = 0; i < PLACES; i++)
		if (names->place[i].address && names->place[i].domain == domain &&
		    write_name(names, &names->place[i], series, err) < 0)
			return -1;
	return 0;
}

/* Notes the address; NULL if it is known already, or there is no space. */
static const struct place *note_address(struct kernel_names *names, uint32_t domain,
					uint64_t address)
{
	uint64_t key = (address ^ (uint64_t)domain << 40) * 0x9e3779b97f4a7c15;
	size_t i = key >> 48 & (PLACES - 1);

	for (; names->place[i].address; i = (i + 1) % PLACES)
		if (names->place[i].address == address &&
		    names->place[i].domain == domain)
			return NULL;
	if (names->count == PLACES_MAX)
		return NULL;
	names->count++;
	names->place[i] = (struct place){address, domain};
	return &names->place[i];
}

int kernel_names_sample(struct kernel_names *names, const struct sample *sample,
			struct series *series, struct error *err)
{
	const struct chain *chain = &sample->chain;

	for (uint32_t i = 0; i < chain->count && !chain->is_stack; i++) {
		const struct place *place;

		if (!is_in_upper_half(chain->address[i]))
			continue;
		/* A return address may be the first one behind its function. */
		place = note_address(names, sample->domain, chain->address[i] - (i > 0));
		if (place && write_name(names, place, series, err) < 0)
			return -1;
	}
	return 0;
}
