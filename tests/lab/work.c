/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The first process of a Linux guest, with frame pointers: writes to a file in memory
 * again and again, and prints a heartbeat each second. Its hot path is main, rewrite,
 * system_call, and what the kernel calls from there. With TRACED, it first prints what
 * the kernel itself says about that: the stacks of ftrace, of one write.
 */
#include <fcntl.h>

#include "tests/lab/process.h"

static char buffer[64 << 10];

static APART long rewrite(long file)
{
	long written = 0;

	for (int i = 0; i < 100; i++)
		written += system_call(SYS_pwrite64, file, buffer, sizeof(buffer), 0);
	return written;
}

#ifdef TRACED

static long mount_at(const char *type, const char *path)
{
	register long flags __asm__("r10") = 0, data __asm__("r8") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_mount), "D"(type), "S"(path), "d"(type), "r"(flags),
			   "r"(data)
			 : "rcx", "r11", "memory");
	return result;
}

static void set(const char *path, const char *value)
{
	long file = system_call(SYS_open, (long)path, (void *)(O_WRONLY | O_APPEND), 0,
				0);
	size_t size = 0;

	while (value[size])
		size++;
	system_call(SYS_write, file, value, size, 0);
	system_call(SYS_close, file, NULL, 0, 0);
}

static void print_trace(void)
{
	long file = system_call(SYS_open, (long)"/t/trace", (void *)O_RDONLY, 0, 0), size;
	static char text[4096];

	while ((size = system_call(SYS_read, file, text, sizeof(text), 0)) > 0)
		system_call(SYS_write, 1, text, (size_t)size, 0);
}

/* Linux, Documentation/trace/ftrace.rst */
static void trace(long file)
{
	static const char *const functions[] = {"shmem_*",	    "*_dirty*",
						"*copy_page_from*", "vfs_write",
						"*page_accessed*",  "file_update_time"};
	static const char done[] = "guest: its stacks are printed\n";

	rewrite(file); /* has all of its memory then */
	system_call(SYS_mkdir, (long)"/t", (void *)0700, 0, 0);
	mount_at("tracefs", "/t");
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		set("/t/set_ftrace_filter", functions[i]);
	set("/t/options/func_stack_trace", "1");
	set("/t/current_tracer", "function");
	system_call(SYS_pwrite64, file, buffer, sizeof(buffer), 0);
	set("/t/tracing_on", "0");
	print_trace();
	set("/t/options/func_stack_trace", "0");
	set("/t/current_tracer", "nop");
	system_call(SYS_write, 1, done, sizeof(done) - 1, 0);
}

#else

static void trace(long file)
{
	(void)file;
}

#endif

int main(void)
{
	long file = system_call(SYS_memfd_create, (long)"work", NULL, 0, 0), last = 0;

	trace(file);
	for (;;) {
		long now;

		rewrite(file);
		now = seconds();
		if (now != last)
			beat();
		last = now;
	}
}
