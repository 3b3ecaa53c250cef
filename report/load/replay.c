/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/tree.h"
#include "symbols/spec.h"
#include "tables/program_table.h"
#include "unwind/stack/stack.h"
#include "unwind/table/code.h"

/* How many words of stacks and addresses of chains may be handled in a chunk. Recorders
 * start a new one each second. */
#define WORK_MAX (16 * (uint64_t)RECORDING_MAX_NODES)

/* A file to unwind by. */
struct file {
	char *spec;	    /* PATH[@OFFSET] */
	const char *domain; /* NULL: all; in the same memory */
};

/* How stacks are unwound that have this in common. */
struct way {
	enum cpu_kind kind;
	enum guest_type type;	     /* which decides about the hypercalls */
	uint64_t files;		     /* one bit for each of the first 64 */
	struct program_table *table; /* NULL: none */
	struct unwind_table *hypercalls;
	uint32_t *leaf; /* by node of the batch: that of the chain; 0: not yet */
	size_t leaves;
};

struct replay {
	char *debug_directory;
	struct file *files;
	size_t file_count;
	struct way *ways;
	size_t way_count;
	struct stack_replay *stack;
	struct code_notes *notes;
	struct tree tree; /* of the new chains */
	uint64_t work;
};

_Static_assert(STACK_CHAIN_MAX == RECORDING_MAX_DEPTH, "a stack is stored as a chain");

struct replay *replay_new(const char *debug_directory)
{
	struct replay *replay = calloc(1, sizeof(*replay));

	if (!replay)
		return NULL;
	replay->debug_directory = strdup(debug_directory);
	if (replay->debug_directory)
		return replay;
	free(replay);
	return NULL;
}

void replay_free(struct replay *replay)
{
	if (!replay)
		return;
	for (size_t i = 0; i < replay->file_count; i++)
		free(replay->files[i].spec);
	for (size_t i = 0; i < replay->way_count; i++) {
		program_table_free(replay->ways[i].table);
		unwind_table_free(replay->ways[i].hypercalls);
		free(replay->ways[i].leaf);
	}
	free(replay->files);
	free(replay->ways);
	stack_replay_free(replay->stack);
	free(replay->notes);
	if (replay->stack)
		tree_free(&replay->tree);
	free(replay->debug_directory);
	free(replay);
}

int replay_add(struct replay *replay, const char *spec)
{
	struct file file = {.spec = strdup(spec)};
	const char *comm = NULL;
	struct error ignored;
	uint64_t space = 0;

	if (!file.spec ||
	    !array_grow(&replay->files, replay->file_count + 1, sizeof(file))) {
		free(file.spec);
		return -1;
	}
	if (symbols_spec_cut(file.spec, &file.domain, &comm, &space, &ignored) < 0 ||
	    space || comm)
		free(file.spec);
	else
		replay->files[replay->file_count++] = file;
	return 0;
}

/* The files for that domain: at most 64 are used. */
static uint64_t files_for(const struct replay *replay,
			  const struct recording_domain *domain)
{
	uint64_t files = 0;

	for (size_t i = 0; i < replay->file_count && i < 64; i++)
		if (!replay->files[i].domain ||
		    domain_is_called(domain, replay->files[i].domain,
				     strlen(replay->files[i].domain)))
			files |= (uint64_t)1 << i;
	return files;
}

/*
 * What Xen writes to the page of hypercalls: for each number, of guests without their own
 * page tables, push rcx, push r11, mov the number to eax, syscall, pop r11, pop rcx, ret;
 * of others, mov, vmcall or vmmcall, ret (Xen 4.17: xen/arch/x86/pv/hypercall.c, and
 * init_hypercall_page() in hvm/vmx/vmx.c and hvm/svm/svm.c).
 */
static void fill_hypercalls(enum guest_type type, uint8_t *page)
{
	static const uint8_t pv[] = {0x51, 0x41, 0x53, 0xb8, 0,	   0,	 0,
				     0,	   0x0f, 0x05, 0x41, 0x5b, 0x59, 0xc3};
	static const uint8_t hvm[] = {0xb8, 0, 0, 0, 0, 0x0f, 0x01, 0xc1, 0xc3};
	const size_t stub = 32;

	memset(page, 0xcc, GUEST_PAGE_SIZE);
	for (size_t i = 0; i < GUEST_PAGE_SIZE / stub; i++) {
		uint8_t *to = page + i * stub;

		memcpy(to, type == GUEST_PV ? pv : hvm,
		       type == GUEST_PV ? sizeof(pv) : sizeof(hvm));
		to[type == GUEST_PV ? 4 : 1] = (uint8_t)i;
	}
}

/* The rules for that page, where the program has it; NULL if there is none. */
static struct unwind_table *make_hypercalls(const struct way *way)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct unwind_table *made = NULL;
	uint8_t page[GUEST_PAGE_SIZE];
	struct error ignored;

	fill_hypercalls(way->type, page);
	for (size_t i = 0; builder && i < way->table->origins; i++) {
		uint64_t address = way->table->origin[i].hypercall_page;

		if (address && !made &&
		    unwind_table_add_hypercalls(builder, page, address, &ignored) == 0)
			made = unwind_builder_finish(builder);
	}
	unwind_builder_free(builder);
	return made;
}

/* Makes a table of the way's files, as far as there is anything to unwind by in them. */
static void make_table(const struct replay *replay, struct way *way)
{
	const char *specs[64];
	struct error ignored;
	size_t count = 0;

	for (size_t i = 0; i < replay->file_count && i < 64; i++) {
		const char *spec = replay->files[i].spec;
		struct program_table *alone;

		if (!(way->files >> i & 1))
			continue;
		alone = program_table_make(&spec, 1, replay->debug_directory, NULL,
					   &ignored);
		if (alone && alone->cpu == way->kind)
			specs[count++] = spec;
		program_table_free(alone);
	}
	if (!count)
		return;
	way->table = program_table_make(specs, count, replay->debug_directory, NULL,
					&ignored);
	if (way->table && way->kind == CPU_X86_64 && way->type != GUEST_KVM)
		way->hypercalls = make_hypercalls(way);
}

/* NULL if out of memory. */
static struct way *way_of(struct replay *replay, const struct recording_domain *domain)
{
	struct way way = {
		.kind = domain ? (enum cpu_kind)domain->cpu : CPU_UNKNOWN,
		.type = domain ? (enum guest_type)domain->type : GUEST_UNKNOWN,
		.files = files_for(replay, domain),
	};

	if (way.kind != CPU_X86_64 && way.kind != CPU_ARM64)
		way = (struct way){.kind = CPU_UNKNOWN};
	else if (way.type != GUEST_PV)
		way.type = way.type == GUEST_KVM ? GUEST_KVM : GUEST_PVH;
	for (size_t i = 0; i < replay->way_count; i++)
		if (replay->ways[i].kind == way.kind &&
		    replay->ways[i].type == way.type &&
		    replay->ways[i].files == way.files)
			return &replay->ways[i];
	if (!array_grow(&replay->ways, replay->way_count + 1, sizeof(way)))
		return NULL;
	make_table(replay, &way);
	replay->ways[replay->way_count++] = way;
	return &replay->ways[replay->way_count - 1];
}

/* Room to remember the chains of the batch's nodes, all of them unknown. */
static bool renew_leaves(struct way *way, const struct samples_batch *batch)
{
	if (batch->nodes > way->leaves) {
		if (!array_grow(&way->leaf, batch->nodes, sizeof(*way->leaf)))
			return false;
		way->leaves = batch->nodes;
	}
	memset(way->leaf, 0, batch->nodes * sizeof(*way->leaf));
	return true;
}

/* The nodes of the batch, from @node to its root: the addresses; returns their number. */
static uint32_t collect(const struct samples_batch *batch, uint32_t node,
			uint64_t *address)
{
	uint32_t count = 0;

	for (; node >= SAMPLES_ROOTS; node = batch->parent[node])
		address[count++] = batch->address[node];
	return count;
}

/* The node of the chain in the new tree: if there is no room, of its innermost address,
 * or its root. TREE_NONE if out of memory. */
static uint32_t intern(struct replay *replay, struct chain *chain)
{
	uint32_t most = SAMPLES_ROOTS + RECORDING_MAX_NODES, node;

	if (replay->tree.count + chain->count > most) {
		chain->end = CHAIN_NOT_CAPTURED;
		chain->count = replay->tree.count < most && chain->count ? 1 : 0;
	}
	node = (uint32_t)chain->end;
	for (uint32_t i = chain->count; i > 0 && node != TREE_NONE; i--)
		node = tree_intern(&replay->tree, node, chain->address[i - 1]);
	return node;
}

/* The node in the new tree of the chain that the captured stack at @node leads to. */
static uint32_t unwind(struct replay *replay, const struct way *way,
		       const struct samples_batch *batch, uint32_t node)
{
	uint64_t captured[RECORDING_MAX_DEPTH], address[CHAIN_ROOM];
	uint32_t count = collect(batch, node, captured);
	struct chain chain = {.address = address};
	bool is_too_much = replay->work > WORK_MAX;

	stack_unwind(replay->stack, way->kind, captured, is_too_much && count ? 1 : count,
		     way->table ? way->table->table : NULL, way->hypercalls,
		     replay->notes, &chain);
	replay->work += count + chain.count;
	return intern(replay, &chain);
}

/* The same for a chain of addresses. */
static uint32_t copy(struct replay *replay, const struct samples_batch *batch,
		     uint32_t node)
{
	uint64_t address[RECORDING_MAX_DEPTH];
	struct chain chain = {.address = address, .count = batch->depth[node]};

	collect(batch, node, address);
	while (node >= SAMPLES_ROOTS)
		node = batch->parent[node];
	chain.end = (enum chain_end)node;
	return intern(replay, &chain);
}

/* Makes the new tree that of the batch. */
static bool replace_nodes(struct replay *replay, struct samples_batch *batch)
{
	const struct tree *tree = &replay->tree;

	if (!samples_batch_grow(batch, tree->count))
		return false;
	batch->nodes = tree->count;
	for (uint32_t i = SAMPLES_ROOTS; i < tree->count; i++) {
		batch->address[i] = tree->nodes[i].key;
		batch->parent[i] = tree->nodes[i].parent;
		batch->depth[i] = (uint16_t)(batch->depth[batch->parent[i]] + 1);
	}
	return true;
}

/* What is needed from the first stack on. */
static bool begin(struct replay *replay)
{
	if (!replay->notes)
		replay->notes = calloc(1, sizeof(*replay->notes));
	if (!replay->stack) {
		replay->stack = stack_replay_new();
		if (replay->stack && tree_init(&replay->tree, SAMPLES_ROOTS) < 0)
			return false;
	}
	if (!replay->notes || !replay->stack)
		return false;
	code_notes_renew(replay->notes);
	tree_clear(&replay->tree, SAMPLES_ROOTS);
	replay->work = 0;
	return true;
}

int replay_batch(struct replay *replay, const struct summary *summary,
		 struct samples_batch *batch)
{
	uint32_t domain = UINT32_MAX;
	struct way *way = NULL, plain = {.kind = CPU_UNKNOWN};
	int status = -1;

	if (!begin(replay) || !renew_leaves(&plain, batch))
		goto out;
	for (size_t i = 0; i < replay->way_count; i++)
		if (!renew_leaves(&replay->ways[i], batch))
			goto out;
	for (size_t i = 0; i < batch->count; i++) {
		bool is_stack = batch->chain_kind[i] == CHAIN_KIND_STACK;
		uint32_t node = batch->stack[i], *leaf;

		if (is_stack && (!way || batch->domain[i] != domain)) {
			size_t before = replay->way_count;

			domain = batch->domain[i];
			way = way_of(replay, summary_domain(summary, domain));
			if (!way ||
			    (replay->way_count > before && !renew_leaves(way, batch)))
				goto out;
		}
		leaf = is_stack ? &way->leaf[node] : &plain.leaf[node];
		/* 0 is the root of whole chains, which is where such a chain ends. */
		if (!*leaf && node)
			*leaf = is_stack ? unwind(replay, way, batch, node)
					 : copy(replay, batch, node);
		if (*leaf == TREE_NONE)
			goto out;
		batch->stack[i] = *leaf;
	}
	batch->has_stacks = false;
	status = replace_nodes(replay, batch) ? 0 : -1;
out:
	free(plain.leaf);
	return status;
}
