/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "kvm/internal.h"
#include "kvm/memory/layout.h"
#include "kvm/proc.h"
#include "kvm/vcpus.h"
#include "kvm/vmm.h"

/* Bytes of a command line that are read. */
#define COMMAND_LINE 16384

/* A process that was forked and has not executed a program (include/linux/sched.h). */
#define PF_FORKNOEXEC 0x40

static void name_guest(pid_t pid, const struct proc_stat *stat, struct guest_info *info)
{
	char text[COMMAND_LINE], program[4096];
	ssize_t length;

	snprintf(program, sizeof(program), "/proc/%d/exe", pid);
	length = readlink(program, text, sizeof(text) - 1);
	text[length > 0 ? length : 0] = 0;
	vmm_kind(length > 0 ? text : stat->command, info->vmm, sizeof(info->vmm));
	text_clean(info->vmm, info->vmm);

	length = proc_read(pid, 0, "cmdline", text, sizeof(text));
	if (length <= 0 ||
	    vmm_guest_name(text, (size_t)length, info->name, sizeof(info->name)) < 0)
		snprintf(info->name, sizeof(info->name), "%s-%d", stat->command, pid);
	text_clean(info->name, info->name);
}

/* Finds the state of a VMM: it runs if one of its threads does, and is paused if a signal
 * or a debugger has stopped it. */
static void find_state(pid_t pid, const struct proc_stat *process,
		       struct guest_info *info)
{
	char path[64], text[1024];
	struct dirent *entry;
	DIR *dir;

	info->paused = proc_is_stopped(process->state);
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && !info->running && (entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);
		struct proc_stat stat;

		info->running = tid > 0 &&
				proc_read(pid, tid, "stat", text, sizeof(text)) > 0 &&
				proc_parse_stat(text, &stat) && stat.state == 'R';
	}
	if (dir)
		closedir(dir);
	info->blocked = !info->running && !info->paused;
}

static void find_memory(pid_t pid, struct guest_info *info)
{
	struct proc_map *maps;
	size_t count;

	if (proc_read_maps(pid, &maps, &count) < 0)
		return;
	info->memory = layout_memory(maps, count);
	free(maps);
}

/*
 * Returns whether a process with the vCPU @fd is a child that a VMM has forked. Such a
 * child has its parent's descriptors until it executes another program, but KVM runs
 * vCPUs only for the process that has made them (kvm->mm, kvm_vcpu_ioctl() in
 * virt/kvm/kvm_main.c). @text: the process's stat, as read and as parsed.
 */
static bool is_fork(pid_t pid, const char *text, const struct proc_stat *stat, int fd)
{
	uint64_t flags, threads, ran;

	if (stat->parent > 0 && vcpus_shared(pid, stat->parent, fd))
		return true;
	/* If the parent is gone: a VMM that was itself forked, by its own -daemonize, has
	 * threads, or runs a vCPU in its only one. */
	return proc_parse_field(text, PROC_FLAGS, &flags) && flags & PF_FORKNOEXEC &&
	       proc_parse_field(text, PROC_THREADS, &threads) && threads == 1 &&
	       proc_parse_field(text, PROC_GUEST_TIME, &ran) && !ran;
}

/* Describes a guest: 0; 1 if the process is not a VMM; -1 with errno set. */
static int describe_vmm(pid_t pid, struct guest_info *info)
{
	struct proc_stat stat;
	struct vcpu_fd *fds;
	char text[1024];
	size_t count;
	bool is_vmm;

	if (vcpus_list(pid, &fds, &count) < 0)
		return errno == ENOENT || errno == ESRCH ? 1 : -1;
	if (!count)
		return 1;
	is_vmm = proc_read(pid, 0, "stat", text, sizeof(text)) > 0 &&
		 proc_parse_stat(text, &stat) && !is_fork(pid, text, &stat, fds[0].fd);
	free(fds);
	if (!is_vmm)
		return 1;
	*info = (struct guest_info){
		.id = (uint32_t)pid,
		.type = GUEST_KVM,
		.vcpus = (uint32_t)count,
		.online = (uint32_t)count,
	};
	name_guest(pid, &stat, info);
	find_state(pid, &stat, info);
	find_memory(pid, info);
	return 0;
}

/* Describes a guest whose VMM may not be inspected, as far as every user may see it: 0; 1
 * if the process has not run a vCPU. */
static int describe_hidden(pid_t pid, struct guest_info *info)
{
	struct proc_stat stat;
	uint64_t ran;
	char text[1024];

	if (proc_read(pid, 0, "stat", text, sizeof(text)) <= 0 ||
	    !proc_parse_stat(text, &stat) ||
	    !proc_parse_field(text, PROC_GUEST_TIME, &ran) || !ran)
		return 1;
	*info = (struct guest_info){
		.id = (uint32_t)pid, .type = GUEST_KVM, .is_hidden = true};
	name_guest(pid, &stat, info);
	find_state(pid, &stat, info);
	return 0;
}

/* Describes a guest: 0; 1 if the process is not a VMM, or may not be inspected and has
 * not run a vCPU. */
static int describe_any(pid_t pid, struct guest_info *info)
{
	int status = describe_vmm(pid, info);

	return status < 0 ? describe_hidden(pid, info) : status;
}

int kvm_guest_info(struct host *host, uint32_t id, struct guest_info *info,
		   struct error *err)
{
	int status;

	(void)host;
	if (!id || id > INT32_MAX)
		return 1;
	status = describe_vmm((pid_t)id, info);
	if (status >= 0)
		return status;
	return trace_refused((pid_t)id, errno, err);
}

int kvm_stub_find(uint32_t id, struct kvm_stub *stub)
{
	char text[COMMAND_LINE], vmm[32];
	ssize_t length = proc_read((pid_t)id, 0, "cmdline", text, sizeof(text));

	if (length <= 0)
		return -1;
	/* The link to the program may only be read by a user who may trace it. */
	vmm_kind(text, vmm, sizeof(vmm));
	if (strcmp(vmm, "QEMU") != 0 ||
	    vmm_gdb_address(text, (size_t)length, stub->address, sizeof(stub->address)) <
		    0)
		return -1;
	stub->name[0] = 0;
	vmm_guest_name(text, (size_t)length, stub->name, sizeof(stub->name));
	return strncmp(stub->address, "unix:", 5) == 0 ? access(stub->address + 5, W_OK)
						       : 0;
}

/* Describes the guest of a QEMU that does not use KVM: 0; 1 if the process is gone. */
static int describe_emulated(pid_t pid, struct guest_info *info)
{
	struct proc_stat stat;
	char text[1024];

	if (proc_read(pid, 0, "stat", text, sizeof(text)) <= 0 ||
	    !proc_parse_stat(text, &stat))
		return 1;
	*info = (struct guest_info){.id = (uint32_t)pid, .type = GUEST_GDB};
	name_guest(pid, &stat, info);
	snprintf(info->vmm, sizeof(info->vmm), "QEMU");
	find_state(pid, &stat, info);
	find_memory(pid, info);
	return 0;
}

/* Describes a guest whose QEMU has a stub: 0; 1 if the process is not such a QEMU. */
static int describe_stub(pid_t pid, struct guest_info *info)
{
	struct kvm_stub stub;

	if (kvm_stub_find((uint32_t)pid, &stub) < 0 || describe_emulated(pid, info) > 0)
		return 1;
	info->is_indirect = true;
	return 0;
}

/* Describes a guest that QEMU emulates, and that no stub shows: 0; 1 if the process is
 * not such a QEMU, or may not be inspected. */
static int describe_mute(pid_t pid, struct guest_info *info)
{
	char text[COMMAND_LINE];
	ssize_t length = proc_read(pid, 0, "cmdline", text, sizeof(text));
	struct vcpu_fd *fds;
	struct kvm_stub stub;
	size_t count;

	if (length <= 0 || !vmm_is_emulator(text, (size_t)length) ||
	    kvm_stub_find((uint32_t)pid, &stub) == 0 || vcpus_list(pid, &fds, &count) < 0)
		return 1;
	free(fds);
	if (count || describe_emulated(pid, info) > 0)
		return 1;
	info->is_mute = true;
	return 0;
}

/* Lists the processes for which @describe returns 0. */
static int list_processes(int (*describe)(pid_t pid, struct guest_info *info),
			  struct guest_info **guests, size_t *count, struct error *err)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int status = 0;

	if (!dir)
		return error_errno(err, errno, "can't list processes");
	*count = 0;
	*guests = guest_infos_new(err);
	if (!*guests)
		status = -1;
	while (status == 0 && (entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);
		struct guest_info info;

		if (pid > 0 && describe(pid, &info) == 0 &&
		    !guest_infos_add(guests, count, &info))
			status = error_set(err, "out of memory");
	}
	closedir(dir);
	if (status < 0)
		free(*guests);
	else
		guest_infos_sort(*guests, *count);
	return status;
}

int kvm_vmm_list(struct guest_info **guests, size_t *count, struct error *err)
{
	return list_processes(describe_any, guests, count, err);
}

int kvm_guest_list(struct host *host, struct guest_info **guests, size_t *count,
		   struct error *err)
{
	(void)host;
	return kvm_vmm_list(guests, count, err);
}

int kvm_stub_list(struct guest_info **guests, size_t *count, struct error *err)
{
	return list_processes(describe_stub, guests, count, err);
}

int kvm_mute_list(struct guest_info **guests, size_t *count, struct error *err)
{
	return list_processes(describe_mute, guests, count, err);
}
