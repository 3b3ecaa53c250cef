/* SPDX-License-Identifier: BSD-3-Clause */

/* The system calls that the filter allows a recorder of KVM guests: it may stop a process
 * and read its memory, but change nothing. The process is a child of each test's
 * restricted child. */

#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compat.h"
#include "kvm/bpf/call.h"
#include "kvm/internal.h"
#include "kvm/proc.h"
#include "kvm/trace.h"
#include "record/safety/filter.h"
#include "tests/unit/in_child.h"

static int word = 7; /* its address is equal in all processes */

static int run_child(void (*child)(pid_t other, int pidfd))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		int held[2]; /* the other ends with the child, which has one end */
		pid_t other;
		char byte;

		CHECK(pipe(held) == 0);
		other = fork();
		CHECK(other >= 0);
		if (other == 0) {
			close(held[1]);
			_exit(read(held[0], &byte, 1) != 0);
		}
		child(other, (int)syscall(SYS_pidfd_open, other, 0));
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static bool read_word(pid_t other, int *value)
{
	struct iovec here = {value, sizeof(*value)}, there = {&word, sizeof(word)};

	return process_vm_readv(other, &here, 1, &there, 1, 0) == sizeof(*value);
}

static void a_recorder(pid_t other, int pidfd)
{
	struct trace trace;
	struct traced traced;
	struct error err;
	struct proc_map *maps;
	sigset_t pending;
	size_t count;
	int value = 0, fd;
	bool runs;

	CHECK(pidfd >= 0 && trace_init(&trace, &err) == 0);
	/* A container or an older kernel may refuse it to this user. */
	runs = !REFUSED(bpf_program_run(-1, NULL, 0));
	CHECK(filter_recorder(&kvm_needs, false, -1, &err) == 0);
	/* Calls that sampling needs. */
	CHECK(trace_attach(&traced, other, other) == 0);
	trace_begin(&trace, 1);
	trace_interrupt(&traced);
	CHECK(trace_wait(&trace, &traced));
	CHECK(read_word(other, &value) && value == 7);
	CHECK(proc_read_maps(other, &maps, &count) == 0 && count > 0);
	CHECK(syscall(SYS_kcmp, getpid(), other, KCMP_FILE, 0, 0) == 0);
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, pidfd, 0);
	CHECK(fd < 0 && errno == EBADF); /* the other process has no such file */
	CHECK(sigpending(&pending) == 0);

	/* Other calls are refused, while the other process is stopped. */
	CHECK(REFUSED(ptrace(PTRACE_POKEDATA, other, &word, 8)));
	CHECK(REFUSED(ptrace(PTRACE_CONT, other, NULL, NULL)));
	CHECK(REFUSED(ptrace(PTRACE_KILL, other, NULL, NULL)));
	CHECK(REFUSED(ptrace(PTRACE_ATTACH, other, NULL, NULL)));
	CHECK(REFUSED(process_vm_writev(other, NULL, 0, NULL, 0, 0)));
	CHECK(proc_open(other, 0, "mem") >= 0);
	CHECK(REFUSED(open("/proc/self/mem", O_RDWR)));
	CHECK(REFUSED(open("/dev/null", O_WRONLY)));
	CHECK(REFUSED(unlink("/nothing")));
	CHECK(REFUSED(unlinkat(-1, "nothing", 0)));
	/* Programs can be run, but not loaded; this one does not exist. */
	CHECK(!runs || !REFUSED(bpf_program_run(-1, NULL, 0)));
	CHECK(bpf_memory_new(8, false) < 0 && errno == EPERM);
	CHECK(REFUSED(kill(other, SIGTERM)));
	CHECK(REFUSED(socket(AF_UNIX, SOCK_STREAM, 0)));
	CHECK(REFUSED(fork()));
	CHECK(mmap(NULL, 4096, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	      MAP_FAILED);
	trace_release(&trace, &traced);
	trace_end(&trace);
	trace_free(&trace);
}

static void a_recorder_may_stop_and_read_but_not_write(void **state)
{
	(void)state;
	assert_int_equal(run_child(a_recorder), 0);
}

static void a_guard(pid_t other, int pidfd)
{
	const struct filter_guard needed = {
		.recorder = getppid(), .pidfd = pidfd, .ready = -1};
	struct error err;
	uint64_t start;
	char text[1024];
	int value;

	CHECK(filter_guard(&kvm_needs, &needed, &err) == 0);
	CHECK(proc_read(other, 0, "stat", text, sizeof(text)) > 0);
	CHECK(proc_parse_field(text, PROC_START, &start) && start > 0);
	CHECK(syscall(SYS_pidfd_open, other, 0) >= 0);
	CHECK(syscall(SYS_pidfd_getfd, pidfd, 0, 0) >= 0);
	CHECK(REFUSED(ptrace(PTRACE_SEIZE, other, NULL, NULL)));
	CHECK(REFUSED(process_vm_writev(other, NULL, 0, NULL, 0, 0)));
	CHECK(!read_word(other, &value) && errno == EPERM);
	CHECK(REFUSED(open("/dev/null", O_WRONLY)));
}

static void a_guard_may_only_open_vcpus(void **state)
{
	(void)state;
	assert_int_equal(run_child(a_guard), 0);
}

static void try(pid_t other, int pidfd)
{
	struct error err;

	CHECK(pidfd >= 0 && filter_recorder(&kvm_needs, false, -1, &err) == 0);
	CHECK(syscall(SYS_kcmp, getpid(), other, KCMP_FILE, 0, 0) == 0);
}

/* Without filters, Linux 5.6 or the permission to trace. */
static int skip_without(void **state)
{
	(void)state;
	if (run_child(try) != 0)
		skip();
	return 0;
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_recorder_may_stop_and_read_but_not_write,
				       skip_without),
		cmocka_unit_test_setup(a_guard_may_only_open_vcpus, skip_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
