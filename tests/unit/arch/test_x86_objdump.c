/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The decoder of x86 code agrees with objdump on each instruction of large libraries: on
 * its length, its jump target, and its effect on the stack and frame pointers.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "arch/x86/code.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define OPERANDS	4

/* A parsed line of objdump. */
struct line {
	uint64_t address;
	uint8_t code[X86_SIZE_MAX];
	unsigned int size;
	char *name;		 /* the mnemonic */
	char *operand[OPERANDS]; /* in AT&T order: the destination is last */
	unsigned int operands;
	bool is_64;
};

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_among(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(text, *list) == 0)
			return true;
	return false;
}

/* The number of a full register; with @or_part, also that of a part of rsp or rbp; else
 * X86_NO_REGISTER. */
static unsigned int register_of(const struct line *line, const char *operand,
				bool or_part)
{
	static const char *const names[3][16] = {
		{"%rax", "%rcx", "%rdx", "%rbx", "%rsp", "%rbp", "%rsi", "%rdi", "%r8",
		 "%r9", "%r10", "%r11", "%r12", "%r13", "%r14", "%r15"},
		{"%eax", "%ecx", "%edx", "%ebx", "%esp", "%ebp", "%esi", "%edi", "", "",
		 "", "", "", "", "", ""},
		{"", "", "", "", "%sp", "%bp", "", "", "", "", "", "", "", "", "", ""},
	};

	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int j = 0; j < 16; j++)
			if (strcmp(operand, names[i][j]) == 0 && *operand &&
			    (i == !line->is_64 ||
			     (or_part && (j == X86_RSP || j == X86_RBP))))
				return j;
	return X86_NO_REGISTER;
}

/* The number of a general register of 16 bits or more, or of the 8 first in 32-bit code.
 */
static unsigned int general_register(const char *operand)
{
	static const char *const names[] = {"ax", "cx", "dx", "bx",
					    "sp", "bp", "si", "di"};
	char *end;
	unsigned long number;

	if (*operand++ != '%')
		return X86_NO_REGISTER;
	if (operand[0] == 'r' && operand[1] >= '1' && operand[1] <= '9') {
		number = strtoul(operand + 1, &end, 10);
		return number >= 8 && number < 16 &&
				       (!*end || !strcmp(end, "d") || !strcmp(end, "w"))
			       ? (unsigned int)number
			       : X86_NO_REGISTER;
	}
	if (*operand == 'r' || *operand == 'e')
		operand++;
	for (unsigned int i = 0; i < COUNT_OF(names); i++)
		if (strcmp(operand, names[i]) == 0)
			return i;
	return X86_NO_REGISTER;
}

/* Whether @operand is just n(%reg). */
static bool is_beside(const struct line *line, const char *operand, unsigned int *base,
		      int32_t *offset)
{
	char copy[64], *end, *close;

	snprintf(copy, sizeof(copy), "%s", operand);
	*offset = (int32_t)strtoll(copy, &end, 16);
	if (*end != '(' || !(close = strchr(end, ')')) || strchr(end, ','))
		return false;
	*close = 0;
	*base = register_of(line, end + 1, false);
	return *base != X86_NO_REGISTER;
}

static bool is_memory(const char *operand)
{
	return *operand != '%' && *operand != '$';
}

/* Instructions whose last operand is only read. */
static bool is_reader(const char *name)
{
	static const char *const names[] = {
		"bt",	   "btw",     "btl",	   "btq",      "test",	   "testw",
		"testl",   "testq",   "cmp",	   "cmpw",     "cmpl",	   "cmpq",
		"nop",	   "nopw",    "nopl",	   "verr",     "verw",	   "ltr",
		"lldt",	   "lmsw",    "out",	   "invpcid",  "invept",   "invvpid",
		"vmwrite", "wrssd",   "wrssq",	   "wrfsbase", "wrgsbase", "incsspq",
		"incsspd", "ptwrite", "tpause",	   "umwait",   "bound",	   "umonitor",
		"enqcmd",  "enqcmds", "movdir64b", "vmptrld",  "arpl",	   "invlpgb",
		"int",	   "push",    "loop",	   "jmp",      "call",	   "lar",
		"lsl",	   "sldt",    "str",	   "smsw",     "lret",	   "ret",
		"enter",   NULL};

	return is_among(name, names);
}

static bool is_arithmetic_of_one(const struct line *line)
{
	static const char *const names[] = {"mul", "imul", "div", "idiv", NULL};

	return line->operands == 1 && is_among(line->name, names);
}

/* Whether the instruction is known to overwrite what its last operand names, by all that
 * objdump shows. */
static bool has_write(const struct line *line, const struct x86_instruction *is)
{
	const char *last = line->operands ? line->operand[line->operands - 1] : "";
	unsigned int reg = general_register(last);
	bool is_jump = is->act == X86_CALL_INDIRECT || is->act == X86_JUMP_INDIRECT ||
		       is->act == X86_STOP;

	/* xchg %ax,%ax is nop. */
	if (reg == X86_NO_REGISTER || is_jump || starts(line->name, "xchg") ||
	    is_reader(line->name) || is_arithmetic_of_one(line) ||
	    starts(line->name, "push"))
		return true;
	return is->writes >> reg & 1;
}

/* Whether a push or pop has 16 bits. */
static bool is_short_move(const struct line *line, const char *operand)
{
	static const char *const names[] = {"%ax", "%cx", "%dx", "%bx", "%sp",
					    "%bp", "%si", "%di", NULL};
	size_t length = strlen(line->name);

	return line->name[length - 1] == 'w' || is_among(operand, names) ||
	       (operand[0] == '%' && operand[strlen(operand) - 1] == 'w');
}

/* objdump takes fwait for a prefix of the next instruction; jumps with an operand of 16
 * bits exist on AMD only, and no compiler emits them. */
static bool is_own_way(const struct line *line)
{
	return (line->code[0] == 0x9b && line->size > 1) ||
	       (line->is_64 &&
		(strcmp(line->name, "jmpw") == 0 || strcmp(line->name, "callw") == 0));
}

/* The effect of the instruction in the line, as x86_decode() would report it. */
static struct x86_instruction read_line(const struct line *line)
{
	static const char *const stops[] = {"ud0", "ud1", "ud2", "int3", NULL};
	static const char *const leaves[] = {"sysret",	 "sysretl",  "sysretq",
					     "sysexit",	 "sysexitl", "sysexitq",
					     "sysenter", NULL};
	static const char *const fars[] = {"lret",  "lretw", "lretl", "lretq", "iret",
					   "iretw", "iretl", "iretq", NULL};
	struct x86_instruction says = {.act = X86_OTHER,
				       .size = (uint8_t)line->size,
				       .to = X86_NO_REGISTER,
				       .from = X86_NO_REGISTER};
	const char *name = line->name, *last = "", *first = "";
	unsigned int base, to, from, word = line->is_64 ? 8 : 4;
	int32_t offset;

	if (line->operands) {
		first = line->operand[0];
		last = line->operand[line->operands - 1];
	}
	to = register_of(line, last, false);
	from = register_of(line, first, false);
	if (starts(name, "ret")) {
		says.act = X86_RETURN;
		says.offset = *first ? (int32_t)strtol(first + 1, NULL, 16) : 0;
	} else if (is_among(name, fars)) {
		says.act = X86_RETURN_FAR;
	} else if (is_among(name, stops)) {
		says.act = X86_STOP;
	} else if (strcmp(name, "hlt") == 0) {
		says.act = X86_HALT;
	} else if (is_among(name, leaves)) {
		says.act = X86_LEAVE_KERNEL;
	} else if (starts(name, "call") || starts(name, "lcall")) {
		says.act = *first == '*' || *name == 'l' ? X86_CALL_INDIRECT : X86_CALL;
	} else if (starts(name, "jmp") || starts(name, "ljmp")) {
		says.act = *first == '*' || *name == 'l' ? X86_JUMP_INDIRECT : X86_JUMP;
	} else if (*name == 'j' || starts(name, "loop") || starts(name, "xbegin")) {
		says.act = X86_JUMP_IF;
	} else if (starts(name, "leave")) {
		says.act = X86_LEAVE;
	} else if (starts(name, "enter")) {
		bool is_plain = strcmp(last, "$0x0") == 0 && name[5] != 'w';

		says.act = is_plain ? X86_ENTER : X86_LOSE;
		says.to = is_plain ? X86_NO_REGISTER : X86_RSP;
		if (is_plain)
			says.offset = -(int32_t)strtol(first + 1, NULL, 16);
	} else if (starts(name, "push")) {
		says.act = X86_PUSH;
		says.offset = is_short_move(line, first) ? -2 : -(int32_t)word;
		if (strncmp(name, "pusha", 5) == 0)
			says.offset = name[5] == 'w' ? -16 : -32;
		says.from = (uint8_t)from;
	} else if (starts(name, "pop") && !starts(name, "popcnt")) {
		says.act = X86_POP;
		says.offset = is_short_move(line, last) ? 2 : (int32_t)word;
		if (strncmp(name, "popa", 4) == 0)
			says.offset = name[4] == 'w' ? 16 : 32;
		says.to = (uint8_t)to;
		if (to == X86_RSP) {
			says.act = says.offset == 2 ? X86_LOSE : X86_LOAD;
			says.offset = 0;
		}
	} else if ((strcmp(name, "add") == 0 || strcmp(name, "sub") == 0) &&
		   to != X86_NO_REGISTER && *first == '$') {
		says.act = to == X86_RSP ? X86_ADD : X86_ADD_OTHER;
		says.to = says.from = (uint8_t)to;
		says.offset = (int32_t)strtoull(first + 1, NULL, 16);
		if (*name == 's')
			says.offset = -says.offset;
	} else if ((strcmp(name, "inc") == 0 || strcmp(name, "dec") == 0) &&
		   to == X86_RSP) {
		says.act = X86_ADD;
		says.to = says.from = X86_RSP;
		says.offset = *name == 'i' ? 1 : -1;
	} else if (starts(name, "lea") && to != X86_NO_REGISTER &&
		   is_beside(line, first, &base, &offset) &&
		   (base == X86_RSP || to == X86_RSP)) {
		says.act = X86_ADD;
		says.to = (uint8_t)to;
		says.from = (uint8_t)base;
		says.offset = offset;
	} else if (strcmp(name, "mov") == 0 && to != X86_NO_REGISTER &&
		   from != X86_NO_REGISTER && (to == X86_RSP || from == X86_RSP)) {
		says.act = X86_ADD;
		says.to = (uint8_t)to;
		says.from = (uint8_t)from;
	} else if (strcmp(name, "mov") == 0 && from != X86_NO_REGISTER &&
		   is_beside(line, last, &base, &offset)) {
		says.act = base == X86_RSP ? X86_STORE : X86_STORE_OTHER;
		says.from = (uint8_t)from;
		says.offset = offset;
		if (base != X86_RSP)
			says.to = (uint8_t)base;
	} else if (strcmp(name, "mov") == 0 && to != X86_NO_REGISTER &&
		   is_beside(line, first, &base, &offset)) {
		bool is_near = base == X86_RSP && to != X86_RSP;

		says.act = is_near ? X86_LOAD : X86_LOAD_OTHER;
		says.to = (uint8_t)to;
		says.offset = offset;
		if (!is_near)
			says.from = (uint8_t)base;
	} else if (!is_reader(name) && !is_arithmetic_of_one(line)) {
		bool is_swap = starts(name, "xchg") || starts(name, "xadd");

		to = register_of(line, last, true);
		from = register_of(line, first, true);
		if (starts(name, "mulx") && line->operands == 3 && to != X86_RSP &&
		    to != X86_RBP)
			to = register_of(line, line->operand[1], true);
		if (is_swap && (from == X86_RSP || to == X86_NO_REGISTER ||
				(to != X86_RSP && to != X86_RBP)))
			to = from;
		if (to == X86_RSP || to == X86_RBP) {
			bool is_load = strcmp(name, "mov") == 0 && is_memory(first) &&
				       register_of(line, last, false) == to;

			says.act = is_load ? X86_LOAD_OTHER : X86_LOSE;
			says.to = (uint8_t)to;
		}
	}
	if (says.act == X86_CALL || says.act == X86_JUMP || says.act == X86_JUMP_IF)
		says.target = strtoull(first, NULL, 16);
	return says;
}

/* For loads of rbp and rsp from elsewhere, full and partial ones are equivalent. */
static bool is_same(const struct x86_instruction *a, const struct x86_instruction *b)
{
	bool has_target = b->act == X86_CALL || b->act == X86_JUMP ||
			  b->act == X86_JUMP_IF;
	bool is_loss = (a->act == X86_LOSE || a->act == X86_LOAD_OTHER) &&
		       (b->act == X86_LOSE || b->act == X86_LOAD_OTHER);

	return a->size == b->size && (a->act == b->act || is_loss) && a->to == b->to &&
	       a->from == b->from && a->offset == b->offset &&
	       (!has_target || a->target == b->target);
}

static void split_operands(struct line *line, char *text)
{
	unsigned int depth = 0;

	line->operands = 0;
	if (!*text)
		return;
	line->operand[line->operands++] = text;
	for (; *text; text++) {
		if (*text == '(')
			depth++;
		else if (*text == ')')
			depth--;
		else if (*text == ',' && !depth && line->operands < OPERANDS) {
			*text = 0;
			line->operand[line->operands++] = text + 1;
		}
	}
}

/* Parses "  addr:\tbytes\tprefixes mnemonic operands"; false if it is something else. */
static bool line_parse(char *text, struct line *line)
{
	static const char *const prefixes[] = {
		"lock",	  "rep",    "repz",   "repnz",	  "bnd",      "notrack",
		"data16", "addr32", "addr16", "cs",	  "ds",	      "es",
		"ss",	  "fs",	    "gs",     "xacquire", "xrelease", NULL};
	char *bytes, *name, *end;

	line->address = strtoull(text, &bytes, 16);
	if (bytes == text || *bytes != ':' || !(bytes = strchr(bytes, '\t')) ||
	    !(name = strchr(bytes + 1, '\t')))
		return false;
	*name++ = 0;
	for (line->size = 0; line->size < X86_SIZE_MAX; line->size++) {
		unsigned long byte = strtoul(bytes, &end, 16);

		if (end == bytes)
			break;
		line->code[line->size] = (uint8_t)byte;
		bytes = end;
	}
	name[strcspn(name, "#<\n")] = 0;
	for (;;) {
		size_t length = strcspn(name, " ");
		char *rest = name + length + strspn(name + length, " ");

		if (name[length])
			name[length] = 0;
		if (!is_among(name, prefixes) && !starts(name, "rex")) {
			line->name = name;
			rest[strcspn(rest, " ")] = 0;
			split_operands(line, rest);
			return true;
		}
		if (!*rest)
			return false; /* prefixes without an instruction */
		name = rest;
	}
}

static void compare(const char *command, bool is_64, unsigned int at_least)
{
	unsigned int compared = 0, wrong = 0, acts = 0;
	char text[512], copy[512];
	FILE *from = popen(command, "r");

	assert_non_null(from);
	while (fgets(text, sizeof(text), from)) {
		struct line line = {.is_64 = is_64};
		struct x86_instruction says, is;

		memcpy(copy, text, sizeof(copy));
		/* 0xd6 raises #UD, which binutils calls "udb" since 2.45, before "(bad)".
		 */
		if (!line_parse(text, &line) || strstr(copy, "(bad)") ||
		    *line.name == '.' || strcmp(line.name, "udb") == 0 ||
		    is_own_way(&line))
			continue;
		says = read_line(&line);
		is = x86_decode(line.code, line.size, line.address, is_64);
		compared++;
		acts += is.act != X86_OTHER;
		if (is_same(&is, &says) && has_write(&line, &is))
			continue;
		if (wrong++ < 40)
			print_error(
				"%s  act %u size %u to %u from %u offset %d target %lx; "
				"objdump: %u %u %u %u %d %lx\n",
				copy, is.act, is.size, is.to, is.from, is.offset,
				(unsigned long)is.target, says.act, says.size, says.to,
				says.from, says.offset, (unsigned long)says.target);
	}
	assert_int_equal(pclose(from), 0);
	print_message("%u instructions compared, %u of interest, %u differ\n", compared,
		      acts, wrong);
	assert_true(compared >= at_least);
	assert_int_equal(wrong, 0);
}

static void libc_is_decoded_as_by_objdump(void **state)
{
	(void)state;
	compare("objdump -d -w /lib/x86_64-linux-gnu/libc.so.6", true, 300000);
}

#define LIBCRYPTO "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"

static void libcrypto_is_decoded_as_by_objdump(void **state)
{
	(void)state;
	if (access(LIBCRYPTO, F_OK) < 0) {
		print_message("SKIPPED: there is no " LIBCRYPTO " (Debian 11)\n");
		skip();
	}
	compare("objdump -d -w " LIBCRYPTO, true, 600000);
}

static void libc_of_32_bits_is_decoded_as_by_objdump(void **state)
{
	(void)state;
	compare("objdump -d -w /lib32/libc.so.6", false, 200000);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libc_is_decoded_as_by_objdump),
		cmocka_unit_test(libcrypto_is_decoded_as_by_objdump),
		cmocka_unit_test(libc_of_32_bits_is_decoded_as_by_objdump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
