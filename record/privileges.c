/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/privileges.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* All rights to files that the first version of Landlock knows
 * (linux/landlock.h); later kernels know these, too. */
#define ALL_RIGHTS ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

static void allow(int rules, const char *path, __u64 rights)
{
	const struct landlock_path_beneath_attr rule = {
		.allowed_access = rights,
		.parent_fd = open(path, O_PATH | O_CLOEXEC),
	};

	if (rule.parent_fd < 0)
		return;
	syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	close(rule.parent_fd);
}

static bool confine_files(void)
{
	const struct landlock_ruleset_attr handled = {.handled_access_fs = ALL_RIGHTS};
	int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled),
				 0);
	long status;

	if (rules < 0)
		return false;
	/* Devices for a guard and for a guest's memory; processes' states. */
	allow(rules, "/dev/xen",
	      LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE);
	allow(rules, "/proc", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
	status = syscall(SYS_landlock_restrict_self, rules, 0);
	close(rules);
	return status == 0;
}

bool privileges_confine(void)
{
	const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return confine_files();
}

void privileges_drop(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	syscall(SYS_capset, &header, none);
}
