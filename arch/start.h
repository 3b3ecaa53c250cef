/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_START_H
#define UNIPROF_ARCH_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of code before and behind a return address that are enough to examine. */
#define START_BEFORE 128
#define START_BEHIND 64

/*
 * Whether x86-64 or arm64 code starts a stack: it clears the frame pointer register,
 * calls without changing the register again, and never returns. This marks the outermost
 * frame (System V ABI for AMD64, section 3.4.1; AAPCS64, section 6.4.6). @code has @size
 * bytes around the call's return address @address, which is at @code + @at. Takes bounded
 * time, whatever the code is.
 */
bool code_is_start(bool is_arm64, const uint8_t *code, size_t size, size_t at,
		   uint64_t address);

#endif
