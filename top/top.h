/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TOP_TOP_H
#define UNIPROF_TOP_TOP_H

#include "top/live.h"
#include "top/options.h"
#include "top/view.h"
#include "top/recent.h"

/* One run of the command. */
struct top {
	struct top_options options;
	struct live live;
	struct input input; /* the recording: the recorder's pipe, or a file */
	struct recent recent;
	struct view view;
};

/* When to look at a file again that is written by another process. */
#define TOP_LOOK_NS (NS_PER_S / 10)

/* The descriptor to wait for; -1 for a file, which must be looked at. */
int top_descriptor(const struct top *top);

#endif
