/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/vcpus.h"

#include <dirent.h>
#include <errno.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/chain.h"
#include "base/clock.h"
#include "base/compat.h"
#include "kvm/proc.h"
#include "kvm/registers.h"
#include "kvm/requests.h"

/* How long threads have to stop, and how often to look whether they have, ns. */
#define PATIENCE_NS NS_PER_S
#define MOMENT_NS   200000

static int compare_numbers(const void *a, const void *b)
{
	const struct vcpu_fd *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* Drops further descriptors of a vCPU, and returns how many descriptors are left. */
static size_t drop_duplicates(struct vcpu_fd *fds, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!kept || fds[kept - 1].number != fds[i].number)
			fds[kept++] = fds[i];
	return kept;
}

/* Reads the link of a descriptor: 1 if it is a vCPU, 0 if it is not; -1 with errno set if
 * it may not be read. Sets @is_vmm if it is a VM. */
static int read_vcpu(DIR *dir, const char *name, struct vcpu_fd *found, bool *is_vmm)
{
	char target[64];
	ssize_t length = readlinkat(dirfd(dir), name, target, sizeof(target) - 1);

	if (length <= 0)
		return length < 0 && errno == EACCES ? -1 : 0;
	target[length] = 0;
	*is_vmm |= strcmp(target, "anon_inode:kvm-vm") == 0;
	found->fd = atoi(name);
	return proc_parse_vcpu(target, &found->number);
}

int vcpus_list(pid_t pid, struct vcpu_fd **fds, size_t *count)
{
	char path[64];
	struct dirent *entry;
	bool is_vmm = false;
	DIR *dir;

	*fds = NULL;
	*count = 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return -1;
	while (*count < VCPUS_MAX && (entry = readdir(dir))) {
		struct vcpu_fd found;
		int status = read_vcpu(dir, entry->d_name, &found, &is_vmm),
		    errnum = errno;

		if (status == 0)
			continue;
		if (status < 0 || !array_grow(fds, *count + 1, sizeof(**fds))) {
			closedir(dir);
			free(*fds);
			errno = status < 0 ? errnum : ENOMEM;
			return -1;
		}
		(*fds)[(*count)++] = found;
	}
	closedir(dir);
	if (!is_vmm) {
		free(*fds);
		*fds = NULL;
		*count = 0;
	}
	if (*count) {
		qsort(*fds, *count, sizeof(**fds), compare_numbers);
		*count = drop_duplicates(*fds, *count);
	}
	return 0;
}

bool vcpus_shared(pid_t a, pid_t b, int fd)
{
	return syscall(SYS_kcmp, a, b, KCMP_FILE, fd, fd) == 0;
}

int vcpu_open(struct vcpu *vcpu, pid_t pid, int pidfd, int fd, struct request *requests,
	      bool keeps)
{
	*vcpu = (struct vcpu){.theirs = fd,
			      .ours = -1,
			      .stat = -1,
			      .schedstat = -1,
			      .wchan = -1,
			      .keeps = keeps};
	vcpu->run = run_page_map(pidfd, fd, &vcpu->ours);
	if (!vcpu->run)
		return -1;
	vcpu->request = requests_add(requests, pid, fd);
	return 0;
}

static void forget_thread(struct vcpu *vcpu)
{
	if (vcpu->stat >= 0)
		close(vcpu->stat);
	if (vcpu->schedstat >= 0)
		close(vcpu->schedstat);
	if (vcpu->wchan >= 0)
		close(vcpu->wchan);
	vcpu->stat = vcpu->schedstat = vcpu->wchan = -1;
	vcpu->tid = 0;
}

void vcpu_close(struct vcpu *vcpu)
{
	forget_thread(vcpu);
	vcpu_withdraw(vcpu);
	requests_remove(vcpu->request);
	if (vcpu->run)
		run_page_unmap(vcpu->run, vcpu->ours);
	*vcpu = (struct vcpu){.ours = -1, .stat = -1, .schedstat = -1, .wchan = -1};
}

/* Whether the word @valid makes KVM store all registers that are needed. */
static bool asks_for_all(uint64_t valid)
{
	return (valid & kvm_registers_wanted()) == kvm_registers_wanted();
}

void vcpu_request(struct vcpu *vcpu)
{
	uint64_t valid = run_page_valid(vcpu->run), missing;

	if (asks_for_all(valid))
		return;
	vcpu->stored = false;
	if (!vcpu->met || !vcpu->request)
		return;
	missing = kvm_registers_wanted() & ~valid & ~vcpu->request->theirs;
	if (missing)
		request_make(vcpu->request, vcpu->run, valid, missing);
}

enum vcpu_registers vcpu_look(struct vcpu *vcpu)
{
	enum kvm_stop stop = kvm_registers_stop(vcpu->tid, vcpu->theirs);
	bool stored, met = vcpu->met;

	vcpu->is_out = stop != KVM_STOP_INTERRUPTED;
	if (!asks_for_all(run_page_valid(vcpu->run)))
		vcpu->stored = false;
	else if (stop == KVM_STOP_INTERRUPTED)
		/* A thread can stop twice without a KVM_RUN in between. */
		vcpu->stored = kvm_registers_exist(vcpu->run);
	stored = vcpu->stored;
	if (!vcpu->keeps)
		vcpu_withdraw(vcpu);
	if (stop == KVM_STOP_ELSEWHERE || !kvm_registers_wanted())
		return stored ? VCPU_STORED : VCPU_NOT_STORED;
	vcpu->met = true;
	if (vcpu->request)
		vcpu->request->theirs = run_page_valid(vcpu->run) & ~vcpu->request->bits;
	if (stored)
		return VCPU_STORED;
	return met ? VCPU_NOT_STORED : VCPU_STORED_SOON;
}

/* What the VMM may have written to the page decides nothing else. */
uint64_t vcpu_run_exit(const struct kvm_run *run)
{
	switch (run->exit_reason) {
	case KVM_EXIT_UNKNOWN:
		return 0;
	case KVM_EXIT_IO:
		return exit_make(run->io.direction == KVM_EXIT_IO_IN ? VMEXIT_IN
								     : VMEXIT_OUT,
				 run->io.port);
	case KVM_EXIT_MMIO:
		return exit_make(run->mmio.is_write ? VMEXIT_WRITE : VMEXIT_READ,
				 run->mmio.phys_addr >> GUEST_PAGE_SHIFT);
	case KVM_EXIT_HLT:
		return exit_make(VMEXIT_HALT, 0);
	case KVM_EXIT_HYPERCALL:
		return exit_make(VMEXIT_HYPERCALL, 0);
	default:
		return exit_make(VMEXIT_KVM, run->exit_reason);
	}
}

uint64_t vcpu_exit(const struct vcpu *vcpu, enum vcpu_state state)
{
	if (vcpu->is_out)
		return vcpu_run_exit(vcpu->run);
	return state == VCPU_BLOCKED ? vcpu->waits : 0;
}

void vcpu_withdraw(struct vcpu *vcpu)
{
	if (!vcpu->request || !vcpu->request->bits)
		return;
	request_withdraw(vcpu->request, vcpu->run);
	vcpu->stored = false;
}

bool vcpu_is_open(const struct vcpu *vcpu, pid_t pid)
{
	return syscall(SYS_kcmp, getpid(), pid, KCMP_FILE, vcpu->ours, vcpu->theirs) == 0;
}

/* Reads a file of /proc again from its start. */
static bool read_again(int fd, char *text, size_t size)
{
	ssize_t length = pread(fd, text, size - 1, 0);

	text[length > 0 ? length : 0] = 0;
	return length > 0;
}

char vcpu_thread(struct vcpu *vcpu, uint64_t *ran, uint64_t *waited)
{
	struct proc_stat stat;
	char text[1024];

	if (vcpu->tid && read_again(vcpu->stat, text, sizeof(text)) &&
	    proc_parse_stat(text, &stat) && stat.state != 'Z' && stat.state != 'X' &&
	    read_again(vcpu->schedstat, text, sizeof(text)) &&
	    proc_parse_schedstat(text, ran, waited))
		return stat.state;
	forget_thread(vcpu);
	return 0;
}

static enum proc_doing read_doing(pid_t pid, pid_t tid, int *fd)
{
	char text[256];

	if (proc_read(pid, tid, "syscall", text, sizeof(text)) <= 0)
		return PROC_DOES_OTHER;
	return proc_parse_syscall(text, SYS_ioctl, fd);
}

void vcpu_look_blocked(struct vcpu *vcpu, pid_t pid)
{
	const uint64_t halt = exit_make(VMEXIT_HALT, 0);
	char text[256];
	int fd;

	vcpu->waits = vcpu->wchan >= 0 && read_again(vcpu->wchan, text, sizeof(text))
			      ? proc_parse_wchan(text)
			      : 0;
	/* Without the name of the kernel's function, it is most likely halted. */
	if (!vcpu->waits)
		vcpu->waits = halt;
	vcpu->is_out = vcpu->rests && vcpu->waits != halt &&
		       read_doing(pid, vcpu->tid, &fd) == PROC_DOES_OTHER;
}

static void set_thread(struct vcpu *vcpu, pid_t pid, pid_t tid)
{
	forget_thread(vcpu);
	vcpu->stat = proc_open(pid, tid, "stat");
	vcpu->schedstat = proc_open(pid, tid, "schedstat");
	vcpu->wchan = proc_open(pid, tid, "wchan");
	vcpu->met = vcpu->stored = false;
	if (vcpu->stat >= 0 && vcpu->schedstat >= 0)
		vcpu->tid = tid;
}

static struct vcpu *vcpu_of_fd(struct vcpu *vcpus, size_t count, int fd)
{
	for (size_t i = 0; i < count; i++)
		if (vcpus[i].run && vcpus[i].theirs == fd && !vcpus[i].tid)
			return &vcpus[i];
	return NULL;
}

static bool has_thread(const struct vcpu *vcpus, size_t count, pid_t tid)
{
	for (size_t i = 0; i < count; i++)
		if (vcpus[i].tid == tid)
			return true;
	return false;
}

static size_t count_without_thread(const struct vcpu *vcpus, size_t count)
{
	size_t without = 0;

	for (size_t i = 0; i < count; i++)
		without += vcpus[i].run && !vcpus[i].tid;
	return without;
}

/* Asks the kernel for the threads. False if it does not know a thread that may exist. */
static bool ask_for_threads(struct vcpu *vcpus, size_t count, pid_t pid,
			    const struct kernel *kernel)
{
	bool knows_all = true;

	for (size_t i = 0; i < count; i++) {
		struct kernel_vcpu seen;

		if (!vcpus[i].run || vcpus[i].tid)
			continue;
		if (!kernel_look(kernel, vcpus[i].ours, &seen) || seen.tid < 0)
			knows_all = false;
		else if (seen.tid)
			set_thread(&vcpus[i], pid, seen.tid);
	}
	return knows_all;
}

/* Maximum number of threads that are asked to stop in one search. */
#define ASKED_MAX 256

/* The search for the threads of a VMM's vCPUs. */
struct search {
	struct vcpu *vcpus;
	size_t count;
	pid_t pid;
	struct traced asked[ASKED_MAX]; /* threads that run and are to stop */
	size_t asked_count, asked_most;
	bool is_held; /* another process traces a thread */
};

/* Notes the thread as the vCPU's that it runs, and returns what it does. */
static enum proc_doing look_at_thread(const struct search *search, pid_t tid)
{
	int fd;
	enum proc_doing doing = read_doing(search->pid, tid, &fd);
	struct vcpu *vcpu = NULL;

	if (doing == PROC_RUNS_VCPU)
		vcpu = vcpu_of_fd(search->vcpus, search->count, fd);
	if (vcpu)
		set_thread(vcpu, search->pid, tid);
	return doing;
}

/* Looks at each thread that is not a vCPU's, and asks the threads that run to stop. */
static void look_at_all(struct search *search)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", search->pid);
	dir = opendir(path);
	while (dir && search->asked_count < search->asked_most &&
	       (entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);
		struct traced *traced = &search->asked[search->asked_count];

		if (tid <= 0 || has_thread(search->vcpus, search->count, tid) ||
		    look_at_thread(search, tid) != PROC_RUNS)
			continue;
		if (trace_attach(traced, search->pid, tid) < 0) {
			search->is_held |= errno == EPERM;
			continue;
		}
		trace_interrupt(traced);
		search->asked_count++;
	}
	if (dir)
		closedir(dir);
}

/* Looks at the threads that have stopped meanwhile, each of which goes on at once. */
static void look_at_stopped(struct search *search, struct kvm *kvm)
{
	for (size_t i = search->asked_count; i-- > 0;) {
		struct traced *traced = &search->asked[i];

		if (!trace_poll(traced))
			continue;
		if (traced->state == TRACED_STOPPED) {
			atomic_store(&kvm->shared->since, clock_monotonic());
			look_at_thread(search, traced->tid);
			trace_release(&kvm->trace, traced);
			atomic_store(&kvm->shared->since, HOLDS_LATE);
		}
		*traced = search->asked[--search->asked_count];
	}
}

/* Without the kernel's word, a thread that runs must stop to be looked at. It stops when
 * it gets a CPU. All are asked at once, as each of many threads on a
 * busy host waits long for its turn. */
size_t vcpus_find_threads(struct vcpu *vcpus, size_t count, pid_t pid, struct kvm *kvm,
			  bool *is_held)
{
	const struct timespec moment = {0, MOMENT_NS};
	struct search search = {
		.vcpus = vcpus,
		.count = count,
		.pid = pid,
		.asked_most = trace_has_room(&kvm->trace, ASKED_MAX) ? ASKED_MAX : 0,
	};
	uint64_t until = clock_monotonic() + PATIENCE_NS;

	*is_held = false;
	if (!count_without_thread(vcpus, count))
		return 0;
	if (kvm->kernel && ask_for_threads(vcpus, count, pid, kvm->kernel))
		return count_without_thread(vcpus, count);
	atomic_store(&kvm->shared->since, HOLDS_LATE);
	look_at_all(&search);
	while (search.asked_count && clock_monotonic() < until &&
	       !host_is_over(&kvm->host)) {
		look_at_stopped(&search, kvm);
		trace_sweep(&kvm->trace);
		if (search.asked_count)
			nanosleep(&moment, NULL);
	}
	while (search.asked_count)
		trace_leave(&kvm->trace, &search.asked[--search.asked_count]);
	kvm_note_late(kvm);
	*is_held = search.is_held;
	return count_without_thread(vcpus, count);
}
