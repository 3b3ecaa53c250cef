/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_XL_H
#define UNIPROF_COMMANDS_XL_H

#include "base/error.h"
#include "commands/child.h"

/* Xen's toolstack, the program xl(1). */

#define XL_NAME_SIZE 256

/* Reads the name of the guest that an xl configuration (xl.cfg(5)) describes. -1 with
 * @err set if the file can't be read or has no name. */
int xl_config_name(const char *path, char name[XL_NAME_SIZE], struct error *err);

/* 1 if there is a domain with this name, 0 if there is none, -1 with @err set if xl can't
 * be run. */
int xl_exists(struct children *children, const char *name, struct error *err);

/* Creates and starts the guest. -1 with @err set on failure; xl has printed the reason.
 */
int xl_create(struct children *children, const char *config, struct error *err);

/* Destroys the domain with this name. -1 with @err set on failure; xl has printed the
 * reason. */
int xl_destroy(struct children *children, const char *name, struct error *err);

#endif
