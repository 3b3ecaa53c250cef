/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/safety/privileges.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/compat.h"
#include "guest/host.h"
#include "record/open.h"
#include "record/safety/filter.h"
#include "record/safety/landlock.h"

/* Returns all restrictions of this version of Landlock, without those on signals if
 * @signals are needed. */
static struct landlock_ruleset all_rights(int version, bool signals)
{
	struct landlock_ruleset all = {.handled_access_fs = LANDLOCK_FILES_1};

	if (version >= 2)
		all.handled_access_fs = LANDLOCK_FILES_2;
	if (version >= 3)
		all.handled_access_fs = LANDLOCK_FILES_3;
	if (version >= 4)
		all.handled_access_net = LANDLOCK_NETWORK_4;
	if (version >= 5)
		all.handled_access_fs = LANDLOCK_FILES_5;
	if (version >= 6)
		all.scoped = LANDLOCK_SOCKETS_6 | (signals ? 0 : LANDLOCK_SIGNALS_6);
	return all;
}

static void allow_path(int rules, const char *path, uint64_t rights)
{
	const struct landlock_path_beneath rule = {
		.allowed_access = rights,
		.parent_fd = open(path, O_PATH | O_CLOEXEC),
	};

	if (rule.parent_fd < 0)
		return;
	syscall(CALL_LANDLOCK_ADD_RULE, rules, LANDLOCK_PATH_BENEATH, &rule, 0);
	close(rule.parent_fd);
}

/* Restricts access with Landlock. Returns its version; 0 if it restricts nothing. */
static int restrict_access(const struct privileges *needed)
{
	int version = (int)syscall(CALL_LANDLOCK_CREATE_RULESET, NULL, 0,
				   LANDLOCK_VERSION);
	const struct landlock_ruleset all = all_rights(version, needed->signals);
	const uint64_t device = LANDLOCK_READ_FILE | LANDLOCK_WRITE_FILE |
				LANDLOCK_IOCTL_DEV;
	int rules;
	long status;

	if (version < 1)
		return 0;
	rules = (int)syscall(CALL_LANDLOCK_CREATE_RULESET, &all, sizeof(all), 0);
	if (rules < 0)
		return 0;
	if (needed->devices)
		allow_path(rules, needed->devices, device & all.handled_access_fs);
	if (needed->removes)
		allow_path(rules, HOST_DIRECTORY, LANDLOCK_REMOVE_FILE);
	for (size_t i = 0; i < needed->read_count; i++)
		allow_path(rules, needed->reads[i], LANDLOCK_READ_FILE);
	status = syscall(CALL_LANDLOCK_RESTRICT_SELF, rules, 0);
	close(rules);
	return status == 0 ? version : 0;
}

int privileges_confine(const struct privileges *needed)
{
	const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return needed->inspects ? 0 : restrict_access(needed);
}

/* Drops all capabilities but @needed (CAP_TO_MASK()), as far as the thread has them.
 * Returns the capabilities that are left. */
static uint64_t drop_capabilities(uint64_t needed)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct kept[_LINUX_CAPABILITY_U32S_3] = {{0}};

	if (needed && syscall(SYS_capget, &header, kept) == 0)
		needed &= (uint64_t)kept[1].permitted << 32 | kept[0].permitted;
	else
		needed = 0;
	memset(kept, 0, sizeof(kept));
	kept[0].permitted = kept[0].effective = (uint32_t)needed;
	kept[1].permitted = kept[1].effective = (uint32_t)(needed >> 32);
	syscall(SYS_capset, &header, kept);
	return needed;
}

/* privileges_confine() may not have been permitted to lift the limit. */
static bool may_lock(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

/* Before Linux 5.19, a program of bpf(2) needs CAP_BPF to be run, not only to be loaded.
 */
static bool runs_need_bpf(void)
{
	unsigned int major, minor;
	struct utsname kernel;

	return uname(&kernel) == 0 &&
	       sscanf(kernel.release, "%u.%u", &major, &minor) == 2 &&
	       (major < 5 || (major == 5 && minor < 19));
}

const char *privileges_drop(enum privileges_kept kept)
{
	static const uint64_t inspecting = CAP_TO_MASK(CAP_SYS_PTRACE) |
					   CAP_TO_MASK(CAP_DAC_READ_SEARCH) |
					   CAP_TO_MASK(CAP_IPC_LOCK);
	uint64_t needed = 0;

	if (kept == KEEP_INSPECTING)
		needed = inspecting | (runs_need_bpf() ? 1ull << CAP_BPF : 0);
	else if (kept == KEEP_READING)
		needed = CAP_TO_MASK(CAP_DAC_READ_SEARCH);
	else if (kept == KEEP_LOCKING && !may_lock())
		needed = CAP_TO_MASK(CAP_IPC_LOCK);
	if (!drop_capabilities(needed))
		return "no capabilities";
	if (kept == KEEP_READING)
		return "only the capability to read files";
	return kept == KEEP_LOCKING ? "only the capability to lock memory"
				    : "only the capabilities to trace processes, read "
				      "files and lock memory";
}

/* A lease shows whether a file is being written (recent_is_written()). */
static const uint32_t for_files = CAP_TO_MASK(CAP_CHOWN) | CAP_TO_MASK(CAP_DAC_OVERRIDE) |
				  CAP_TO_MASK(CAP_DAC_READ_SEARCH) |
				  CAP_TO_MASK(CAP_FOWNER) | CAP_TO_MASK(CAP_LEASE);

void privileges_keep_finding(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	drop_capabilities(for_files | CAP_TO_MASK(CAP_KILL) | CAP_TO_MASK(CAP_SETGID) |
			  CAP_TO_MASK(CAP_SETUID) | CAP_TO_MASK(CAP_SYS_CHROOT) |
			  CAP_TO_MASK(CAP_SYS_PTRACE));
}

void privileges_keep_files(void)
{
	struct error why;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	drop_capabilities(for_files);
	filter_reader(host_hypervisors(), &why);
}
