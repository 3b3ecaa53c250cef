/* SPDX-License-Identifier: BSD-3-Clause */
#include "gdb/packet.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The value of a hexadecimal digit, or 16. Fast, as pauses decode many kilobytes. */
static inline unsigned int digit_value(char c)
{
	unsigned int number = (unsigned char)c - '0', letter = (c | 0x20) - 'a';

	if (number < 10)
		return number;
	return letter < 6 ? letter + 10 : 16;
}

bool packet_bytes(const char *text, size_t length, void *to, size_t size)
{
	unsigned char *out = to;

	if (length / 2 < size)
		return false;
	for (size_t i = 0; i < size; i++) {
		unsigned int high = digit_value(text[2 * i]),
			     low = digit_value(text[2 * i + 1]);

		if ((high | low) & 16)
			return false;
		out[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}

bool packet_number(const char *text, size_t length, size_t size, uint64_t *number)
{
	unsigned char bytes[sizeof(*number)];
	uint64_t sum = 0;

	if (size > sizeof(bytes) || !packet_bytes(text, length, bytes, size))
		return false;
	for (size_t i = size; i-- > 0;)
		sum = sum << 8 | bytes[i];
	*number = sum;
	return true;
}

/* Removes the escapes; returns the new length. */
static size_t remove_escapes(char *text, size_t length)
{
	size_t kept = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '}' && i + 1 < length)
			text[kept++] = (char)(text[++i] ^ 0x20);
		else
			text[kept++] = text[i];
	}
	return kept;
}

/* Takes a packet whose '$' is at @bytes. Returns its length with the sum; 0 if more is to
 * come. */
static size_t take_text(char *bytes, size_t size, struct packet *packet)
{
	char *end = memchr(bytes, '#', size);
	size_t length = end ? (size_t)(end - bytes) : size;
	unsigned char sum = 0, expected;

	if (length > PACKET_MAX) {
		packet->kind = PACKET_BAD;
		return length;
	}
	if (!end || size - length < 3)
		return 0;
	for (size_t i = 1; i < length; i++)
		sum = (unsigned char)(sum + (unsigned char)bytes[i]);
	if (!packet_bytes(end + 1, 2, &expected, 1) || expected != sum) {
		packet->kind = PACKET_BAD;
		return length + 3;
	}
	packet->kind = PACKET_WHOLE;
	packet->text = bytes + 1;
	packet->length = length - 1;
	if (memchr(packet->text, '}', packet->length))
		packet->length = remove_escapes(packet->text, packet->length);
	packet->text[packet->length] = 0;
	return length + 3;
}

size_t packet_take(char *bytes, size_t size, struct packet *packet)
{
	size_t at = 0;

	*packet = (struct packet){.kind = PACKET_NONE};
	while (at < size) {
		switch (bytes[at]) {
		case '+':
			packet->kind = PACKET_ACKNOWLEDGED;
			return at + 1;
		case '-':
			packet->kind = PACKET_REFUSED;
			return at + 1;
		case '$':
			return at + take_text(bytes + at, size - at, packet);
		}
		at++;
	}
	return at;
}

void commands_interrupt(struct commands *commands)
{
	commands->text[0] = 3;
	commands->length = 1;
}

bool commands_add(struct commands *commands, const char *format, ...)
{
	char *at = commands->text + commands->length;
	size_t room = sizeof(commands->text) - commands->length;
	unsigned char sum = 0;
	va_list arguments;
	int length;

	/* '$', '#', two digits and a 0 */
	if (room < 5)
		return false;
	va_start(arguments, format);
	length = vsnprintf(at + 1, room - 4, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= room - 4)
		return false;
	*at = '$';
	for (int i = 1; i <= length; i++)
		sum = (unsigned char)(sum + (unsigned char)at[i]);
	snprintf(at + 1 + length, 4, "#%02x", sum);
	commands->length += (size_t)length + 4;
	commands->count++;
	return true;
}
