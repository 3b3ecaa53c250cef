/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/domains.h"
#include "report/load.h"
#include "report/machine.h"
#include "report/options.h"
#include "report/outfile.h"
#include "report/output.h"
#include "report/progress.h"
#include "report/sources.h"

/* A report in the making. */
struct session {
	const struct report_options *options;
	struct input input;
	struct summary summary;
	struct sources sources;
	struct recorded *recorded; /* names in the recording */
	struct measure measure;
	struct stacks *stacks;
	char *debug_directory; /* below that of --symfs */
	struct names *domains; /* in the report */
	struct report report;
	void *state; /* the output's */
	struct progress progress;
};

static void say(const char *kind, const char *text)
{
	fprintf(stderr, "uniprof report: %s%s\n", kind, text);
}

static int check_files(const struct symbols *symbols,
		       const struct recording_domain *domain, struct error *err)
{
	const struct symbols_file *files;
	size_t count = symbols_files(symbols, &files);
	struct error why;

	for (size_t i = 0; i < count; i++) {
		switch (machine_compare(&files[i], domain, &why)) {
		case MACHINE_FITS:
			break;
		case MACHINE_DOUBTS:
			say("note: ", why.text);
			break;
		case MACHINE_WRONG:
			return error_set(err,
					 "%s; give the symbols of what ran in the domain",
					 why.text);
		}
	}
	return 0;
}

/* The symbol files must be for the CPU that the domain ran on. */
static int check_domain(void *arg, const struct recording_domain *domain,
			struct error *err)
{
	struct session *session = arg;
	const struct sources *sources = &session->sources;

	if (!domain_in_list(domain, session->options->domains))
		return 0;
	for (size_t i = 0; i < sources->count; i++)
		if (source_is_for(&sources->list[i], domain) &&
		    check_files(sources->list[i].symbols, domain, err) < 0)
			return -1;
	return 0;
}

static int out_of_memory(struct error *err)
{
	return error_set(
		err, "not enough memory, or room for temporary files, for the report");
}

static int add_names(void *arg, const struct name_list_reader *names, struct error *err)
{
	struct session *session = arg;

	return recorded_add(session->recorded, *names) < 0 ? out_of_memory(err) : 0;
}

static int add_samples(void *arg, const struct samples_batch *batch, struct error *err)
{
	struct session *session = arg;
	const struct output *format = session->options->format;
	const struct report *report = &session->report;

	progress_update(&session->progress, session->summary.bytes);
	if (session->measure.weight == MEASURE_CPU_TIME && batch->count &&
	    !batch->has_cpu_time)
		return error_set(err,
				 "%s does not tell the CPU time of its samples: use "
				 "--weight samples or wall",
				 session->input.name);
	if (measure_batch(&session->measure, &session->summary, batch) < 0 ||
	    stacks_add(session->stacks, batch, session->measure.counts) < 0)
		return out_of_memory(err);
	for (size_t i = 0; format->sample && i < batch->count; i++) {
		struct output_sample sample = {
			.time = batch->time[i],
			.domain = batch->domain[i],
			.vcpu = batch->vcpu[i],
			.stack = session->stacks->chains[i],
			.state = batch->state[i],
			.count = session->measure.counts[i],
		};

		if (sample.count && format->sample(session->state, &sample) < 0)
			return out_of_memory(err);
	}
	if (ferror(report->out)) {
		err->text[0] = 0; /* whoever closes the output says why */
		return -1;
	}
	return 0;
}

static void describe_file(const struct symbols_file *file, const char *domain)
{
	struct error line;

	error_set(&line,
		  "%s: %s, %zu functions at 0x%" PRIx64 "-0x%" PRIx64 "%s%s%s%s%s%s",
		  file->path, file->kind, file->functions, file->low, file->high,
		  file->names_from ? ", names from " : "", file->names_from ?: "",
		  file->lines_from ? ", lines from " : "", file->lines_from ?: "",
		  domain ? ", for the domain " : "", domain ?: "");
	say("", line.text);
}

/* What is not as it should be with a symbol file. */
static void remark_on_file(const struct symbols_file *file, bool wants_lines)
{
	struct error line;

	if (file->debug_refused)
		say("note: ", file->debug_refused);
	if (!wants_lines || file->has_lines)
		return;
	error_set(&line, "%s has no source lines (DWARF)%s%s", file->path,
		  file->debug_missing
			  ? "; its debug file is missing: "
			  : ": it needs to be an ELF program compiled with -g",
		  file->debug_missing ?: "");
	say("note: ", line.text);
}

static void describe_symbols(const struct sources *sources, bool verbose)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct symbols_file *files;
		size_t count = symbols_files(sources->list[i].symbols, &files);

		for (size_t j = 0; j < count; j++) {
			if (verbose)
				describe_file(&files[j], sources->list[i].domain);
			remark_on_file(&files[j], sources->options.lines);
		}
	}
}

/* Functions whose names are the same only as people read them. */
static void describe_merged(const struct frames *frames)
{
	const char *example;
	uint32_t count = frames_merged(frames, &example);
	struct error line;

	if (!count)
		return;
	error_set(&line,
		  "names that stand for several functions, which --no-demangle tells "
		  "apart: %" PRIu32 ", such as %s",
		  count, example);
	say("", line.text);
}

static void describe_recording(const struct session *session)
{
	const struct summary *summary = &session->summary;
	uint32_t nodes = 0;
	struct error line;

	for (uint32_t i = 0; i < session->stacks->tree.count; i++)
		nodes += stacks_is_address(session->stacks, i);
	error_set(&line,
		  "%s: %" PRIu64 " samples in %" PRIu64 " chunks, %" PRIu64
		  " bytes, %" PRIu32 " nodes of call chains; the recorder lost %" PRIu64
		  " samples and missed %" PRIu64 " rounds",
		  session->input.name, summary->samples, summary->chunks, summary->bytes,
		  nodes, summary->counts.lost, summary->counts.missed);
	say("", line.text);
}

/* Symbols for a domain that isn't there are of no use to anybody. */
static void check_sources(const struct session *session)
{
	const struct sources *sources = &session->sources;
	struct error line, why;

	for (size_t i = 0; i < sources->count; i++) {
		const char *domain = sources->list[i].domain;

		if (!domain ||
		    domain_is_known(&session->summary, domain, session->input.name, &why))
			continue;
		error_set(&line, "symbols are of no use: %s", why.text);
		say("note: ", line.text);
	}
}

/* CPU time that nobody knows where it was used. */
static void note_left(const struct session *session)
{
	uint64_t left = measure_left(&session->measure, &session->summary);
	uint64_t total = session->measure.total;
	struct error line;

	if (!left || (left < total / 100 && !session->options->verbose))
		return;
	error_set(&line,
		  "%.3f s of CPU time are left out: the vCPUs that used them were only "
		  "met blocked afterwards",
		  (double)left / 1e6);
	say("note: ", line.text);
}

/* Says what the reader of the report should know about it. */
static int finish(const struct session *session, const struct quality *quality)
{
	bool all = session->options->verbose;
	struct error line;

	if (all) {
		describe_recording(session);
		describe_merged(session->report.frames);
	}
	if (!session->summary.samples) {
		error_set(&line, "%s holds no samples", session->input.name);
		say("note: ", line.text);
	} else if (!session->measure.total) {
		error_set(&line, "nothing counts of the %" PRIu64 " samples of %s",
			  session->summary.samples, session->input.name);
		say("note: ", line.text);
	}
	check_sources(session);
	note_left(session);
	if (quality_note_names(quality, &session->sources, all, &line))
		say("note: ", line.text);
	if (quality_note_chains(quality, all, &line))
		say("note: ", line.text);
	if (!summary_damage(&session->summary, session->input.name, &line))
		return EXIT_DONE;
	say("", line.text);
	return EXIT_DAMAGED;
}

static int name_domains(struct session *session)
{
	struct report *report = &session->report;

	session->domains = domain_names(&session->summary, session->options->domains,
					session->stacks);
	if (!session->domains)
		return -1;
	report->domain_count = names_count(session->domains);
	if (report->domain_count)
		report->domain = names_get(session->domains, 0);
	return 0;
}

/* Reads the recording and writes the report, which is then to be closed. */
static int write_report(struct session *session, struct quality *quality,
			struct error *err)
{
	const struct output *format = session->options->format;
	const struct load_visitor visitor = {check_domain, add_names, add_samples,
					     session};
	bool is_watched = isatty(STDERR_FILENO) && !isatty(fileno(session->report.out));
	int status;

	session->state = format->begin(&session->report);
	if (!session->state)
		return out_of_memory(err);
	progress_start(&session->progress, is_watched ? stderr : NULL,
		       session->input.size);
	status = load_recording(&session->input, &session->summary, &visitor, err);
	progress_end(&session->progress);
	if (status < 0)
		return -1;
	if (!domain_list_is_known(&session->summary, session->options->domains,
				  session->input.name, err))
		return -1;
	if (name_domains(session) < 0 ||
	    quality_measure(quality, &session->measure, session->stacks,
			    session->report.frames, &session->sources,
			    &session->summary) < 0 ||
	    format->end(session->state) < 0)
		return out_of_memory(err);
	return 0;
}

/* Finds out what is wanted of symbol files. */
static int choose_symbols(struct session *session)
{
	const struct report_options *options = session->options;

	if (asprintf(&session->debug_directory, "%s%s", options->symfs ?: "",
		     options->debug_directory) < 0) {
		session->debug_directory = NULL;
		return -1;
	}
	session->sources = (struct sources){
		.options = {options->demangle, options->srcline || options->inlined,
			    session->debug_directory},
		.symfs = options->symfs,
		.srcline = options->srcline,
		.inlined = options->inlined,
	};
	return 0;
}

static int open_session(struct session *session, struct error *err)
{
	const struct report_options *options = session->options;

	if (input_open(&session->input, options->input, err) < 0)
		return -1;
	session->stacks = stacks_new();
	session->recorded = recorded_new();
	if (!session->stacks || !session->recorded ||
	    measure_init(&session->measure, options->weight, options->states,
			 options->domains) < 0 ||
	    choose_symbols(session) < 0)
		return out_of_memory(err);
	for (size_t i = 0; i < options->symbol_count; i++)
		if (sources_add(&session->sources, options->symbols[i], err) < 0)
			return -1;
	session->report = (struct report){
		.summary = &session->summary,
		.stacks = session->stacks,
		.frames = frames_new(&session->sources, session->recorded,
				     &session->summary),
		.sources = &session->sources,
		.measure = &session->measure,
		.per_vcpu = options->per_vcpu,
	};
	if (!session->report.frames)
		return out_of_memory(err);
	session->report.out = outfile_open(options->output, &session->input, err);
	return session->report.out ? 0 : -1;
}

static void close_session(struct session *session)
{
	if (session->state)
		session->options->format->free(session->state);
	frames_free(session->report.frames);
	if (session->domains)
		names_free(session->domains);
	recorded_free(session->recorded);
	sources_free(&session->sources);
	free(session->debug_directory);
	measure_free(&session->measure);
	stacks_free(session->stacks);
	summary_free(&session->summary);
	input_close(&session->input);
}

static int run(const struct report_options *options)
{
	struct session session = {.options = options, .input.fd = -1};
	struct quality quality;
	struct error err = {""}, write_err = {""};
	int exit_code = EXIT_FAILED, status;

	if (open_session(&session, &err) < 0)
		goto out;
	session.report.quality = &quality;
	describe_symbols(&session.sources, options->verbose);
	status = write_report(&session, &quality, &err);
	if (outfile_close(session.report.out, options->output, &write_err) < 0) {
		err = write_err;
		goto out;
	}
	if (status == 0)
		exit_code = finish(&session, &quality);
out:
	if (exit_code == EXIT_FAILED && err.text[0])
		say("", err.text);
	close_session(&session);
	return exit_code;
}

int command_report(int argc, char **argv)
{
	struct report_options options;
	int status = report_options_parse(&options, argc, argv);

	if (status == REPORT_GO_ON)
		status = run(&options);
	report_options_free(&options);
	return status;
}
