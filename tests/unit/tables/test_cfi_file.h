/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_TABLES_TEST_CFI_FILE_H
#define UNIPROF_TESTS_UNIT_TABLES_TEST_CFI_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ELF files with given tables for unwinding, for tests. */

/* The addresses of their code, and of the call frame information. */
#define CODE	  0x1000
#define CODE_SIZE 0x100000
#define FRAMES	  0x81000

struct file_section {
	const char *name;
	uint64_t address;
	const void *data;
	size_t size;
	bool is_code;
};

/* An ELF file with code and with up to five sections, which the caller frees. Its size is
 * in *@made. NULL if out of memory. */
static inline uint8_t *make_elf(uint16_t machine, const struct file_section *section,
				size_t count, size_t *made)
{
	enum {
		HEADERS = 3 + 5
	};
	char names[128] = "\0.text\0.shstrtab";
	size_t name = 17, headers = sizeof(Elf64_Ehdr);
	size_t text = headers + HEADERS * sizeof(Elf64_Shdr), at = text + sizeof(names);
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_shoff = headers,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)(3 + count),
		.e_shstrndx = 2,
	};
	Elf64_Shdr sections[HEADERS] = {
		[1] = {.sh_name = 1,
		       .sh_type = SHT_NOBITS,
		       .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		       .sh_addr = CODE,
		       .sh_size = CODE_SIZE},
		[2] = {.sh_name = 7,
		       .sh_type = SHT_STRTAB,
		       .sh_offset = text,
		       .sh_size = sizeof(names),
		       .sh_addralign = 1},
	};
	uint8_t *file;

	*made = at;
	for (size_t i = 0; i < count; i++)
		*made += section[i].size;
	file = malloc(*made);
	if (!file)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		sections[3 + i] = (Elf64_Shdr){
			.sh_name = (uint32_t)name,
			.sh_type = SHT_PROGBITS,
			.sh_flags = section[i].is_code ? SHF_ALLOC | SHF_EXECINSTR : 0,
			.sh_addr = section[i].address,
			.sh_offset = at,
			.sh_size = section[i].size,
			.sh_addralign = 1,
		};
		strcpy(names + name, section[i].name);
		name += strlen(section[i].name) + 1;
		if (section[i].size)
			memcpy(file + at, section[i].data, section[i].size);
		at += section[i].size;
	}
	memcpy(file, &header, sizeof(header));
	memcpy(file + headers, sections, sizeof(sections));
	memcpy(file + text, names, sizeof(names));
	return file;
}

/* Makes such a file with these contents of @section, .eh_frame or .debug_frame. */
static inline uint8_t *make_file(uint16_t machine, const char *section,
				 const uint8_t *data, size_t size, size_t *made)
{
	const struct file_section frames = {
		.name = section,
		.address = strcmp(section, ".eh_frame") == 0 ? FRAMES : 0,
		.data = data,
		.size = size};

	return make_elf(machine, &frames, 1, made);
}

#endif
