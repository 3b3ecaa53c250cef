/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/linux/module_list.h"

#include <string.h>

#include "format/buffer.h"
#include "symbols/symbols.h"

/* Maximum size of a module's code, bytes; the largest modules have 10 MB */
#define MODULE_SIZE_MAX (64u << 20)

/* enum module_state (Linux, include/linux/module.h). */
#define STATE_COMING 1 /* the module's tables are complete; 0: it is in use */
#define STATE_LAST   3

static bool read_bytes(struct module_view *view, uint64_t address, void *to, size_t size)
{
	if (!view->left)
		return false;
	view->left--;
	return cpu_read(view->cpu, view->memory, address, to, size);
}

static bool read_word(struct module_view *view, uint64_t address, uint64_t *to)
{
	return read_bytes(view, address, to, sizeof(*to));
}

static bool read_int(struct module_view *view, uint64_t address, uint32_t *to)
{
	return read_bytes(view, address, to, sizeof(*to));
}

static bool is_in_modules(uint64_t address)
{
	return address >= MODULES_START && address < MODULES_END;
}

/* Returns whether a link of the list can be at this address: in a struct module, or in
 * the list's head, which is in the kernel. */
static bool is_link(uint64_t address)
{
	return address >= LINUX_START && address < MODULES_END;
}

/* Returns whether a name can begin with these bytes: visible characters up to the first
 * 0. */
static bool is_name(const char *name, size_t size)
{
	size_t length = strnlen(name, size);

	for (size_t i = 0; i < length; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	return length > 0;
}

/* Reads the struct module at @module; false if there can't be one. */
static bool read_module(struct module_view *view, uint64_t module,
			struct module_entry *entry)
{
	const struct module_layout *layout = view->layout;
	struct module_entry read = {0};
	uint32_t state, size;
	char name[8];

	if (!is_in_modules(module) || !read_int(view, module + layout->state, &state) ||
	    state > STATE_LAST ||
	    !read_bytes(view, module + layout->name, name, sizeof(name)) ||
	    !is_name(name, sizeof(name)) ||
	    !read_word(view, module + layout->base, &read.start) ||
	    !read_int(view, module + layout->size, &size) ||
	    !read_int(view, module + layout->orcs, &read.orcs) ||
	    !read_word(view, module + layout->ips, &read.ips) ||
	    !read_word(view, module + layout->rows, &read.rows))
		return false;
	/* A module without code has no pages for code. */
	read.size = size;
	if (size && (!is_in_modules(read.start) || read.start % GUEST_PAGE_SIZE ||
		     size > MODULE_SIZE_MAX || size > MODULES_END - read.start))
		return false;
	if (state > STATE_COMING)
		read.orcs = 0;
	*entry = read;
	return true;
}

/* Returns the link after @link, if it leads back to @link; else 0. */
static uint64_t next_link(struct module_view *view, uint64_t link)
{
	uint64_t next, back;

	if (!read_word(view, link, &next) || !is_link(next) ||
	    !read_word(view, next + 8, &back) || back != link)
		return 0;
	return next;
}

bool module_list_newest(struct module_view *view, uint64_t head,
			struct module_entry *entry)
{
	uint64_t link = next_link(view, head);

	return link && read_module(view, link - view->layout->list, entry);
}

size_t module_list_read(struct module_view *view, uint64_t head,
			struct module_entry *entry)
{
	uint64_t link = next_link(view, head);
	size_t count = 0;

	while (link && link != head) {
		if (count == MODULES_MAX ||
		    !read_module(view, link - view->layout->list, &entry[count++]))
			return 0;
		link = next_link(view, link);
	}
	return link ? count : 0;
}

/* Returns the head of the circular list that the link @first is in: the only link that is
 * in the kernel and not in a module. 0 if there is no such list. */
static uint64_t find_head(struct module_view *view, uint64_t first)
{
	uint64_t link = first, head = 0;
	struct module_entry ignored;

	for (unsigned int i = 0; i <= MODULES_MAX; i++) {
		if (!read_module(view, link - view->layout->list, &ignored)) {
			if (head || link >= LINUX_END)
				return 0;
			head = link;
		}
		link = next_link(view, link);
		if (!link || link == first)
			return link ? head : 0;
	}
	return 0;
}

/* Looks for the list from each struct module that could be in the page. Returns the
 * list's head, or 0. */
static uint64_t scan_page(struct module_view *view, uint64_t page)
{
	uint64_t at = view->layout->list, head = 0;
	uint8_t bytes[GUEST_PAGE_SIZE];

	if (!cpu_read(view->cpu, view->memory, page, bytes, sizeof(bytes)))
		return 0;
	for (; at < sizeof(bytes) && !head; at += MODULE_ALIGN) {
		uint64_t next, back;

		memcpy(&next, bytes + at, sizeof(next));
		memcpy(&back, bytes + at + 8, sizeof(back));
		if (is_link(next) && is_link(back) && next != page + at)
			head = find_head(view, page + at);
	}
	return head;
}

uint64_t module_list_scan(struct module_scan *scan, struct module_view *view,
			  uint64_t address)
{
	if (!scan->start)
		scan->start = address & -(uint64_t)GUEST_PAGE_SIZE;
	for (unsigned int i = 0; i < MODULE_SCAN_PAGES; i++, scan->page++) {
		uint64_t distance = (scan->page + 1) / 2 * (uint64_t)GUEST_PAGE_SIZE;
		uint64_t page = scan->page % 2 ? scan->start - distance
					       : scan->start + distance;
		uint64_t head = is_in_modules(page) ? scan_page(view, page) : 0;

		if (head) {
			*scan = (struct module_scan){0};
			return head;
		}
	}
	if (scan->page >= MODULE_SCAN_ALL)
		*scan = (struct module_scan){0};
	return 0;
}
