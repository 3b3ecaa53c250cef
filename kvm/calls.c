/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/userfaultfd.h>
#include <sys/mman.h>
#include <sys/ptrace.h>

#include "base/compat.h"
#include "kvm/internal.h"

/* The flags of open() that must be O_RDONLY together: files are only read. */
#define CHANGE (O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

#define PTRACE(request) HOST_CALL_WITH(SYS_ptrace, 0, request)

/* Includes the calls that open a VMM: a VMM is opened again when it gains vCPUs. None of
 * the calls writes to another process. */
static const struct host_call sampling[] = {
	PTRACE(PTRACE_SEIZE),
	PTRACE(PTRACE_INTERRUPT),
#ifdef PT_GETREGS
	PTRACE(PTRACE_GETREGS),
#else
	PTRACE(PTRACE_GETREGSET),
#endif
	PTRACE(PTRACE_DETACH),
	HOST_CALL(SYS_timer_settime),
	HOST_CALL(SYS_timer_delete),
	HOST_CALL(SYS_process_vm_readv),
	/* Running programs that were loaded at the start. */
	HOST_CALL_WITH(SYS_bpf, 0, BPF_RUN),
	/* Whether a VMM exists and still has its vCPUs. */
	HOST_CALL_WITH(SYS_kcmp, 2, KCMP_FILE),
#ifdef SYS_poll
	HOST_CALL(SYS_poll),
#endif
	HOST_CALL(SYS_ppoll),
	/* Files in /proc: threads and their times, mappings, descriptors. */
	HOST_CALL_IF(SYS_openat, 2, CHANGE, O_RDONLY),
#ifdef SYS_open
	HOST_CALL_IF(SYS_open, 1, CHANGE, O_RDONLY),
#endif
	HOST_CALL(SYS_read),
	HOST_CALL(SYS_pread64),
	HOST_CALL(SYS_getdents64),
#ifdef SYS_readlink
	HOST_CALL(SYS_readlink),
#endif
	HOST_CALL(SYS_readlinkat),
	HOST_CALL(SYS_fstat),
	HOST_CALL(SYS_newfstatat),
	HOST_CALL_WITH(SYS_fcntl, 1, F_GETFL), /* fdopen() */
	HOST_CALL_WITH(SYS_ioctl, 1, UFFDIO_REGISTER),
	/* Opening a VMM. */
	HOST_CALL(SYS_pidfd_open),
	HOST_CALL(SYS_pidfd_getfd),
	HOST_CALL(SYS_getrandom),
	HOST_CALL(SYS_mlock),
	HOST_CALL(SYS_mlockall),
	HOST_CALLS_END,
};

/* Calls to undo changes left in a VMM (kvm/requests.h). */
static const struct host_call guarding[] = {
	HOST_CALL_IF(SYS_openat, 2, CHANGE, O_RDONLY),
#ifdef SYS_open
	HOST_CALL_IF(SYS_open, 1, CHANGE, O_RDONLY),
#endif
	HOST_CALL(SYS_read),
#ifdef SYS_readlink
	HOST_CALL(SYS_readlink),
#endif
	HOST_CALL(SYS_readlinkat),
	HOST_CALL(SYS_pidfd_open),
	HOST_CALL(SYS_pidfd_getfd),
	HOST_CALL_IF(SYS_mmap, 2, PROT_EXEC, 0),
	HOST_CALL(SYS_munmap),
	HOST_CALLS_END,
};

const struct host_needs kvm_needs = {
	.sampling = sampling,
	.guarding = guarding,
	.inspects = true,
	.maps_all = true,
	.kept = "stopping other processes and reading them (ptrace)",
};
