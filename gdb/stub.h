/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_GDB_STUB_H
#define UNIPROF_GDB_STUB_H

#include <stdbool.h>

#include "base/error.h"
#include "gdb/address.h"
#include "gdb/packet.h"

/*
 * A connection to QEMU's GDB stub. It stops its guest when it accepts a connection, and
 * on any byte that it receives while the guest runs; when the connection ends, it leaves
 * the guest as it is (gdb_chr_event() and gdb_read_byte() in QEMU's gdbstub). So a guest
 * that is stopped must be continued before the connection is closed, and to a guest that
 * runs, nothing may be sent but the byte that stops it.
 *
 * Functions that return int return -1 with the reason in @err; whether the connection has
 * ended is then in has_ended. What the stub sends is checked, and waited for at most
 * STUB_PATIENCE_S.
 */

#define STUB_PATIENCE_S 3

struct stub {
	int fd;
	const char *name;     /* for messages: the address as the user gave it */
	bool has_ended;	      /* the stub has closed it */
	unsigned int stops;   /* stops of the guest that the stub reported */
	unsigned int awaited; /* commands that are not acknowledged yet */
	size_t used;	      /* bytes of the buffer that were taken */
	size_t received;      /* bytes of the buffer that were received */
	char buffer[2 * PACKET_MAX];
};

/* Creates the socket, which is not connected yet. */
int stub_init(struct stub *stub, const char *name, const struct gdb_address *address,
	      struct error *err);
void stub_close(struct stub *stub);

/* Connects, which stops the guest. */
int stub_connect(struct stub *stub, const struct gdb_address *address, struct error *err);

/* Sends the commands, whose replies are then to come, and empties @commands. */
int stub_send(struct stub *stub, struct commands *commands, struct error *err);
/* Waits for the next reply, whose text is valid until the next call. Messages that the
 * guest has stopped are only counted. */
int stub_reply(struct stub *stub, struct packet *reply, struct error *err);
/* Waits for the next reply, which must be "OK". */
int stub_expect_ok(struct stub *stub, struct error *err);
/* Waits until all commands are acknowledged, without a reply. */
int stub_expect_acknowledgements(struct stub *stub, struct error *err);

/*
 * Acknowledges the last reply or message, which no command has followed. Otherwise, if
 * someone else continued the guest, it could not be stopped: QEMU waits for an
 * acknowledgement, and skips the byte that stops a guest.
 */
int stub_acknowledge(struct stub *stub, struct error *err);

/* While the guest should run: acknowledges the messages that it has stopped, because of
 * someone else, and counts them. Does not wait. */
int stub_look(struct stub *stub, struct error *err);

/*
 * Detaches, which makes the guest continue, in whatever state another process that shared
 * the connection has left it, and undoes the settings of that process.
 */
int stub_release(struct stub *stub, struct error *err);

/* Executes a command of QEMU's monitor, and returns what it prints, which the caller
 * frees. NULL with the reason in @err on failure. */
char *stub_monitor(struct stub *stub, const char *command, struct error *err);

/* Reports an unexpected reply: -1. */
int stub_misunderstood(const struct stub *stub, const char *what, struct error *err);

#endif
