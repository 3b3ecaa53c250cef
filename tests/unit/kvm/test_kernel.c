/* SPDX-License-Identifier: BSD-3-Clause */

/* What the programs for this kernel refuse, and how they find a VM's vCPUs. That they
 * read what they should, tests/kvm/cases/slots and the lab's cases kvm and arm64-kvm
 * show. */

#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compat.h"
#include "kvm/bpf/kernel.h"
#include "kvm/bpf/layout.h"
#include "tables/linux/btf.h"

static struct kernel *kernel;

static void refuse(int fd)
{
	struct kernel_vcpu vcpu;
	bool too_many;

	assert_false(kernel_look(kernel, fd, &vcpu));
	assert_null(kernel_slots(kernel, fd, &too_many));
	assert_false(too_many);
	close(fd);
}

static void only_descriptors_of_vcpus_are_accepted(void **state)
{
	char path[] = "/tmp/kvm-vcpu:XXXXXX";
	struct error err = {.text = ""};
	int pair[2];

	(void)state;
	kernel = kernel_open(false, &err);
	if (!kernel) {
		/* Without the permission, or a kernel that describes itself. */
		assert_true(err.text[0] != 0);
		print_message("%s\n", err.text);
		skip();
	}
	refuse(mkstemp(path));
	unlink(path);
	refuse(open("/dev/null", O_RDWR));
	refuse(open("/proc/self/stat", O_RDONLY));
	refuse(open("/dev/kvm", O_RDWR)); /* or -1 */
	refuse(memfd_create("kvm-vcpu:0", MFD_CLOEXEC));
	refuse(eventfd(0, EFD_CLOEXEC));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	refuse(pair[0]);
	close(pair[1]);
	refuse(-1);
	refuse(1000);
	refuse(INT32_MAX);
	kernel_close(kernel);
}

/* Kernels before Linux 5.17 have the slots in an array. The offsets are not theirs, so
 * the program is only loaded. */
static void the_program_for_an_array_is_accepted(void **state)
{
	struct kernel_layout layout = {.upid_size = 16, .slot_size = 64};
	struct bpf_program program;
	int slots = bpf_memory_new(sizeof(struct kernel_slots), true), walk, loaded;

	(void)state;
	if (slots < 0)
		skip();
	for (int32_t i = 0; i < KERNEL_MEMBERS; i++)
		layout.offset[i] = 8 * i;
	walk = bpf_memory_new(sizeof(struct kernel_walk), false);
	program_slots(&program, &layout, slots, walk);
	loaded = program_load(&program);
	close(walk);
	close(slots);
	if (loaded < 0 && errno == EPERM)
		skip();
	assert_true(loaded >= 0);
	/* It reads nothing without a vCPU. */
	assert_true(bpf_program_run(loaded, (uint64_t[]){0, 0}, 2) > PROGRAM_TOO_MANY);
	close(loaded);
}

/* The offsets are not this kernel's. */
static void check_program_for_registers(struct kernel_layout *layout)
{
	struct bpf_program program;
	int memory = bpf_memory_new(KERNEL_BATCH * sizeof(struct kernel_registers), true),
	    loaded;

	if (memory < 0)
		skip();
	program_registers(&program, layout, memory);
	loaded = program_load(&program);
	close(memory);
	if (loaded < 0 && errno == EPERM)
		skip();
	assert_true(loaded >= 0);
	/* It reads nothing without a vCPU. */
	assert_true(bpf_program_run(loaded, (uint64_t[]){0, 0, 255, 0}, 4) >
		    PROGRAM_TOO_MANY);
	close(loaded);
}

static void the_program_for_registers_is_accepted(void **state)
{
	struct kernel_layout layout = {.upid_size = 16};

	(void)state;
	for (int32_t i = 0; i < KERNEL_MEMBERS; i++)
		layout.offset[i] = 8 * i;
	for (int32_t i = 0; i < KERNEL_SYSTEMS; i++)
		layout.system[i] = 8 * i;
	/* The largest part that is read at once, and a register outside of it. */
	layout.system_size = 8 * KERNEL_SYSTEMS_SPAN;
	layout.system[SYSTEM_SP] = 8 * KERNEL_SYSTEMS_SPAN;
	check_program_for_registers(&layout);
	/* Before Linux 5.16, and before 5.19. */
	layout.offset[VM_TREE] = 0;
	layout.offset[VCPU_STATE] = 0;
	check_program_for_registers(&layout);
}

/* A VM of this machine's KVM, and the layout of its vCPUs. */
#define VCPUS 70 /* more than a node of KVM's tree has */
struct vm {
	int kvm, vm, vcpu[VCPUS];
	struct kernel_layout layout;
};

/* Finds members that only programs for arm64 use, but which all kernels have. */
static bool find_more(struct kernel_layout *layout)
{
	static const struct {
		enum kernel_member member;
		const char *type, *name;
	} more[] = {
		{VCPU_CPU, "kvm_vcpu", "cpu"},
		{VCPU_INDEX, "kvm_vcpu", "vcpu_idx"},
		{VCPU_REGISTERS, "kvm_vcpu", "vcpu_id"}, /* to see which vCPU is read */
		{VCPU_STATE, "kvm_vcpu", "mode"},
		{VCPU_TRAPS, "kvm_vcpu", "kvm"},
		{VM_ONLINE, "kvm", "online_vcpus"},
		{VM_TREE, "kvm", "vcpu_array.xa_head"},
		{NODE_SHIFT, "xa_node", "shift"},
		{NODE_SLOTS, "xa_node", "slots"},
	};
	static uint8_t types[64 << 20];
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	struct btf btf = {0};
	bool has_all = false;
	size_t size = 0;
	ssize_t length = 1;

	while (fd >= 0 && length > 0 && size < sizeof(types)) {
		length = read(fd, types + size, sizeof(types) - size);
		size += length > 0 ? (size_t)length : 0;
	}
	close(fd);
	if (btf_open(&btf, types, size)) {
		has_all = true;
		for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
			uint64_t offset = 0;

			has_all &= btf_member(&btf, more[i].type, more[i].name, &offset);
			layout->offset[more[i].member] = (int32_t)offset;
		}
	}
	btf_close(&btf);
	return has_all;
}

static int close_vm(void **state)
{
	struct vm *vm = *state;

	if (!vm)
		return 0;
	for (unsigned int i = 0; i < VCPUS; i++)
		if (vm->vcpu[i] >= 0)
			close(vm->vcpu[i]);
	close(vm->vm);
	close(vm->kvm);
	free(vm);
	return 0;
}

/* Leaves *state NULL where KVM can't be used, or is a module or older. */
static int open_vm(void **state)
{
	struct vm *vm = calloc(1, sizeof(*vm));
	struct error err;
	bool good;

	*state = NULL;
	if (!vm)
		return -1;
	vm->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	vm->vm = ioctl(vm->kvm, KVM_CREATE_VM, 0);
	good = vm->vm >= 0;
	for (int i = 0; i < VCPUS; i++) {
		/* KVM's index is the order, not the number. */
		vm->vcpu[i] = ioctl(vm->vm, KVM_CREATE_VCPU, VCPUS - 1 - i);
		good &= vm->vcpu[i] >= 0;
	}
	*state = vm;
	if (good && kernel_layout_find(&vm->layout, false, &err) == 0 &&
	    find_more(&vm->layout))
		return 0;
	close_vm(state);
	*state = NULL;
	return 0;
}

/* Loads a program and maps the memory that it writes; skips the test without permission.
 */
static int load(const struct bpf_program *program, int memory, size_t size,
		const void **at)
{
	int loaded = program_load(program);

	if (loaded < 0 && errno == EPERM)
		skip();
	assert_true(loaded >= 0);
	*at = bpf_memory_map(memory, size);
	assert_non_null(*at);
	close(memory);
	return loaded;
}

/* Reads @asked of the vCPUs from @first on by any vCPU's descriptor; returns the result.
 */
static int read_vcpus(const struct vm *vm, int loaded, unsigned int first,
		      unsigned int asked)
{
	const uint64_t arguments[] = {(uint64_t)vm->vcpu[3], first, asked, 1};

	return bpf_program_run(loaded, arguments, 4);
}

static void any_vcpu_of_a_vm_leads_to_all(void **state)
{
	struct vm *vm = *state;
	const struct kernel_registers *read;
	const size_t size = KERNEL_BATCH * sizeof(*read);
	struct bpf_program program;
	int memory = bpf_memory_new((uint32_t)size, true), loaded;

	if (!vm || memory < 0)
		skip();
	vm->layout.system_size = 8;
	program_registers(&program, &vm->layout, memory);
	loaded = load(&program, memory, size, (const void **)&read);
	for (unsigned int i = 0; i < VCPUS; i++) {
		unsigned int place = i % KERNEL_BATCH;

		assert_int_equal(read_vcpus(vm, loaded, i - place, 1u << place),
				 PROGRAM_DONE);
		assert_int_equal((uint32_t)read[place].x[0], VCPUS - 1 - i);
		/* x86 keeps the CPU that it was made on; only the first is looked at. */
		assert_true(read[place].after >= 0);
		assert_int_equal(read[place].before, place ? -1 : read[0].after);
		assert_int_not_equal(read[place].traps, 0);
	}
	assert_int_equal(read_vcpus(vm, loaded, 64, 0x3f), PROGRAM_DONE);
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal((uint32_t)read[i].x[0], 5 - i);
	/* There are no more than 70. */
	assert_int_not_equal(read_vcpus(vm, loaded, 64, 0x7f), PROGRAM_DONE);
	assert_int_not_equal(read_vcpus(vm, loaded, 72, 1), PROGRAM_DONE);
	assert_int_not_equal(read_vcpus(vm, loaded, UINT32_MAX, 1), PROGRAM_DONE);
	munmap((void *)read, size);
	close(loaded);
}

static uint32_t look_for_hidden(const struct vm *vm, const struct kernel_layout *layout)
{
	const struct kernel_vcpu *seen;
	struct bpf_program program;
	int memory = bpf_memory_new(sizeof(*seen), true), loaded;
	uint32_t hidden;

	if (memory < 0)
		skip();
	program_look(&program, layout, memory);
	loaded = load(&program, memory, sizeof(*seen), (const void **)&seen);
	assert_int_equal(bpf_program_run(loaded, (uint64_t[]){(uint64_t)vm->vcpu[2]}, 1),
			 PROGRAM_DONE);
	assert_int_equal(seen->index, 2);
	hidden = seen->hidden;
	munmap((void *)seen, sizeof(*seen));
	close(loaded);
	return hidden;
}

/* Members of this machine's vCPUs that are not 0 stand for those of arm64's. */
static void hidden_vcpus_are_told(void **state)
{
	const struct vm *vm = *state;
	struct kernel_layout layout;

	if (!vm)
		skip();
	layout = vm->layout;
	assert_int_equal(look_for_hidden(vm, &layout), 0);
	layout.offset[VCPU_NESTED] = layout.offset[VCPU_INDEX];
	assert_int_equal(look_for_hidden(vm, &layout), VCPU_IS_NESTED);
	layout.offset[VCPU_NESTED] = 0;
	for (unsigned int i = 0; i < 3; i++) {
		const enum kernel_member member[] = {VM_PROTECTED, VM_ENABLED, VM_REALM};

		layout.offset[member[i]] = layout.offset[VM_ONLINE];
		assert_int_equal(look_for_hidden(vm, &layout), VCPU_IS_PROTECTED);
		layout.offset[member[i]] = 0;
	}
}

static void registers_are_converted(void **state)
{
	struct kernel_registers registers = {.traps = 1ull << 31};
	struct cpu cpu = {.family = CPU_FAMILY_X86};

	(void)state;
	for (unsigned int i = 0; i < 31; i++)
		registers.x[i] = 100 + i;
	registers.sp = 1;
	registers.pc = 2;
	registers.pstate = 0x3c5;
	for (unsigned int i = 0; i < KERNEL_SYSTEMS; i++)
		registers.system[i] = 200 + i;
	kernel_registers_take(&registers, &cpu);
	assert_int_equal(cpu.family, CPU_FAMILY_ARM);
	assert_int_equal(cpu.arm.x[0], 100);
	assert_int_equal(cpu.arm.x[30], 130);
	assert_int_equal(cpu.arm.sp_el0, 1);
	assert_int_equal(cpu.arm.pc, 2);
	assert_int_equal(cpu.arm.cpsr, 0x3c5);
	assert_int_equal(cpu.arm.sctlr, 200 + SYSTEM_SCTLR);
	assert_int_equal(cpu.arm.tcr, 200 + SYSTEM_TCR);
	assert_int_equal(cpu.arm.ttbr0, 200 + SYSTEM_TTBR0);
	assert_int_equal(cpu.arm.ttbr1, 200 + SYSTEM_TTBR1);
	assert_int_equal(cpu.arm.sp_el1, 200 + SYSTEM_SP);
	assert_int_equal(arm_kind(&cpu.arm), CPU_ARM64);

	/* A kernel in AArch32 runs a program; SP_EL1 is left over. */
	registers.traps = 0;
	registers.pstate = 0x10;
	kernel_registers_take(&registers, &cpu);
	assert_int_equal(arm_kind(&cpu.arm), CPU_ARM32);
	/* A program in AArch32 on a kernel in AArch64. */
	registers.traps = 1ull << 31;
	kernel_registers_take(&registers, &cpu);
	assert_int_equal(arm_kind(&cpu.arm), CPU_ARM64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_descriptors_of_vcpus_are_accepted),
		cmocka_unit_test(the_program_for_an_array_is_accepted),
		cmocka_unit_test(the_program_for_registers_is_accepted),
		cmocka_unit_test_setup_teardown(any_vcpu_of_a_vm_leads_to_all, open_vm,
						close_vm),
		cmocka_unit_test_setup_teardown(hidden_vcpus_are_told, open_vm, close_vm),
		cmocka_unit_test(registers_are_converted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
