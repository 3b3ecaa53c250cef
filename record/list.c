/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "guest/host.h"
#include "record/commands.h"
#include "record/open.h"

/* @type_width: columns of the type, or the VMM */
static void print_domain(const struct guest_info *domain, int type_width)
{
	const char state[] = {
		domain->running ? 'r' : '-', domain->blocked ? 'b' : '-',
		domain->paused ? 'p' : '-',  domain->shutdown ? 's' : '-',
		domain->dying ? 'd' : '-',   0,
	};

	printf("%5" PRIu32 "  %-24s  %-*s  %3" PRIu32 "/%-3" PRIu32 "  %8" PRIu64
	       "  %s\n",
	       domain->id, domain->name[0] ? domain->name : "-", type_width,
	       domain->vmm[0] ? domain->vmm : guest_type_name(domain->type),
	       domain->online, domain->vcpus, domain->memory >> 20, state);
}

static int run_command(const struct command *command, int argc, char **argv)
{
	struct guest_info *domains;
	struct error err;
	struct host *host;
	char **arguments;
	bool force = false;
	size_t count;
	int status = command_parse(command, argc, argv, &force, &arguments);

	if (status != COMMAND_GO_ON)
		return status;
	status = EXIT_FAILED;
	host = open_host(command->name, NULL, force, &err);
	if (host && host->ops->list(host, &domains, &count, &err) == 0) {
		int width = host->ops->has_vmms ? 16 : 4;

		printf("%5s  %-24s  %-*s   VCPUS    MEMORY  STATE\n",
		       host->ops->has_vmms ? "PID" : "ID", "NAME", width,
		       host->ops->has_vmms ? "VMM" : "TYPE");
		for (size_t i = 0; i < count; i++)
			print_domain(&domains[i], width);
		free(domains);
		status = EXIT_DONE;
	} else {
		fprintf(stderr, "uniprof list: %s\n", err.text);
	}
	host_close(host);
	return status;
}

static const struct command_option known[] = {
	{"force", 0, NULL, FORCE_HELP, .set = option_set_true},
	{0},
};

static const struct option_group groups[] = {
	{"Options", known, 0},
	{0},
};

const struct command command_list = {
	.name = "list",
	.summary = "list the domains of this host",
	.about = "Lists the domains of this Xen host, or the VMs of this KVM host: id "
		 "(pid), "
		 "name, type (VMM), online and total vCPUs, memory in MiB, and state (r "
		 "running, b blocked, p paused, s shut down, d dying).",
	.groups = groups,
	.run = run_command,
};
