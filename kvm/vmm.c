/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/vmm.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void vmm_kind(const char *program, char *name, size_t size)
{
	static const struct {
		const char *start, *name;
	} known[] = {
		{"qemu", "QEMU"},    {"kvmtool", "kvmtool"},
		{"kvm", "QEMU"},     {"firecracker", "Firecracker"},
		{"lkvm", "kvmtool"},
	};
	const char *at = strrchr(program, '/');

	at = at ? at + 1 : program;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strncmp(at, known[i].start, strlen(known[i].start)) != 0)
			continue;
		at = known[i].name;
		break;
	}
	/* The link of a program whose file was replaced ends with this (proc(5)). */
	snprintf(name, size, "%.*s", (int)(strcspn(at, " ")), at);
}

bool vmm_syncs(const char *kind)
{
	static const char *const never[] = {"QEMU", "Firecracker", "kvmtool",
					    "cloud-hypervisor"};

	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
		if (strcmp(kind, never[i]) == 0)
			return false;
	return true;
}

/*
 * QEMU's -name: "NAME" or "guest=NAME", then options after commas; a comma in the name is
 * written twice (qemu(1)).
 */
static void copy_name(const char *from, char *name, size_t size)
{
	size_t length = 0;

	if (strncmp(from, "guest=", 6) == 0)
		from += 6;
	for (; *from && length < size - 1; from++) {
		if (*from == ',' && *++from != ',')
			break;
		name[length++] = *from;
	}
	name[length] = 0;
}

/* Whether the argument is the option; *@value is then the text after '=', or NULL if the
 * value is the next argument. */
static bool is_option(const char *argument, const char *option, const char **value)
{
	size_t length = strlen(option);

	if (strncmp(argument, option, length) != 0)
		return false;
	*value = argument[length] == '=' ? argument + length + 1 : NULL;
	return !argument[length] || *value;
}

/*
 * The value of the first argument that is one of @options, an array that ends with NULL.
 * "" if the argument has no value; NULL if there is no such argument.
 */
static const char *find_value(const char *arguments, size_t length,
			      const char *const *options)
{
	const char *end = arguments + length, *at = memchr(arguments, 0, length);

	/* The first is the program, the last may be cut. */
	for (at = at ? at + 1 : end; at < end; at++) {
		const char *stop = memchr(at, 0, (size_t)(end - at)), *value;

		for (size_t i = 0; stop && options[i]; i++) {
			if (!is_option(at, options[i], &value))
				continue;
			if (!value && stop + 1 < end &&
			    memchr(stop + 1, 0, (size_t)(end - stop - 1)))
				value = stop + 1;
			return value ? value : "";
		}
		if (!stop)
			break;
		at = stop;
	}
	return NULL;
}

/*
 * Names a guest of Solo5's hvt after its unikernel's file, the first argument that is no
 * option of hvt's: options have no separate values (tenders/hvt/hvt_main.c). What follows
 * is for the unikernel.
 */
static void copy_unikernel(const char *arguments, size_t length, char *name, size_t size)
{
	const char *end = arguments + length, *stop = memchr(arguments, 0, length);

	for (const char *at; stop && (at = stop + 1) < end;) {
		const char *slash;

		stop = memchr(at, 0, (size_t)(end - at));
		if (!stop || *at == '-')
			continue;
		slash = strrchr(at, '/');
		at = slash ? slash + 1 : at;
		length = (size_t)(stop - at);
		if (length > 4 && strcmp(stop - 4, ".hvt") == 0)
			length -= 4;
		snprintf(name, size, "%.*s", (int)length, at);
		return;
	}
}

static bool is_solo5(const char *arguments, size_t length)
{
	static const char program[] = "solo5-hvt";
	const char *stop = memchr(arguments, 0, length);
	const char *slash = stop ? strrchr(arguments, '/') : NULL;

	return stop &&
	       strncmp(slash ? slash + 1 : arguments, program, strlen(program)) == 0;
}

int vmm_guest_name(const char *arguments, size_t length, char *name, size_t size)
{
	static const char *const options[] = {"-name", "--name", "--id", NULL};
	const char *value;

	*name = 0;
	if (is_solo5(arguments, length))
		copy_unikernel(arguments, length, name, size);
	else if ((value = find_value(arguments, length, options)))
		copy_name(value, name, size);
	return *name ? 0 : -1;
}

bool vmm_is_emulator(const char *arguments, size_t length)
{
	static const char *const xen[] = {"-xen-domid", "--xen-domid", NULL};
	const char *program = strrchr(arguments, '/');

	program = program ? program + 1 : arguments;
	return (strncmp(program, "qemu-system-", 12) == 0 ||
		strcmp(program, "qemu-kvm") == 0 || strcmp(program, "kvm") == 0) &&
	       !find_value(arguments, length, xen);
}

/* Whether QEMU listens, rather than connects to a listener: "server" among the options
 * after commas, the last of which counts (QemuOpts). */
static bool is_server(const char *options)
{
	bool is = false;

	for (; *options; options += strcspn(options, ",")) {
		size_t length = strcspn(++options, ",");

		if (length < 6 || strncmp(options, "server", 6) != 0)
			continue;
		if (length == 6 || options[6] == '=')
			is = length == 6 ||
			     (length == 9 && strncmp(options, "server=on", 9) == 0);
	}
	return is;
}

/* Whether @text, which begins with "HOST:PORT", names the loopback interface. Without a
 * host, QEMU listens at all of this machine's addresses, so at loopback too. */
static bool is_loopback(const char *text)
{
	static const char *const hosts[] = {":", "localhost:", "127.0.0.1:", "[::1]:"};

	for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++)
		if (strncmp(text, hosts[i], strlen(hosts[i])) == 0)
			return true;
	return false;
}

int vmm_gdb_address(const char *arguments, size_t length, char *address, size_t size)
{
	static const char *const gdb[] = {"-gdb", "--gdb", NULL};
	static const char *const usual[] = {"-s", "--s", NULL};
	const char *value = find_value(arguments, length, gdb);
	size_t end = value ? strcspn(value, ",") : 0;
	int text = (int)end;

	if (!value && find_value(arguments, length, usual))
		snprintf(address, size, "tcp:localhost:1234");
	else if (!value || end >= size)
		return -1;
	else if (strncmp(value, "unix:/", 6) == 0 && is_server(value + end))
		snprintf(address, size, "%.*s", text, value);
	else if (strncmp(value, "tcp:", 4) == 0 && is_loopback(value + 4))
		/* gdbserver_start() in QEMU's gdbstub adds "server=on". */
		snprintf(address, size, "tcp:%s%.*s", value[4] == ':' ? "localhost" : "",
			 text - 4, value + 4);
	else
		return -1;
	return 0;
}

const struct layout_split *vmm_split(const char *kind, const char *arguments,
				     size_t length)
{
	static const char *const machine[] = {"-M", "--M", "-machine", "--machine", NULL};
	/* hw/i386/pc_q35.c, pc_piix.c and microvm.c in QEMU; the others' documentation.
	 */
	static const struct layout_split q35 = {0xb0000000, 0x80000000},
					 pc = {0xe0000000, 0xc0000000},
					 at_3_gib = {0xc0000001, 0xc0000000},
					 at_3_25_gib = {0xd0000001, 0xd0000000};
	const char *type;

	if (strcmp(kind, "Firecracker") == 0 || strcmp(kind, "kvmtool") == 0 ||
	    strcmp(kind, "crosvm") == 0)
		return &at_3_25_gib;
	if (strcmp(kind, "cloud-hypervisor") == 0)
		return &at_3_gib;
	if (strcmp(kind, "QEMU") != 0)
		return NULL;
	type = find_value(arguments, length, machine);
	if (type && strstr(type, "q35"))
		return &q35;
	return type && strstr(type, "microvm") ? &at_3_gib : &pc;
}
