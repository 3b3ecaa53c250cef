/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A domctl interface newer than the known ones. Xen is a fake, because no Xen of the lab
 * has such an interface, let alone one with other layouts.
 */

#define _GNU_SOURCE 1
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "xen/newer.h"

#include <xen/version.h>

#define KIB(mib) ((uint64_t)(mib) << 10)

/* The fake Xen: the domctl version that it accepts, and its differences from a real one.
 */
static struct {
	uint32_t version;
	int release;
	bool moved;	      /* something was inserted before the memory sizes */
	size_t context;	      /* bytes of registers that it writes */
	unsigned int domctls; /* made with the version that it accepts */
} fake;

static _Alignas(4096) char scratch[4096];

static const uint8_t uuid[16] = {0xc0, 0xff, 0xee, 3,  4,  5,  6,  7,
				 8,    9,    10,   11, 12, 13, 14, 15};
#define VM "/vm/c0ffee03-0405-0607-0809-0a0b0c0d0e0f"

/* Domain 0, and PVH guest 5 with four vCPUs, one of them offline. */
static struct xen_domctl_getdomaininfo describe(uint32_t id)
{
	struct xen_domctl_getdomaininfo info = {
		.domain = (domid_t)id,
		.flags = id ? XEN_DOMINF_hvm_guest | XEN_DOMINF_blocked
			    : XEN_DOMINF_running,
		.tot_pages = KIB(id ? 64 : 512) / 4,
		.cpu_time = 4000000000,
		.nr_online_vcpus = 3,
		.max_vcpu_id = 3,
	};

	if (id)
		memcpy(info.handle, uuid, sizeof(uuid));
	return info;
}

static int answer_vcpu(struct xen_domctl_getvcpuinfo *info)
{
	if (info->vcpu > 3) {
		errno = EINVAL;
		return -1;
	}
	info->online = info->vcpu < 3;
	info->blocked = 1;
	info->cpu_time = 1000000000;
	return 0;
}

static int fake_call1(xencall_handle *call, unsigned int op, uint64_t argument)
{
	struct xen_domctl *domctl = (void *)(uintptr_t)argument;

	(void)call;
	assert_int_equal(op, __HYPERVISOR_domctl);
	if (domctl->interface_version != fake.version) {
		errno = EACCES;
		return -1;
	}
	fake.domctls++;
	switch (domctl->cmd) {
	case XEN_DOMCTL_getdomaininfo:
		if (domctl->domain != 0 && domctl->domain != 5) {
			errno = ESRCH;
			return -1;
		}
		domctl->u.getdomaininfo = describe(domctl->domain);
		if (fake.moved)
			memmove(&domctl->u.getdomaininfo.max_pages,
				&domctl->u.getdomaininfo.tot_pages,
				sizeof(domctl->u) -
					offsetof(struct xen_domctl_getdomaininfo,
						 max_pages));
		return 0;
	case XEN_DOMCTL_getvcpuinfo:
		return answer_vcpu(&domctl->u.getvcpuinfo);
	case XEN_DOMCTL_getvcpucontext:
		memset(domctl->u.vcpucontext.ctxt.p, 0, fake.context);
		return 0;
	default:
		fail_msg("a check must not make domctl %u", domctl->cmd);
		return -1;
	}
}

static int fake_call2(xencall_handle *call, unsigned int op, uint64_t first,
		      uint64_t second)
{
	(void)call;
	(void)second;
	assert_int_equal(op, __HYPERVISOR_xen_version);
	assert_int_equal(first, XENVER_version);
	return fake.release;
}

static void *fake_pages(xencall_handle *call, size_t pages)
{
	(void)call;
	return aligned_alloc(4096, pages * 4096);
}

static void fake_free(xencall_handle *call, void *pages, size_t count)
{
	(void)call;
	(void)count;
	free(pages);
}

static char **fake_directory(struct xs_handle *store, xs_transaction_t transaction,
			     const char *path, unsigned int *count)
{
	(void)store;
	(void)transaction;
	if (strcmp(path, "/local/domain/5/cpu") != 0)
		return NULL;
	*count = 4;
	return calloc(4, sizeof(char *));
}

static void *fake_read(struct xs_handle *store, xs_transaction_t transaction,
		       const char *path, unsigned int *length)
{
	static const char *const nodes[][2] = {
		{"/local/domain/0/name", "Domain-0"},
		{"/local/domain/0/memory/target", "524288"},
		{"/local/domain/5/vm", VM},
		{"/local/domain/5/memory/target", "65536"},
		{"/local/domain/5/memory/static-max", "65536"},
		{"/libxl/5/type", "pvh"},
	};

	(void)store;
	(void)transaction;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		if (strcmp(path, nodes[i][0]) != 0)
			continue;
		*length = (unsigned int)strlen(nodes[i][1]);
		return strdup(nodes[i][1]);
	}
	return NULL;
}

static struct xen new_xen(uint32_t version)
{
	memset(&fake, 0, sizeof(fake));
	fake.version = version;
	fake.release = 4 << 16 | 23;
	fake.context = sizeof(vcpu_guest_context_t);
	return (struct xen){.host.version = "Xen 4.23.0",
			    .lib = {.call1 = fake_call1,
				    .call2 = fake_call2,
				    .alloc_pages = fake_pages,
				    .free_pages = fake_free,
				    .store_directory = fake_directory,
				    .store_read = fake_read},
			    .scratch = scratch,
			    .store = (void *)scratch};
}

static struct newer_answers good_answers(void)
{
	struct newer_answers answers = {
		.before = describe(5), .found = 4, .online = 3, .ran = 4000000000};

	answers.after = answers.before;
	return answers;
}

static const struct store_facts good_facts = {
	.type = "pvh", .vm = VM, .target = KIB(64), .maximum = KIB(64), .vcpus = 4};

static void answers_that_agree_with_xenstore_fit(void **state)
{
	const struct store_facts nothing = {0};
	struct newer_answers answers = good_answers();

	(void)state;
	assert_null(newer_misfit(5, &answers, &good_facts));
	assert_null(newer_misfit(5, &answers, &nothing));
	/* It ran while its vCPUs were queried. */
	answers.ran += 3000000;
	answers.after.cpu_time += 4000000;
	assert_null(newer_misfit(5, &answers, &good_facts));
	/* A graphics card's memory, and a balloon halfway down. */
	answers.before.tot_pages += KIB(16) / 4;
	assert_null(newer_misfit(5, &answers, &good_facts));
	answers.before.tot_pages = KIB(40) / 4;
	assert_null(newer_misfit(5, &answers, &good_facts));
}

#define EXPECT_MISFIT(what, change)                                         \
	do {                                                                \
		struct newer_answers answers = good_answers();              \
		change;                                                     \
		assert_non_null(newer_misfit(5, &answers, &good_facts));    \
		assert_string_equal(newer_misfit(5, &answers, &good_facts), \
				    "its " what);                           \
	} while (0)

static void each_field_that_does_not_fit_is_found(void **state)
{
	struct newer_answers odd = good_answers();

	(void)state;
	EXPECT_MISFIT("id", answers.before.domain = 6);
	EXPECT_MISFIT("type or state", answers.before.flags = 0);
	EXPECT_MISFIT("memory", answers.before.tot_pages = 0);
	EXPECT_MISFIT("memory", answers.before.tot_pages = KIB(31) / 4);
	EXPECT_MISFIT("memory", answers.before.tot_pages = KIB(129) / 4);
	EXPECT_MISFIT("memory", answers.before.tot_pages = UINT64_MAX);
	EXPECT_MISFIT("number of vCPUs", answers.before.max_vcpu_id = 2);
	EXPECT_MISFIT("online vCPUs", answers.before.nr_online_vcpus = 4);
	EXPECT_MISFIT("online vCPUs", answers.found = 5);
	EXPECT_MISFIT("CPU time", answers.ran -= 2000000);
	EXPECT_MISFIT("CPU time", answers.ran += 2000000);
	EXPECT_MISFIT("UUID", answers.before.handle[15]++);
	EXPECT_MISFIT("UUID",
		      memmove(answers.before.handle + 4, answers.before.handle, 12));
	odd.odd = true;
	assert_string_equal(newer_misfit(5, &odd, &good_facts), "the state of a vCPU");
}

static void a_pv_guest_is_not_an_hvm_guest(void **state)
{
	struct store_facts facts = good_facts;
	struct newer_answers answers = good_answers();

	(void)state;
	strcpy(facts.type, "pv");
	assert_string_equal(newer_misfit(5, &answers, &facts), "its type or state");
	answers.before.flags = XEN_DOMINF_blocked;
	assert_null(newer_misfit(5, &answers, &facts));
}

static void the_domain_that_asks_runs_and_has_run(void **state)
{
	const struct store_facts facts = {.target = KIB(512)};
	struct newer_answers answers = good_answers();

	(void)state;
	answers.before = describe(0);
	assert_null(newer_misfit(0, &answers, &facts));
	answers.before.flags |= XEN_DOMINF_paused;
	assert_string_equal(newer_misfit(0, &answers, &facts), "its type or state");
	answers.before.flags = 0;
	assert_string_equal(newer_misfit(0, &answers, &facts), "its type or state");
	/* All zeros agree with each other. */
	answers.before = describe(0);
	answers.before.cpu_time = answers.ran = answers.after.cpu_time = 0;
	assert_string_equal(newer_misfit(0, &answers, &facts), "its CPU time");
}

static void known_versions_are_used_without_a_question(void **state)
{
	(void)state;
	for (uint32_t version = 0x0b; version <= DOMCTL_NEWEST; version++) {
		struct xen xen = new_xen(version);
		struct error err;

		assert_int_equal(xen_find_domctl_version(&xen, false, &err), 0);
		assert_int_equal(xen.host.domctl_version, version);
		assert_string_equal(xen.host.note, "");
		assert_int_equal(fake.domctls, 1);
		assert_int_equal(newer_check(&xen, 5, &err), 0);
		assert_int_equal(fake.domctls, 1);
	}
}

static void a_newer_version_that_fits_is_used_with_a_note(void **state)
{
	struct xen xen = new_xen(DOMCTL_NEWEST + 1);
	struct error err;

	(void)state;
	assert_int_equal(xen_find_domctl_version(&xen, false, &err), 0);
	assert_int_equal(xen.host.domctl_version, 0x19);
	assert_string_equal(
		xen.host.note,
		"Xen 4.23.0 has domctl interface version 0x19, newer than the "
		"0x18 that this uniprof knows; it is used because its answers "
		"fit");
	assert_int_equal(newer_check(&xen, 5, &err), 0);
	/* A domain that has ended is left to the caller. */
	assert_int_equal(newer_check(&xen, 6, &err), 0);
}

static void expect_refusal(struct xen *xen, uint32_t id, const char *what)
{
	struct error err = {0};

	assert_int_equal(newer_check(xen, id, &err), -1);
	assert_non_null(strstr(err.text, what));
	assert_non_null(strstr(err.text, "--force"));
}

static void a_newer_version_that_does_not_fit_is_refused(void **state)
{
	struct xen xen = new_xen(DOMCTL_NEWEST + 1);
	struct error err;

	(void)state;
	fake.moved = true;
	assert_int_equal(xen_find_domctl_version(&xen, false, &err), -1);
	expect_refusal(&xen, 0, "its answers for domain 0 do not fit: its online vCPUs");
	expect_refusal(&xen, 5, "domain 5 do not fit: its number of vCPUs");
}

static void registers_of_another_size_are_refused(void **state)
{
	struct xen xen = new_xen(DOMCTL_NEWEST + 1);
	struct error err;

	(void)state;
	assert_int_equal(xen_find_domctl_version(&xen, false, &err), 0);
	fake.context = sizeof(vcpu_guest_context_t) + 8;
	expect_refusal(&xen, 5, "domain 5 do not fit: its registers");
	fake.context = sizeof(vcpu_guest_context_t) - 8;
	expect_refusal(&xen, 5, "domain 5 do not fit: its registers");
}

static void a_newer_version_of_an_old_xen_is_refused(void **state)
{
	struct xen xen = new_xen(DOMCTL_NEWEST + 1);
	struct error err;

	(void)state;
	fake.release = 4 << 16 | 22;
	assert_int_equal(xen_find_domctl_version(&xen, false, &err), -1);
	assert_non_null(strstr(err.text, "its own version does not fit"));
	fake.release = 5 << 16;
	assert_int_equal(xen_find_domctl_version(&xen, false, &err), 0);
}

static void without_xenstore_a_newer_version_is_refused(void **state)
{
	struct xen xen = new_xen(DOMCTL_NEWEST + 1);
	struct error err;

	(void)state;
	xen.store = NULL;
	assert_int_equal(xen_find_domctl_version(&xen, false, &err), -1);
	assert_non_null(strstr(err.text, "it can't be checked: can't reach xenstore"));
}

static void force_uses_a_newer_version_unchecked(void **state)
{
	struct xen xen = new_xen(DOMCTL_NEWEST + 8);
	struct error err;

	(void)state;
	fake.moved = true;
	assert_int_equal(xen_find_domctl_version(&xen, true, &err), 0);
	assert_non_null(strstr(xen.host.note, "used unchecked (--force)"));
	assert_int_equal(newer_check(&xen, 5, &err), 0);
	assert_int_equal(fake.domctls, 1);
}

static void versions_far_newer_or_older_are_never_used(void **state)
{
	static const uint32_t versions[] = {0, 0x0a, DOMCTL_NEWEST + 9, UINT32_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct xen xen = new_xen(versions[i]);
		struct error err;

		assert_int_equal(xen_find_domctl_version(&xen, true, &err), -1);
		assert_non_null(strstr(err.text, "none of the domctl interface versions "
						 "0xb to 0x20"));
	}
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_that_agree_with_xenstore_fit),
		cmocka_unit_test(each_field_that_does_not_fit_is_found),
		cmocka_unit_test(a_pv_guest_is_not_an_hvm_guest),
		cmocka_unit_test(the_domain_that_asks_runs_and_has_run),
		cmocka_unit_test(known_versions_are_used_without_a_question),
		cmocka_unit_test(a_newer_version_that_fits_is_used_with_a_note),
		cmocka_unit_test(a_newer_version_that_does_not_fit_is_refused),
		cmocka_unit_test(registers_of_another_size_are_refused),
		cmocka_unit_test(a_newer_version_of_an_old_xen_is_refused),
		cmocka_unit_test(without_xenstore_a_newer_version_is_refused),
		cmocka_unit_test(force_uses_a_newer_version_unchecked),
		cmocka_unit_test(versions_far_newer_or_older_are_never_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
