/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small VMM that boots the KVM tests' guest the way Firecracker does: a thread for each
 * vCPU, one mapping of memory, no device but a serial port, whose output is its own.
 *
 *	vmm [--id NAME] [--shared] [--pieces] [--lazy MS] [--high] [--cells] [--vcpus N]
 *	    [--parked] [--rest MS] [--sync HABIT] [--kernel] GUEST
 *
 * --kernel   GUEST is named as by VMMs that uniprof knows: it looks for the file
 * --shared   the guest's memory is a memfd, not private memory
 * --pieces   the memory is shared, but no file; parts that the guest does not use are not
 *            writable, so that the kernel shows it as several mappings (Solo5's hvt)
 * --lazy MS  each page of the memory is filled MS milliseconds after it is first
 *            accessed, by the VMM's first child
 * --high     3.25 GiB, and 16 MiB more that the guest sees at 4 GiB and has its stacks in
 * --cells    the memory is cells of 512 KiB, the last of which is mapped first, as no VMM
 *            that is known does; so the page tables are in a small block of their own
 * --parked   all vCPUs but the first wait for a start that never comes
 * --rest MS  a vCPU's thread sleeps after each line that its vCPU prints
 * --sync     how it uses synchronized registers (KVM_CAP_SYNC_REGS) to answer the guest
 *            echo.c: "always", it asks for them once, at the start; "each", before each
 *            KVM_RUN, and no longer after it; "once", from SIGUSR2 on. "always|", "each|"
 *            and "once|" add the bit to others, as rust-vmm does, instead of setting the
 *            whole word.
 *
 * SIGUSR1    executes sleep(1), which is no VMM
 * SIGUSR2    forks a child, which forks another: both inherit the VMM's descriptors; see
 *            --sync
 * SIGHUP     prints the vCPUs' kvm_valid_regs, and what vCPU 0 has answered
 * SIGWINCH   adds a vCPU
 * SIGURG     adds memory, which the guest does not use; with --high, the guest's stacks
 *            move there, and the memory that they were in goes away
 * SIGVTALRM  vCPU 0's thread executes sleep(1) when it next leaves the guest
 * SIGPROF    vCPU 0's thread forks a child, which ends
 * SIGIO      vCPU 0's thread waits in vfork(2), which nothing but SIGKILL interrupts, for
 *            SECONDS
 * SIGXFSZ    truncates the memory to nothing (--shared); the guest stands still
 *
 * Any result of KVM_RUN that a profiler must not cause ends it with exit code 9.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "die.h"
#include "filler.h"

#define MEMORY	  (32ull << 20)
#define PIECE	  (1ull << 20)
#define GAP	  0xd0000000ull
#define HIGH	  (16ull << 20)
#define ABOVE	  (1ull << 32)
#define MORE	  (64ull << 20) /* memory that SIGURG adds at ADDED */
#define ADDED	  (8ull << 30)
#define CELL	  (512ull << 10)
#define STACKS	  (64ull << 40) /* virtual, start.S */
#define FRAME	  0xffffffffff000
#define VCPUS_MAX 63
#define SECONDS	  4 /* that a vCPU's thread waits in vfork(2) */

/* The port of echo.c, whose guest has a number in rcx and expects the next one in rbx. */
#define PORT_ECHO 0x3f9

/* How the VMM asks KVM to store registers in the run page. */
struct sync {
	enum {
		SYNC_NOT,
		SYNC_ALWAYS,
		SYNC_EACH,
		SYNC_ONCE
	} habit;
	bool adds; /* to the bits that are set */
	bool uses; /* the registers in the run page are those of the last exit */
};

struct vm;

struct vcpu {
	struct vm *vm;
	int fd;
	struct kvm_run *run;
	struct sync sync;
	uint64_t echoes;  /* number of exits for the guest echo.c */
	uint64_t place;	  /* rip at these exits */
	uint64_t wrong;	  /* number of exits whose registers were stale */
	atomic_int order; /* signal for the thread to act on; 0: none */
	char line[80];
	size_t length;
};

struct vm {
	int kvm, fd;
	bool shared, pieces, high, cells, parked;
	int lazy;     /* time to fill a page, ms; -1: the memory is filled at the start */
	int rest;     /* time to sleep after each line, ms */
	int file;     /* the memory's memfd; -1: private memory */
	char *memory; /* mapped for the guest */
	char *image;  /* what is loaded; @memory, unless that is filled lazily */
	uint64_t size;
	uint32_t entry;
	unsigned int vcpus;
	struct vcpu vcpu[VCPUS_MAX];
};

/* The guest's memory was truncated: the guest can't go on. */
static atomic_bool is_truncated;

static void add_slot(const struct vm *vm, uint32_t slot, uint64_t guest, uint64_t size,
		     const char *memory)
{
	struct kvm_userspace_memory_region region = {
		.slot = slot,
		.guest_phys_addr = guest,
		.memory_size = size,
		.userspace_addr = (uintptr_t)memory,
	};

	check_result(ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &region), "memory slot");
}

/* Where the guest's physical address is in @memory, all of its memory. */
static char *place_of(const struct vm *vm, char *memory, uint64_t guest)
{
	uint64_t cell = guest / CELL;

	if (vm->cells)
		cell = vm->size / CELL - 1 - cell;
	return memory + cell * CELL + guest % CELL;
}

static void add_slots(const struct vm *vm)
{
	if (vm->high) {
		add_slot(vm, 0, 0, GAP, vm->memory);
		add_slot(vm, 1, ABOVE, HIGH, vm->memory + GAP);
	} else if (vm->cells) {
		for (uint32_t i = 0; i < vm->size / CELL; i++)
			add_slot(vm, i, i * CELL, CELL,
				 place_of(vm, vm->memory, i * CELL));
	} else {
		add_slot(vm, 0, 0, vm->size, vm->memory);
	}
}

static void make_memory(struct vm *vm)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

	vm->size = vm->high ? GAP + HIGH : MEMORY;
	if (vm->lazy >= 0)
		/* Not writable for long, so that it does not look like guest memory. */
		vm->image = mmap(NULL, vm->size, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (vm->shared) {
		vm->file = check_result(memfd_create("guest", MFD_CLOEXEC), "memfd");
		check_result(ftruncate(vm->file, (off_t)vm->size), "memfd");
		flags = MAP_SHARED | MAP_NORESERVE;
	}
	if (vm->pieces)
		flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
	vm->memory = mmap(NULL, vm->size, PROT_READ | PROT_WRITE, flags, vm->file, 0);
	if (vm->lazy < 0)
		vm->image = vm->memory;
	if (vm->memory == MAP_FAILED || vm->image == MAP_FAILED)
		die("memory");
	if (vm->pieces) {
		check_result(mprotect(vm->memory, PIECE, PROT_READ), "memory");
		check_result(mprotect(vm->memory + MEMORY / 2, PIECE, PROT_READ),
			     "memory");
	}
	add_slots(vm);
}

static void load_part(const struct vm *vm, int fd, const Elf64_Phdr *part,
		      const char *path)
{
	uint64_t size = part->p_type == PT_LOAD ? part->p_filesz : 0;

	for (uint64_t done = 0, length; done < size; done += length) {
		uint64_t guest = part->p_paddr + done;

		length = CELL - guest % CELL;
		if (length > size - done)
			length = size - done;
		if (pread(fd, place_of(vm, vm->image, guest), length,
			  (off_t)(part->p_offset + done)) != (ssize_t)length)
			die(path);
	}
}

static void load_32(struct vm *vm, int fd, const Elf32_Ehdr *head, const char *path)
{
	for (unsigned int i = 0; i < head->e_phnum; i++) {
		Elf32_Phdr part;

		if (pread(fd, &part, sizeof(part),
			  (off_t)(head->e_phoff + i * sizeof(part))) != sizeof(part))
			die(path);
		load_part(vm, fd,
			  &(Elf64_Phdr){.p_type = part.p_type,
					.p_paddr = part.p_paddr,
					.p_filesz = part.p_filesz,
					.p_offset = part.p_offset},
			  path);
	}
	vm->entry = head->e_entry;
}

static void load_64(struct vm *vm, int fd, const Elf64_Ehdr *head, const char *path)
{
	for (unsigned int i = 0; i < head->e_phnum; i++) {
		Elf64_Phdr part;

		if (pread(fd, &part, sizeof(part),
			  (off_t)(head->e_phoff + i * sizeof(part))) != sizeof(part))
			die(path);
		load_part(vm, fd, &part, path);
	}
	vm->entry = (uint32_t)head->e_entry;
}

static void load_guest(struct vm *vm, const char *path)
{
	int fd = check_result(open(path, O_RDONLY | O_CLOEXEC), path);
	union {
		Elf32_Ehdr of_32;
		Elf64_Ehdr of_64;
	} head;

	if (read(fd, &head, sizeof(head)) != sizeof(head))
		die(path);
	if (head.of_32.e_ident[EI_CLASS] == ELFCLASS32)
		load_32(vm, fd, &head.of_32, path);
	else
		load_64(vm, fd, &head.of_64, path);
	close(fd);
	if (vm->lazy < 0)
		return;
	check_result(mprotect(vm->image, vm->size, PROT_READ), "memory");
	filler_start(vm->memory, vm->image, vm->size, (unsigned int)vm->lazy);
}

/* Sets 32-bit protected mode without paging, and flat segments. */
static void set_registers(const struct vm *vm, unsigned int i)
{
	struct kvm_segment code = {.limit = 0xffffffff,
				   .selector = 8,
				   .type = 11,
				   .present = 1,
				   .db = 1,
				   .s = 1,
				   .g = 1};
	struct kvm_segment data = code;
	struct kvm_regs regs = {.rip = vm->entry,
				.rflags = 2,
				.rdi = i,
				.rdx = vm->high ? ABOVE >> 12 : 0};
	struct kvm_sregs sregs;
	int fd = vm->vcpu[i].fd;

	data.selector = 16;
	data.type = 3;
	check_result(ioctl(fd, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	sregs.cs = code;
	sregs.ds = sregs.es = sregs.fs = sregs.gs = sregs.ss = data;
	sregs.cr0 |= 1;
	check_result(ioctl(fd, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
	check_result(ioctl(fd, KVM_SET_REGS, &regs), "KVM_SET_REGS");
}

static void make_vcpu(struct vm *vm, unsigned int i)
{
	struct kvm_cpuid2 *ids = calloc(1, sizeof(*ids) + 256 * sizeof(ids->entries[0]));
	struct vcpu *vcpu = &vm->vcpu[i];
	int size = check_result(ioctl(vm->kvm, KVM_GET_VCPU_MMAP_SIZE, 0),
				"size of a vCPU");

	vcpu->vm = vm;
	vcpu->fd = check_result(ioctl(vm->fd, KVM_CREATE_VCPU, i), "KVM_CREATE_VCPU");
	vcpu->run = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu->fd,
			 0);
	if (!ids || vcpu->run == MAP_FAILED)
		die("vCPU");
	ids->nent = 256;
	check_result(ioctl(vm->kvm, KVM_GET_SUPPORTED_CPUID, ids), "CPUID");
	check_result(ioctl(vcpu->fd, KVM_SET_CPUID2, ids), "CPUID");
	free(ids);
	if (!i || !vm->parked)
		set_registers(vm, i);
}

static void put_char(struct vcpu *vcpu, char c)
{
	if (vcpu->length < sizeof(vcpu->line))
		vcpu->line[vcpu->length++] = c;
	if (c != '\n')
		return;
	if (write(STDOUT_FILENO, vcpu->line, vcpu->length) < 0)
		die("output");
	vcpu->length = 0;
	if (vcpu->vm->rest)
		usleep((useconds_t)vcpu->vm->rest * 1000);
}

/* Bits are added and removed by one instruction, as compilers make of "|=" and "&=" in
 * real VMMs: a thread that stopped between a load and a store would store the recorder's
 * bits, which were withdrawn meanwhile, again (kvm/requests.h). */
static void sync_begin(struct vcpu *vcpu)
{
	volatile __u64 *bits = &vcpu->run->kvm_valid_regs;

	if (vcpu->sync.adds)
		asm volatile("orq %1, %0" : "+m"(*bits) : "i"(KVM_SYNC_X86_REGS));
	else
		*bits = KVM_SYNC_X86_REGS;
	vcpu->sync.uses = true;
}

static void sync_end(struct vcpu *vcpu)
{
	volatile __u64 *bits = &vcpu->run->kvm_valid_regs;

	if (vcpu->sync.adds)
		asm volatile("andq %1, %0" : "+m"(*bits) : "i"(~KVM_SYNC_X86_REGS));
	else
		*bits = 0;
}

static void sync_parse(struct sync *sync, const char *habit)
{
	sync->adds = strchr(habit, '|') != NULL;
	sync->habit = strncmp(habit, "always", 6) == 0 ? SYNC_ALWAYS
		      : strncmp(habit, "each", 4) == 0 ? SYNC_EACH
						       : SYNC_ONCE;
}

/* Answers the guest echo.c, which asks at one place only. A wrong exit is one whose
 * registers are of an earlier exit. */
static void answer_echo(struct vcpu *vcpu)
{
	struct kvm_regs *regs = &vcpu->run->s.regs.regs, asked;
	bool is_stored = vcpu->sync.uses && vcpu->place;

	if (!is_stored) {
		regs = &asked;
	} else if (regs->rcx != vcpu->echoes || regs->rip != vcpu->place) {
		vcpu->wrong++;
		is_stored = false;
	}
	if (!is_stored)
		check_result(ioctl(vcpu->fd, KVM_GET_REGS, regs), "KVM_GET_REGS");
	if (regs->rcx != vcpu->echoes)
		die("the guest got a wrong answer");
	vcpu->place = regs->rip;
	regs->rbx = ++vcpu->echoes;
	if (is_stored)
		vcpu->run->kvm_dirty_regs |= KVM_SYNC_X86_REGS;
	else
		check_result(ioctl(vcpu->fd, KVM_SET_REGS, regs), "KVM_SET_REGS");
}

static void stand_still(void)
{
	for (;;)
		pause();
}

static void run_once(struct vcpu *vcpu)
{
	int result;

	if (vcpu->sync.habit == SYNC_EACH)
		sync_begin(vcpu);
	do
		result = ioctl(vcpu->fd, KVM_RUN, 0);
	while (result < 0 && (errno == EINTR || errno == EAGAIN));
	if (vcpu->sync.habit == SYNC_EACH)
		sync_end(vcpu);
	if (atomic_load(&is_truncated))
		stand_still();
	if (result != 0)
		die("KVM_RUN");
}

static char *add_memory(const struct vm *vm)
{
	char *memory = mmap(NULL, MORE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		die("memory");
	add_slot(vm, 2, ADDED, MORE, memory);
	fprintf(stderr, "memory was added\n");
	return memory;
}

/* Moves the stacks to memory that is added. Where the old memory was removed, KVM drops
 * what it knows of the guest's page tables. */
static void move_stacks(const struct vm *vm)
{
	char *memory = add_memory(vm);
	struct kvm_sregs sregs;
	uint64_t *table;

	memcpy(memory, vm->memory + GAP, HIGH);
	check_result(ioctl(vm->vcpu[0].fd, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	table = (uint64_t *)(vm->memory + (sregs.cr3 & FRAME));
	for (unsigned int shift = 39; shift > 12; shift -= 9)
		table = (uint64_t *)(vm->memory + (table[STACKS >> shift & 511] & FRAME));
	for (unsigned int i = 0; i < 512; i++)
		table[i] += ADDED - ABOVE;
	add_slot(vm, 1, ABOVE, 0, vm->memory + GAP);
	munmap(vm->memory + GAP, HIGH);
}

static void obey(struct vcpu *vcpu, int order)
{
	pid_t child;

	if (order == SIGURG)
		move_stacks(vcpu->vm);
	if (order == SIGVTALRM)
		execlp("sleep", "sleep", "1000", (char *)NULL);
	if (order == SIGUSR2)
		sync_begin(vcpu);
	if (order != SIGPROF && order != SIGIO)
		return;
	child = order == SIGPROF ? fork() : vfork();
	if (child == 0 && order == SIGIO)
		sleep(SECONDS);
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	fprintf(stderr, "a child has ended\n");
}

static void *run_vcpu(void *context)
{
	struct vcpu *vcpu = context;
	struct kvm_run *state = vcpu->run;

	if (vcpu->sync.habit == SYNC_ALWAYS)
		sync_begin(vcpu);
	for (;;) {
		run_once(vcpu);
		if (state->exit_reason != KVM_EXIT_IO ||
		    state->io.direction != KVM_EXIT_IO_OUT) {
			fprintf(stderr, "vmm: exit reason %u\n", state->exit_reason);
			_exit(9);
		}
		if (state->io.port == PORT_ECHO)
			answer_echo(vcpu);
		else
			put_char(vcpu, ((char *)state)[state->io.data_offset]);
		if (vcpu->order)
			obey(vcpu, atomic_exchange(&vcpu->order, 0));
	}
	return NULL;
}

static void start_vcpu(struct vm *vm, unsigned int i)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_vcpu, &vm->vcpu[i]))
		die("thread");
}

static void print_state(const struct vm *vm)
{
	for (unsigned int i = 0; i < vm->vcpus; i++)
		fprintf(stderr, "vCPU %u: valid_regs %llu\n", i,
			(unsigned long long)vm->vcpu[i].run->kvm_valid_regs);
	fprintf(stderr, "%llu exits, %llu wrong\n",
		(unsigned long long)vm->vcpu[0].echoes,
		(unsigned long long)vm->vcpu[0].wrong);
}

static void wait_for_orders(struct vm *vm, const sigset_t *orders)
{
	for (;;) {
		int number;

		if (sigwait(orders, &number))
			die("sigwait");
		if (number == SIGUSR1)
			execlp("sleep", "sleep", "1000", (char *)NULL);
		if (number == SIGWINCH && vm->vcpus < VCPUS_MAX) {
			make_vcpu(vm, vm->vcpus);
			start_vcpu(vm, vm->vcpus++);
		}
		if (number == SIGURG && !vm->high)
			add_memory(vm);
		if (number == SIGXFSZ) {
			atomic_store(&is_truncated, true);
			check_result(ftruncate(vm->file, 0), "memfd");
		}
		if (number == SIGHUP)
			print_state(vm);
		if (number == SIGVTALRM || number == SIGPROF || number == SIGIO ||
		    (number == SIGURG && vm->high) ||
		    (number == SIGUSR2 && vm->vcpu[0].sync.habit == SYNC_ONCE))
			vm->vcpu[0].order = number;
		else if (number == SIGUSR2 && fork() == 0) {
			fork();
			pause();
			_exit(0);
		}
	}
}

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{"id", required_argument, NULL, 'i'},
		{"shared", no_argument, NULL, 's'},
		{"pieces", no_argument, NULL, 'q'},
		{"lazy", required_argument, NULL, 'l'},
		{"high", no_argument, NULL, 'h'},
		{"cells", no_argument, NULL, 'c'},
		{"vcpus", required_argument, NULL, 'v'},
		{"parked", no_argument, NULL, 'p'},
		{"rest", required_argument, NULL, 'r'},
		{"sync", required_argument, NULL, 'y'},
		{"kernel", no_argument, NULL, 'k'},
		{0},
	};
	struct vm vm = {.vcpus = 1, .lazy = -1, .file = -1};
	sigset_t orders;
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		vm.shared |= option == 's';
		vm.pieces |= option == 'q';
		vm.high |= option == 'h';
		vm.cells |= option == 'c';
		vm.parked |= option == 'p';
		if (option == 'l')
			vm.lazy = atoi(optarg);
		if (option == 'r')
			vm.rest = atoi(optarg);
		if (option == 'v')
			vm.vcpus = (unsigned int)atoi(optarg);
		if (option == 'y')
			sync_parse(&vm.vcpu[0].sync, optarg);
	}
	if (optind != argc - 1 || vm.vcpus < 1 || vm.vcpus > VCPUS_MAX) {
		fprintf(stderr,
			"usage: vmm [--id NAME] [--shared] [--pieces] [--lazy MS] "
			"[--high] [--cells] [--vcpus N] [--parked] [--rest MS] "
			"[--sync HABIT] [--kernel] GUEST\n");
		return 2;
	}
	sigemptyset(&orders);
	sigaddset(&orders, SIGUSR1);
	sigaddset(&orders, SIGUSR2);
	sigaddset(&orders, SIGHUP);
	sigaddset(&orders, SIGWINCH);
	sigaddset(&orders, SIGURG);
	sigaddset(&orders, SIGVTALRM);
	sigaddset(&orders, SIGPROF);
	sigaddset(&orders, SIGIO);
	sigaddset(&orders, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &orders, NULL);
	vm.kvm = check_result(open("/dev/kvm", O_RDWR | O_CLOEXEC), "/dev/kvm");
	vm.fd = check_result(ioctl(vm.kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
	ioctl(vm.fd, KVM_SET_TSS_ADDR, 0xfffbd000);
	/* KVM's own interrupt controllers are what starts a vCPU. */
	if (vm.parked)
		check_result(ioctl(vm.fd, KVM_CREATE_IRQCHIP, 0), "KVM_CREATE_IRQCHIP");
	make_memory(&vm);
	load_guest(&vm, argv[optind]);
	for (unsigned int i = 0; i < vm.vcpus; i++)
		make_vcpu(&vm, i);
	for (unsigned int i = 0; i < vm.vcpus; i++)
		start_vcpu(&vm, i);
	wait_for_orders(&vm, &orders);
}
