/* Devicetree Specification 0.4, chapter 5: the flattened format. */
#include "fdt.h"

#include <stdbool.h>
#include <stddef.h>

#define HEADER_SIZE 40
#define MAGIC	    0xd00dfeed
#define MOST	    0x200000 /* largest size of a tree, bytes */

enum {
	BEGIN_NODE = 1,
	END_NODE,
	PROPERTY,
	NOP
};

/* The header's 32-bit words. */
enum {
	H_MAGIC,
	H_SIZE,
	H_STRUCTURE,
	H_STRINGS
};

struct tree {
	const uint32_t *words;
	const char *bytes;
	uint32_t size;
};

/* Returns a word of the tree; beyond its end 0, which is no token. */
static uint32_t tree_word(const struct tree *tree, uint32_t offset)
{
	return offset < tree->size - 3 ? __builtin_bswap32(tree->words[offset / 4]) : 0;
}

static bool is_at(const struct tree *tree, uint32_t offset, const char *name)
{
	for (; offset < tree->size; offset++, name++) {
		if (tree->bytes[offset] != *name)
			return !*name && tree->bytes[offset] == '@';
		if (!*name)
			return true;
	}
	return false;
}

static void copy_line(const struct tree *tree, uint32_t offset, uint32_t length,
		      struct fdt *fdt)
{
	uint32_t i;

	for (i = 0; i < length && i < sizeof(fdt->command_line) - 1; i++)
		fdt->command_line[i] = offset + i < tree->size ? tree->bytes[offset + i]
							       : 0;
	fdt->command_line[i] = 0;
}

/* Returns the next token's offset. */
static uint32_t skip_name(const struct tree *tree, uint32_t offset)
{
	while (offset < tree->size && tree->bytes[offset])
		offset++;
	return (offset + 4) & ~3u;
}

void fdt_read(const void *device_tree, struct fdt *fdt)
{
	struct tree tree = {device_tree, device_tree, MOST};
	uint32_t at, strings, length, depth = 0;
	bool chosen = false, memory = false;

	if (tree_word(&tree, 4 * H_MAGIC) != MAGIC)
		return;
	length = tree_word(&tree, 4 * H_SIZE);
	if (length >= HEADER_SIZE && length < MOST)
		tree.size = length;
	strings = tree_word(&tree, 4 * H_STRINGS);
	at = tree_word(&tree, 4 * H_STRUCTURE) & ~3u;
	for (;;) {
		at += 4;
		switch (tree_word(&tree, at - 4)) {
		case BEGIN_NODE:
			if (++depth == 2) {
				chosen = is_at(&tree, at, "chosen");
				memory = is_at(&tree, at, "memory");
			}
			at = skip_name(&tree, at);
			break;
		case END_NODE:
			depth--;
			break;
		case PROPERTY:
			length = tree_word(&tree, at);
			if (length > tree.size)
				return;
			if (depth == 2 && chosen &&
			    is_at(&tree, strings + tree_word(&tree, at + 4), "bootargs"))
				copy_line(&tree, at + 8, length, fdt);
			/* Two cells each for address and size. */
			if (depth == 2 && memory &&
			    is_at(&tree, strings + tree_word(&tree, at + 4), "reg"))
				fdt->memory_size = (uint64_t)tree_word(&tree, at + 16)
							   << 32 |
						   tree_word(&tree, at + 20);
			at += 8 + ((length + 3) & ~3u);
			break;
		case NOP:
			break;
		default:
			return;
		}
	}
}
