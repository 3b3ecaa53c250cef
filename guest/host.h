/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_GUEST_HOST_H
#define UNIPROF_GUEST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/guest.h"

/*
 * The directory for files that must outlive a killed recorder. Files in it can be removed
 * even after privileges_confine().
 */
#define HOST_DIRECTORY "/run/uniprof"

struct guest;
struct host_ops;

/* A guest as a listing shows it. */
struct guest_info {
	uint32_t id; /* Xen's domain id, or the pid of a VMM */
	enum guest_type type;
	uint32_t vcpus;	 /* maximum number of vCPUs */
	uint32_t online; /* number of online vCPUs */
	uint64_t memory; /* size, bytes */
	uint64_t ran;	 /* CPU time of all vCPUs, ns; 0: unknown */
	bool dying, shutdown, paused, running, blocked;
	uint8_t uuid[16];
	char name[256]; /* empty: it has none */
	char vmm[32];	/* name of the program that runs it, "QEMU"; empty: none does */
	/* Not to be sampled by the host's hypervisor, but in the way that @type names.
	 * Only a connection shows how many vCPUs it has. */
	bool is_indirect;
};

/* Allocates an array for guests, without any yet, which the caller frees. NULL with the
 * reason in @err if out of memory. */
struct guest_info *guest_infos_new(struct error *err);
/* Adds a guest to an array, which may also be NULL. False if out of memory; the array is
 * then unchanged. */
bool guest_infos_add(struct guest_info **guests, size_t *count,
		     const struct guest_info *guest);
/* Sorts an array of guests by id. */
void guest_infos_sort(struct guest_info *guests, size_t count);

/* The hypervisor of this host, opened by one process. */
struct host {
	const struct host_ops *ops;
	char version[64];	 /* "Xen 4.17.7" */
	uint32_t domctl_version; /* of Xen's control interface; 0 for others */
	char note[224];		 /* what the user should know about the host; or empty */
	int connection;		 /* a descriptor that the guard keeps, too; -1: none */
};

/* A system call, with any arguments or, if @mask is not 0, only if the bits in @mask of
 * the argument numbered @argument equal @value. */
struct host_call {
	int number; /* SYS_*; -1: the end of an array */
	unsigned int argument;
	uint32_t mask, value;
};

#define HOST_CALL(number)       \
	{                       \
		number, 0, 0, 0 \
	}
#define HOST_CALL_WITH(number, argument, value)     \
	{                                           \
		number, argument, UINT32_MAX, value \
	}
#define HOST_CALL_IF(number, argument, mask, value) \
	{                                           \
		number, argument, mask, value       \
	}
#define HOST_CALLS_END      \
	{                   \
		-1, 0, 0, 0 \
	}

/*
 * What a host's functions need once a process has started; record/safety/ refuses the
 * rest.
 */
struct host_needs {
	/* System calls beyond what record/safety/filter.c allows for every hypervisor,
	 * made by open guests' functions and close(), by list() and open(), and in the
	 * guard. NULL: none. */
	const struct host_call *sampling, *following, *guarding;
	/* The folder of the devices that open() opens; NULL: none. */
	const char *devices;
	/* Removes files in HOST_DIRECTORY. */
	bool removes;
	/* Traces other processes, which Landlock would forbid (ptrace_access_check in
	 * security/landlock/), and reads their files in /proc. */
	bool inspects;
	/* Maps guests' whole memory, which must not be filled for locking it. */
	bool maps_all;
	/* For messages: what a process keeps. */
	const char *kept;
};

/*
 * Implemented by each hypervisor. Functions that can fail return -1 (or NULL) with the
 * reason in @err.
 *
 * A host belongs to one thread: a thread that lists guests while another samples needs a
 * separate host. At most one guest is paused at a time.
 */
struct host_ops {
	const struct host_needs *needs;
	/* Guests are run by programs of this host (VMMs), whose pids are the guests' ids.
	 */
	bool has_vmms;

	void (*close)(struct host *host);

	/* Describes a guest: 0; 1 if there is none with this id. */
	int (*info)(struct host *host, uint32_t id, struct guest_info *info,
		    struct error *err);
	/* Lists all guests, sorted by id, including Xen's dom0; in bounded time. The
	 * caller frees the array, which is not NULL even if there are none. */
	int (*list)(struct host *host, struct guest_info **guests, size_t *count,
		    struct error *err);

	/*
	 * Before the guard is forked: allocates the memory, shared with the guard, in
	 * which the hypervisor itself records whether a pause took effect.
	 */
	int (*arm)(struct host *host, struct error *err);
	/* In the guard: opens what is not inherited by fork(). */
	int (*adopt)(struct host *host, struct error *err);
	/*
	 * In the guard: whether the recorder holds a guest paused. Exact once the
	 * recorder has ended or stopped; may be out of date at once while it runs.
	 */
	bool (*left_paused)(const struct host *host);
	/* In the guard, after the recorder's end: resumes the guest that it left paused.
	 */
	int (*resume)(struct host *host, struct error *err);
	/* In the guard, after resume(): undoes what else a recorder that was killed left
	 * in guests. NULL: nothing. */
	void (*tidy)(struct host *host);

	/*
	 * For hypervisors where a recorder and its guard, killed at once, can leave a
	 * guest paused; all three are NULL otherwise. find_left() lists guests that were
	 * probably left paused and are paused now; someone else may also hold them
	 * paused. The caller frees the array. unpause_left() undoes the recorder's pause:
	 * 0; 1 if there is none for the guest. Both must be called before arm().
	 */
	int (*find_left)(struct host *host, struct guest_info **guests, size_t *count,
			 struct error *err);
	int (*unpause_left)(struct host *host, const struct guest_info *info,
			    struct error *err);
	/* For messages: the toolstack's command that unpauses a guest, "xl unpause". */
	const char *unpause_command;

	/*
	 * Prepares to sample a guest; after arm(). @wanted has a bool for each of its
	 * vCPUs, or is NULL for all of them. Pauses nothing. NULL also if the guest can't
	 * be sampled.
	 */
	struct guest *(*open)(struct host *host, const struct guest_info *info,
			      const bool *wanted, struct error *err);
};

/* A hypervisor that a host can have. */
struct hypervisor {
	/* Whether this machine has it: why it can't be opened is then worth a message. */
	bool (*exists)(void);
	/*
	 * NULL with the reason in @err if there is none, no permission, or no supported
	 * version. With @force, a version newer than those known is used even if it does
	 * not answer as expected; a hypervisor of which there is no such version ignores
	 * it.
	 */
	struct host *(*open)(bool force, struct error *err);
	/* The types of its drivers' requests (_IOC_TYPE), a character each: a process
	 * that only reads files may make none of them. */
	const char *request_types;
};

/* Closes the host, after all its guests. @host may be NULL. */
void host_close(struct host *host);

/* Finds a guest by its name or, if @name has only digits, by its id: 0, or -1. */
int host_find(struct host *host, const char *name, struct guest_info *info,
	      struct error *err);

#endif
