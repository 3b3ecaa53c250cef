/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/tree.h"
#include "format/chunk.h"
#include "format/samples/nodes.h"

/* A chunk with this many samples or nodes, or bytes of payload, is full. One more sample
 * can't make it exceed the limits. */
#define FULL_SAMPLES (RECORDING_MAX_SAMPLES / 4)
#define FULL_NODES   (RECORDING_MAX_NODES / 2)
#define FULL_BYTES   (RECORDING_MAX_PAYLOAD / 2)

/* Maximum size of a listed process, bytes: a space, a pid, a name, a tid and a name */
#define PROCESS_BYTES (10 + 5 + RECORDING_COMM + 10 + RECORDING_COMM)

struct samples_encoder {
	size_t count;
	uint64_t base_time;
	uint64_t last_time;
	size_t steps; /* number of samples whose time differs from the previous one */
	uint64_t time_unit;	/* greatest common divisor of the differences */
	uint64_t cpu_time_unit; /* greatest common divisor of the CPU times, ns; 0: all
				   are 0 so far */
	struct buffer domain, vcpu, weight, chain_kind;
	struct buffer state;		 /* uint8_t */
	struct buffer time;		 /* int64_t: ns since the previous sample */
	struct buffer cpu_time;		 /* uint64_t: ns */
	struct buffer stack;		 /* uint32_t: node */
	bool plain_domain, plain_weight; /* only default values so far */
	bool lacks_cpu_time;		 /* at least one sample has no CPU time */
	bool plain_kind;		 /* only CHAIN_KIND_FRAMES so far */
	struct buffer process;		 /* index in the list of processes */
	bool plain_process;		 /* only process 0 so far */
	struct buffer exit;
	bool has_exit;		 /* one was not 0 */
	struct buffer processes; /* the list of processes: struct recording_process */
	uint32_t process_count;
	struct tree process_tree; /* a root, then the parts of each process */
	uint32_t *process_index;  /* index in the list + 1, by tree node; 0: not listed */
	uint32_t process_room;

	struct nodes nodes;
	struct node_columns columns;
	struct buffer first, second; /* columns under construction */
};

struct samples_encoder *samples_encoder_new(void)
{
	struct samples_encoder *encoder = calloc(1, sizeof(*encoder));

	if (!encoder)
		return NULL;
	encoder->plain_domain = encoder->plain_weight = encoder->plain_process = true;
	encoder->plain_kind = true;
	if (nodes_init(&encoder->nodes) < 0 || tree_init(&encoder->process_tree, 1) < 0) {
		samples_encoder_free(encoder);
		return NULL;
	}
	return encoder;
}

void samples_encoder_free(struct samples_encoder *encoder)
{
	if (!encoder)
		return;
	buffer_free(&encoder->time);
	buffer_free(&encoder->domain);
	buffer_free(&encoder->vcpu);
	buffer_free(&encoder->state);
	buffer_free(&encoder->weight);
	buffer_free(&encoder->stack);
	buffer_free(&encoder->cpu_time);
	buffer_free(&encoder->chain_kind);
	buffer_free(&encoder->process);
	buffer_free(&encoder->exit);
	buffer_free(&encoder->processes);
	tree_free(&encoder->process_tree);
	free(encoder->process_index);
	buffer_free(&encoder->first);
	buffer_free(&encoder->second);
	buffer_free(&encoder->columns.drop);
	buffer_free(&encoder->columns.growth);
	buffer_free(&encoder->columns.known);
	buffer_free(&encoder->columns.near);
	buffer_free(&encoder->columns.call);
	buffer_free(&encoder->columns.call_low);
	nodes_free(&encoder->nodes);
	free(encoder);
}

/* Returns the greatest common divisor, by Euclid's algorithm; 0 only if both numbers are
 * 0. */
static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void add_time(struct samples_encoder *encoder, uint64_t time)
{
	int64_t since;

	if (!encoder->count)
		encoder->base_time = encoder->last_time = time;
	since = (int64_t)(time - encoder->last_time);
	if (since) {
		uint64_t apart = since > 0 ? (uint64_t)since : -(uint64_t)since;

		encoder->time_unit = greatest_common_divisor(apart, encoder->time_unit);
		encoder->steps++;
	}
	buffer_put(&encoder->time, &since, sizeof(since));
	encoder->last_time = time;
}

static void add_cpu_time(struct samples_encoder *encoder, uint64_t ns)
{
	if (ns > RECORDING_MAX_CPU_TIME)
		ns = RECORDING_MAX_CPU_TIME;
	if (ns)
		encoder->cpu_time_unit = greatest_common_divisor(ns,
								 encoder->cpu_time_unit);
	buffer_put(&encoder->cpu_time, &ns, sizeof(ns));
}

static enum chain_kind kind_of(const struct chain *chain)
{
	if (chain->is_stack)
		return CHAIN_KIND_STACK;
	return chain->frameless ? CHAIN_KIND_FRAMELESS : CHAIN_KIND_FRAMES;
}

/* Lists the process if it is new. Returns its index in the list; TREE_NONE if out of
 * memory. */
static uint32_t list_process(struct samples_encoder *encoder,
			     const struct recording_process *process)
{
	struct recording_process copy = {
		.space = process->space, .pid = process->pid, .tid = process->tid};
	uint64_t key[7] = {process->space, process->pid};
	uint32_t node = 0, *index;
	size_t keys = 4;

	memcpy(copy.comm, process->comm, strnlen(process->comm, sizeof(copy.comm) - 1));
	memcpy(&key[2], copy.comm, sizeof(copy.comm));
	if (process->tid || *process->thread) {
		memcpy(copy.thread, process->thread,
		       strnlen(process->thread, sizeof(copy.thread) - 1));
		key[4] = process->tid;
		memcpy(&key[5], copy.thread, sizeof(copy.thread));
		keys = 7;
	}
	for (size_t i = 0; i < keys; i++) {
		node = tree_intern(&encoder->process_tree, node, key[i]);
		if (node == TREE_NONE)
			return TREE_NONE;
	}
	if (node >= encoder->process_room) {
		uint32_t room = encoder->process_tree.capacity;

		if (!array_grow_zeroed(&encoder->process_index, encoder->process_room,
				       room, sizeof(*encoder->process_index)))
			return TREE_NONE;
		encoder->process_room = room;
	}
	index = &encoder->process_index[node];
	if (!*index) {
		buffer_put(&encoder->processes, &copy, sizeof(copy));
		*index = ++encoder->process_count;
	}
	return *index - 1;
}

int samples_encoder_add(struct samples_encoder *encoder, const struct sample *sample)
{
	enum chain_kind kind = kind_of(&sample->chain);
	uint32_t node = nodes_add(&encoder->nodes, &sample->chain), process;

	if (!node && sample->chain.count)
		return -1;
	process = list_process(encoder, &sample->process);
	if (process == TREE_NONE)
		return -1;
	add_time(encoder, sample->time);
	buffer_put_varint(&encoder->domain, sample->domain);
	encoder->plain_domain &= sample->domain == 0;
	buffer_put_varint(&encoder->vcpu, sample->vcpu);
	buffer_put(&encoder->state, &sample->state, sizeof(sample->state));
	buffer_put_varint(&encoder->weight, sample->weight);
	encoder->plain_weight &= sample->weight == 1;
	buffer_put(&encoder->stack, &node, sizeof(node));
	if (sample->has_cpu_time)
		add_cpu_time(encoder, sample->cpu_time);
	else
		encoder->lacks_cpu_time = true;
	buffer_put_varint(&encoder->chain_kind, kind);
	encoder->plain_kind &= kind == CHAIN_KIND_FRAMES;
	buffer_put_varint(&encoder->process, process);
	encoder->plain_process &= process == 0;
	buffer_put_varint(&encoder->exit, sample->exit & EXIT_MAX);
	encoder->has_exit |= sample->exit != 0;
	encoder->count++;
	return 0;
}

size_t samples_encoder_count(const struct samples_encoder *encoder)
{
	return encoder->count;
}

size_t samples_encoder_nodes(const struct samples_encoder *encoder)
{
	return encoder->nodes.count;
}

bool samples_encoder_full(const struct samples_encoder *encoder)
{
	size_t bytes = encoder->time.size + encoder->domain.size + encoder->vcpu.size +
		       encoder->state.size + encoder->weight.size + encoder->stack.size +
		       encoder->cpu_time.size + encoder->chain_kind.size +
		       encoder->process.size + encoder->exit.size +
		       encoder->process_count * PROCESS_BYTES +
		       encoder->nodes.count * NODE_BYTES;

	return encoder->count >= FULL_SAMPLES || encoder->nodes.count >= FULL_NODES ||
	       bytes >= FULL_BYTES;
}

static void put_column(struct buffer *payload, enum samples_tag tag,
		       struct buffer *column)
{
	payload->failed |= column->failed;
	field_put(payload, tag, column->data, column->size);
	buffer_reset(column);
}

static void put_pauses(struct buffer *payload, const struct pauses *pauses)
{
	struct buffer column = {0};
	unsigned int last = 0;

	for (unsigned int i = 0; i < PAUSES_BUCKETS; i++) {
		if (!pauses->bucket[i])
			continue;
		buffer_put_varint(&column, i - last);
		buffer_put_varint(&column, pauses->bucket[i]);
		last = i;
	}
	put_column(payload, SAMPLES_PAUSES, &column);
	buffer_free(&column);
	field_put_number(payload, SAMPLES_PAUSE_SUM, pauses->sum);
	field_put_number(payload, SAMPLES_PAUSE_MAX, pauses->max);
}

/* Puts each different time once, with the number of consecutive samples that have it. The
 * step is the mean difference between two times. */
static void put_times(struct samples_encoder *encoder, struct buffer *payload)
{
	const int64_t *since = (const int64_t *)encoder->time.data;
	struct buffer *times = &encoder->first, *same = &encoder->second;
	int64_t unit = encoder->time_unit ? (int64_t)encoder->time_unit : 1, step = 0;
	size_t i = 0;

	payload->failed |= encoder->time.failed;
	if (encoder->steps)
		step = (int64_t)(encoder->last_time - encoder->base_time) / unit /
		       (int64_t)encoder->steps;
	while (i < encoder->count && !payload->failed) {
		size_t first = i++;

		while (i < encoder->count && !since[i])
			i++;
		if (first)
			buffer_put_signed(times,
					  (int64_t)((uint64_t)(since[first] / unit) -
						    (uint64_t)step));
		buffer_put_varint(same, i - first);
	}
	put_column(payload, SAMPLES_TIME, times);
	field_put_number(payload, SAMPLES_TIME_UNIT, (uint64_t)unit);
	field_put_number(payload, SAMPLES_TIME_STEP, (uint64_t)step);
	if (encoder->steps + 1 < encoder->count)
		put_column(payload, SAMPLES_SAME_TIME, same);
	buffer_reset(same);
}

static void put_states(struct samples_encoder *encoder, struct buffer *payload)
{
	payload->failed |= encoder->state.failed;
	for (size_t i = 0; i < encoder->count && !payload->failed; i++)
		buffer_put_varint(&encoder->first, encoder->state.data[i]);
	put_column(payload, SAMPLES_STATE, &encoder->first);
}

/* Returns the CPU time that the majority of running vCPUs' samples has (Boyer and
 * Moore, "MJRTY - A fast majority vote algorithm", 1981) or, without a majority, a
 * frequent one. */
static uint64_t usual_cpu_time(const struct samples_encoder *encoder)
{
	const uint64_t *times = (const uint64_t *)encoder->cpu_time.data;
	uint64_t usual = 0;
	size_t votes = 0;

	for (size_t i = 0; i < encoder->count; i++) {
		if (encoder->state.data[i] != VCPU_RUNNING)
			continue;
		if (!votes)
			usual = times[i];
		votes += times[i] == usual ? 1 : -1;
	}
	return usual;
}

static void put_cpu_times(struct samples_encoder *encoder, struct buffer *payload)
{
	const uint64_t *times = (const uint64_t *)encoder->cpu_time.data;
	struct buffer *column = &encoder->first;
	uint64_t unit = encoder->cpu_time_unit ? encoder->cpu_time_unit : 1, usual;

	payload->failed |= encoder->cpu_time.failed;
	if (!encoder->count || encoder->lacks_cpu_time || payload->failed)
		return;
	usual = usual_cpu_time(encoder);
	for (size_t i = 0; i < encoder->count; i++)
		if (encoder->state.data[i] == VCPU_RUNNING)
			buffer_put_signed(column,
					  (int64_t)(times[i] - usual) / (int64_t)unit);
		else
			buffer_put_varint(column, times[i] / unit);
	put_column(payload, SAMPLES_CPU_TIME, column);
	field_put_number(payload, SAMPLES_CPU_TIME_UNIT, unit);
	field_put_number(payload, SAMPLES_CPU_TIME_USUAL, usual / unit);
}

static void put_stacks(struct samples_encoder *encoder, struct buffer *payload)
{
	uint32_t *stacks = (uint32_t *)encoder->stack.data;
	struct node_columns *columns = &encoder->columns;
	struct buffer *low = &encoder->first, *high = &encoder->second;
	bool any_high = false;

	payload->failed |= encoder->stack.failed ||
			   nodes_store(&encoder->nodes, columns, stacks, encoder->count) <
				   0;
	for (size_t i = 0; i < encoder->count && !payload->failed; i++) {
		buffer_put_varint(low, stacks[i] % STACK_LOW);
		buffer_put_varint(high, stacks[i] / STACK_LOW);
		any_high |= stacks[i] >= STACK_LOW;
	}
	put_column(payload, SAMPLES_STACK, low);
	if (any_high)
		put_column(payload, SAMPLES_STACK_HIGH, high);
	buffer_reset(high);
	field_put_number(payload, SAMPLES_NODES, encoder->nodes.count);
	put_column(payload, SAMPLES_DROP, &columns->drop);
	put_column(payload, SAMPLES_GROWTH, &columns->growth);
	put_column(payload, SAMPLES_KNOWN, &columns->known);
	put_column(payload, SAMPLES_NEAR, &columns->near);
	put_column(payload, SAMPLES_CALL, &columns->call);
	put_column(payload, SAMPLES_CALL_LOW, &columns->call_low);
	buffer_reset(&encoder->stack);
}

static void put_links(struct buffer *payload, const uint64_t *links)
{
	static const unsigned int tags[LINK_KINDS] = {
		[LINK_PROVEN] = SAMPLES_LINKS_PROVEN,
		[LINK_POSSIBLE] = SAMPLES_LINKS_POSSIBLE,
		[LINK_IMPOSSIBLE] = SAMPLES_LINKS_IMPOSSIBLE,
		[LINK_UNKNOWN] = SAMPLES_LINKS_UNKNOWN,
	};

	for (unsigned int i = 0; i < LINK_KINDS; i++)
		if (links[i])
			field_put_number(payload, tags[i], links[i]);
}

static void put_counts(struct buffer *payload, const struct sampling_counts *counts)
{
	field_put_number(payload, SAMPLES_LOST, counts->lost);
	field_put_number(payload, SAMPLES_MISSED, counts->missed);
	put_pauses(payload, &counts->pauses);
	put_links(payload, counts->links);
}

/* Appends a text, with its length before it. Returns whether it is empty. */
static bool put_text(struct buffer *column, const char *text)
{
	size_t length = strlen(text);

	buffer_put_varint(column, length);
	buffer_put(column, text, length);
	return !length;
}

/* Puts the numbers in the first column and the texts in the second, unless all are 0 or
 * empty. */
static void put_known(struct samples_encoder *encoder, struct buffer *payload,
		      enum samples_tag numbers, bool any_number, enum samples_tag texts,
		      bool any_text)
{
	if (any_number)
		put_column(payload, numbers, &encoder->first);
	if (any_text)
		put_column(payload, texts, &encoder->second);
	buffer_reset(&encoder->first);
	buffer_reset(&encoder->second);
}

/* Puts numbers and names of the processes and their threads, if any are known. */
static void put_tasks(struct samples_encoder *encoder, struct buffer *payload,
		      const struct recording_process *list)
{
	bool any_number = false, any_text = false;

	for (uint32_t i = 0; i < encoder->process_count; i++) {
		buffer_put_varint(&encoder->first, list[i].pid);
		any_number |= list[i].pid != 0;
		any_text |= !put_text(&encoder->second, list[i].comm);
	}
	put_known(encoder, payload, SAMPLES_PID, any_number, SAMPLES_COMM, any_text);
	any_number = any_text = false;
	for (uint32_t i = 0; i < encoder->process_count; i++) {
		buffer_put_varint(&encoder->first, list[i].tid);
		any_number |= list[i].tid != 0;
		any_text |= !put_text(&encoder->second, list[i].thread);
	}
	put_known(encoder, payload, SAMPLES_TID, any_number, SAMPLES_THREAD, any_text);
}

/* Puts the list of processes, unless no process is known, and the column of indexes,
 * unless there is only one process. */
static void put_processes(struct samples_encoder *encoder, struct buffer *payload)
{
	const struct recording_process *list = (const void *)encoder->processes.data;
	uint32_t count = encoder->process_count;

	payload->failed |= encoder->processes.failed;
	if (payload->failed || !count ||
	    (count == 1 && !list->space && !list->pid && !*list->comm && !list->tid &&
	     !*list->thread))
		return;
	for (uint32_t i = 0; i < count; i++)
		buffer_put_varint(&encoder->first, list[i].space);
	put_column(payload, SAMPLES_SPACES, &encoder->first);
	if (!encoder->plain_process)
		put_column(payload, SAMPLES_SPACE, &encoder->process);
	put_tasks(encoder, payload, list);
}

static void reset_processes(struct samples_encoder *encoder)
{
	buffer_reset(&encoder->process);
	buffer_reset(&encoder->processes);
	tree_clear(&encoder->process_tree, 1);
	if (encoder->process_room)
		memset(encoder->process_index, 0,
		       encoder->process_room * sizeof(*encoder->process_index));
	encoder->process_count = 0;
	encoder->plain_process = true;
}

void samples_encoder_finish(struct samples_encoder *encoder,
			    const struct sampling_counts *counts, struct buffer *payload)
{
	field_put_number(payload, SAMPLES_COUNT, encoder->count);
	field_put_number(payload, SAMPLES_BASE_TIME, encoder->base_time);
	put_times(encoder, payload);
	if (!encoder->plain_domain)
		put_column(payload, SAMPLES_DOMAIN, &encoder->domain);
	put_column(payload, SAMPLES_VCPU, &encoder->vcpu);
	put_states(encoder, payload);
	put_cpu_times(encoder, payload);
	if (!encoder->plain_weight)
		put_column(payload, SAMPLES_WEIGHT, &encoder->weight);
	put_stacks(encoder, payload);
	if (counts)
		put_counts(payload, counts);
	if (!encoder->plain_kind)
		put_column(payload, SAMPLES_CHAIN_KIND, &encoder->chain_kind);
	put_processes(encoder, payload);
	if (encoder->has_exit)
		put_column(payload, SAMPLES_EXIT, &encoder->exit);

	buffer_reset(&encoder->time);
	buffer_reset(&encoder->state);
	buffer_reset(&encoder->domain);
	buffer_reset(&encoder->weight);
	buffer_reset(&encoder->cpu_time);
	buffer_reset(&encoder->chain_kind);
	buffer_reset(&encoder->exit);
	encoder->has_exit = false;
	reset_processes(encoder);
	encoder->steps = 0;
	encoder->time_unit = encoder->cpu_time_unit = 0;
	encoder->plain_domain = encoder->plain_weight = encoder->plain_kind = true;
	encoder->lacks_cpu_time = false;
	encoder->count = 0;
	nodes_reset(&encoder->nodes);
}
