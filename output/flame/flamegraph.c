/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The call chains as a flame graph for web browsers. Frames are as in folded: chains with
 * equal names are merged, domains are separate.
 *
 * Colours show what is known for certain: whether the frame has a symbol, and which part
 * of the address space it is in (domain_is_upper()).
 */
#include "output/output.h"

#include <stdlib.h>
#include <string.h>

#include "report/model/domains.h"
#include "output/flame/flame_tree.h"
#include "output/flame/functions.h"
#include "output/heading.h"
#include "output/write/flame_svg.h"

#define SHADES 4 /* to distinguish neighbours */

enum {
	COLOUR_GROUP = 0, /* all, and domains */
	COLOUR_LOWER = 1,
	COLOUR_UPPER = COLOUR_LOWER + SHADES,
	COLOUR_UNNAMED = COLOUR_UPPER + SHADES,
	COLOURS = COLOUR_UNNAMED + SHADES,
};

static const struct flame_colour colours[COLOURS] = {
	[COLOUR_GROUP] = {"#d9d4e8", NULL},
	[COLOUR_LOWER] = {"#ffb454", "lower addresses: program, unikernel"},
	{"#ffc36b", NULL},
	{"#ffa64d", NULL},
	{"#fbcf7a", NULL},
	[COLOUR_UPPER] = {"#7fb8f0", "upper addresses: kernel, unikernel"},
	{"#93c6f5", NULL},
	{"#74c1e8", NULL},
	{"#9fb9f2", NULL},
	[COLOUR_UNNAMED] = {"#c4c4c4", "no symbol"},
	{"#cecece", NULL},
	{"#bcbcbc", NULL},
	{"#d6d6d6", NULL},
};

/* Colours from COLOUR_LOWER on of time in which nothing runs: blue, as in off-CPU flame
 * graphs. */
static const char *const wait_fills[2 * SHADES] = {
	"#8fd3e8", "#a4dcec", "#82c9e0", "#b0e0ea", /* lower */
	"#7fa8f0", "#93b6f5", "#749ee8", "#9fb4f2", /* upper */
};

struct flamegraph {
	const struct report *report;
	struct flame_tree tree;	       /* keys are functions; one side */
	struct function_place *places; /* by function */
	unsigned char *shades; /* by function: its shade, plus 1; 0: not known yet */
	struct flame_frame *frames;
};

static void *flamegraph_begin(const struct report *report)
{
	struct flamegraph *graph = calloc(1, sizeof(*graph));

	if (graph)
		graph->report = report;
	return graph;
}

static void flamegraph_free(void *state)
{
	struct flamegraph *graph = state;

	if (!graph)
		return;
	flame_tree_free(&graph->tree);
	free(graph->places);
	free(graph->shades);
	free(graph->frames);
	free(graph);
}

/* Returns a function's shade, which is found once: names may be long, and functions in
 * many chains. */
static unsigned int shade_of(const struct flamegraph *graph, uint32_t function)
{
	const char *name = frames_function_name(graph->report->frames, function);
	unsigned int sum = 0;

	if (graph->shades[function])
		return graph->shades[function] - 1u;
	while (*name)
		sum = sum * 31 + (unsigned char)*name++;
	graph->shades[function] = (unsigned char)(sum % SHADES + 1);
	return sum % SHADES;
}

static unsigned int colour_of(const struct flamegraph *graph, uint32_t node)
{
	const struct tree_node *tree_node = &graph->tree.tree.nodes[node];
	uint32_t function = (uint32_t)tree_node->key;
	const struct function_place *place;
	unsigned int shade = shade_of(graph, function);

	if (!tree_node->parent && report_shows_domains(graph->report))
		return COLOUR_GROUP;
	if (!frames_function_known(graph->report->frames, function))
		return COLOUR_UNNAMED + shade;
	place = &graph->places[function];
	return (place->is_upper && !place->is_lower ? COLOUR_UPPER : COLOUR_LOWER) +
	       shade;
}

static int make_frames(struct flamegraph *graph)
{
	const struct tree *tree = &graph->tree.tree;

	graph->frames = calloc(tree->count, sizeof(*graph->frames));
	graph->shades = calloc(frames_functions(graph->report->frames), 1);
	if (!graph->frames || !graph->shades)
		return -1;
	graph->frames[0] = (struct flame_frame){"all", graph->tree.counts[0][0], 0,
						COLOUR_GROUP};
	for (uint32_t i = 1; i < tree->count; i++)
		graph->frames[i] = (struct flame_frame){
			.name = frames_function_name(graph->report->frames,
						     (uint32_t)tree->nodes[i].key),
			.count = graph->tree.counts[i][0],
			.parent = tree->nodes[i].parent,
			.colour = colour_of(graph, i),
		};
	return 0;
}

static void put_numbers(const struct flamegraph *graph, uint32_t frame)
{
	const struct flame_frame *frames = graph->frames;

	heading_count(graph->report->out, graph->report->measure, frames[frame].count);
	fprintf(graph->report->out, ", %.2f %%",
		100 * (double)frames[frame].count / (double)frames[0].count);
}

/* Makes the frames of the report's call tree. -1 if out of memory. */
static int build_frames(struct flamegraph *graph)
{
	const struct report *report = graph->report;
	struct calls *calls = calls_of(report->stacks, report->frames,
				       report->view.invert);
	int status = -1;

	if (calls && flame_tree_init(&graph->tree, report_shows_domains(report)) == 0)
		status = flame_tree_add(&graph->tree, calls, 0, NULL);
	calls_free(calls);
	if (status < 0)
		return -1;
	/* calls_of() has found all functions. */
	graph->places = functions_places(report);
	return graph->places ? make_frames(graph) : -1;
}

static void set_colours(struct flame_colour to[COLOURS], bool are_waits)
{
	memcpy(to, colours, sizeof(colours));
	for (int i = 0; are_waits && i < 2 * SHADES; i++)
		to[COLOUR_LOWER + i].fill = wait_fills[i];
}

static int draw_frames(const struct flamegraph *graph)
{
	const struct report *report = graph->report;
	struct flame_colour fills[COLOURS];
	char title[HEADING_TITLE_SIZE];
	const struct flame_graph picture = {
		.title = heading_title(title, report,
				       report->view.invert ? "Inverted flame graph"
							   : "Flame graph"),
		.frames = graph->frames,
		.frame_count = graph->tree.tree.count,
		.colours = fills,
		.colour_count = COLOURS,
		.lines = 2,
	};
	struct flame_svg *svg;
	uint32_t frame;

	set_colours(fills, report->measure->weight == MEASURE_WAIT);
	svg = flame_svg_begin(report->out, &picture);
	if (!svg)
		return -1;
	heading_svg(report, "", 0);
	heading_bill(report, "Sampling: ", 1);
	while (flame_svg_next(svg, &frame))
		put_numbers(graph, frame);
	return flame_svg_end(svg);
}

static int flamegraph_end(void *state)
{
	struct flamegraph *graph = state;

	return build_frames(graph) < 0 ? -1 : draw_frames(graph);
}

const struct output output_flamegraph = {
	.name = "flamegraph",
	.about = "a flame graph for web browsers: SVG with zoom and search",
	.can_invert = true,
	.counts_waits = true,
	.for_browsers = true,
	.begin = flamegraph_begin,
	.end = flamegraph_end,
	.free = flamegraph_free,
};
