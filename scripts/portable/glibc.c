/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions for the portable program (scripts/portable/stubs) that glibc 2.17 has in the
 * part that is linked statically, and later versions do not. Statically linked libraries
 * use these functions, too.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int main_function(int argc, char **argv, char **environment);
typedef void constructor(int argc, char **argv, char **environment);

/* The bounds of .init_array, defined by the linker. */
extern constructor *const __init_array_start[] __attribute__((visibility("hidden")));
extern constructor *const __init_array_end[] __attribute__((visibility("hidden")));

int __real___libc_start_main(main_function *main, int argc, char **argv,
			     main_function *init, void (*fini)(void),
			     void (*rtld_fini)(void), void *stack_end);
int __wrap___libc_start_main(main_function *main, int argc, char **argv,
			     main_function *init, void (*fini)(void),
			     void (*rtld_fini)(void), void *stack_end);

static int run_constructors(int argc, char **argv, char **environment)
{
	for (constructor *const *next = __init_array_start; next < __init_array_end;
	     next++)
		(*next)(argc, argv, environment);
	return 0;
}

/* Runs the program's constructors. Before 2.34, the program's start code passed a
 * function to
 * __libc_start_main() that ran them. Later start code passes none, but later versions of
 * glibc still call such a function if it is given (glibc, csu/libc-start.c). */
int __wrap___libc_start_main(main_function *main, int argc, char **argv,
			     main_function *init, void (*fini)(void),
			     void (*rtld_fini)(void), void *stack_end)
{
	(void)init;
	return __real___libc_start_main(main, argc, argv, run_constructors, fini,
					rtld_fini, stack_end);
}

/* fstatat() and its kin are in the shared library only since 2.33. On 64-bit CPUs, struct
 * stat is the kernel's. */
int fstatat(int folder, const char *restrict path, struct stat *restrict status,
	    int flags)
{
	return (int)syscall(SYS_newfstatat, folder, path, status, flags);
}

int stat(const char *restrict path, struct stat *restrict status)
{
	return fstatat(AT_FDCWD, path, status, 0);
}

int lstat(const char *restrict path, struct stat *restrict status)
{
	return fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *status)
{
	return (int)syscall(SYS_fstat, fd, status);
}
