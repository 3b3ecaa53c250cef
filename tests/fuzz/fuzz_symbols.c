/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Symbol files with arbitrary contents. Build with -fsanitize=fuzzer,address,undefined
 * and run on tests/fuzz/corpus/symbols and tests/data/symbols.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "symbols/dwarf/lines.h"
#include "symbols/table.h"
#include "tests/fuzz/check.h"

#define PAGE_SIZE ((size_t)4096)
#define ROOM	  ((size_t)1 << 20)

/*
 * Memory like that of a mapped file: read-only, and followed by unmapped memory. It
 * detects accesses by libelf, which the sanitizers can't see.
 */
static uint8_t *make_room(void)
{
	uint8_t *room = mmap(NULL, ROOM + PAGE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(room != MAP_FAILED);
	check(!mprotect(room + ROOM, PAGE_SIZE, PROT_NONE));
	return room;
}

static void check_name(struct symbols *symbols, uint64_t address)
{
	struct symbol symbol;

	check(symbols_find(symbols, address, &symbol));
	check(symbol.start <= address);
	check(symbol.name[0] && strlen(symbol.name) <= SYMBOLS_NAME_MAX);
	check(!strcmp(symbol.dso, "file"));
}

static void check_table(struct symbols *symbols)
{
	const struct symbols_file *files;
	struct symbol symbol;

	check(symbols_files(symbols, &files) == 1);
	check(files->functions > 0 && files->low <= files->high);
	check_name(symbols, files->low);
	check_name(symbols, files->high);
	if (files->low > 0)
		check(!symbols_find(symbols, files->low - 1, &symbol));
	if (files->high < UINT64_MAX)
		check(!symbols_find(symbols, files->high + 1, &symbol));
	for (unsigned int bit = 0; bit < 64; bit++)
		if (symbols_find(symbols, (uint64_t)1 << bit, &symbol))
			check_name(symbols, (uint64_t)1 << bit);
}

static void check_lines(struct symbols_lines *lines, uint64_t address)
{
	struct symbol_line list[SYMBOL_LINES_MAX];
	size_t count = symbols_lines_find(lines, address, list);

	check(count <= SYMBOL_LINES_MAX);
	for (size_t i = 0; i < count; i++) {
		check(!list[i].file || !strchr(list[i].file, '/'));
		check(!list[i].function == (i + 1 == count));
		check(!list[i].function || list[i].function[0]);
	}
}

/* DWARF; libelf may change the copy passed to it. */
static void try_lines(uint8_t *content, size_t size)
{
	struct error why = {""};
	struct symbols_lines *lines = symbols_lines_new(content, size, "file", &why);

	check(!lines || !why.text[0]);
	if (!lines)
		return;
	for (uint64_t address = 0x1000; address < 0x1200; address++)
		check_lines(lines, address);
	for (unsigned int bit = 0; bit < 64; bit++)
		check_lines(lines, (uint64_t)1 << bit);
	symbols_lines_free(lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t *room;
	const struct symbols_options options = {
		.demangle = DEMANGLE_FULL, .lines = true, .debug_directory = "/nowhere"};
	struct symbols_offset offset = {0};
	struct symbols *symbols;
	struct error err = {""};
	uint8_t *content;

	if (!size || size > ROOM)
		return 0;
	if (!room)
		room = make_room();
	content = room + ROOM - size;
	memcpy(content, data, size);
	check(!mprotect(room, ROOM, PROT_READ));

	/* An offset that depends on the input, but leaves most files in place. */
	if (data[size - 1] == '+')
		offset.distance = UINT64_MAX >> data[size / 2] % 64;
	offset.down = data[size / 3] % 2;

	symbols = symbols_new(&options);
	check(symbols != NULL);
	if (symbols_add_memory(symbols, "dir/file", offset, content, size, &err)) {
		const struct symbols_file *files;

		check(!strncmp(err.text, "dir/file", 8) && !strchr(err.text, '\n'));
		check(symbols_files(symbols, &files) == 0);
	} else {
		check_table(symbols);
	}
	symbols_free(symbols);
	check(!mprotect(room, ROOM, PROT_READ | PROT_WRITE));
	if (size >= 4 && !memcmp(content, "\177ELF", 4))
		try_lines(content, size);
	return 0;
}
