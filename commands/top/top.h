/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_TOP_H
#define UNIPROF_COMMANDS_TOP_TOP_H

#include "base/clock.h"
#include "commands/top/feed.h"
#include "commands/top/messages.h"
#include "commands/top/options.h"
#include "commands/top/view.h"
#include "commands/top/recent.h"

/* One run of the command. */
struct top {
	struct top_options options;
	struct live live;
	struct input input; /* the recording: the recorder's pipe, or a file */
	struct recent recent;
	struct view view;
	struct messages messages;
	/* Chosen by keys: the domains, and symbol files, which are freed at the end. */
	char domain[256];
	char **specs;
	size_t spec_count;
};

/* When to look at a file again that is written by another process. */
#define TOP_LOOK_NS (NS_PER_S / 10)

/* The descriptor to wait for; -1 for a file, which must be looked at. */
int top_descriptor(const struct top *top);

#endif
