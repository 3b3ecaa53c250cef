/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_ARCHIVE_NAMES_H
#define UNIPROF_REPORT_ARCHIVE_NAMES_H

#include "format/writer.h"
#include "report/model/profile.h"

/*
 * Writes the programs of a profile that was read, and the names of all addresses in its
 * call chains, as far as they are from symbol files or from such a recording, with their
 * lines if the profile has any. Names must not be demangled. *@count is set to the number
 * of names. -1 with @err set.
 */
int archive_names_write(const struct profile *profile, struct writer *writer,
			uint64_t *count, struct error *err);

#endif
