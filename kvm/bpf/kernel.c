/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/bpf/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compat.h"
#include "kvm/bpf/call.h"
#include "kvm/bpf/layout.h"

#define LOCKDOWN "/sys/kernel/security/lockdown"

/* Tries to read slots that change meanwhile, and runs for one try. */
#define TRIES	 10
#define RUNS_MAX 64

struct kernel {
	int look, slots, registers; /* programs; the last one: -1 if it is not needed */
	int look_memory, slots_memory, walk_memory, registers_memory;
	const struct kernel_vcpu *looked_at;
	const struct kernel_slots *read;
	const struct kernel_registers *captured;
	struct kernel_layout layout;
};

static bool is_locked_down(void)
{
	char text[128];
	int fd = open(LOCKDOWN, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return false;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length > 0 ? length : 0] = 0;
	return strstr(text, "[confidentiality]") != NULL;
}

static bool has_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
	uint64_t has;

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	has = (uint64_t)data[1].effective << 32 | data[0].effective;
	return has >> CAP_SYS_ADMIN & 1 || (has >> CAP_BPF & has >> CAP_PERFMON & 1);
}

int kernel_explain(int errnum, struct error *err)
{
	if (is_locked_down())
		return error_set(err, "the kernel is locked down "
				      "(lockdown=confidentiality)");
	if ((errnum == EPERM || errnum == EACCES) && !has_capabilities())
		return error_set(err, "needs CAP_BPF and CAP_PERFMON");
	if (errnum == EPERM || errnum == EACCES)
		return error_set(err, "bpf(2) is forbidden here, as in a container");
	return error_errno(err, errnum, "bpf(2)");
}

/* Loads the programs; that for registers if there is memory for them. */
static int load_programs(struct kernel *kernel)
{
	const struct kernel_layout *layout = &kernel->layout;
	struct bpf_program program;

	program_look(&program, layout, kernel->look_memory);
	kernel->look = program_load(&program);
	if (kernel->look < 0)
		return -1;
	program_slots(&program, layout, kernel->slots_memory, kernel->walk_memory);
	kernel->slots = program_load(&program);
	if (kernel->slots < 0 || kernel->registers_memory < 0)
		return kernel->slots < 0 ? -1 : 0;
	program_registers(&program, layout, kernel->registers_memory);
	kernel->registers = program_load(&program);
	return kernel->registers < 0 ? -1 : 0;
}

static int make_registers_memory(struct kernel *kernel)
{
	const size_t size = KERNEL_BATCH * sizeof(*kernel->captured);

	kernel->registers_memory = bpf_memory_new((uint32_t)size, true);
	if (kernel->registers_memory < 0)
		return -1;
	kernel->captured = bpf_memory_map(kernel->registers_memory, size);
	return kernel->captured ? 0 : -1;
}

static int make_memory(struct kernel *kernel)
{
	kernel->look_memory = bpf_memory_new(sizeof(*kernel->looked_at), true);
	if (kernel->look_memory < 0)
		return -1;
	kernel->slots_memory = bpf_memory_new(sizeof(*kernel->read), true);
	kernel->walk_memory = bpf_memory_new(sizeof(struct kernel_walk), false);
	if (kernel->slots_memory < 0 || kernel->walk_memory < 0)
		return -1;
	kernel->looked_at = bpf_memory_map(kernel->look_memory,
					   sizeof(*kernel->looked_at));
	kernel->read = bpf_memory_map(kernel->slots_memory, sizeof(*kernel->read));
	return kernel->looked_at && kernel->read ? 0 : -1;
}

struct kernel *kernel_open(bool has_registers, struct error *err)
{
	struct kernel *kernel = malloc(sizeof(*kernel));

	if (!kernel) {
		error_set(err, "out of memory");
		return NULL;
	}
	*kernel = (struct kernel){.look = -1,
				  .slots = -1,
				  .registers = -1,
				  .look_memory = -1,
				  .slots_memory = -1,
				  .walk_memory = -1,
				  .registers_memory = -1};
	if (make_memory(kernel) < 0 ||
	    (has_registers && make_registers_memory(kernel) < 0)) {
		kernel_explain(errno, err);
	} else if (kernel_layout_find(&kernel->layout, has_registers, err) == 0) {
		if (load_programs(kernel) == 0)
			return kernel;
		kernel_explain(errno, err);
	}
	kernel_close(kernel);
	return NULL;
}

void kernel_close(struct kernel *kernel)
{
	if (!kernel)
		return;
	if (kernel->looked_at)
		munmap((void *)kernel->looked_at, sizeof(*kernel->looked_at));
	if (kernel->read)
		munmap((void *)kernel->read, sizeof(*kernel->read));
	if (kernel->captured)
		munmap((void *)kernel->captured,
		       KERNEL_BATCH * sizeof(*kernel->captured));
	for (size_t i = 0; i < 7; i++) {
		const int open[] = {kernel->look,
				    kernel->slots,
				    kernel->registers,
				    kernel->look_memory,
				    kernel->slots_memory,
				    kernel->walk_memory,
				    kernel->registers_memory};

		if (open[i] >= 0)
			close(open[i]);
	}
	free(kernel);
}

const struct kernel_layout *kernel_layout(const struct kernel *kernel)
{
	return &kernel->layout;
}

bool kernel_look(const struct kernel *kernel, int fd, struct kernel_vcpu *vcpu)
{
	const uint64_t arguments[] = {(uint64_t)fd};

	if (fd < 0 || bpf_program_run(kernel->look, arguments, 1) != PROGRAM_DONE)
		return false;
	*vcpu = *(const volatile struct kernel_vcpu *)kernel->looked_at;
	return true;
}

/* Runs the program until all slots were seen; returns its last result. */
static int walk_slots(const struct kernel *kernel, int fd)
{
	uint64_t arguments[] = {(uint64_t)fd, 0};
	int result = bpf_program_run(kernel->slots, arguments, 2);

	arguments[1] = 1;
	for (int i = 0; i < RUNS_MAX && result == PROGRAM_MORE; i++)
		result = bpf_program_run(kernel->slots, arguments, 2);
	return result;
}

const struct kernel_slots *kernel_slots(const struct kernel *kernel, int fd,
					bool *too_many)
{
	int result = PROGRAM_CHANGED;

	for (int i = 0; i < TRIES && fd >= 0 && result == PROGRAM_CHANGED; i++)
		result = walk_slots(kernel, fd);
	*too_many = result == PROGRAM_TOO_MANY;
	return result == PROGRAM_DONE ? kernel->read : NULL;
}

const struct kernel_registers *kernel_registers(const struct kernel *kernel, int fd,
						unsigned int first, unsigned int asked,
						unsigned int awake)
{
	const uint64_t arguments[] = {(uint64_t)fd, first, asked, awake};

	if (fd < 0 || bpf_program_run(kernel->registers, arguments, 4) != PROGRAM_DONE)
		return NULL;
	return kernel->captured;
}
