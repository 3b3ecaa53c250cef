/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load/replay.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/tree.h"
#include "report/load/ways.h"
#include "unwind/stack/stack.h"

/* Limit of stack words and chain addresses that are handled in a chunk. Recorders start a
 * new chunk each second. */
#define WORK_MAX (16 * (uint64_t)RECORDING_MAX_NODES)

#define RECENT 64

/* Chains of the batch whose stacks were unwound in one way */
struct memo {
	const struct way *way; /* NULL for chains that were recorded as chains */
	uint32_t *
		leaf; /* by node of the batch: the new chain's node; 0: not unwound yet */
	size_t room;
};

/* Memory to handle a batch in. Contents left from an earlier batch have no effect. */
struct unwinder {
	struct unwinder *next; /* in the list of idle unwinders */
	struct stack_replay *stack;
	struct code_notes notes;
	struct tree tree; /* the new chains */
	struct memo *memos;
	size_t memos_used; /* for this batch; the first is for recorded chains */
	size_t memo_count; /* memos that have memory */
	struct recent {
		uint32_t domain;
		uint32_t memo; /* index of the address space's memo; 0: none */
		uint64_t space;
	} recent[RECENT]; /* by recent_of() */
	uint64_t work;
};

struct replay {
	struct ways *ways;
	bool keeps_words;     /* made by replay_new_words() */
	pthread_mutex_t lock; /* held to use the list of idle unwinders */
	struct unwinder *idle;
};

_Static_assert(STACK_CHAIN_MAX == RECORDING_MAX_DEPTH, "a stack is stored as a chain");

struct replay *replay_new(const char *debug_directory)
{
	struct replay *replay = calloc(1, sizeof(*replay));

	if (!replay)
		return NULL;
	pthread_mutex_init(&replay->lock, NULL);
	replay->ways = ways_new(debug_directory);
	if (replay->ways)
		return replay;
	replay_free(replay);
	return NULL;
}

struct replay *replay_new_words(void)
{
	struct replay *replay = replay_new("");

	if (replay)
		replay->keeps_words = true;
	return replay;
}

static void unwinder_free(struct unwinder *unwinder)
{
	for (size_t i = 0; i < unwinder->memo_count; i++)
		free(unwinder->memos[i].leaf);
	free(unwinder->memos);
	stack_replay_free(unwinder->stack);
	tree_free(&unwinder->tree);
	free(unwinder);
}

void replay_free(struct replay *replay)
{
	struct unwinder *next;

	if (!replay)
		return;
	for (struct unwinder *unwinder = replay->idle; unwinder; unwinder = next) {
		next = unwinder->next;
		unwinder_free(unwinder);
	}
	ways_free(replay->ways);
	pthread_mutex_destroy(&replay->lock);
	free(replay);
}

int replay_add(struct replay *replay, const char *spec)
{
	return ways_add(replay->ways, spec);
}

void replay_forget_moves(struct replay *replay)
{
	ways_forget_moves(replay->ways);
}

int replay_move(struct replay *replay, const char *path, uint32_t domain, uint64_t space,
		uint64_t shift)
{
	return ways_move(replay->ways, path, domain, space, shift);
}

static struct unwinder *unwinder_new(void)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->stack = stack_replay_new();
	if (unwinder->stack && tree_init(&unwinder->tree, SAMPLES_ROOTS) == 0)
		return unwinder;
	unwinder_free(unwinder);
	return NULL;
}

/* Takes an idle unwinder or makes one, so that there are no more unwinders than threads.
 * NULL if out of memory. */
static struct unwinder *take_unwinder(struct replay *replay)
{
	struct unwinder *unwinder;

	pthread_mutex_lock(&replay->lock);
	unwinder = replay->idle;
	if (unwinder)
		replay->idle = unwinder->next;
	pthread_mutex_unlock(&replay->lock);
	return unwinder ?: unwinder_new();
}

static void give_back(struct replay *replay, struct unwinder *unwinder)
{
	pthread_mutex_lock(&replay->lock);
	unwinder->next = replay->idle;
	replay->idle = unwinder;
	pthread_mutex_unlock(&replay->lock);
}

/* Begins a memo for @nodes nodes. False if out of memory. */
static bool add_memo(struct unwinder *unwinder, const struct way *way, size_t nodes)
{
	struct memo *memo;

	if (unwinder->memos_used == unwinder->memo_count) {
		if (!array_grow(&unwinder->memos, unwinder->memo_count + 1,
				sizeof(*unwinder->memos)))
			return false;
		unwinder->memos[unwinder->memo_count++] = (struct memo){0};
	}
	memo = &unwinder->memos[unwinder->memos_used];
	if (nodes > memo->room) {
		if (!array_grow(&memo->leaf, nodes, sizeof(*memo->leaf)))
			return false;
		memo->room = nodes;
	}
	memset(memo->leaf, 0, nodes * sizeof(*memo->leaf));
	memo->way = way;
	unwinder->memos_used++;
	return true;
}

/* Prepares the unwinder for the batch. False if out of memory. */
static bool unwinder_begin(struct unwinder *unwinder, const struct samples_batch *batch)
{
	/* Results must not depend on what this thread has seen before: notes on "code" in
	 * the stacks of a hostile recording may be wrong. Notes on tables can't be. */
	memset(unwinder->notes.exit, 0, sizeof(unwinder->notes.exit));
	memset(unwinder->notes.block, 0, sizeof(unwinder->notes.block));
	code_notes_renew(&unwinder->notes);
	tree_clear(&unwinder->tree, SAMPLES_ROOTS);
	memset(unwinder->recent, 0, sizeof(unwinder->recent));
	unwinder->memos_used = 0;
	unwinder->work = 0;
	return add_memo(unwinder, NULL, batch->nodes);
}

static struct recent *recent_of(struct unwinder *unwinder, uint32_t domain,
				uint64_t space)
{
	/* The root of page tables is a page. */
	return &unwinder->recent[(domain + (space >> GUEST_PAGE_SHIFT)) % RECENT];
}

/* Returns the memo for the stacks of an address space; NULL if out of memory. */
static struct memo *memo_of(struct replay *replay, struct unwinder *unwinder,
			    const struct summary *summary, uint32_t domain,
			    uint64_t space, size_t nodes)
{
	struct recent *recent;
	const struct way *way;
	uint32_t i = 1;

	if (!ways_have_spaces(replay->ways))
		space = 0;
	recent = recent_of(unwinder, domain, space);
	if (recent->memo && recent->domain == domain && recent->space == space)
		return &unwinder->memos[recent->memo];
	way = ways_of(replay->ways, summary_domain(summary, domain), space);
	if (!way)
		return NULL;
	while (i < unwinder->memos_used && unwinder->memos[i].way != way)
		i++;
	if (i == unwinder->memos_used && !add_memo(unwinder, way, nodes))
		return NULL;
	*recent = (struct recent){domain, i, space};
	return &unwinder->memos[i];
}

/* Collects the addresses from @node of the batch to its root, and returns their number.
 */
static uint32_t collect_addresses(const struct samples_batch *batch, uint32_t node,
				  uint64_t *address)
{
	uint32_t count = 0;

	for (; node >= SAMPLES_ROOTS; node = batch->parent[node])
		address[count++] = batch->address[node];
	return count;
}

/* Returns the chain's node in the new tree, or that of the part that there is room for.
 * TREE_NONE if out of memory. */
static uint32_t intern_chain(struct unwinder *unwinder, struct chain *chain)
{
	uint32_t most = SAMPLES_ROOTS + RECORDING_MAX_NODES, node;

	if (unwinder->tree.count + chain->count > most) {
		chain->end = CHAIN_NOT_CAPTURED;
		chain->count = unwinder->tree.count < most && chain->count ? 1 : 0;
	}
	node = (uint32_t)chain->end;
	for (uint32_t i = chain->count; i > 0 && node != TREE_NONE; i--)
		node = tree_intern(&unwinder->tree, node, chain->address[i - 1]);
	return node;
}

/* Makes a chain of @count addresses of a stack, in place: of the first one, and of the
 * words that do not point into the stack. */
static void keep_words(uint64_t *captured, uint32_t count, struct chain *chain)
{
	uint64_t low = count > STACK_SP ? captured[STACK_SP] - STACK_RED_ZONE : 0;

	*chain = (struct chain){
		.address = captured, .count = count > 0, .end = CHAIN_NOT_CAPTURED};
	/* The last one is the address of the uppermost word. */
	for (uint32_t i = STACK_REGISTERS; i + 1 < count; i++) {
		uint64_t word = stack_word_value(captured[i]);

		if (word - low > STACK_RED_ZONE + STACK_BYTES_MAX)
			captured[chain->count++] = word;
	}
}

/* Unwinds the captured stack at @node, and returns the chain's node in the new tree. */
static uint32_t unwind_stack(struct unwinder *unwinder, const struct way *way,
			     bool keeps_words, const struct samples_batch *batch,
			     uint32_t node)
{
	uint64_t captured[RECORDING_MAX_DEPTH], address[CHAIN_ROOM];
	uint32_t count = collect_addresses(batch, node, captured);
	struct chain chain = {.address = address};
	bool is_too_much = unwinder->work > WORK_MAX;

	if (is_too_much && count)
		count = 1;
	if (keeps_words)
		keep_words(captured, count, &chain);
	else
		stack_unwind(unwinder->stack, way->kind, captured, count, way->table,
			     way->hypercalls, &unwinder->notes, &chain);
	unwinder->work += count + chain.count;
	return intern_chain(unwinder, &chain);
}

/* Copies the chain of addresses at @node, and returns its node in the new tree. */
static uint32_t copy_chain(struct unwinder *unwinder, const struct samples_batch *batch,
			   uint32_t node)
{
	uint64_t address[RECORDING_MAX_DEPTH];
	struct chain chain = {.address = address, .count = batch->depth[node]};

	collect_addresses(batch, node, address);
	while (node >= SAMPLES_ROOTS)
		node = batch->parent[node];
	chain.end = (enum chain_end)node;
	return intern_chain(unwinder, &chain);
}

/* Replaces the batch's tree by the new one. */
static bool replace_nodes(struct unwinder *unwinder, struct samples_batch *batch)
{
	const struct tree *tree = &unwinder->tree;

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

static bool replace_chains(struct replay *replay, struct unwinder *unwinder,
			   const struct summary *summary, struct samples_batch *batch)
{
	if (!unwinder_begin(unwinder, batch))
		return false;
	for (size_t i = 0; i < batch->count; i++) {
		bool is_stack = batch->chain_kind[i] == CHAIN_KIND_STACK;
		uint32_t node = batch->stack[i], *leaf;
		struct memo *memo = &unwinder->memos[0];

		if (is_stack)
			memo = memo_of(replay, unwinder, summary, batch->domain[i],
				       batch->processes[batch->process[i]].space,
				       batch->nodes);
		if (!memo)
			return false;
		leaf = &memo->leaf[node];
		/* Node 0 is the root of whole chains, where a chain without addresses
		 * ends. */
		if (!*leaf && node)
			*leaf = is_stack ? unwind_stack(unwinder, memo->way,
							replay->keeps_words, batch, node)
					 : copy_chain(unwinder, batch, node);
		if (*leaf == TREE_NONE)
			return false;
		batch->stack[i] = *leaf;
	}
	batch->has_stacks = false;
	return replace_nodes(unwinder, batch);
}

int replay_batch(struct replay *replay, const struct summary *summary,
		 struct samples_batch *batch)
{
	struct unwinder *unwinder = take_unwinder(replay);
	bool is_done = unwinder && replace_chains(replay, unwinder, summary, batch);

	if (unwinder)
		give_back(replay, unwinder);
	return is_done ? 0 : -1;
}
