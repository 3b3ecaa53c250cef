/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_ENDS_H
#define UNIPROF_REPORT_LOAD_ENDS_H

#include "report/load/load.h"

/*
 * Adds the contents of INFO and END to @summary, for a recording in a file, without
 * reading the chunks between them (only their headers are read). False if that is not
 * possible (a pipe, damage, no END, a read error): @summary is then unchanged, and
 * load_recording() is needed. The file offset doesn't change.
 */
bool ends_read(const struct input *input, struct summary *summary);

#endif
