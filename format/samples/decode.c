/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/chunk.h"
#include "format/samples/nodes.h"

/* The fields of the payload. All are located before any is decoded, because they can be
 * in any order and some determine the length of others. */
struct columns {
	uint64_t count, base_time, time_unit, time_step, cpu_time_unit, cpu_time_usual;
	uint64_t nodes, lost, missed, pause_sum, pause_max;
	uint64_t links[LINK_KINDS];
	struct cursor time, same_time, domain, vcpu, state, weight, cpu_time, chain_kind;
	struct cursor stack, stack_high, drop, growth, known, near, call, call_low;
	struct cursor pauses, spaces, space, pid, comm, exit, tid, thread;
};

/* Where a field is stored: a number, or a column of numbers. */
struct place {
	enum {
		PLACE_NONE,
		PLACE_NUMBER,
		PLACE_COLUMN
	} kind;
	size_t offset; /* in struct columns */
};

#define NUMBER(member)                                         \
	{                                                      \
		PLACE_NUMBER, offsetof(struct columns, member) \
	}
#define COLUMN(member)                                         \
	{                                                      \
		PLACE_COLUMN, offsetof(struct columns, member) \
	}

static const struct place places[] = {
	[SAMPLES_COUNT] = NUMBER(count),
	[SAMPLES_BASE_TIME] = NUMBER(base_time),
	[SAMPLES_TIME] = COLUMN(time),
	[SAMPLES_TIME_UNIT] = NUMBER(time_unit),
	[SAMPLES_TIME_STEP] = NUMBER(time_step),
	[SAMPLES_SAME_TIME] = COLUMN(same_time),
	[SAMPLES_DOMAIN] = COLUMN(domain),
	[SAMPLES_VCPU] = COLUMN(vcpu),
	[SAMPLES_STATE] = COLUMN(state),
	[SAMPLES_WEIGHT] = COLUMN(weight),
	[SAMPLES_CPU_TIME] = COLUMN(cpu_time),
	[SAMPLES_CPU_TIME_UNIT] = NUMBER(cpu_time_unit),
	[SAMPLES_CPU_TIME_USUAL] = NUMBER(cpu_time_usual),
	[SAMPLES_CHAIN_KIND] = COLUMN(chain_kind),
	[SAMPLES_STACK] = COLUMN(stack),
	[SAMPLES_STACK_HIGH] = COLUMN(stack_high),
	[SAMPLES_NODES] = NUMBER(nodes),
	[SAMPLES_DROP] = COLUMN(drop),
	[SAMPLES_GROWTH] = COLUMN(growth),
	[SAMPLES_KNOWN] = COLUMN(known),
	[SAMPLES_NEAR] = COLUMN(near),
	[SAMPLES_CALL] = COLUMN(call),
	[SAMPLES_CALL_LOW] = COLUMN(call_low),
	[SAMPLES_LOST] = NUMBER(lost),
	[SAMPLES_MISSED] = NUMBER(missed),
	[SAMPLES_PAUSES] = COLUMN(pauses),
	[SAMPLES_PAUSE_SUM] = NUMBER(pause_sum),
	[SAMPLES_PAUSE_MAX] = NUMBER(pause_max),
	[SAMPLES_LINKS_PROVEN] = NUMBER(links[LINK_PROVEN]),
	[SAMPLES_LINKS_POSSIBLE] = NUMBER(links[LINK_POSSIBLE]),
	[SAMPLES_LINKS_IMPOSSIBLE] = NUMBER(links[LINK_IMPOSSIBLE]),
	[SAMPLES_LINKS_UNKNOWN] = NUMBER(links[LINK_UNKNOWN]),
	[SAMPLES_SPACES] = COLUMN(spaces),
	[SAMPLES_SPACE] = COLUMN(space),
	[SAMPLES_PID] = COLUMN(pid),
	[SAMPLES_COMM] = COLUMN(comm),
	[SAMPLES_EXIT] = COLUMN(exit),
	[SAMPLES_TID] = COLUMN(tid),
	[SAMPLES_THREAD] = COLUMN(thread),
};

static bool find_columns(struct cursor payload, struct columns *columns)
{
	struct field field;
	struct fields_seen seen = {0};

	while (field_next(&payload, &field)) {
		struct place place = {PLACE_NONE, 0};
		void *to;

		if (!field_is_new(&seen, field.tag))
			return false;
		if (field.tag < sizeof(places) / sizeof(places[0]))
			place = places[field.tag];
		to = (char *)columns + place.offset;
		if (place.kind == PLACE_NUMBER)
			*(uint64_t *)to = cursor_varint(&field.bytes);
		else if (place.kind == PLACE_COLUMN)
			*(struct cursor *)to = field.bytes;
		if (field.bytes.failed)
			return false;
	}
	return !payload.failed;
}

/* Returns whether the payload has the column, even an empty one. */
static bool has_column(const struct cursor *column)
{
	return column->at;
}

static uint64_t length_of(const struct cursor *column)
{
	return (uint64_t)(column->end - column->at);
}

/*
 * Returns whether the columns are long enough for the counts of samples, nodes and
 * chains: each sample takes at least a byte in the stack column, each node a byte in one
 * of three columns, and each chain a byte in the drop column. Checked before memory is
 * allocated, together with the limits for payloads that compress to almost nothing.
 */
static bool is_possible(const struct columns *columns)
{
	return columns->count <= RECORDING_MAX_SAMPLES &&
	       columns->nodes <= RECORDING_MAX_NODES &&
	       columns->count <= length_of(&columns->stack) &&
	       columns->nodes <= length_of(&columns->known) + length_of(&columns->near) +
					 length_of(&columns->call);
}

bool samples_batch_grow(struct samples_batch *batch, size_t nodes)
{
	if (nodes <= batch->node_capacity)
		return true;
	if (!array_grow(&batch->parent, nodes, sizeof(*batch->parent)) ||
	    !array_grow(&batch->address, nodes, sizeof(*batch->address)) ||
	    !array_grow(&batch->depth, nodes, sizeof(*batch->depth)) ||
	    !array_grow(&batch->ends, nodes, sizeof(*batch->ends)) ||
	    !array_grow(&batch->next_callee, nodes, sizeof(*batch->next_callee)) ||
	    !array_grow(&batch->last_callee, nodes, sizeof(*batch->last_callee)))
		return false;
	batch->node_capacity = nodes;
	return true;
}

/* Allocates the arrays of a chunk that is_possible(); false if out of memory. */
static bool make_room(struct samples_batch *batch, const struct columns *columns)
{
	size_t samples = (size_t)columns->count;
	size_t nodes = (size_t)columns->nodes + SAMPLES_ROOTS;

	if (samples > batch->sample_capacity) {
		if (!array_grow(&batch->time, samples, sizeof(*batch->time)) ||
		    !array_grow(&batch->domain, samples, sizeof(*batch->domain)) ||
		    !array_grow(&batch->vcpu, samples, sizeof(*batch->vcpu)) ||
		    !array_grow(&batch->state, samples, sizeof(*batch->state)) ||
		    !array_grow(&batch->weight, samples, sizeof(*batch->weight)) ||
		    !array_grow(&batch->stack, samples, sizeof(*batch->stack)) ||
		    !array_grow(&batch->cpu_time, samples, sizeof(*batch->cpu_time)) ||
		    !array_grow(&batch->chain_kind, samples,
				sizeof(*batch->chain_kind)) ||
		    !array_grow(&batch->exit, samples, sizeof(*batch->exit)) ||
		    !array_grow(&batch->process, samples, sizeof(*batch->process)) ||
		    !array_grow(&batch->processes, samples, sizeof(*batch->processes)))
			return false;
		batch->sample_capacity = samples;
	}
	if (!samples_batch_grow(batch, nodes))
		return false;
	batch->count = samples;
	batch->nodes = nodes;
	return true;
}

static uint64_t decode_call(struct columns *columns)
{
	struct cursor low = cursor_take(&columns->call_low, 2);

	if (columns->call_low.failed)
		return 0;
	return ((uint64_t)cursor_signed(&columns->call) << 16) | get_le16(low.at);
}

/* Decodes the address of @node, whose caller is already set. */
static void decode_new(struct samples_batch *batch, struct columns *columns,
		       const struct callees *callees, uint32_t node, uint32_t *link)
{
	uint32_t caller = batch->parent[node];
	uint32_t beside = callees->last[caller] ? callees->last[caller] : *link;
	uint64_t address = beside ? batch->address[beside] +
					    (uint64_t)cursor_signed(&columns->near)
				  : batch->address[caller] + decode_call(columns);

	for (unsigned int seen = 0;
	     *link && batch->address[*link] < address && seen < CALLEE_SEARCH; seen++)
		link = &callees->next[*link];
	callees->next[node] = *link;
	*link = callees->last[caller] = node;
	batch->address[node] = address;
}

static bool decode_address(struct samples_batch *batch, struct columns *columns,
			   const struct callees *callees, uint32_t node)
{
	uint32_t caller = batch->parent[node];
	uint32_t *link = callees_from(callees, caller, batch->address[caller]);
	uint64_t known = *link ? cursor_varint(&columns->known) : 0;

	if (!known) {
		decode_new(batch, columns, callees, node, link);
		return true;
	}
	if (known > CALLEE_SEARCH)
		return false;
	while (--known && *link)
		link = &callees->next[*link];
	callees->last[caller] = *link;
	batch->address[node] = batch->address[*link];
	return *link;
}

/* The state of decoding the tree: the last chain. */
struct walk {
	uint32_t path[RECORDING_MAX_DEPTH + 1]; /* nodes, the root first */
	uint64_t length;	/* length of the last chain, without the root */
	uint32_t nodes, chains; /* number of nodes and of chains decoded so far */
};

/* Decodes a chain, which shares its first nodes with the previous chain. */
static bool decode_chain(struct samples_batch *batch, struct columns *columns,
			 const struct callees *callees, struct walk *walk)
{
	uint64_t drop = cursor_varint(&columns->drop), kept = walk->length - drop;
	uint64_t length = walk->length + (uint64_t)cursor_signed(&columns->growth);

	if (drop > walk->length) {
		drop -= walk->length;
		if (drop >= SAMPLES_ROOTS - walk->path[0])
			return false;
		walk->path[0] += (uint32_t)drop;
		kept = 0;
	}
	if (walk->chains == batch->nodes || length > RECORDING_MAX_DEPTH ||
	    length < kept || length - kept > batch->nodes - walk->nodes)
		return false;
	while (kept < length) {
		uint32_t node = walk->nodes++;

		batch->parent[node] = walk->path[kept++];
		batch->depth[node] = (uint16_t)kept;
		callees->last[node] = 0;
		if (!decode_address(batch, columns, callees, node))
			return false;
		walk->path[kept] = node;
	}
	walk->length = length;
	batch->ends[walk->chains++] = walk->path[length];
	return true;
}

/* Decodes the tree; stores the number of chains in *@chains. */
static bool decode_nodes(struct samples_batch *batch, struct columns *columns,
			 uint32_t *chains)
{
	uint32_t lists[CALLEE_LISTS] = {0};
	const struct callees callees = {lists, batch->next_callee, batch->last_callee};
	struct walk walk = {.nodes = SAMPLES_ROOTS};

	for (uint32_t i = 0; i < SAMPLES_ROOTS; i++) {
		batch->parent[i] = i;
		batch->address[i] = 0;
		batch->depth[i] = 0;
		callees.last[i] = 0;
	}
	while (columns->drop.at != columns->drop.end)
		if (!decode_chain(batch, columns, &callees, &walk))
			return false;
	*chains = walk.chains;
	return walk.nodes == batch->nodes && !columns->drop.failed &&
	       !columns->growth.failed && !columns->known.failed &&
	       !columns->near.failed && !columns->call.failed &&
	       !columns->call_low.failed;
}

static bool decode_times(struct samples_batch *batch, const struct columns *columns)
{
	struct cursor times = columns->time, rows = columns->same_time;
	uint64_t time = columns->base_time, step = columns->time_step;
	uint64_t unit = columns->time_unit, *to = batch->time;
	size_t count = batch->count;

	for (size_t i = 0; i < count;) {
		uint64_t same = 1;

		if (i)
			time += (step + (uint64_t)cursor_signed(&times)) * unit;
		if (has_column(&rows))
			same = cursor_varint(&rows);
		if (!same || same > count - i)
			return false;
		while (same--)
			to[i++] = time;
	}
	return !times.failed && !rows.failed;
}

/* Returns whether each of the next @count numbers takes one byte, as in most columns. */
static bool is_bytes(const struct cursor *column, size_t count)
{
	uint8_t any = 0;

	if ((size_t)(column->end - column->at) < count)
		return false;
	for (size_t i = 0; i < count; i++)
		any |= column->at[i];
	return any < 0x80;
}

/* Decodes a column of numbers up to @max; a missing column has @absent everywhere. */
static bool decode_column(uint32_t *to, size_t count, const struct cursor *column,
			  uint32_t absent, uint64_t max)
{
	struct cursor from = *column;

	if (!has_column(column)) {
		for (size_t i = 0; i < count; i++)
			to[i] = absent;
		return true;
	}
	if (max >= 0x7f && is_bytes(column, count)) {
		for (size_t i = 0; i < count; i++)
			to[i] = column->at[i];
		return true;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t value = cursor_varint(&from);

		if (value > max)
			return false;
		to[i] = (uint32_t)value;
	}
	return !from.failed;
}

static bool decode_stacks(struct samples_batch *batch, struct columns *columns)
{
	struct cursor stack = columns->stack;
	uint32_t *to = batch->stack;
	uint32_t chains;

	if (!decode_nodes(batch, columns, &chains) ||
	    !decode_column(to, batch->count, &columns->stack_high, 0,
			   RECORDING_MAX_NODES))
		return false;
	for (size_t i = 0; i < batch->count; i++) {
		uint64_t low = cursor_varint(&stack);
		uint64_t high = (uint64_t)to[i] * STACK_LOW;

		if (low >= chains || low + high >= chains)
			return false;
		to[i] = batch->ends[low + high];
	}
	return !stack.failed;
}

static bool decode_weights(struct samples_batch *batch, const struct columns *columns)
{
	if (!decode_column(batch->weight, batch->count, &columns->weight, 1,
			   RECORDING_MAX_WEIGHT))
		return false;
	for (size_t i = 0; i < batch->count; i++)
		if (!batch->weight[i])
			return false;
	return true;
}

/* Decodes the CPU times; the states must be decoded already. */
static bool decode_cpu_times(struct samples_batch *batch, const struct columns *columns)
{
	uint64_t unit = columns->cpu_time_unit, usual = columns->cpu_time_usual, most;
	struct cursor from = columns->cpu_time;

	batch->has_cpu_time = has_column(&columns->cpu_time);
	if (!batch->has_cpu_time) {
		for (size_t i = 0; i < batch->count; i++)
			batch->cpu_time[i] = 0;
		return true;
	}
	if (!unit || unit > RECORDING_MAX_CPU_TIME)
		return false;
	most = RECORDING_MAX_CPU_TIME / unit;
	for (size_t i = 0; i < batch->count; i++) {
		uint64_t units = batch->state[i] == VCPU_RUNNING
					 ? usual + (uint64_t)cursor_signed(&from)
					 : cursor_varint(&from);

		if (units > most)
			return false;
		batch->cpu_time[i] = units * unit;
	}
	return !from.failed;
}

/* Takes the next name of a text column, which may be missing. False if it is damaged. */
static bool take_comm(struct cursor *column, char to[RECORDING_COMM])
{
	uint64_t length = has_column(column) ? cursor_varint(column) : 0;
	struct cursor text;

	if (length >= RECORDING_COMM)
		return false;
	if (!length)
		return !column->failed;
	text = cursor_take(column, length);
	if (text.failed)
		return false;
	memcpy(to, text.at, (size_t)length);
	return true;
}

/* Decodes numbers and names of the listed processes and their threads. */
static bool decode_tasks(struct samples_batch *batch, const struct columns *columns)
{
	struct cursor pid = columns->pid, comm = columns->comm;
	struct cursor tid = columns->tid, thread = columns->thread;

	for (size_t i = 0; i < batch->process_count; i++) {
		struct recording_process *process = &batch->processes[i];
		uint64_t number = has_column(&pid) ? cursor_varint(&pid) : 0;

		if (number > UINT32_MAX || !take_comm(&comm, process->comm) ||
		    !take_comm(&thread, process->thread))
			return false;
		process->pid = (uint32_t)number;
		process->tid = has_column(&tid) ? cursor_varint(&tid) : 0;
	}
	return !pid.failed && !tid.failed;
}

/* Decodes the list of processes. A missing list stands for one unknown process; entries
 * beyond the number of samples are ignored. */
static bool decode_processes(struct samples_batch *batch, const struct columns *columns)
{
	struct cursor list = columns->spaces;
	size_t count = 0;

	while (list.at != list.end && count < batch->count)
		batch->processes[count++] = (struct recording_process){
			.space = cursor_varint(&list)};
	if (!has_column(&columns->spaces) && batch->count)
		batch->processes[count++] = (struct recording_process){0};
	batch->process_count = count;
	return !list.failed && (count || !batch->count) && decode_tasks(batch, columns) &&
	       decode_column(batch->process, batch->count, &columns->space, 0, count - 1);
}

static bool decode_kinds(struct samples_batch *batch, const struct columns *columns)
{
	if (!decode_column(batch->chain_kind, batch->count, &columns->chain_kind,
			   CHAIN_KIND_FRAMES, CHAIN_KINDS - 1))
		return false;
	batch->has_stacks = false;
	for (size_t i = 0; i < batch->count; i++)
		batch->has_stacks |= batch->chain_kind[i] == CHAIN_KIND_STACK;
	return true;
}

static bool decode_exits(struct samples_batch *batch, const struct columns *columns)
{
	struct cursor from = columns->exit;

	for (size_t i = 0; i < batch->count; i++) {
		batch->exit[i] = has_column(&from) ? cursor_varint(&from) : 0;
		if (batch->exit[i] > EXIT_MAX)
			return false;
	}
	return !from.failed;
}

static bool decode_pauses(struct pauses *pauses, struct cursor column)
{
	uint64_t bucket = 0;

	while (column.at != column.end) {
		uint64_t count;

		bucket += cursor_varint(&column);
		count = cursor_varint(&column);
		if (column.failed || bucket >= PAUSES_BUCKETS)
			return false;
		pauses->bucket[bucket] += count;
		pauses->count += count;
	}
	return true;
}

static bool decode_counts(struct sampling_counts *counts, const struct columns *columns)
{
	*counts = (struct sampling_counts){
		.lost = columns->lost,
		.missed = columns->missed,
		.pauses = {.sum = columns->pause_sum, .max = columns->pause_max},
	};
	memcpy(counts->links, columns->links, sizeof(counts->links));
	return decode_pauses(&counts->pauses, columns->pauses);
}

int samples_decode(struct cursor payload, struct samples_batch *batch)
{
	struct columns columns = {.time_unit = 1, .cpu_time_unit = 1};

	batch->count = 0;
	batch->nodes = 0;
	batch->no_memory = false;
	if (!find_columns(payload, &columns) || !is_possible(&columns))
		return -1;
	batch->no_memory = !make_room(batch, &columns);
	if (batch->no_memory)
		return -1;
	if (!decode_times(batch, &columns) ||
	    !decode_column(batch->domain, batch->count, &columns.domain, 0,
			   RECORDING_MAX_DOMAIN) ||
	    !decode_column(batch->vcpu, batch->count, &columns.vcpu, 0,
			   RECORDING_MAX_VCPU) ||
	    !decode_column(batch->state, batch->count, &columns.state, VCPU_UNKNOWN,
			   UINT8_MAX) ||
	    !decode_weights(batch, &columns) || !decode_stacks(batch, &columns) ||
	    !decode_cpu_times(batch, &columns) || !decode_kinds(batch, &columns) ||
	    !decode_processes(batch, &columns) || !decode_exits(batch, &columns) ||
	    !decode_counts(&batch->counts, &columns)) {
		batch->count = 0;
		return -1;
	}
	return 0;
}

struct sample samples_batch_sample(const struct samples_batch *batch, size_t i,
				   uint64_t *address)
{
	struct sample sample = {
		.time = batch->time[i],
		.domain = batch->domain[i],
		.vcpu = batch->vcpu[i],
		.weight = batch->weight[i],
		.state = (uint8_t)batch->state[i],
		.cpu_time = batch->cpu_time[i],
		.has_cpu_time = batch->has_cpu_time,
		.chain.address = address,
		.chain.frameless = batch->chain_kind[i] == CHAIN_KIND_FRAMELESS,
		.chain.is_stack = batch->chain_kind[i] == CHAIN_KIND_STACK,
		.exit = batch->exit[i],
		.process = batch->processes[batch->process[i]],
	};
	uint32_t node = batch->stack[i];

	for (; node >= SAMPLES_ROOTS; node = batch->parent[node])
		address[sample.chain.count++] = batch->address[node];
	sample.chain.end = (enum chain_end)node;
	return sample;
}

void samples_batch_free(struct samples_batch *batch)
{
	free(batch->time);
	free(batch->domain);
	free(batch->vcpu);
	free(batch->state);
	free(batch->weight);
	free(batch->stack);
	free(batch->cpu_time);
	free(batch->chain_kind);
	free(batch->process);
	free(batch->exit);
	free(batch->processes);
	free(batch->parent);
	free(batch->address);
	free(batch->depth);
	free(batch->ends);
	free(batch->next_callee);
	free(batch->last_callee);
	*batch = (struct samples_batch){0};
}
