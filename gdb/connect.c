/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdb/internal.h"

/* Maximum size of a description of a target, bytes. */
#define XML_MAX (1u << 20)

/* Bytes of a description that are requested at once. */
#define XML_PART 2048

/* Sends one command, and takes its reply. */
static int ask_stub(struct gdb *gdb, const char *format, const char *text,
		    struct packet *reply, struct error *err)
{
	struct commands commands = {.count = 0};

	commands_add(&commands, format, text);
	if (stub_send(&gdb->stub, &commands, err) < 0)
		return -1;
	return stub_reply(&gdb->stub, reply, err);
}

int gdb_continue(struct gdb *gdb, struct error *err)
{
	struct commands commands = {.count = 0};

	/* Debuggers that come later expect virtual addresses. */
	commands_add(&commands, "Qqemu.PhyMemMode:0");
	commands_add(&commands, "c");
	if (stub_send(&gdb->stub, &commands, err) < 0 ||
	    stub_expect_ok(&gdb->stub, err) < 0 ||
	    stub_expect_acknowledgements(&gdb->stub, err) < 0)
		return -1;
	gdb->stub.stops = 0;
	gdb_hold(gdb, false);
	return 0;
}

/* Finds the threads, one per vCPU: a reply has "m" and one or, after commas, several; "l"
 * follows the last. */
static int find_vcpus(struct gdb *gdb, struct error *err)
{
	const char *command = "qfThreadInfo";
	struct packet reply;

	for (;; command = "qsThreadInfo") {
		if (ask_stub(gdb, "%s", command, &reply, err) < 0)
			return -1;
		if (strcmp(reply.text, "l") == 0 && gdb->vcpus)
			return 0;
		if (reply.text[0] != 'm')
			return stub_misunderstood(&gdb->stub, reply.text, err);
		for (const char *at = reply.text; *at; at += strcspn(at, ",")) {
			size_t length = strcspn(++at, ",");

			if (!length || length >= GDB_THREAD ||
			    gdb->vcpus == GDB_VCPUS_MAX)
				return stub_misunderstood(&gdb->stub, reply.text, err);
			memcpy(gdb->thread[gdb->vcpus++], at, length);
		}
	}
}

/* Reads a file of the target's description. The caller frees the text; NULL on failure.
 */
static char *read_file(struct gdb *gdb, const char *name, struct error *err)
{
	struct commands commands = {.count = 0};
	char *text = NULL, *grown;
	size_t length = 0;
	struct packet reply;

	do {
		commands_add(&commands, "qXfer:features:read:%s:%zx,%x", name, length,
			     XML_PART);
		if (stub_send(&gdb->stub, &commands, err) < 0 ||
		    stub_reply(&gdb->stub, &reply, err) < 0)
			goto fail;
		if ((reply.text[0] != 'm' || reply.length < 2) && reply.text[0] != 'l') {
			stub_misunderstood(&gdb->stub, reply.text, err);
			goto fail;
		}
		grown = length < XML_MAX ? realloc(text, length + reply.length) : NULL;
		if (!grown) {
			error_set(err, "out of memory");
			goto fail;
		}
		text = grown;
		memcpy(text + length, reply.text + 1, reply.length - 1);
		length += reply.length - 1;
		text[length] = 0;
	} while (reply.text[0] == 'm');
	return text;
fail:
	free(text);
	return NULL;
}

static int scan_file(struct gdb *gdb, const char *name, struct error *err)
{
	char *xml = read_file(gdb, name, err);
	int status = xml ? gdb_registers_scan(&gdb->registers, xml, err) : -1;

	free(xml);
	return status;
}

static int find_registers(struct gdb *gdb, struct error *err)
{
	struct packet reply;
	unsigned int files;
	int needed;

	if (scan_file(gdb, "target.xml", err) < 0)
		return -1;
	/* Only target.xml includes files. */
	files = gdb->registers.files;
	for (unsigned int i = 0; i < files; i++)
		if (scan_file(gdb, gdb->registers.file[i], err) < 0)
			return -1;
	needed = gdb_registers_check(&gdb->registers, err);
	if (needed < 0 || ask_stub(gdb, "%s", "g", &reply, err) < 0)
		return -1;
	gdb->needed = (unsigned int)needed;
	gdb->g_size = reply.length / 2;
	return 0;
}

static int find_memory(struct gdb *gdb, struct error *err)
{
	char *text = stub_monitor(&gdb->stub, "info mtree -f", err);
	bool is_found = text && gdb_regions_parse(&gdb->regions, text);

	if (text && !is_found)
		error_set(err, "QEMU does not say where the guest's memory is (info "
			       "mtree -f)");
	free(text);
	return is_found ? 0 : -1;
}

/*
 * Finds out whether the guest ran before the connection stopped it. If so, QEMU
 * before 8.1 says that it stops (gdb_vm_state_change() in its gdbstub). Later versions do
 * not; only the status that they show for other reasons, such as a start with -S, differs
 * from that of the stop by the connection.
 */
static int find_state(struct gdb *gdb, struct error *err)
{
	char *version = stub_monitor(&gdb->stub, "info version", err), *status = NULL;
	unsigned int major = 0, minor = 0;

	if (version)
		status = stub_monitor(&gdb->stub, "info status", err);
	if (status) {
		sscanf(version, "%u.%u", &major, &minor);
		snprintf(gdb->host.version, sizeof(gdb->host.version),
			 "QEMU %u.%u, GDB stub", major, minor);
		gdb->is_held = !gdb->stub.stops &&
			       (major < 8 || (major == 8 && minor < 1) ||
				strncmp(status, "VM status: paused", 17) != 0 ||
				strchr(status, '('));
	}
	free(version);
	free(status);
	return status ? 0 : -1;
}

/* Checks that the stub is of the expected guest: a port or path that a command line names
 * may by now be another QEMU's, or mean another one in a container. */
static int check_name(struct gdb *gdb, struct error *err)
{
	char *name = gdb->is_expected ? stub_monitor(&gdb->stub, "info name", err) : NULL;
	int status = !gdb->is_expected || name ? 0 : -1;

	if (name) {
		name[strcspn(name, "\r\n")] = 0;
		if (strcmp(name, gdb->qemus_name) != 0)
			status = error_set(err,
					   "the GDB stub at %s is of another guest, '%s'",
					   gdb->place, name);
	}
	free(name);
	return status;
}

/* Makes the guest continue, unless it did not run before the connection. */
static int release_guest(struct gdb *gdb, struct error *err)
{
	if (!gdb->is_held)
		return gdb_continue(gdb, err);
	gdb->stub.stops = 0;
	gdb_hold(gdb, false);
	return stub_acknowledge(&gdb->stub, err);
}

int gdb_begin(struct gdb *gdb, struct error *err)
{
	struct error ignored;

	if (find_vcpus(gdb, err) < 0)
		return -1;
	gdb_hold(gdb, true);
	if (find_state(gdb, err) < 0)
		return -1;
	if (check_name(gdb, err) < 0) {
		release_guest(gdb, &ignored);
		return -1;
	}
	if (find_memory(gdb, err) < 0 || find_registers(gdb, err) < 0)
		return -1;
	gdb->is_connected = true;
	return release_guest(gdb, err);
}

int gdb_connect(struct gdb *gdb, struct error *err)
{
	if (gdb->is_connected)
		return 0;
	/* While another debugger is connected, QEMU accepts no connection, and the guest
	 * runs. It stops once this connection is accepted. */
	atomic_store(&gdb->shared->since, HOLDS_LATE);
	if (stub_connect(&gdb->stub, &gdb->address, err) == 0)
		return gdb_begin(gdb, err);
	gdb_hold(gdb, false);
	return -1;
}
