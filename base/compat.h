/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_COMPAT_H
#define UNIPROF_BASE_COMPAT_H

/*
 * Replacements for functions that glibc 2.17 to 2.33 and musl lack. A file that uses such
 * a function by its usual name includes this header. The functions behave as in their
 * manual pages, except as noted here.
 *
 * With -DCOMPAT_GLIBC=17, all functions that glibc 2.17 lacks are replaced, also on a
 * newer glibc (make portable).
 */

#include <elf.h>
#include <fcntl.h>
#include <features.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

#ifdef COMPAT_GLIBC
#define COMPAT_NEEDED(minor) (COMPAT_GLIBC < (minor))
#elif defined(__GLIBC__)
#define COMPAT_NEEDED(minor) (!__GLIBC_PREREQ(2, minor))
#else /* musl, which has getrandom() and memfd_create(), but not the others */
#define COMPAT_NEEDED(minor) ((minor) >= 30)
#endif

ssize_t compat_getrandom(void *data, size_t size, unsigned int flags);
int compat_memfd_create(const char *name, unsigned int flags);
/* @flags must be 0. */
int compat_close_range(unsigned int first, unsigned int last, int flags);
/* If the wall clock is changed during the wait, the functions below wait longer or
 * shorter. Use them only for timeouts that need not be exact. */
int compat_sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until);
int compat_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
			   const struct timespec *until);
int compat_clockjoin(pthread_t thread, void **result, clockid_t clock,
		     const struct timespec *until);

/* The value from asm-generic/fcntl.h, for Linux 3.11 and later. Older kernels see only
 * O_DIRECTORY, and open() fails. */
#ifndef O_TMPFILE
#define O_TMPFILE (020000000 | O_DIRECTORY)
#endif

/* The ELF machine of RISC-V (RISC-V ELF psABI, "File Header"), which elf.h of glibc 2.17
 * lacks. */
#ifndef EM_RISCV
#define EM_RISCV 243
#endif

/* Missing in headers older than Linux 5.8 (include/uapi/linux/capability.h). */
#ifndef CAP_BPF
#define CAP_PERFMON 38
#define CAP_BPF	    39
#endif

/* Headers older than Linux 3.18 lack this number. */
#ifndef SYS_bpf
#ifdef __x86_64__
#define SYS_bpf 321
#else /* asm-generic/unistd.h */
#define SYS_bpf 280
#endif
#endif

/* Headers older than Linux 3.17 lack these numbers. */
#ifndef SYS_memfd_create
#ifdef __x86_64__
#define SYS_getrandom	 318
#define SYS_memfd_create 319
#else /* asm-generic/unistd.h */
#define SYS_getrandom	 278
#define SYS_memfd_create 279
#endif
#endif

/* System calls of newer kernels, with equal numbers on all CPUs (Linux 5.1, 5.3 and 5.6,
 * include/uapi/asm-generic/unistd.h); there are no functions for them. */
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

#if COMPAT_NEEDED(25)
#define GRND_NONBLOCK 1
#define getrandom     compat_getrandom
#else
#include <sys/random.h>
#endif

#if COMPAT_NEEDED(27)
#define MFD_CLOEXEC  1U
#define memfd_create compat_memfd_create
#endif

#if COMPAT_NEEDED(30)
#define sem_clockwait		compat_sem_clockwait
#define pthread_mutex_clocklock compat_mutex_clocklock
#endif

#if COMPAT_NEEDED(31)
#define pthread_clockjoin_np compat_clockjoin
#endif

#if COMPAT_NEEDED(34)
#define close_range compat_close_range
#endif

#endif
