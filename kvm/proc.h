/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_PROC_H
#define UNIPROF_KVM_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What the kernel says about processes, proc(5). The parsers return false for any text
 * that does not have the expected form. */

/* KVM_RUN, the request of the ioctl(2) that runs a vCPU: _IO(0xae, 0x80)
 * (include/uapi/linux/kvm.h). */
#define PROC_KVM_RUN 0xae80

struct proc_stat {
	char command[64]; /* the thread's name */
	char state;	  /* R, S, D, T (stopped), t (by a tracer), Z ... */
	pid_t parent;
};

/* Returns whether a thread in this state is stopped, by a signal or by a tracer. */
static inline bool proc_is_stopped(char state)
{
	return state == 'T' || state == 't';
}

struct proc_map {
	uint64_t start, end; /* addresses in the process */
	uint64_t first_end;  /* end of the first of the mappings that were joined */
	uint64_t offset;     /* offset in the file, bytes */
	dev_t device;	     /* of the file */
	uint64_t inode;	     /* 0: no file */
	bool readable, writable, executable, shared;
	bool is_device; /* the memory of a device, such as one passed through by VFIO */
};

/* What a thread does, from /proc/PID/task/TID/syscall. */
enum proc_doing {
	PROC_DOES_OTHER, /* in another system call */
	PROC_RUNS,	 /* on a CPU or waiting for one; the system call is unknown */
	PROC_RUNS_VCPU,	 /* in KVM_RUN */
};

/* Reads at most @size - 1 bytes of /proc/@pid/@name, or /proc/@pid/task/@tid/@name if
 * @tid is not 0, and ends them with a 0. Returns their number, or -1 with errno set. */
ssize_t proc_read(pid_t pid, pid_t tid, const char *name, char *text, size_t size);
/* Opens the file that proc_read() reads. */
int proc_open(pid_t pid, pid_t tid, const char *name);

/* /proc/PID/stat and /proc/PID/task/TID/stat */
bool proc_parse_stat(const char *text, struct proc_stat *stat);
/* Fields of stat, by their numbers in proc(5); of a process, the sums of its threads. */
enum proc_field {
	PROC_FLAGS = 9,	     /* PF_* (include/linux/sched.h) */
	PROC_THREADS = 20,   /* number of threads */
	PROC_START = 22,     /* start, clock ticks since the boot */
	PROC_GUEST_TIME = 43 /* time that vCPUs ran, clock ticks */
};
/* stat: a field that is a number */
bool proc_parse_field(const char *text, enum proc_field field, uint64_t *value);
/* schedstat: the time a thread ran, and waited for a CPU, ns */
bool proc_parse_schedstat(const char *text, uint64_t *ran, uint64_t *waited);
/* status: the process that traces the thread; 0: none */
bool proc_parse_tracer(const char *text, pid_t *tracer);
/* maps: one line */
bool proc_parse_map(const char *line, struct proc_map *map);
/* syscall: what the thread does, where @call is the number of ioctl(2). Sets @fd to the
 * vCPU that it runs, if it does. */
enum proc_doing proc_parse_syscall(const char *text, long call, int *fd);
/* wchan: what a blocked thread waits for in KVM_RUN, exit_make(); 0: not known */
uint64_t proc_parse_wchan(const char *text);
/* fd: the target of a link to a vCPU, with the vCPU's number */
bool proc_parse_vcpu(const char *target, unsigned int *number);

/* The kernel's own default limit on mappings (vm.max_map_count). */
#define PROC_MAPS_MAX 65530
/*
 * Reads the mappings of @pid, at most PROC_MAPS_MAX. Those of one shared file that follow
 * each other, also in the file, and differ only in whether they can be written, are
 * joined to one: the kernel splits a mapping when a part of it is protected. The caller
 * frees the array. -1 with errno set on failure.
 */
int proc_read_maps(pid_t pid, struct proc_map **maps, size_t *count);

#endif
