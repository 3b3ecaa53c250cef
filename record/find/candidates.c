/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/find/candidates.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "symbols/symbols.h"

/* Adds the path, unless it is empty, too long, or there already. */
static void candidate_put(struct candidates *candidates, const char *path, size_t length)
{
	char *to;

	if (!length || length >= CANDIDATE_SIZE || candidates->count == CANDIDATES_MAX)
		return;
	to = candidates->path[candidates->count];
	memcpy(to, path, length);
	to[length] = 0;
	for (size_t i = 0; i < candidates->count; i++)
		if (strcmp(candidates->path[i], to) == 0)
			return;
	candidates->count++;
}

static void candidate_put_text(struct candidates *candidates, const char *path)
{
	candidate_put(candidates, path, strlen(path));
}

/* The arguments of a command line that are complete. */
struct arguments {
	const char *at, *end;
};

/* Returns the next argument; NULL at the end. */
static const char *arguments_next(struct arguments *arguments)
{
	const char *argument = arguments->at;
	size_t left = (size_t)(arguments->end - arguments->at);
	const char *stop = left ? memchr(argument, 0, left) : NULL;

	if (!stop)
		return NULL;
	arguments->at = stop + 1;
	return argument;
}

/*
 * Returns the value of the argument if it is the option: the text after '=', or the next
 * argument, which is then taken. NULL if it is another argument, or has no value.
 */
static const char *option_value(const char *argument, const char *option,
				struct arguments *rest)
{
	size_t length = strlen(option);

	if (strncmp(argument, option, length) != 0)
		return NULL;
	if (argument[length] == '=')
		return argument + length + 1;
	return argument[length] ? NULL : arguments_next(rest);
}

/* Adds the value of "kernel" among QEMU's options after commas, in which a comma is
 * written twice (qemu(1), -machine). */
static void add_suboption(struct candidates *candidates, const char *options)
{
	static const char key[] = "kernel=";

	while (*options) {
		bool is_kernel = strncmp(options, key, strlen(key)) == 0;
		char value[CANDIDATE_SIZE];
		size_t length = 0;

		options += is_kernel ? strlen(key) : 0;
		for (; *options; options++) {
			if (*options == ',' && *++options != ',')
				break;
			if (length < sizeof(value))
				value[length++] = *options;
		}
		if (is_kernel)
			candidate_put(candidates, value, length);
	}
}

/* QEMU takes each option with one '-' or with two (qemu(1)). */
static void add_qemu(struct candidates *candidates, const char *argument,
		     struct arguments *rest)
{
	const char *option = argument + (strncmp(argument, "--", 2) == 0);
	const char *value = NULL;

	if (strcmp(option, "-kernel") == 0 && (value = arguments_next(rest)))
		candidate_put_text(candidates, value);
	else if ((strcmp(option, "-machine") == 0 || strcmp(option, "-M") == 0) &&
		 (value = arguments_next(rest)))
		add_suboption(candidates, value);
}

static void add_firecracker(struct candidates *candidates, const char *argument,
			    struct arguments *rest)
{
	const char *value = option_value(argument, "--config-file", rest);

	if (value && strlen(value) < sizeof(candidates->config))
		strcpy(candidates->config, value);
}

/* kvmtool: lkvm run -k FILE, or --kernel FILE (lkvm(1)) */
static void add_kvmtool(struct candidates *candidates, const char *argument,
			struct arguments *rest)
{
	const char *value = option_value(argument, "--kernel", rest);

	if (!value && strncmp(argument, "-k", 2) == 0)
		value = argument[2] ? argument + 2 : arguments_next(rest);
	if (value)
		candidate_put_text(candidates, value);
}

/* Cloud Hypervisor's --kernel, and the same of a VMM that is not known. */
static void add_usual(struct candidates *candidates, const char *argument,
		      struct arguments *rest)
{
	const char *value = option_value(argument, "--kernel", rest);

	if (!value)
		value = option_value(argument, "-kernel", rest);
	if (value)
		candidate_put_text(candidates, value);
}

/* solo5-hvt [--OPTION[=VALUE]...] [--] KERNEL [ARGUMENT...]: options have no separate
 * values (Solo5, tenders/hvt/hvt_main.c). */
static void add_solo5(struct candidates *candidates, struct arguments *rest)
{
	const char *argument;

	while ((argument = arguments_next(rest))) {
		if (strcmp(argument, "--") == 0)
			argument = arguments_next(rest);
		else if (*argument == '-')
			continue;
		if (argument)
			candidate_put_text(candidates, argument);
		return;
	}
}

void candidates_add(struct candidates *candidates, const char *vmm, const char *arguments,
		    size_t length)
{
	static const struct {
		const char *vmm;
		void (*add)(struct candidates *candidates, const char *argument,
			    struct arguments *rest);
	} known[] = {
		{"QEMU", add_qemu},
		{"Firecracker", add_firecracker},
		{"kvmtool", add_kvmtool},
		{"vm", add_kvmtool}, /* the name by which it is built, too */
		{"", add_usual},
	};
	struct arguments rest = {arguments, arguments + length};
	const char *argument = arguments_next(&rest); /* the program */
	size_t i = 0;

	if (strncmp(vmm, "solo5-hvt", 9) == 0) {
		if (argument)
			add_solo5(candidates, &rest);
		return;
	}
	while (*known[i].vmm && strcmp(known[i].vmm, vmm) != 0)
		i++;
	while (argument && (argument = arguments_next(&rest)))
		known[i].add(candidates, argument, &rest);
}

/* Returns the text after blanks and the character @c; NULL if there is another. */
static const char *skip_to(const char *at, const char *end, char c)
{
	while (at < end && *at && strchr(" \t\r\n", *at))
		at++;
	return at < end && *at == c ? at + 1 : NULL;
}

/* Adds the text after a key in JSON, if it is one. */
static void add_value(struct candidates *candidates, const char *at, const char *end)
{
	char path[CANDIDATE_SIZE];
	size_t used = 0;

	at = skip_to(at, end, ':');
	at = at ? skip_to(at, end, '"') : NULL;
	for (; at && at < end && *at != '"'; at++) {
		/* Of the other escapes (RFC 8259, section 7), none is usual in a path. */
		if (*at == '\\' && (++at == end || !strchr("\"\\/", *at)))
			return;
		if (!*at || used == sizeof(path))
			return;
		path[used++] = *at;
	}
	if (at && at < end)
		candidate_put(candidates, path, used);
}

void candidates_add_domain(struct candidates *candidates, uint32_t id,
			   const uint8_t *uuid)
{
	char text[TEXT_UUID_SIZE];

	/* libxl__userdata_path() in Xen, tools/libs/light/libxl_dom.c */
	text_uuid(text, uuid);
	snprintf(candidates->config, sizeof(candidates->config),
		 "/var/lib/xen/userdata-d.%" PRIu32 ".%s.libxl-json", id, text);
}

void candidates_add_config(struct candidates *candidates, const char *json, size_t length)
{
	/* Firecracker's, libxl's */
	static const char *const keys[] = {"\"kernel_image_path\"", "\"kernel\""};
	const char *end = json + length;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t size = strlen(keys[i]);
		const char *at = json;

		while ((at = memmem(at, (size_t)(end - at), keys[i], size))) {
			at += size;
			add_value(candidates, at, end);
		}
	}
}

static void __attribute__((format(printf, 2, 3)))
put_formatted(struct candidates *candidates, const char *format, ...)
{
	char path[CANDIDATE_SIZE];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	if (length > 0)
		candidate_put(candidates, path, (size_t)length);
}

/* Adds where distributions and Linux' own build have the kernel of a boot image. @name is
 * the image's, in a folder whose path has @length bytes, the '/' included. */
static void add_vmlinux(struct candidates *candidates, const char *path, int length,
			const char *name)
{
	const char *release = strncmp(name, "vmlinuz-", 8) == 0 ? name + 8 : NULL;

	if (release) {
		put_formatted(candidates, "%.*svmlinux-%s", length, path, release);
		put_formatted(candidates, DEBUG_DIRECTORY "/boot/vmlinux-%s", release);
		put_formatted(candidates, DEBUG_DIRECTORY "/lib/modules/%s/vmlinux",
			      release);
	}
	put_formatted(candidates, "%.*svmlinux", length, path);
	if (strcmp(name, "bzImage") == 0) /* arch/x86/boot/bzImage */
		put_formatted(candidates, "%.*s../../../vmlinux", length, path);
}

void candidates_add_beside(struct candidates *candidates, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	if (strncmp(name, "vmlinuz", 7) == 0 || strcmp(name, "bzImage") == 0)
		add_vmlinux(candidates, path, (int)(name - path), name);
	else
		put_formatted(candidates, "%s.dbg", path);
}
