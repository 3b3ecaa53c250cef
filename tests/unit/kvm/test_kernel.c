/* SPDX-License-Identifier: BSD-3-Clause */

/* What the programs for this kernel refuse. That they read vCPUs, tests/kvm/cases/slots
 * and the lab's case kvm show. */

#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compat.h"
#include "kvm/bpf/kernel.h"

static struct kernel *kernel;

static void refuse(int fd)
{
	struct kernel_vcpu vcpu;
	bool too_many;

	assert_false(kernel_look(kernel, fd, &vcpu));
	assert_null(kernel_slots(kernel, fd, &too_many));
	assert_false(too_many);
	close(fd);
}

static void only_descriptors_of_vcpus_are_accepted(void **state)
{
	char path[] = "/tmp/kvm-vcpu:XXXXXX";
	struct error err = {.text = ""};
	int pair[2];

	(void)state;
	kernel = kernel_open(&err);
	if (!kernel) {
		/* Without the permission, or a kernel that describes itself. */
		assert_true(err.text[0] != 0);
		print_message("%s\n", err.text);
		skip();
	}
	refuse(mkstemp(path));
	unlink(path);
	refuse(open("/dev/null", O_RDWR));
	refuse(open("/proc/self/stat", O_RDONLY));
	refuse(open("/dev/kvm", O_RDWR)); /* or -1 */
	refuse(memfd_create("kvm-vcpu:0", MFD_CLOEXEC));
	refuse(eventfd(0, EFD_CLOEXEC));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	refuse(pair[0]);
	close(pair[1]);
	refuse(-1);
	refuse(1000);
	refuse(INT32_MAX);
	kernel_close(kernel);
}

/* Kernels before Linux 5.17 have the slots in an array. The offsets are not theirs, so
 * the program is only loaded. */
static void the_program_for_an_array_is_accepted(void **state)
{
	struct kernel_layout layout = {.upid_size = 16, .slot_size = 64};
	struct program program;
	int slots = bpf_memory_new(sizeof(struct kernel_slots), true), walk, loaded;

	(void)state;
	if (slots < 0)
		skip();
	for (int32_t i = 0; i < KERNEL_MEMBERS; i++)
		layout.offset[i] = 8 * i;
	walk = bpf_memory_new(sizeof(struct kernel_walk), false);
	program_slots(&program, &layout, slots, walk);
	loaded = program_load(&program);
	close(walk);
	close(slots);
	if (loaded < 0 && errno == EPERM)
		skip();
	assert_true(loaded >= 0);
	/* It reads nothing without a vCPU. */
	assert_true(bpf_program_run(loaded, 0, 0) > PROGRAM_TOO_MANY);
	close(loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_descriptors_of_vcpus_are_accepted),
		cmocka_unit_test(the_program_for_an_array_is_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
