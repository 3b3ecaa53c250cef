/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_PAUSE_TEXT_H
#define UNIPROF_REPORT_PAUSE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/pauses.h"

/* Writes how long the guest was stopped, or @several, in figures and as a bar for each
 * octave. @duration is the recording's, in ns, or 0. */
void pause_text_write(FILE *out, const struct pauses *pauses, uint64_t duration,
		      bool several);

#endif
