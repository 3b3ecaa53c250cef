/* SPDX-License-Identifier: BSD-3-Clause */
#include "gdb/stub.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"

/* Maximum size of what a command of the monitor prints, bytes. */
#define TEXT_MAX (1u << 20)

int stub_init(struct stub *stub, const char *name, const struct gdb_address *address,
	      struct error *err)
{
	const struct timeval patience = {STUB_PATIENCE_S, 0};
	int fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    yes = 1;

	*stub = (struct stub){.fd = fd, .name = name};
	if (fd < 0)
		return error_errno(err, errno, "can't create a socket");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0)
		return error_errno(err, errno, "can't limit the time to wait");
	/* A command must not wait for others to come (tcp(7)). */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return 0;
}

void stub_close(struct stub *stub)
{
	if (stub->fd >= 0)
		close(stub->fd);
	stub->fd = -1;
}

int stub_misunderstood(const struct stub *stub, const char *what, struct error *err)
{
	return error_set(err, "the GDB stub at %s gave an unexpected answer: %s",
			 stub->name, what);
}

/* Reports a failed send() or recv(), or, if @errnum is 0, the connection's end: -1. */
static int connection_failed(struct stub *stub, int errnum, struct error *err)
{
	if (errnum == EAGAIN)
		return error_set(err,
				 "the GDB stub at %s has not answered for %d s: another "
				 "debugger may be connected",
				 stub->name, STUB_PATIENCE_S);
	stub->has_ended = true;
	if (!errnum)
		return error_set(err, "the GDB stub at %s has closed the connection",
				 stub->name);
	return error_errno(err, errnum, "the connection to the GDB stub at %s",
			   stub->name);
}

int stub_connect(struct stub *stub, const struct gdb_address *address, struct error *err)
{
	if (connect(stub->fd, (const struct sockaddr *)&address->socket, address->size) ==
	    0)
		return 0;
	return error_errno(err, errno, "can't connect to the GDB stub at %s", stub->name);
}

/* Commands are less than a page, which a socket takes as a whole: if this process dies,
 * no part of a command is left behind. */
int stub_send(struct stub *stub, struct commands *commands, struct error *err)
{
	size_t sent = 0;

	while (sent < commands->length) {
		ssize_t bytes = send(stub->fd, commands->text + sent,
				     commands->length - sent, MSG_NOSIGNAL);

		if (bytes < 0 && errno == EINTR)
			continue;
		if (bytes < 0)
			return connection_failed(stub, errno, err);
		sent += (size_t)bytes;
	}
	stub->awaited += commands->count;
	commands->length = commands->count = 0;
	return 0;
}

/* Receives more, and returns the number of bytes; 0 at the end; -1 with errno set. */
static ssize_t receive_more(struct stub *stub, int flags)
{
	ssize_t bytes;

	memmove(stub->buffer, stub->buffer + stub->used, stub->received - stub->used);
	stub->received -= stub->used;
	stub->used = 0;
	do
		bytes = recv(stub->fd, stub->buffer + stub->received,
			     sizeof(stub->buffer) - stub->received, flags);
	while (bytes < 0 && errno == EINTR);
	stub->received += bytes > 0 ? (size_t)bytes : 0;
	return bytes;
}

static bool is_stop(const struct packet *packet)
{
	return packet->length && (packet->text[0] == 'T' || packet->text[0] == 'S');
}

/* Takes packets from the buffer. Returns 1 after a reply; 0 at the end of the buffer or,
 * if
 * @acknowledged, once all commands are acknowledged; or -1. */
static int take_buffered(struct stub *stub, bool acknowledged, struct packet *reply,
			 struct error *err)
{
	while (stub->used < stub->received && !(acknowledged && !stub->awaited)) {
		stub->used += packet_take(stub->buffer + stub->used,
					  stub->received - stub->used, reply);
		switch (reply->kind) {
		case PACKET_NONE:
			return 0;
		case PACKET_ACKNOWLEDGED:
			stub->awaited -= stub->awaited > 0;
			break;
		case PACKET_REFUSED:
			return stub_misunderstood(stub, "it refused a command", err);
		case PACKET_BAD:
			return stub_misunderstood(stub, "a damaged packet", err);
		case PACKET_WHOLE:
			/* The guest or QEMU has ended. */
			if (reply->length && strchr("WX", reply->text[0]))
				return connection_failed(stub, 0, err);
			if (!is_stop(reply))
				return 1;
			stub->stops++;
		}
	}
	return 0;
}

/* Receives packets. Returns 1 after a reply; 0 if @acknowledged, once all commands are
 * acknowledged; or -1. */
static int wait_for(struct stub *stub, bool acknowledged, struct packet *reply,
		    struct error *err)
{
	uint64_t deadline = 0;

	for (;;) {
		int status = take_buffered(stub, acknowledged, reply, err);
		ssize_t bytes;

		if (status || (acknowledged && !stub->awaited))
			return status;
		bytes = receive_more(stub, 0);
		if (bytes <= 0)
			return connection_failed(stub, bytes ? errno : 0, err);
		/* A stub may also send a byte now and then. */
		if (!deadline)
			deadline = clock_monotonic() + STUB_PATIENCE_S * NS_PER_S;
		else if (clock_monotonic() > deadline)
			return connection_failed(stub, EAGAIN, err);
	}
}

int stub_reply(struct stub *stub, struct packet *reply, struct error *err)
{
	return wait_for(stub, false, reply, err) < 0 ? -1 : 0;
}

int stub_expect_ok(struct stub *stub, struct error *err)
{
	struct packet reply;

	if (stub_reply(stub, &reply, err) < 0)
		return -1;
	return strcmp(reply.text, "OK") == 0 ? 0
					     : stub_misunderstood(stub, reply.text, err);
}

int stub_expect_acknowledgements(struct stub *stub, struct error *err)
{
	struct packet reply;
	int status = wait_for(stub, true, &reply, err);

	return status > 0 ? stub_misunderstood(stub, reply.text, err) : status;
}

int stub_acknowledge(struct stub *stub, struct error *err)
{
	return send(stub->fd, "+", 1, MSG_NOSIGNAL) < 0
		       ? connection_failed(stub, errno, err)
		       : 0;
}

int stub_look(struct stub *stub, struct error *err)
{
	unsigned int stops = stub->stops;
	struct packet reply;
	ssize_t bytes;
	int status;

	while ((status = take_buffered(stub, false, &reply, err)) == 0) {
		bytes = receive_more(stub, MSG_DONTWAIT);
		if (bytes < 0 && errno == EAGAIN)
			break;
		if (bytes <= 0)
			return connection_failed(stub, bytes ? errno : 0, err);
	}
	if (status)
		return status < 0 ? -1 : stub_misunderstood(stub, reply.text, err);
	/* QEMU waits for each acknowledgement, which does not stop a guest. */
	for (; stops != stub->stops; stops++)
		if (stub_acknowledge(stub, err) < 0)
			return -1;
	return 0;
}

/* Skips what is received up to the end of @text. */
static int skip_to(struct stub *stub, const char *text, uint64_t deadline,
		   struct error *err)
{
	size_t length = strlen(text);

	for (;;) {
		char *from = stub->buffer + stub->used;
		size_t size = stub->received - stub->used;
		char *found = memmem(from, size, text, length);
		ssize_t bytes;

		if (found) {
			stub->used = (size_t)(found - stub->buffer) + length;
			return 0;
		}
		if (size >= length)
			stub->used = stub->received - (length - 1);
		bytes = receive_more(stub, 0);
		if (bytes <= 0)
			return connection_failed(stub, bytes ? errno : 0, err);
		if (clock_monotonic() > deadline)
			return connection_failed(stub, EAGAIN, err);
	}
}

/* The replies to commands of the other process come first, and perhaps not from their
 * start. "1" answers the question whether the stub is attached, which nobody else asks.
 * Where the stub knows of several processes, D needs a number. */
int stub_release(struct stub *stub, struct error *err)
{
	uint64_t deadline = clock_monotonic() + STUB_PATIENCE_S * NS_PER_S;
	struct commands commands = {.count = 0};

	commands_interrupt(&commands);
	commands_add(&commands, "Qqemu.PhyMemMode:0");
	commands_add(&commands, "qAttached");
	commands_add(&commands, "D;1");
	if (stub_send(stub, &commands, err) < 0 ||
	    skip_to(stub, "$1#31", deadline, err) < 0)
		return -1;
	return skip_to(stub, "$OK#9a", deadline, err);
}

/* Adds an 'O' packet's text, of which each byte is two digits. */
static int add_text(const struct stub *stub, const struct packet *packet, char **text,
		    size_t *length, struct error *err)
{
	size_t size = (packet->length - 1) / 2;
	char *grown = *length + size < TEXT_MAX ? realloc(*text, *length + size + 1)
						: NULL;

	if (!grown)
		return error_set(err, "out of memory");
	*text = grown;
	if (!packet_bytes(packet->text + 1, packet->length - 1, grown + *length, size))
		return stub_misunderstood(stub, packet->text, err);
	*length += size;
	grown[*length] = 0;
	return 0;
}

char *stub_monitor(struct stub *stub, const char *command, struct error *err)
{
	struct commands commands = {.count = 0};
	char digits[128] = "", *text = calloc(1, 1);
	struct packet reply;
	size_t length = 0;

	for (size_t i = 0; command[i] && 2 * i + 2 < sizeof(digits); i++)
		snprintf(digits + 2 * i, 3, "%02x", (unsigned char)command[i]);
	commands_add(&commands, "qRcmd,%s", digits);
	if (!text)
		error_set(err, "out of memory");
	if (!text || stub_send(stub, &commands, err) < 0)
		goto fail;
	for (;;) {
		if (stub_reply(stub, &reply, err) < 0)
			goto fail;
		if (strcmp(reply.text, "OK") == 0)
			return text;
		if (reply.text[0] != 'O') {
			error_set(err,
				  "the GDB stub at %s is not QEMU's: it has no monitor",
				  stub->name);
			goto fail;
		}
		if (add_text(stub, &reply, &text, &length, err) < 0)
			goto fail;
	}
fail:
	free(text);
	return NULL;
}
