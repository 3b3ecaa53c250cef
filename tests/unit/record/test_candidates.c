/* SPDX-License-Identifier: BSD-3-Clause */

/* Command lines of real VMMs, as in /proc/PID/cmdline: which files they name. */

#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/find/candidates.h"
#include "base/random.h"

static struct candidates found;

/* Looks for the files of a command line, whose arguments are separated by single blanks.
 */
static void look(const char *vmm, const char *line)
{
	size_t length = strlen(line) + 1;
	char *copy = malloc(length); /* of the exact size, so that overruns are seen */

	assert_non_null(copy);
	for (size_t i = 0; i < length; i++)
		copy[i] = line[i] == ' ' ? '\0' : line[i];
	found = (struct candidates){0};
	candidates_add(&found, vmm, copy, length);
	free(copy);
}

static void assert_one(const char *path)
{
	assert_int_equal(found.count, 1);
	assert_string_equal(found.path[0], path);
}

static void qemu(void **state)
{
	(void)state;
	look("QEMU",
	     "/usr/bin/qemu-system-x86_64 -M q35 -cpu max -kernel app_qemu-x86_64 "
	     "-nographic -m 64M");
	assert_one("app_qemu-x86_64");
	look("QEMU",
	     "qemu-system-x86_64 -M microvm --kernel /k,1=2 -append console=ttyS0");
	assert_one("/k,1=2");
	look("QEMU",
	     "/usr/bin/qemu-system-x86_64 -name guest=web,debug-threads=on -S "
	     "-machine pc-q35-7.2,usb=off,kernel=/srv/a,,b,accel=kvm -boot strict=on "
	     "-k de");
	assert_one("/srv/a,b");
	look("QEMU", "qemu-system-x86_64 -M kernel=/first -kernel /second");
	assert_int_equal(found.count, 2);
	look("QEMU", "qemu-system-x86_64 -k de -drive file=disk.qcow2,kernel=no -append "
		     "kernel=/no -m 512");
	assert_int_equal(found.count, 0);
	look("QEMU", "qemu-system-x86_64 -kernel");
	assert_int_equal(found.count, 0);
}

static void firecracker(void **state)
{
	static const char json[] = "{\n  \"boot-source\": {\n    \"kernel_image_path\" : "
				   "\"/srv/vm\\/\\\"linux\","
				   "\n    \"boot_args\": \"console=ttyS0\"\n  }\n}\n";

	(void)state;
	look("Firecracker", "/usr/bin/firecracker --id web --api-sock /run/fc.sock "
			    "--config-file /etc/vm.json");
	assert_int_equal(found.count, 0);
	assert_string_equal(found.config, "/etc/vm.json");
	candidates_add_config(&found, json, strlen(json));
	assert_one("/srv/vm/\"linux");
	/* Every start of it, in memory of the exact size. */
	for (size_t length = 0; length < strlen(json); length++) {
		char *copy = malloc(length + 1);

		assert_non_null(copy);
		memcpy(copy + 1, json, length);
		found = (struct candidates){0};
		candidates_add_config(&found, copy + 1, length);
		assert_int_equal(found.count, length > 64);
		free(copy);
	}
	look("Firecracker", "firecracker --config-file=vm.json --kernel /no");
	assert_string_equal(found.config, "vm.json");
	assert_int_equal(found.count, 0);
}

/* libxl's file of a domain, shortened. */
static void domain(void **state)
{
	static const uint8_t uuid[16] = {0xca, 0x8a, 0x8c, 0x4e, 0x2b, 0x8d, 0x4c, 0x42,
					 0x94, 0xd2, 0x1f, 0x03, 0x10, 0x00, 0x00, 0xfe};
	static const char json[] = "{\n    \"c_info\": {\n        \"type\": \"pvh\",\n"
				   "        \"name\": \"kernel\"\n    },\n"
				   "    \"b_info\": {\n        \"max_memkb\": 32768,\n"
				   "        \"kernel\": \"/srv/web\",\n"
				   "        \"cmdline\": \"\"\n    }\n}\n";

	(void)state;
	found = (struct candidates){0};
	candidates_add_domain(&found, 12, uuid);
	assert_string_equal(found.config,
			    "/var/lib/xen/userdata-d.12.ca8a8c4e-2b8d-4c42-94d2-"
			    "1f03100000fe.libxl-json");
	candidates_add_config(&found, json, strlen(json));
	assert_one("/srv/web");
}

static void others(void **state)
{
	(void)state;
	look("cloud-hypervisor",
	     "cloud-hypervisor --kernel ./vmlinux --cmdline kernel=/no "
	     "--cpus boot=2 --memory size=512M");
	assert_one("./vmlinux");
	look("kvmtool",
	     "lkvm run -k /boot/vmlinuz-6.1.0-18-amd64 -c 2 -m 512 --name web");
	assert_one("/boot/vmlinuz-6.1.0-18-amd64");
	look("kvmtool", "lkvm run --kernel=bzImage -c 2");
	assert_one("bzImage");
	look("kvmtool", "/usr/bin/lkvm run -kImage -d disk");
	assert_one("Image");
	look("vm", "./vm run -k bzImage -c 2");
	assert_one("bzImage");
	look("solo5-hvt", "/usr/bin/solo5-hvt --mem=64 --net:service=tap0 dist/hello.hvt "
			  "--ipv4=10.0.0.2/24 other");
	assert_one("dist/hello.hvt");
	look("solo5-hvt.debug", "solo5-hvt --mem=64 -- -k.hvt");
	assert_one("-k.hvt");
	look("solo5-hvt", "solo5-hvt --mem=64 --");
	assert_int_equal(found.count, 0);
	look("vmm", "build/vmm --id web -kernel guest.elf");
	assert_one("guest.elf");
	look("vmm", "build/vmm --id web guest.elf");
	assert_int_equal(found.count, 0);
}

static void limits(void **state)
{
	char *line = malloc(CANDIDATE_SIZE + 64);

	(void)state;
	assert_non_null(line);
	for (size_t length = CANDIDATE_SIZE - 1; length <= CANDIDATE_SIZE; length++) {
		sprintf(line, "vmm --kernel %0*d", (int)length, 1);
		look("vmm", line);
		assert_int_equal(found.count, length < CANDIDATE_SIZE);
		if (found.count)
			candidates_add_beside(&found, found.path[0]); /* longer */
		assert_int_equal(found.count, length < CANDIDATE_SIZE);
	}
	*line = 0;
	for (int i = 0; i < 3 * CANDIDATES_MAX; i++)
		sprintf(line + strlen(line), " -kernel %d", i / 2);
	look("vmm", line + 1);
	assert_int_equal(found.count, CANDIDATES_MAX);
	free(line);
	/* The last argument is cut. */
	found = (struct candidates){0};
	candidates_add(&found, "QEMU", "qemu\0-kernel\0/boot/vml", 22);
	assert_int_equal(found.count, 0);
	candidates_add(&found, "QEMU", "", 0);
	assert_int_equal(found.count, 0);
}

static void assert_beside(const char *path, const char *all)
{
	char text[1024] = "";
	size_t length = 0;

	found = (struct candidates){0};
	candidates_add_beside(&found, path);
	for (size_t i = 0; i < found.count && length < sizeof(text); i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
					   i ? " " : "", found.path[i]);
	assert_string_equal(text, all);
}

static void beside(void **state)
{
	(void)state;
	assert_beside("out/app_qemu-x86_64", "out/app_qemu-x86_64.dbg");
	assert_beside("/boot/vmlinuz-6.1.0-18-amd64",
		      "/boot/vmlinux-6.1.0-18-amd64 "
		      "/usr/lib/debug/boot/vmlinux-6.1.0-18-amd64 "
		      "/usr/lib/debug/lib/modules/6.1.0-18-amd64/vmlinux /boot/vmlinux");
	assert_beside("vmlinuz", "vmlinux");
	assert_beside("linux/arch/x86/boot/bzImage",
		      "linux/arch/x86/boot/vmlinux linux/arch/x86/boot/../../../vmlinux");
}

/* Any bytes: no overrun, and no path that is not in them. */
static void any_bytes(void **state)
{
	static const char *const words[] = {
		"-kernel", "--kernel", "-M", "kernel=", ",",  "=",
		"-k",	   "--",       "/a", "",	"\"", "\\"};
	static const char *const vmms[] = {"QEMU", "Firecracker", "kvmtool", "solo5-hvt",
					   "other"};
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char text[128], *copy;
		size_t length = 0;

		while (length < 100) {
			const char *word = words[random_next(&random) % 12];

			memcpy(text + length, word, strlen(word));
			length += strlen(word);
			if (random_next(&random) % 2)
				text[length++] = 0;
		}
		length = random_next(&random) % length;
		copy = malloc(length + 1);
		assert_non_null(copy);
		memcpy(copy + 1, text, length);
		found = (struct candidates){0};
		candidates_add(&found, vmms[i % 5], copy + 1, length);
		candidates_add_config(&found, copy + 1, length);
		for (size_t j = 0; j < found.count; j++)
			assert_in_range(strlen(found.path[j]), 1, length);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(qemu),	     cmocka_unit_test(firecracker),
		cmocka_unit_test(domain),    cmocka_unit_test(others),
		cmocka_unit_test(limits),    cmocka_unit_test(beside),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
