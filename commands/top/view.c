/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "commands/report/notes.h"
#include "report/model/domains.h"

static void set_path(struct view *view, const char *path)
{
	struct profile_rules *rules = &view->options->rules;

	rules->inputs[0] = path;
	rules->input_count = 1;
}

/* Messages name the recording, not its copy. */
static void set_name(struct view *view)
{
	if (view->profile.opened)
		view->profile.recordings[0].input.name = view->name;
}

int view_open(struct view *view, const char *path, struct error *err)
{
	set_path(view, path);
	view->is_open = true;
	if (profile_open(&view->profile, &view->options->rules, err) < 0)
		return -1;
	set_name(view);
	return 0;
}

void view_close(struct view *view)
{
	if (view->is_open)
		profile_close(&view->profile);
	view->is_open = false;
	for (size_t i = 0; i < view->spec_count; i++)
		free(view->specs[i]);
	free(view->specs);
	view->specs = NULL;
	view->spec_count = 0;
}

/* Writes how the guests use their vCPUs, as far as @domains lists them. */
static void write_states(const struct summary *summary, const char *domains, FILE *out)
{
	uint64_t states[SUMMARY_STATES] = {0}, sum = 0;

	for (size_t i = 0; i < summary->vcpu_count; i++) {
		const struct summary_vcpu *vcpu = &summary->vcpus[i];
		const struct recording_domain *of = summary_domain(summary, vcpu->domain);

		for (unsigned int s = 0; s < SUMMARY_STATES; s++) {
			if (of && !domain_in_list(of, domains))
				continue;
			states[s] += vcpu->states[s];
			sum += vcpu->states[s];
		}
	}
	for (unsigned int s = 0; s < SUMMARY_STATES; s++)
		if (states[s])
			fprintf(out, "%s %.1f %%, ", vcpu_state_name(s),
				100 * (double)states[s] / (double)sum);
}

/* Writes how the guests use their vCPUs, what sampling costs them, and the rate; nothing
 * for imported recordings. */
static void write_rates(const struct summary *summary, const char *domains, FILE *out)
{
	double rate = summary_rate(summary), wanted = (double)summary->info.frequency;
	double seconds = (double)summary_duration(summary) / 1e9;
	bool several = summary->domain_count > 1;

	if (rate <= 0)
		return;
	fputs("# vCPUs: ", out);
	write_states(summary, domains, out);
	fprintf(out, "paused %.3f %%%s\n",
		(double)summary->counts.pauses.sum / 1e7 / seconds,
		several ? " (all together)" : "");
	fprintf(out, "# %.4g of %.4g rounds/s%s, samples lost: %" PRIu64 "\n", rate,
		wanted / 1000, several ? " each" : "", summary->counts.lost);
}

int view_write(struct view *view, const char *path, FILE *out, struct error *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *table;
	int status;

	set_path(view, path);
	if (profile_restart(&view->profile, err) < 0)
		return -1;
	set_name(view);
	table = open_memstream(&text, &size);
	if (!table)
		return error_set(err, "out of memory");
	status = output_write(view->format, &view->profile, &view->report, NULL, NULL,
			      table, err);
	notes_print(&view->profile.notes, "top", NULL);
	if (fclose(table) != 0 && status == 0)
		status = error_set(err, "out of memory");
	if (status == 0) {
		write_rates(&view->profile.summary, view->options->rules.domains, out);
		fwrite(text, 1, size, out);
		view->is_shown = true;
	}
	free(text);
	return status;
}

int view_set_filter(struct view *view, const char *regex, struct error *err)
{
	if (profile_options_filter(view->options, regex, err) < 0)
		return -1;
	snprintf(view->filter, sizeof(view->filter), "%s", regex);
	return 0;
}

int view_set_domains(struct view *view, const struct summary *summary,
		     const char *domains, struct error *err)
{
	if (*domains && !domain_list_is_known(summary, domains, view->name, err))
		return -1;
	snprintf(view->domains, sizeof(view->domains), "%s", domains);
	view->options->rules.domains = *domains ? view->domains : NULL;
	return 0;
}

/* Opens a profile like @view's with the symbol files that the rules have now, writes a
 * table to nowhere, and replaces @view's profile if all went well. */
static int reopen(struct view *view, const char *path, struct error *err)
{
	struct view other = *view;
	char *text = NULL;
	size_t size = 0;
	FILE *table = open_memstream(&text, &size);
	int status;

	other.profile = (struct profile){0};
	status = table ? view_open(&other, path, err) : error_set(err, "out of memory");
	if (status == 0)
		status = view_write(&other, path, table, err);
	if (table)
		fclose(table);
	free(text);
	if (status < 0) {
		profile_close(&other.profile);
		return -1;
	}
	profile_close(&view->profile);
	*view = other;
	return 0;
}

int view_add_symbols(struct view *view, const char *path, const char *spec,
		     struct error *err)
{
	struct profile_rules *rules = &view->options->rules;
	char *own = strdup(spec);

	if (!own ||
	    !array_grow(&view->specs, view->spec_count + 1, sizeof(*view->specs)) ||
	    !array_grow(&rules->symbols, rules->symbol_count + 1,
			sizeof(*rules->symbols))) {
		free(own);
		return error_set(err, "out of memory");
	}
	rules->symbols[rules->symbol_count++] = own;
	if (reopen(view, path, err) < 0) {
		rules->symbol_count--;
		free(own);
		return -1;
	}
	view->specs[view->spec_count++] = own;
	return 0;
}
