/* The device tree that Xen's tools, or an emulator, start the guest with. */
#ifndef FDT_H
#define FDT_H

#include <stdint.h>

struct fdt {
	char command_line[512];
	uint64_t memory_size; /* size of the first region, bytes */
};

/* Reads the tree. Fields missing in it are left unchanged. */
void fdt_read(const void *device_tree, struct fdt *fdt);

#endif
