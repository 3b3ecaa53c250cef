/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_GUEST_HOST_H
#define UNIPROF_GUEST_HOST_H

#include <signal.h>
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

/* A guest as described by a listing. */
struct guest_info {
	uint32_t id; /* Xen's domain id, or the pid of a VMM */
	enum guest_type type;
	uint32_t vcpus;	 /* maximum number of vCPUs */
	uint32_t online; /* number of online vCPUs */
	uint64_t memory; /* size, bytes */
	uint64_t ran;	 /* CPU time of all vCPUs, ns; 0: unknown */
	bool dying, shutdown, paused, running, blocked;
	uint8_t uuid[16];
	char name[256]; /* name, after text_clean(); empty: none */
	char vmm[32];	/* program that runs the guest, "QEMU"; empty: none */
	/* sampled not by the host's hypervisor, but in the way that @type names; the
	 * number of vCPUs is known only once connected */
	bool is_indirect;
	/* listed, but there is no way to sample it */
	bool is_mute;
	/* this user may not inspect the guest, so that its vCPUs and memory are not
	 * known; info() says why */
	bool is_hidden;
};

/* Allocates an empty array of guests, which the caller frees. NULL with the reason in
 * @err if out of memory. */
struct guest_info *guest_infos_new(struct error *err);
/* Adds a guest to an array, which may also be NULL. False if out of memory; the array is
 * then unchanged. */
bool guest_infos_add(struct guest_info **guests, size_t *count,
		     const struct guest_info *guest);
/* Sorts an array of guests by id. */
void guest_infos_sort(struct guest_info *guests, size_t count);

/* Returns whether @name is the guest's name, as it is or as it is listed. */
bool guest_info_is_named(const struct guest_info *guest, const char *name);

/* Returns whether @name is the guest's name, as it is or as it is listed, or its id in
 * decimal. */
bool guest_info_matches(const struct guest_info *guest, const char *name);

/* The hypervisor of this host, opened by one process. */
struct host {
	const struct host_ops *ops;
	char version[64];	 /* "Xen 4.17.7" */
	uint32_t domctl_version; /* version of Xen's control interface; 0: not Xen */
	char note[224];		 /* a note on the host for the user; or empty */
	int connection;		 /* a descriptor that the guard also keeps; -1: none */
	uint64_t until; /* time at which open() gives up, ns, monotonic; 0: none */
	sigset_t ends;	/* blocked signals that also make open() give up */
	/* open() begins events of vCPUs, this CPU time apart, ns, if the hypervisor has
	 * any (struct guest, has_events); 0: no events */
	uint64_t event_period;
	/* What the events are; NULL: that CPU time. Of others, @event_period is how often
	 * they come, on average. */
	const struct event_kind *event;
};

/* Returns whether open() is to give up. */
bool host_is_over(const struct host *host);

/* A system call that is allowed: with any arguments or, if @mask is not 0, only if
 * argument number @argument equals @value in the bits of @mask. */
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

/* The privileges that a host's functions need after a process's start; record/safety/
 * drops all others. */
struct host_needs {
	/* System calls beyond those that record/safety/filter.c allows for every
	 * hypervisor: @sampling by functions of open guests and close(), @following by
	 * list() and open(), @guarding in the guard. NULL: none. */
	const struct host_call *sampling, *following, *guarding;
	/* folder of the devices that open() opens; NULL: none */
	const char *devices;
	/* removes files in HOST_DIRECTORY */
	bool removes;
	/* traces other processes, which Landlock would forbid (ptrace_access_check in
	 * security/landlock/), and reads their files in /proc */
	bool inspects;
	/* maps guests' whole memory, which locking must not fill with pages */
	bool maps_all;
	/* privileges that a process keeps, for messages */
	const char *kept;
};

/* A result of host_ops.paused_since(). */
#define HOLDS_LATE UINT64_MAX

/*
 * Implemented by each hypervisor. Functions that can fail return -1 (or NULL) with the
 * reason in @err.
 *
 * A host belongs to one thread: a thread that lists guests while another samples needs a
 * separate host. At most one guest is paused at a time.
 */
struct host_ops {
	const struct host_needs *needs;
	/* guests are run by programs of this host (VMMs), whose pids are the guests'
	 * ids */
	bool has_vmms;

	void (*close)(struct host *host);

	/* Describes a guest: 0; 1 if there is no guest with this id. */
	int (*info)(struct host *host, uint32_t id, struct guest_info *info,
		    struct error *err);
	/* Lists all guests, sorted by id, including Xen's dom0; in bounded time. The
	 * caller frees the array, which is not NULL even if there are none. */
	int (*list)(struct host *host, struct guest_info **guests, size_t *count,
		    struct error *err);

	/* Allocates the memory, shared with the guard, in which the hypervisor itself
	 * records whether a pause took effect. Called before the guard is forked. */
	int (*arm)(struct host *host, struct error *err);
	/*
	 * Starts a thread for work on guests that may have to wait for other programs;
	 * it ends with close(), which does not wait for it. Called after arm() and the
	 * guard's start. Returns after the thread has called @begin, which may be NULL:
	 * 0, or -1. NULL: the host has no such work.
	 */
	int (*start_helper)(struct host *host, void (*begin)(void), struct error *err);
	/* Opens, in the guard, what is not inherited by fork(). */
	int (*adopt)(struct host *host, struct error *err);
	/*
	 * Returns, in the guard, since when the recorder holds a guest paused (ns,
	 * monotonic); 0 if it does not; HOLDS_LATE if a guest or a part of one may stop
	 * later because of a request that was made, but runs as far as is known, which
	 * has no limit. Exact once the recorder has ended or
	 * stopped; while it runs, the result may be outdated at once.
	 */
	uint64_t (*paused_since)(const struct host *host);
	/* Resumes, in the guard and after the recorder's end, the guest that the recorder
	 * left paused. */
	int (*resume)(struct host *host, struct error *err);
	/* Undoes, in the guard and after resume(), other changes to guests that a killed
	 * recorder left behind. NULL: there are none. */
	void (*tidy)(struct host *host);

	/*
	 * For hypervisors where a recorder and its guard, killed at once, can leave a
	 * guest paused; both are NULL otherwise. find_left() lists guests that were
	 * probably left paused and are paused now; someone else may also hold them
	 * paused. The caller frees the array. unpause_left() undoes the recorder's pause:
	 * 0; 1 if there is none for the guest. Both must be called before arm().
	 */
	int (*find_left)(struct host *host, struct guest_info **guests, size_t *count,
			 struct error *err);
	int (*unpause_left)(struct host *host, const struct guest_info *info,
			    struct error *err);
	/* the toolstack's command that unpauses a guest, for messages: "xl unpause";
	 * NULL: there is none */
	const char *unpause_command;
	/* why no vCPU of a guest may be in it although it is not paused, for messages;
	 * NULL: there is no reason */
	const char *why_outside;

	/*
	 * Prepares to sample a guest. Called after arm(). @wanted has a bool for each of
	 * its vCPUs, or is NULL for all of them. Pauses nothing. NULL also if the guest
	 * can't be sampled.
	 */
	struct guest *(*open)(struct host *host, const struct guest_info *info,
			      const bool *wanted, struct error *err);
};

/* A hypervisor that a host can have. */
struct hypervisor {
	/* Returns whether this machine has the hypervisor: the reason why it can't be
	 * opened is then worth a message. */
	bool (*exists)(void);
	/*
	 * Opens the hypervisor. NULL with the reason in @err if there is none, no
	 * permission, or no supported version. With @force, a newer version than the
	 * known ones is used even if it does not answer as expected; hypervisors without
	 * such versions ignore @force.
	 */
	struct host *(*open)(bool force, struct error *err);
	/* types of its drivers' requests (_IOC_TYPE), a character each; a process that
	 * only reads files may make none of them */
	const char *request_types;
};

/* Closes the host, after all its guests. @host may be NULL. */
void host_close(struct host *host);

/* Finds a guest by its name or, if @name has only digits, by its id: 0, or -1. */
int host_find(struct host *host, const char *name, struct guest_info *info,
	      struct error *err);

#endif
