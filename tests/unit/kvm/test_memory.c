/* SPDX-License-Identifier: BSD-3-Clause */

/* When a guest's memory is looked for and read again. This process is its own VMM. */

#define _GNU_SOURCE 1
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "kvm/memory/memory.h"

#define SIZE  ((size_t)64 << 20)
#define GUARD ((size_t)1 << 16)
#define MS    (NS_PER_S / 1000)

/* Physical addresses of the guest's page tables, and of its code and stack, which are on
 * a page of 2 MiB. */
#define TOP   0x1000
#define THIRD 0x2000
#define LOW   0x3000
#define CODE  0x200000

#define TABLE 0x3
#define LARGE 0x83

struct scene {
	char *memory; /* the guest's */
	struct guest_vcpu vcpu;
	struct guest guest;
	struct kvm_memory *pages;
};

static void scene_open(struct scene *scene)
{
	struct error err;

	memset(scene, 0, sizeof(*scene));
	/* The kernel joins no other mapping to this one. */
	scene->memory = mmap(NULL, SIZE + 2 * GUARD, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(scene->memory != MAP_FAILED);
	scene->memory += GUARD;
	assert_int_equal(mprotect(scene->memory, SIZE, PROT_READ | PROT_WRITE), 0);
	scene->vcpu.captured = true;
	scene->vcpu.cpu.family = CPU_FAMILY_X86;
	scene->vcpu.cpu.x86 = (struct x86_cpu){
		.cr0 = X86_CR0_PE | X86_CR0_PG,
		.cr3 = TOP,
		.cr4 = X86_CR4_PAE,
		.efer = X86_EFER_LMA,
		.rip = CODE,
		.reg[X86_RSP] = CODE + GUEST_PAGE_SIZE,
	};
	scene->guest.info.vcpus = 1;
	scene->guest.vcpu = &scene->vcpu;
	scene->pages = kvm_memory_new(getpid(), -1, NULL, NULL, &err);
	assert_non_null(scene->pages);
}

static void scene_close(struct scene *scene)
{
	kvm_memory_free(scene->pages);
	munmap(scene->memory - GUARD, SIZE + 2 * GUARD);
}

static void put_entry(struct scene *scene, uint64_t table, unsigned int index,
		      uint64_t entry)
{
	memcpy(scene->memory + table + index * sizeof(entry), &entry, sizeof(entry));
}

static void guest_starts(struct scene *scene)
{
	put_entry(scene, TOP, 0, THIRD | TABLE);
	put_entry(scene, THIRD, 0, LOW | TABLE);
	put_entry(scene, LOW, 1, CODE | LARGE);
	memset(scene->memory + CODE, 1, (size_t)2 * GUEST_PAGE_SIZE);
}

static bool learn_at(struct scene *scene, uint64_t ns)
{
	kvm_memory_begin(scene->pages, ns, 1000);
	return kvm_memory_learn(scene->pages, &scene->guest);
}

static void a_first_search_in_vain_is_soon_repeated(void **state)
{
	struct scene scene;

	(void)state;
	scene_open(&scene);
	assert_false(learn_at(&scene, NS_PER_S));
	guest_starts(&scene);
	assert_false(learn_at(&scene, NS_PER_S + 1 * MS));
	assert_true(learn_at(&scene, NS_PER_S + 10 * MS));
	scene_close(&scene);
}

static void later_searches_are_a_second_apart(void **state)
{
	unsigned int searches = 0;
	struct scene scene;

	(void)state;
	scene_open(&scene);
	for (uint64_t time = MS; time < 10 * NS_PER_S; time += MS)
		assert_false(learn_at(&scene, time));
	guest_starts(&scene);
	/* The last search was less than a second ago. */
	while (searches < 1000 && !learn_at(&scene, 10 * NS_PER_S + searches * MS))
		searches++;
	assert_in_range(searches, 10, 999);
	scene_close(&scene);
}

/* Returns the first byte of the code, as read in a round at this time. */
static char code_at(struct scene *scene, uint64_t ns, unsigned int map_calls)
{
	const char *page;

	kvm_memory_begin(scene->pages, ns, map_calls);
	page = kvm_memory_map(scene->pages, CODE >> GUEST_PAGE_SHIFT);
	assert_non_null(page);
	return *page;
}

static void a_page_is_read_once_at_a_time(void **state)
{
	const uint64_t time = 2 * NS_PER_S;
	struct scene scene;

	(void)state;
	scene_open(&scene);
	guest_starts(&scene);
	assert_true(learn_at(&scene, NS_PER_S));
	assert_int_equal(code_at(&scene, time, 64), 1);
	scene.memory[CODE] = 2;
	assert_int_equal(code_at(&scene, time, 64), 1);
	assert_int_equal(code_at(&scene, time + 1, 64), 2);
	/* Unless there is too little room for others, or a pause was to come. */
	scene.memory[CODE] = 3;
	assert_int_equal(code_at(&scene, time + 1, UINT_MAX), 3);
	scene.memory[CODE] = 4;
	kvm_memory_prepare(scene.pages);
	assert_int_equal(code_at(&scene, time + 1, 64), 4);
	scene_close(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_first_search_in_vain_is_soon_repeated),
		cmocka_unit_test(later_searches_are_a_second_apart),
		cmocka_unit_test(a_page_is_read_once_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
