/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A differential flame graph (Gregg, "Differential Flame Graphs", 2014): one recording
 * sets the widths, and the colours show by how many percentage points the frames,
 * including callees, changed from the baseline to the new recording. As in the tables,
 * percentages are of the total of each recording before filtering, so recordings of
 * different lengths can be compared.
 */
#include "output/diff/diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/flame/flame_tree.h"
#include "output/heading.h"
#include "output/write/flame_svg.h"
#include "output/write/svg.h"

#define STEPS 6 /* number of shades of a colour, up to the largest change */
/* The largest change has the full colour, unless it is less than this many points: two
 * recordings of the same work must not look different. */
#define FULL_POINTS 2.0

enum {
	COLOUR_LESS = 0,
	COLOUR_SAME = COLOUR_LESS + STEPS,
	COLOUR_MORE,
	COLOURS = COLOUR_MORE + STEPS,
};

static const char *const fills[COLOURS] = {
	[COLOUR_LESS] = "#62a8ff",
	"#7fb8ff",
	"#99c6ff",
	"#b1d3ff",
	"#c8dfff",
	"#dcebff",
	[COLOUR_SAME] = "#eeeeee",
	"#ff6f61",
	"#ff8b7e",
	"#ffa398",
	"#ffb8b0",
	"#ffcbc5",
	"#ffddd9",
};

/* Lines of the heading */
#define LINES 5

struct comparison {
	const struct diff *diff;
	struct calls *calls[DIFF_SIDES];
	const char **names;	    /* by key: in the order of strcmp() */
	uint32_t *keys[DIFF_SIDES]; /* by function */
	struct flame_tree tree;
	struct flame_frame *frames;
	double full; /* points for the full colour */
};

struct name {
	const char *text;
	uint32_t *key;
};

static int compare_names(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return strcmp(x->text, y->text);
}

/* Numbers the names of both recordings' functions: functions with equal names get one
 * key. */
static int number_names(struct comparison *comparison)
{
	uint32_t count = 0, used = 0;
	struct name *list;

	for (int side = 0; side < DIFF_SIDES; side++) {
		uint32_t own = frames_functions(comparison->diff->reports[side].frames);

		comparison->keys[side] = calloc(own, sizeof(*comparison->keys[side]));
		if (!comparison->keys[side])
			return -1;
		count += own;
	}
	list = calloc(count, sizeof(*list));
	comparison->names = calloc(count, sizeof(*comparison->names));
	if (!list || !comparison->names) {
		free(list);
		return -1;
	}
	count = 0;
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct frames *frames = comparison->diff->reports[side].frames;

		for (uint32_t i = 0; i < frames_functions(frames); i++)
			list[count++] = (struct name){frames_function_name(frames, i),
						      &comparison->keys[side][i]};
	}
	qsort(list, count, sizeof(*list), compare_names);
	for (uint32_t i = 0; i < count; i++) {
		if (i && compare_names(&list[i - 1], &list[i]) != 0)
			used++;
		comparison->names[used] = list[i].text;
		*list[i].key = used;
	}
	free(list);
	return 0;
}

/* The drawn side is added first, so that its order is as in its own flame graph. */
static int make_tree(struct comparison *comparison)
{
	const struct diff *diff = comparison->diff;
	int order[DIFF_SIDES] = {(int)diff->widths, !diff->widths};

	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct report *report = &diff->reports[side];

		comparison->calls[side] = calls_of(report->stacks, report->frames,
						   report->view.invert);
		if (!comparison->calls[side])
			return -1;
	}
	if (number_names(comparison) < 0 ||
	    flame_tree_init(&comparison->tree, diff->has_domains) < 0)
		return -1;
	for (int i = 0; i < DIFF_SIDES; i++)
		if (flame_tree_add(&comparison->tree, comparison->calls[order[i]],
				   (unsigned int)order[i],
				   comparison->keys[order[i]]) < 0)
			return -1;
	return 0;
}

static double percent_of(const struct comparison *comparison, uint32_t node,
			 enum diff_side side)
{
	uint64_t whole = comparison->diff->reports[side].measure->whole;
	uint64_t count = comparison->tree.counts[node][side];

	return whole ? 100 * (double)count / (double)whole : 0;
}

static double delta_of(const struct comparison *comparison, uint32_t node)
{
	return percent_of(comparison, node, DIFF_NEW) -
	       percent_of(comparison, node, DIFF_BASELINE);
}

static double size_of(double delta)
{
	return delta < 0 ? -delta : delta;
}

static unsigned int colour_of(const struct comparison *comparison, uint32_t node)
{
	double delta = delta_of(comparison, node);
	unsigned int step = (unsigned int)(size_of(delta) / comparison->full * STEPS +
					   0.5);

	if (!step)
		return COLOUR_SAME;
	return (delta < 0 ? COLOUR_LESS : COLOUR_MORE) + STEPS - step;
}

static int make_frames(struct comparison *comparison)
{
	const struct flame_tree *tree = &comparison->tree;
	enum diff_side drawn = comparison->diff->widths;

	comparison->frames = calloc(tree->tree.count, sizeof(*comparison->frames));
	if (!comparison->frames)
		return -1;
	comparison->full = FULL_POINTS;
	for (uint32_t i = 0; i < tree->tree.count; i++) {
		double size = size_of(delta_of(comparison, i));

		if (tree->counts[i][drawn] && size > comparison->full)
			comparison->full = size;
	}
	for (uint32_t i = 0; i < tree->tree.count; i++)
		comparison->frames[i] = (struct flame_frame){
			.name = i ? comparison->names[tree->tree.nodes[i].key] : "all",
			.count = tree->counts[i][drawn],
			.parent = tree->tree.nodes[i].parent,
			.colour = colour_of(comparison, i),
		};
	return 0;
}

/* The share of the other recording, in percent, in frames that have no width here. */
static double percent_missing(const struct comparison *comparison)
{
	const struct flame_tree *tree = &comparison->tree;
	enum diff_side drawn = comparison->diff->widths;
	double sum = 0;

	for (uint32_t i = 1; i < tree->tree.count; i++)
		if (!tree->counts[i][drawn] &&
		    (tree->counts[tree->tree.nodes[i].parent][drawn] ||
		     !tree->tree.nodes[i].parent))
			sum += percent_of(comparison, i, (enum diff_side) !drawn);
	return sum;
}

static void put_lines(const struct comparison *comparison)
{
	const struct diff *diff = comparison->diff;
	bool is_new = diff->widths == DIFF_NEW;
	double missing = percent_missing(comparison);

	heading_svg(&diff->reports[DIFF_BASELINE], "Baseline: ", 0);
	heading_bill(&diff->reports[DIFF_BASELINE], "Baseline's sampling: ", 1);
	heading_svg(&diff->reports[DIFF_NEW], "New: ", 2);
	heading_bill(&diff->reports[DIFF_NEW], "New's sampling: ", 3);
	svg_line_begin(diff->out, LINES - 1);
	fprintf(diff->out, "Widths are the %s's.", is_new ? "new recording" : "baseline");
	if (missing)
		fprintf(diff->out, " Not drawn: frames with %.2f %% of the %s.", missing,
			is_new ? "baseline; --widths baseline shows them"
			       : "new recording");
	svg_line_end(diff->out);
}

static void put_numbers(const struct comparison *comparison, uint32_t frame)
{
	const struct diff *diff = comparison->diff;
	enum diff_side drawn = diff->widths;
	enum diff_side other = (enum diff_side) !drawn;
	const uint64_t *counts = comparison->tree.counts[frame];

	heading_count(diff->out, diff->reports[drawn].measure, counts[drawn]);
	fprintf(diff->out, ", %.2f %%; %s %" PRIu64 ", %.2f %%; %+.2f points",
		percent_of(comparison, frame, drawn),
		other == DIFF_NEW ? "new" : "baseline", counts[other],
		percent_of(comparison, frame, other), delta_of(comparison, frame));
}

static int draw_frames(const struct comparison *comparison)
{
	const struct diff *diff = comparison->diff;
	const struct report *report = &diff->reports[diff->widths];
	char title[HEADING_TITLE_SIZE];
	struct flame_colour colours[COLOURS] = {{0}};
	char labels[3][80];
	const struct flame_graph picture = {
		.title = heading_title(title, report,
				       report->view.invert
					       ? "Inverted differential flame graph"
					       : "Differential flame graph"),
		.frames = comparison->frames,
		.frame_count = comparison->tree.tree.count,
		.colours = colours,
		.colour_count = COLOURS,
		.lines = LINES,
	};
	struct flame_svg *svg;
	uint32_t frame;

	for (unsigned int i = 0; i < COLOURS; i++)
		colours[i].fill = fills[i];
	snprintf(labels[0], sizeof(labels[0]),
		 "less than in the baseline: full colour at %.2f points",
		 comparison->full);
	snprintf(labels[1], sizeof(labels[1]), "within %.2f points",
		 comparison->full / STEPS / 2);
	snprintf(labels[2], sizeof(labels[2]), "more: full colour at %.2f points",
		 comparison->full);
	colours[COLOUR_LESS].label = labels[0];
	colours[COLOUR_SAME].label = labels[1];
	colours[COLOUR_MORE].label = labels[2];
	svg = flame_svg_begin(diff->out, &picture);
	if (!svg)
		return -1;
	put_lines(comparison);
	while (flame_svg_next(svg, &frame))
		put_numbers(comparison, frame);
	return flame_svg_end(svg);
}

int diff_flamegraph_write(const struct diff *diff)
{
	struct comparison comparison = {.diff = diff};
	int status = -1;

	if (make_tree(&comparison) == 0 && make_frames(&comparison) == 0)
		status = draw_frames(&comparison);
	for (int side = 0; side < DIFF_SIDES; side++) {
		calls_free(comparison.calls[side]);
		free(comparison.keys[side]);
	}
	free(comparison.names);
	flame_tree_free(&comparison.tree);
	free(comparison.frames);
	return status;
}
