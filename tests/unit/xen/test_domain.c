/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Details of domains. Xen's libraries are fakes: a xenstored that never answers is
 * possible in the lab only, and would break everything run after it.
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

#include "base/clock.h"
#include "xen/internal.h"
#include "xen/store.h"

static char scratch[4096];

/* What Xen says of the PV guest: bits, or -errno. */
static int address_size;

static int fake_address_size(struct xen_domctl *domctl)
{
	assert_int_equal(domctl->domain, 12);
	if (address_size < 0) {
		errno = -address_size;
		return -1;
	}
	domctl->u.address_size.size = (uint32_t)address_size;
	return 0;
}

/* Domains 0, 5 and 12; 12 is a PV guest, and 0x7ff0 is not a guest. */
static int fake_call(xencall_handle *call, unsigned int op, uint64_t argument)
{
	struct xen_domctl *domctl = (void *)(uintptr_t)argument;
	struct xen_domctl_getdomaininfo *info = &domctl->u.getdomaininfo;

	(void)call;
	(void)op;
	if (domctl->cmd == XEN_DOMCTL_get_address_size)
		return fake_address_size(domctl);
	assert_int_equal(domctl->cmd, XEN_DOMCTL_getdomaininfo);
	if (domctl->domain != 0 && domctl->domain != 5 && domctl->domain != 12) {
		errno = ESRCH;
		return -1;
	}
	info->domain = domctl->domain;
	info->flags = domctl->domain == 12 ? 0 : XEN_DOMINF_hvm_guest;
	info->max_vcpu_id = 3;
	return 0;
}

static char **fake_directory(struct xs_handle *store, xs_transaction_t transaction,
			     const char *path, unsigned int *count)
{
	/* In one block, as the library returns it; 9 has ended meanwhile. */
	static const char names[] = "12\0005\0009\0000";
	char **directory = malloc(4 * sizeof(*directory) + sizeof(names));
	char *at = (char *)(directory + 4);

	(void)store;
	(void)transaction;
	assert_string_equal(path, "/local/domain");
	memcpy(at, names, sizeof(names));
	for (*count = 0; *count < 4; at += strlen(at) + 1)
		directory[(*count)++] = at;
	return directory;
}

static void *fake_read(struct xs_handle *store, xs_transaction_t transaction,
		       const char *path, unsigned int *length)
{
	const char *value = NULL;

	(void)store;
	(void)transaction;
	if (strcmp(path, "/local/domain/5/name") == 0)
		value = "web";
	if (strcmp(path, "/libxl/5/type") == 0)
		value = "pvh";
	if (!value)
		return NULL;
	*length = (unsigned int)strlen(value);
	return strdup(value);
}

static char **silent_directory(struct xs_handle *store, xs_transaction_t transaction,
			       const char *path, unsigned int *count)
{
	for (;;)
		pause();
	return fake_directory(store, transaction, path, count);
}

static void *silent_read(struct xs_handle *store, xs_transaction_t transaction,
			 const char *path, unsigned int *length)
{
	for (;;)
		pause();
	return fake_read(store, transaction, path, length);
}

static struct xen fake_xen(void)
{
	return (struct xen){.lib = {.call1 = fake_call,
				    .store_directory = fake_directory,
				    .store_read = fake_read},
			    .scratch = scratch,
			    .store = (void *)scratch};
}

static void domains_are_listed_by_id_with_names_from_xenstore(void **state)
{
	struct xen xen = fake_xen();
	struct guest_info *guests;
	struct error err;
	size_t count;

	(void)state;
	assert_int_equal(xen_domain_list(&xen.host, &guests, &count, &err), 0);
	assert_int_equal(count, 3);
	assert_int_equal(guests[0].id, 0);
	assert_int_equal(guests[0].type, GUEST_PVH);
	assert_int_equal(guests[1].id, 5);
	assert_int_equal(guests[1].type, GUEST_PVH);
	assert_string_equal(guests[1].name, "web");
	assert_int_equal(guests[1].vcpus, 4);
	assert_int_equal(guests[2].id, 12);
	assert_int_equal(guests[2].type, GUEST_PV);
	assert_string_equal(guests[2].name, "");
	free(guests);
}

static void reserved_domain_ids_are_refused(void **state)
{
	struct xen xen = fake_xen();
	struct guest_info info;
	struct error err;

	(void)state;
	assert_int_equal(xen_domain_info(&xen.host, 5, &info, &err), 0);
	assert_int_equal(xen_domain_info(&xen.host, 6, &info, &err), 1);
	/* Not domain 5, to which it would be truncated. */
	assert_int_equal(xen_domain_info(&xen.host, 65536 + 5, &info, &err), 1);
}

static void only_pv_guests_are_asked_for_their_size(void **state)
{
	struct xen xen = fake_xen();
	struct guest_info info;
	struct error err;

	(void)state;
	address_size = 32;
	assert_int_equal(xen_domain_info(&xen.host, 12, &info, &err), 0);
	assert_true(xen_domain_is_pv_32(&xen, &info));
	assert_int_equal(xen_domain_check(&info, &err), 0);
	address_size = 64;
	assert_false(xen_domain_is_pv_32(&xen, &info));
	address_size = -ENOSYS;
	assert_false(xen_domain_is_pv_32(&xen, &info));
	address_size = 32;
	assert_int_equal(xen_domain_info(&xen.host, 5, &info, &err), 0);
	assert_false(xen_domain_is_pv_32(&xen, &info));
}

static void an_unresponsive_xenstored_is_given_up(void **state)
{
	struct xen *xen = malloc(sizeof(*xen));
	uint64_t begun = clock_monotonic();
	struct guest_info *guests, info;
	struct error err;
	size_t count;

	(void)state;
	*xen = fake_xen();
	xen->lib.store_directory = silent_directory;
	xen->lib.store_read = silent_read;
	assert_int_equal(xen_domain_list(&xen->host, &guests, &count, &err), -1);
	assert_non_null(strstr(err.text, "did not answer for 5 s"));
	assert_true(clock_monotonic() - begun < (STORE_PATIENCE_S + 2) * NS_PER_S);

	/* There is no second wait; domains can still be sampled by id. */
	begun = clock_monotonic();
	assert_int_equal(xen_domain_list(&xen->host, &guests, &count, &err), -1);
	assert_int_equal(xen_domain_info(&xen->host, 12, &info, &err), 0);
	assert_int_equal(info.type, GUEST_PV);
	assert_string_equal(info.name, "");
	assert_true(clock_monotonic() - begun < NS_PER_S);
	/* The waiting thread owns @xen. */
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(domains_are_listed_by_id_with_names_from_xenstore),
		cmocka_unit_test(reserved_domain_ids_are_refused),
		cmocka_unit_test(only_pv_guests_are_asked_for_their_size),
		cmocka_unit_test(an_unresponsive_xenstored_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
