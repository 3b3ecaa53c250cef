/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/elf/elf.h"

#include <string.h>

#include "symbols/elf/debuginfod.h"
#include "symbols/elf/unpack.h"

/* Reads the names from the debug file, if it has any. */
static void take_debug_names(struct symbols_debug *debug, struct symbols_entries *entries,
			     struct symbols_file *shown)
{
	struct error why;

	if (symbols_elf_read(debug->source.data, debug->source.size, debug->path, entries,
			     &debug->elf, &why)) {
		if (!debug->refused)
			debug->refused = strdup(why.text);
		return;
	}
	if (debug->elf.functions)
		shown->names_from = debug->path;
}

static void take_debugdata(const struct symbols_elf *elf, struct symbols_entries *entries,
			   struct symbols_file *shown)
{
	struct symbols_source source;
	struct symbols_elf inner;
	struct error why;

	if (unpack_xz(&source, elf->debugdata, elf->debugdata_size))
		return;
	if (source.size >= 4 && !memcmp(source.data, "\177ELF", 4) &&
	    !symbols_elf_read(source.data, source.size, ".gnu_debugdata", entries, &inner,
			      &why) &&
	    inner.functions)
		shown->names_from = ".gnu_debugdata";
	symbols_source_close(&source);
}

void symbols_read_stripped(struct symbols_debug *debug, const struct symbols_elf *elf,
			   struct symbols_entries *entries, struct symbols_file *shown)
{
	if (debug->path)
		take_debug_names(debug, entries, shown);
	if (!shown->names_from && elf->debugdata)
		take_debugdata(elf, entries, shown);
}

static int no_functions(const char *name, const struct symbols_debug *debug,
			struct error *err)
{
	if (debug->refused)
		return error_set(err, "%s: has no function symbols, and %s", name,
				 debug->refused);
	if (debug->missing)
		return error_set(err,
				 "%s: has no function symbols, and its debug file %s is "
				 "missing; install that or use the unstripped file%s",
				 name, debug->missing, debuginfod_hint());
	return error_set(
		err, "%s: has no function symbols (stripped?); use the unstripped file",
		name);
}

int symbols_load_elf(const struct symbols_elf_input *input,
		     struct symbols_entries *entries, struct symbols_file *shown,
		     struct symbols_debug *debug, struct error *err)
{
	const char *directory = input->options->debug_directory;
	struct symbols_elf elf;
	bool lacks_lines;

	if (symbols_elf_read(input->data, input->size, input->name, entries, &elf, err))
		return -1;
	shown->kind = "ELF";
	shown->machine = elf.machine;
	symbols_read_image(input->data, input->size, shown);
	if (elf.build_id_size <= sizeof(shown->build_id)) {
		shown->build_id_size = elf.build_id_size;
		memcpy(shown->build_id, elf.build_id, elf.build_id_size);
	}
	lacks_lines = input->options->lines && !elf.has_lines;
	if (elf.functions && !lacks_lines)
		return 0;
	if (directory && symbols_debug_find(debug, &elf, input->path, directory,
					    input->options->debuginfod))
		return error_set(err, "%s: out of memory", input->name);
	if (!elf.functions)
		symbols_read_stripped(debug, &elf, entries, shown);
	if (!elf.functions && !shown->names_from && !elf.exported)
		return no_functions(input->name, debug, err);
	shown->is_stripped = !elf.functions && !shown->names_from;
	if (lacks_lines && debug->path && debug->elf.has_lines)
		shown->lines_from = debug->path;
	else
		symbols_source_close(&debug->source);
	if (!debug->path && (shown->is_stripped || lacks_lines))
		shown->debug_missing = debug->missing;
	shown->debug_refused = debug->refused;
	return 0;
}
