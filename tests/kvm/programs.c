/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints how many programs of bpf(2) with this name the kernel has: programs NAME. */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int call(int command, union bpf_attr *attributes)
{
	return (int)syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

static int has_name(uint32_t id, const char *name)
{
	union bpf_attr attributes = {.prog_id = id};
	struct bpf_prog_info info = {0};
	int fd = call(BPF_PROG_GET_FD_BY_ID, &attributes), status = -1;

	if (fd < 0)
		return 0; /* gone meanwhile */
	attributes = (union bpf_attr){.info.bpf_fd = (uint32_t)fd,
				      .info.info_len = sizeof(info),
				      .info.info = (uintptr_t)&info};
	status = call(BPF_OBJ_GET_INFO_BY_FD, &attributes);
	close(fd);
	return status == 0 && strncmp(info.name, name, sizeof(info.name)) == 0;
}

int main(int argc, char **argv)
{
	union bpf_attr attributes = {.start_id = 0};
	int count = 0;

	while (argc == 2 && call(BPF_PROG_GET_NEXT_ID, &attributes) == 0) {
		attributes.start_id = attributes.next_id;
		count += has_name(attributes.start_id, argv[1]);
	}
	printf("%d\n", count);
	return argc == 2 ? 0 : 2;
}
