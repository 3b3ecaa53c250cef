/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/html/about.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/names.h"
#include "base/text.h"
#include "report/load/ends.h"
#include "report/model/checks/ends.h"
#include "report/model/domains.h"
#include "output/flame/functions.h"
#include "output/heading.h"
#include "output/write/json.h"

/* What a function is, for its colour. */
enum function_kind {
	FUNCTION_LOWER,
	FUNCTION_UPPER,
	FUNCTION_UNNAMED,
};

/* Writes untrusted text, which has at most 1,023 bytes. */
static void put_clean(struct json *json, const char *key, const char *text)
{
	char clean[1024];

	snprintf(clean, sizeof(clean), "%s", text);
	text_clean(clean, clean);
	json_string(json, key, clean);
}

static void put_recording(struct json *json, const struct report *report, uint64_t origin)
{
	const struct summary *summary = report->summary;
	const struct recording_info *info = &summary->info;
	uint64_t start = summary_start(summary) / 1000;

	put_clean(json, "host", info->host);
	put_clean(json, "hypervisor", info->hypervisor);
	put_clean(json, "tool", info->tool);
	put_clean(json, "command", info->command);
	/* When the page's time 0 was, us since 1970-01-01 UTC; 0: unknown */
	json_number(json, "wall",
		    info->wall_start ? info->wall_start / 1000 - (start - origin) : 0);
	json_number(json, "start", start - origin);
	json_number(json, "duration", report->coverage->duration / 1000);
	json_real(json, "frequency", (double)info->frequency / 1000, 3);
	json_real(json, "rate", summary_rate(summary), 3);
}

static void put_costs(struct json *json, const struct summary *summary)
{
	const struct sampling_counts *counts = &summary->counts;
	const struct pauses *pauses = &counts->pauses;

	json_number(json, "missed", counts->missed);
	json_number(json, "lost", counts->lost);
	json_object(json, "pauses");
	json_number(json, "count", pauses->count);
	json_number(json, "sum", pauses->sum);
	json_number(json, "median", pauses_quantile(pauses, 0.5));
	json_number(json, "p99", pauses_quantile(pauses, 0.99));
	json_number(json, "max", pauses->max);
	json_end(json);
}

static void put_quality(struct json *json, const struct report *report)
{
	const struct quality *quality = report->quality;

	json_object(json, "quality");
	json_number(json, "samples", quality->samples);
	json_number(json, "unnamed", quality->samples_unnamed + quality->samples_empty);
	json_number(json, "cut", ends_cut(quality->ends));
	json_number(json, "unknown", quality->ends[CHAIN_UNKNOWN]);
	json_end(json);
}

static void put_notes(struct json *json, const struct notes *notes)
{
	json_array(json, "notes");
	for (size_t i = 0; i < notes->count; i++) {
		json_object(json, NULL);
		json_string(json, "kind",
			    notes->list[i].kind == NOTE_WARNING ? "warning" : "note");
		json_string(json, "text", notes->list[i].text);
		json_end(json);
	}
	json_end(json);
}

static void put_threads(struct json *json, const struct summary *summary,
			const struct page_threads *threads)
{
	json_array(json, "threads");
	for (uint32_t i = 1; i < threads->keys->count; i++) {
		uint32_t index = (uint32_t)(threads->keys->nodes[i].key >> 32);
		const struct recording_domain *domain = summary_domain(summary, index);
		char name[DOMAIN_NAME_SIZE];

		json_object(json, NULL);
		domain_plain_name(name, domain);
		put_clean(json, "domain", name);
		domain_process(name, domain);
		put_clean(json, "process", name);
		json_number(json, "vcpu", (uint32_t)threads->keys->nodes[i].key);
		json_number(json, "recording", threads->recording[i]);
		json_end(json);
	}
	json_end(json);
}

/* Writes the threads that waited. A process is named as domain_process() does. */
static void put_wait_threads(struct json *json, const struct summary *summary,
			     const struct wait_threads *threads)
{
	json_array(json, "wait_threads");
	for (size_t i = 0; i < threads->count; i++) {
		const struct wait_thread *waits = &threads->list[i];
		const struct recording_process *thread = &waits->thread;
		char name[DOMAIN_NAME_SIZE];

		json_object(json, NULL);
		domain_plain_name(name, summary_domain(summary, waits->domain));
		put_clean(json, "domain", name);
		snprintf(name, sizeof(name), "%s[%" PRIu32 "]", thread->comm,
			 thread->pid);
		put_clean(json, "process", *thread->comm || thread->pid ? name : "");
		snprintf(name, sizeof(name), "%s[%" PRIu64 "]",
			 *thread->thread ? thread->thread : thread->comm, thread->tid);
		put_clean(json, "name", name);
		json_number(json, "recording", waits->recording);
		json_end(json);
	}
	json_end(json);
}

/* Writes what is known of the waits, if any were recorded. */
static void put_waits(struct json *json, const struct waits_counts *waits)
{
	if (!waits->rounds)
		return;
	json_object(json, "waits");
	json_number(json, "rounds", waits->rounds);
	json_number(json, "period", waits->period);
	json_number(json, "threads", waits->threads);
	json_number(json, "read", waits->read);
	json_number(json, "torn", waits->torn);
	json_number(json, "unread", waits->unread);
	json_end(json);
}

static void put_domains(struct json *json, const struct summary *summary)
{
	json_array(json, "domains");
	for (size_t i = 0; i < summary->domain_room; i++) {
		const struct recording_domain *domain = summary->domains[i];

		if (!domain)
			continue;
		json_object(json, NULL);
		put_clean(json, "name", domain->name);
		json_number(json, "id", domain->id);
		json_string(json, "type", guest_type_name((unsigned int)domain->type));
		json_string(json, "cpu", cpu_kind_name((unsigned int)domain->cpu));
		json_number(json, "vcpus", domain->vcpus);
		put_clean(json, "vmm", domain->vmm);
		json_string(json, "unwound",
			    unwind_way_name((unsigned int)domain->unwind_way));
		put_clean(json, "tables", domain->table_files);
		json_end(json);
	}
	json_end(json);
}

static void put_kinds(struct json *json, const struct report *report,
		      const struct page_functions *functions,
		      const struct function_place *places)
{
	json_array(json, "kinds");
	for (uint32_t i = 0; i < functions->count; i++) {
		uint32_t function = functions->list[i];
		const struct function_place *place = &places[function];

		json_number(json, NULL,
			    !frames_function_known(report->frames, function)
				    ? FUNCTION_UNNAMED
			    : place->is_upper && !place->is_lower ? FUNCTION_UPPER
								  : FUNCTION_LOWER);
	}
	json_end(json);
}

/* Writes the name of each function, and the index of its symbol file in a list. */
static int put_functions(struct json *json, const struct report *report,
			 const struct page_functions *functions)
{
	struct function_place *places = functions_places(report);
	struct names *modules = names_new();
	int status = places && modules ? 0 : -1;

	if (status == 0)
		put_kinds(json, report, functions, places);
	json_array(json, "functions");
	for (uint32_t i = 0; i < functions->count; i++)
		json_string(json, NULL,
			    frames_function_name(report->frames, functions->list[i]));
	json_end(json);
	json_array(json, "module_of");
	for (uint32_t i = 0; i < functions->count && status == 0; i++) {
		const char *dso = places[functions->list[i]].dso;
		uint32_t module = names_intern(modules, dso ? dso : "");

		if (module == UINT32_MAX)
			status = -1;
		json_number(json, NULL, module);
	}
	json_end(json);
	json_array(json, "modules");
	for (uint32_t i = 0; modules && i < names_count(modules); i++)
		json_string(json, NULL, names_get(modules, i));
	json_end(json);
	if (modules)
		names_free(modules);
	free(places);
	return status;
}

static void put_exits(struct json *json, const struct tree *exits)
{
	json_array(json, "exits");
	for (uint32_t i = 1; i < exits->count; i++) {
		char name[EXIT_NAME_SIZE];

		exit_name(exits->nodes[i].key, name);
		json_string(json, NULL, name);
	}
	json_end(json);
}

int about_write(const struct report *report, const struct page_lists *lists, FILE *out)
{
	static const char *const weights[] = {
		[MEASURE_SAMPLES] = "samples",
		[MEASURE_CPU_TIME] = "cpu-time",
		[MEASURE_WALL] = "wall",
		[MEASURE_WAIT] = "wait",
	};
	struct json *json = json_new_lines(out);
	char name[HEADING_NAME_SIZE];
	int status;

	if (!json)
		return -1;
	json_object(json, NULL);
	json_string(json, "name", report->view.title ?: heading_name(name, report));
	json_string(json, "weight", weights[report->view.weight]);
	json_string(json, "event", report->summary->info.event);
	json_number(json, "cpu_times",
		    report->summary->samples && !report->summary->lacks_cpu_time);
	json_number(json, "shows_domains", report_shows_domains(report));
	put_recording(json, report, lists->origin);
	put_costs(json, report->summary);
	put_quality(json, report);
	put_notes(json, report->notes);
	json_array(json, "states");
	for (unsigned int i = 0; i < SUMMARY_STATES; i++)
		json_string(json, NULL, vcpu_state_name(i));
	json_end(json);
	json_array(json, "wait_states");
	for (unsigned int i = 0; i < WAIT_STATES; i++)
		json_string(json, NULL, wait_state_name(i));
	json_end(json);
	put_domains(json, report->summary);
	json_array(json, "recordings");
	for (size_t i = 0; i < report->recording_count; i++)
		put_clean(json, NULL, report->recordings[i].input.name);
	json_end(json);
	put_threads(json, report->summary, &lists->threads);
	put_wait_threads(json, report->summary, lists->wait_threads);
	put_waits(json, &report->summary->waits);
	put_exits(json, lists->exits);
	status = put_functions(json, report, &lists->functions);
	json_end(json);
	json_free(json);
	return status;
}
