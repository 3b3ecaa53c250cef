/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/orc.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "format/buffer.h"
#include "symbols/code.h"
#include "symbols/elf/section.h"

/*
 * A row of .orc_unwind is two signed numbers of 16 bits, offsets of the stack pointer and
 * of the frame pointer, and 16 bits: the registers that they are relative to, 4 bits
 * each, and the kind of the frame (Linux, arch/x86/include/asm/orc_types.h). The row of
 * equal number in .orc_unwind_ip is the address from which on it applies, relative to its
 * own place.
 */
#define IP_SIZE	 ORC_IP_SIZE
#define ROW_SIZE ORC_ROW_SIZE

enum {
	REG_UNDEFINED = 0,
	REG_PREV_SP = 1,
	REG_DX = 2,
	REG_DI = 3,
	REG_BP = 4,
	REG_SP = 5,
	REG_R10 = 6,
	REG_R13 = 7,
	REG_BP_INDIRECT = 8,
	REG_SP_INDIRECT = 9,
};

/* The kinds of frames, numbered as since Linux 6.4. */
enum frame {
	FRAME_UNDEFINED,
	FRAME_OUTERMOST,
	FRAME_CALL,
	FRAME_REGS,    /* all registers are on the stack: struct pt_regs */
	FRAME_PARTIAL, /* its last five words, which the CPU saves, are on the stack */
};

/* Offsets in struct pt_regs (arch/x86/include/asm/ptrace.h). */
enum {
	REGS_BP = 32,
	REGS_IP = 128,
	REGS_SP = 152,
};

struct row {
	uint64_t start;
	int16_t sp_offset, bp_offset;
	uint8_t sp, bp; /* registers */
	uint8_t frame;
};

/*
 * A retpoline, which jumps to the address in a register by returning to it: it calls its
 * own next instruction but one, and writes over the return address (Linux,
 * arch/x86/lib/retpoline.S). The ORC rows say that its caller is unknown, but samples
 * often hit it in kernels that use it; other kernels patch it to a jump.
 */
#define RETPOLINE_ALIGN	     32
#define RETPOLINE_CALL	     5	/* the size of the call */
#define RETPOLINE_WRITE	     12 /* the offset and the size of the write */
#define RETPOLINE_WRITE_SIZE 4
#define RETPOLINE_SIZE	     (RETPOLINE_WRITE + RETPOLINE_WRITE_SIZE)
static const uint8_t retpoline[RETPOLINE_WRITE] = {
	0xe8, 0x07, 0x00, 0x00, 0x00, /* call 12 */
	0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9};

/*
 * Entries of the kernel. Their ORC rows mark them as outermost frames. Where guests of
 * Xen with their own page tables are entered, rcx and r11 are above the words that an
 * exception saves (Linux, arch/x86/xen/xen-asm.S); pauses often find them there. At the
 * end of a system call's entry, registers are pushed (arch/x86/entry/calling.h).
 */
#define ENTRY_MAX     256 /* bytes */
#define XEN_ENTRY_MAX 32  /* bytes; longer ones are several */
#define ENTRY_RANGES  64  /* of code in a file; kernels have less */
static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
static const uint8_t xen_pops[] = {0x59, 0x41, 0x5b};
static const uint8_t pushes[] = {0x50, 0x57, 0x56, 0x52, 0x51, 0x6a, 0xda, 0x41, 0x50,
				 0x41, 0x51, 0x41, 0x52, 0x41, 0x53, 0x53, 0x55, 0x41,
				 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57};

/*
 * The entry of a system call up to the pushes of registers, and the end of a system call
 * (Linux, arch/x86/entry/entry_64.S). The CPU has left the program's address in rcx, and
 * has not changed the stack pointer: the entry keeps it in memory (swapgs; mov
 * %rsp,%gs:n), takes the kernel's (mov %gs:n,%rsp) and pushes the words that an exception
 * saves. In between, rsp may be used to change the page tables (PTI); chains then miss no
 * more than the caller of a function without a frame. The end is pop %rax, if the kernel
 * can have PTI; pop %rdi; pop %rsp; swapgs; a few bytes; sysretq.
 */
static const uint8_t call_start[] = {0x0f, 0x01, 0xf8, 0x65, 0x48, 0x89, 0x24, 0x25};
static const uint8_t call_pushes[] = {0x6a, 0x2b, 0x65, 0xff, 0x34, 0x25};
#define CALL_PUSHES_SIZE 15 /* with push %gs:n, r11, a number and rcx */
static const uint8_t call_end[] = {0x5f, 0x5c, 0x0f, 0x01, 0xf8};
static const uint8_t sysret[] = {0x48, 0x0f, 0x07};
#define POP_RAX	     0x58
#define CALL_END_MAX 24 /* bytes */

struct rows {
	struct row *list;
	size_t count;
};

/* Until Linux 6.3, there were fewer kinds, and bits of their own for the outermost frames
 * (bit 2 or, in 6.3, bit 3), which have no stack pointer. */
static uint8_t older_frame(unsigned int bits, unsigned int sp)
{
	if (sp == REG_UNDEFINED)
		return bits & 0xc ? FRAME_OUTERMOST : FRAME_UNDEFINED;
	return (bits & 3) < 3 ? FRAME_CALL + (bits & 3) : FRAME_UNDEFINED;
}

/* Nearly all frames are frames of calls. The number of a call in one numbering is unused,
 * or rare, in the other. */
static bool is_older(const uint8_t *data, size_t count)
{
	size_t older = 0, newer = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned int bits = get_le16(data + i * ROW_SIZE + 4);

		if (!(bits & 15))
			continue;
		older += !(bits >> 8 & 7);
		newer += (bits >> 8 & 7) == FRAME_CALL;
	}
	return older > newer;
}

/* Compares rows by address. Where one file's code ends and the next file's begins, the
 * row that ends the first file's comes first. */
static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->frame != FRAME_UNDEFINED) - (b->frame != FRAME_UNDEFINED);
}

/* Reads the rows and sorts them by address. False if out of memory. */
static bool read_rows(struct rows *rows, const struct section_bytes *ips,
		      uint64_t address, const struct section_bytes *data)
{
	size_t count = ips->size / IP_SIZE;
	bool older = is_older(data->data, count), is_sorted = true;

	*rows = (struct rows){.count = count};
	rows->list = calloc(count, sizeof(*rows->list));
	if (!rows->list)
		return false;
	for (size_t i = 0; i < count; i++) {
		const uint8_t *from = data->data + i * ROW_SIZE;
		int32_t distance = (int32_t)get_le32(ips->data + i * IP_SIZE);
		unsigned int bits = get_le16(from + 4), kind = bits >> 8 & 15;
		struct row *row = &rows->list[i];

		row->start = address + i * IP_SIZE + (uint64_t)(int64_t)distance;
		row->sp_offset = (int16_t)get_le16(from);
		row->bp_offset = (int16_t)get_le16(from + 2);
		row->sp = bits & 15;
		row->bp = bits >> 4 & 15;
		row->frame = older ? older_frame(kind, row->sp) : kind & 7;
		is_sorted &= !i || row[-1].start <= row->start;
	}
	/* Linux before 5.6 sorts its tables when it boots. */
	if (!is_sorted)
		qsort(rows->list, count, sizeof(*rows->list), compare_rows);
	return true;
}

/* Sets the register or word that the rule is relative to (arch/x86/kernel/unwind_orc.c,
 * unwind_next_frame). */
static bool set_base(struct unwind_rule *rule, const struct row *row)
{
	static const uint8_t numbers[] = {
		[REG_DX] = 2, [REG_DI] = 7, [REG_R10] = 10, [REG_R13] = 13};

	switch (row->sp) {
	case REG_SP:
		rule->cfa = row->sp_offset;
		return true;
	case REG_BP:
		rule->from_fp = true;
		rule->cfa = row->sp_offset;
		return true;
	case REG_SP_INDIRECT:
		rule->from_word = true;
		rule->cfa = row->sp_offset;
		return true;
	case REG_BP_INDIRECT:
		rule->from_fp = rule->from_word = true;
		rule->word = row->sp_offset;
		return true;
	case REG_DX:
	case REG_DI:
	case REG_R10:
	case REG_R13:
		rule->other = 1 + numbers[row->sp];
		return true;
	default:
		return false;
	}
}

static void set_call(struct unwind_rule *rule, const struct row *row)
{
	rule->kind = UNWIND_CALLER;
	rule->caller = -8;
	rule->fp = UNWIND_LOST;
	if (row->bp == REG_UNDEFINED) {
		rule->fp = UNWIND_KEPT;
	} else if (row->bp == REG_PREV_SP) {
		rule->fp = row->bp_offset;
	} else if (row->bp == REG_BP && rule->from_fp) {
		rule->fp_by_register = true;
		rule->fp = row->bp_offset;
	}
}

static struct unwind_rule rule_of(const struct row *row)
{
	struct unwind_rule rule = {.kind = UNWIND_UNKNOWN};
	int32_t skipped = row->frame == FRAME_PARTIAL ? REGS_IP : 0;

	if (row->frame == FRAME_OUTERMOST)
		rule.kind = UNWIND_OUTERMOST;
	if (row->frame < FRAME_CALL || !set_base(&rule, row))
		return rule;
	if (row->frame == FRAME_CALL) {
		set_call(&rule, row);
	} else if (row->frame <= FRAME_PARTIAL && !rule.from_word && !rule.other) {
		rule.kind = UNWIND_INTERRUPTED;
		rule.caller = REGS_IP - skipped;
		rule.word = REGS_SP - skipped;
		rule.fp = row->frame == FRAME_REGS ? REGS_BP : UNWIND_KEPT;
	}
	return rule;
}

struct kernel {
	struct unwind_builder *builder;
	uint64_t start, end; /* only code in this range gets rules; without the offset */
	struct code code;
	size_t size;	     /* of the file */
	uint64_t offset;     /* to add to addresses */
	uint64_t hypercalls; /* see unwind_table_add_orc(); without the offset */
};

static int add_part(const struct kernel *kernel, uint64_t start, uint64_t end,
		    const struct unwind_rule *rule)
{
	start = start > kernel->start ? start : kernel->start;
	end = end < kernel->end ? end : kernel->end;
	return unwind_builder_add(kernel->builder, start + kernel->offset,
				  end + kernel->offset, rule);
}

/* Adds the rule, except for the page of hypercalls. */
static int add_rule(const struct kernel *kernel, uint64_t start, uint64_t end,
		    const struct unwind_rule *rule)
{
	uint64_t page = kernel->hypercalls, after = page + GUEST_PAGE_SIZE;

	if (!page)
		return add_part(kernel, start, end, rule);
	if (start < page && add_part(kernel, start, end < page ? end : page, rule))
		return -1;
	return end > after ? add_part(kernel, start > after ? start : after, end, rule)
			   : 0;
}

static int add_retpoline(const struct kernel *kernel, uint64_t start)
{
	struct unwind_rule rule = {
		.kind = UNWIND_CALLER, .cfa = 8, .caller = -8, .fp = UNWIND_KEPT};

	if (add_part(kernel, start, start + RETPOLINE_CALL, &rule))
		return -1;
	rule.cfa = 16;
	start += RETPOLINE_WRITE;
	return add_part(kernel, start, start + RETPOLINE_WRITE_SIZE, &rule);
}

/* Adds the rules of retpolines, which have priority over the rows. Reads no more code
 * than there can be in a file of this size. */
static int add_retpolines(const struct kernel *kernel)
{
	size_t size = kernel->size;

	for (size_t i = 0; i < kernel->code.count; i++) {
		const struct code_range *code = &kernel->code.list[i];
		uint64_t at = -code->address % RETPOLINE_ALIGN;

		if (code->size > size)
			break;
		size -= code->size;
		for (; at + RETPOLINE_SIZE <= code->size; at += RETPOLINE_ALIGN)
			if (memcmp(code->bytes + at, retpoline, sizeof(retpoline)) == 0 &&
			    add_retpoline(kernel, code->address + at))
				return -1;
	}
	return 0;
}

/* Finds the code from @start up to @end; NULL if it is not known, or too long for an
 * entry. */
static const uint8_t *find_entry(const struct kernel *kernel, uint64_t start,
				 uint64_t end)
{
	if (end - start > ENTRY_MAX || kernel->code.count > ENTRY_RANGES)
		return NULL;
	for (size_t i = 0; i < kernel->code.count; i++) {
		const struct code_range *code = &kernel->code.list[i];
		uint64_t at = start - code->address;

		if (at < code->size && end - start <= code->size - at)
			return code->bytes + at;
	}
	return NULL;
}

/* Adds a rule for code where the last five words of struct pt_regs are @at bytes above
 * the stack pointer. */
static int add_saved(const struct kernel *kernel, uint64_t start, size_t size, int32_t at)
{
	const struct unwind_rule rule = {.kind = UNWIND_INTERRUPTED,
					 .cfa = at,
					 .word = REGS_SP - REGS_IP,
					 .fp = UNWIND_KEPT};

	return add_rule(kernel, start, start + size, &rule);
}

/* Adds a rule for code of a system call where the program's stack pointer is in the word
 * @word bytes above the stack pointer, or @word is UNWIND_KEPT or UNWIND_LOST. */
static int add_called(const struct kernel *kernel, uint64_t start, size_t size,
		      int32_t word)
{
	const struct unwind_rule rule = {
		.kind = UNWIND_CALLED_SYSTEM, .other = 1 + X86_RCX, .word = word};

	return add_rule(kernel, start, start + size, &rule);
}

/* Adds the rules of a system call's entry, up to its last pushes, at @size. */
static int add_call_start(const struct kernel *kernel, uint64_t start,
			  const uint8_t *code, size_t size)
{
	size_t from = memcmp(code, endbr, sizeof(endbr)) == 0 ? sizeof(endbr) : 0;
	size_t at = size - CALL_PUSHES_SIZE;

	if (size < from + sizeof(call_start) + CALL_PUSHES_SIZE ||
	    memcmp(code + from, call_start, sizeof(call_start)) != 0 ||
	    memcmp(code + at, call_pushes, sizeof(call_pushes)) != 0)
		return 0;
	/*
	 * The pushes have 2, 8, 2, 2 and 1 bytes; the second one saves the program's rsp.
	 */
	return add_called(kernel, start, at, UNWIND_KEPT) ||
	       add_called(kernel, start + at, 10, UNWIND_LOST) ||
	       add_called(kernel, start + at + 10, 2, 0) ||
	       add_called(kernel, start + at + 12, 2, 8) ||
	       add_called(kernel, start + at + 14, 1, 16);
}

/* Adds the rules of a system call's end, if the code ends with it. */
static int add_call_end(const struct kernel *kernel, uint64_t start, const uint8_t *code,
			size_t size)
{
	size_t at = size > CALL_END_MAX ? size - CALL_END_MAX : 0;

	if (size < sizeof(call_end) + sizeof(sysret) ||
	    memcmp(code + size - sizeof(sysret), sysret, sizeof(sysret)) != 0)
		return 0;
	while (at + sizeof(call_end) < size &&
	       memcmp(code + at, call_end, sizeof(call_end)) != 0)
		at++;
	if (at + sizeof(call_end) >= size)
		return 0;
	if (at > 0 && code[at - 1] == POP_RAX &&
	    add_called(kernel, start + at - 1, 1, 16))
		return -1;
	return add_called(kernel, start + at, 1, 8) ||
	       add_called(kernel, start + at + 1, 1, 0) ||
	       add_called(kernel, start + at + 2, size - at - 2, UNWIND_KEPT);
}

/*
 * Adds the rules of an entry, if the code is one. They have priority over the ORC row's.
 */
static int add_entry(const struct kernel *kernel, uint64_t start, uint64_t end)
{
	const uint8_t *code = find_entry(kernel, start, end);
	size_t size = (size_t)(end - start), at = 0;
	int32_t pushed = 0;

	if (!code)
		return 0;
	if (size > sizeof(endbr) && memcmp(code, endbr, sizeof(endbr)) == 0)
		at = sizeof(endbr);
	if (size - at > sizeof(xen_pops) && size - at <= XEN_ENTRY_MAX &&
	    memcmp(code + at, xen_pops, sizeof(xen_pops)) == 0)
		return add_saved(kernel, start, at + 1, 16) ||
		       add_saved(kernel, start + at + 1, 2, 8) ||
		       add_saved(kernel, start + at + 3, size - at - 3, 0);
	if (size < sizeof(pushes) ||
	    memcmp(code + size - sizeof(pushes), pushes, sizeof(pushes)) != 0)
		return add_call_end(kernel, start, code, size);
	if (add_call_start(kernel, start, code, size - sizeof(pushes)))
		return -1;
	/* Pushes of r8 to r15, and of a number, have two bytes. */
	for (at = size - sizeof(pushes); at < size; pushed += 8) {
		size_t length = code[at] == 0x41 || code[at] == 0x6a ? 2 : 1;

		if (add_saved(kernel, start + at, length, pushed))
			return -1;
		at += length;
	}
	return 0;
}

/* Adds the rules of all rows but the last one, which only ends the row before it. */
static int add_rows(const struct kernel *kernel, const struct rows *rows)
{
	for (size_t i = 0; i + 1 < rows->count; i++) {
		uint64_t start = rows->list[i].start, end = rows->list[i + 1].start;
		struct unwind_rule rule = rule_of(&rows->list[i]);

		if (rule.kind == UNWIND_OUTERMOST && start < end &&
		    add_entry(kernel, start, end))
			return -1;
		if (add_rule(kernel, start, end, &rule))
			return -1;
	}
	return 0;
}

static int add_sections(const struct kernel *kernel, const char *path,
			const struct section_bytes *ips, uint64_t address,
			const struct section_bytes *data, struct error *err)
{
	struct rows rows;
	int status;

	if (ips->size / IP_SIZE != data->size / ROW_SIZE)
		return error_set(err,
				 "%s is damaged: its ORC sections have %zu and %zu rows",
				 path, ips->size / IP_SIZE, data->size / ROW_SIZE);
	if (ips->size / IP_SIZE > TABLE_RANGES_MAX)
		return error_set(err, "%s: too many ORC rows", path);
	if (!read_rows(&rows, ips, address, data))
		return error_set(err, "%s: out of memory", path);
	status = add_retpolines(kernel) || add_rows(kernel, &rows);
	free(rows.list);
	return status ? error_set(err, "%s: too many ORC rows", path) : 0;
}

int unwind_table_add_orc(struct unwind_builder *builder, const char *path,
			 const void *data, size_t size, uint64_t offset,
			 uint64_t hypercalls, size_t *rows, struct error *err)
{
	struct kernel kernel = {.builder = builder,
				.end = UINT64_MAX,
				.size = size,
				.offset = offset,
				.hypercalls = hypercalls};
	struct section_bytes ips = {0}, entries = {0};
	GElf_Shdr header, ignored;
	int status = 0;
	Elf *elf;

	*rows = 0;
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)(uintptr_t)data, size);
	if (!elf)
		return error_set(err, "%s: out of memory", path);
	if (section_read(elf, size, ".orc_unwind_ip", &header, &ips) ||
	    section_read(elf, size, ".orc_unwind", &ignored, &entries))
		status = error_set(err, "%s: cannot read its ORC sections; copy it again",
				   path);
	if (!status && ips.size && entries.size) {
		code_read(&kernel.code, data, size);
		status = add_sections(&kernel, path, &ips, header.sh_addr, &entries, err);
		code_free(&kernel.code);
	}
	if (!status && entries.size)
		*rows = ips.size / IP_SIZE;
	section_free(&ips);
	section_free(&entries);
	elf_end(elf);
	return status;
}

int unwind_table_add_orc_module(struct unwind_builder *builder,
				const struct orc_module *module)
{
	struct kernel kernel = {.builder = builder,
				.start = module->start,
				.end = module->end,
				.code = module->code};
	const struct section_bytes ips = {module->ips, module->count * IP_SIZE, NULL};
	const struct section_bytes data = {module->rows, module->count * ROW_SIZE, NULL};
	struct rows rows;
	int status;

	if (!module->count)
		return 0;
	if (!read_rows(&rows, &ips, module->address, &data))
		return -1;
	for (size_t i = 0; i < kernel.code.count; i++)
		kernel.size += kernel.code.list[i].size;
	status = add_retpolines(&kernel) || add_rows(&kernel, &rows) ||
		 !unwind_builder_settle(builder);
	free(rows.list);
	return status ? -1 : 0;
}
