/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/timeline_svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/heading.h"
#include "output/write/svg.h"

#define LEVELS	     7
#define MOST_OF_NAME 100

#define LEFT	  (SVG_MARGIN + 56) /* left edge of the maps, right of the rows' labels */
#define INNER	  (SVG_WIDTH - LEFT - SVG_MARGIN - 24)
#define TOP	  (SVG_HEAD + SVG_LINE) /* below the heading of two lines */
#define LEGEND	  (TOP + 30)		/* baseline of the legend's text */
#define HEAD	  (TOP + 50)
#define PANEL_TOP 18 /* height above the cells, for the panel's name */
#define PANEL_END 38 /* height below the cells, for the time axis */
#define TICK	  70 /* minimum distance of times on the axis, pixels */

static const char style[] =
	".cells{shape-rendering:crispEdges}"
	".cells g path:hover{stroke:#000;stroke-width:2;vector-effect:non-scaling-stroke}"
	".name{font-weight:600}.axis{stroke:#8c959f}.edge{fill:none;stroke:#d0d7de}"
	".none{stroke:#d0d7de}"
	".h0{fill:#dde3ea}.h1{fill:#ffe9a8}.h2{fill:#ffd06b}.h3{fill:#fdaa48}"
	".h4{fill:#f57f33}.h5{fill:#e0522a}.h6{fill:#b92a26}.h7{fill:#7d1128}"
	"@media(prefers-color-scheme:dark){.edge,.none{stroke:#3d444d}"
	".cells g path:hover{stroke:#fff}"
	".h0{fill:#2b323b}.h1{fill:#4a2c17}.h2{fill:#6e3612}.h3{fill:#98430f}"
	".h4{fill:#c4570f}.h5{fill:#e8782a}.h6{fill:#fba75b}.h7{fill:#ffe2b0}}";

/* Colours of waits: blue, as in flame graphs of waits. */
static const char wait_style[] =
	".h1{fill:#dbeafa}.h2{fill:#b9d6f5}.h3{fill:#8fbdee}.h4{fill:#62a0e3}"
	".h5{fill:#3a81d0}.h6{fill:#1f61ac}.h7{fill:#123f77}"
	"@media(prefers-color-scheme:dark){.h1{fill:#12263d}.h2{fill:#173a60}"
	".h3{fill:#1d5085}.h4{fill:#2869ab}.h5{fill:#4386cc}.h6{fill:#74a9e2}"
	".h7{fill:#b5d4f4}}";

/* The background of cells without samples. */
static const char hatch[] =
	"<defs><pattern id=\"none\" width=\"5\" height=\"5\" "
	"patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
	"<path class=\"none\" d=\"M0 0v5\"/></pattern></defs>\n";

struct map {
	const struct report *report;
	const struct timeline_grid *grid;
	double column; /* width of a column, pixels */
	int row;       /* height of a row, pixels */
};

uint64_t timeline_next_step(uint64_t seconds)
{
	static const uint32_t steps[] = {1,    5,    10,   30,	  60,	 300,  600,
					 1800, 3600, 7200, 21600, 43200, 86400};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i] > seconds)
			return steps[i];
	return seconds * 2;
}

enum measure_states timeline_states(const struct measure *measure)
{
	unsigned int busy = measure->states & ~(1u << VCPU_BLOCKED);

	/* Only such samples count, whatever their state. */
	if (measure->states == MEASURE_EXIT)
		return MEASURE_ALL_STATES;
	return (enum measure_states)(busy ? busy : measure->states);
}

static bool shows_waits(const struct map *map)
{
	return map->report->measure->weight == MEASURE_WAIT;
}

/* Returns a description of the states shown. */
static const char *states_note(const struct map *map)
{
	const struct measure *measure = map->report->measure;

	if (shows_waits(map))
		return " in which the thread waited";
	return measure->states == MEASURE_ALL_STATES ? " while not blocked"
						     : measure_states_note(measure);
}

static int compare_panels(const void *a, const void *b)
{
	const struct timeline_panel *x = a, *y = b;
	int order = strcmp(x->domain, y->domain);

	return order ? order : (x->vcpu > y->vcpu) - (x->vcpu < y->vcpu);
}

static bool is_short(const struct map *map)
{
	return map->grid->columns * map->grid->seconds < 600;
}

/* Writes a time since the start, as short as the picture's range allows. */
static void put_time(const struct map *map, uint64_t seconds)
{
	FILE *out = map->report->out;

	if (is_short(map))
		fprintf(out, "%" PRIu64 " s", seconds);
	else
		fprintf(out, "%" PRIu64 ":%02u:%02u", seconds / 3600,
			(unsigned int)(seconds / 60 % 60), (unsigned int)(seconds % 60));
}

/* Returns the share of the cell's weight that is shown, in percent. */
static double percent_of(const struct timeline_cell *cell)
{
	if (cell->shown >= cell->all)
		return cell->shown ? 100 : 0;
	return 100 * (double)cell->shown / (double)cell->all;
}

/* Returns the colour level of a shown cell, 1 to LEVELS. */
static unsigned int level_of(const struct timeline_cell *cell)
{
	unsigned int level = (unsigned int)(percent_of(cell) * LEVELS / 100);

	return level < LEVELS ? level + 1 : LEVELS;
}

static const struct timeline_cell *cell_at(const struct map *map,
					   const struct timeline_panel *panel,
					   uint32_t column, uint32_t row)
{
	return &panel->cells[column * map->grid->rows + row];
}

/* Draws cells with samples of which none is shown; cells without samples stay blank. One
 * shape for each run of cells. */
static void put_idle_cells(const struct map *map, const struct timeline_panel *panel)
{
	uint32_t rows = map->grid->rows;
	FILE *out = map->report->out;

	fputs("<path class=\"h0\" d=\"", out);
	for (uint32_t x = 0; x < map->grid->columns; x++) {
		uint32_t run = 0;

		for (uint32_t y = 0; y <= rows; y++) {
			const struct timeline_cell *cell = cell_at(map, panel, x, y);

			if (y < rows && cell->all && !cell->shown) {
				run++;
				continue;
			}
			if (run)
				fprintf(out, "M%" PRIu32 " %" PRIu32 "h1v%" PRIu32 "h-1z",
					x, rows - y, run);
			run = 0;
		}
	}
	fputs("\"/>\n", out);
}

static void put_cell(const struct map *map, const struct timeline_cell *cell, uint32_t x,
		     uint32_t y)
{
	const struct timeline_grid *grid = map->grid;
	double seconds = (double)grid->seconds * (x + (double)y / grid->rows);
	FILE *out = map->report->out;

	fprintf(out, "<path d=\"M%" PRIu32 " %" PRIu32 "h1v1h-1z\"><title>", x,
		grid->rows - 1 - y);
	if (is_short(map))
		fprintf(out, "%.2f s", seconds);
	else
		put_time(map, (uint64_t)seconds);
	fputs(": ", out);
	fprintf(out, "%.0f %%, %" PRIu64 " of ", percent_of(cell), cell->shown);
	heading_count(out, map->report->measure, cell->all);
	fputs("</title></path>\n", out);
}

static void put_cells(const struct map *map, const struct timeline_panel *panel)
{
	FILE *out = map->report->out;

	put_idle_cells(map, panel);
	for (unsigned int level = 1; level <= LEVELS; level++) {
		fprintf(out, "<g class=\"h%u\">\n", level);
		for (uint32_t x = 0; x < map->grid->columns; x++) {
			for (uint32_t y = 0; y < map->grid->rows; y++) {
				const struct timeline_cell *cell = cell_at(map, panel, x,
									   y);

				if (cell->shown && level_of(cell) == level)
					put_cell(map, cell, x, y);
			}
		}
		fputs("</g>\n", out);
	}
}

static void put_axes(const struct map *map, uint32_t top)
{
	const struct timeline_grid *grid = map->grid;
	uint32_t height = grid->rows * (uint32_t)map->row, bottom = top + height;
	uint64_t step = grid->seconds, end = grid->columns * grid->seconds;
	double second = map->column / (double)grid->seconds;
	FILE *out = map->report->out;

	fprintf(out,
		"<rect class=\"edge\" x=\"%d\" y=\"%" PRIu32
		"\" width=\"%.2f\" height=\"%" PRIu32 "\"/>\n",
		LEFT, top, map->column * grid->columns, height);
	fprintf(out,
		"<text class=\"dim\" x=\"%d\" y=\"%" PRIu32
		"\" text-anchor=\"end\">+0</text>\n"
		"<text class=\"dim\" x=\"%d\" y=\"%" PRIu32 "\" text-anchor=\"end\">+",
		LEFT - 6, bottom, LEFT - 6, top + 10);
	put_time(map, grid->seconds);
	fputs("</text>\n", out);
	/* In short recordings, ticks are closer, so that there is at least one besides 0.
	 */
	while ((double)step * second < TICK && timeline_next_step(step) <= end)
		step = timeline_next_step(step);
	for (uint64_t time = 0; time <= end; time += step) {
		double x = LEFT + (double)time * second;

		fprintf(out,
			"<path class=\"axis\" d=\"M%.2f %" PRIu32 "v4\"/>"
			"<text class=\"dim\" x=\"%.2f\" y=\"%" PRIu32
			"\" text-anchor=\"middle\">",
			x, bottom, x, bottom + 17);
		put_time(map, time);
		fputs("</text>\n", out);
	}
}

static void put_panel(const struct map *map, const struct timeline_panel *panel,
		      uint32_t top)
{
	const struct timeline_grid *grid = map->grid;
	uint64_t shown = 0, all = 0;
	FILE *out = map->report->out;

	for (uint32_t i = 0; i < grid->columns * grid->rows; i++) {
		shown += panel->cells[i].shown;
		all += panel->cells[i].all;
	}
	fprintf(out,
		"<g class=\"panel\"><text x=\"%d\" y=\"%" PRIu32
		"\"><tspan class=\"name\">",
		LEFT, top + 12);
	svg_text(out, panel->domain, MOST_OF_NAME);
	if (!shows_waits(map))
		fprintf(out, ", vCPU %" PRIu32, panel->vcpu);
	fprintf(out, "</tspan> <tspan class=\"dim\" dx=\"6\">%.1f %%: %" PRIu64 " of ",
		all ? 100 * (double)shown / (double)all : 0, shown);
	heading_count(out, map->report->measure, all);
	fprintf(out, "%s</tspan></text>\n", states_note(map));
	top += PANEL_TOP;
	fprintf(out,
		"<rect style=\"fill:url(#none)\" x=\"%d\" y=\"%" PRIu32
		"\" width=\"%.2f\" height=\"%" PRIu32 "\"/>\n",
		LEFT, top, map->column * grid->columns, grid->rows * (uint32_t)map->row);
	fprintf(out,
		"<g class=\"cells\" transform=\"translate(%d %" PRIu32
		") scale(%.4f %d)\">\n",
		LEFT, top, map->column, map->row);
	put_cells(map, panel);
	fputs("</g>\n", out);
	put_axes(map, top);
	fputs("</g>\n", out);
}

static void put_legend(const struct map *map)
{
	const struct timeline_grid *grid = map->grid;
	const struct measure *measure = map->report->measure;
	FILE *out = map->report->out;
	int x = SVG_MARGIN + 100;

	fprintf(out, "<text class=\"dim\" x=\"%d\" y=\"%d\">Columns of ", SVG_MARGIN,
		TOP + 12);
	put_time(map, grid->seconds);
	fprintf(out,
		", from bottom to top in cells of %.6g s. Colour: share of the "
		"%s%s</text>\n",
		(double)grid->seconds / grid->rows,
		shows_waits(map) ? "time" : measure_noun(measure), states_note(map));
	fprintf(out,
		"<rect class=\"edge\" style=\"fill:url(#none)\" x=\"%d\" y=\"%d\" "
		"width=\"12\" height=\"12\"/>"
		"<text class=\"dim\" x=\"%d\" y=\"%d\">%s</text>\n",
		SVG_MARGIN, LEGEND - 10, SVG_MARGIN + 17, LEGEND,
		shows_waits(map) ? "not known" : "no samples");
	for (unsigned int level = 0; level <= LEVELS; level++) {
		fprintf(out,
			"<rect class=\"h%u\" x=\"%d\" y=\"%d\" width=\"12\" "
			"height=\"12\"/>"
			"<text class=\"dim\" x=\"%d\" y=\"%d\">%s%.0f %%</text>\n",
			level, x, LEGEND - 10, x + 17, LEGEND, level ? "to " : "",
			100.0 * level / LEVELS);
		x += 70;
	}
	if (!grid->left_out)
		return;
	fprintf(out, "<text class=\"dim\" x=\"%d\" y=\"%d\">Not drawn: ", x + 20, LEGEND);
	heading_count(out, measure, grid->left_out);
	fprintf(out, " of %s after the first %d.</text>\n",
		shows_waits(map) ? "threads" : "vCPUs", TIMELINE_PANELS);
}

void timeline_svg_write(const struct report *report, struct timeline_grid *grid)
{
	struct map map = {.report = report, .grid = grid};
	char title[HEADING_TITLE_SIZE], all_styles[sizeof(style) + sizeof(wait_style)];
	uint32_t stride;

	qsort(grid->panels, grid->shown_panels, sizeof(grid->panels[0]), compare_panels);
	map.row = grid->rows <= 4 ? 24 : grid->rows >= 33 ? 3 : 100 / (int)grid->rows;
	if (grid->columns)
		map.column = (double)INNER / grid->columns;
	stride = PANEL_TOP + grid->rows * (uint32_t)map.row + PANEL_END;
	snprintf(all_styles, sizeof(all_styles), "%s%s", style,
		 shows_waits(&map) ? wait_style : "");
	svg_begin(report->out, heading_title(title, report, "Timeline"),
		  HEAD + stride * grid->shown_panels, all_styles);
	fputs(hatch, report->out);
	heading_svg(report, "", 0);
	heading_bill(report, "Sampling: ", 1);
	if (grid->shown_panels)
		put_legend(&map);
	else
		fprintf(report->out,
			"<text class=\"dim\" x=\"%d\" y=\"%d\">nothing was "
			"counted</text>\n",
			SVG_MARGIN, TOP + 12);
	for (uint32_t i = 0; i < grid->shown_panels; i++)
		put_panel(&map, &grid->panels[i], HEAD + stride * i);
	fputs("</svg>\n", report->out);
}
