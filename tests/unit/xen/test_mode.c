/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The state that a vCPU's context lacks is queried from Xen as rarely as possible. Xen is
 * a fake, because a real guest does not change its mode at a known moment, or have a call
 * fail.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "xen/internal.h"
#include "xen/registers.h"

#ifdef __x86_64__

#include <xen/hvm/save.h>

#define KERNEL	0x10
#define USER_64 0x33
#define USER_32 0x23
#define LONG	0x200u /* long mode, in a segment's attributes */
#define IN_LONG 0xd01

static char scratch[4096];
static struct hvm_hw_cpu saved;
static bool fails;
static unsigned int calls;

static int fake_call(xencall_handle *call, unsigned int op, uint64_t argument)
{
	struct xen_domctl *domctl = (void *)(uintptr_t)argument;

	(void)call;
	(void)op;
	assert_int_equal(domctl->cmd, XEN_DOMCTL_gethvmcontext_partial);
	calls++;
	if (fails) {
		errno = EINVAL;
		return -1;
	}
	memcpy(scratch + sizeof(scratch) / 2, &saved, sizeof(saved));
	return 0;
}

static struct xen fake_xen(void)
{
	return (struct xen){.lib.call1 = fake_call, .scratch = scratch};
}

struct scene {
	struct xen xen;
	struct vcpu_mode mode;
	struct cpu cpu;
};

/* Takes a sample: reads the registers, then learns the missing parts of the mode. */
static bool take_sample(struct scene *scene, uint64_t selector)
{
	vcpu_guest_context_t context = {.ctrlreg = {0x80000011, 0, 0, 0x1000, 0x20}};

	context.user_regs.cs = (uint16_t)selector;
	calls = 0;
	registers_take(&scene->xen, GUEST_HVM, &context, &scene->mode, &scene->cpu);
	return registers_learn_mode(&scene->xen, 1, 0, &scene->cpu, &scene->mode);
}

static void saved_is(uint64_t efer, uint32_t selector, bool is_64)
{
	saved.msr_efer = efer;
	saved.cs_sel = selector;
	saved.cs_arbytes = is_64 ? 0x9b | LONG : 0xc9b;
}

static void each_code_segment_is_asked_for_once(void **state)
{
	struct scene scene = {.xen = fake_xen()};

	(void)state;
	fails = false;
	saved_is(IN_LONG, KERNEL, true);
	assert_true(take_sample(&scene, KERNEL));
	assert_int_equal(calls, 1);
	assert_int_equal(scene.cpu.x86.efer, IN_LONG);
	assert_false(scene.cpu.x86.is_compat);
	assert_false(take_sample(&scene, KERNEL));
	assert_int_equal(calls, 0);
	/* The sample is taken again if it was read in the wrong way. */
	saved_is(IN_LONG, USER_32, false);
	assert_true(take_sample(&scene, USER_32));
	assert_true(scene.cpu.x86.is_compat);
	saved_is(IN_LONG, USER_64, true);
	assert_false(take_sample(&scene, USER_64));
	for (unsigned int i = 0; i < 3; i++) {
		static const uint64_t selectors[] = {KERNEL, USER_32, USER_64};

		assert_false(take_sample(&scene, selectors[i]));
		assert_int_equal(calls, 0);
		assert_int_equal(scene.cpu.x86.is_compat, selectors[i] == USER_32);
	}
}

static void a_segment_other_than_the_sampled_one_is_not_taken_for_it(void **state)
{
	struct scene scene = {.xen = fake_xen()};

	(void)state;
	fails = false;
	saved_is(IN_LONG, KERNEL, true);
	assert_true(take_sample(&scene, USER_32));
	assert_false(take_sample(&scene, USER_32));
	assert_int_equal(calls, 1);
	assert_false(scene.cpu.x86.is_compat);
	saved_is(IN_LONG, USER_32, false);
	assert_true(take_sample(&scene, USER_32));
	assert_true(scene.cpu.x86.is_compat);
}

static void more_segments_than_are_kept_are_asked_for_again(void **state)
{
	struct scene scene = {.xen = fake_xen()};

	(void)state;
	fails = false;
	for (unsigned int i = 0; i < 10 * CODE_SEGMENTS; i++) {
		uint64_t selector = 8 + i % (CODE_SEGMENTS + 1) * 8;

		saved_is(IN_LONG, (uint32_t)selector, selector != 8);
		take_sample(&scene, selector);
		assert_int_equal(calls, 1);
		assert_int_equal(scene.cpu.x86.is_compat, selector == 8);
	}
}

static void without_an_answer_code_is_64_bit_code(void **state)
{
	struct scene scene = {.xen = fake_xen()};

	(void)state;
	fails = true;
	assert_true(take_sample(&scene, KERNEL));
	assert_int_equal(scene.cpu.x86.efer, X86_EFER_LMA);
	assert_false(scene.cpu.x86.is_compat);
	assert_false(take_sample(&scene, KERNEL));
	assert_int_equal(calls, 0);
}

static void code_of_a_32_bit_kernel_needs_no_segment(void **state)
{
	struct scene scene = {.xen = fake_xen()};

	(void)state;
	fails = false;
	saved_is(0, KERNEL, false);
	assert_true(take_sample(&scene, KERNEL));
	assert_false(take_sample(&scene, USER_32));
	assert_int_equal(calls, 0);
	assert_false(scene.cpu.x86.is_compat);
	assert_int_equal(cpu_kind(&scene.cpu), CPU_X86_32);
}

/* Two pages of descriptors of a PV guest, at frames 7 and 9: code of 64 and of 32 bits.
 */
#define CODE_64 0x00affb000000ffff
#define CODE_32 0x00cffb000000ffff
#define SECOND	(8 * 512) /* the first selector of the second page */

static uint64_t descriptors[2][512];
static unsigned int reads;

static const void *fake_page(void *context, uint64_t frame)
{
	reads++;
	if (*(bool *)context || (frame != 7 && frame != 9))
		return NULL;
	return descriptors[frame == 9];
}

/* Learns the segment of a sample of a PV guest. */
static bool sample_pv(struct scene *scene, uint64_t selector)
{
	vcpu_guest_context_t context = {
		.flags = VGCF_in_kernel, .gdt_frames = {7, 9}, .gdt_ents = 512 + 8};
	const struct guest_memory memory = {.page = fake_page, .context = &fails};

	context.user_regs.cs = (uint16_t)selector;
	reads = 0;
	registers_take(&scene->xen, GUEST_PV, &context, &scene->mode, &scene->cpu);
	return registers_learn_segment(&context, &memory, &scene->cpu, &scene->mode);
}

static void segments_of_a_pv_guest_are_in_its_descriptor_table(void **state)
{
	struct scene scene = {.xen = fake_xen()};

	(void)state;
	fails = false;
	descriptors[0][USER_32 / 8] = CODE_32;
	descriptors[0][USER_64 / 8] = CODE_64;
	descriptors[1][2] = CODE_32;
	assert_false(sample_pv(&scene, USER_64));
	assert_int_equal(reads, 1);
	assert_false(scene.cpu.x86.is_compat);
	assert_true(sample_pv(&scene, USER_32));
	assert_true(scene.cpu.x86.is_compat);
	assert_int_equal(cpu_kind(&scene.cpu), CPU_X86_64);
	assert_true(sample_pv(&scene, SECOND + 2 * 8 + 3));
	assert_true(scene.cpu.x86.is_compat);
	/* Both segments are known now. */
	assert_false(sample_pv(&scene, USER_32));
	assert_int_equal(reads, 0);
	assert_true(scene.cpu.x86.is_compat);
	assert_false(sample_pv(&scene, USER_64));
	assert_int_equal(reads, 0);
	assert_false(scene.cpu.x86.is_compat);
}

static void segments_of_xen_need_no_table(void **state)
{
	struct scene scene = {.xen = fake_xen()};

	(void)state;
	fails = false;
	assert_false(sample_pv(&scene, FLAT_KERNEL_CS64));
	assert_false(scene.cpu.x86.is_compat);
	assert_true(sample_pv(&scene, FLAT_USER_CS32));
	assert_true(scene.cpu.x86.is_compat);
	assert_int_equal(reads, 0);
}

static void what_is_not_in_the_table_is_64_bit_code(void **state)
{
	static const uint64_t selectors[] = {SECOND + 8 * 8, 0xdfff, 0x27, 0x1ffff};

	(void)state;
	fails = false;
	for (size_t i = 0; i < sizeof(selectors) / sizeof(selectors[0]); i++) {
		struct scene scene = {.xen = fake_xen()};

		assert_false(sample_pv(&scene, selectors[i]));
		assert_int_equal(reads, 0);
		assert_false(scene.cpu.x86.is_compat);
	}
}

static void a_table_that_is_not_mapped_yet_is_tried_again(void **state)
{
	struct scene scene = {.xen = fake_xen()};

	(void)state;
	descriptors[0][USER_32 / 8] = CODE_32;
	fails = true;
	assert_false(sample_pv(&scene, USER_32));
	assert_false(scene.cpu.x86.is_compat);
	fails = false;
	assert_true(sample_pv(&scene, USER_32));
	assert_true(scene.cpu.x86.is_compat);
}

static void a_32_bit_pv_guest_has_no_other_code(void **state)
{
	struct scene scene = {.xen = fake_xen(), .mode.is_pv_32 = true};

	(void)state;
	fails = false;
	assert_false(sample_pv(&scene, USER_32));
	assert_int_equal(reads, 0);
	assert_false(scene.cpu.x86.is_compat);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_code_segment_is_asked_for_once),
		cmocka_unit_test(
			a_segment_other_than_the_sampled_one_is_not_taken_for_it),
		cmocka_unit_test(more_segments_than_are_kept_are_asked_for_again),
		cmocka_unit_test(without_an_answer_code_is_64_bit_code),
		cmocka_unit_test(code_of_a_32_bit_kernel_needs_no_segment),
		cmocka_unit_test(segments_of_a_pv_guest_are_in_its_descriptor_table),
		cmocka_unit_test(segments_of_xen_need_no_table),
		cmocka_unit_test(what_is_not_in_the_table_is_64_bit_code),
		cmocka_unit_test(a_table_that_is_not_mapped_yet_is_tried_again),
		cmocka_unit_test(a_32_bit_pv_guest_has_no_other_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 0;
}

#endif
