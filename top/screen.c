/* SPDX-License-Identifier: BSD-3-Clause */
#include "top/screen.h"
int screen_run(struct top *top, struct error *err)
{
	(void)top;
	return error_set(err, "not yet");
}
