/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Maximum number of tables of more files that are taken. */
#define RENEWALS_MAX 1000

void summary_free(struct summary *summary)
{
	for (size_t i = 0; i < summary->domain_room; i++)
		free(summary->domains[i]);
	for (size_t i = 0; i < summary->process_count; i++)
		free(summary->processes[i]);
	free(summary->domains);
	free(summary->processes);
	free(summary->programs);
	free(summary->vcpus);
	free(summary->rounds);
	tree_free(&summary->vcpu_index);
	*summary = (struct summary){0};
}

void summary_add_info(struct summary *summary, const struct recording_info *info)
{
	if (summary->has_info)
		return;
	summary->info = *info;
	summary->has_info = true;
}

/* Copies from @domain how it was unwound. */
static void take_unwinding(struct recording_domain *to,
			   const struct recording_domain *domain)
{
	to->unwind_way = domain->unwind_way;
	to->table_rows = domain->table_rows;
	to->linux_text = domain->linux_text;
	memcpy(to->moves, domain->moves, sizeof(to->moves));
	memcpy(to->spaces, domain->spaces, sizeof(to->spaces));
	memcpy(to->table_files, domain->table_files, sizeof(to->table_files));
	memcpy(to->build_ids, domain->build_ids, sizeof(to->build_ids));
}

static void take_cpu(struct recording_domain *to, const struct recording_domain *domain)
{
	to->cpu = domain->cpu;
	to->word = domain->word;
}

/* Calls @take for the domain, and for all that is known of its processes. */
static void update_copies(struct summary *summary, const struct recording_domain *domain,
			  void (*take)(struct recording_domain *to,
				       const struct recording_domain *domain))
{
	take(summary->domains[domain->index], domain);
	for (size_t i = 0; i < summary->process_count; i++)
		if (summary->processes[i]->index == domain->index)
			take(summary->processes[i], domain);
}

static size_t count_spaces(const struct recording_domain *domain)
{
	size_t count = 0;

	while (count < RECORDING_SPACES && domain->spaces[2 * count + 1])
		count++;
	return count;
}

/* Whether the domain has a table only now, or one of more files. */
static bool has_more_tables(const struct recording_domain *domain,
			    const struct recording_domain *known)
{
	if (!domain->table_rows)
		return false;
	return !known->table_rows ||
	       strlen(domain->table_files) > strlen(known->table_files) ||
	       count_spaces(domain) > count_spaces(known);
}

/* Takes tables and the kind of CPU from a later description of a domain: seldom, so that
 * many descriptions and many processes don't cost much. */
static void update_domain(struct summary *summary, const struct recording_domain *domain)
{
	const struct recording_domain *known = summary->domains[domain->index];

	if (has_more_tables(domain, known) &&
	    (!known->table_rows || summary->renewals++ < RENEWALS_MAX))
		update_copies(summary, domain, take_unwinding);
	if (known->cpu == CPU_UNKNOWN && domain->cpu != CPU_UNKNOWN)
		update_copies(summary, domain, take_cpu);
}

int summary_add_domain(struct summary *summary, const struct recording_domain *domain)
{
	size_t index = (size_t)domain->index;
	struct recording_domain *copy;

	if (domain->index > RECORDING_MAX_DOMAIN)
		return 0;
	if (summary_domain(summary, index)) {
		update_domain(summary, domain);
		return 0;
	}
	if (index >= summary->domain_capacity) {
		if (!array_grow_zeroed(&summary->domains, summary->domain_capacity,
				       2 * index + 1, sizeof(*summary->domains)))
			return -1;
		summary->domain_capacity = 2 * index + 1;
	}
	if (index >= summary->domain_room)
		summary->domain_room = index + 1;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return -1;
	*copy = *domain;
	summary->domains[index] = copy;
	summary->domain_count++;
	return 0;
}

int summary_add_program(struct summary *summary, const struct recording_program *program)
{
	if (!array_grow(&summary->programs, summary->program_count + 1,
			sizeof(*summary->programs)))
		return -1;
	summary->programs[summary->program_count++] = *program;
	return 0;
}

const struct recording_domain *summary_domain(const struct summary *summary,
					      uint64_t index)
{
	if (index < SUMMARY_FIRST_PROCESS)
		return index < summary->domain_room ? summary->domains[index] : NULL;
	index -= SUMMARY_FIRST_PROCESS;
	return index < summary->process_count ? summary->processes[index] : NULL;
}

int summary_add_process(struct summary *summary, uint32_t domain,
			const struct recording_process *process, uint32_t *index)
{
	size_t count = summary->process_count;
	struct recording_domain *copy;

	if (!array_grow(&summary->processes, count + 1, sizeof(*summary->processes)))
		return -1;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return -1;
	*copy = *summary_domain(summary, domain);
	copy->process = *process;
	*index = SUMMARY_FIRST_PROCESS + (uint32_t)count;
	summary->processes[summary->process_count++] = copy;
	return 0;
}

uint32_t summary_recorded(const struct summary *summary, uint32_t index)
{
	return index < SUMMARY_FIRST_PROCESS
		       ? index
		       : (uint32_t)summary_domain(summary, index)->index;
}

/* Adds to a sum, up to the highest number, which only hostile recordings reach. */
static void sum_add(uint64_t *sum, uint64_t more)
{
	*sum = more > UINT64_MAX - *sum ? UINT64_MAX : *sum + more;
}

static void add_waits(struct waits_counts *sum, const struct waits_counts *more)
{
	sum->until = more->until > sum->until ? more->until : sum->until;
	sum->period = more->period ? more->period : sum->period;
	sum->threads = more->threads > sum->threads ? more->threads : sum->threads;
	sum_add(&sum->rounds, more->rounds);
	sum_add(&sum->skipped, more->skipped);
	sum_add(&sum->read, more->read);
	sum_add(&sum->torn, more->torn);
	sum_add(&sum->unread, more->unread);
	sum_add(&sum->cpu_time, more->cpu_time);
}

void summary_add_waits(struct summary *summary, const struct waits_batch *batch)
{
	add_waits(&summary->waits, &batch->counts);
}

/* Returns the vCPU, created if needed; NULL if out of memory. */
static struct summary_vcpu *find_vcpu(struct summary *summary, uint32_t domain,
				      uint32_t vcpu)
{
	uint64_t key = (uint64_t)domain << 32 | vcpu;
	uint32_t node;

	if (!summary->vcpu_index.count && tree_init(&summary->vcpu_index, 1) < 0)
		return NULL;
	node = tree_intern(&summary->vcpu_index, 0, key);
	if (node == TREE_NONE)
		return NULL;
	if (node > summary->vcpu_room) {
		size_t room = summary->vcpu_index.capacity;

		if (!array_grow(&summary->vcpus, room, sizeof(*summary->vcpus)))
			return NULL;
		summary->vcpu_room = room;
	}
	if (domain >= summary->round_room) {
		size_t room = 2 * (size_t)domain + 1;

		if (!array_grow(&summary->rounds, room, sizeof(*summary->rounds)))
			return NULL;
		summary->round_room = room;
	}
	if (node > summary->vcpu_count)
		summary->vcpus[summary->vcpu_count++] = (struct summary_vcpu){
			.domain = domain, .vcpu = vcpu};
	summary->recent[vcpu % SUMMARY_RECENT] = node - 1;
	return &summary->vcpus[node - 1];
}

/* Like find_vcpu(), with a cache of the most recent vCPU for each number modulo. */
static inline struct summary_vcpu *find_recent(struct summary *summary, uint32_t domain,
					       uint32_t vcpu)
{
	uint32_t recent = summary->recent[vcpu % SUMMARY_RECENT];

	if (recent < summary->vcpu_count && summary->vcpus[recent].vcpu == vcpu &&
	    summary->vcpus[recent].domain == domain)
		return &summary->vcpus[recent];
	return find_vcpu(summary, domain, vcpu);
}

/* Adds the sums that are not by vCPU. */
static void add_totals(struct summary *summary, const struct samples_batch *batch)
{
	uint64_t weight = 0, kinds[CHAIN_KINDS] = {0};
	uint64_t first = summary->first_time, last = summary->last_time;

	if (!summary->samples && batch->count)
		first = last = batch->time[0];
	for (size_t i = 0; i < batch->count; i++) {
		weight += batch->weight[i];
		kinds[batch->chain_kind[i]] += batch->weight[i];
		first = batch->time[i] < first ? batch->time[i] : first;
		last = batch->time[i] > last ? batch->time[i] : last;
	}
	summary->weight += weight;
	summary->frameless += kinds[CHAIN_KIND_FRAMELESS];
	summary->captured += kinds[CHAIN_KIND_STACK];
	summary->first_time = first;
	summary->last_time = last;
}

int summary_add_samples(struct summary *summary, const struct samples_batch *batch)
{
	add_totals(summary, batch);
	for (size_t i = 0; i < batch->count; i++) {
		uint32_t state = batch->state[i];
		struct summary_vcpu *vcpu = find_recent(summary, batch->domain[i],
							batch->vcpu[i]);

		if (!vcpu)
			return -1;
		if (state >= SUMMARY_STATES)
			state = VCPU_UNKNOWN;
		vcpu->states[state] += batch->weight[i];
		vcpu->cpu_time += batch->cpu_time[i] / 1000;
	}
	for (size_t i = SAMPLES_ROOTS; i < batch->nodes; i++)
		if (batch->depth[i] > summary->deepest)
			summary->deepest = batch->depth[i];
	summary->samples += batch->count;
	summary->lacks_cpu_time |= batch->count && !batch->has_cpu_time;
	summary->counts.lost += batch->counts.lost;
	summary->counts.missed += batch->counts.missed;
	for (unsigned int i = 0; i < LINK_KINDS; i++)
		summary->counts.links[i] += batch->counts.links[i];
	pauses_merge(&summary->counts.pauses, &batch->counts.pauses);
	return 0;
}

/* Clears what differs between two recordings, and keeps the start of the first. */
static void keep_common_info(struct recording_info *info,
			     const struct recording_info *other)
{
	if (strcmp(info->host, other->host) != 0)
		info->host[0] = 0;
	if (strcmp(info->tool, other->tool) != 0)
		info->tool[0] = 0;
	if (strcmp(info->command, other->command) != 0)
		info->command[0] = 0;
	if (strcmp(info->hypervisor, other->hypervisor) != 0)
		info->hypervisor[0] = 0;
	if (info->frequency != other->frequency)
		info->frequency = 0;
	if (strcmp(info->event, other->event) != 0)
		snprintf(info->event, sizeof(info->event), SUMMARY_MIXED_EVENTS);
}

/* Adds the sums of vCPUs and samples. -1 if out of memory. */
static int add_summary(struct summary *summary, const struct summary *other,
		       uint32_t base)
{
	for (size_t i = 0; i < other->vcpu_count; i++) {
		const struct summary_vcpu *from = &other->vcpus[i];
		struct summary_vcpu *to = find_recent(summary, from->domain + base,
						      from->vcpu);

		if (!to)
			return -1;
		for (unsigned int s = 0; s < SUMMARY_STATES; s++)
			sum_add(&to->states[s], from->states[s]);
		sum_add(&to->cpu_time, from->cpu_time);
	}
	summary->samples += other->samples;
	sum_add(&summary->weight, other->weight);
	sum_add(&summary->frameless, other->frameless);
	sum_add(&summary->captured, other->captured);
	summary->lacks_cpu_time |= other->lacks_cpu_time;
	if (other->deepest > summary->deepest)
		summary->deepest = other->deepest;
	sum_add(&summary->counts.lost, other->counts.lost);
	sum_add(&summary->counts.missed, other->counts.missed);
	for (unsigned int i = 0; i < LINK_KINDS; i++)
		sum_add(&summary->counts.links[i], other->counts.links[i]);
	pauses_merge(&summary->counts.pauses, &other->counts.pauses);
	return 0;
}

int summary_join(struct summary *summary, const struct summary *part)
{
	if (part->samples &&
	    (!summary->samples || part->first_time < summary->first_time))
		summary->first_time = part->first_time;
	if (part->samples && (!summary->samples || part->last_time > summary->last_time))
		summary->last_time = part->last_time;
	return add_summary(summary, part, 0);
}

int summary_append(struct summary *summary, const struct summary *other, uint32_t base)
{
	if (add_summary(summary, other, base) < 0)
		return -1;
	keep_common_info(&summary->info, &other->info);
	add_waits(&summary->waits, &other->waits);
	summary->appended += summary_duration(other);
	summary->names += other->names;
	summary->mappings += other->mappings;
	summary->bytes += other->bytes;
	summary->chunks += other->chunks;
	return 0;
}

uint64_t summary_start(const struct summary *summary)
{
	return summary->has_info ? summary->info.monotonic_start : summary->first_time;
}

uint64_t summary_duration(const struct summary *summary)
{
	uint64_t start = summary_start(summary), end = summary->last_time;

	if (summary->has_end)
		end = summary->end.monotonic;
	return (end > start ? end - start : 0) + summary->appended;
}

static uint64_t vcpu_weight(const struct summary_vcpu *vcpu)
{
	uint64_t weight = 0;

	for (unsigned int i = 0; i < SUMMARY_STATES; i++)
		sum_add(&weight, vcpu->states[i]);
	return weight;
}

/* Returns the weights of the rounds taken, of all domains together. Of a round, each vCPU
 * that was online has a sample. (There may be fewer pauses, or more.) */
static double taken_rounds(const struct summary *summary)
{
	uint64_t *most =
		summary->rounds; /* by domain: of the vCPU with the most samples */
	double taken = 0;

	for (size_t i = 0; i < summary->round_room; i++)
		most[i] = 0;
	for (size_t i = 0; i < summary->vcpu_count; i++) {
		uint64_t weight = vcpu_weight(&summary->vcpus[i]);
		uint32_t domain = summary->vcpus[i].domain;

		if (weight > most[domain])
			most[domain] = weight;
	}
	for (size_t i = 0; i < summary->round_room; i++)
		taken += (double)most[i];
	return taken;
}

double summary_rate(const struct summary *summary)
{
	double seconds = (double)summary_duration(summary) / 1e9;
	double taken = taken_rounds(summary), rounds;

	if (!summary->counts.pauses.count || taken <= 0 || seconds <= 0)
		return 0;
	rounds = taken * (double)summary->samples / (double)summary->weight;
	if (summary->domain_count <= 1)
		return rounds / seconds;
	/* Each domain may have existed for part of the time only. */
	return (double)summary->info.frequency / 1000 * rounds /
	       (taken + (double)summary->counts.missed);
}

double summary_missed(const struct summary *summary)
{
	double missed = (double)summary->counts.missed;

	return missed > 0 ? missed / (taken_rounds(summary) + missed) : 0;
}

/* Describes chunks out of place and missing chunks, for the middle of a sentence. */
static void describe_order(const struct damage *damage, struct error *text)
{
	struct error missing = {""};

	text->text[0] = 0;
	if (damage->missing)
		error_set(&missing, "%" PRIu64 " chunk%s missing; ", damage->missing,
			  damage->missing == 1 ? " is" : "s are");
	error_set(text, "%s", missing.text);
	if (damage->out_of_place)
		error_set(text,
			  "%" PRIu64
			  " chunk%s of another recording, repeated or moved; %s",
			  damage->out_of_place,
			  damage->out_of_place == 1 ? " is" : "s are", missing.text);
}

bool summary_damage(const struct summary *summary, const char *name, struct error *line)
{
	const struct damage *damage = &summary->damage;
	const char *no_end = summary->has_end ? "" : " and has no end";
	double seconds = (double)summary_duration(summary) / 1e9;
	struct error order;

	describe_order(damage, &order);
	if (damage->places && (summary->has_end || !damage->cut || damage->places > 1))
		error_set(line,
			  "%s is damaged%s: %" PRIu64 " bytes in %" PRIu64
			  " place%s could not be read, first at offset %" PRIu64
			  "; %s%" PRIu64 " samples were read",
			  name, no_end, damage->bytes, damage->places,
			  damage->places == 1 ? "" : "s", damage->first, order.text,
			  summary->samples);
	else if (damage->missing)
		error_set(line, "%s is damaged%s: %s%" PRIu64 " samples were read", name,
			  no_end, order.text, summary->samples);
	else if (damage->places)
		error_set(line,
			  "%s is cut off at offset %" PRIu64
			  ": its recorder was killed or is still running, or the copy is "
			  "incomplete; %" PRIu64 " samples of its first %.1f s were read",
			  name, damage->first, summary->samples, seconds);
	else if (!summary->has_end)
		error_set(line,
			  "%s has no end: its recorder was killed or is still running; "
			  "%" PRIu64 " samples of its first %.1f s were read",
			  name, summary->samples, seconds);
	else if (summary->end.samples != summary->samples)
		error_set(line,
			  "%s is damaged: it should contain %" PRIu64
			  " samples, but %" PRIu64 " were found",
			  name, summary->end.samples, summary->samples);
	else
		return false;
	return true;
}

static bool is_same(const char *name, const char *what, size_t length)
{
	return strlen(name) == length && memcmp(name, what, length) == 0;
}

bool domain_is_called(const struct recording_domain *domain, const char *what,
		      size_t length)
{
	const char *host_end;
	char id[24];

	if (!domain)
		return false;
	host_end = strchr(domain->name, '/');
	if (is_same(domain->name, what, length))
		return true;
	if (host_end && is_same(host_end + 1, what, length))
		return true;
	snprintf(id, sizeof(id), "%" PRIu64, domain->id);
	return is_same(id, what, length);
}
