/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/safety/filter.h"

/* On some other CPUs, clone() has its arguments in another order. */
#if defined(HAVE_SECCOMP) && (defined(__x86_64__) || defined(__aarch64__))

#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A filter under construction. */
struct draft {
	scmp_filter_ctx rules;
	int status; /* the first failure, -errno; 0: none */
};

static void note_status(struct draft *draft, int status)
{
	if (draft->status == 0 && status < 0)
		draft->status = status;
}

/* Adds a rule for the system call @number with up to one condition on its arguments. A
 * call that this CPU does not have is ignored. */
static void allow_if(struct draft *draft, int number, unsigned int conditions,
		     struct scmp_arg_cmp condition)
{
	note_status(draft, seccomp_rule_add_array(draft->rules, SCMP_ACT_ALLOW, number,
						  conditions, &condition));
}

/* Like allow_if(), but adds a rule by which the system call @number fails with EPERM. */
static void deny_if(struct draft *draft, int number, unsigned int conditions,
		    struct scmp_arg_cmp condition)
{
	note_status(draft, seccomp_rule_add_array(draft->rules, SCMP_ACT_ERRNO(EPERM),
						  number, conditions, &condition));
}

static void allow_all(struct draft *draft, const int *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		allow_if(draft, numbers[i], 0, (struct scmp_arg_cmp){0});
}

#define ALLOW(draft, numbers) \
	allow_all(draft, numbers, sizeof(numbers) / sizeof((numbers)[0]))

/* Returns the condition that the argument is @value. The kernel takes such arguments as
 * 32 bits, whatever is in the upper half of the register. */
static struct scmp_arg_cmp is_equal(unsigned int argument, unsigned int value)
{
	return SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, UINT32_MAX, value);
}

/* Returns the condition that of the argument's bits in @mask, exactly the bits @set are
 * set. */
static struct scmp_arg_cmp has_bits(unsigned int argument, unsigned int mask,
				    unsigned int set)
{
	return SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, mask, set);
}

static void allow_for_host(struct draft *draft, const struct host_call *call)
{
	for (; call && call->number >= 0; call++)
		allow_if(draft, call->number, call->mask != 0,
			 has_bits(call->argument, call->mask, call->value));
}

/* Allows waiting, ending, and abort(), which glibc also calls if it detects damaged
 * memory. The clock is usually read without a system call, but not with every clock
 * source. */
static void allow_basics(struct draft *draft)
{
	static const int basics[] = {
		SCMP_SYS(clock_gettime),   SCMP_SYS(clock_nanosleep),
		SCMP_SYS(close),	   SCMP_SYS(exit),
		SCMP_SYS(exit_group),	   SCMP_SYS(futex),
		SCMP_SYS(getpid),	   SCMP_SYS(gettid),
		SCMP_SYS(gettimeofday),	   SCMP_SYS(nanosleep),
		SCMP_SYS(restart_syscall), SCMP_SYS(rt_sigaction),
		SCMP_SYS(rt_sigprocmask),  SCMP_SYS(rt_sigreturn),
		SCMP_SYS(sched_yield), /* exit(), while a thread uses a stream */
	};

	ALLOW(draft, basics);
	/* raise() of glibc, and of musl in the main thread. */
	allow_if(draft, SCMP_SYS(tgkill), 1, is_equal(0, (unsigned int)getpid()));
	allow_if(draft, SCMP_SYS(tkill), 1, is_equal(0, (unsigned int)getpid()));
}

static void allow_recording(struct draft *draft)
{
	static const int recording[] = {
		/* malloc(), which counts the CPUs, and qsort(), which asks for the size
		 * of the memory. */
		SCMP_SYS(brk),
		SCMP_SYS(madvise),
		SCMP_SYS(mremap),
		SCMP_SYS(munmap),
		SCMP_SYS(sched_getaffinity),
		SCMP_SYS(sysinfo),
		/* Making unwind tables once a guest's memory is seen. */
		SCMP_SYS(getrandom),
		SCMP_SYS(mlock),
		/* Messages, and the recording, from which an unfinished chunk is cut off
		 * if the disk is full. */
		SCMP_SYS(ftruncate),
		SCMP_SYS(lseek),
		SCMP_SYS(write),
		SCMP_SYS(writev),
		/* Signals, and the guard's end. */
		SCMP_SYS(rt_sigpending),
		SCMP_SYS(rt_sigtimedwait),
		SCMP_SYS(wait4),
	};

	/* The status line: the terminal's width, and who is in the foreground. */
	static const unsigned int requests[] = {TIOCGWINSZ, TIOCGPGRP};

	ALLOW(draft, recording);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		allow_if(draft, SCMP_SYS(ioctl), 1, is_equal(1, requests[i]));
	allow_if(draft, SCMP_SYS(mmap), 1, has_bits(2, PROT_EXEC, 0));
	allow_if(draft, SCMP_SYS(mprotect), 1, has_bits(2, PROT_EXEC, 0));
	/* Giving up the priority. */
	allow_if(draft, SCMP_SYS(sched_setscheduler), 1,
		 has_bits(1, ~(unsigned int)SCHED_RESET_ON_FORK, SCHED_OTHER));
}

static void allow_following(struct draft *draft)
{
	const unsigned int thread = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
	static const int following[] = {
		SCMP_SYS(clone3), /* fails: deny_clone3() */
		SCMP_SYS(mlockall), SCMP_SYS(poll), SCMP_SYS(ppoll),
		SCMP_SYS(read),	    SCMP_SYS(rseq), SCMP_SYS(set_robust_list),
	};

	ALLOW(draft, following);
	allow_if(draft, SCMP_SYS(clone), 1, has_bits(0, thread, thread));
}

static void allow_guarding(struct draft *draft, const struct filter_guard *guard)
{
	static const int guarding[] = {
		SCMP_SYS(getppid),
		SCMP_SYS(poll),
		SCMP_SYS(ppoll),
		SCMP_SYS(pread64),
	};
	static const unsigned int signals[] = {SIGSTOP, SIGCONT, SIGKILL};
	bool by_pid = guard->pidfd < 0;
	int call = by_pid ? SCMP_SYS(kill) : SCMP_SYS(pidfd_send_signal);

	ALLOW(draft, guarding);
	allow_if(draft, SCMP_SYS(write), 1, is_equal(0, (unsigned int)guard->ready));
	/* Messages, which erase a status line if there is a terminal. */
	allow_if(draft, SCMP_SYS(write), 1, is_equal(0, STDERR_FILENO));
	allow_if(draft, SCMP_SYS(ioctl), 1, is_equal(1, TIOCGWINSZ));
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		const struct scmp_arg_cmp conditions[] = {
			is_equal(0,
				 (unsigned int)(by_pid ? guard->recorder : guard->pidfd)),
			is_equal(1, signals[i]),
		};

		note_status(draft, seccomp_rule_add_array(draft->rules, SCMP_ACT_ALLOW,
							  call, 2, conditions));
	}
}

/* Starts a filter that does @other (SCMP_ACT_*) with calls without a rule. */
static struct draft draft_new(uint32_t other)
{
	struct draft draft = {.rules = seccomp_init(other)};

	if (!draft.rules)
		draft.status = -ENOMEM;
	else /* by default, a call by another CPU's convention would kill the process */
		draft.status = seccomp_attr_set(draft.rules, SCMP_FLTATR_ACT_BADARCH,
						other);
	return draft;
}

/* Loads the filter for all threads, and releases @draft. */
static int draft_load(struct draft *draft, bool log, struct error *err)
{
	int status = 0;

	if (draft->status < 0) {
		error_errno(err, -draft->status, "libseccomp");
		goto out;
	}
	/*
	 * Without this attribute, Linux before 5.16 makes the whole process slower, to
	 * protect it from foreign code that runs in it
	 * (Documentation/userspace-api/spec_ctrl.rst); this process runs none. Older
	 * kernels have neither this flag nor the log.
	 */
	seccomp_attr_set(draft->rules, SCMP_FLTATR_CTL_SSB, 1);
	seccomp_attr_set(draft->rules, SCMP_FLTATR_CTL_LOG, log);
	status = seccomp_attr_set(draft->rules, SCMP_FLTATR_CTL_TSYNC, 1);
	if (status == 0)
		status = seccomp_load(draft->rules);
	if (status < 0)
		error_set(err, "no seccomp filters in this kernel");
out:
	seccomp_release(draft->rules);
	return draft->status < 0 || status < 0 ? -1 : 0;
}

/*
 * clone3()'s flags are in memory, where no filter sees them. With ENOSYS, C libraries use
 * clone(). A separate filter keeps the calls, several in a second, out of the log.
 */
static int deny_clone3(struct error *err)
{
	struct draft draft = draft_new(SCMP_ACT_ALLOW);

	note_status(&draft, seccomp_rule_add(draft.rules, SCMP_ACT_ERRNO(ENOSYS),
					     SCMP_SYS(clone3), 0));
	return draft_load(&draft, false, err);
}

int filter_recorder(const struct host_needs *host, bool follow, int opener,
		    struct error *err)
{
	struct draft draft;

	if (follow && deny_clone3(err) < 0)
		return -1;
	draft = draft_new(SCMP_ACT_ERRNO(EPERM));
	allow_basics(&draft);
	allow_recording(&draft);
	allow_for_host(&draft, host->sampling);
	if (opener >= 0)
		allow_if(&draft, SCMP_SYS(recvmsg), 1, is_equal(0, (unsigned int)opener));
	if (follow) {
		allow_following(&draft);
		allow_for_host(&draft, host->following);
	}
	/* Each sample makes three calls of ioctl(2). A filter with a priority but no rule
	 * for it would not look at the number of a call, except on x86
	 * (libseccomp 2.5.4). */
	seccomp_syscall_priority(draft.rules, SCMP_SYS(ioctl), UINT8_MAX);
	return draft_load(&draft, true, err);
}

int filter_guard(const struct host_needs *host, const struct filter_guard *guard,
		 struct error *err)
{
	struct draft draft = draft_new(SCMP_ACT_ERRNO(EPERM));

	allow_basics(&draft);
	allow_guarding(&draft, guard);
	allow_for_host(&draft, host->guarding);
	return draft_load(&draft, true, err);
}

/* Allows opening files for reading, and what libraries ask of files and paths. */
static void allow_reading(struct draft *draft)
{
	static const int reading[] = {
#ifdef __SNR_faccessat2
		SCMP_SYS(faccessat2),
#endif
		SCMP_SYS(access),     SCMP_SYS(faccessat),  SCMP_SYS(fcntl),
		SCMP_SYS(fstat),      SCMP_SYS(getcwd),	    SCMP_SYS(lseek),
		SCMP_SYS(lstat),      SCMP_SYS(newfstatat), SCMP_SYS(pread64),
		SCMP_SYS(prlimit64),  SCMP_SYS(read),	    SCMP_SYS(readlink),
		SCMP_SYS(readlinkat), SCMP_SYS(stat),	    SCMP_SYS(statx),
		SCMP_SYS(write),
	};
	/* With O_TMPFILE, O_RDONLY is refused by the kernel. */
	const unsigned int writing = O_ACCMODE | O_CREAT | O_TRUNC;

	ALLOW(draft, reading);
	allow_if(draft, SCMP_SYS(open), 1, has_bits(1, writing, O_RDONLY));
	allow_if(draft, SCMP_SYS(openat), 1, has_bits(2, writing, O_RDONLY));
}

/* Allows malloc() and private memory. */
static void allow_memory(struct draft *draft)
{
	static const int memory[] = {
		SCMP_SYS(brk),	   SCMP_SYS(getrandom), SCMP_SYS(madvise),
		SCMP_SYS(mremap),  SCMP_SYS(munmap),	SCMP_SYS(sched_getaffinity),
		SCMP_SYS(sysinfo),
	};

	ALLOW(draft, memory);
	allow_if(draft, SCMP_SYS(mmap), 1, has_bits(2, PROT_EXEC, 0));
	allow_if(draft, SCMP_SYS(mprotect), 1, has_bits(2, PROT_EXEC, 0));
}

int filter_finder(struct error *err)
{
	struct draft draft = draft_new(SCMP_ACT_ERRNO(EPERM));

	allow_basics(&draft);
	allow_reading(&draft);
	allow_memory(&draft);
	return draft_load(&draft, true, err);
}

/* Refuses the calls by which a process could use its user's privileges beyond reading and
 * writing files. */
static void deny_powers(struct draft *draft)
{
	static const int powers[] = {
		/* Programs, processes, and the memory of other processes. */
		SCMP_SYS(execve),
		SCMP_SYS(execveat),
		SCMP_SYS(fork),
		SCMP_SYS(vfork),
		SCMP_SYS(kcmp),
		SCMP_SYS(pidfd_getfd),
		SCMP_SYS(process_vm_readv),
		SCMP_SYS(process_vm_writev),
		SCMP_SYS(ptrace),
		SCMP_SYS(setns),
		SCMP_SYS(unshare),
		/* The network. */
		SCMP_SYS(accept),
		SCMP_SYS(accept4),
		SCMP_SYS(bind),
		SCMP_SYS(connect),
		SCMP_SYS(listen),
		SCMP_SYS(socket),
		SCMP_SYS(socketpair),
		/* The kernel. */
		SCMP_SYS(add_key),
		SCMP_SYS(bpf),
		SCMP_SYS(delete_module),
		SCMP_SYS(finit_module),
		SCMP_SYS(init_module),
		SCMP_SYS(io_uring_setup),
		SCMP_SYS(ioperm),
		SCMP_SYS(iopl),
		SCMP_SYS(kexec_file_load),
		SCMP_SYS(kexec_load),
		SCMP_SYS(keyctl),
		SCMP_SYS(perf_event_open),
		SCMP_SYS(reboot),
		SCMP_SYS(request_key),
		SCMP_SYS(userfaultfd),
		/* File systems, devices and other users. */
		SCMP_SYS(chroot),
		SCMP_SYS(fsopen),
		SCMP_SYS(mknod),
		SCMP_SYS(mknodat),
		SCMP_SYS(mount),
		SCMP_SYS(move_mount),
		SCMP_SYS(open_by_handle_at),
		SCMP_SYS(open_tree),
		SCMP_SYS(pivot_root),
		SCMP_SYS(setgid),
		SCMP_SYS(setresgid),
		SCMP_SYS(setresuid),
		SCMP_SYS(setuid),
		SCMP_SYS(swapoff),
		SCMP_SYS(swapon),
		SCMP_SYS(umount2),
	};
	for (size_t i = 0; i < sizeof(powers) / sizeof(powers[0]); i++)
		deny_if(draft, powers[i], 0, (struct scmp_arg_cmp){0});
	deny_if(draft, SCMP_SYS(ioctl), 1, is_equal(1, TIOCSTI));
	deny_if(draft, SCMP_SYS(clone), 1, has_bits(0, CLONE_THREAD, 0));
	deny_if(draft, SCMP_SYS(mmap), 1, has_bits(2, PROT_EXEC, PROT_EXEC));
	deny_if(draft, SCMP_SYS(mprotect), 1, has_bits(2, PROT_EXEC, PROT_EXEC));
}

/* Refuses the requests of a hypervisor's drivers. */
static void deny_requests(struct draft *draft, const struct hypervisor *hypervisor)
{
	for (const char *type = hypervisor->request_types; *type; type++)
		deny_if(draft, SCMP_SYS(ioctl), 1,
			has_bits(1, _IOC_TYPEMASK << _IOC_TYPESHIFT,
				 (unsigned int)(unsigned char)*type << _IOC_TYPESHIFT));
}

int filter_reader(const struct hypervisor *const *hypervisors, struct error *err)
{
	struct draft draft;

	if (deny_clone3(err) < 0)
		return -1;
	draft = draft_new(SCMP_ACT_ALLOW);
	deny_powers(&draft);
	for (; *hypervisors; hypervisors++)
		deny_requests(&draft, *hypervisors);
	return draft_load(&draft, true, err);
}

#else

int filter_reader(const struct hypervisor *const *hypervisors, struct error *err)
{
	(void)hypervisors;
	return error_set(err, "built without libseccomp");
}

int filter_finder(struct error *err)
{
	return error_set(err, "built without libseccomp");
}

int filter_recorder(const struct host_needs *host, bool follow, int opener,
		    struct error *err)
{
	(void)host;
	(void)follow;
	(void)opener;
	return error_set(err, "built without libseccomp");
}

int filter_guard(const struct host_needs *host, const struct filter_guard *guard,
		 struct error *err)
{
	(void)host;
	(void)guard;
	return error_set(err, "built without libseccomp");
}

#endif
