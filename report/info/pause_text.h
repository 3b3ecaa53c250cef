/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_INFO_PAUSE_TEXT_H
#define UNIPROF_REPORT_INFO_PAUSE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/pauses.h"

/* Writes how long the guest (or @several) was paused, as numbers and as a bar for each
 * octave. @duration is that of the recording, in ns, or 0 if unknown. */
void pause_text_write(FILE *out, const struct pauses *pauses, uint64_t duration,
		      bool several);

#endif
