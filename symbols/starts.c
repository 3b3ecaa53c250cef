/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/starts.h"

#include <stddef.h>
#include <string.h>

/* The names in the sources of: C libraries (glibc, musl, newlib); Go (src/runtime); Linux
 * (arch/x86/kernel/head_64.S and entry_64.S, arch/arm64/kernel/head.S and entry.S);
 * Unikraft (plat/kvm, plat/xen); Mini-OS (arch/x86); Solo5. */
static const char *const starts[] = {
	"_start",
	"__start",
	"_dl_start_user",
	"clone",
	"__clone",
	"__clone3",
	"__clone_internal",
	"thread_start",
	"runtime.goexit",
	"runtime.goexit.abi0",
	"runtime.mstart",
	"runtime.mstart.abi0",
	"runtime.rt0_go",
	"runtime.rt0_go.abi0",
	"startup_64",
	"secondary_startup_64",
	"secondary_startup_64_no_verify",
	"x86_64_start_kernel",
	"ret_from_fork",
	"ret_from_fork_asm",
	"__primary_switched",
	"__secondary_switched",
	"_libkvmplat_entry",
	"_libxenplat_x86entry",
	"_ukplat_entry2",
	"thread_starter",
	"_newstack",
};

bool symbols_is_start(const char *name)
{
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (strcmp(name, starts[i]) == 0)
			return true;
	return false;
}
