/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_GDB_ADDRESS_H
#define UNIPROF_GDB_ADDRESS_H

#include <sys/socket.h>

#include "base/error.h"

/* Where a stub listens: "unix:PATH" or "tcp:HOST:PORT". */
struct gdb_address {
	struct sockaddr_storage socket;
	socklen_t size;
};

/* The syntax of an address, for options' help. */
#define GDB_ADDRESS_HELP "unix:PATH|tcp:HOST:PORT"

/* Checks the syntax of an address: 0, or -1. */
int gdb_address_check(const char *text, struct error *err);

/* Checks an address, and looks up the host's name: its first IPv4 address, or else its
 * first IPv6 address. 0, or -1. */
int gdb_address_find(const char *text, struct gdb_address *address, struct error *err);

#endif
