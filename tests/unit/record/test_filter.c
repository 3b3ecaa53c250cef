/* SPDX-License-Identifier: BSD-3-Clause */

/* The filters of system calls. Each test restricts a child process, because a filter
 * can't be removed. The hypervisor is a fake that needs a request of ioctl(2) for each
 * purpose. */

#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compat.h"
#include "record/open.h"
#include "record/safety/filter.h"
#include "tests/unit/in_child.h"

#define SAMPLING_REQUEST  _IOC(_IOC_NONE, 'P', 0, 48)
#define FOLLOWING_REQUEST _IOC(_IOC_NONE, 'P', 6, 2)
#define GUARDING_REQUEST  _IOC(_IOC_NONE, 'P', 1, 8)
#define OTHER_REQUEST	  _IOC(_IOC_NONE, 'P', 0, 40)

static const struct host_call sampling[] = {
	HOST_CALL_WITH(SYS_ioctl, 1, SAMPLING_REQUEST),
	HOST_CALL(SYS_process_vm_readv),
	HOST_CALL_WITH(SYS_ptrace, 0, PTRACE_DETACH),
	HOST_CALLS_END,
};
static const struct host_call following[] = {
	HOST_CALL_WITH(SYS_ioctl, 1, FOLLOWING_REQUEST),
	HOST_CALL(SYS_read),
	HOST_CALL_IF(SYS_openat, 2, O_ACCMODE | O_CREAT, O_RDONLY),
	HOST_CALLS_END,
};
static const struct host_call guarding[] = {
	HOST_CALL_WITH(SYS_ioctl, 1, GUARDING_REQUEST),
	HOST_CALLS_END,
};
static const struct host_needs host = {
	.sampling = sampling,
	.following = following,
	.guarding = guarding,
};

/* Whether a call passes the filter: the kernel itself returns EBADF */
#define REACHES(call) (errno = 0, (call) == -1 && errno == EBADF)

/* Runs a child and returns its status, as from waitpid(2). */
static int run_child(void (*child)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGABRT, SIG_DFL); /* cmocka has a handler */
		child();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void restrict_recorder(bool follow)
{
	struct error err;

	CHECK(filter_recorder(&host, follow, -1, &err) == 0);
}

/* Checks that calls are refused which neither a recorder nor a guard needs. */
static void check_powers(void)
{
	struct clone_args {
		uint64_t values[11]; /* Linux 5.7; all 0: a fork without a signal */
	} arguments = {{0}};
	char *const words[] = {(char *)"true", NULL};

	CHECK(REFUSED(execve("/bin/true", words, NULL)));
	CHECK(REFUSED(ptrace(PTRACE_TRACEME, 0, NULL, NULL)));
	CHECK(REFUSED(socket(AF_UNIX, SOCK_STREAM, 0)));
	CHECK(REFUSED(fork()));
	CHECK(syscall(435 /* clone3 */, &arguments, sizeof(arguments)) == -1);
	CHECK(REFUSED(kill(getpid(), 0)));
	CHECK(REFUSED(setuid(0)));
	CHECK(REFUSED(open("/etc/passwd", O_RDWR | O_CREAT, 0600)));
	CHECK(REFUSED(mkdirat(AT_FDCWD, "/tmp/uniprof-filter", 0700)));
	CHECK(REFUSED(ioctl(-1, OTHER_REQUEST)));
	CHECK(REFUSED(ioctl(-1, TIOCSTI, "x")));
	CHECK(REFUSED(syscall(SYS_tgkill, getpid() - 1, 1, 0)));
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		   0) == MAP_FAILED);
	CHECK(errno == EPERM);
}

/* Checks that calls are allowed which both a recorder and a guard need. */
static void check_basics(void)
{
	struct timespec now;

	CHECK(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) == 0);
	CHECK(nanosleep(&(struct timespec){0, 1000}, NULL) == 0);
	CHECK(raise(SIGCONT) == 0);
	CHECK(REACHES(close(-1)));
}

static void check_memory(void)
{
	volatile char *memory = malloc(4 << 20);
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory);
	memory = realloc((void *)memory, 300 << 20);
	CHECK(memory);
	memory[(300 << 20) - 1] = 1;
	free((void *)memory);
	for (size_t i = 0; i < 10000; i++)
		CHECK(malloc(100)); /* so that the heap grows */
	CHECK(page != MAP_FAILED);
	CHECK(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
	CHECK(REFUSED(mprotect(page, 4096, PROT_READ | PROT_EXEC)));
	CHECK(munmap(page, 4096) == 0);
	CHECK(mlock(&page, sizeof(page)) == 0);
	CHECK(syscall(SYS_getrandom, &page, sizeof(page), 0) == sizeof(page));
}

static void *do_nothing(void *context)
{
	return context;
}

/* Files come from a process that was started earlier: record --rotate. */
static void a_recorder_that_receives_files(void)
{
	int sockets[2];
	struct msghdr message = {0};
	struct error err;

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) == 0);
	CHECK(filter_recorder(&host, false, sockets[0], &err) == 0);
	check_powers();
	CHECK(write(sockets[1], "", 1) == 1);
	CHECK(recvmsg(sockets[0], &message, 0) == 0);
	CHECK(REFUSED(recvmsg(sockets[1], &message, 0)));
}

static void a_recorder(void)
{
	int file = memfd_create("recording", 0), status;
	struct timespec now = {0};
	pthread_t thread;
	pid_t child = fork();
	sigset_t none;

	if (child == 0)
		_exit(7);
	restrict_recorder(false);
	check_powers();
	check_basics();
	check_memory();
	CHECK(sigpending(&none) == 0);
	CHECK(REACHES(ioctl(-1, SAMPLING_REQUEST)));
	CHECK(REACHES(ioctl(-1, TIOCGWINSZ)));
	CHECK(REFUSED(recvmsg(-1, &(struct msghdr){0}, 0)));
	CHECK(REACHES(ioctl(-1, TIOCGPGRP)));
	CHECK(REFUSED(ioctl(-1, FOLLOWING_REQUEST)));
	CHECK(REFUSED(ioctl(-1, GUARDING_REQUEST)));
	CHECK(REFUSED(open("/etc/passwd", O_RDONLY)));
	CHECK(REFUSED(read(file, &status, 1)));
	/* By the value of an argument, and whatever they are. */
	CHECK((errno = 0, ptrace(PTRACE_DETACH, child, NULL, NULL)) == -1 &&
	      errno == ESRCH);
	CHECK(REFUSED(ptrace(PTRACE_ATTACH, child, NULL, NULL)));
	CHECK(process_vm_readv(getpid(), NULL, 0, NULL, 0, 0) == 0);
	CHECK(REFUSED(process_vm_writev(getpid(), NULL, 0, NULL, 0, 0)));
	CHECK(pthread_create(&thread, NULL, do_nothing, NULL) == EPERM);
	/* If the disk is full, the recording is truncated. */
	CHECK(write(file, "half", 4) == 4);
	CHECK(lseek(file, 0, SEEK_CUR) == 4);
	CHECK(ftruncate(file, 2) == 0);
	CHECK(fprintf(stderr, "%s", "") == 0);
	/* The guard's end. */
	sigemptyset(&none);
	CHECK(sigtimedwait(&none, NULL, &now) == -1 && errno == EAGAIN);
	CHECK(sigpending(&none) == 0);
	CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
	/* The end. */
	CHECK(sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK,
				 &(struct sched_param){0}) == 0);
	CHECK(REFUSED(sched_setscheduler(0, SCHED_FIFO,
					 &(struct sched_param){.sched_priority = 1})));
	CHECK(REFUSED(unlinkat(-1, "nothing", 0)));
	exit(0);
}

static void a_recorder_may_only_sample_write_and_end(void **state)
{
	(void)state;
	assert_int_equal(run_child(a_recorder), 0);
	assert_int_equal(run_child(a_recorder_that_receives_files), 0);
}

static void *allocate(void *context)
{
	volatile char *memory = malloc(1 << 20);
	bool good = memory != NULL;

	free((void *)memory);
	return good ? context : NULL;
}

static void one_that_follows(void)
{
	pthread_attr_t small;
	pthread_t thread;
	void *result;
	int fd;

	restrict_recorder(true);
	check_powers();
	check_basics();
	check_memory();
	CHECK(REACHES(ioctl(-1, SAMPLING_REQUEST)));
	CHECK(REACHES(ioctl(-1, FOLLOWING_REQUEST)));
	CHECK(REFUSED(ioctl(-1, GUARDING_REQUEST)));
	CHECK(REACHES(read(-1, &fd, 1)));
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 << 10);
	CHECK(pthread_create(&thread, &small, allocate, &fd) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK(REFUSED(fcntl(fd, F_SETOWN, getpid())));
	CHECK(REFUSED(open("/dev/null", O_RDWR)));
	CHECK(REFUSED(open("/dev/null", O_RDONLY | O_CREAT, 0600)));
}

static void one_that_follows_may_also_open_and_start_threads(void **state)
{
	(void)state;
	assert_int_equal(run_child(one_that_follows), 0);
}

static void a_reader(void)
{
	/* The types of requests of Xen's and KVM's drivers. */
	static const uint8_t types[] = {'P', 'E', 'G', 0xae};
	char path[] = "/tmp/uniprof-filter-XXXXXX";
	char *const words[] = {(char *)"true", NULL};
	struct clone_args {
		uint64_t values[11];
	} arguments = {{0}};
	struct error err;
	pthread_t thread;
	void *result;
	int fd;

	CHECK(filter_reader(host_hypervisors(), &err) == 0);
	CHECK(REFUSED(execve("/bin/true", words, NULL)));
	CHECK(REFUSED(ptrace(PTRACE_TRACEME, 0, NULL, NULL)));
	CHECK(REFUSED(process_vm_writev(getpid(), NULL, 0, NULL, 0, 0)));
	CHECK(REFUSED(socket(AF_UNIX, SOCK_STREAM, 0)));
	CHECK(REFUSED(fork()));
	CHECK(syscall(435 /* clone3 */, &arguments, sizeof(arguments)) == -1);
	CHECK(REFUSED(setuid(0)));
	CHECK(REFUSED(ioctl(-1, OTHER_REQUEST)));
	for (size_t i = 0; i < sizeof(types); i++)
		CHECK(REFUSED(ioctl(-1, _IOC(_IOC_NONE, types[i], 1, 8))));
	CHECK(REFUSED(ioctl(-1, TIOCSTI, "x")));
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		   0) == MAP_FAILED);
	CHECK(errno == EPERM);
	/* What it is for. */
	check_basics();
	check_memory();
	CHECK(REACHES(ioctl(-1, TIOCGWINSZ)));
	CHECK(pthread_create(&thread, NULL, allocate, &fd) == 0);
	CHECK(pthread_join(thread, &result) == 0 && result);
	fd = mkstemp(path);
	CHECK(fd >= 0 && fchmod(fd, 0640) == 0 && unlink(path) == 0);
	CHECK(kill(getpid(), 0) == 0);
}

static void a_reader_may_use_files_but_run_nothing(void **state)
{
	(void)state;
	assert_int_equal(run_child(a_reader), 0);
}

static void a_finder(void)
{
	int file = memfd_create("table", 0), fd;
	struct error err;
	struct stat st;
	char byte;

	CHECK(filter_finder(&err) == 0);
	check_powers();
	check_basics();
	CHECK(REFUSED(unlinkat(-1, "nothing", 0)));
	CHECK(REFUSED(open("/dev/null", O_WRONLY)));
	CHECK(REFUSED(openat(AT_FDCWD, "/tmp", O_DIRECTORY | O_RDWR)));
	CHECK(REFUSED(openat(AT_FDCWD, "/etc/passwd", O_RDONLY | O_TRUNC)));
	CHECK(REFUSED(ftruncate(file, 0)));
	CHECK(REFUSED(prctl(PR_SET_DUMPABLE, 1)));
	/* What it is for. */
	fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	CHECK(fd >= 0 && fstat(fd, &st) == 0 && read(fd, &byte, 1) == 1);
	CHECK(mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED);
	CHECK(access("/etc/passwd", R_OK) == 0 && realpath("/etc/passwd", NULL));
	CHECK(write(file, "table", 5) == 5 && lseek(file, 0, SEEK_CUR) == 5);
	CHECK(pread(file, &byte, 1, 4) == 1 && byte == 'e');
}

static void a_finder_may_only_read(void **state)
{
	(void)state;
	assert_int_equal(run_child(a_finder), 0);
}

static void *open_later(void *context)
{
	pthread_barrier_wait(context);
	pthread_barrier_wait(context);
	return (void *)(intptr_t)REFUSED(open("/dev/null", O_RDONLY));
}

static void one_with_a_thread(void)
{
	pthread_barrier_t barrier;
	pthread_t thread;
	void *refused;

	pthread_barrier_init(&barrier, NULL, 2);
	CHECK(pthread_create(&thread, NULL, open_later, &barrier) == 0);
	pthread_barrier_wait(&barrier);
	restrict_recorder(false);
	pthread_barrier_wait(&barrier);
	CHECK(pthread_join(thread, &refused) == 0);
	CHECK(refused);
}

static void threads_that_run_are_restricted_too(void **state)
{
	(void)state;
	assert_int_equal(run_child(one_with_a_thread), 0);
}

static void one_that_aborts(void)
{
	restrict_recorder(false);
	abort();
}

static void one_that_crashes(void)
{
	volatile char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				   0);

	signal(SIGSEGV, SIG_DFL); /* cmocka has a handler */
	restrict_recorder(false);
	*page = 0;
}

static void crashes_end_it_as_usual(void **state)
{
	int status = run_child(one_that_aborts);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	status = run_child(one_that_crashes);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
}

/* After SIGCONT, the kernel makes it call restart_syscall(2). */
static void a_stopped_sleep_is_finished(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		restrict_recorder(false);
		raise(SIGSTOP);
		CHECK(nanosleep(&(struct timespec){0, 200000000}, NULL) == 0);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	kill(pid, SIGCONT);
	usleep(50000);
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	kill(pid, SIGCONT);
	if (WIFSTOPPED(status))
		assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Runs a guard of a recorder, which is the guard's child here. */
static void guard_by(bool by_pid)
{
	int alive[2], ready[2], other[2], status;
	pid_t recorder = pipe(alive) == 0 ? fork() : -1;
	struct filter_guard needed = {.recorder = recorder, .pidfd = -1};
	struct winsize size;
	struct error err;

	if (recorder == 0) {
		close(alive[1]);
		_exit(read(alive[0], &status, 1) != 0); /* until the guard has ended */
	}
	CHECK(recorder > 0);
	CHECK(pipe(ready) == 0 && pipe(other) == 0);
	needed.ready = ready[1];
	if (!by_pid)
		needed.pidfd = (int)syscall(434 /* pidfd_open */, recorder, 0);
	CHECK(filter_guard(&host, &needed, &err) == 0);

#define SEND(number)                                                                    \
	(by_pid ? kill(recorder, number)                                                \
		: (int)syscall(424 /* pidfd_send_signal */, needed.pidfd, number, NULL, \
			       0))
	CHECK(SEND(SIGSTOP) == 0);
	CHECK(SEND(SIGCONT) == 0);
	CHECK(REFUSED(SEND(SIGTERM)));
	CHECK(REFUSED(SEND(0)));
	CHECK(REFUSED(kill(getpid(), SIGCONT)));
	CHECK(REFUSED(syscall(424, ready[0], SIGCONT, NULL, 0)));
	check_powers();
	check_basics();
	CHECK(REACHES(ioctl(-1, GUARDING_REQUEST)));
	CHECK(REFUSED(ioctl(-1, SAMPLING_REQUEST)));
	CHECK(REACHES(pread(-1, &status, 1, 0)));
	CHECK(write(ready[1], "", 1) == 1);
	CHECK(REFUSED(write(other[1], "", 1)));
	/* A message erases a status line. */
	CHECK(REACHES(ioctl(-1, TIOCGWINSZ, &size)));
	CHECK(REFUSED(ioctl(-1, TIOCGPGRP, &status)));
	CHECK(write(STDERR_FILENO, "", 0) == 0);
	CHECK(REFUSED(waitpid(recorder, &status, WNOHANG)));
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	      MAP_FAILED);
	CHECK(SEND(SIGKILL) == 0);
}

static void guard_by_descriptor(void)
{
	guard_by(false);
}

static void guard_by_pid(void)
{
	guard_by(true);
}

static void a_guard_may_only_stop_continue_and_kill_its_recorder(void **state)
{
	(void)state;
	assert_int_equal(run_child(guard_by_pid), 0);
	assert_int_equal(run_child(guard_by_descriptor), 0);
}

static void try(void)
{
	struct error err;

	if (filter_recorder(&host, true, -1, &err) == 0)
		_exit(0);
	fprintf(stderr, "skipped: %s\n", err.text);
	_exit(1);
}

static int skip_without_filters(void **state)
{
	static bool known, missing;

	(void)state;
	if (!known)
		missing = run_child(try) != 0;
	known = true;
	if (missing)
		skip();
	return 0;
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_recorder_may_only_sample_write_and_end,
				       skip_without_filters),
		cmocka_unit_test_setup(one_that_follows_may_also_open_and_start_threads,
				       skip_without_filters),
		cmocka_unit_test_setup(a_reader_may_use_files_but_run_nothing,
				       skip_without_filters),
		cmocka_unit_test_setup(a_finder_may_only_read, skip_without_filters),
		cmocka_unit_test_setup(threads_that_run_are_restricted_too,
				       skip_without_filters),
		cmocka_unit_test_setup(crashes_end_it_as_usual, skip_without_filters),
		cmocka_unit_test_setup(a_stopped_sleep_is_finished, skip_without_filters),
		cmocka_unit_test_setup(
			a_guard_may_only_stop_continue_and_kill_its_recorder,
			skip_without_filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
