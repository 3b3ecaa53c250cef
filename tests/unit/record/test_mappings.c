/* SPDX-License-Identifier: BSD-3-Clause */

/* Mappings of a process in a made-up guest's memory; the lab has real ones. */

#include <elf.h>

#include "record/linux/mapped.h"
#include "tests/unit/arch/test_x86.h"

#define DIRECT	  0xffff888000000000
#define MM	  (DIRECT + 0xf000)
#define AREA(i)	  (DIRECT + 0x2000 + (i)*0x98ull)
#define FILE(i)	  (DIRECT + 0x4000 + (i)*0x100ull)
#define DENTRY(i) (DIRECT + 0x6000 + (i)*0xc0ull)
#define MOUNT(i)  (DIRECT + 0x8000 + (i)*0x140ull)
#define NAME(i)	  (DIRECT + 0x9fe0 + (i)*0x100ull) /* the first one is in two pages */
#define NODE(i)	  (DIRECT + 0xb000 + (i)*0x100ull)

#define TASK	(DIRECT + 0xd000)
#define AREA_0	(DIRECT + 0xe000) /* the CPU's variables */
#define PER_CPU 0xffffffff82000000
#define SPACE	((uint64_t)1 << GUEST_PAGE_SHIFT)
#define PID	123

#define EXECUTABLE 5
#define READ_ONLY  1

static const struct mapping_layout tree = {
	.order = MAPPINGS_IN_TREE,
	.root = 72,
	.start = 0,
	.end = 8,
	.flags = 32,
	.pgoff = 120,
	.file = 128,
	.dentry = 24,
	.mnt = 16,
	.parent = 24,
	.name = 40,
	.vfsmount = 32,
	.mount_parent = 16,
	.mountpoint = 24,
	.mount_root = 0,
	.pivot = 8,
	.slot = 128,
	.wide_pivot = 8,
	.wide_slot = 80,
};

static const struct task_layout task = {
	.per_cpu = PER_CPU,
	.current = 0x10,
	.tgid = 0x100,
	.comm = 0x200,
	.group_leader = 0x300,
	.mm = 0x308,
	.pgd = 0x100,
};

struct scene {
	struct guest *guest;
	struct mapping_layout layout;
	struct process_mappings mappings;
};

static void put_word(struct guest *guest, uint64_t address, uint64_t word)
{
	put_bytes(guest, address, &word, sizeof(word));
}

/* Puts a directory or file called @name into the directory @parent. */
static void put_dentry(struct guest *guest, unsigned int i, unsigned int parent,
		       const char *name)
{
	put_word(guest, DENTRY(i) + tree.parent, DENTRY(parent));
	put_word(guest, DENTRY(i) + tree.name, NAME(i));
	put_bytes(guest, NAME(i), name, strlen(name) + 1);
}

/* Mounts the directory @top at @point of the mount @parent. */
static void put_mount(struct guest *guest, unsigned int i, unsigned int parent,
		      unsigned int point, unsigned int top)
{
	put_word(guest, MOUNT(i) + tree.mount_parent, MOUNT(parent));
	put_word(guest, MOUNT(i) + tree.mountpoint, DENTRY(point));
	put_word(guest, MOUNT(i) + tree.vfsmount + tree.mount_root, DENTRY(top));
}

static void put_file(struct guest *guest, unsigned int i, unsigned int dentry,
		     unsigned int mount)
{
	put_word(guest, FILE(i) + tree.dentry, DENTRY(dentry));
	put_word(guest, FILE(i) + tree.mnt, MOUNT(mount) + tree.vfsmount);
}

static void put_area(struct guest *guest, unsigned int i, uint64_t start, uint64_t pages,
		     uint64_t flags, uint64_t pgoff, uint64_t file)
{
	put_word(guest, AREA(i) + tree.start, start);
	put_word(guest, AREA(i) + tree.end, start + pages * GUEST_PAGE_SIZE);
	put_word(guest, AREA(i) + tree.flags, flags);
	put_word(guest, AREA(i) + tree.pgoff, pgoff);
	put_word(guest, AREA(i) + tree.file, file);
}

/* Puts the start of a program with a build-id where a process has it. */
static void put_program(struct guest *guest, uint64_t at)
{
	static const uint8_t id[] = {1, 2, 3, 4, 5, 6, 7, 8};
	const Elf64_Nhdr note = {4, sizeof(id), NT_GNU_BUILD_ID};
	const Elf64_Ehdr head = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
		.e_phoff = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	const Elf64_Phdr parts[] = {
		{.p_type = PT_LOAD, .p_filesz = 0x1000},
		{.p_type = PT_NOTE,
		 .p_offset = 0x200,
		 .p_filesz = sizeof(note) + 4 + sizeof(id)},
	};

	put_bytes(guest, at, &head, sizeof(head));
	put_bytes(guest, at + head.e_phoff, parts, sizeof(parts));
	put_bytes(guest, at + 0x200, &note, sizeof(note));
	put_bytes(guest, at + 0x200 + sizeof(note), "GNU", 4);
	put_bytes(guest, at + 0x200 + sizeof(note) + 4, id, sizeof(id));
}

static const struct {
	uint64_t start, pages, flags, pgoff, file;
} areas[] = {
	{0x400000, 1, READ_ONLY, 0, FILE(0)},
	{0x401000, 3, EXECUTABLE, 1, FILE(0)},
	{0x404000, 2, READ_ONLY, 4, FILE(0)},
	{0x1000000, 33, READ_ONLY, 0, 0}, /* the heap */
	{0x7f0000000000, 2, READ_ONLY, 0, FILE(1)},
	{0x7f0000002000, 9, EXECUTABLE, 2, FILE(1)},
	{0x7f0000010000, 1, EXECUTABLE, 0, 0}, /* code made at run time */
	{0x7ffffffde000, 33, READ_ONLY, 0, 0}, /* the stack */
};

#define LEAF(i) (NODE(i) | 1 << 3 | 4)
#define WIDE(i) (NODE(i) | 3 << 3 | 4)

/* Puts areas and the gaps between them into a leaf that begins at @low. */
static void put_leaf(struct guest *guest, unsigned int node, uint64_t low, size_t first,
		     size_t end, uint64_t high)
{
	unsigned int slot = 0;

	for (size_t i = first; i < end; i++, slot++) {
		if (areas[i].start != low)
			put_word(guest, NODE(node) + tree.pivot + 8 * slot++,
				 areas[i].start - 1);
		low = areas[i].start + areas[i].pages * GUEST_PAGE_SIZE;
		put_word(guest, NODE(node) + tree.pivot + 8 * slot, low - 1);
		put_word(guest, NODE(node) + tree.slot + 8 * slot, AREA(i));
	}
	/* The last slot is a gap: its pivot is the last address, or 0. */
	if (low - 1 != high)
		put_word(guest, NODE(node) + tree.pivot + 8 * slot,
			 high == UINT64_MAX ? 0 : high);
}

/* Two programs, one of them in a directory on a mount. */
static int setup(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct guest *guest = guest_new(&mode_4_level);

	assert_non_null(scene);
	scene->guest = guest;
	scene->layout = tree;
	put_dentry(guest, 0, 0, "/");
	put_dentry(guest, 1, 0, "usr");
	put_dentry(guest, 2, 1, "web server");
	put_dentry(guest, 3, 3, "/");
	put_dentry(guest, 4, 3, "lib");
	put_dentry(guest, 5, 4, "libc.so.6");
	put_mount(guest, 0, 0, 0, 0);
	put_mount(guest, 1, 0, 1, 3);
	put_file(guest, 0, 2, 0);
	put_file(guest, 1, 5, 1);
	for (size_t i = 0; i < COUNT_OF(areas); i++)
		put_area(guest, i, areas[i].start, areas[i].pages, areas[i].flags,
			 areas[i].pgoff, areas[i].file);
	put_leaf(guest, 1, 0, 0, 4, 0x6fffffffffff);
	put_leaf(guest, 2, 0x700000000000, 4, COUNT_OF(areas), UINT64_MAX);
	put_word(guest, NODE(0) + tree.wide_pivot, 0x6fffffffffff);
	put_word(guest, NODE(0) + tree.wide_slot, LEAF(1));
	put_word(guest, NODE(0) + tree.wide_slot + 8, LEAF(2));
	put_word(guest, MM + tree.root, WIDE(0) | 2);
	put_program(guest, areas[4].start);
	*state = scene;
	return 0;
}

static int teardown(void **state)
{
	struct scene *scene = *state;

	free(scene->guest);
	free(scene);
	return 0;
}

static bool read_mappings(struct scene *scene)
{
	const struct cpu cpu = {.family = CPU_FAMILY_X86, .x86 = scene->guest->cpu};
	struct mapping_view view = {
		.cpu = &cpu,
		.memory = &scene->guest->memory,
		.layout = &scene->layout,
		.left = MAPPING_PIECES,
	};

	return mappings_read(&view, MM, &scene->mappings);
}

static void expect(struct scene *scene)
{
	const struct mapping *list = scene->mappings.list;

	assert_true(read_mappings(scene));
	assert_int_equal(scene->mappings.count, 2);
	assert_int_equal(list[0].start, 0x401000);
	assert_int_equal(list[0].end, 0x404000);
	assert_int_equal(list[0].offset, 0x1000);
	assert_string_equal(list[0].path, "/usr/web server");
	assert_int_equal(list[0].build_id_size, 0);
	assert_int_equal(list[1].start, 0x7f0000002000);
	assert_int_equal(list[1].end, 0x7f000000b000);
	assert_int_equal(list[1].offset, 0x2000);
	assert_string_equal(list[1].path, "/usr/lib/libc.so.6");
	assert_int_equal(list[1].build_id_size, 8);
	assert_memory_equal(list[1].build_id, "\1\2\3\4\5\6\7\10", 8);
}

static void mappings_are_in_a_tree(void **state)
{
	expect(*state);
}

/* Until Linux 6.0. */
static void mappings_are_in_a_list(void **state)
{
	struct scene *scene = *state;

	scene->layout.order = MAPPINGS_IN_LIST;
	scene->layout.next = 16;
	for (size_t i = 0; i < COUNT_OF(areas); i++)
		put_word(scene->guest, AREA(i) + scene->layout.next,
			 i + 1 < COUNT_OF(areas) ? AREA(i + 1) : 0);
	put_word(scene->guest, MM + scene->layout.root, AREA(0));
	expect(scene);
	/* A list that never ends */
	put_word(scene->guest, AREA(7) + scene->layout.next, AREA(0));
	assert_false(read_mappings(scene));
}

static void a_tree_that_is_changed_meanwhile_is_not_used(void **state)
{
	struct scene *scene = *state;

	put_word(scene->guest, AREA(5) + tree.end, areas[5].start + GUEST_PAGE_SIZE);
	assert_false(read_mappings(scene));
	put_word(scene->guest, AREA(5) + tree.end, areas[5].start + 9 * GUEST_PAGE_SIZE);
	/* The same leaf again */
	put_word(scene->guest, NODE(0) + tree.wide_slot + 8, LEAF(1));
	assert_false(read_mappings(scene));
	/* The root below itself */
	put_word(scene->guest, NODE(0) + tree.wide_slot + 8, WIDE(0));
	assert_false(read_mappings(scene));
	put_word(scene->guest, NODE(0) + tree.wide_slot + 8, LEAF(2));
	expect(scene);
}

static void a_path_that_does_not_end_is_not_known(void **state)
{
	struct scene *scene = *state;

	put_dentry(scene->guest, 1, 2, "usr");
	assert_true(read_mappings(scene));
	assert_int_equal(scene->mappings.count, 2);
	assert_string_equal(scene->mappings.list[0].path, "");
}

/* Any page may be missing, and any word of the guest wrong. */
static void a_guest_is_not_trusted(void **state)
{
	static const uint64_t words[] = {0,	  1,	   UINT64_MAX, DIRECT,
					 WIDE(0), AREA(1), 0x401000,   DENTRY(2)};
	struct scene *scene = *state;
	struct guest *guest = scene->guest;

	for (uint64_t frame = 0; frame < guest->next; frame++) {
		guest->missing[frame] = true;
		read_mappings(scene);
		guest->missing[frame] = false;
	}
	for (uint64_t at = DIRECT + 0x2000; at < DIRECT + 0x10000; at += 8) {
		uint64_t right;

		if (!(get_entry(guest, entry_of(guest, at, guest->mode->levels - 1)) &
		      PRESENT))
			continue;
		memcpy(&right, guest_byte(guest, at), sizeof(right));
		for (size_t j = 0; right && j < COUNT_OF(words); j++) {
			put_word(guest, at, words[j]);
			read_mappings(scene);
			assert_true(scene->mappings.count <= MAPPINGS_MAX);
		}
		put_word(guest, at, right);
	}
	expect(scene);
}

/* Puts the task that the CPU executes, whose mappings these are. */
static void put_task(struct guest *guest)
{
	const uint32_t pid = PID;
	const char comm[RECORDING_COMM] = "web";

	map(guest, DIRECT + SPACE, 1, GUEST_PAGE_SHIFT);
	put_word(guest, MM + task.pgd, DIRECT + SPACE);
	put_word(guest, PER_CPU, AREA_0);
	put_word(guest, AREA_0 + task.current, TASK);
	put_word(guest, TASK + task.mm, MM);
	put_word(guest, TASK + task.group_leader, TASK);
	put_bytes(guest, TASK + task.tgid, &pid, sizeof(pid));
	put_bytes(guest, TASK + task.comm, comm, sizeof(comm));
}

/* Looks at the process if that is due at @now; returns the number of mappings, if they
 * are new. */
static size_t look(struct mapped *mapped, struct scene *scene, uint64_t address,
		   uint64_t now, bool is_due)
{
	const struct cpu cpu = {.family = CPU_FAMILY_X86, .x86 = scene->guest->cpu};
	struct tasks tasks = {.layout = &task};
	struct recording_process process = {.space = SPACE};
	struct chain chain = {.address = &address, .count = 1};
	struct process_mappings *mappings;
	size_t count;

	tasks_name(&tasks, &cpu, &scene->guest->memory, 0, &process);
	assert_int_equal(process.pid, PID);
	assert_int_equal(mapped_is_due(mapped, &process, &chain, now), is_due);
	if (!is_due)
		return 0;
	mappings = mapped_look(mapped, &tasks, &cpu, &scene->guest->memory, &process,
			       now);
	count = mappings ? mappings->count : 0;
	if (mappings) {
		assert_int_equal(mappings->time, now);
		assert_int_equal(mappings->process.pid, PID);
	}
	free(mappings);
	return count;
}

#define SECOND 1000000000ull
#define KNOWN  0x401010
#define OTHER  0x7f0000010000

static void a_process_is_looked_at_again_for_other_code(void **state)
{
	struct scene *scene = *state;
	struct mapped *mapped = mapped_new(&scene->layout);
	uint64_t now = 1000 * SECOND;

	assert_non_null(mapped);
	put_task(scene->guest);
	assert_int_equal(look(mapped, scene, KNOWN, now, true), 2);
	assert_int_equal(look(mapped, scene, KNOWN, now += 100 * SECOND, false), 0);
	assert_int_equal(look(mapped, scene, 0xffffffff81000000, now, false), 0);
	/* Code of no file, again and again: after 1 s, 2 s, 4 s */
	assert_int_equal(look(mapped, scene, OTHER, now, true), 0);
	assert_int_equal(look(mapped, scene, OTHER, now + SECOND, false), 0);
	assert_int_equal(look(mapped, scene, OTHER, now += 2 * SECOND, true), 0);
	assert_int_equal(look(mapped, scene, OTHER, now + 3 * SECOND, false), 0);
	/* It belongs to a file now. */
	put_area(scene->guest, 6, areas[6].start, 1, EXECUTABLE, 0, FILE(1));
	assert_int_equal(look(mapped, scene, OTHER, now += 4 * SECOND, true), 3);
	assert_int_equal(look(mapped, scene, OTHER, now += 100 * SECOND, false), 0);
	mapped_forget(mapped);
	assert_int_equal(look(mapped, scene, KNOWN, now, true), 3);
	mapped_free(mapped);
}

static void what_can_not_be_read_is_tried_again(void **state)
{
	struct scene *scene = *state;
	struct mapped *mapped = mapped_new(&scene->layout);
	uint64_t now = 1000 * SECOND;

	assert_non_null(mapped);
	put_task(scene->guest);
	put_word(scene->guest, MM + tree.root, 0);
	assert_int_equal(look(mapped, scene, KNOWN, now, true), 0);
	assert_int_equal(look(mapped, scene, KNOWN, now + SECOND / 2, false), 0);
	put_word(scene->guest, MM + tree.root, WIDE(0) | 2);
	assert_int_equal(look(mapped, scene, KNOWN, now + SECOND, true), 2);
	mapped_free(mapped);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(mappings_are_in_a_tree),
		TEST(mappings_are_in_a_list),
		TEST(a_tree_that_is_changed_meanwhile_is_not_used),
		TEST(a_path_that_does_not_end_is_not_known),
		TEST(a_guest_is_not_trusted),
		TEST(a_process_is_looked_at_again_for_other_code),
		TEST(what_can_not_be_read_is_tried_again),
	};

	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
