/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/linux/mappings.h"

#include <elf.h>
#include <string.h>

#include "format/buffer.h"

/* Linux, include/linux/mm.h */
#define VM_EXEC 4

/* The address of a node has its type in these bits, and a type from the second one on is
 * above the leaves (Linux, include/linux/maple_tree.h). */
#define NODE_TYPE_SHIFT 3
#define NODE_TYPES	16
#define NODE_RANGE	2
#define NODE_WIDE	3
/* Limits of the tree's depth, and of a path's */
#define DEPTH_MAX 12
#define NAMES_MAX 64
/* Maximum number of bytes between the first and the last of an area's members */
#define AREA_MAX 512
/* Limit of a program's headers, and of its notes in bytes, that are looked at */
#define HEADERS_MAX 32
#define NOTES_MAX   4096

/* A struct vm_area_struct. */
struct area {
	uint64_t start, end, flags, pgoff, file;
};

/* What was found so far. */
struct reading {
	struct mapping_view *view;
	struct process_mappings *mappings;
	uint64_t end; /* of the last area */
	/* The last file of which there was the start, and where that is. */
	uint64_t file, image;
	/* The last file whose path was read, and that path. */
	uint64_t named;
	const char *path;
};

static bool read_bytes(struct mapping_view *view, uint64_t address, void *to, size_t size)
{
	if (!view->left)
		return false;
	view->left--;
	return cpu_copy(view->cpu, view->memory, address, to, size);
}

static bool read_word(struct mapping_view *view, uint64_t address, uint64_t *to)
{
	return read_bytes(view, address, to, sizeof(*to));
}

/* Reads the address of something in the kernel. */
static bool read_pointer(struct mapping_view *view, uint64_t address, uint64_t *to)
{
	return read_word(view, address, to) && *to >= KERNEL_START;
}

static bool read_area(struct mapping_view *view, uint64_t address, struct area *area)
{
	const struct mapping_layout *layout = view->layout;
	const struct {
		uint64_t offset;
		uint64_t *to;
	} member[] = {
		{layout->start, &area->start}, {layout->end, &area->end},
		{layout->flags, &area->flags}, {layout->pgoff, &area->pgoff},
		{layout->file, &area->file},
	};
	const size_t members = sizeof(member) / sizeof(member[0]);
	uint64_t low = UINT64_MAX, high = 0;
	uint8_t bytes[AREA_MAX];

	for (size_t i = 0; i < members; i++) {
		uint64_t end = member[i].offset + sizeof(uint64_t);

		if (member[i].offset < low)
			low = member[i].offset;
		if (end > high)
			high = end;
	}
	if (address < KERNEL_START || high - low > sizeof(bytes) ||
	    !read_bytes(view, address + low, bytes, high - low))
		return false;
	for (size_t i = 0; i < members; i++)
		memcpy(member[i].to, bytes + (member[i].offset - low), sizeof(uint64_t));
	return area->start < area->end && area->end < KERNEL_START &&
	       area->start % GUEST_PAGE_SIZE == 0 && area->end % GUEST_PAGE_SIZE == 0;
}

/* Puts a name before the path that begins at @path, and returns where that begins now;
 * NULL if there is no room above @low or the name can't be read. */
static char *put_name(struct mapping_view *view, uint64_t dentry, char *path,
		      const char *low)
{
	char name[256];
	size_t length;
	uint64_t at;

	if (!read_pointer(view, dentry + view->layout->name, &at))
		return NULL;
	/* A name may end before the page does, and the next page may not be there. */
	length = GUEST_PAGE_SIZE - at % GUEST_PAGE_SIZE;
	if (length > sizeof(name))
		length = sizeof(name);
	if (!read_bytes(view, at, name, length))
		return NULL;
	if (!memchr(name, 0, length) &&
	    (length == sizeof(name) ||
	     !read_bytes(view, at + length, name + length, sizeof(name) - length)))
		return NULL;
	length = strnlen(name, sizeof(name));
	if (!length || length == sizeof(name) || (size_t)(path - low) < length + 1)
		return NULL;
	path -= length;
	memcpy(path, name, length);
	*--path = '/';
	return path;
}

/* Where a path leads through. */
struct step {
	uint64_t dentry, mount;
};

/* Moves from the uppermost directory of a mount to where it is mounted. False if that is
 * the root. */
static bool leave_mount(struct mapping_view *view, struct step *step)
{
	const struct mapping_layout *layout = view->layout;
	uint64_t mount = step->mount - layout->vfsmount, parent;

	if (!read_pointer(view, mount + layout->mount_parent, &parent) ||
	    parent == mount ||
	    !read_pointer(view, mount + layout->mountpoint, &step->dentry))
		return false;
	step->mount = parent + layout->vfsmount;
	return true;
}

/* Writes the path to the end of @text; returns where it begins, NULL if it is not known.
 * What is above the root of a container is part of it. */
static const char *read_path(struct mapping_view *view, uint64_t file,
			     char text[MAPPING_PATH])
{
	const struct mapping_layout *layout = view->layout;
	char *path = text + MAPPING_PATH - 1;
	struct step step;

	*path = 0;
	if (!read_pointer(view, file + layout->dentry, &step.dentry) ||
	    !read_pointer(view, file + layout->mnt, &step.mount))
		return NULL;
	for (unsigned int names = 0; names < NAMES_MAX; names++) {
		uint64_t top, parent;

		if (!read_pointer(view, step.mount + layout->mount_root, &top))
			return NULL;
		if (step.dentry == top) {
			if (!leave_mount(view, &step))
				return *path ? path : NULL;
			continue;
		}
		path = put_name(view, step.dentry, path, text);
		if (!path || !read_pointer(view, step.dentry + layout->parent, &parent))
			return NULL;
		/* A file system that nothing leads to has only a name. */
		if (parent == step.dentry)
			return path;
		step.dentry = parent;
	}
	return NULL;
}

/* Returns the path of the file, in the memory of the mappings; empty: not known. */
static const char *path_of(struct reading *reading, uint64_t file)
{
	struct process_mappings *mappings = reading->mappings;
	char text[MAPPING_PATH];
	const char *path;
	size_t size;

	if (reading->named == file)
		return reading->path;
	path = read_path(reading->view, file, text) ?: "";
	size = strlen(path) + 1;
	reading->named = file;
	reading->path = "";
	if (size > 1 && size <= sizeof(mappings->text) - mappings->text_size) {
		char *to = mappings->text + mappings->text_size;

		reading->path = memcpy(to, path, size);
		mappings->text_size += size;
	}
	return reading->path;
}

/* Takes the build-id from the @size bytes of notes at @notes. */
static bool take_build_id(struct mapping *mapping, const uint8_t *notes, size_t size)
{
	while (size >= sizeof(Elf64_Nhdr)) {
		const size_t name = sizeof(Elf64_Nhdr);
		uint32_t name_size = get_le32(notes), bytes = get_le32(notes + 4);
		size_t data, next;

		if (name_size > size || bytes > size)
			return false;
		data = name + ((name_size + 3) & ~(size_t)3);
		next = data + ((bytes + 3) & ~(size_t)3);
		if (data + bytes > size)
			return false;
		if (get_le32(notes + 8) == NT_GNU_BUILD_ID && name_size == 4 &&
		    !memcmp(notes + name, "GNU", 4) && bytes &&
		    bytes <= MAPPING_BUILD_ID) {
			memcpy(mapping->build_id, notes + data, bytes);
			mapping->build_id_size = (uint8_t)bytes;
			return true;
		}
		if (next >= size)
			return false;
		notes += next;
		size -= next;
	}
	return false;
}

/* Reads the build-id of the program whose file is mapped from @image on, of which pages
 * may be missing. */
static void read_build_id(struct mapping_view *view, uint64_t image,
			  struct mapping *mapping)
{
	static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB};
	Elf64_Ehdr head;
	uint8_t notes[NOTES_MAX];

	if (!read_bytes(view, image, &head, sizeof(head)) ||
	    memcmp(head.e_ident, magic, sizeof(magic)) != 0 ||
	    head.e_phentsize != sizeof(Elf64_Phdr))
		return;
	for (unsigned int i = 0; i < head.e_phnum && i < HEADERS_MAX; i++) {
		uint64_t at = image + head.e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr part;

		if (at >= KERNEL_START || !read_bytes(view, at, &part, sizeof(part)))
			return;
		if (part.p_type == PT_NOTE && part.p_filesz <= sizeof(notes) &&
		    image + part.p_offset < KERNEL_START &&
		    read_bytes(view, image + part.p_offset, notes, part.p_filesz) &&
		    take_build_id(mapping, notes, part.p_filesz))
			return;
	}
}

/* Takes the next area of the process, in the order of their addresses. */
static bool take_area(struct reading *reading, const struct area *area)
{
	struct process_mappings *mappings = reading->mappings;
	struct mapping *mapping;

	if (area->start < reading->end)
		return false;
	reading->end = area->end;
	if (area->file < KERNEL_START)
		return true;
	if (!area->pgoff) {
		reading->file = area->file;
		reading->image = area->start;
	}
	if (!(area->flags & VM_EXEC) || mappings->count == MAPPINGS_MAX)
		return true;
	mapping = &mappings->list[mappings->count++];
	*mapping = (struct mapping){
		.start = area->start,
		.end = area->end,
		.offset = area->pgoff * GUEST_PAGE_SIZE,
		.path = path_of(reading, area->file),
	};
	if (reading->file == area->file)
		read_build_id(reading->view, reading->image, mapping);
	return true;
}

static bool read_list(struct reading *reading, uint64_t address)
{
	struct area area;

	while (address) {
		if (!read_area(reading->view, address, &area) ||
		    !take_area(reading, &area) ||
		    !read_word(reading->view, address + reading->view->layout->next,
			       &address))
			return false;
	}
	return true;
}

/* A node of the tree, and the addresses that it is for, from @low to @high. */
struct node {
	uint64_t entry; /* its address and type */
	uint64_t low, high;
	unsigned int depth;
};

static bool read_node(struct reading *reading, const struct node *node);

/* Takes what a node has for the addresses from @low to @high. */
static bool take_slot(struct reading *reading, const struct node *node, uint64_t entry,
		      uint64_t low, uint64_t high)
{
	struct node below = {entry, low, high, node->depth + 1};
	struct area area;

	if (!entry)
		return true;
	if ((node->entry >> NODE_TYPE_SHIFT) % NODE_TYPES >= NODE_RANGE)
		return read_node(reading, &below);
	return read_area(reading->view, entry, &area) && area.start == low &&
	       area.end - 1 == high && take_area(reading, &area);
}

/*
 * Reads the areas below a node (Linux, Documentation/core-api/maple_tree.rst). Its i-th
 * slot is for the addresses up to its i-th pivot. A pivot of 0 or of the node's last
 * address is behind the last one, and the last slot has none.
 */
static bool read_node(struct reading *reading, const struct node *node)
{
	const struct mapping_layout *layout = reading->view->layout;
	unsigned int type = (node->entry >> NODE_TYPE_SHIFT) % NODE_TYPES;
	uint64_t pivots = type == NODE_WIDE ? layout->wide_pivot : layout->pivot;
	uint64_t slots = type == NODE_WIDE ? layout->wide_slot : layout->slot;
	uint64_t count = (slots - pivots) / sizeof(uint64_t) + 1, low = node->low;
	uint8_t bytes[MAPPING_NODE_SIZE];

	if (!type || type > NODE_WIDE || node->entry < KERNEL_START ||
	    node->depth == DEPTH_MAX ||
	    slots + count * sizeof(uint64_t) > sizeof(bytes) ||
	    !read_bytes(reading->view, node->entry & ~(uint64_t)(sizeof(bytes) - 1),
			bytes, sizeof(bytes)))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t high = 0, entry;

		if (i + 1 < count)
			memcpy(&high, bytes + pivots + i * sizeof(high), sizeof(high));
		memcpy(&entry, bytes + slots + i * sizeof(entry), sizeof(entry));
		if (!high)
			high = node->high;
		if (high < low || high > node->high ||
		    !take_slot(reading, node, entry, low, high))
			return false;
		if (high == node->high)
			return true;
		low = high + 1;
	}
	return false;
}

bool mappings_read(struct mapping_view *view, uint64_t mm,
		   struct process_mappings *mappings)
{
	struct reading reading = {.view = view, .mappings = mappings};
	struct node root = {.high = UINT64_MAX};

	mappings->count = mappings->text_size = 0;
	if (mm < KERNEL_START || !read_word(view, mm + view->layout->root, &root.entry))
		return false;
	return view->layout->order == MAPPINGS_IN_TREE ? read_node(&reading, &root)
						       : read_list(&reading, root.entry);
}
