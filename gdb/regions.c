/* SPDX-License-Identifier: BSD-3-Clause */
#include "gdb/regions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"

/* "  0000000000000000-00000000000bffff (prio 0, ram): pc.ram": print_flatview_info() in
 * QEMU's memory.c. */
static void parse_line(struct gdb_regions *regions, const char *line)
{
	static const char *const kinds[] = {"ram", "rom", "nv-ram"};
	uint64_t first, last;
	char kind[8];

	if (regions->count == REGIONS_MAX ||
	    sscanf(line, "%16" SCNx64 "-%16" SCNx64 " (prio %*d, %7[a-z-])", &first,
		   &last, kind) != 3 ||
	    last < first)
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kind, kinds[i]) != 0)
			continue;
		regions->region[regions->count].first = first;
		regions->region[regions->count++].last = last;
	}
}

/* The text has a view for each address space, or for several that have equal contents. */
bool gdb_regions_parse(struct gdb_regions *regions, const char *text)
{
	bool is_memory = false;

	*regions = (struct gdb_regions){.count = 0};
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, "FlatView", 8) == 0)
			is_memory = false;
		else if (strncmp(line, " AS \"memory\"", 12) == 0)
			is_memory = true;
		else if (is_memory)
			parse_line(regions, line);
	}
	return regions->count > 0;
}

bool gdb_regions_have(const struct gdb_regions *regions, uint64_t frame)
{
	uint64_t first = frame << GUEST_PAGE_SHIFT, last = first + GUEST_PAGE_SIZE - 1;

	if (frame > UINT64_MAX >> GUEST_PAGE_SHIFT)
		return false;
	for (unsigned int i = 0; i < regions->count; i++)
		if (regions->region[i].first <= first && last <= regions->region[i].last)
			return true;
	return false;
}

uint64_t gdb_regions_size(const struct gdb_regions *regions)
{
	uint64_t size = 0;

	for (unsigned int i = 0; i < regions->count; i++)
		size += regions->region[i].last - regions->region[i].first + 1;
	return size;
}
