/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/firefox/firefox.h"

#include <stdlib.h>

int firefox_tables_init(struct firefox_tables *tables, const struct report *report)
{
	tables->report = report;
	tables->texts = names_new();
	tables->paths = (struct paths){
		.report = report, .number = path_frames_number, .arg = &tables->frames};
	if (!tables->texts || path_frames_init(&tables->frames, report->frames) < 0 ||
	    tree_init(&tables->places, 1) < 0 || tree_init(&tables->funcs, 1) < 0 ||
	    tree_init(&tables->leaves, 1) < 0 || paths_init(&tables->paths) < 0)
		return -1;
	return 0;
}

void firefox_tables_free(struct firefox_tables *tables)
{
	if (tables->texts)
		names_free(tables->texts);
	path_frames_free(&tables->frames);
	tree_free(&tables->places);
	tree_free(&tables->funcs);
	paths_free(&tables->paths);
	tree_free(&tables->leaves);
	free(tables->func_of);
}

uint32_t firefox_leaf(struct firefox_tables *tables, uint32_t stack,
		      unsigned int vcpu_state)
{
	uint64_t category = vcpu_state < SUMMARY_STATES ? vcpu_state : VCPU_UNKNOWN;
	uint32_t path = paths_find(&tables->paths, stack), node;

	if (path == TREE_NONE)
		return TREE_NONE;
	node = tree_intern(&tables->leaves, 0, category << 32 | path);
	return node == TREE_NONE ? TREE_NONE : node - 1;
}

unsigned int firefox_state(const struct firefox_tables *tables, uint32_t leaf)
{
	return (unsigned int)(tables->leaves.nodes[leaf + 1].key >> 32);
}

uint32_t firefox_text(struct firefox_tables *tables, const char *text)
{
	uint32_t number = names_intern(tables->texts, text);

	tables->failed |= number == NAMES_NONE;
	return number;
}

/* Finds the funcs of all frames. -1 if out of memory. */
static int list_funcs(struct firefox_tables *tables)
{
	const struct tree *frames = &tables->frames.keys;

	tables->func_of = malloc(frames->count * sizeof(*tables->func_of));
	if (!tables->func_of)
		return -1;
	for (uint32_t i = 1; i < frames->count; i++) {
		uint64_t key = frames->nodes[i].key;
		struct frame_place place = frames_place(tables->report->frames,
							(uint32_t)key);
		uint32_t source = names_intern(tables->frames.files, place.path);
		uint32_t node = source == NAMES_NONE
					? TREE_NONE
					: tree_intern(&tables->places, 0,
						      key >> 32 << 32 | source);

		if (node != TREE_NONE)
			node = tree_intern(&tables->funcs, 0,
					   (uint64_t)node << 32 | place.function);
		if (node == TREE_NONE)
			return -1;
		tables->func_of[i - 1] = node - 1;
	}
	return 0;
}

/* Columns of a table, whose cells are written one by one. */
typedef void cell(struct firefox_tables *tables, uint32_t row);

static void put_column(struct firefox_tables *tables, const char *key, uint32_t rows,
		       cell *put)
{
	json_array(tables->json, key);
	for (uint32_t i = 0; i < rows; i++)
		put(tables, i);
	json_end(tables->json);
}

static void cell_null(struct firefox_tables *tables, uint32_t row)
{
	(void)row;
	json_null(tables->json, NULL);
}

static void cell_false(struct firefox_tables *tables, uint32_t row)
{
	(void)row;
	json_bool(tables->json, NULL, false);
}

static void cell_zero(struct firefox_tables *tables, uint32_t row)
{
	(void)row;
	json_number(tables->json, NULL, 0);
}

static void cell_one(struct firefox_tables *tables, uint32_t row)
{
	(void)row;
	json_number(tables->json, NULL, 1);
}

/* No address, no resource */
static void cell_none(struct firefox_tables *tables, uint32_t row)
{
	(void)row;
	json_real(tables->json, NULL, -1, 0);
}

/*
 * frameTable: the frames, then a copy of the last frame of each leaf, with the leaf's
 * state as category. stackTable: the paths, then the leaves, in the same way.
 */
static uint32_t frames_of(const struct firefox_tables *tables)
{
	return tables->frames.keys.count - 1;
}

static uint32_t leaves_of(const struct firefox_tables *tables)
{
	return tables->leaves.count - 1;
}

static uint32_t stacks_of(const struct firefox_tables *tables)
{
	return tables->paths.tree.count - 1;
}

static const struct tree_node *path_of_leaf(const struct firefox_tables *tables,
					    uint32_t leaf)
{
	uint32_t path = (uint32_t)tables->leaves.nodes[leaf + 1].key;

	return &tables->paths.tree.nodes[path];
}

/* Returns the frame that a row of frameTable is or copies. */
static uint32_t frame_of_row(const struct firefox_tables *tables, uint32_t row)
{
	uint32_t frames = frames_of(tables);

	return row < frames ? row : (uint32_t)path_of_leaf(tables, row - frames)->key;
}

static void cell_frame_category(struct firefox_tables *tables, uint32_t row)
{
	uint32_t frames = frames_of(tables);

	if (row < frames)
		json_null(tables->json, NULL);
	else
		json_number(tables->json, NULL, firefox_state(tables, row - frames));
}

static void cell_frame_subcategory(struct firefox_tables *tables, uint32_t row)
{
	if (row < frames_of(tables))
		json_null(tables->json, NULL);
	else
		json_number(tables->json, NULL, 0);
}

static void cell_frame_func(struct firefox_tables *tables, uint32_t row)
{
	json_number(tables->json, NULL, tables->func_of[frame_of_row(tables, row)]);
}

static void cell_frame_line(struct firefox_tables *tables, uint32_t row)
{
	uint32_t frame = frame_of_row(tables, row);
	uint32_t place = (uint32_t)tables->frames.keys.nodes[frame + 1].key;
	uint32_t line = frames_place(tables->report->frames, place).line;

	if (line)
		json_number(tables->json, NULL, line);
	else
		json_null(tables->json, NULL);
}

static void put_frames(struct firefox_tables *tables)
{
	uint32_t rows = frames_of(tables) + leaves_of(tables);

	json_object(tables->json, "frameTable");
	put_column(tables, "address", rows, cell_none);
	put_column(tables, "inlineDepth", rows, cell_zero);
	put_column(tables, "category", rows, cell_frame_category);
	put_column(tables, "subcategory", rows, cell_frame_subcategory);
	put_column(tables, "func", rows, cell_frame_func);
	put_column(tables, "nativeSymbol", rows, cell_null);
	put_column(tables, "innerWindowID", rows, cell_zero);
	put_column(tables, "line", rows, cell_frame_line);
	put_column(tables, "column", rows, cell_null);
	json_number(tables->json, "length", rows);
	json_end(tables->json);
}

static void cell_stack_frame(struct firefox_tables *tables, uint32_t row)
{
	uint32_t stacks = stacks_of(tables);

	json_number(tables->json, NULL,
		    row < stacks ? tables->paths.tree.nodes[row + 1].key
				 : frames_of(tables) + row - stacks);
}

static void cell_stack_prefix(struct firefox_tables *tables, uint32_t row)
{
	uint32_t stacks = stacks_of(tables);
	uint32_t parent = row < stacks ? tables->paths.tree.nodes[row + 1].parent
				       : path_of_leaf(tables, row - stacks)->parent;

	if (parent)
		json_number(tables->json, NULL, parent - 1);
	else
		json_null(tables->json, NULL);
}

static void put_stacks(struct firefox_tables *tables)
{
	uint32_t rows = stacks_of(tables) + leaves_of(tables);

	json_object(tables->json, "stackTable");
	put_column(tables, "frame", rows, cell_stack_frame);
	put_column(tables, "prefix", rows, cell_stack_prefix);
	json_number(tables->json, "length", rows);
	json_end(tables->json);
}

/* Returns the symbol file and the source file of a func. */
static uint64_t files_of_func(const struct firefox_tables *tables, uint32_t func)
{
	return tables->places.nodes[tables->funcs.nodes[func + 1].key >> 32].key;
}

static void cell_func_name(struct firefox_tables *tables, uint32_t row)
{
	uint32_t function = (uint32_t)tables->funcs.nodes[row + 1].key;

	json_number(tables->json, NULL,
		    firefox_text(tables,
				 frames_function_name(tables->report->frames, function)));
}

/* Resources, libs and sources are all files but the first, which is none. */
static void cell_func_resource(struct firefox_tables *tables, uint32_t row)
{
	uint32_t file = (uint32_t)(files_of_func(tables, row) >> 32);

	json_real(tables->json, NULL, (double)file - 1, 0);
}

static void cell_func_source(struct firefox_tables *tables, uint32_t row)
{
	uint32_t file = (uint32_t)files_of_func(tables, row);

	if (file)
		json_number(tables->json, NULL, file - 1);
	else
		json_null(tables->json, NULL);
}

static void put_funcs(struct firefox_tables *tables)
{
	uint32_t rows = tables->funcs.count - 1;

	json_object(tables->json, "funcTable");
	put_column(tables, "isJS", rows, cell_false);
	put_column(tables, "relevantForJS", rows, cell_false);
	put_column(tables, "name", rows, cell_func_name);
	put_column(tables, "resource", rows, cell_func_resource);
	put_column(tables, "source", rows, cell_func_source);
	put_column(tables, "lineNumber", rows, cell_null);
	put_column(tables, "columnNumber", rows, cell_null);
	json_number(tables->json, "length", rows);
	json_end(tables->json);
}

static void cell_file_name(struct firefox_tables *tables, uint32_t row)
{
	json_number(tables->json, NULL,
		    firefox_text(tables, names_get(tables->frames.files, row + 1)));
}

static void cell_number(struct firefox_tables *tables, uint32_t row)
{
	json_number(tables->json, NULL, row);
}

static void cell_text(struct firefox_tables *tables, uint32_t row)
{
	json_string(tables->json, NULL, names_get(tables->texts, row));
}

static void put_shared(struct firefox_tables *tables)
{
	struct json *json = tables->json;
	uint32_t files = names_count(tables->frames.files) - 1;

	json_object(json, "shared");
	put_stacks(tables);
	put_frames(tables);
	put_funcs(tables);
	json_object(json, "resourceTable");
	put_column(tables, "lib", files, cell_number);
	put_column(tables, "name", files, cell_file_name);
	put_column(tables, "host", files, cell_null);
	put_column(tables, "type", files, cell_one); /* a library */
	json_number(json, "length", files);
	json_end(json);
	json_object(json, "nativeSymbols");
	put_column(tables, "libIndex", 0, cell_null);
	put_column(tables, "address", 0, cell_null);
	put_column(tables, "name", 0, cell_null);
	put_column(tables, "functionSize", 0, cell_null);
	json_number(json, "length", 0);
	json_end(json);
	json_object(json, "sources");
	put_column(tables, "id", files, cell_null);
	put_column(tables, "filename", files, cell_file_name);
	put_column(tables, "startLine", files, cell_one);
	put_column(tables, "startColumn", files, cell_one);
	put_column(tables, "sourceMapURL", files, cell_null);
	json_number(json, "length", files);
	json_end(json);
	/* The last, as the other tables add to it. */
	put_column(tables, "stringArray", names_count(tables->texts), cell_text);
	json_end(json);
}

static void put_libs(struct firefox_tables *tables)
{
	const struct sources *sources = tables->report->sources;
	struct json *json = tables->json;

	json_array(json, "libs");
	for (uint32_t i = 1; i < names_count(tables->frames.files); i++) {
		const char *name = names_get(tables->frames.files, i);
		const struct symbols_file *file = sources_file(sources, name);
		char build_id[SYMBOLS_BUILD_ID_TEXT] = "";

		if (file)
			symbols_build_id(file, build_id);
		json_object(json, NULL);
		json_string(json, "arch", "");
		json_string(json, "name", name);
		json_string(json, "path", name);
		json_string(json, "debugName", name);
		json_string(json, "debugPath", name);
		json_string(json, "breakpadId", "");
		if (*build_id)
			json_string(json, "codeId", build_id);
		else
			json_null(json, "codeId");
		json_end(json);
	}
	json_end(json);
}

uint32_t firefox_stack(const struct firefox_tables *tables, uint32_t leaf)
{
	return stacks_of(tables) + leaf;
}

int firefox_tables_write(struct firefox_tables *tables, struct json *json)
{
	tables->json = json;
	if (list_funcs(tables) < 0)
		return -1;
	put_libs(tables);
	put_shared(tables);
	return tables->failed ? -1 : 0;
}
