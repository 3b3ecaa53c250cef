/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/info/overview.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/model/domains.h"

/* Number of processes shown, unless all are wanted. */
#define PROCESSES_SHOWN 20

/* Width of the bar of the most frequent pauses, in columns. */
#define BAR_WIDTH 40
/* Room for a length with its unit, such as "1.01 us". */
#define LENGTH_SIZE 24

static void put_line(FILE *out, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Writes a line: a label, then the value. */
static void put_line(FILE *out, const char *label, const char *format, ...)
{
	va_list args;

	fprintf(out, "  %-14s  ", label);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	putc('\n', out);
}

/* Like put_line(), for untrusted text; writes nothing for an empty text. */
static void put_text(FILE *out, const char *label, const char *text)
{
	char clean[1024];

	if (!*text)
		return;
	snprintf(clean, sizeof(clean), "%s", text);
	text_clean(clean, clean);
	put_line(out, label, "%s", clean);
}

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_recording(FILE *out, const char *name, const struct summary *summary)
{
	const struct recording_info *info = &summary->info;
	char time[TEXT_TIME_SIZE];

	fputs("Recording\n", out);
	put_text(out, "file", name);
	put_line(out, "size", "%" PRIu64 " bytes in %" PRIu64 " chunks", summary->bytes,
		 summary->chunks);
	if (summary->has_info) {
		put_text(out, "written by", info->tool);
		put_text(out, "command", info->command);
		put_text(out, "host", info->host);
		put_text(out, "hypervisor", info->hypervisor);
		if (info->domctl_version)
			put_line(out, "domctl", "version %" PRIu64, info->domctl_version);
		if (info->wall_start) {
			text_time(time, info->wall_start, false);
			put_line(out, "started", "%s", time);
		}
	}
	put_line(out, "duration", "%.3f s", (double)summary_duration(summary) / 1e9);
	if (summary->has_end)
		put_line(out, "ended by", "%s",
			 end_reason_name((unsigned int)summary->end.reason));
	else
		put_line(out, "ended by", "unknown: the recording has no end");
}

/* Adds up the vCPUs of a domain, or of all domains if @domain is NULL. */
static struct summary_vcpu add_vcpus(const struct summary *summary,
				     const struct recording_domain *domain)
{
	struct summary_vcpu sum = {0};

	for (size_t i = 0; i < summary->vcpu_count; i++) {
		const struct summary_vcpu *vcpu = &summary->vcpus[i];

		if (domain && vcpu->domain != domain->index)
			continue;
		for (unsigned int s = 0; s < SUMMARY_STATES; s++)
			sum.states[s] += vcpu->states[s];
		sum.cpu_time += vcpu->cpu_time;
	}
	return sum;
}

static uint64_t sum_states(const struct summary_vcpu *vcpu)
{
	uint64_t sum = 0;

	for (unsigned int s = 0; s < SUMMARY_STATES; s++)
		sum += vcpu->states[s];
	return sum;
}

static bool has_cpu_time(const struct summary *summary)
{
	return summary->samples && !summary->lacks_cpu_time;
}

static void put_shares(FILE *out, const struct summary *summary,
		       const struct summary_vcpu *sum)
{
	for (unsigned int s = 0; s < SUMMARY_STATES; s++)
		if (sum->states[s])
			put_line(out, vcpu_state_name(s), "%" PRIu64 " (%.1f %%)",
				 sum->states[s],
				 percent_of(sum->states[s], sum_states(sum)));
	if (has_cpu_time(summary))
		put_line(out, "CPU time", "%.3f s", (double)sum->cpu_time / 1e6);
}

static void put_uuid(FILE *out, const uint8_t uuid[16])
{
	static const uint8_t unknown[16];
	char text[TEXT_UUID_SIZE];

	if (memcmp(uuid, unknown, sizeof(unknown)) == 0)
		return;
	text_uuid(text, uuid);
	put_line(out, "uuid", "%s", text);
}

static void put_unwinding(FILE *out, const struct recording_domain *domain)
{
	char table[256];

	if (!domain->unwind_way)
		return;
	put_line(out, "unwound", "%s", unwind_way_name((unsigned int)domain->unwind_way));
	if (!domain->table_rows)
		return;
	snprintf(table, sizeof(table), "%s (%" PRIu64 " rows)", domain->table_files,
		 domain->table_rows);
	put_text(out, "tables of", table);
	put_text(out, "build-ids", domain->build_ids);
	if (domain->linux_text)
		put_line(out, "Linux is at", "0x%" PRIx64, domain->linux_text);
}

static void put_domain(FILE *out, const struct summary *summary,
		       const struct recording_domain *domain)
{
	const struct summary_vcpu sum = add_vcpus(summary, domain);

	fputs("Domain\n", out);
	put_text(out, "name", domain->name);
	put_line(out, "id", "%" PRIu64, domain->id);
	put_uuid(out, domain->uuid);
	put_line(out, "type", "%s, %s", guest_type_name((unsigned int)domain->type),
		 cpu_kind_name((unsigned int)domain->cpu));
	put_text(out, "VMM", domain->vmm);
	if (domain->vcpus)
		put_line(out, "vCPUs", "%" PRIu64, domain->vcpus);
	put_unwinding(out, domain);
	if (domain->has_events)
		put_line(out, "sampled", "at events of %s, without stops%s",
			 *summary->info.event ? summary->info.event : "CPU time",
			 summary->counts.pauses.count ? ", but for the pauses below"
						      : "");
	if (summary->domain_count > 1) {
		put_line(out, "samples", "%" PRIu64 " (%.1f %%)", sum_states(&sum),
			 percent_of(sum_states(&sum), summary->weight));
		put_shares(out, summary, &sum);
	}
}

static void put_rates(FILE *out, const struct summary *summary)
{
	double rate = summary_rate(summary);

	if (summary->info.frequency)
		put_line(out, "requested rate", "%.6g rounds per second",
			 (double)summary->info.frequency / 1000);
	if (rate > 0)
		put_line(out, "actual rate", "%.6g rounds per second%s", rate,
			 summary->domain_count > 1 ? " and domain" : "");
	put_line(out, "missed", "%" PRIu64 " rounds (too late)", summary->counts.missed);
	put_line(out, "lost", "%" PRIu64 " samples (buffer full)", summary->counts.lost);
}

static void put_programs(FILE *out, const struct summary *summary)
{
	char text[1024];

	for (size_t i = 0; i < summary->program_count; i++) {
		const struct recording_program *program = &summary->programs[i];

		snprintf(text, sizeof(text), "%s%s%s%s%s%s", program->name,
			 *program->build_id ? ", build-id " : "", program->build_id,
			 program->has_lines ? ", with source lines" : "",
			 *program->domain ? ", for the domain " : "", program->domain);
		put_text(out, "names of", text);
	}
}

static void put_samples(FILE *out, const struct summary *summary, bool all)
{
	const struct summary_vcpu sum = add_vcpus(summary, NULL);

	fputs("Samples\n", out);
	put_line(out, "samples", "%" PRIu64, summary->samples);
	if (summary->weight != summary->samples)
		put_line(out, "weight", "counted as %" PRIu64 "%s%s", summary->weight,
			 *summary->info.event ? " " : "", summary->info.event);
	put_rates(out, summary);
	if (summary->samples)
		put_line(out, "size", "%.1f bytes per sample",
			 (double)summary->bytes / (double)summary->samples);
	put_shares(out, summary, &sum);
	if (summary->mappings)
		put_line(out, "mappings", "%" PRIu64 " of code in processes",
			 summary->mappings);
	if (summary->names)
		put_line(out, "names", "%" PRIu64 " names stored in the recording",
			 summary->names);
	put_programs(out, summary);
	if (all && summary->samples)
		put_line(out, "times", "%" PRIu64 " to %" PRIu64 " ns, CLOCK_MONOTONIC",
			 summary->first_time, summary->last_time);
}

static int compare_vcpus(const void *a, const void *b)
{
	const struct summary_vcpu *x = a, *y = b;

	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	return (x->vcpu > y->vcpu) - (x->vcpu < y->vcpu);
}

/* Writes a row for each vCPU; with the domain's id if there are several domains. */
static int put_vcpus(FILE *out, const struct summary *summary)
{
	struct summary_vcpu *sorted = malloc(summary->vcpu_count * sizeof(*sorted));
	bool has_time = has_cpu_time(summary), has_ids;

	if (!sorted)
		return -1;
	memcpy(sorted, summary->vcpus, summary->vcpu_count * sizeof(*sorted));
	qsort(sorted, summary->vcpu_count, sizeof(*sorted), compare_vcpus);
	has_ids = summary->domain_count > 1 ||
		  sorted[0].domain != sorted[summary->vcpu_count - 1].domain;
	fprintf(out, "  %s%-6s %12s %12s %12s %12s%s\n", has_ids ? "domain " : "", "vCPU",
		"samples", "running", "runnable", "blocked",
		has_time ? "   CPU time" : "");
	for (size_t i = 0; i < summary->vcpu_count; i++) {
		const struct summary_vcpu *vcpu = &sorted[i];
		const struct recording_domain *domain = summary_domain(summary,
								       vcpu->domain);

		fputs("  ", out);
		if (has_ids && domain)
			fprintf(out, "%-6" PRIu64 " ", domain->id);
		else if (has_ids)
			fprintf(out, "%-6s ", "?");
		fprintf(out,
			"%-6" PRIu32 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64
			" %12" PRIu64,
			vcpu->vcpu, sum_states(vcpu), vcpu->states[VCPU_RUNNING],
			vcpu->states[VCPU_RUNNABLE], vcpu->states[VCPU_BLOCKED]);
		if (has_time)
			fprintf(out, " %8.3f s", (double)vcpu->cpu_time / 1e6);
		putc('\n', out);
	}
	free(sorted);
	return 0;
}

static void put_end(FILE *out, const struct summary *summary, unsigned int end,
		    uint64_t count)
{
	const char *label = end == CHAIN_WHOLE	   ? "whole"
			    : end == CHAIN_UNKNOWN ? "end unknown"
			    : end == CHAIN_EARLY   ? "early"
						   : "cut short";

	if (count)
		put_line(out, label, "%" PRIu64 " (%.1f %%)%s%s", count,
			 percent_of(count, summary->weight),
			 end == CHAIN_WHOLE ? "" : ": ",
			 end == CHAIN_WHOLE ? "" : chain_end_name(end));
}

static int put_chains(FILE *out, const struct summary *summary,
		      const struct stacks *stacks, const uint64_t *ends)
{
	uint64_t *inclusive = stacks_inclusive(stacks), addresses = 0;
	uint32_t distinct = 0;

	if (!inclusive)
		return -1;
	for (uint32_t i = 0; i < stacks->tree.count; i++) {
		distinct += stacks->self[i] != 0;
		if (stacks_is_address(stacks, i))
			addresses += inclusive[i];
	}
	fputs("Call chains\n", out);
	put_line(out, "distinct", "%" PRIu32, distinct);
	put_line(out, "addresses", "%.1f on average, %u at most",
		 summary->weight ? (double)addresses / (double)summary->weight : 0,
		 summary->deepest);
	put_end(out, summary, CHAIN_WHOLE, ends[CHAIN_WHOLE]);
	put_end(out, summary, CHAIN_UNKNOWN, ends[CHAIN_UNKNOWN]);
	for (unsigned int i = 0; i < SAMPLES_ROOTS; i++)
		if (chain_end_is_cut(i))
			put_end(out, summary, i, ends[i]);
	if (summary->frameless)
		put_line(out, "frameless",
			 "%" PRIu64
			 " (%.1f %%): direct caller taken from the link register "
			 "or the top of the stack",
			 summary->frameless,
			 percent_of(summary->frameless, summary->weight));
	free(inclusive);
	return 0;
}

/* A process, for sorting. */
struct process_row {
	const struct recording_domain *process;
	uint64_t weight;
};

/* Sorts processes with the most samples first. */
static int compare_processes(const void *a, const void *b)
{
	const struct process_row *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->process->index != y->process->index)
		return x->process->index < y->process->index ? -1 : 1;
	return (x->process->process.pid > y->process->process.pid) -
	       (x->process->process.pid < y->process->process.pid);
}

static void put_process(FILE *out, const struct summary *summary,
			const struct process_row *row)
{
	const struct recording_domain *process = row->process;
	char name[DOMAIN_NAME_SIZE], space[DOMAIN_SPACE_SIZE];

	if (summary->domain_count > 1)
		domain_name(name, process);
	else
		domain_process(name, process);
	text_clean(name, name);
	domain_space(space, process);
	fprintf(out, "  %-22s  %" PRIu64 " samples (%.1f %%), address space %s\n", name,
		row->weight, percent_of(row->weight, summary->weight),
		*space ? space : "not known");
}

/* Writes the processes that have names, at most PROCESSES_SHOWN unless @all. */
static int put_processes(FILE *out, const struct summary *summary,
			 const struct processes *processes, bool all)
{
	struct process_row *rows = calloc(summary->process_count + 1, sizeof(*rows));
	size_t count = 0, shown;

	if (!rows)
		return -1;
	for (size_t i = 0; i < summary->process_count; i++)
		if (summary->processes[i]->process.pid)
			rows[count++] = (struct process_row){summary->processes[i],
							     processes->weight[i]};
	qsort(rows, count, sizeof(*rows), compare_processes);
	shown = all || count < PROCESSES_SHOWN ? count : PROCESSES_SHOWN;
	if (count)
		fputs("Processes\n", out);
	for (size_t i = 0; i < shown; i++)
		put_process(out, summary, &rows[i]);
	if (shown < count)
		fprintf(out, "  and %zu more (-v shows them)\n", count - shown);
	if (processes->is_full)
		fprintf(out, "  only the first %d processes are told apart\n",
			SUMMARY_PROCESSES);
	free(rows);
	return 0;
}

static const char *length_text(char to[LENGTH_SIZE], uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = (double)ns;
	unsigned int unit = 0;

	/* Not 1000: 999.5 and more would be shown as "1e+03". */
	for (; value >= 999.5 && unit < 3; unit++)
		value /= 1000;
	snprintf(to, LENGTH_SIZE, "%.3g %s", value, units[unit]);
	return to;
}

static void put_length(FILE *out, const char *label, uint64_t ns)
{
	char text[LENGTH_SIZE];

	put_line(out, label, "%s", length_text(text, ns));
}

/* Counts pauses of 2^i ns up to twice as long in @counts[i]; pauses of 0 ns in
 * @counts[0]. */
static void count_octaves(const struct pauses *pauses, uint64_t counts[64])
{
	for (unsigned int i = 0; i < PAUSES_BUCKETS; i++) {
		uint64_t start = pauses_bucket_start(i);

		counts[start ? 63 - __builtin_clzll(start) : 0] += pauses->bucket[i];
	}
}

static void put_bars(FILE *out, const struct pauses *pauses)
{
	uint64_t counts[64] = {0}, most = 0;
	unsigned int first = 64, last = 0;

	count_octaves(pauses, counts);
	for (unsigned int i = 0; i < 64; i++) {
		if (!counts[i])
			continue;
		if (first == 64)
			first = i;
		last = i;
		if (counts[i] > most)
			most = counts[i];
	}
	for (unsigned int i = first; i <= last && i < 64; i++) {
		int width = (int)((double)counts[i] / (double)most * BAR_WIDTH + 0.5);
		char text[LENGTH_SIZE];

		fprintf(out, "  from %9s  %12" PRIu64 "%s%.*s\n",
			length_text(text, (uint64_t)1 << i), counts[i], width ? "  " : "",
			width, "########################################");
	}
}

/* Writes how long the guests were paused, as numbers and as a bar for each octave. */
static void put_pauses(FILE *out, const struct summary *summary)
{
	const struct pauses *pauses = &summary->counts.pauses;
	uint64_t duration = summary_duration(summary);
	bool several = summary->domain_count > 1;

	fprintf(out, "Pauses of the domain%s\n", several ? "s" : "");
	put_line(out, "pauses", "%" PRIu64, pauses->count);
	put_length(out, "shortest", pauses_quantile(pauses, 0));
	put_length(out, "median", pauses_quantile(pauses, 0.5));
	put_length(out, "90 %", pauses_quantile(pauses, 0.9));
	put_length(out, "99 %", pauses_quantile(pauses, 0.99));
	put_length(out, "longest", pauses->max);
	put_length(out, "total", pauses->sum);
	if (duration)
		put_line(out, "stopped for", "%.3f %% of the time%s",
			 100.0 * (double)pauses->sum / (double)duration,
			 several ? " (sum over all domains)" : "");
	put_bars(out, pauses);
}

/* Writes what looking at threads took and found. */
static void put_waits(FILE *out, const struct summary *summary)
{
	const struct waits_counts *waits = &summary->waits;
	uint64_t duration = summary_duration(summary);

	fputs("Waits of threads\n", out);
	if (waits->period)
		put_line(out, "requested rate", "%.6g rounds per second",
			 1e9 / (double)waits->period);
	put_line(out, "rounds", "%" PRIu64 ", and %" PRIu64 " left out", waits->rounds,
		 waits->skipped);
	put_line(out, "threads", "%" PRIu64 " at most", waits->threads);
	put_line(out, "chains read", "%" PRIu64, waits->read);
	put_line(out, "torn", "%" PRIu64 " (the thread ran meanwhile)", waits->torn);
	put_line(out, "unread", "%" PRIu64 " (no memory there, or too many threads)",
		 waits->unread);
	if (duration)
		put_line(out, "host's CPU", "%.3f %% of one",
			 100.0 * (double)waits->cpu_time / (double)duration);
}

int overview_write(FILE *out, const char *name, const struct summary *summary,
		   const struct stacks *stacks, const uint64_t *ends,
		   const struct processes *processes, bool all)
{
	put_recording(out, name, summary);
	for (size_t i = 0; i < summary->domain_room; i++)
		if (summary->domains[i])
			put_domain(out, summary, summary->domains[i]);
	put_samples(out, summary, all);
	if (summary->samples && put_vcpus(out, summary) < 0)
		return -1;
	if (put_processes(out, summary, processes, all) < 0 ||
	    put_chains(out, summary, stacks, ends) < 0)
		return -1;
	if (summary->counts.pauses.count)
		put_pauses(out, summary);
	if (summary->waits.rounds)
		put_waits(out, summary);
	return 0;
}

void overview_write_links(FILE *out, const char *title, const uint64_t *counts)
{
	static const struct {
		enum program_link kind;
		const char *label, *about;
	} lines[] = {
		{LINK_PROVEN, "proven", "the call is of this function"},
		{LINK_POSSIBLE, "possible", "indirect calls and jumps, interrupts"},
		{LINK_IMPOSSIBLE, "impossible", "no call, or one of another function"},
	};
	uint64_t known = 0;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		known += counts[lines[i].kind];
	fprintf(out, "%s\n", title);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		put_line(out, lines[i].label, "%" PRIu64 " (%.3f %%): %s",
			 counts[lines[i].kind], percent_of(counts[lines[i].kind], known),
			 lines[i].about);
	if (counts[LINK_UNKNOWN])
		put_line(out, "not checked",
			 "%" PRIu64 ": outside of the files' functions",
			 counts[LINK_UNKNOWN]);
}
