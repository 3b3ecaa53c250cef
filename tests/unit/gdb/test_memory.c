/* SPDX-License-Identifier: BSD-3-Clause */

/* Which pages are read when a guest has been stopped, by a thread that plays the stub:
 * every page of this guest is zero. */

#define _GNU_SOURCE 1
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "gdb/memory.h"

#define FRAMES	  1024
#define READ_SIZE 2048
#define AT_ONCE	  32 /* pages that are read at once */
#define SINGLES	  64 /* pages that are read one by one in a pause */

struct scene {
	struct stub stub;
	int theirs;
	pthread_t thread;
	atomic_uint reads[FRAMES]; /* of each frame's first half */
	struct gdb_memory *memory;
};

static struct scene scene;

static void answer(uint64_t address)
{
	char reply[2 + 2 * READ_SIZE + 3] = "+$";

	if (address % GUEST_PAGE_SIZE == 0)
		scene.reads[address / GUEST_PAGE_SIZE]++;
	memset(reply + 2, '0', 2 * READ_SIZE);
	memcpy(reply + 2 + 2 * READ_SIZE, "#00", 3);
	for (size_t sent = 0; sent < sizeof(reply);) {
		ssize_t bytes = send(scene.theirs, reply + sent, sizeof(reply) - sent,
				     MSG_NOSIGNAL);

		if (bytes <= 0)
			return;
		sent += (size_t)bytes;
	}
}

static void *play_stub(void *unused)
{
	char command[64];
	size_t length = 0;

	(void)unused;
	while (read(scene.theirs, command + length, 1) == 1) {
		uint64_t address;

		if (command[length++] != '#' && length < sizeof(command) - 1)
			continue;
		command[length] = 0;
		length = 0;
		if (sscanf(strchr(command, '$'), "$m%" SCNx64 ",", &address) == 1)
			answer(address);
	}
	return NULL;
}

static int scene_open(void **state)
{
	const struct gdb_regions regions = {
		.region[0] = {0, (uint64_t)FRAMES * GUEST_PAGE_SIZE - 1}, .count = 1};
	struct error err;
	int ends[2];

	(void)state;
	memset(&scene, 0, sizeof(scene));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return -1;
	scene.stub = (struct stub){.fd = ends[0], .name = "unix:x"};
	scene.theirs = ends[1];
	scene.memory = gdb_memory_new(&scene.stub, &regions, &err);
	return scene.memory ? pthread_create(&scene.thread, NULL, play_stub, NULL) : -1;
}

static int scene_close(void **state)
{
	(void)state;
	stub_close(&scene.stub); /* ends the thread */
	pthread_join(scene.thread, NULL);
	close(scene.theirs);
	gdb_memory_free(scene.memory);
	return 0;
}

/* Asks for @count pages, from @first on. Returns how many are there. */
static unsigned int ask(uint64_t first, unsigned int count)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < count; i++)
		found += gdb_memory_page(scene.memory, first + i) != NULL;
	return found;
}

/* Takes a round in which a pause asks for @count pages, from @first on. */
static void take_round(uint64_t first, unsigned int count)
{
	gdb_memory_begin(scene.memory, 0, 100);
	gdb_memory_stopped(scene.memory, true);
	assert_int_equal(ask(first, count), count);
	gdb_memory_stopped(scene.memory, false);
}

/* A check asks for them while the guest runs, and each pause needs the same pages. */
static void pages_that_were_never_read_come_first(void **state)
{
	const unsigned int wanted = 2 * AT_ONCE + 10;

	(void)state;
	for (int i = 0; i < 3; i++)
		take_round(0, AT_ONCE);
	gdb_memory_begin(scene.memory, 0, 100);
	assert_int_equal(ask(100, wanted), 0);
	for (int i = 0; i < 3; i++)
		take_round(0, AT_ONCE);
	gdb_memory_begin(scene.memory, 0, 100);
	assert_int_equal(ask(100, wanted), wanted);
	for (unsigned int i = 0; i < wanted; i++)
		assert_int_equal(scene.reads[100 + i], 1);
}

static void a_pause_reads_some_pages_only(void **state)
{
	(void)state;
	gdb_memory_begin(scene.memory, 0, 100);
	gdb_memory_stopped(scene.memory, true);
	assert_int_equal(ask(0, 200), SINGLES);
	assert_true(gdb_memory_missed(scene.memory));
	gdb_memory_stopped(scene.memory, false);
}

/* As by QEMU's command stop: nobody waits for the guest. */
static void more_are_read_of_a_guest_that_someone_else_holds(void **state)
{
	(void)state;
	gdb_memory_stopped(scene.memory, true);
	for (uint64_t first = 0; first < 600; first += 200) {
		gdb_memory_begin(scene.memory, 0, UINT_MAX);
		assert_int_equal(ask(first, 200), 200);
	}
	assert_false(gdb_memory_missed(scene.memory));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_open, scene_close)
	const struct CMUnitTest tests[] = {
		TEST(pages_that_were_never_read_come_first),
		TEST(a_pause_reads_some_pages_only),
		TEST(more_are_read_of_a_guest_that_someone_else_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
