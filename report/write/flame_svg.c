/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A flame graph (Gregg, "The Flame Graph", CACM 59/6, 2016) for web browsers: the width
 * of a frame is its share of the total, and it is drawn on top of its caller; the order
 * from left to right has no meaning. Everything is drawn here, so the picture is complete
 * without scripts; flame.js adds zoom and search.
 *
 * Interface to flame.js. For each frame: data-n, its count; data-x, the sum of the counts
 * to its left; its title, which ends with the count and percentage in parentheses. For
 * the list of frames: data-top, the position of the bar.
 */
#include "report/write/flame_svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/write/svg.h"

/* Frames below this share of the total, a quarter of a pixel, are not drawn; nor are the
 * narrowest if there would still be more frames than this: some 6 MB. */
#define LEAST_PART  5000
#define MOST_FRAMES 40000
/* Of a name; the longest common C++ names are half as long. */
#define MOST_OF_NAME 1000

#define ROW	  17
#define LEGEND	  10 /* baseline of its text, below the heading */
#define BAR	  16 /* top of flame.js's bar, below the heading */
#define HEAD	  54 /* top of the frames, below the heading */
#define INNER	  (SVG_WIDTH - 2 * SVG_MARGIN)
#define CHARACTER 7.3 /* width of one in 12 px monospace, rounded up */

extern const char flame_js[], flame_js_end[];

__asm__(".pushsection .rodata\n"
	".globl flame_js, flame_js_end\n"
	"flame_js: .incbin \"report/write/flame.js\"\n"
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

struct picture {
	FILE *out;
	const struct flame_graph *graph;
	uint64_t *left;	   /* by frame: sum of the counts to its left */
	uint64_t *used;	   /* by frame: sum of its callees so far */
	uint32_t *depth;   /* by frame */
	uint32_t deepest;  /* of the frames drawn */
	unsigned int top;  /* end of the heading */
	uint64_t least;	   /* lowest count of frames that are drawn */
	uint64_t left_out; /* number of frames that are not */
};

static bool is_drawn(const struct picture *picture, uint32_t frame)
{
	return picture->graph->frames[frame].count >= picture->least;
}

static uint32_t count_drawn(const struct picture *picture)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < picture->graph->frame_count; i++)
		count += is_drawn(picture, i);
	return count;
}

static void choose_least(struct picture *picture)
{
	picture->least = picture->graph->frames[0].count / LEAST_PART;
	if (!picture->least)
		picture->least = 1;
	while (count_drawn(picture) > MOST_FRAMES)
		picture->least *= 2;
}

static int lay_out(struct picture *picture)
{
	const struct flame_graph *graph = picture->graph;

	picture->top = SVG_HEAD + SVG_LINE * (graph->lines - 1);
	picture->left = calloc(graph->frame_count, sizeof(*picture->left));
	picture->used = calloc(graph->frame_count, sizeof(*picture->used));
	picture->depth = calloc(graph->frame_count, sizeof(*picture->depth));
	if (!picture->left || !picture->used || !picture->depth)
		return -1;
	choose_least(picture);
	for (uint32_t i = 1; i < graph->frame_count; i++) {
		uint32_t parent = graph->frames[i].parent;

		picture->left[i] = picture->left[parent] + picture->used[parent];
		picture->used[parent] += graph->frames[i].count;
		picture->depth[i] = picture->depth[parent] + 1;
		if (is_drawn(picture, i) && picture->depth[i] > picture->deepest)
			picture->deepest = picture->depth[i];
		picture->left_out += graph->frames[i].count && !is_drawn(picture, i);
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

static void put_frame(const struct picture *picture, uint32_t number)
{
	const struct flame_graph *graph = picture->graph;
	const struct flame_frame *frame = &graph->frames[number];
	double all = (double)graph->frames[0].count, part = (double)frame->count / all;
	double x = SVG_MARGIN + INNER * ((double)picture->left[number] / all);
	uint32_t y = picture->top + HEAD +
		     ROW * (picture->deepest - picture->depth[number]);
	FILE *out = picture->out;

	fprintf(out,
		"<g class=\"c%u\" data-x=\"%" PRIu64 "\" data-n=\"%" PRIu64 "\"><title>",
		frame->colour, picture->left[number], frame->count);
	svg_text(out, frame->name, MOST_OF_NAME);
	fputs(" (", out);
	graph->put_numbers(graph->arg, number);
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

/* Whether there are frames of that colour or its shades. */
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

static void put_legend(const struct picture *picture)
{
	const struct flame_graph *graph = picture->graph;
	FILE *out = picture->out;
	unsigned int y = picture->top + LEGEND;
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
	if (picture->left_out)
		fprintf(out,
			"<text class=\"dim\" x=\"%zu\" y=\"%u\">not drawn: %" PRIu64
			" frames of less than %.2g %%</text>\n",
			x, y, picture->left_out,
			100 * (double)picture->least / (double)graph->frames[0].count);
}

static void put_picture(const struct picture *picture)
{
	const struct flame_graph *graph = picture->graph;
	unsigned int height = picture->top + HEAD + ROW * (picture->deepest + 1) +
			      SVG_MARGIN;
	FILE *out = picture->out;

	svg_begin(out, graph->kind, graph->of, height, style);
	graph->put_lines(graph->arg);
	fputs("<style>", out);
	for (unsigned int i = 0; i < graph->colour_count; i++)
		fprintf(out, ".c%u{fill:%s}", i, graph->colours[i].fill);
	fputs("</style>\n", out);
	put_legend(picture);
	fprintf(out, "<g class=\"frames\" data-top=\"%u\">\n", picture->top + BAR);
	for (uint32_t i = 0; i < graph->frame_count; i++)
		if (is_drawn(picture, i))
			put_frame(picture, i);
	fputs("</g>\n<script><![CDATA[\n", out);
	fwrite(flame_js, 1, (uintptr_t)flame_js_end - (uintptr_t)flame_js, out);
	fputs("]]></script>\n</svg>\n", out);
}

int flame_svg_write(FILE *out, const struct flame_graph *graph)
{
	struct picture picture = {.out = out, .graph = graph};
	int status = lay_out(&picture);

	if (status == 0)
		put_picture(&picture);
	free(picture.left);
	free(picture.used);
	free(picture.depth);
	return status;
}
