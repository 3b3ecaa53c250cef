/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/kvm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/compat.h"
#include "kvm/internal.h"
#include "kvm/memory/share.h"
#include "kvm/registers.h"
#include "kvm/vcpus.h"

#define DEVICE "/dev/kvm"

static bool kvm_exists(void)
{
	return access(DEVICE, F_OK) == 0;
}

/* Checks that KVM can be used and, unless it is asked for registers, that it stores all
 * wanted ones: an unknown bit in kvm_valid_regs would make KVM_RUN fail in the VMM. */
static int check_registers(struct error *err)
{
	uint64_t wanted = kvm_registers_wanted();
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC), bits;

	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return error_set(err, "no permission to open " DEVICE
				      ": run this as root, or in the group kvm");
	if (fd < 0)
		return error_errno(err, errno, "can't open " DEVICE);
	bits = ioctl(fd, KVM_CHECK_EXTENSION, KVM_CAP_SYNC_REGS);
	close(fd);
	if (wanted && (bits < 0 || ((uint64_t)bits & wanted) != wanted))
		return error_set(err,
				 "this host's KVM does not show registers of other "
				 "processes' vCPUs (Linux 4.17); QEMU's GDB stub can "
				 "(-gdb)");
	return 0;
}

static struct kernel *open_kernel(struct error *err)
{
	return kernel_open(!kvm_registers_wanted(), err);
}

/* Checks that KVM can be asked for registers, if it must be. */
static int check_kernel(const struct kernel *kernel, const struct error *why,
			struct error *err)
{
	if (kernel || kvm_registers_wanted())
		return 0;
	return error_set(err, "can't ask KVM for the registers of vCPUs: %s", why->text);
}

/* Checks, before any guest is opened, that KVM can be asked for registers. */
static int try_kernel(struct error *err)
{
	struct kernel *kernel = NULL;
	struct error why = {.text = ""};
	int status;

	if (!kvm_registers_wanted())
		kernel = open_kernel(&why);
	status = check_kernel(kernel, &why, err);
	kernel_close(kernel);
	return status;
}

/* Checks the permission to trace by duplicating the vCPU @fd, which needs it as well
 * (pidfd_getfd(2)), but attaches to nothing. */
static int check_permission(pid_t pid, int fd, struct error *err)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), vcpu = -1, status = 0;

	if (pidfd >= 0)
		vcpu = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (vcpu < 0)
		status = trace_refused(pid, errno, err);
	else
		close(vcpu);
	if (pidfd >= 0)
		close(pidfd);
	return status;
}

int kvm_permits(uint32_t id, struct error *err)
{
	pid_t pid = (pid_t)id;
	struct vcpu_fd *fds;
	size_t count;
	bool is_seen = vcpus_list(pid, &fds, &count) == 0;
	int errnum = errno, status;

	if ((is_seen && !count) || !kvm_exists())
		status = error_set(err, "QEMU emulates its guest (KVM is not used)");
	else if (check_registers(err) < 0)
		status = -1;
	else if (!is_seen)
		status = trace_refused(pid, errnum, err);
	else if (try_kernel(err) < 0)
		status = -1;
	else
		status = check_permission(pid, fds[0].fd, err);
	if (is_seen)
		free(fds);
	return status;
}

static void close_kvm(struct host *host)
{
	struct kvm *kvm = kvm_of(host);

	if (kvm->shared) {
		trace_free(&kvm->trace);
		munmap(kvm->shared, sizeof(*kvm->shared));
	}
	requests_free(kvm->requests);
	fetch_end(kvm->fetch);
	kernel_close(kvm->kernel);
	if (kvm->watch >= 0)
		close(kvm->watch);
	free(kvm);
}

static int arm_kvm(struct host *host, struct error *err)
{
	struct kvm *kvm = kvm_of(host);

	kvm->shared = mmap(NULL, sizeof(*kvm->shared), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (kvm->shared == MAP_FAILED) {
		kvm->shared = NULL;
		return error_errno(err, errno, "can't allocate memory");
	}
	kvm->requests = requests_new(err);
	if (!kvm->requests)
		return -1;
	kvm->fetch = fetch_new(err);
	if (!kvm->fetch)
		return -1;
	kvm->watch = share_watch();
	kvm->kernel = open_kernel(&kvm->no_kernel);
	if (check_kernel(kvm->kernel, &kvm->no_kernel, err) < 0)
		return -1;
	return trace_init(&kvm->trace, err);
}

/* After this, privileges are dropped. */
static int start_fetching(struct host *host, void (*begin)(void), struct error *err)
{
	kvm_of(host)->is_confined = true;
	return fetch_start(kvm_of(host)->fetch, begin, err);
}

/* The guard does not ask the kernel. */
static int adopt_kvm(struct host *host, struct error *err)
{
	struct kvm *kvm = kvm_of(host);

	(void)err;
	kernel_close(kvm->kernel);
	kvm->kernel = NULL;
	return 0;
}

static uint64_t kvm_paused_since(const struct host *host)
{
	const struct kvm *kvm = (const struct kvm *)host;
	uint64_t since = atomic_load(&kvm->shared->since), late;

	if (!since)
		return 0;
	late = trace_late_since(&kvm->trace);
	return late && late < since ? late : since;
}

/* The kernel has detached the dead recorder already, or is about to. */
static int resume_kvm(struct host *host, struct error *err)
{
	(void)err;
	atomic_store(&kvm_of(host)->shared->since, 0);
	return 0;
}

static void tidy_kvm(struct host *host)
{
	requests_withdraw(kvm_of(host)->requests);
}

static const struct host_ops operations = {
	.needs = &kvm_needs,
	.has_vmms = true,
	.why_outside = "its VMM has suspended it (virsh resume, or cont in QEMU's "
		       "monitor, resumes it), or has not started it",
	.close = close_kvm,
	.info = kvm_guest_info,
	.list = kvm_guest_list,
	.arm = arm_kvm,
	.start_helper = start_fetching,
	.adopt = adopt_kvm,
	.paused_since = kvm_paused_since,
	.resume = resume_kvm,
	.tidy = tidy_kvm,
	.open = kvm_guest_open,
};

static struct host *kvm_open(bool force, struct error *err)
{
	struct utsname kernel;
	struct kvm *kvm;

	(void)force;
	if (check_registers(err) < 0)
		return NULL;
	kvm = calloc(1, sizeof(*kvm));
	if (!kvm) {
		error_set(err, "out of memory");
		return NULL;
	}
	kvm->host.ops = &operations;
	kvm->watch = -1;
	kvm->host.connection = -1;
	uname(&kernel);
	snprintf(kvm->host.version, sizeof(kvm->host.version), "KVM, Linux %.50s",
		 kernel.release);
	return &kvm->host;
}

const struct hypervisor kvm_hypervisor = {
	.exists = kvm_exists,
	.open = kvm_open,
	.request_types = "\xae", /* KVMIO in linux/kvm.h */
};
