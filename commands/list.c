/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/commands.h"
#include "commands/open.h"
#include "guest/host.h"

/* What runs the domain, and how: "PVH", "QEMU", "QEMU, GDB stub". */
static void name_type(const struct guest_info *domain, char *text, size_t size)
{
	const char *type = guest_type_name(domain->type);

	if (domain->is_mute)
		snprintf(text, size, "%s, no stub", domain->vmm);
	else if (domain->is_indirect)
		snprintf(text, size, "%s, %s", domain->vmm, type);
	else
		snprintf(text, size, "%s", domain->vmm[0] ? domain->vmm : type);
}

/* Prints a line of the list; @type_width is the width of the column of types, or VMMs. */
static void print_domain(const struct guest_info *domain, int type_width)
{
	const char state[] = {
		domain->running ? 'r' : '-', domain->blocked ? 'b' : '-',
		domain->paused ? 'p' : '-',  domain->shutdown ? 's' : '-',
		domain->dying ? 'd' : '-',   0,
	};
	char vcpus[24], memory[24], type[64];

	name_type(domain, type, sizeof(type));
	if (domain->is_indirect || domain->is_hidden || domain->is_mute)
		snprintf(vcpus, sizeof(vcpus), "%5s", "-");
	else
		snprintf(vcpus, sizeof(vcpus), "%3" PRIu32 "/%-3" PRIu32, domain->online,
			 domain->vcpus);
	if (domain->is_hidden)
		snprintf(memory, sizeof(memory), "-");
	else
		snprintf(memory, sizeof(memory), "%" PRIu64, domain->memory >> 20);
	printf("%5" PRIu32 "  %-24s  %-*s  %-7s  %8s  %s\n", domain->id,
	       domain->name[0] ? domain->name : "-", type_width, type, vcpus, memory,
	       state);
}

/* Says why the first guest that may not be inspected is hidden. */
static void explain_hidden(struct host *host, const struct guest_info *domains,
			   size_t count)
{
	struct guest_info info;
	struct error why;

	for (size_t i = 0; i < count; i++) {
		if (!domains[i].is_hidden)
			continue;
		if (host->ops->info(host, domains[i].id, &info, &why) < 0)
			fprintf(stderr, "uniprof list: %s\n", why.text);
		return;
	}
}

/* Says how guests without any way to sample them get one. */
static void explain_mute(const struct guest_info *domains, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!domains[i].is_mute)
			continue;
		fprintf(stderr,
			"uniprof list: '%s' is emulated (KVM is not used): to sample it, "
			"add a GDB stub, by QEMU's option "
			"-gdb unix:/PATH,server=on,wait=off or its monitor's command "
			"gdbserver unix:/PATH,server=on,wait=off and uniprof's --gdb\n",
			domains[i].name);
		return;
	}
}

static int list_command(const struct command *command, int argc, char **argv)
{
	struct open_wish wish = {.gdb = NULL};
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
	wish.force = force;
	host = open_host(command->name, &wish, &err);
	if (host_list(host, &domains, &count, &err) == 0) {
		bool has_vmms = !host || host->ops->has_vmms;
		int width = has_vmms ? 16 : 4;

		if (!host)
			fprintf(stderr, "uniprof list: %s\n", err.text);
		printf("%5s  %-24s  %-*s   VCPUS    MEMORY  STATE\n",
		       has_vmms ? "PID" : "ID", "NAME", width, has_vmms ? "VMM" : "TYPE");
		for (size_t i = 0; i < count; i++)
			print_domain(&domains[i], width);
		explain_hidden(host, domains, count);
		explain_mute(domains, count);
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
	.run = list_command,
};
