/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands for libxencall on a Xen whose domctl interface has another version:
 * it accepts only $FAKE_VERSION, as do_domctl() in xen/common/domctl.c does.
 * The lab has a single Xen, so this one thing is a fake.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *xencall_open(void *logger, unsigned int flags);
int xencall_close(void *call);
int xencall1(void *call, unsigned int op, uint64_t arg);
int xencall2(void *call, unsigned int op, uint64_t arg1, uint64_t arg2);
void *xencall_alloc_buffer_pages(void *call, size_t pages);
void xencall_free_buffer_pages(void *call, void *buffer, size_t pages);

void *xencall_open(void *logger, unsigned int flags)
{
	static int handle;

	(void)logger;
	(void)flags;
	return &handle;
}

int xencall_close(void *call)
{
	(void)call;
	return 0;
}

int xencall1(void *call, unsigned int op, uint64_t arg)
{
	const char *wanted = getenv("FAKE_VERSION");
	uint32_t version;

	(void)call;
	(void)op;
	memcpy(&version, (char *)(uintptr_t)arg + 4, sizeof(version));
	if (wanted && version == strtoul(wanted, NULL, 0))
		return 0;
	errno = EACCES;
	return -1;
}

int xencall2(void *call, unsigned int op, uint64_t arg1, uint64_t arg2)
{
	(void)call;
	(void)op;
	(void)arg1;
	(void)arg2;
	return 9 << 16 | 9;
}

void *xencall_alloc_buffer_pages(void *call, size_t pages)
{
	(void)call;
	return calloc(pages, 4096);
}

void xencall_free_buffer_pages(void *call, void *buffer, size_t pages)
{
	(void)call;
	(void)pages;
	free(buffer);
}
