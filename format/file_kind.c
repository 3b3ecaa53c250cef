/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/file_kind.h"

#include <stdbool.h>
#include <string.h>

/* Number of bytes at the start of text that must be ASCII */
#define TEXT_START 256

#define ADVICE_DECOMPRESS "decompress it first"
#define ADVICE_PERF	  "use 'perf script -i FILE | uniprof import'"

/* A kind, and the bytes that its files start with. */
struct signature {
	const char *magic;
	struct file_kind kind;
};

static const struct signature signatures[] = {
	/* Linux, tools/perf/Documentation/perf.data-file-format.txt; the second is of a
	 * machine with the other byte order. */
	{"PERFILE2", {"a recording of perf", ADVICE_PERF}},
	{"2ELIFREP", {"a recording of perf", ADVICE_PERF}},
	/* format/FORMAT.md */
	{"\xabUPR", {"a uniprof recording", "use 'uniprof report FILE'"}},
	/* ELF specification, e_ident */
	{"\177ELF",
	 {"an ELF file", "use 'uniprof report --symbols FILE RECORDING' for its names"}},
	/* RFC 1952; RFC 8878; the .xz file format, 2.1.1.1; bzip2's header */
	{"\x1f\x8b", {"a file compressed by gzip", ADVICE_DECOMPRESS}},
	{"\x28\xb5\x2f\xfd", {"a file compressed by zstd", ADVICE_DECOMPRESS}},
	{"\xfd"
	 "7zXZ",
	 {"a file compressed by xz", ADVICE_DECOMPRESS}},
	{"BZh", {"a file compressed by bzip2", ADVICE_DECOMPRESS}},
};

static const struct file_kind text = {
	"text",
	"use 'uniprof import FILE' if another profiler wrote it",
};

static bool is_text_byte(unsigned char byte)
{
	return byte == '\t' || byte == '\n' || byte == '\r' ||
	       (byte >= ' ' && byte <= '~');
}

static bool is_text(const unsigned char *start, size_t size)
{
	for (size_t i = 0; i < size && i < TEXT_START; i++)
		if (!is_text_byte(start[i]))
			return false;
	return size > 0;
}

const struct file_kind *file_kind_of(const void *start, size_t size)
{
	for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++) {
		size_t length = strlen(signatures[i].magic);

		if (size >= length && memcmp(start, signatures[i].magic, length) == 0)
			return &signatures[i].kind;
	}
	return is_text(start, size) ? &text : NULL;
}
