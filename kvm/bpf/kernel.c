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
#include "tables/linux/btf.h"

#define TYPES	    "/sys/kernel/btf/vmlinux"
#define KVM_TYPES   "/sys/kernel/btf/kvm" /* if KVM is a module */
#define LOCKDOWN    "/sys/kernel/security/lockdown"
#define OLDEST_HASH 128 /* number of lists, if the structure does not tell */

/* More types than any kernel has, bytes. */
#define TYPES_MAX ((size_t)256 << 20)

/* Tries to read slots that change meanwhile, and runs for one try. */
#define TRIES	 10
#define RUNS_MAX 64

struct kernel {
	int look, slots, registers; /* programs; the last one: -1 if it is not needed */
	int look_memory, slots_memory, walk_memory, registers_memory;
	const struct kernel_vcpu *looked_at;
	const struct kernel_slots *read;
	const struct kernel_registers *captured;
};

static const char *const members[KERNEL_MEMBERS][2] = {
	[TASK_FILES] = {"task_struct", "files"},
	[TASK_PID] = {"task_struct", "thread_pid"},
	[FILES_TABLE] = {"files_struct", "fdt"},
	[TABLE_SIZE] = {"fdtable", "max_fds"},
	[TABLE_FILES] = {"fdtable", "fd"},
	[FILE_DENTRY] = {"file", "f_path.dentry"},
	[FILE_PRIVATE] = {"file", "private_data"},
	[DENTRY_SUPER] = {"dentry", "d_sb"},
	[DENTRY_NAME] = {"dentry", "d_name.name"},
	[SUPER_MAGIC] = {"super_block", "s_magic"},
	[PID_LEVEL] = {"pid", "level"},
	[PID_NUMBERS] = {"pid", "numbers"},
	[UPID_NUMBER] = {"upid", "nr"},
	[UPID_SPACE] = {"upid", "ns"},
	[VCPU_VM] = {"kvm_vcpu", "kvm"},
	[VCPU_PID] = {"kvm_vcpu", "pid"},
	[VM_SLOTS] = {"kvm", "memslots"},
	[SLOTS_GENERATION] = {"kvm_memslots", "generation"},
	[SLOT_FRAME] = {"kvm_memory_slot", "base_gfn"},
	[SLOT_PAGES] = {"kvm_memory_slot", "npages"},
	[SLOT_ADDRESS] = {"kvm_memory_slot", "userspace_addr"},
	[SLOTS_HASH] = {"kvm_memslots", "id_hash"},
	[SLOTS_INDEX] = {"kvm_memslots", "node_idx"},
	[SLOT_NODES] = {"kvm_memory_slot", "id_node"},
	[SLOTS_USED] = {"kvm_memslots", "used_slots"},
	[SLOTS_ARRAY] = {"kvm_memslots", "memslots"},
	[VCPU_EXITS] = {"kvm_vcpu", "stat.exits"},
	[VCPU_CPU] = {"kvm_vcpu", "cpu"},
	[VCPU_INDEX] = {"kvm_vcpu", "vcpu_idx"},
	[VCPU_REGISTERS] = {"kvm_vcpu", "arch.ctxt.regs"},
	[VCPU_SYSTEM] = {"kvm_vcpu", "arch.ctxt.sys_regs"},
	[VCPU_TRAPS] = {"kvm_vcpu", "arch.hcr_el2"},
	[VM_ONLINE] = {"kvm", "online_vcpus"},
	[VCPU_NESTED] = {"kvm_vcpu", "arch.ctxt.vncr_array"},
	[VCPU_STATE] = {"kvm_vcpu", "arch.mp_state.mp_state"},
	[VCPU_OFF] = {"kvm_vcpu", "arch.power_off"},
	[VM_PROTECTED] = {"kvm", "arch.pkvm.is_protected"},
	[VM_ENABLED] = {"kvm", "arch.pkvm.enabled"},
	[VM_REALM] = {"kvm", "arch.is_realm"},
	[VM_VCPUS] = {"kvm", "vcpus"},
	[VM_TREE] = {"kvm", "vcpu_array.xa_head"},
	[NODE_SHIFT] = {"xa_node", "shift"},
	[NODE_SLOTS] = {"xa_node", "slots"},
};

/* Enumerators of enum vcpu_sysreg, which are in another order in many releases. */
static const char *const systems[KERNEL_SYSTEMS] = {
	[SYSTEM_SCTLR] = "SCTLR_EL1", [SYSTEM_TCR] = "TCR_EL1",
	[SYSTEM_TTBR0] = "TTBR0_EL1", [SYSTEM_TTBR1] = "TTBR1_EL1",
	[SYSTEM_SP] = "SP_EL1",
};

/* Reads a whole file, which the caller frees; NULL with errno set on failure. */
static uint8_t *read_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), errnum = 0;
	uint8_t *data = NULL;
	size_t room = 0;
	ssize_t length = 1;

	*size = 0;
	if (fd < 0)
		return NULL;
	while (length > 0 && *size < TYPES_MAX) {
		uint8_t *more = data;

		if (*size == room)
			more = realloc(data, room = 2 * room + (1u << 20));
		length = more ? read(fd, more + *size, room - *size) : -1;
		errnum = errno;
		data = more ? more : data;
		*size += length > 0 ? (size_t)length : 0;
	}
	close(fd);
	if (length == 0)
		return data;
	free(data);
	errno = length > 0 ? EFBIG : errnum;
	return NULL;
}

static bool find_member(const struct btf *types, struct kernel_layout *layout,
			unsigned int member)
{
	uint64_t offset;

	if (!btf_member(types, members[member][0], members[member][1], &offset) ||
	    offset > INT32_MAX / 2)
		return false;
	layout->offset[member] = (int32_t)offset;
	return true;
}

/* The hash table is followed by the index of the tables, of 4 bytes. */
static bool find_slots(const struct btf *types, struct kernel_layout *layout)
{
	int32_t lists;

	layout->buckets = 0;
	if (find_member(types, layout, SLOTS_HASH)) {
		if (!find_member(types, layout, SLOTS_INDEX) ||
		    !find_member(types, layout, SLOT_NODES))
			return false;
		lists = (layout->offset[SLOTS_INDEX] - layout->offset[SLOTS_HASH]) / 8;
		layout->buckets = lists > 0 && lists <= 1 << 16 ? (uint32_t)lists
								: OLDEST_HASH;
		return true;
	}
	return find_member(types, layout, SLOTS_USED) &&
	       find_member(types, layout, SLOTS_ARRAY) &&
	       btf_size(types, "kvm_memory_slot", &layout->slot_size) &&
	       layout->slot_size && layout->slot_size < 1 << 16;
}

static int find_members(const struct btf *types, struct kernel_layout *layout,
			struct error *err)
{
	for (unsigned int i = 0; i < MEMBERS_NEEDED; i++)
		if (!find_member(types, layout, i))
			return error_set(err, "this kernel does not tell where %s.%s is",
					 members[i][0], members[i][1]);
	find_member(types, layout, VCPU_EXITS);
	if (!find_slots(types, layout) || !btf_size(types, "upid", &layout->upid_size) ||
	    layout->upid_size > 1 << 16)
		return error_set(err, "this kernel does not tell where memory slots are");
	return 0;
}

/* Finds a place for each system register: before Linux 5.9, some had another. */
static bool find_systems(const struct btf *types, struct kernel_layout *layout)
{
	for (unsigned int i = 0; i < KERNEL_SYSTEMS; i++) {
		int32_t number;

		if (!btf_enumerator(types, "vcpu_sysreg", systems[i], &number) ||
		    number < 0 || number > 1 << 16)
			return false;
		layout->system[i] = 8 * number;
	}
	return true;
}

/* Instructions that a read takes, and each further word of one (counted on Linux 6.1). */
#define READ_COST 90
#define WORD_COST 9

/* Finds the system registers that are so close together that one read is cheaper than a
 * read for each. */
static void find_part(struct kernel_layout *layout)
{
	int most = -1;

	for (unsigned int i = 0; i < KERNEL_SYSTEMS * KERNEL_SYSTEMS; i++) {
		int32_t start = layout->system[i / KERNEL_SYSTEMS],
			size = layout->system[i % KERNEL_SYSTEMS] + 8 - start;
		int saved = WORD_COST - WORD_COST * size / 8;

		if (size < 8 || size > 8 * KERNEL_SYSTEMS_SPAN)
			continue;
		for (unsigned int k = 0; k < KERNEL_SYSTEMS; k++)
			if (layout->system[k] >= start &&
			    layout->system[k] < start + size)
				saved += READ_COST;
		if (saved <= most)
			continue;
		most = saved;
		layout->system_start = start;
		layout->system_size = size;
	}
}

/* Finds what the registers of arm64's vCPUs need. */
static int find_registers(const struct btf *types, struct kernel_layout *layout,
			  struct error *err)
{
	for (unsigned int i = VCPU_CPU; i < VCPU_NESTED; i++)
		if (!find_member(types, layout, i))
			return error_set(err, "this kernel does not tell where %s.%s is",
					 members[i][0], members[i][1]);
	for (unsigned int i = VCPU_NESTED; i < KERNEL_MEMBERS; i++)
		find_member(types, layout, i);
	if ((!layout->offset[VCPU_STATE] && !layout->offset[VCPU_OFF]) ||
	    (layout->offset[VM_TREE] ? !layout->offset[NODE_SLOTS]
				     : !layout->offset[VM_VCPUS]) ||
	    !find_systems(types, layout))
		return error_set(err, "this kernel does not tell where the registers of "
				      "vCPUs are");
	find_part(layout);
	return 0;
}

/* Finds the layout of this kernel's structures. */
static int find_layout(struct kernel_layout *layout, bool has_registers,
		       struct error *err)
{
	struct btf kernel = {0}, module = {0};
	uint8_t *of_kernel, *of_module = NULL;
	const struct btf *types = &kernel;
	size_t size;
	int status = -1;

	of_kernel = read_file(TYPES, &size);
	if (!of_kernel)
		return error_errno(err, errno, "can't read " TYPES);
	if (!btf_open(&kernel, of_kernel, size)) {
		error_set(err, TYPES " has an unknown form");
		goto out;
	}
	of_module = read_file(KVM_TYPES, &size);
	if (of_module && btf_open_module(&module, &kernel, of_module, size))
		types = &module;
	*layout = (struct kernel_layout){.buckets = 0};
	status = find_members(types, layout, err);
	if (status == 0 && has_registers)
		status = find_registers(types, layout, err);
out:
	btf_close(&module);
	btf_close(&kernel);
	free(of_module);
	free(of_kernel);
	return status;
}

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

/* Explains why bpf(2) has failed with @errnum. */
static int explain_failure(int errnum, struct error *err)
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
static int load_programs(struct kernel *kernel, const struct kernel_layout *layout)
{
	struct program program;

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
	struct kernel_layout layout;

	if (!kernel) {
		error_set(err, "out of memory");
		return NULL;
	}
	*kernel = (struct kernel){-1, -1, -1, -1, -1, -1, -1, NULL, NULL, NULL};
	if (make_memory(kernel) < 0 ||
	    (has_registers && make_registers_memory(kernel) < 0)) {
		explain_failure(errno, err);
	} else if (find_layout(&layout, has_registers, err) == 0) {
		if (load_programs(kernel, &layout) == 0)
			return kernel;
		explain_failure(errno, err);
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
