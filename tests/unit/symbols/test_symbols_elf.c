/* SPDX-License-Identifier: BSD-3-Clause */

/* Symbols from ELF files made by the test, also damaged ones. */

#include "tests/unit/symbols/test_symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>

#include "symbols/table.h"

#define TEXT_ADDRESS 0x1000
#define TEXT_SIZE    0x100

enum {
	TEXT = 1,
	DATA = 2
}; /* section numbers in the files made here */

struct made_symbol {
	const char *name;
	uint64_t value, size;
	unsigned char bind, type;
	uint16_t section;
};

struct made_elf {
	int class, encoding; /* 0: 64-bit, little-endian */
	uint16_t type;	     /* 0: ET_EXEC */
	uint16_t machine;    /* 0: EM_X86_64 */
	uint64_t text;	     /* address */
	bool dynamic;	     /* .dynsym instead of .symtab */
	const struct made_symbol *symbols;
	size_t count;
};

static Elf_Data *add_section(Elf *elf, GElf_Shdr shdr, void *data, Elf_Type type)
{
	Elf_Scn *scn = elf_newscn(elf);
	Elf_Data *content = elf_newdata(scn);
	GElf_Shdr header;

	content->d_buf = data;
	content->d_size = shdr.sh_size;
	content->d_type = type;
	content->d_align = 8;
	content->d_version = EV_CURRENT;
	gelf_getshdr(scn, &header);
	header.sh_name = shdr.sh_name;
	header.sh_type = shdr.sh_type;
	header.sh_flags = shdr.sh_flags;
	header.sh_addr = shdr.sh_addr;
	header.sh_link = shdr.sh_link;
	header.sh_entsize = shdr.sh_entsize;
	assert_true(gelf_update_shdr(scn, &header));
	return content;
}

static const char section_names[] = "\0.text\0.data\0.symtab\0.strtab";

static void set_header(Elf *elf, const struct made_elf *made)
{
	GElf_Ehdr header;

	assert_true(gelf_newehdr(elf, made->class ? made->class : ELFCLASS64) != 0);
	gelf_getehdr(elf, &header);
	header.e_ident[EI_DATA] = (unsigned char)(made->encoding ? made->encoding
								 : ELFDATA2LSB);
	header.e_type = made->type ? made->type : ET_EXEC;
	header.e_machine = made->machine ? made->machine : EM_X86_64;
	header.e_version = EV_CURRENT;
	header.e_shstrndx = 4;
	assert_true(gelf_update_ehdr(elf, &header));
}

/* Adds the symbols and, after the @used bytes of section names, their names. Returns the
 * end of the names. */
static size_t set_symbols(Elf_Data *table, const struct made_elf *made, char *strings,
			  size_t size, size_t used)
{
	for (size_t i = 0; i < made->count; i++) {
		const struct made_symbol *from = &made->symbols[i];
		GElf_Sym symbol = {
			.st_name = (GElf_Word)used,
			.st_value = from->value,
			.st_size = from->size,
			.st_info = GELF_ST_INFO(from->bind, from->type),
			.st_shndx = from->section,
		};

		assert_true(used + strlen(from->name) < size);
		strcpy(strings + used, from->name);
		used += strlen(from->name) + 1;
		assert_true(gelf_update_sym(table, (int)i + 1, &symbol));
	}
	return used;
}

/* Adds .text, .data, and the symbols with their strings; returns memory that must be kept
 * until the file is written. */
static void *add_sections(Elf *elf, const struct made_elf *made, char *strings,
			  size_t size)
{
	static char content[TEXT_SIZE];
	const GElf_Shdr text = {.sh_name = 1,
				.sh_type = SHT_PROGBITS,
				.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				.sh_addr = made->text,
				.sh_size = TEXT_SIZE};
	const GElf_Shdr data = {.sh_name = 7,
				.sh_type = SHT_PROGBITS,
				.sh_flags = SHF_ALLOC | SHF_WRITE,
				.sh_addr = made->text + 0x10000,
				.sh_size = 16};
	size_t entry_size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	const GElf_Shdr symbols = {.sh_name = 13,
				   .sh_type = made->dynamic ? SHT_DYNSYM : SHT_SYMTAB,
				   .sh_size = (made->count + 1) * entry_size,
				   .sh_link = 4,
				   .sh_entsize = entry_size};
	GElf_Shdr names = {.sh_name = 21, .sh_type = SHT_STRTAB};
	void *entries = calloc(made->count + 1, entry_size);
	Elf_Data *table;

	assert_non_null(entries);
	memcpy(strings, section_names, sizeof(section_names));
	add_section(elf, text, content, ELF_T_BYTE);
	add_section(elf, data, content, ELF_T_BYTE);
	table = add_section(elf, symbols, entries, ELF_T_SYM);
	names.sh_size = set_symbols(table, made, strings, size, sizeof(section_names));
	add_section(elf, names, strings, ELF_T_BYTE);
	return entries;
}

/* Writes a small ELF file: .text, .data, a symbol table and its strings. */
static const char *make_elf(struct fixture *f, const char *name,
			    const struct made_elf *made)
{
	int fd = open(path_of(f, name), O_RDWR | O_CREAT | O_TRUNC, 0600);
	char strings[1024];
	void *entries;
	Elf *elf;

	assert_true(fd >= 0);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	assert_non_null(elf);
	set_header(elf, made);
	entries = add_sections(elf, made, strings, sizeof(strings));
	assert_true(elf_update(elf, ELF_C_WRITE) > 0);
	elf_end(elf);
	close(fd);
	free(entries);
	return f->path;
}

#define MADE(list) .symbols = list, .count = sizeof(list) / sizeof(*list)

static void every_class_and_byte_order_is_read(void **state)
{
	static const struct made_symbol symbols[] = {
		{"main.c", 0, 0, STB_LOCAL, STT_FILE, SHN_ABS},
		{"work", 0x1000, 0x10, STB_LOCAL, STT_FUNC, TEXT},
		{"data", 0x11000, 8, STB_GLOBAL, STT_OBJECT, DATA},
		{"chosen", 0x1010, 0x10, STB_GLOBAL, STT_GNU_IFUNC, TEXT},
	};
	static const struct {
		int class, encoding;
		uint16_t machine;
	} kinds[] = {
		{ELFCLASS32, ELFDATA2LSB, EM_386},
		{ELFCLASS32, ELFDATA2MSB, EM_PPC},
		{ELFCLASS64, ELFDATA2LSB, EM_AARCH64},
		{ELFCLASS64, ELFDATA2MSB, EM_S390},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct made_elf made = {.class = kinds[i].class,
					.encoding = kinds[i].encoding,
					.machine = kinds[i].machine,
					.text = TEXT_ADDRESS,
					MADE(symbols)};
		char spec[160];

		make_elf(f, "program", &made);
		snprintf(spec, sizeof(spec), "%s@%zu", f->path, i * 0x1000);
		add_file(f, spec);
		assert_string_equal(last_file(f)->kind, "ELF");
		assert_int_equal(last_file(f)->machine, kinds[i].machine);
		assert_int_equal(last_file(f)->functions, 2);
		assert_int_equal(last_file(f)->low, 0x1000 + i * 0x1000);
		assert_int_equal(last_file(f)->high, 0x101f + i * 0x1000);
		expect(f, 0x100f + i * 0x1000, "work", 0x1000 + i * 0x1000);
		expect(f, 0x1010 + i * 0x1000, "chosen", 0x1010 + i * 0x1000);
		expect_none(f, 0x1020 + i * 0x1000);
	}
}

static void a_unikernel_may_start_at_address_0(void **state)
{
	static const struct made_symbol symbols[] = {
		{"_start", 0, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
		{"STACK_SIZE", 8, 0, STB_GLOBAL, STT_NOTYPE, SHN_ABS},
		{"hypercall_page", 0x20, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
		{"main", 0x40, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
		{"imported", 0, 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF},
	};
	struct made_elf made = {MADE(symbols)};
	struct fixture *f = *state;

	add_file(f, make_elf(f, "unikernel", &made));
	expect(f, 0, "_start", 0);
	expect(f, 0x1f, "_start", 0);
	expect(f, 0x3f, "hypercall_page", 0x20);
	expect(f, 0x4f, "main", 0x40);
	expect_none(f, 0x50);
	assert_int_equal(last_file(f)->functions, 3);
}

static void untyped_functions_end_at_the_next_symbol_or_section_end(void **state)
{
	static const struct made_symbol symbols[] = {
		{"entry", 0x1000, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
		{".L1", 0x1004, 0, STB_LOCAL, STT_NOTYPE, TEXT},
		{"table", 0x1010, 8, STB_LOCAL, STT_OBJECT, TEXT},
		{"stub", 0x1020, 0, STB_LOCAL, STT_FUNC, TEXT},
		{"etext", 0x1100, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
		{"in_data", 0x11000, 0, STB_GLOBAL, STT_NOTYPE, DATA},
		{"thread_local", 0x1024, 8, STB_LOCAL, STT_TLS, TEXT},
	};
	struct made_elf made = {.text = TEXT_ADDRESS, MADE(symbols)};
	struct fixture *f = *state;

	add_file(f, make_elf(f, "program", &made));
	expect(f, 0x100f, "entry", 0x1000);
	expect_none(f, 0x1010);
	expect(f, 0x10ff, "stub", 0x1020);
	expect_none(f, 0x1100);
	expect_none(f, 0x11000);
	assert_int_equal(last_file(f)->functions, 2);
}

static void labels_within_functions_are_not_functions(void **state)
{
	static const struct made_symbol symbols[] = {
		{"copy", 0x1000, 0x20, STB_GLOBAL, STT_FUNC, TEXT},
		{"again", 0x1008, 0, STB_LOCAL, STT_NOTYPE, TEXT},
		{"copy.cold", 0x1020, 8, STB_LOCAL, STT_FUNC, TEXT},
		{"copy.part.0", 0x1028, 8, STB_LOCAL, STT_FUNC, TEXT},
		{"copy.isra.0", 0x1030, 8, STB_LOCAL, STT_FUNC, TEXT},
		/* A label at a function's start, which may be the Linux kernel's. */
		{"_text", 0x1000, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
		/* Hand-written code, as at Linux' entry, where labels are functions. */
		{"entry", 0x1040, 0x20, STB_GLOBAL, STT_NOTYPE, TEXT},
		{"entry_after_frame", 0x1050, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
		{"behind", 0x1060, 0, STB_LOCAL, STT_NOTYPE, TEXT},
		{"hypercall_page", 0x1080, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
	};
	struct made_elf made = {.text = TEXT_ADDRESS, MADE(symbols)};
	struct fixture *f = *state;

	add_file(f, make_elf(f, "program", &made));
	expect(f, 0x1007, "copy", 0x1000);
	expect(f, 0x1008, "copy", 0x1000);
	expect(f, 0x1027, "copy.cold", 0x1020);
	expect(f, 0x102f, "copy.part.0", 0x1028);
	expect(f, 0x1037, "copy.isra.0", 0x1030);
	expect(f, 0x104f, "entry", 0x1040);
	expect(f, 0x105f, "entry_after_frame", 0x1050);
	expect(f, 0x107f, "behind", 0x1060);
	expect(f, 0x10ff, "hypercall_page", 0x1080);
	assert_int_equal(last_file(f)->functions, 8);
}

static void labels_of_nasm_are_not_functions(void **state)
{
	static const struct made_symbol symbols[] = {
		{"interrupt", 0x1000, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
		{"..@36.out", 0x1008, 0, STB_LOCAL, STT_NOTYPE, TEXT},
		{"interrupt.full", 0x1010, 0, STB_LOCAL, STT_NOTYPE, TEXT},
		{"..@37.out", 0x1018, 0, STB_LOCAL, STT_NOTYPE, TEXT},
		/* Where labels start a function, the function's name is better. */
		{"load.first", 0x1020, 0, STB_LOCAL, STT_NOTYPE, TEXT},
		{"load", 0x1020, 0, STB_LOCAL, STT_NOTYPE, TEXT},
		{"load.last", 0x1028, 0, STB_LOCAL, STT_NOTYPE, TEXT},
		/* The end of one function is where the next one starts. */
		{"load.the_end", 0x102c, 0, STB_LOCAL, STT_NOTYPE, TEXT},
		{"store", 0x102c, 0, STB_LOCAL, STT_NOTYPE, TEXT},
		/* A name with a dot, but of no function before it. */
		{"interrupt.copy", 0x1030, 0, STB_LOCAL, STT_NOTYPE, TEXT},
		{"loaded", 0x1040, 0, STB_LOCAL, STT_NOTYPE, TEXT},
	};
	struct made_elf made = {.text = TEXT_ADDRESS, MADE(symbols)};
	struct fixture *f = *state;

	add_file(f, make_elf(f, "kernel", &made));
	expect(f, 0x1008, "interrupt", 0x1000);
	expect(f, 0x101f, "interrupt", 0x1000);
	expect(f, 0x1020, "load", 0x1020);
	expect(f, 0x102b, "load", 0x1020);
	expect(f, 0x102c, "store", 0x102c);
	expect(f, 0x103f, "interrupt.copy", 0x1030);
	expect(f, 0x10ff, "loaded", 0x1040);
	assert_int_equal(last_file(f)->functions, 5);
}

/* Without function types, as ocamlopt makes them for systems that it does not know. */
static void bounds_of_ocaml_modules_are_not_functions(void **state)
{
	static const struct made_symbol symbols[] = {
		{"camlMain.code_begin", 0x1000, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
		{"camlMain.work_7", 0x1000, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
		{"camlMain.code_end", 0x1020, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
		{"camlOld__code_begin", 0x1030, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
		{"camlOld__f_1", 0x1030, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
		{"camlOld__code_begin_2", 0x1040, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
		{"camlOld__code_end", 0x1050, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
		{"code_end", 0x1060, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
	};
	struct made_elf made = {.text = TEXT_ADDRESS, MADE(symbols)};
	struct fixture *f = *state;

	add_file(f, make_elf(f, "unikernel", &made));
	expect(f, 0x101f, "camlMain.work_7", 0x1000);
	expect_none(f, 0x1020);
	expect(f, 0x103f, "camlOld__f_1", 0x1030);
	expect(f, 0x104f, "camlOld__code_begin_2", 0x1040);
	expect_none(f, 0x1050);
	expect(f, 0x1060, "code_end", 0x1060);
	assert_int_equal(last_file(f)->functions, 4);
}

static void absolute_functions_need_a_size(void **state)
{
	static const struct made_symbol symbols[] = {
		{"fixed", 0x500000, 0x10, STB_GLOBAL, STT_FUNC, SHN_ABS},
		{"somewhere", 0x600000, 0, STB_GLOBAL, STT_FUNC, SHN_ABS},
		{"constant", 0x700000, 0x10, STB_GLOBAL, STT_NOTYPE, SHN_ABS},
		{"common", 0x10, 0x10, STB_GLOBAL, STT_FUNC, SHN_COMMON},
		{"no_such_section", 0x800000, 0x10, STB_GLOBAL, STT_NOTYPE, 1234},
	};
	struct made_elf made = {.text = TEXT_ADDRESS, MADE(symbols)};
	struct fixture *f = *state;

	add_file(f, make_elf(f, "program", &made));
	expect(f, 0x50000f, "fixed", 0x500000);
	assert_int_equal(last_file(f)->functions, 1);
}

static void thumb_functions_start_at_an_even_address(void **state)
{
	static const struct made_symbol symbols[] = {
		{"arm_work", 0x1000, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
		{"$t", 0x1010, 0, STB_LOCAL, STT_NOTYPE, TEXT},
		{"thumb_work", 0x1011, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
		{"$d.7", 0x1018, 0, STB_LOCAL, STT_NOTYPE, TEXT},
	};
	struct made_elf made = {.class = ELFCLASS32,
				.machine = EM_ARM,
				.text = TEXT_ADDRESS,
				MADE(symbols)};
	struct fixture *f = *state;

	add_file(f, make_elf(f, "program", &made));
	expect(f, 0x100f, "arm_work", 0x1000);
	expect(f, 0x1010, "thumb_work", 0x1010);
	expect(f, 0x101f, "thumb_work", 0x1010);
	expect_none(f, 0x1020);

	/* On other CPUs, the lowest bit is part of the address. */
	made.class = ELFCLASS64;
	made.machine = EM_X86_64;
	add_file(f, make_elf(f, "other", &made));
	assert_int_equal(last_file(f)->high, 0x1020);
}

static void the_best_of_several_symbols_is_chosen(void **state)
{
	/* Each pair has the better symbol first. */
	static const struct made_symbol pairs[][2] = {
		{{"b", 0x1000, 4, STB_GLOBAL, STT_FUNC, TEXT},
		 {"a", 0x1000, 4, STB_WEAK, STT_FUNC, TEXT}},
		{{"b", 0x1000, 4, STB_LOCAL, STT_FUNC, TEXT},
		 {"a", 0x1000, 4, STB_WEAK, STT_FUNC, TEXT}},
		{{"first_in_text", 0x1000, 4, STB_LOCAL, STT_FUNC, TEXT},
		 {"stext", 0x1000, 0, STB_GLOBAL, STT_NOTYPE, TEXT}},
		{{"read", 0x1000, 4, STB_GLOBAL, STT_FUNC, TEXT},
		 {"_read", 0x1000, 4, STB_GLOBAL, STT_FUNC, TEXT}},
		{{"p_read", 0x1000, 4, STB_GLOBAL, STT_FUNC, TEXT},
		 {"read", 0x1000, 4, STB_GLOBAL, STT_FUNC, TEXT}},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		for (size_t first = 0; first < 2; first++) {
			const struct made_symbol symbols[] = {pairs[i][first],
							      pairs[i][1 - first]};
			struct made_elf made = {.text = TEXT_ADDRESS, MADE(symbols)};
			char spec[160];
			uint64_t offset = 0x1000 * (2 * i + first);

			make_elf(f, "program", &made);
			snprintf(spec, sizeof(spec), "%s@%lu", f->path,
				 (unsigned long)offset);
			add_file(f, spec);
			expect(f, 0x1003 + offset, pairs[i][0].name, 0x1000 + offset);
			expect_none(f, 0x1004 + offset);
		}
	}
}

static void dynamic_symbols_are_used_if_there_are_no_others(void **state)
{
	static const struct made_symbol symbols[] = {
		{"exported", 0x1000, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
	};
	struct made_elf made = {
		.type = ET_DYN, .dynamic = true, .text = TEXT_ADDRESS, MADE(symbols)};
	struct fixture *f = *state;

	add_file(f, make_elf(f, "library.so", &made));
	expect(f, 0x1000, "exported", 0x1000);
}

static void elf_files_without_functions_are_refused(void **state)
{
	static const struct made_symbol none[] = {
		{"data", 0x11000, 8, STB_GLOBAL, STT_OBJECT, DATA},
	};
	static const struct made_symbol one[] = {
		{"work", 0, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
	};
	struct made_elf stripped = {.text = TEXT_ADDRESS, MADE(none)};
	struct made_elf module = {.type = ET_REL, MADE(one)};
	struct made_elf core = {.type = ET_CORE, MADE(one)};
	struct made_elf other = {.type = 0xfe00, MADE(one)};
	struct fixture *f = *state;

	refuse(f, make_elf(f, "stripped", &stripped),
	       "stripped: has no function symbols (stripped?); use the unstripped file");
	refuse(f, make_elf(f, "ext4.ko", &module),
	       "ext4.ko is a relocatable file (.o, .ko), which has no final addresses");
	refuse(f, make_elf(f, "core", &core), "core is a core file");
	refuse(f, make_elf(f, "other", &other), "other is an ELF file of type 65024");
}

/* Reads the file into a block of its exact size, so that overruns are detected. */
static unsigned char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	unsigned char *data;
	long end;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	end = ftell(file);
	assert_true(end > 0);
	rewind(file);
	*size = (size_t)end;
	data = malloc(*size);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, *size, file), *size);
	fclose(file);
	return data;
}

/* Loads a damaged file. Any result within the guarantees is accepted. */
static void load_damaged(const void *data, size_t size)
{
	struct symbols_offset offset = {0};
	struct symbols *symbols = symbols_new(&(struct symbols_options){0});
	const struct symbols_file *files;
	struct symbol symbol;
	struct error err = {""};
	void *copy = malloc(size ? size : 1);

	assert_non_null(symbols);
	assert_non_null(copy);
	memcpy(copy, data, size);
	if (symbols_add_memory(symbols, "damaged", offset, copy, size, &err)) {
		assert_int_equal(strncmp(err.text, "damaged", 7), 0);
		assert_null(strchr(err.text, '\n'));
		assert_int_equal(symbols_files(symbols, &files), 0);
	} else {
		assert_int_equal(symbols_files(symbols, &files), 1);
		assert_true(files->functions > 0);
		assert_true(files->low <= files->high);
		assert_true(symbols_find(symbols, files->low, &symbol));
		assert_true(symbols_find(symbols, files->high, &symbol));
		assert_true(strlen(symbol.name) > 0);
	}
	free(copy);
	symbols_free(symbols);
}

static const struct made_symbol few_symbols[] = {
	{"entry", 0x1000, 0, STB_GLOBAL, STT_NOTYPE, TEXT},
	{"work", 0x1010, 0x10, STB_LOCAL, STT_FUNC, TEXT},
	{"table", 0x1020, 0x10, STB_LOCAL, STT_OBJECT, TEXT},
};

static void truncated_files_are_safe(void **state)
{
	struct made_elf made = {.text = TEXT_ADDRESS, MADE(few_symbols)};
	struct fixture *f = *state;
	size_t size;

	for (int class = ELFCLASS32; class <= ELFCLASS64; class ++) {
		unsigned char *data;

		made.class = class;
		made.machine = class == ELFCLASS32 ? EM_386 : EM_X86_64;
		data = read_file(make_elf(f, "program", &made), &size);
		for (size_t cut = 0; cut < size; cut++)
			load_damaged(data, cut);
		free(data);
	}
}

static void truncation_is_reported(void **state)
{
	struct made_elf made = {.text = TEXT_ADDRESS, MADE(few_symbols)};
	struct fixture *f = *state;
	unsigned char *data;
	size_t size;

	data = read_file(make_elf(f, "program", &made), &size);
	refuse(f, write_file(f, "cut", data, size - 1),
	       "cut is a damaged ELF file (truncated); copy it again");
	refuse(f, write_file(f, "cut", data, 100), "truncated");
	free(data);
}

static void modified_files_are_safe(void **state)
{
	static const unsigned char masks[] = {0xff, 0x01, 0x80, 0x0f};
	struct made_elf made = {.text = TEXT_ADDRESS, MADE(few_symbols)};
	struct fixture *f = *state;
	size_t size;

	for (int class = ELFCLASS32; class <= ELFCLASS64; class ++) {
		unsigned char *data;

		made.class = class;
		made.machine = class == ELFCLASS32 ? EM_ARM : EM_X86_64;
		data = read_file(make_elf(f, "program", &made), &size);
		for (size_t i = 0; i < size; i++) {
			for (size_t mask = 0; mask < sizeof(masks); mask++) {
				data[i] ^= masks[mask];
				load_damaged(data, size);
				data[i] ^= masks[mask];
			}
		}
		free(data);
	}
}

int main(void)
{
	alarm(300);
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(every_class_and_byte_order_is_read),
		TEST(a_unikernel_may_start_at_address_0),
		TEST(untyped_functions_end_at_the_next_symbol_or_section_end),
		TEST(labels_within_functions_are_not_functions),
		TEST(labels_of_nasm_are_not_functions),
		TEST(bounds_of_ocaml_modules_are_not_functions),
		TEST(absolute_functions_need_a_size),
		TEST(thumb_functions_start_at_an_even_address),
		TEST(the_best_of_several_symbols_is_chosen),
		TEST(dynamic_symbols_are_used_if_there_are_no_others),
		TEST(elf_files_without_functions_are_refused),
		TEST(truncated_files_are_safe),
		TEST(truncation_is_reported),
		TEST(modified_files_are_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
