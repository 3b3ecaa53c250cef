/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/html/page.h"

#include <stdint.h>

extern const char page_head[], page_body[], page_body_end[];

/* The Makefile defines PAGE, the folder of the files. */
__asm__(".pushsection .rodata\n"
	".globl page_head, page_body, page_body_end\n"
	"page_head: .incbin \"" PAGE "/head\"\n"
	"page_body: .incbin \"" PAGE "/body\"\n"
	"page_body_end: .byte 0\n"
	".popsection\n");

void page_begin(FILE *out)
{
	fwrite(page_head, 1, (uintptr_t)page_body - (uintptr_t)page_head, out);
}

void page_end(FILE *out)
{
	fwrite(page_body, 1, (uintptr_t)page_body_end - (uintptr_t)page_body, out);
}
