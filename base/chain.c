/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

const char *chain_end_name(unsigned int end)
{
	static const char *const names[] = {
		[CHAIN_WHOLE] = "whole",
		[CHAIN_TOO_DEEP] = "too many frames",
		[CHAIN_NOT_PRESENT] = "not mapped by the guest",
		[CHAIN_NOT_CANONICAL] = "not a canonical address",
		[CHAIN_NOT_ASCENDING] = "frames not ascending",
		[CHAIN_UNALIGNED] = "unaligned frame pointer",
		[CHAIN_NO_PAGE] = "no memory at the address",
		[CHAIN_NOT_READY] = "memory not mapped in time",
		[CHAIN_NOT_CALLED] = "no call leads there",
		[CHAIN_REAL_MODE] = "real mode",
		[CHAIN_NOT_CAPTURED] = "not captured",
		[CHAIN_UNKNOWN] = "no further frame",
		[CHAIN_EARLY] = "before the code was examined",
	};

	return ARRAY_NAME(names, end);
}

const char *unwind_way_name(unsigned int way)
{
	static const char *const names[] = {
		[UNWIND_BY_FRAMES] = "by frame pointers",
		[UNWIND_BY_TABLE] = "by a table",
		[UNWIND_BY_FOUND_CODE] = "by frame pointers or, where these are missing, "
					 "by code in memory",
		[UNWIND_BY_TABLE_LATER] = "by a table, from when its code was found",
		[UNWIND_LATER] = "in reports, from captured stacks",
	};

	return ARRAY_NAME(names, way);
}

/* Others of KVM's reasons, by their numbers. */
static const char *kvm_reason(uint64_t reason)
{
	static const char *const names[] = {
		[7] = "interrupt window",  [8] = "shutdown",
		[9] = "failed entry",	   [10] = "signal",
		[12] = "tpr access",	   [16] = "nmi",
		[17] = "internal error",   [24] = "system event",
		[26] = "end of interrupt", [27] = "hyper-v",
		[29] = "msr read",	   [30] = "msr write",
		[33] = "bus lock",	   [34] = "xen",
		[39] = "memory fault",
	};

	return reason < sizeof(names) / sizeof(*names) ? names[reason] : NULL;
}

/* What the kernel waited for. */
static const char *wait_reason(uint64_t wait)
{
	static const char *const names[] = {
		[EXIT_WAIT_OTHER] = "wait",
		[EXIT_WAIT_PAGE] = "wait for page",
		[EXIT_WAIT_USERFAULT] = "wait for userfault",
		[EXIT_WAIT_LOCK] = "wait for lock",
		[EXIT_WAIT_MEMORY] = "wait for memory",
	};

	return names[wait < sizeof(names) / sizeof(*names) ? wait : EXIT_WAIT_OTHER];
}

void exit_reason(uint64_t exit, char text[EXIT_NAME_SIZE])
{
	static const char *const names[16] = {
		[VMEXIT_IN] = "io in",	     [VMEXIT_OUT] = "io out",
		[VMEXIT_READ] = "mmio read", [VMEXIT_WRITE] = "mmio write",
		[VMEXIT_HALT] = "halt",	     [VMEXIT_HYPERCALL] = "hypercall",
	};
	unsigned int kind = exit & 15;
	uint64_t detail = exit >> 4;
	const char *reason = names[kind];

	if (kind == VMEXIT_KVM)
		reason = kvm_reason(detail);
	else if (kind == VMEXIT_WAIT)
		reason = wait_reason(detail);
	if (kind == VMEXIT_IN || kind == VMEXIT_OUT)
		snprintf(text, EXIT_NAME_SIZE, "%s 0x%" PRIx64, reason, detail);
	else if (kind == VMEXIT_READ || kind == VMEXIT_WRITE)
		snprintf(text, EXIT_NAME_SIZE, "%s 0x%" PRIx64, reason, detail << 12);
	else if (reason || kind != VMEXIT_KVM)
		snprintf(text, EXIT_NAME_SIZE, "%s", reason ? reason : "unknown");
	else
		snprintf(text, EXIT_NAME_SIZE, "reason %" PRIu64, detail);
}

void exit_name(uint64_t exit, char name[EXIT_NAME_SIZE])
{
	char reason[EXIT_NAME_SIZE];

	exit_reason(exit, reason);
	snprintf(name, EXIT_NAME_SIZE, "[exit: %.*s]", EXIT_NAME_SIZE - 9, reason);
}

static const struct mark {
	uint64_t address;
	const char *name;
} marks[] = {
	{CHAIN_GAP, "[...]"},
	{CHAIN_INTERRUPT, "[interrupt]"},
};

const char *chain_mark_name(uint64_t address)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (marks[i].address == address)
			return marks[i].name;
	return NULL;
}

uint64_t chain_mark(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (strlen(marks[i].name) == length &&
		    memcmp(marks[i].name, name, length) == 0)
			return marks[i].address;
	return 0;
}
