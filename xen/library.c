/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <xentoollog.h>

/* Loads the first possible library of @names, an array that ends with NULL. */
static void *load_any(const char *const *names, struct error *err)
{
	for (const char *const *name = names; *name; name++) {
		void *handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL);

		if (handle)
			return handle;
	}
	error_set(err,
		  "can't load %s: install Xen's libraries in dom0 "
		  "(Debian: libxencall1, libxenforeignmemory1, libxenstore4)",
		  names[0]);
	return NULL;
}

struct function {
	void *to; /* the function pointer to set */
	const char *name;
	bool optional;
};

static int load_functions(const char *const *names, const struct function *functions,
			  size_t count, struct error *err)
{
	void *handle = load_any(names, err);

	if (!handle)
		return -1;
	for (size_t i = 0; i < count; i++) {
		void *function = dlsym(handle, functions[i].name);

		if (!function && !functions[i].optional)
			return error_set(err,
					 "%s has no function %s: is it Xen's library?",
					 names[0], functions[i].name);
		memcpy(functions[i].to, &function, sizeof(function));
	}
	return 0;
}

#define LOAD(names, functions, err) \
	load_functions(names, functions, sizeof(functions) / sizeof((functions)[0]), err)

int xen_library_load(struct xen_library *library, struct error *err)
{
	static const char *const call[] = {"libxencall.so.1", NULL};
	static const char *const memory[] = {"libxenforeignmemory.so.1", NULL};
	static const char *const store[] = {"libxenstore.so.4", "libxenstore.so.3.0",
					    NULL};
	const struct function call_functions[] = {
		{&library->call_open, "xencall_open", false},
		{&library->call_close, "xencall_close", false},
		{&library->call1, "xencall1", false},
		{&library->call2, "xencall2", false},
		{&library->alloc_pages, "xencall_alloc_buffer_pages", false},
		{&library->free_pages, "xencall_free_buffer_pages", false},
	};
	const struct function memory_functions[] = {
		{&library->memory_open, "xenforeignmemory_open", false},
		{&library->memory_close, "xenforeignmemory_close", false},
		{&library->memory_restrict, "xenforeignmemory_restrict", true},
		{&library->memory_map, "xenforeignmemory_map", false},
		{&library->memory_unmap, "xenforeignmemory_unmap", false},
	};
	const struct function store_functions[] = {
		{&library->store_open, "xs_open", false},
		{&library->store_close, "xs_close", false},
		{&library->store_directory, "xs_directory", false},
		{&library->store_read, "xs_read", false},
	};

	if (LOAD(call, call_functions, err) < 0 ||
	    LOAD(memory, memory_functions, err) < 0 ||
	    LOAD(store, store_functions, err) < 0)
		return -1;
	return 0;
}

static void drop_message(struct xentoollog_logger *logger, xentoollog_level level,
			 int errnum, const char *context, const char *format,
			 va_list args)
{
	(void)logger;
	(void)level;
	(void)errnum;
	(void)context;
	(void)format;
	(void)args;
}

static void keep_logger(struct xentoollog_logger *logger)
{
	(void)logger;
}

struct xentoollog_logger *xen_library_silence(void)
{
	static struct xentoollog_logger silence = {
		.vmessage = drop_message,
		.destroy = keep_logger,
	};

	return &silence;
}
