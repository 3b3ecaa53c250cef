/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/usage.h"
#include "record/commands.h"
#include "xen/xen.h"

static const char help[] =
	"Usage: uniprof list\n"
	"Lists the domains of this Xen host: id, name, type, vCPUs online of all, "
	"memory\n"
	"in MiB, and state: r running, b blocked, p paused, s shut down, d dying.\n"
	"\n"
	"  -h, --help   show this\n"
	"\n"
	"Exit codes: 0 done, 1 failed, 2 wrong usage.\n";

static void print_domain(const struct xen_domain *domain)
{
	const char state[] = {
		domain->running ? 'r' : '-', domain->blocked ? 'b' : '-',
		domain->paused ? 'p' : '-',  domain->shutdown ? 's' : '-',
		domain->dying ? 'd' : '-',   0,
	};

	printf("%5" PRIu32 "  %-24s  %-4s  %3" PRIu32 "/%-3" PRIu32 "  %8" PRIu64
	       "  %s\n",
	       domain->id, domain->name[0] ? domain->name : "-",
	       guest_type_name(domain->type), domain->online, domain->vcpus,
	       domain->memory >> 20, state);
}

int command_list(int argc, char **argv)
{
	static const struct option known[] = {
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct xen_domain *domains;
	struct error err;
	struct xen *xen;
	size_t count;
	int option, status = EXIT_FAILED;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":h", known, NULL)) != -1) {
		if (option != 'h')
			return usage_bad_option("list", option, ":h", argv);
		fputs(help, stdout);
		return EXIT_DONE;
	}
	if (optind < argc)
		return usage_error("list", "it takes no argument, what is '%s'?",
				   argv[optind]);
	xen = xen_open(&err);
	if (xen && xen_domain_list(xen, &domains, &count, &err) == 0) {
		printf("   ID  %-24s  TYPE   VCPUS    MEMORY  STATE\n", "NAME");
		for (size_t i = 0; i < count; i++)
			print_domain(&domains[i]);
		free(domains);
		status = EXIT_DONE;
	} else {
		fprintf(stderr, "uniprof list: %s\n", err.text);
	}
	xen_close(xen);
	return status;
}
