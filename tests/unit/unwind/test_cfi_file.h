/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_UNWIND_TEST_CFI_FILE_H
#define UNIPROF_TESTS_UNIT_UNWIND_TEST_CFI_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ELF files with given call frame information, for tests. */

/* The addresses of their code, and of the call frame information. */
#define CODE	  0x1000
#define CODE_SIZE 0x100000
#define FRAMES	  0x81000

/* An ELF file with these contents of @section, .eh_frame or .debug_frame, which the
 * caller frees. Its size is in *@made. NULL if out of memory. */
static inline uint8_t *make_file(uint16_t machine, const char *section,
				 const uint8_t *data, size_t size, size_t *made)
{
	static const char names[] = "\0.text\0.eh_frame\0.debug_frame\0.shstrtab";
	enum {
		HEADERS = 4
	};
	bool is_eh = strcmp(section, ".eh_frame") == 0;
	size_t headers = sizeof(Elf64_Ehdr);
	size_t text = headers + HEADERS * sizeof(Elf64_Shdr);
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_shoff = headers,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = HEADERS,
		.e_shstrndx = 3,
	};
	Elf64_Shdr sections[HEADERS] = {
		[1] = {.sh_name = 1,
		       .sh_type = SHT_NOBITS,
		       .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		       .sh_addr = CODE,
		       .sh_size = CODE_SIZE},
		[2] = {.sh_name = is_eh ? 7 : 17,
		       .sh_type = SHT_PROGBITS,
		       .sh_addr = is_eh ? FRAMES : 0,
		       .sh_offset = text + sizeof(names),
		       .sh_size = size,
		       .sh_addralign = 1},
		[3] = {.sh_name = 30,
		       .sh_type = SHT_STRTAB,
		       .sh_offset = text,
		       .sh_size = sizeof(names),
		       .sh_addralign = 1},
	};
	uint8_t *file;

	*made = text + sizeof(names) + size;
	file = malloc(*made);
	if (!file)
		return NULL;
	memcpy(file, &header, sizeof(header));
	memcpy(file + headers, sections, sizeof(sections));
	memcpy(file + text, names, sizeof(names));
	memcpy(file + text + sizeof(names), data, size);
	return file;
}

#endif
