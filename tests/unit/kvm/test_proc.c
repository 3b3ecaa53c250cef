/* SPDX-License-Identifier: BSD-3-Clause */

/* Parsing the kernel's files about processes, and the command lines of VMMs. */

#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/chain.h"
#include "base/compat.h"
#include "kvm/proc.h"
#include "kvm/vmm.h"

static void a_stat_is_read_whatever_the_command_is(void **state)
{
	struct proc_stat stat;

	(void)state;
	assert_true(proc_parse_stat("12 (qemu) S 7 12 12 0 -1", &stat));
	assert_string_equal(stat.command, "qemu");
	assert_int_equal(stat.state, 'S');
	assert_int_equal(stat.parent, 7);
	assert_true(proc_parse_stat("12 (a) R (b)) t 1 2", &stat));
	assert_string_equal(stat.command, "a) R (b)");
	assert_int_equal(stat.state, 't');
	assert_false(proc_parse_stat("", &stat));
	assert_false(proc_parse_stat("12 )( S 7", &stat));
	assert_false(proc_parse_stat("12 (qemu)", &stat));
	assert_false(proc_parse_stat("12 (qemu) S", &stat));
}

static void what_a_blocked_vcpu_waits_for_is_known_by_the_kernels_function(void **state)
{
	(void)state;
	assert_int_equal(proc_parse_wchan("kvm_vcpu_block"), exit_make(VMEXIT_HALT, 0));
	assert_int_equal(proc_parse_wchan("folio_wait_bit_common"),
			 exit_make(VMEXIT_WAIT, EXIT_WAIT_PAGE));
	assert_int_equal(proc_parse_wchan("handle_userfault.isra.0"),
			 exit_make(VMEXIT_WAIT, EXIT_WAIT_USERFAULT));
	assert_int_equal(proc_parse_wchan("rwsem_down_read_slowpath"),
			 exit_make(VMEXIT_WAIT, EXIT_WAIT_LOCK));
	assert_int_equal(proc_parse_wchan("reclaim_throttle"),
			 exit_make(VMEXIT_WAIT, EXIT_WAIT_MEMORY));
	assert_int_equal(proc_parse_wchan("futex_wait_queue"),
			 exit_make(VMEXIT_WAIT, EXIT_WAIT_OTHER));
	/* The thread has gone on, or the kernel has no names. */
	assert_int_equal(proc_parse_wchan("0"), 0);
	assert_int_equal(proc_parse_wchan(""), 0);
}

static void fields_of_a_stat_are_found_by_number(void **state)
{
	uint64_t value;

	(void)state;
	assert_true(proc_parse_field(
		"5 (a) 9) S 4 5 6 7 8 999 10 11 12 13 14 15 16 17 18 19 20 "
		"21 22333 23 24",
		PROC_START, &value));
	assert_int_equal(value, 22333);
	assert_true(proc_parse_field("5 (a) 9) S 4 5 6 7 8 999", PROC_FLAGS, &value));
	assert_int_equal(value, 999);
	assert_false(proc_parse_field(
		"5 (a) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21", PROC_START,
		&value));
	assert_false(proc_parse_field(
		"5 (a) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 ", PROC_START,
		&value));
	assert_false(proc_parse_field("5 (a) S 4 5 6 7 8 x", PROC_FLAGS, &value));
	assert_false(proc_parse_field("", PROC_FLAGS, &value));
}

static void a_real_stat_has_all_fields(void **state)
{
	uint64_t value;
	char text[1024];

	(void)state;
	assert_true(proc_read(getpid(), 0, "stat", text, sizeof(text)) > 0);
	assert_true(proc_parse_field(text, PROC_GUEST_TIME, &value));
	assert_int_equal(value, 0);
}

static void a_long_command_is_cut(void **state)
{
	struct proc_stat stat;
	char text[300];

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, "1 (", 3);
	strcpy(text + 200, ") D 5 6");
	assert_true(proc_parse_stat(text, &stat));
	assert_int_equal(strlen(stat.command), sizeof(stat.command) - 1);
	assert_int_equal(stat.state, 'D');
}

static void times_of_a_thread_are_read(void **state)
{
	uint64_t ran, waited;

	(void)state;
	assert_true(proc_parse_schedstat("9000000000123 456 789\n", &ran, &waited));
	assert_true(ran == 9000000000123 && waited == 456);
	assert_false(proc_parse_schedstat("123", &ran, &waited));
	assert_false(proc_parse_schedstat("", &ran, &waited));
}

static void a_tracer_is_found(void **state)
{
	pid_t tracer = -1;

	(void)state;
	assert_true(proc_parse_tracer("Name:\tTracerPid: 3\nPPid:\t1\nTracerPid:\t77\n",
				      &tracer));
	assert_int_equal(tracer, 77);
	assert_true(proc_parse_tracer("Name:\tx\nTracerPid:\t0\n", &tracer));
	assert_int_equal(tracer, 0);
	assert_false(proc_parse_tracer("Name:\tx\n", &tracer));
}

static void mappings_are_read(void **state)
{
	struct proc_map map;

	(void)state;
	assert_true(proc_parse_map(
		"7f0000000000-7f0040000000 rw-s 00002000 00:01 1234 /memfd:a (deleted)\n",
		&map));
	assert_true(map.start == 0x7f0000000000 && map.end == 0x7f0040000000);
	assert_true(map.offset == 0x2000 && map.inode == 1234);
	assert_true(map.device == makedev(0, 1));
	assert_true(map.readable && map.writable && map.shared && !map.executable);
	assert_false(map.is_device);
	assert_true(proc_parse_map("1000-2000 rw-s 00000000 00:0d 9 "
				   "anon_inode:[vfio-device]\n",
				   &map));
	assert_true(map.is_device);
	assert_true(
		proc_parse_map("1000-2000 rw-s 00000000 00:06 9 /dev/dri/card0", &map));
	assert_true(map.is_device);
	assert_true(proc_parse_map("1000-2000 rw-s 00000000 00:06 9 /dev/shm/a", &map));
	assert_false(map.is_device);
	assert_true(proc_parse_map("1000-2000 r-xp 00000000 fe:0a 0", &map));
	assert_true(map.executable && !map.writable && !map.shared);
	assert_true(map.device == makedev(0xfe, 10));
	assert_false(proc_parse_map("2000-1000 rw-p 00000000 00:00 0", &map));
	assert_false(proc_parse_map("1000-2000 rw 00000000 00:00 0", &map));
	assert_false(proc_parse_map("1000-2000 rw-p", &map));
	assert_false(proc_parse_map("", &map));
}

static void own_mappings_have_the_device_of_their_file(void **state)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct proc_map *maps;
	struct stat file;
	size_t count, found = 0;
	void *at;

	(void)state;
	assert_true(fd >= 0 && ftruncate(fd, 8192) == 0);
	at = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(at != MAP_FAILED);
	assert_int_equal(fstat(fd, &file), 0);
	assert_int_equal(proc_read_maps(getpid(), &maps, &count), 0);
	for (size_t i = 0; i < count; i++) {
		if (maps[i].start != (uintptr_t)at)
			continue;
		found++;
		assert_true(maps[i].device == file.st_dev);
		assert_true(maps[i].inode == file.st_ino);
	}
	assert_int_equal(found, 1);
	free(maps);
	munmap(at, 8192);
	close(fd);
	assert_int_equal(proc_read_maps(-1, &maps, &count), -1);
}

/* The mapping that begins there; NULL if none does. */
static const struct proc_map *find_start(const struct proc_map *maps, size_t count,
					 const char *start)
{
	for (size_t i = 0; i < count; i++)
		if (maps[i].start == (uintptr_t)start)
			return &maps[i];
	return NULL;
}

static void pieces_of_shared_memory_are_joined(void **state)
{
	const struct proc_map *map;
	struct proc_map *maps;
	size_t count;
	char *at = mmap(NULL, 0x6000, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);

	(void)state;
	assert_true(at != MAP_FAILED);
	assert_int_equal(mprotect(at, 0x1000, PROT_READ), 0);
	assert_int_equal(mprotect(at + 0x2000, 0x1000, PROT_READ), 0);
	assert_int_equal(mprotect(at + 0x5000, 0x1000, PROT_NONE), 0);
	assert_int_equal(proc_read_maps(getpid(), &maps, &count), 0);
	map = find_start(maps, count, at);
	assert_non_null(map);
	assert_true(map->end == (uintptr_t)at + 0x5000);
	assert_true(map->first_end == (uintptr_t)at + 0x1000);
	assert_true(map->readable && map->writable);
	assert_non_null(find_start(maps, count, at + 0x5000));
	free(maps);

	/* Another part of the file follows. */
	assert_true(mremap(at + 0x3000, 0x1000, 0x1000, MREMAP_MAYMOVE | MREMAP_FIXED,
			   at + 0x1000) != MAP_FAILED);
	assert_int_equal(proc_read_maps(getpid(), &maps, &count), 0);
	map = find_start(maps, count, at);
	assert_non_null(map);
	assert_true(map->end == (uintptr_t)at + 0x1000);
	free(maps);
	munmap(at, 0x6000);
}

static void a_thread_in_kvm_run_is_recognized(void **state)
{
	int fd = -1;

	(void)state;
	assert_int_equal(proc_parse_syscall(
				 "16 0x1b 0xae80 0x0 0x0 0x0 0x0 0x7ff 0x7ff\n", 16, &fd),
			 PROC_RUNS_VCPU);
	assert_int_equal(fd, 0x1b);
	assert_int_equal(proc_parse_syscall(
				 "16 0x1b 0xae81 0x0 0x0 0x0 0x0 0x7ff 0x7ff\n", 16, &fd),
			 PROC_DOES_OTHER);
	assert_int_equal(proc_parse_syscall(
				 "17 0x1b 0xae80 0x0 0x0 0x0 0x0 0x7ff 0x7ff\n", 16, &fd),
			 PROC_DOES_OTHER);
	assert_int_equal(
		proc_parse_syscall("16 0xffffffff 0xae80 0x0 0x0 0x0 0x0 0x7ff 0x7ff\n",
				   16, &fd),
		PROC_DOES_OTHER);
	/* A worker of the kernel. */
	assert_int_equal(
		proc_parse_syscall("16 0x1b 0xae80 0x0 0x0 0x0 0x0 0x0 0x0\n", 16, &fd),
		PROC_DOES_OTHER);
	assert_int_equal(proc_parse_syscall("16 0x1b 0xae80", 16, &fd), PROC_DOES_OTHER);
	assert_int_equal(proc_parse_syscall("running\n", 16, &fd), PROC_RUNS);
	assert_int_equal(proc_parse_syscall("-1 0x7ff 0x7ff\n", 16, &fd),
			 PROC_DOES_OTHER);
	assert_int_equal(proc_parse_syscall("", 16, &fd), PROC_DOES_OTHER);
}

static void a_vcpu_is_recognized_by_its_link(void **state)
{
	unsigned int number = 0;

	(void)state;
	assert_true(proc_parse_vcpu("anon_inode:kvm-vcpu:12", &number));
	assert_int_equal(number, 12);
	assert_false(proc_parse_vcpu("anon_inode:kvm-vm", &number));
	assert_false(proc_parse_vcpu("anon_inode:kvm-vcpu:", &number));
	assert_false(proc_parse_vcpu("anon_inode:kvm-vcpu:1 (deleted)", &number));
	assert_false(proc_parse_vcpu("anon_inode:kvm-vcpu-stats:1", &number));
	assert_false(proc_parse_vcpu("/tmp/anon_inode:kvm-vcpu:1", &number));
}

static void vmms_are_known_by_their_program(void **state)
{
	static const char *const vmms[][2] = {
		{"/usr/bin/qemu-system-x86_64", "QEMU"},
		{"/usr/libexec/qemu-kvm", "QEMU"},
		{"/usr/bin/kvm", "QEMU"},
		{"/firecracker", "Firecracker"},
		{"firecracker-v1.7.0-x86_64 (deleted)", "Firecracker"},
		{"/usr/bin/lkvm", "kvmtool"},
		{"/usr/local/bin/kvmtool", "kvmtool"},
		{"/opt/kvmtool/vm", "vm"},
		{"/opt/cloud-hypervisor", "cloud-hypervisor"},
		{"/opt/mine (deleted)", "mine"},
		{"", ""},
	};
	char name[32];

	(void)state;
	for (size_t i = 0; i < sizeof(vmms) / sizeof(*vmms); i++) {
		vmm_kind(vmms[i][0], name, sizeof(name));
		assert_string_equal(name, vmms[i][1]);
	}
}

#define IS_EMULATOR(arguments) vmm_is_emulator(arguments, sizeof(arguments))

static void emulators_are_known_by_their_names(void **state)
{
	(void)state;
	assert_true(IS_EMULATOR("/usr/bin/qemu-system-x86_64\0-m\0001G"));
	assert_true(IS_EMULATOR("/usr/libexec/qemu-kvm\0-m\0001G"));
	assert_true(IS_EMULATOR("kvm\0-m\0001G"));
	assert_false(IS_EMULATOR("qemu-img\0create"));
	assert_false(IS_EMULATOR("qemu-x86_64\0program"));
	assert_false(IS_EMULATOR("/usr/bin/qemu-system-i386\0-xen-domid\0003"));
}

/* Arguments end with 0 bytes; the string's own 0 is that of the last one. */
#define NAME_OF(arguments, name) \
	vmm_guest_name(arguments, sizeof(arguments), name, sizeof(name))

static void guests_are_named_by_their_command_line(void **state)
{
	char name[16];

	(void)state;
	assert_int_equal(NAME_OF("qemu\0-m\0001G\0-name\0web", name), 0);
	assert_string_equal(name, "web");
	assert_int_equal(NAME_OF("qemu\0-name\0guest=db,debug-threads=on\0-S", name), 0);
	assert_string_equal(name, "db");
	assert_int_equal(NAME_OF("qemu\0-name\0a,,b,process=x", name), 0);
	assert_string_equal(name, "a,b");
	assert_int_equal(NAME_OF("firecracker\0--id\0f1\0--api-sock\0/x", name), 0);
	assert_string_equal(name, "f1");
	assert_int_equal(NAME_OF("firecracker\0--id=f2", name), 0);
	assert_string_equal(name, "f2");
	assert_int_equal(NAME_OF("lkvm\0run\0--name\0k", name), 0);
	assert_string_equal(name, "k");
	assert_int_equal(
		NAME_OF("/bin/solo5-hvt\0--mem=64\0/srv/a/www.hvt\0--name=x", name), 0);
	assert_string_equal(name, "www");
	assert_int_equal(NAME_OF("solo5-hvt\0--net:service=tap0\0--\0x.img\0-v", name),
			 0);
	assert_string_equal(name, "x.img");
	assert_int_equal(NAME_OF("qemu\0-name\0abcdefghijklmnopqrstuvwxyz", name), 0);
	assert_string_equal(name, "abcdefghijklmno");
}

static void guests_without_a_name_have_none(void **state)
{
	char name[16];

	(void)state;
	assert_int_equal(NAME_OF("qemu\0-m\0001G", name), -1);
	assert_int_equal(NAME_OF("-name", name), -1);
	assert_int_equal(NAME_OF("qemu\0-name", name), -1);
	assert_int_equal(NAME_OF("qemu\0-name\0", name), -1);
	assert_int_equal(NAME_OF("qemu\0--identity\0x", name), -1);
	assert_int_equal(NAME_OF("solo5-hvt\0--mem=64\0--", name), -1);
	assert_int_equal(NAME_OF("solo5-hvt\0/srv/", name), -1);
	assert_int_equal(NAME_OF("", name), -1);
	assert_int_equal(vmm_guest_name("", 0, name, sizeof(name)), -1);
	/* Cut by the size of the buffer that it was read into. */
	assert_int_equal(vmm_guest_name("qemu\0-name\0web", 13, name, sizeof(name)), -1);
	assert_int_equal(vmm_guest_name("qemu\0-name", 10, name, sizeof(name)), -1);
	assert_int_equal(vmm_guest_name("qemu", 4, name, sizeof(name)), -1);
}

#define STUB_OF(arguments, address) \
	vmm_gdb_address(arguments, sizeof(arguments), address, sizeof(address))

static void gdb_stubs_are_on_the_command_line(void **state)
{
	char address[64];

	(void)state;
	assert_int_equal(
		STUB_OF("qemu\0-gdb\0unix:/run/a.gdb,server=on,wait=off", address), 0);
	assert_string_equal(address, "unix:/run/a.gdb");
	assert_int_equal(STUB_OF("qemu\0--gdb\0tcp::9000", address), 0);
	assert_string_equal(address, "tcp:localhost:9000");
	assert_int_equal(STUB_OF("qemu\0-S\0-s", address), 0);
	assert_string_equal(address, "tcp:localhost:1234");
	assert_int_equal(STUB_OF("qemu\0-gdb\0tcp:127.0.0.1:9000,nodelay=off", address),
			 0);
	assert_string_equal(address, "tcp:127.0.0.1:9000");
	assert_int_equal(STUB_OF("qemu\0-gdb\0tcp:[::1]:9000", address), 0);
	assert_string_equal(address, "tcp:[::1]:9000");
	assert_int_equal(STUB_OF("qemu\0-gdb\0unix:/run/a.gdb,wait=off,server", address),
			 0);
	assert_string_equal(address, "unix:/run/a.gdb");
	assert_int_equal(STUB_OF("qemu\0-gdb\0chardev:gdb0\0-s", address), -1);
	assert_int_equal(STUB_OF("qemu\0-gdb\0stdio\0-s", address), -1);
	assert_int_equal(STUB_OF("qemu\0-gdb\0unix:a.gdb,server=on", address), -1);
	/* QEMU connects to a debugger that listens. */
	assert_int_equal(STUB_OF("qemu\0-gdb\0unix:/run/a.gdb", address), -1);
	assert_int_equal(STUB_OF("qemu\0-gdb\0unix:/run/a.gdb,server=off", address), -1);
	assert_int_equal(
		STUB_OF("qemu\0-gdb\0unix:/run/a.gdb,server=on,server=off", address), -1);
	assert_int_equal(STUB_OF("qemu\0-gdb\0unix:/run/a.gdb,servers", address), -1);
	/* Not on this machine, or not known to be. */
	assert_int_equal(STUB_OF("qemu\0-gdb\0tcp:192.0.2.1:9000", address), -1);
	assert_int_equal(STUB_OF("qemu\0-gdb\0tcp:localhost.example:9000", address), -1);
	assert_int_equal(
		STUB_OF("qemu\0-gdb\0unix:/run/a/path/that/does/not/fit/into/the/buffer/"
			"of/64/bytes/as/a/whole,server=on",
			address),
		-1);
	assert_int_equal(STUB_OF("qemu\0-gdb", address), -1);
	assert_int_equal(STUB_OF("qemu\0-smp\0002", address), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stat_is_read_whatever_the_command_is),
		cmocka_unit_test(
			what_a_blocked_vcpu_waits_for_is_known_by_the_kernels_function),
		cmocka_unit_test(fields_of_a_stat_are_found_by_number),
		cmocka_unit_test(a_real_stat_has_all_fields),
		cmocka_unit_test(a_long_command_is_cut),
		cmocka_unit_test(times_of_a_thread_are_read),
		cmocka_unit_test(a_tracer_is_found),
		cmocka_unit_test(mappings_are_read),
		cmocka_unit_test(own_mappings_have_the_device_of_their_file),
		cmocka_unit_test(pieces_of_shared_memory_are_joined),
		cmocka_unit_test(a_thread_in_kvm_run_is_recognized),
		cmocka_unit_test(a_vcpu_is_recognized_by_its_link),
		cmocka_unit_test(vmms_are_known_by_their_program),
		cmocka_unit_test(emulators_are_known_by_their_names),
		cmocka_unit_test(guests_are_named_by_their_command_line),
		cmocka_unit_test(guests_without_a_name_have_none),
		cmocka_unit_test(gdb_stubs_are_on_the_command_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
