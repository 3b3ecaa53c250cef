/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/find/vmm.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/safety/privileges.h"

/* Returns the fourth number of the line: of a user's or a group's ids, the one for files
 * (proc(5)). */
static bool parse_id(const char *status, const char *line, unsigned int *id)
{
	const char *at = strstr(status, line);

	return at && sscanf(at + strlen(line), "%*u %*u %*u %u", id) == 1;
}

static bool parse_groups(const char *status, struct vmm_rights *rights)
{
	static const char line[] = "\nGroups:";
	const char *at = strstr(status, line);
	unsigned int group;
	int length;

	rights->group_count = 0;
	if (!at)
		return false;
	at += strlen(line);
	while (rights->group_count < VMM_GROUPS && *at != '\n' &&
	       sscanf(at, "%u%n", &group, &length) == 1) {
		rights->groups[rights->group_count++] = group;
		at += length;
		at += strspn(at, " \t");
	}
	return true;
}

bool vmm_rights_parse(const char *status, struct vmm_rights *rights)
{
	static const char line[] = "\nCapEff:";
	const char *at = strstr(status, line);
	const uint64_t reading = CAP_TO_MASK(CAP_DAC_READ_SEARCH) |
				 CAP_TO_MASK(CAP_DAC_OVERRIDE);
	uint64_t capabilities;

	if (!parse_id(status, "\nUid:", &rights->user) ||
	    !parse_id(status, "\nGid:", &rights->group) ||
	    !parse_groups(status, rights) || !at ||
	    sscanf(at + strlen(line), "%" SCNx64, &capabilities) != 1)
		return false;
	rights->reads_all = capabilities & reading;
	return true;
}

/* Reads a file of @folder, a process's in /proc. Returns its length, below @size, or -1.
 */
static ssize_t read_file(int folder, const char *name, char *text, size_t size)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	ssize_t got = 0;
	size_t length = 0;

	while (fd >= 0 && length < size - 1 &&
	       (got = read(fd, text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	if (fd < 0 || got < 0)
		return -1;
	close(fd);
	text[length] = 0;
	return (ssize_t)length;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether absolute paths of the process lead elsewhere than this process's. */
static bool has_other_root(int folder)
{
	struct stat root, own_root, mounts, own_mounts;

	return fstatat(folder, "root", &root, 0) < 0 || stat("/", &own_root) < 0 ||
	       fstatat(folder, "ns/mnt", &mounts, 0) < 0 ||
	       stat("/proc/self/ns/mnt", &own_mounts) < 0 ||
	       !is_same_file(&root, &own_root) || !is_same_file(&mounts, &own_mounts);
}

static int take_folders(int folder, struct error *err)
{
	bool is_other = has_other_root(folder);
	int root = openat(folder, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int current = openat(folder, "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0 || current < 0)
		return error_errno(err, errno, "can't open the VMM's folders");
	if (is_other && (fchdir(root) < 0 || chroot(".") < 0))
		return error_errno(err, errno, "can't use the VMM's root directory");
	if (fchdir(current) < 0)
		return error_errno(err, errno, "can't use the VMM's working directory");
	close(root);
	close(current);
	return 0;
}

/* Takes the user and the groups, and drops all other rights. */
static int take_rights(const struct vmm_rights *rights, struct error *err)
{
	uid_t user = rights->user, is[3];
	gid_t group = rights->group;

	bool is_own = geteuid() == user; /* then, failures to change ids do no harm */

	if ((setgroups(rights->group_count, rights->groups) < 0 ||
	     setresgid(group, group, group) < 0 || setresuid(user, user, user) < 0) &&
	    !is_own)
		return error_errno(err, errno, "can't take the VMM's user");
	privileges_drop(rights->reads_all && user == 0 ? KEEP_READING : KEEP_NOTHING);
	if (getresuid(&is[0], &is[1], &is[2]) < 0 || is[0] != user || is[1] != user ||
	    is[2] != user)
		return error_set(err, "the VMM has another user");
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0);
	return 0;
}

ssize_t vmm_become(pid_t pid, struct vmm_rights *rights, char *arguments, size_t size,
		   struct error *err)
{
	char path[32], status[16384];
	ssize_t length;
	int folder;

	/* All of it is of this process, even if the pid is used again meanwhile. */
	snprintf(path, sizeof(path), "/proc/%d", pid);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || read_file(folder, "status", status, sizeof(status)) < 0 ||
	    (length = read_file(folder, "cmdline", arguments, size)) < 0)
		return error_errno(err, errno, "can't look at the VMM");
	if (!vmm_rights_parse(status, rights))
		return error_set(err, "can't read the VMM's rights");
	if (take_folders(folder, err) < 0)
		return -1;
	close(folder);
	return take_rights(rights, err) < 0 ? -1 : length;
}
