/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The parts of Xen's interface that uniprof relies on, from Xen 4.7 on: these are the
 * numbers and offsets of every release since then. If the installed headers differ, a
 * program compiled with them would misread an older Xen, and the difference has to be
 * handled first.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "xen/hypercall.h"
#include "xen/internal.h"
#include "xen/registers.h"

#define EXPECT_MEMBER(type, member, at, size)                        \
	do {                                                         \
		assert_int_equal(offsetof(type, member), at);        \
		assert_int_equal(sizeof(((type *)0)->member), size); \
	} while (0)

static void hypercalls_have_their_numbers(void **state)
{
	(void)state;
	assert_int_equal(__HYPERVISOR_multicall, 13);
	assert_int_equal(__HYPERVISOR_xen_version, 17);
	assert_int_equal(__HYPERVISOR_domctl, 36);
}

static void domctls_have_their_numbers(void **state)
{
	(void)state;
	assert_int_equal(XEN_DOMCTL_pausedomain, 3);
	assert_int_equal(XEN_DOMCTL_unpausedomain, 4);
	assert_int_equal(XEN_DOMCTL_getdomaininfo, 5);
	assert_int_equal(XEN_DOMCTL_getvcpucontext, 13);
	assert_int_equal(XEN_DOMCTL_getvcpuinfo, 14);
	assert_int_equal(XEN_DOMCTL_get_address_size, 36);
	assert_int_equal(XEN_DOMCTL_gethvmcontext_partial, 55);
}

static void every_domctl_begins_alike(void **state)
{
	(void)state;
	EXPECT_MEMBER(struct xen_domctl, cmd, 0, 4);
	EXPECT_MEMBER(struct xen_domctl, interface_version, 4, 4);
	EXPECT_MEMBER(struct xen_domctl, domain, 8, 2);
	EXPECT_MEMBER(struct xen_domctl, u, 16, 128);
	assert_int_equal(sizeof(struct xen_domctl), 144);
}

static void a_domain_is_described_up_to_its_handle(void **state)
{
	(void)state;
	EXPECT_MEMBER(struct xen_domctl_getdomaininfo, domain, 0, 2);
	EXPECT_MEMBER(struct xen_domctl_getdomaininfo, flags, 4, 4);
	EXPECT_MEMBER(struct xen_domctl_getdomaininfo, tot_pages, 8, 8);
	EXPECT_MEMBER(struct xen_domctl_getdomaininfo, cpu_time, 56, 8);
	EXPECT_MEMBER(struct xen_domctl_getdomaininfo, nr_online_vcpus, 64, 4);
	EXPECT_MEMBER(struct xen_domctl_getdomaininfo, max_vcpu_id, 68, 4);
	EXPECT_MEMBER(struct xen_domctl_getdomaininfo, handle, 76, 16);
	assert_int_equal(XEN_INVALID_MAX_VCPU_ID, UINT32_MAX);
}

static void a_domains_flags_have_their_bits(void **state)
{
	(void)state;
	assert_int_equal(XEN_DOMINF_dying, 1 << 0);
	assert_int_equal(XEN_DOMINF_hvm_guest, 1 << 1);
	assert_int_equal(XEN_DOMINF_shutdown, 1 << 2);
	assert_int_equal(XEN_DOMINF_paused, 1 << 3);
	assert_int_equal(XEN_DOMINF_blocked, 1 << 4);
	assert_int_equal(XEN_DOMINF_running, 1 << 5);
	assert_int_equal(DOMID_FIRST_RESERVED, 0x7ff0);
}

static void a_vcpus_state_is_where_it_was(void **state)
{
	(void)state;
	EXPECT_MEMBER(struct xen_domctl_getvcpuinfo, vcpu, 0, 4);
	EXPECT_MEMBER(struct xen_domctl_getvcpuinfo, online, 4, 1);
	EXPECT_MEMBER(struct xen_domctl_getvcpuinfo, blocked, 5, 1);
	EXPECT_MEMBER(struct xen_domctl_getvcpuinfo, running, 6, 1);
	EXPECT_MEMBER(struct xen_domctl_getvcpuinfo, cpu_time, 8, 8);
}

static void registers_are_asked_for_as_they_were(void **state)
{
	(void)state;
	EXPECT_MEMBER(struct xen_domctl_vcpucontext, vcpu, 0, 4);
	EXPECT_MEMBER(struct xen_domctl_vcpucontext, ctxt, 8, 8);
	EXPECT_MEMBER(struct xen_domctl_address_size, size, 0, 4);
}

static void a_multicalls_entries_are_where_they_were(void **state)
{
	(void)state;
	EXPECT_MEMBER(multicall_entry_t, op, 0, 8);
	EXPECT_MEMBER(multicall_entry_t, result, 8, 8);
	EXPECT_MEMBER(multicall_entry_t, args, 16, 48);
	assert_int_equal(sizeof(multicall_entry_t), 64);
}

static void a_domctl_carries_version_command_and_domain(void **state)
{
	struct xen xen = {.host.domctl_version = 0x15};
	struct xen_domctl domctl;
	uint8_t rest[128] = {0};

	(void)state;
	memset(&domctl, 0xff, sizeof(domctl));
	xen_domctl_init(&xen, &domctl, XEN_DOMCTL_getvcpuinfo, 7);
	assert_int_equal(domctl.cmd, 14);
	assert_int_equal(domctl.interface_version, 0x15);
	assert_int_equal(domctl.domain, 7);
	assert_memory_equal(&domctl.u, rest, sizeof(rest));
}

#ifdef __x86_64__

#include <xen/hvm/save.h>

static void registers_are_where_they_were(void **state)
{
	static const size_t in_order[] = {
		offsetof(struct cpu_user_regs, r15), offsetof(struct cpu_user_regs, r14),
		offsetof(struct cpu_user_regs, r13), offsetof(struct cpu_user_regs, r12),
		offsetof(struct cpu_user_regs, rbp), offsetof(struct cpu_user_regs, rbx),
		offsetof(struct cpu_user_regs, r11), offsetof(struct cpu_user_regs, r10),
		offsetof(struct cpu_user_regs, r9),  offsetof(struct cpu_user_regs, r8),
		offsetof(struct cpu_user_regs, rax), offsetof(struct cpu_user_regs, rcx),
		offsetof(struct cpu_user_regs, rdx), offsetof(struct cpu_user_regs, rsi),
		offsetof(struct cpu_user_regs, rdi),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(in_order) / sizeof(in_order[0]); i++)
		assert_int_equal(in_order[i], i * 8);
	EXPECT_MEMBER(struct cpu_user_regs, rip, 128, 8);
	EXPECT_MEMBER(struct cpu_user_regs, cs, 136, 2);
	EXPECT_MEMBER(struct cpu_user_regs, rflags, 144, 8);
	EXPECT_MEMBER(struct cpu_user_regs, rsp, 152, 8);
	EXPECT_MEMBER(struct cpu_user_regs, ss, 160, 2);
	EXPECT_MEMBER(vcpu_guest_context_t, flags, 512, 8);
	EXPECT_MEMBER(vcpu_guest_context_t, user_regs, 520, 200);
	EXPECT_MEMBER(vcpu_guest_context_t, ctrlreg, 4984, 64);
	/* Xen writes the whole structure. */
	assert_int_equal(sizeof(vcpu_guest_context_t), 5168);
	assert_int_equal(VGCF_in_kernel, 1 << 2);
}

static void a_saved_hvm_cpu_is_where_it_was(void **state)
{
	(void)state;
	assert_int_equal(HVM_SAVE_CODE(CPU), 2);
	EXPECT_MEMBER(struct hvm_hw_cpu, cr0, 656, 8);
	EXPECT_MEMBER(struct hvm_hw_cpu, msr_efer, 992, 8);
	EXPECT_MEMBER(struct xen_domctl_hvmcontext_partial, type, 0, 4);
	EXPECT_MEMBER(struct xen_domctl_hvmcontext_partial, instance, 4, 4);
	EXPECT_MEMBER(struct xen_domctl_hvmcontext_partial, bufsz, 8, 8);
	EXPECT_MEMBER(struct xen_domctl_hvmcontext_partial, buffer, 16, 8);
}

static vcpu_guest_context_t distinct_context(void)
{
	vcpu_guest_context_t context = {0};
	struct cpu_user_regs *regs = &context.user_regs;

	regs->rax = 100;
	regs->rcx = 101;
	regs->rdx = 102;
	regs->rbx = 103;
	regs->rsp = 104;
	regs->rbp = 105;
	regs->rsi = 106;
	regs->rdi = 107;
	regs->r8 = 108;
	regs->r9 = 109;
	regs->r10 = 110;
	regs->r11 = 111;
	regs->r12 = 112;
	regs->r13 = 113;
	regs->r14 = 114;
	regs->r15 = 115;
	regs->rip = UINT64_MAX;
	regs->rflags = 0x202;
	regs->cs = 0xe033;
	regs->ss = 0xe02b;
	context.ctrlreg[0] = 0x80050033;
	context.ctrlreg[1] = 0x1000;
	context.ctrlreg[3] = 0x3000;
	context.ctrlreg[4] = 0x1020;
	return context;
}

static void expect_general_registers(const struct x86_cpu *cpu)
{
	/* In the order of their encoding. */
	for (unsigned int i = 0; i < X86_REGISTERS; i++)
		assert_int_equal(cpu->reg[i], 100 + i);
	assert_int_equal(cpu->rip, UINT64_MAX);
	assert_int_equal(cpu->rflags, 0x202);
	assert_int_equal(cpu->cs, 0xe033);
	assert_int_equal(cpu->ss, 0xe02b);
}

static void a_pv_guests_mode_is_64_bit_on_the_table_in_use(void **state)
{
	vcpu_guest_context_t context = distinct_context();
	struct xen xen = {.host.domctl_version = 0x15};
	struct vcpu_mode mode = {0};
	struct cpu cpu = {0};

	(void)state;
	context.flags = VGCF_in_kernel;
	registers_take(&xen, GUEST_PV, &context, &mode, &cpu);
	expect_general_registers(&cpu.x86);
	assert_int_equal(cpu_kind(&cpu), CPU_X86_64);
	assert_int_equal(cpu.x86.cr3, 0x3000);
	assert_true(cpu.x86.cr0 & X86_CR0_PG);
	assert_true(cpu.x86.cr4 & X86_CR4_PAE);
	assert_false(cpu.x86.cr4 & X86_CR4_LA57);
	/* User mode has a separate table, if any. */
	context.flags = 0;
	registers_take(&xen, GUEST_PV, &context, &mode, &cpu);
	assert_int_equal(cpu.x86.cr3, 0x1000);
	assert_int_equal(cpu_space(&cpu), 0x3000);
	context.ctrlreg[1] = 0;
	registers_take(&xen, GUEST_PV, &context, &mode, &cpu);
	assert_int_equal(cpu.x86.cr3, 0x3000);
}

/* Offsets are as in xen/include/public/arch-x86/xen.h, compiled for 32 bits. General
 * registers have 100 plus the number of their encoding. */
static void a_32_bit_pv_guests_context_is_that_of_32_bit_code(void **state)
{
	static const struct {
		unsigned int offset;
		uint32_t value;
	} fields[] = {
		{516, 103},	    {520, 101},		{524, 102}, {528, 106},
		{532, 107},	    {536, 105},		{540, 100}, {548, 1000}, /* eip */
		{552, 0xe019},	    {556, 0x202},	{560, 104}, {564, 0xe021},
		{2716, 0x80050033}, {2728, 0x12345678},
	};
	uint64_t context[sizeof(vcpu_guest_context_t) / 8] = {0};
	struct xen xen = {.host.domctl_version = 0x15};
	struct vcpu_mode mode = {.is_pv_32 = true};
	struct cpu cpu;

	(void)state;
	memset(&cpu, 0xff, sizeof(cpu));
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		memcpy((char *)context + fields[i].offset, &fields[i].value, 4);
	registers_take(&xen, GUEST_PV, (const void *)context, &mode, &cpu);
	for (unsigned int i = 0; i < X86_REGISTERS; i++)
		assert_int_equal(cpu.x86.reg[i], i < 8 ? 100 + i : 0);
	assert_int_equal(cpu.x86.rip, 1000);
	assert_int_equal(cpu.x86.rflags, 0x202);
	assert_int_equal(cpu.x86.cs, 0xe019);
	assert_int_equal(cpu.x86.ss, 0xe021);
	assert_int_equal(cpu_kind(&cpu), CPU_X86_32);
	assert_int_equal(registers_kind(GUEST_PV, &mode), CPU_X86_32);
	assert_true(cpu.x86.cr0 & X86_CR0_PG);
	assert_int_equal(cpu.x86.cr4, X86_CR4_PAE);
	/* The table may be above 4 GiB. */
	assert_int_equal(cpu.x86.cr3, 0x67812345000);
	assert_int_equal(cpu_space(&cpu), 0x67812345000);
	assert_false(cpu.x86.is_compat);
}

static void an_hvm_guests_control_registers_are_its_own(void **state)
{
	vcpu_guest_context_t context = distinct_context();
	struct xen xen = {.host.domctl_version = 0x15};
	struct vcpu_mode mode = {.efer = X86_EFER_LMA};
	struct cpu cpu = {0};

	(void)state;
	registers_take(&xen, GUEST_PVH, &context, &mode, &cpu);
	expect_general_registers(&cpu.x86);
	assert_int_equal(cpu.x86.cr0, 0x80050033);
	assert_int_equal(cpu.x86.cr3, 0x3000);
	assert_int_equal(cpu.x86.cr4, 0x1020);
	assert_int_equal(cpu_space(&cpu), 0x3000);
	assert_int_equal(cpu.x86.efer, X86_EFER_LMA);
}

#endif

#ifdef __aarch64__

static void registers_are_where_they_were(void **state)
{
	(void)state;
	/* From Xen 4.16 on; before that, cpsr and the rest had 4 bytes less. */
	EXPECT_MEMBER(vcpu_guest_context_t, user_regs.x0, 8, 8);
	EXPECT_MEMBER(vcpu_guest_context_t, user_regs.x30, 248, 8);
	EXPECT_MEMBER(vcpu_guest_context_t, user_regs.pc64, 256, 8);
	EXPECT_MEMBER(vcpu_guest_context_t, user_regs.cpsr, 264, 8);
	EXPECT_MEMBER(vcpu_guest_context_t, user_regs.sp_el0, 296, 8);
	EXPECT_MEMBER(vcpu_guest_context_t, user_regs.sp_el1, 304, 8);
	EXPECT_MEMBER(vcpu_guest_context_t, sctlr, 320, 8);
	EXPECT_MEMBER(vcpu_guest_context_t, ttbcr, 328, 8);
	EXPECT_MEMBER(vcpu_guest_context_t, ttbr0, 336, 8);
	EXPECT_MEMBER(vcpu_guest_context_t, ttbr1, 344, 8);
	assert_int_equal(sizeof(vcpu_guest_context_t), 352);
}

/* Offsets are as in Xen's header before 4.16, and since. */
static void registers_are_taken_as_each_xen_gives_them(void **state)
{
	static const struct {
		uint32_t version;
		size_t cpsr, sp_el0, sctlr, ttbcr;
	} layouts[] = {{0x0b, 264, 288, 312, 320},
		       {0x13, 264, 288, 312, 320},
		       {0x14, 264, 296, 320, 328},
		       {0x17, 264, 296, 320, 328}};

	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct xen xen = {.host.domctl_version = layouts[i].version};
		uint64_t words[sizeof(vcpu_guest_context_t) / 8] = {0};
		struct vcpu_mode mode = {0};
		struct cpu cpu;

		for (size_t j = 0; j < ARM_REGISTERS + 1; j++)
			words[1 + j] = 100 + j;
		words[layouts[i].cpsr / 8] = 0x5;
		words[layouts[i].sp_el0 / 8] = 200;
		words[layouts[i].sp_el0 / 8 + 1] = 201;
		words[layouts[i].sctlr / 8] = 1;
		for (size_t j = 0; j < 3; j++)
			words[layouts[i].ttbcr / 8 + j] = 300 + j;
		registers_take(&xen, GUEST_PVH, (const void *)words, &mode, &cpu);
		assert_int_equal(cpu_kind(&cpu), CPU_ARM64);
		for (size_t j = 0; j < ARM_REGISTERS; j++)
			assert_int_equal(cpu.arm.x[j], 100 + j);
		assert_int_equal(cpu.arm.pc, 100 + ARM_REGISTERS);
		assert_int_equal(cpu.arm.cpsr, 0x5);
		assert_int_equal(cpu.arm.sp_el0, 200);
		assert_int_equal(cpu.arm.sp_el1, 201);
		assert_int_equal(cpu.arm.sctlr, 1);
		assert_int_equal(cpu.arm.tcr, 300);
		assert_int_equal(cpu.arm.ttbr0, 301);
		assert_int_equal(cpu.arm.ttbr1, 302);
	}
}

#endif

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hypercalls_have_their_numbers),
		cmocka_unit_test(domctls_have_their_numbers),
		cmocka_unit_test(every_domctl_begins_alike),
		cmocka_unit_test(a_domain_is_described_up_to_its_handle),
		cmocka_unit_test(a_domains_flags_have_their_bits),
		cmocka_unit_test(a_vcpus_state_is_where_it_was),
		cmocka_unit_test(registers_are_asked_for_as_they_were),
		cmocka_unit_test(a_multicalls_entries_are_where_they_were),
		cmocka_unit_test(a_domctl_carries_version_command_and_domain),
#ifdef __x86_64__
		cmocka_unit_test(registers_are_where_they_were),
		cmocka_unit_test(a_saved_hvm_cpu_is_where_it_was),
		cmocka_unit_test(a_pv_guests_mode_is_64_bit_on_the_table_in_use),
		cmocka_unit_test(a_32_bit_pv_guests_context_is_that_of_32_bit_code),
		cmocka_unit_test(an_hvm_guests_control_registers_are_its_own),
#endif
#ifdef __aarch64__
		cmocka_unit_test(registers_are_where_they_were),
		cmocka_unit_test(registers_are_taken_as_each_xen_gives_them),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
