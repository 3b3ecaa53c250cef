/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a GDB stub may send, for a connection, two pauses with stacks, and the guard's
 * end. The input is a packet's text in each line, whose sum is added; after a 0 at its
 * start, it is sent as it is. The stub never waits: it has sent all before the first
 * command, and then closes the connection.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "gdb/internal.h"
#include "guest/guest.h"
#include "tests/fuzz/check.h"
#include "unwind/unwind.h"

#define INPUT_MAX (64u << 10)

static void say(int fd, const void *data, size_t size)
{
	const ssize_t sent = send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);

	(void)sent;
}

static void say_packets(int fd, const char *data, size_t size)
{
	static char all[8 * INPUT_MAX];
	size_t used = 0;

	while (size) {
		const char *end = memchr(data, 1, size);
		size_t length = end ? (size_t)(end - data) : size;
		unsigned char sum = 0;

		for (size_t i = 0; i < length; i++)
			sum = (unsigned char)(sum + (unsigned char)data[i]);
		used += (size_t)snprintf(all + used, sizeof(all) - used, "+$%.*s#%02x",
					 (int)length, data, sum);
		check(used < sizeof(all));
		length += end != NULL;
		data += length;
		size -= length;
	}
	say(fd, all, used);
}

static void unwind(struct guest *guest)
{
	const struct unwind_input input = {
		.memory = {.page = guest->ops->get_page, .context = guest->memory},
	};
	uint64_t addresses[CHAIN_ROOM];
	struct chain chain = {.address = addresses};

	for (unsigned int i = 0; i < guest->info.vcpus; i++)
		if (guest->vcpu[i].captured)
			cpu_unwind(&guest->vcpu[i].cpu, &input, &chain);
}

static void sample(struct guest *guest)
{
	enum observation observation;
	struct error err;

	for (uint64_t round = 1; round < 3; round++) {
		guest->ops->begin_pages(guest->memory, round, 64);
		guest->ops->prepare(guest);
		if (guest->ops->pause(guest, &err) != 0)
			return;
		unwind(guest);
		if (guest->ops->resume(guest, &err) != 0)
			return;
		guest->ops->finish(guest);
		guest->ops->pages_missed(guest->memory);
		unwind(guest);
	}
	/* This would take what is there for a pause by someone else. */
	guest->ops->observe(guest, 0, &observation, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct timeval moment = {0, 1000};
	struct host *host;
	struct gdb *gdb;
	struct error err;
	int ends[2];

	if (size < 1 || size > INPUT_MAX)
		return 0;
	host = gdb_open("unix:fuzz", NULL, &err);
	check(host != NULL && host->ops->arm(host, &err) == 0);
	gdb = (struct gdb *)host;
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	close(gdb->stub.fd);
	gdb->stub.fd = ends[0];
	check(setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &moment, sizeof(moment)) == 0);
	if (data[0])
		say_packets(ends[1], (const char *)data, size);
	else
		say(ends[1], data + 1, size - 1);
	shutdown(ends[1], SHUT_WR);
	if (gdb_begin(gdb, &err) == 0) {
		struct guest_info info;
		struct guest *guest;

		check(host->ops->info(host, 1, &info, &err) == 0);
		guest = host->ops->open(host, &info, NULL, &err);
		check(guest != NULL);
		sample(guest);
		guest->ops->close(guest);
	}
	host->ops->resume(host, &err);
	host_close(host);
	close(ends[1]);
	return 0;
}
