/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/demangle.h"

#include <string.h>

#include "base/parse.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Decodes the escape "$xx" at @at; -1 if there is none. Control characters, which no name
 * contains, stay escaped. */
static int decode_escape(const char *at, const char *end)
{
	int high, low, code;

	if (end - at < 3 || *at != '$')
		return -1;
	high = parse_hex_digit(at[1]);
	low = parse_hex_digit(at[2]);
	code = high < 0 || low < 0 ? -1 : high << 4 | low;
	return code < ' ' || code == 0x7f ? -1 : code;
}

/* Returns the start of "_" and a number at the end of the name; @end if there is none. */
static const char *find_number(const char *from, const char *end)
{
	const char *at = end;

	while (at > from && is_digit(at[-1]))
		at--;
	return at == end || at - from < 2 || at[-1] != '_' ? end : at - 1;
}

/*
 * Returns the start of the stamp, a number that makes each symbol of a module unique;
 * @end if there is none. The stamp of an anonymous function, "fun_12", is part of its
 * name. Flambda 2 has one or two stamps and then "_code", as in
 * camlArray_kind__f_0_1_code (flambda-backend, its tests of Cmm).
 */
static const char *find_stamp(const char *from, const char *end)
{
	const char *code = end - from > 5 ? end - 5 : end, *at;

	if (!strncmp(code, "_code", 5)) {
		at = find_number(from, code);
		return at == code ? end : find_number(from, at);
	}
	at = find_number(from, end);
	if (at != end && at - from >= 5 && !memcmp(at - 3, "fun", 3) &&
	    (at[-4] == '.' || (at[-4] == '_' && at[-5] == '_')))
		return end;
	return at;
}

/*
 * The mangled form is "caml", the module, a separator, the name and its stamp (OCaml,
 * asmcomp/compilenv.ml, make_symbol). The separator is "__", or since 5.1 "." before the
 * name; "__" also stands for "." in module paths (Dune's manual, "wrapped"). Characters
 * that assemblers reject are escaped as "$" and two hexadecimal digits
 * (asmcomp/emitaux.ml, emit_symbol).
 */
bool demangle_ocaml(const char *name, struct demangled *to)
{
	const char *at = name + 4, *end = name + strlen(name);
	bool has_module = false;

	to->length = 0;
	if (strncmp(name, "caml", 4) || *at < 'A' || *at > 'Z' ||
	    (size_t)(end - at) > DEMANGLE_TO_MAX)
		return false;
	end = find_stamp(at, end);
	while (at < end) {
		int code = decode_escape(at, end);

		if (code >= 0) {
			to->text[to->length++] = (char)code;
			at += 3;
		} else if (end - at > 2 && at[0] == '_' && at[1] == '_') {
			to->text[to->length++] = '.';
			has_module = true;
			at += 2;
		} else {
			has_module |= *at == '.';
			to->text[to->length++] = *at++;
		}
	}
	to->text[to->length] = '\0';
	to->made = to->length;
	return has_module;
}
