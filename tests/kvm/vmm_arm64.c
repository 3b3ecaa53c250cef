/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small VMM for arm64, beside vmm.c: a thread for each vCPU, and a PL011, whose output
 * is its own. Memory is in two slots, whose order in the VMM is not the guest's. A GUEST
 * in 32-bit code runs, too.
 *
 *	vmm_arm64 [--id NAME] [--vcpus N] [--off] [--ask ASK --tell TELL] GUEST
 *
 * --off   all vCPUs but the first wait for a start that never comes
 * --ask   for each byte from the FIFO ASK, the first thread writes vCPU 0's registers, by
 *         KVM_GET_ONE_REG, to the FIFO TELL (struct told, compare_arm64.h)
 *
 * Any result of KVM_RUN that a profiler must not cause ends it with exit code 9.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compare_arm64.h"
#include "die.h"

/* The parts of memory, where tests/gdb/arm64.lds has the page tables and the code. */
#define RAM   0x40000000ull
#define LOW   (2ull << 20)
#define HIGH  (30ull << 20)
#define UART  0x09000000
#define VCPUS 16

struct vcpu {
	int fd;
	struct kvm_run *run;
};

static void add_slot(int vm, uint32_t slot, uint64_t guest, uint64_t size, char *memory)
{
	struct kvm_userspace_memory_region region = {
		.slot = slot,
		.guest_phys_addr = guest,
		.memory_size = size,
		.userspace_addr = (uintptr_t)memory,
	};

	check_result(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region), "memory slot");
}

/* Where @memory has the guest's physical address. */
static char *place_of(char *memory, uint64_t guest)
{
	return guest - RAM < LOW ? memory + HIGH + (guest - RAM)
				 : memory + (guest - RAM - LOW);
}

static void load_part(char *memory, int fd, uint64_t guest, size_t size, off_t offset)
{
	if (size && pread(fd, place_of(memory, guest), size, offset) != (ssize_t)size)
		die("a part of the guest");
}

/* Loads what the program headers, of the type @Phdr, describe. */
#define LOAD_PARTS(memory, fd, head, Phdr)                                             \
	for (unsigned int i = 0; i < (head).e_phnum; i++) {                            \
		Phdr part;                                                             \
                                                                                       \
		if (pread(fd, &part, sizeof(part),                                     \
			  (off_t)((head).e_phoff + i * sizeof(part))) != sizeof(part)) \
			die("a program header");                                       \
		if (part.p_type == PT_LOAD)                                            \
			load_part(memory, fd, part.p_paddr, part.p_filesz,             \
				  (off_t)part.p_offset);                               \
	}

/* Returns the entry, and whether it is 32-bit code. */
static uint64_t load_guest(char *memory, const char *path, bool *is_32)
{
	int fd = check_result(open(path, O_RDONLY | O_CLOEXEC), path);
	union {
		Elf32_Ehdr of_32;
		Elf64_Ehdr of_64;
	} head;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head))
		die(path);
	*is_32 = head.of_32.e_ident[EI_CLASS] == ELFCLASS32;
	if (*is_32)
		LOAD_PARTS(memory, fd, head.of_32, Elf32_Phdr)
	else
		LOAD_PARTS(memory, fd, head.of_64, Elf64_Phdr)
	close(fd);
	return *is_32 ? head.of_32.e_entry : head.of_64.e_entry;
}

static void *run_vcpu(void *context)
{
	struct vcpu *vcpu = context;

	for (;;) {
		const struct kvm_run *run = vcpu->run;

		if (ioctl(vcpu->fd, KVM_RUN, 0) < 0) {
			if (errno != EINTR && errno != EAGAIN)
				die("KVM_RUN");
			continue;
		}
		if (run->exit_reason != KVM_EXIT_MMIO || run->mmio.phys_addr != UART) {
			fprintf(stderr, "vmm: exit %u\n", run->exit_reason);
			_exit(9);
		}
		if (run->mmio.is_write && write(1, run->mmio.data, 1) != 1)
			_exit(9);
	}
	return NULL;
}

static uint64_t get_register(const struct vcpu *vcpu, uint64_t id)
{
	uint64_t value = 0;
	struct kvm_one_reg reg = {.id = id, .addr = (uintptr_t)&value};

	check_result(ioctl(vcpu->fd, KVM_GET_ONE_REG, &reg), "KVM_GET_ONE_REG");
	return value;
}

#define CORE(member)                                           \
	(KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE | \
	 offsetof(struct kvm_regs, member) / sizeof(uint32_t))

static void tell(const struct vcpu *vcpu, int to)
{
	struct told told;

	for (unsigned int i = 0; i < 31; i++)
		told.x[i] = get_register(vcpu, CORE(regs) + i * 2);
	told.sp = get_register(vcpu, CORE(regs.sp));
	told.pc = get_register(vcpu, CORE(regs.pc));
	told.pstate = get_register(vcpu, CORE(regs.pstate));
	told.sp_el1 = get_register(vcpu, CORE(sp_el1));
	told.sctlr = get_register(vcpu, ARM64_SYS_REG(3, 0, 1, 0, 0));
	told.tcr = get_register(vcpu, ARM64_SYS_REG(3, 0, 2, 0, 2));
	told.ttbr0 = get_register(vcpu, ARM64_SYS_REG(3, 0, 2, 0, 0));
	told.ttbr1 = get_register(vcpu, ARM64_SYS_REG(3, 0, 2, 0, 1));
	if (write(to, &told, sizeof(told)) != sizeof(told))
		die("told");
}

static void make_vcpu(int kvm, int vm, unsigned int number, uint32_t features,
		      uint64_t entry, struct vcpu *vcpu)
{
	struct kvm_one_reg pc = {.id = CORE(regs.pc), .addr = (uintptr_t)&entry};
	struct kvm_vcpu_init init;
	int size = check_result(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), "run page");

	vcpu->fd = check_result(ioctl(vm, KVM_CREATE_VCPU, number), "vCPU");
	vcpu->run = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu->fd,
			 0);
	if (vcpu->run == MAP_FAILED)
		die("run page");
	check_result(ioctl(vm, KVM_ARM_PREFERRED_TARGET, &init), "target");
	init.features[0] |= features;
	check_result(ioctl(vcpu->fd, KVM_ARM_VCPU_INIT, &init), "KVM_ARM_VCPU_INIT");
	check_result(ioctl(vcpu->fd, KVM_SET_ONE_REG, &pc), "pc");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"id", required_argument, NULL, 'i'},
		{"vcpus", required_argument, NULL, 'v'},
		{"off", no_argument, NULL, 'o'},
		{"ask", required_argument, NULL, 'a'},
		{"tell", required_argument, NULL, 't'},
		{NULL, 0, NULL, 0},
	};
	const char *ask = NULL, *answer = NULL;
	unsigned int vcpus = 1;
	struct vcpu vcpu[VCPUS];
	uint32_t features = 1u << KVM_ARM_VCPU_PSCI_0_2, off = 0;
	uint64_t entry;
	bool is_32;
	char *memory, byte;
	int kvm, vm, option, from, to;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		switch (option) {
		case 'i':
			break;
		case 'o':
			off = 1u << KVM_ARM_VCPU_POWER_OFF;
			break;
		case 'v':
			vcpus = (unsigned int)atoi(optarg);
			break;
		case 'a':
			ask = optarg;
			break;
		case 't':
			answer = optarg;
			break;
		default:
			return 2;
		}
	if (optind != argc - 1 || !ask != !answer || !vcpus || vcpus > VCPUS)
		return 2;
	kvm = check_result(open("/dev/kvm", O_RDWR | O_CLOEXEC), "/dev/kvm");
	vm = check_result(ioctl(kvm, KVM_CREATE_VM, 0), "VM");
	memory = mmap(NULL, LOW + HIGH, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		die("memory");
	add_slot(vm, 0, RAM + LOW, HIGH, memory);
	add_slot(vm, 1, RAM, LOW, memory + HIGH);
	entry = load_guest(memory, argv[optind], &is_32);
	if (is_32)
		features |= 1u << KVM_ARM_VCPU_EL1_32BIT;
	for (unsigned int i = 0; i < vcpus; i++) {
		pthread_t thread;

		make_vcpu(kvm, vm, i, features | (i ? off : 0), entry, &vcpu[i]);
		if (pthread_create(&thread, NULL, run_vcpu, &vcpu[i]))
			die("thread");
	}
	if (ask) {
		from = check_result(open(ask, O_RDONLY | O_CLOEXEC), ask);
		to = check_result(open(answer, O_WRONLY | O_CLOEXEC), answer);
		while (read(from, &byte, 1) == 1)
			tell(&vcpu[0], to);
	}
	for (;;)
		pause();
}
