/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_SAFETY_LANDLOCK_H
#define UNIPROF_RECORD_SAFETY_LANDLOCK_H

#include <stdint.h>

/*
 * The interface of Landlock (include/uapi/linux/landlock.h), under separate names: the
 * headers of most kernels lack some of it, but the program should use all that the
 * running kernel has. The numbers of the system calls are the same on all CPUs
 * (include/uapi/asm-generic/unistd.h).
 */
enum {
	CALL_LANDLOCK_CREATE_RULESET = 444,
	CALL_LANDLOCK_ADD_RULE = 445,
	CALL_LANDLOCK_RESTRICT_SELF = 446,
};

/* LANDLOCK_CREATE_RULESET_VERSION: returns the version of the interface (ABI). */
#define LANDLOCK_VERSION 1u

/* enum landlock_rule_type */
#define LANDLOCK_PATH_BENEATH 1

/* LANDLOCK_ACCESS_FS_* */
#define LANDLOCK_WRITE_FILE  (1u << 1)
#define LANDLOCK_READ_FILE   (1u << 2)
#define LANDLOCK_REMOVE_FILE (1u << 5)
#define LANDLOCK_IOCTL_DEV   (1u << 15)

/*
 * All rights to files of each version, from EXECUTE to: MAKE_SYM (version 1, Linux 5.13),
 * REFER (2, 5.19), TRUNCATE (3, 6.2), IOCTL_DEV (5, 6.10).
 */
#define LANDLOCK_FILES_1 ((1u << 13) - 1)
#define LANDLOCK_FILES_2 ((1u << 14) - 1)
#define LANDLOCK_FILES_3 ((1u << 15) - 1)
#define LANDLOCK_FILES_5 ((1u << 16) - 1)

/* LANDLOCK_ACCESS_NET_BIND_TCP and _CONNECT_TCP (version 4, Linux 6.7) */
#define LANDLOCK_NETWORK_4 ((1u << 2) - 1)

/* LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET and _SIGNAL (version 6, Linux 6.12): no
 * connection or signal to processes that are not restricted by these rules. Version 7
 * adds nothing to restrict. */
#define LANDLOCK_SOCKETS_6 (1u << 0)
#define LANDLOCK_SIGNALS_6 (1u << 1)

/* struct landlock_ruleset_attr. Older kernels have only its first fields, and accept it
 * if the other fields are 0. */
struct landlock_ruleset {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

/* struct landlock_path_beneath_attr */
struct landlock_path_beneath {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

#endif
