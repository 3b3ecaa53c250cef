/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/requests.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compat.h"
#include "kvm/proc.h"

#define SIZE (REQUESTS_MAX * sizeof(struct request))

struct request *requests_new(struct error *err)
{
	struct request *requests = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (requests != MAP_FAILED)
		return requests;
	error_errno(err, errno, "can't allocate memory");
	return NULL;
}

void requests_free(struct request *requests)
{
	if (requests)
		munmap(requests, SIZE);
}

static bool read_start(pid_t pid, uint64_t *start)
{
	char text[1024];

	return proc_read(pid, 0, "stat", text, sizeof(text)) > 0 &&
	       proc_parse_field(text, PROC_START, start);
}

struct request *requests_add(struct request *requests, pid_t pid, int fd)
{
	struct request *request = requests, *end = requests + REQUESTS_MAX;
	uint64_t start;

	while (request < end && request->pid)
		request++;
	if (request == end || !read_start(pid, &start))
		return NULL;
	*request = (struct request){.start = start, .pid = pid, .fd = fd};
	return request;
}

void requests_remove(struct request *request)
{
	if (request)
		request->pid = 0;
}

uint64_t run_page_valid(const struct kvm_run *run)
{
	return __atomic_load_n(&run->kvm_valid_regs, __ATOMIC_SEQ_CST);
}

void request_make(struct request *request, struct kvm_run *run, uint64_t before,
		  uint64_t bits)
{
	request->left = before | bits;
	/* The guard may look at the request from here on. */
	__atomic_store_n(&request->bits, bits, __ATOMIC_SEQ_CST);
	if (!__atomic_compare_exchange_n(&run->kvm_valid_regs, &before, request->left,
					 false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		request->bits = 0;
}

void request_withdraw(struct request *request, struct kvm_run *run)
{
	uint64_t now = run_page_valid(run);

	/* The exchange fails, and updates @now, if the VMM has just written the word. */
	while (request->bits && !((now ^ request->left) & ~request->theirs) &&
	       !__atomic_compare_exchange_n(&run->kvm_valid_regs, &now,
					    now & ~request->bits, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST))
		;
	__atomic_store_n(&request->bits, 0, __ATOMIC_SEQ_CST);
}

struct kvm_run *run_page_map(int pidfd, int fd, int *ours)
{
	struct kvm_run *run;
	int errnum;

	*ours = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (*ours < 0)
		return NULL;
	run = mmap(NULL, sizeof(*run), PROT_READ | PROT_WRITE, MAP_SHARED, *ours, 0);
	if (run != MAP_FAILED)
		return run;
	errnum = errno;
	close(*ours);
	*ours = -1;
	errno = errnum;
	return NULL;
}

void run_page_unmap(struct kvm_run *run, int ours)
{
	munmap(run, sizeof(*run));
	close(ours);
}

static bool is_vcpu(pid_t pid, int fd)
{
	char path[64], target[64];
	unsigned int number;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = 0;
	return proc_parse_vcpu(target, &number);
}

/* Withdraws a dead recorder's request, unless the pid is another process's by now, or the
 * descriptor another file's. */
static void withdraw_left(struct request *request)
{
	int pidfd = (int)syscall(SYS_pidfd_open, request->pid, 0), ours;
	struct kvm_run *run = NULL;
	uint64_t start;

	if (pidfd < 0)
		return;
	if (read_start(request->pid, &start) && start == request->start &&
	    is_vcpu(request->pid, request->fd))
		run = run_page_map(pidfd, request->fd, &ours);
	if (run) {
		request_withdraw(request, run);
		run_page_unmap(run, ours);
	}
	close(pidfd);
}

void requests_withdraw(struct request *requests)
{
	for (size_t i = 0; i < REQUESTS_MAX; i++)
		if (requests[i].bits)
			withdraw_left(&requests[i]);
}
