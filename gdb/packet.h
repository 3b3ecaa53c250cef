/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_GDB_PACKET_H
#define UNIPROF_GDB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Packets of GDB's remote serial protocol (Debugging with GDB, appendix E): "$TEXT#CC",
 * where CC is the sum of the text's bytes modulo 256, two hexadecimal digits. A '+' or
 * '-' outside of packets says whether one has arrived well. In the text, '}' precedes a
 * byte that has a meaning of its own and is XORed with 0x20. QEMU does not use the
 * run-length encoding that the protocol also has. Pure functions.
 */

/* Maximum length of a text, bytes; QEMU's have 4 KiB. */
#define PACKET_MAX (32u << 10)

enum packet_kind {
	PACKET_NONE, /* at most the start of a packet */
	PACKET_ACKNOWLEDGED,
	PACKET_REFUSED,
	PACKET_WHOLE,
	PACKET_BAD, /* a wrong sum, or too long */
};

struct packet {
	enum packet_kind kind;
	char *text; /* for PACKET_WHOLE: points into the given bytes, ends with a 0 */
	size_t length;
};

/*
 * Decodes the first packet in @bytes, and changes them. Returns the number of bytes
 * taken; bytes between packets are skipped. With PACKET_NONE, the remaining bytes must be
 * given again, with more.
 */
size_t packet_take(char *bytes, size_t size, struct packet *packet);

/* Commands that are sent together. QEMU takes a command as the acknowledgement of the
 * reply before it (gdb_read_byte() in its gdbstub.c). */
#define COMMANDS_SIZE 4096

struct commands {
	char text[COMMANDS_SIZE];
	size_t length;
	unsigned int count;
};

/* Adds the byte that stops a guest, which is not a packet, before all commands. */
void commands_interrupt(struct commands *commands);
/* Adds a command. False, without adding it, if it is too long. */
bool commands_add(struct commands *commands, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Decodes @size bytes from as many pairs of hexadecimal digits. False if @text, which is
 * @length bytes long, has fewer digits, or other characters among them. */
bool packet_bytes(const char *text, size_t length, void *to, size_t size);
/* Decodes a little-endian number of @size bytes, at most 8, as packet_bytes() does. */
bool packet_number(const char *text, size_t length, size_t size, uint64_t *number);

#endif
