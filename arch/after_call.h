/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_AFTER_CALL_H
#define UNIPROF_ARCH_AFTER_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/guest.h"

/* Bytes of code before a return address needed to detect a call. */
#define AFTER_CALL_BYTES 8

/*
 * Whether the @count bytes of code before the return address @address, up to @end, end
 * with a call. x86 encodes calls alike in 32-bit and 64-bit code. AArch32 code may be ARM
 * or Thumb code; @address is even for both. False for an unknown kind of CPU.
 */
bool cpu_kind_is_after_call(enum cpu_kind kind, const uint8_t *end, size_t count,
			    uint64_t address);

#endif
