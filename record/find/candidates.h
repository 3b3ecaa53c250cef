/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FIND_CANDIDATES_H
#define UNIPROF_RECORD_FIND_CANDIDATES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Which files a VMM's command line, or a domain's configuration, names as the guest's
 * kernel, and which files beside these have its symbols. Only texts are looked at; no
 * file is.
 */

#define CANDIDATES_MAX 16
#define CANDIDATE_SIZE 4096

/* Paths, as the VMM's own process would open them. Starts as zeros. */
struct candidates {
	char path[CANDIDATES_MAX][CANDIDATE_SIZE];
	size_t count;
	char config[CANDIDATE_SIZE]; /* a file with Firecracker's or libxl's
					configuration, in JSON; empty: none */
};

/*
 * Adds the files that a command line names (/proc/PID/cmdline: @length bytes, each
 * argument ends with a 0; the last one may be cut, and is then ignored). @vmm is the
 * VMM's kind, such as "QEMU" (struct guest_info). A path that is too long is left out.
 */
void candidates_add(struct candidates *candidates, const char *vmm, const char *arguments,
		    size_t length);

/* Sets the file in which libxl, by which xl and libvirt start Xen's domains, keeps the
 * configuration of domain @id. */
void candidates_add_domain(struct candidates *candidates, uint32_t id,
			   const uint8_t *uuid);

/* Adds the kernel that a configuration names. */
void candidates_add_config(struct candidates *candidates, const char *json,
			   size_t length);

/* Adds the paths at which a guest's file @path may have its symbols, if it is stripped:
 * of Unikraft's images and Linux' boot images. */
void candidates_add_beside(struct candidates *candidates, const char *path);

#endif
