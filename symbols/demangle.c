/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

struct writer {
	struct demangled *to;
	jmp_buf enough;
};

static bool is_ascii(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

/* Appends a piece of text; false if the name becomes too long. */
static bool keep_piece(struct demangled *to, const char *text, size_t length)
{
	/* Plus 1, because pieces without text take time, too. */
	to->made += length + 1;
	if (to->made > DEMANGLE_TO_MAX)
		return false;
	if (length) {
		memcpy(to->text + to->length, text, length);
		to->length += length;
	}
	return true;
}

/* The only way to stop libiberty is to jump out of this callback. For C++, this doesn't
 * leak memory. */
static void write_cpp(const char *text, size_t length, void *arg)
{
	struct writer *writer = arg;

	if (!keep_piece(writer->to, text, length))
		longjmp(writer->enough, 1);
}

/*
 * For Rust, libiberty holds memory during this call if it passes an identifier decoded
 * from Punycode (RFC 2603), which has a non-ASCII character; so jump out only at the next
 * ASCII piece. If a name contains no such piece, one identifier is leaked.
 */
static void write_rust(const char *text, size_t length, void *arg)
{
	struct writer *writer = arg;

	if (!keep_piece(writer->to, text, length) &&
	    (is_ascii(text, length) || writer->to->made > 2 * DEMANGLE_TO_MAX))
		longjmp(writer->enough, 1);
}

static void demangled_clear(struct demangled *to)
{
	to->made = 0;
	to->length = 0;
}

static bool is_complete(struct demangled *to)
{
	to->text[to->length] = '\0';
	return to->length && to->made <= DEMANGLE_TO_MAX && !strchr(to->text, '\n') &&
	       strlen(to->text) == to->length;
}

/* Handles both Rust manglings. Legacy names have the prefix of C++ names. */
static bool demangle_rust(const char *name, int options, struct demangled *to)
{
	struct writer writer = {.to = to};

	demangled_clear(to);
	if (setjmp(writer.enough))
		return false;
	return rust_demangle_callback(name, options, write_rust, &writer) &&
	       is_complete(to);
}

static bool demangle_cpp(const char *name, int options, struct demangled *to)
{
	struct writer writer = {.to = to};

	demangled_clear(to);
	if (setjmp(writer.enough))
		return false;
	return cplus_demangle_v3_callback(name, options, write_cpp, &writer) &&
	       is_complete(to);
}

/* Appends the suffix that followed the mangled name. */
static bool append_suffix(struct demangled *to, const char *suffix)
{
	size_t length = strlen(suffix);

	if (to->length + length > DEMANGLE_TO_MAX)
		return false;
	memcpy(to->text + to->length, suffix, length + 1);
	to->length += length;
	to->made += length;
	return true;
}

bool demangle(const char *name, bool bare, struct demangled *to)
{
	/* Bare names are demangled without options, like perf's default
	 * (tools/perf/util/symbol-elf.c, demangle_sym()). */
	int options = bare ? DMGL_NO_OPTS : DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP;
	size_t length = strnlen(name, DEMANGLE_FROM_MAX + 1), made;
	char mangled[DEMANGLE_FROM_MAX + 1];
	const char *suffix;
	char *llvm;

	demangled_clear(to);
	if (length > DEMANGLE_FROM_MAX)
		return false;
	if (!strncmp(name, "caml", 4))
		return demangle_ocaml(name, to);
	if (strncmp(name, "_Z", 2) && strncmp(name, "_R", 2))
		return false;
	memcpy(mangled, name, length + 1);
	/* A '@' starts the symbol's version (GNU ld manual, "VERSION Command"). */
	suffix = name + strcspn(name, "@");
	mangled[suffix - name] = '\0';
	/* LLVM's ThinLTO appends a suffix to functions that it moves, which Rust's
	 * demangler rejects. */
	llvm = strstr(mangled, ".llvm.");
	if (llvm)
		*llvm = '\0';
	if (demangle_rust(mangled, options, to))
		return append_suffix(to, suffix);
	if (llvm)
		*llvm = '.';
	made = to->made;
	if (demangle_cpp(mangled, options, to) && append_suffix(to, suffix))
		return true;
	to->made += made;
	return false;
}
