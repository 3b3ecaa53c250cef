/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A flame graph (Gregg, "The Flame Graph", CACM 59/6, 2016) for web browsers: the width
 * of a frame is its share of the total, and it is drawn on top of its caller; the order
 * from left to right has no meaning. Everything is drawn here, so the picture is complete
 * without scripts; flame.js adds zoom and search.
 *
 * Interface to flame.js. For each frame: data-n, its count; data-x, the sum of the counts
 * to its left; its title, which ends with the count and percentage in parentheses. For
 * the list of frames: data-top, the position of the bar; data-row, the height of a frame
 * with its gap. For the frames that are too narrow to be drawn, a line each in .narrow:
 * data-x, depth, data-n, the line of its name in .names (from 0), colour, and what is in
 * its title's parentheses; separated by blanks. data-lacks is set if some are not there.
 */
#include "output/write/flame_svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/text.h"
#include "output/write/svg.h"

/* Frames below this share of the total, a quarter of a pixel, are not drawn; nor are the
 * narrowest if there would still be more frames than this: some 6 MB. */
#define LEAST_PART 5000
#define MOST_DRAWN 40000
/* Maximum number of frames, drawn or not: some 4 MB more */
#define MOST_FRAMES (MOST_DRAWN + 100000)
/* Maximum length of a name, in characters; the longest common C++ names are half as long
 */
#define MOST_OF_NAME 1000

#define ROW	  17
#define LEGEND	  10 /* baseline of its text, below the heading */
#define BAR	  16 /* top of flame.js's bar, below the heading */
#define HEAD	  54 /* top of the frames, below the heading */
#define INNER	  (SVG_WIDTH - 2 * SVG_MARGIN)
#define CHARACTER 7.3 /* width of a character in 12 px monospace, rounded up */

extern const char flame_js[], flame_js_end[];

__asm__(".pushsection .rodata\n"
	".globl flame_js, flame_js_end\n"
	"flame_js: .incbin \"output/write/flame.js\"\n"
	"flame_js_end: .byte 0\n"
	".popsection\n");

static const char style[] =
	".frames,.details{font:12px ui-monospace,'DejaVu Sans "
	"Mono',Menlo,Consolas,monospace}"
	".frames rect{stroke:#fff;stroke-width:.5}.frames text{fill:#111;"
	"pointer-events:none}.frames g:hover rect{stroke:#000;stroke-width:1.5}"
	".frames.live g{cursor:pointer}.frames .caller{opacity:.55}"
	".frames .match rect{fill:#f078e6}.frames text{white-space:pre}"
	".row{display:flex;justify-content:flex-end;gap:8px}"
	".row *{font:inherit;height:26px;box-sizing:border-box}.row input{width:220px}"
	".row input:invalid{outline:2px solid #d1242f}"
	"@media(prefers-color-scheme:dark){.frames rect{stroke:#16191d}"
	".frames g:hover rect{stroke:#fff}}";

struct flame_svg {
	FILE *out;
	const struct flame_graph *graph;
	uint32_t next;	     /* the first frame that is not written yet */
	uint64_t *left;	     /* by frame: sum of the counts to its left */
	uint64_t *used;	     /* by frame: sum of its callees so far */
	uint32_t *depth;     /* by frame */
	uint32_t deepest;    /* depth of the deepest frame that is drawn */
	unsigned int top;    /* end of the heading */
	uint64_t least;	     /* lowest count of frames that are drawn */
	uint64_t narrow;     /* number of frames that are not drawn */
	uint64_t kept;	     /* lowest count of frames that are drawn or kept */
	bool is_drawing;     /* the frames that are drawn are being written */
	struct names *names; /* of frames that are kept */
	bool failed;	     /* out of memory for a name */
};

static void flame_svg_free(struct flame_svg *svg)
{
	if (svg->names)
		names_free(svg->names);
	free(svg->left);
	free(svg->used);
	free(svg->depth);
	free(svg);
}

static bool is_drawn(const struct flame_svg *svg, uint32_t frame)
{
	return svg->graph->frames[frame].count >= svg->least;
}

/* Whether the frame is only kept for zoom and search. */
static bool is_kept(const struct flame_svg *svg, uint32_t frame)
{
	return svg->graph->frames[frame].count >= svg->kept && !is_drawn(svg, frame);
}

/* Returns the lowest count, from @least on, that at most @most frames have. */
static uint64_t choose_least(const struct flame_graph *graph, uint64_t least,
			     uint32_t most)
{
	uint32_t count;

	least = least ? least : 1;
	for (;; least *= 2) {
		count = 0;
		for (uint32_t i = 0; i < graph->frame_count; i++)
			count += graph->frames[i].count >= least;
		if (count <= most)
			return least;
	}
}

static int frames_lay_out(struct flame_svg *svg)
{
	const struct flame_graph *graph = svg->graph;

	svg->top = SVG_HEAD + SVG_LINE * (graph->lines - 1);
	svg->left = calloc(graph->frame_count, sizeof(*svg->left));
	svg->used = calloc(graph->frame_count, sizeof(*svg->used));
	svg->depth = calloc(graph->frame_count, sizeof(*svg->depth));
	svg->names = names_new();
	if (!svg->left || !svg->used || !svg->depth || !svg->names)
		return -1;
	svg->least = choose_least(graph, graph->frames[0].count / LEAST_PART, MOST_DRAWN);
	svg->kept = choose_least(graph, 1, MOST_FRAMES);
	for (uint32_t i = 1; i < graph->frame_count; i++) {
		uint32_t parent = graph->frames[i].parent;

		svg->left[i] = svg->left[parent] + svg->used[parent];
		svg->used[parent] += graph->frames[i].count;
		svg->depth[i] = svg->depth[parent] + 1;
		if (is_drawn(svg, i) && svg->depth[i] > svg->deepest)
			svg->deepest = svg->depth[i];
		svg->narrow += graph->frames[i].count && !is_drawn(svg, i);
	}
	return 0;
}

/* Writes as much of a frame's name as fits. Characters that can be twice as wide count
 * twice: East Asian scripts start at U+1100, in UTF-8 e1 84 80. */
static void put_label(FILE *out, const char *name, double width)
{
	size_t room = (size_t)(width > 8 ? (width - 8) / CHARACTER : 0);
	size_t columns = 0, characters = 0, fit = 0;

	for (const char *c = name; *c && columns <= room; characters++) {
		size_t length = text_character(c);

		columns += (unsigned char)*c >= 0xe1 ? 2 : 1;
		if (columns < room)
			fit = characters + 1;
		c += length ? length : 1;
	}
	if (columns <= room)
		fit = characters;
	if (fit > 1)
		svg_text(out, name, fit);
}

/* Writes the frame up to the numbers in its title. */
static void frame_begin(const struct flame_svg *svg, uint32_t number)
{
	const struct flame_frame *frame = &svg->graph->frames[number];

	fprintf(svg->out,
		"<g class=\"c%u\" data-x=\"%" PRIu64 "\" data-n=\"%" PRIu64 "\"><title>",
		frame->colour, svg->left[number], frame->count);
	svg_text(svg->out, frame->name, MOST_OF_NAME);
	fputs(" (", svg->out);
}

static void frame_end(const struct flame_svg *svg, uint32_t number)
{
	const struct flame_graph *graph = svg->graph;
	const struct flame_frame *frame = &graph->frames[number];
	double all = (double)graph->frames[0].count, part = (double)frame->count / all;
	double x = SVG_MARGIN + INNER * ((double)svg->left[number] / all);
	uint32_t y = svg->top + HEAD + ROW * (svg->deepest - svg->depth[number]);
	FILE *out = svg->out;

	fprintf(out,
		")</title><rect x=\"%.2f\" y=\"%" PRIu32
		"\" width=\"%.2f\" height=\"%d\"/>",
		x, y, INNER * part, ROW - 1);
	if (INNER * part > 3 * CHARACTER) {
		fprintf(out, "<text x=\"%.2f\" y=\"%" PRIu32 "\">", x + 4, y + 12);
		put_label(out, frame->name, INNER * part);
		fputs("</text>", out);
	}
	fputs("</g>\n", out);
}

/* Writes the line of a frame that is not drawn, up to the numbers. -1 if out of memory.
 */
static int narrow_begin(const struct flame_svg *svg, uint32_t number)
{
	const struct flame_frame *frame = &svg->graph->frames[number];
	uint32_t name = names_intern(svg->names, frame->name);

	fprintf(svg->out, "%" PRIu64 " %" PRIu32 " %" PRIu64 " %" PRIu32 " %u ",
		svg->left[number], svg->depth[number], frame->count, name, frame->colour);
	return name == NAMES_NONE ? -1 : 0;
}

/* Whether there are frames of the colour or its shades. */
static bool is_used(const struct flame_graph *graph, unsigned int colour)
{
	unsigned int end = colour + 1;

	while (end < graph->colour_count && !graph->colours[end].label)
		end++;
	for (uint32_t i = 0; i < graph->frame_count; i++)
		if (graph->frames[i].colour >= colour && graph->frames[i].colour < end)
			return true;
	return false;
}

static void put_legend(const struct flame_svg *svg)
{
	const struct flame_graph *graph = svg->graph;
	FILE *out = svg->out;
	unsigned int y = svg->top + LEGEND;
	size_t x = SVG_MARGIN;

	for (unsigned int i = 0; i < graph->colour_count; i++) {
		const char *label = graph->colours[i].label;

		if (!label || !is_used(graph, i))
			continue;
		fprintf(out,
			"<rect class=\"c%u\" x=\"%zu\" y=\"%u\" width=\"12\" "
			"height=\"12\"/>"
			"<text class=\"dim\" x=\"%zu\" y=\"%u\">%s</text>\n",
			i, x, y - 10, x + 18, y, label);
		x += 40 + strlen(label) * 7;
	}
	if (!graph->frames[0].count)
		fprintf(out,
			"<text class=\"dim\" x=\"%d\" y=\"%u\">nothing was "
			"counted</text>\n",
			SVG_MARGIN, y);
	if (svg->narrow)
		fprintf(out,
			"<text class=\"dim\" x=\"%zu\" y=\"%u\">not drawn: %" PRIu64
			" frames of less than %.2g %%</text>\n",
			x, y, svg->narrow,
			100 * (double)svg->least / (double)graph->frames[0].count);
}

struct flame_svg *flame_svg_begin(FILE *out, const struct flame_graph *graph)
{
	struct flame_svg *svg = calloc(1, sizeof(*svg));

	if (!svg)
		return NULL;
	svg->out = out;
	svg->graph = graph;
	svg->is_drawing = true;
	if (frames_lay_out(svg) < 0) {
		flame_svg_free(svg);
		return NULL;
	}
	svg_begin(out, graph->title,
		  svg->top + HEAD + ROW * (svg->deepest + 1) + SVG_MARGIN, style);
	return svg;
}

/* Writes the part of the picture between the heading and the frames. */
static void put_colours(const struct flame_svg *svg)
{
	const struct flame_graph *graph = svg->graph;

	fputs("<style>", svg->out);
	for (unsigned int i = 0; i < graph->colour_count; i++)
		fprintf(svg->out, ".c%u{fill:%s}", i, graph->colours[i].fill);
	fputs("</style>\n", svg->out);
	put_legend(svg);
	fprintf(svg->out, "<g class=\"frames\" data-top=\"%u\" data-row=\"%d\">\n",
		svg->top + BAR, ROW);
}

/* Ends the frames that are drawn. */
static void end_drawing(struct flame_svg *svg)
{
	svg->is_drawing = false;
	svg->next = 0;
	fprintf(svg->out, "</g>\n<metadata class=\"narrow\"%s>",
		svg->kept > 1 ? " data-lacks=\"\"" : "");
}

/* Moves to the next frame that is drawn or, after these, kept. False after the last. */
static bool find_next(struct flame_svg *svg)
{
	bool (*is_next)(const struct flame_svg *svg,
			uint32_t frame) = svg->is_drawing ? is_drawn : is_kept;

	while (svg->next < svg->graph->frame_count && !is_next(svg, svg->next))
		svg->next++;
	return svg->next < svg->graph->frame_count;
}

bool flame_svg_next(struct flame_svg *svg, uint32_t *frame)
{
	if (svg->next && svg->is_drawing)
		frame_end(svg, svg->next - 1);
	else if (svg->next)
		putc('\n', svg->out);
	else
		put_colours(svg);
	if (!find_next(svg) && svg->is_drawing)
		end_drawing(svg);
	if (!find_next(svg))
		return false;
	*frame = svg->next++;
	if (svg->is_drawing)
		frame_begin(svg, *frame);
	else
		svg->failed |= narrow_begin(svg, *frame) < 0;
	return true;
}

int flame_svg_end(struct flame_svg *svg)
{
	int status = svg->failed ? -1 : 0;

	fputs("</metadata>\n<metadata class=\"names\">", svg->out);
	for (uint32_t i = 0; i < names_count(svg->names); i++) {
		svg_text(svg->out, names_get(svg->names, i), MOST_OF_NAME);
		putc('\n', svg->out);
	}
	fputs("</metadata>\n<script><![CDATA[\n", svg->out);
	fwrite(flame_js, 1, (uintptr_t)flame_js_end - (uintptr_t)flame_js, svg->out);
	fputs("]]></script>\n</svg>\n", svg->out);
	flame_svg_free(svg);
	return status;
}
