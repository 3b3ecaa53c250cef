/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/usage.h"
#include "record/commands.h"
#include "record/target.h"
#include "symbols/symbols.h"

enum long_only {
	OPTION_DEMANGLE = USAGE_LONG_ONLY,
	OPTION_NO_DEMANGLE,
};

static const char help[] =
	"Usage: uniprof stack [OPTION]... DOMAIN\n"
	"Shows the registers and the call stack of each vCPU of a running Xen domain,\n"
	"given by name or id, taken in pauses of some microseconds. A domain that is\n"
	"paused or has crashed is looked at as it is.\n"
	"\n"
	"  -s, --symbols FILE[@OFFSET]   names from an ELF file, nm's output, kallsyms "
	"or\n"
	"                                three columns; may be given more than once\n"
	"      --no-demangle             leave C++, Rust and OCaml names as they are\n"
	"  -h, --help                    show this\n"
	"\n"
	"Exit codes: 0 done, 1 failed, 2 wrong usage.\n";

static void print_registers(const struct cpu *cpu)
{
	struct register_value values[REGISTERS_MAX];
	size_t count = cpu_registers(cpu, values);

	for (size_t i = 0; i < count; i++)
		printf("%6s %016" PRIx64 "%s", values[i].name, values[i].value,
		       i % 3 == 2 || i + 1 == count ? "\n" : "  ");
}

static void print_chain(const struct chain *chain, struct symbols *symbols)
{
	for (uint32_t i = 0; i < chain->count; i++) {
		uint64_t address = chain->address[i];
		struct symbol symbol;

		/* All but the first are return addresses (symbols_find()). */
		printf("  %016" PRIx64, address);
		if (symbols_find(symbols, address - (i > 0), &symbol))
			printf(" %s+0x%" PRIx64 " (%s)", symbol.name,
			       address - symbol.start, symbol.dso);
		putchar('\n');
	}
	if (chain->end != CHAIN_WHOLE)
		printf("  cut short: %s\n", chain_end_name(chain->end));
}

static void print_round(const struct capture *capture, const struct round *round,
			struct symbols *symbols)
{
	unsigned int sample = 0;

	for (unsigned int i = 0; i < capture_vcpus(capture); i++) {
		const struct capture_vcpu *vcpu = capture_vcpu(capture, i);

		if (!vcpu->captured) {
			printf("vCPU %u: offline\n", i);
			continue;
		}
		printf("vCPU %u: %s\n", i, vcpu_state_name(vcpu->state));
		print_registers(&vcpu->cpu);
		print_chain(&round->sample[sample++].chain, symbols);
	}
}

/* Another profiler's pause, which is over at once, is none to step back for. */
static int take_round(struct sampler *sampler, struct round *round, struct error *err)
{
	const struct timespec moment = {0, 2000000};

	for (int tries = 0;; tries++) {
		if (sampler_round(sampler, 1, round, err) < 0)
			return -1;
		if (round->outcome != ROUND_PAUSED || tries == 5)
			return 0;
		nanosleep(&moment, NULL);
	}
}

static int show(struct xen *xen, const char *name, struct symbols *symbols,
		struct error *err)
{
	struct xen_domain domain;
	struct target target;
	struct round round;
	int status = -1;

	if (xen_domain_find(xen, name, &domain, err) < 0 ||
	    target_open(&target, xen, &domain, NULL, 0, 0, err) < 0)
		return -1;
	if (take_round(target.sampler, &round, err) < 0)
		goto out;
	if ((round.outcome == ROUND_PAUSED || round.outcome == ROUND_SHUT) &&
	    sampler_look(target.sampler, &round, err) < 0)
		goto out;
	if (round.outcome == ROUND_GONE) {
		error_set(err, "domain '%s' has ended", name);
		goto out;
	}
	print_round(target.capture, &round, symbols);
	status = 0;
out:
	target_close(&target);
	return status;
}

struct stack_options {
	const char **files; /* room for all of argv */
	size_t file_count;
	struct symbols_options symbols;
};

/* True to go on; else @status is the exit code. */
static bool read_options(int argc, char **argv, struct stack_options *options,
			 int *status)
{
	static const struct option known[] = {
		{"symbols", required_argument, NULL, 's'},
		{"demangle", no_argument, NULL, OPTION_DEMANGLE},
		{"no-demangle", no_argument, NULL, OPTION_NO_DEMANGLE},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":s:h", known, NULL)) != -1) {
		switch (option) {
		case 's':
			options->files[options->file_count++] = optarg;
			break;
		case OPTION_DEMANGLE:
		case OPTION_NO_DEMANGLE:
			options->symbols.demangle = option == OPTION_DEMANGLE;
			break;
		case 'h':
			fputs(help, stdout);
			*status = EXIT_DONE;
			return false;
		default:
			*status = usage_bad_option("stack", option, ":s:h", argv);
			return false;
		}
	}
	if (argc - optind == 1)
		return true;
	*status = usage_error("stack", "it takes one domain");
	return false;
}

/* NULL with @err set when a file can't be used. */
static struct symbols *load_symbols(const struct stack_options *options,
				    struct error *err)
{
	struct symbols *symbols = symbols_new(&options->symbols);

	if (!symbols)
		error_set(err, "not enough memory");
	for (size_t i = 0; symbols && i < options->file_count; i++) {
		if (symbols_add(symbols, options->files[i], err) < 0) {
			symbols_free(symbols);
			return NULL;
		}
	}
	return symbols;
}

int command_stack(int argc, char **argv)
{
	struct stack_options options = {
		.files = calloc((size_t)argc, sizeof(*options.files)),
		.symbols = {.demangle = true, .debug_directory = "/usr/lib/debug"},
	};
	struct symbols *symbols = NULL;
	struct xen *xen = NULL;
	struct error err;
	int status = EXIT_FAILED;

	if (!options.files) {
		fprintf(stderr, "uniprof stack: not enough memory\n");
		return EXIT_FAILED;
	}
	if (!read_options(argc, argv, &options, &status))
		goto out;
	symbols = load_symbols(&options, &err);
	xen = symbols ? xen_open(&err) : NULL;
	status = EXIT_DONE;
	if (!xen || show(xen, argv[optind], symbols, &err) < 0) {
		fprintf(stderr, "uniprof stack: %s\n", err.text);
		status = EXIT_FAILED;
	}
	xen_close(xen);
	symbols_free(symbols);
out:
	free(options.files);
	return status;
}
