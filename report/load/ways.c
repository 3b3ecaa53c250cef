/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load/ways.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbols/spec.h"
#include "tables/hypercalls.h"

/* A file to unwind by. */
struct file {
	char *spec;	    /* PATH[@OFFSET] */
	const char *domain; /* NULL: all domains; points into spec's memory */
};

/* A file that is elsewhere in a domain, or in one of its address spaces. */
struct move {
	char *path;
	uint32_t domain;
	uint64_t space; /* 0: all that have no move of their own */
	uint64_t shift;
};

/* What the files have to unwind a CPU by, in one table. */
struct all_files {
	bool is_made;
	struct program_table *table; /* NULL: no file has anything */
	size_t file[WAYS_FILES];     /* by program of the table: the file's number */
};

struct ways {
	char *debug_directory;
	struct file *files; /* fixed once the first stack is unwound */
	size_t file_count;
	struct move moves[WAYS_MOVES]; /* fixed while a recording's stacks are unwound */
	size_t move_count;
	bool has_spaces;      /* some of the moves are for one address space */
	pthread_mutex_t lock; /* held to use the ways */
	struct way *first;
	struct all_files all[CPU_KINDS];
};

_Static_assert(WAYS_FILES <= TABLE_ORIGINS, "one table has all files");

struct ways *ways_new(const char *debug_directory)
{
	struct ways *ways = calloc(1, sizeof(*ways));

	if (!ways)
		return NULL;
	pthread_mutex_init(&ways->lock, NULL);
	ways->debug_directory = strdup(debug_directory);
	if (ways->debug_directory)
		return ways;
	ways_free(ways);
	return NULL;
}

void ways_free(struct ways *ways)
{
	struct way *next;

	if (!ways)
		return;
	for (size_t i = 0; i < ways->file_count; i++)
		free(ways->files[i].spec);
	ways_forget_moves(ways);
	for (struct way *way = ways->first; way; way = next) {
		next = way->next;
		unwind_table_free(way->table);
		unwind_table_free(way->hypercalls);
		free(way);
	}
	for (size_t i = 0; i < CPU_KINDS; i++)
		program_table_free(ways->all[i].table);
	free(ways->files);
	free(ways->debug_directory);
	pthread_mutex_destroy(&ways->lock);
	free(ways);
}

int ways_add(struct ways *ways, const char *spec)
{
	struct file file = {.spec = strdup(spec)};
	const char *comm = NULL;
	struct error ignored;
	uint64_t space = 0;

	if (!file.spec || !array_grow(&ways->files, ways->file_count + 1, sizeof(file))) {
		free(file.spec);
		return -1;
	}
	if (symbols_spec_cut(file.spec, &file.domain, &comm, &space, &ignored) < 0 ||
	    space || comm)
		free(file.spec);
	else
		ways->files[ways->file_count++] = file;
	return 0;
}

void ways_forget_moves(struct ways *ways)
{
	for (size_t i = 0; i < ways->move_count; i++)
		free(ways->moves[i].path);
	ways->move_count = 0;
	ways->has_spaces = false;
}

int ways_move(struct ways *ways, const char *path, uint32_t domain, uint64_t space,
	      uint64_t shift)
{
	struct move move = {.domain = domain, .space = space, .shift = shift};

	if (ways->move_count == WAYS_MOVES)
		return 0;
	move.path = strdup(path);
	if (!move.path)
		return -1;
	ways->moves[ways->move_count++] = move;
	ways->has_spaces |= space != 0;
	return 0;
}

bool ways_have_spaces(const struct ways *ways)
{
	return ways->has_spaces;
}

/* Returns how much higher the address space of the domain has the file. */
static uint64_t shift_of(const struct ways *ways, const struct file *file,
			 const struct recording_domain *domain, uint64_t space)
{
	uint64_t shift = 0;

	for (size_t i = 0; i < ways->move_count; i++) {
		const struct move *move = &ways->moves[i];

		if (move->domain != domain->index ||
		    (move->space && move->space != space) ||
		    strcmp(file->spec, move->path) != 0)
			continue;
		shift = move->shift;
		if (move->space)
			break;
	}
	return shift;
}

/* Chooses the files for the address space. */
static void choose_files(const struct ways *ways, const struct recording_domain *domain,
			 uint64_t space, struct way *way)
{
	for (size_t i = 0; i < ways->file_count && i < WAYS_FILES; i++) {
		const struct file *file = &ways->files[i];

		if (file->domain &&
		    !domain_is_called(domain, file->domain, strlen(file->domain)))
			continue;
		way->files |= (uint64_t)1 << i;
		way->shift[i] = shift_of(ways, file, domain, space);
	}
}

/*
 * What Xen writes to the page of hypercalls: for each number, of guests without their own
 * page tables, push rcx, push r11, mov the number to eax, syscall, pop r11, pop rcx, ret;
 * of others, mov, vmcall or vmmcall, ret (Xen 4.17: xen/arch/x86/pv/hypercall.c, and
 * init_hypercall_page() in hvm/vmx/vmx.c and hvm/svm/svm.c).
 */
static void fill_hypercalls(enum hypercall_page kind, uint8_t *page)
{
	static const uint8_t pv[] = {0x51, 0x41, 0x53, 0xb8, 0,	   0,	 0,
				     0,	   0x0f, 0x05, 0x41, 0x5b, 0x59, 0xc3};
	static const uint8_t hvm[] = {0xb8, 0, 0, 0, 0, 0x0f, 0x01, 0xc1, 0xc3};
	const size_t stub = 32;

	memset(page, 0xcc, GUEST_PAGE_SIZE);
	for (size_t i = 0; i < GUEST_PAGE_SIZE / stub; i++) {
		uint8_t *to = page + i * stub;

		memcpy(to, kind == HYPERCALLS_PV ? pv : hvm,
		       kind == HYPERCALLS_PV ? sizeof(pv) : sizeof(hvm));
		to[kind == HYPERCALLS_PV ? 4 : 1] = (uint8_t)i;
	}
}

/* Makes the rules for the page of hypercalls, at its address in a program; NULL if there
 * is no such page. */
static struct unwind_table *make_hypercalls(enum hypercall_page kind,
					    const struct placed_table *placed)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct unwind_table *made = NULL;
	uint8_t page[GUEST_PAGE_SIZE];
	struct error ignored;

	fill_hypercalls(kind, page);
	for (size_t i = 0; builder && i < placed->table->origins; i++) {
		uint64_t address = placed->table->origin[i].hypercall_page;

		if (address && placed->is_found[i] && !made &&
		    unwind_table_add_hypercalls(builder, page, address + placed->shift[i],
						&ignored) == 0)
			made = unwind_builder_finish(builder);
	}
	unwind_builder_free(builder);
	return made;
}

/* Makes one table of the first @count files of @all; it is NULL if one has no rules. */
static void make_all(const struct ways *ways, struct all_files *all, size_t count)
{
	const char *specs[WAYS_FILES];
	struct error ignored;

	for (size_t i = 0; i < count; i++)
		specs[i] = ways->files[all->file[i]].spec;
	all->table = program_table_make_apart(specs, count, ways->debug_directory,
					      &ignored);
}

static bool has_rules(const struct ways *ways, const struct file *file)
{
	const char *const specs[] = {file->spec};
	struct error ignored;
	struct program_table *alone = program_table_make(specs, 1, ways->debug_directory,
							 NULL, &ignored);
	bool has = alone != NULL;

	program_table_free(alone);
	return has;
}

/* Makes one table of all files that have something to unwind the CPU by. */
static void find_all(const struct ways *ways, enum cpu_kind cpu, struct all_files *all)
{
	size_t count = 0, left = 0;

	for (size_t i = 0; i < ways->file_count && i < WAYS_FILES; i++)
		if (program_table_cpu(ways->files[i].spec, ways->debug_directory) == cpu)
			all->file[count++] = i;
	make_all(ways, all, count);
	if (!all->table) {
		for (size_t i = 0; i < count; i++)
			if (has_rules(ways, &ways->files[all->file[i]]))
				all->file[left++] = all->file[i];
		make_all(ways, all, left);
	}
	all->is_made = true;
}

/* Makes a table of all that the way's files have to unwind by. */
static void make_table(struct ways *ways, struct way *way)
{
	struct all_files *all = &ways->all[way->kind];
	struct placed_table placed;
	bool is_any = false;

	if (!way->files)
		return;
	if (!all->is_made)
		find_all(ways, way->kind, all);
	placed = (struct placed_table){.table = all->table};
	for (size_t i = 0; all->table && i < all->table->origins; i++) {
		uint64_t shift = way->shift[all->file[i]];

		/* Rules are moved by pages. */
		placed.is_found[i] = (way->files >> all->file[i] & 1) &&
				     shift % GUEST_PAGE_SIZE == 0;
		placed.shift[i] = shift - all->table->origin[i].home;
		is_any |= placed.is_found[i];
	}
	if (!is_any)
		return;
	placed_table_part(&placed);
	way->table = placed_table_make(&placed);
	if (way->table && way->kind == CPU_X86_64 && way->page != HYPERCALLS_NONE)
		way->hypercalls = make_hypercalls(way->page, &placed);
}

/* Returns how stacks of the address space are unwound; NULL is an unknown domain. */
static struct way way_for(const struct ways *ways, const struct recording_domain *domain,
			  uint64_t space)
{
	struct way way = {
		.kind = domain ? (enum cpu_kind)domain->cpu : CPU_UNKNOWN,
		.page = guest_type_hypercalls(domain ? domain->type : GUEST_UNKNOWN),
	};

	if (!cpu_kind_has_tables(way.kind))
		return (struct way){.kind = CPU_UNKNOWN};
	choose_files(ways, domain, space, &way);
	return way;
}

/* Finds the way that equals @wanted, or adds it; NULL if out of memory. */
static const struct way *find_way(struct ways *ways, const struct way *wanted)
{
	struct way *way = ways->first;

	while (way && (way->kind != wanted->kind || way->page != wanted->page ||
		       way->files != wanted->files ||
		       memcmp(way->shift, wanted->shift, sizeof(way->shift)) != 0))
		way = way->next;
	if (way)
		return way;
	way = malloc(sizeof(*way));
	if (!way)
		return NULL;
	*way = *wanted;
	make_table(ways, way);
	way->next = ways->first;
	ways->first = way;
	return way;
}

const struct way *ways_of(struct ways *ways, const struct recording_domain *domain,
			  uint64_t space)
{
	const struct way wanted = way_for(ways, domain, space), *way;

	/* Other threads that need the table wait until it is made. */
	pthread_mutex_lock(&ways->lock);
	way = find_way(ways, &wanted);
	pthread_mutex_unlock(&ways->lock);
	return way;
}
