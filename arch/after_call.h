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

/*
 * Whether a return address is where Go begins a goroutine: as if the function goexit had
 * called it at its first instruction, which does nothing and precedes a call. @end: the
 * end of the code before it, at least 4 bytes; @next: the 4 bytes from it on.
 */
bool is_in_goexit(bool is_arm64, uint64_t address, const uint8_t *end,
		  const uint8_t *next);

#endif
