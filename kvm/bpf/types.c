/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/bpf/types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TYPES "/sys/kernel/btf/vmlinux"

/* More types than any kernel has, bytes. */
#define TYPES_MAX ((size_t)256 << 20)

/* Reads a whole file, which the caller frees; NULL with errno set on failure. */
static uint8_t *read_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), errnum = 0;
	uint8_t *data = NULL;
	size_t room = 0;
	ssize_t length = 1;

	*size = 0;
	if (fd < 0)
		return NULL;
	while (length > 0 && *size < TYPES_MAX) {
		uint8_t *more = data;

		if (*size == room)
			more = realloc(data, room = 2 * room + (1u << 20));
		length = more ? read(fd, more + *size, room - *size) : -1;
		errnum = errno;
		data = more ? more : data;
		*size += length > 0 ? (size_t)length : 0;
	}
	close(fd);
	if (length == 0)
		return data;
	free(data);
	errno = length > 0 ? EFBIG : errnum;
	return NULL;
}

int kernel_types_open(struct kernel_types *types, const char *module, struct error *err)
{
	char path[64];
	size_t size;

	*types = (struct kernel_types){0};
	types->data = read_file(TYPES, &size);
	if (!types->data)
		return error_errno(err, errno, "can't read " TYPES);
	if (!btf_open(&types->kernel, types->data, size)) {
		kernel_types_close(types);
		return error_set(err, TYPES " has an unknown form");
	}
	types->all = &types->kernel;
	snprintf(path, sizeof(path), "/sys/kernel/btf/%s", module);
	types->module_data = read_file(path, &size);
	if (types->module_data &&
	    btf_open_module(&types->module, &types->kernel, types->module_data, size))
		types->all = &types->module;
	return 0;
}

void kernel_types_close(struct kernel_types *types)
{
	btf_close(&types->module);
	btf_close(&types->kernel);
	free(types->module_data);
	free(types->data);
}
