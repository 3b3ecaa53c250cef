/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reading a VMM's shared memory never makes a page of it, whatever the VMM does with its
 * file, and pages that are not there are fetched only if something provides them. This
 * process is its own VMM.
 */

#define _GNU_SOURCE 1
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/common.h"
#include "base/compat.h"
#include "kvm/memory/fetch.h"
#include "kvm/memory/pages.h"
#include "kvm/memory/share.h"

#define PAGES 512
#define SIZE  ((size_t)PAGES * GUEST_PAGE_SIZE)

/* Number of a VMM's threads, and the size of their stacks. */
#define STACKS	   200
#define STACK_SIZE (8u << 20)

/* A VMM's memory: pages 0 and 1 are filled. */
struct vmm {
	int file;
	char *memory;
	struct share share;
	int watch;
};

static void vmm_map(struct vmm *vmm)
{
	struct region region = {.size = SIZE, .address = (uintptr_t)vmm->memory};
	struct proc_map *maps;
	size_t count;

	assert_int_equal(proc_read_maps(getpid(), &maps, &count), 0);
	vmm->watch = share_watch();
	if (vmm->watch < 0)
		skip();
	assert_true(share_map(&vmm->share, vmm->watch, getpid(), maps, count, &region));
	free(maps);
}

static void vmm_open(struct vmm *vmm)
{
	vmm->file = memfd_create("guest", MFD_CLOEXEC);
	assert_true(vmm->file >= 0);
	assert_int_equal(ftruncate(vmm->file, SIZE), 0);
	vmm->memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, vmm->file, 0);
	assert_ptr_not_equal(vmm->memory, MAP_FAILED);
	vmm->memory[0] = 'A';
	vmm->memory[GUEST_PAGE_SIZE] = 'B';
	vmm_map(vmm);
}

static void vmm_close(struct vmm *vmm)
{
	share_unmap(&vmm->share);
	close(vmm->watch);
	munmap(vmm->memory, SIZE);
	close(vmm->file);
}

static uint64_t pages_of(const struct vmm *vmm)
{
	struct stat file;

	assert_int_equal(fstat(vmm->file, &file), 0);
	return (uint64_t)file.st_blocks * 512 / GUEST_PAGE_SIZE;
}

static const char *page(const struct vmm *vmm, unsigned int i)
{
	return vmm->share.start + (size_t)i * GUEST_PAGE_SIZE;
}

static void punch(const struct vmm *vmm, unsigned int i)
{
	assert_int_equal(fallocate(vmm->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				   (off_t)i * GUEST_PAGE_SIZE, GUEST_PAGE_SIZE),
			 0);
}

static void a_hole_stays_a_hole(void **state)
{
	struct vmm vmm;

	(void)state;
	vmm_open(&vmm);
	assert_int_equal(pages_of(&vmm), 2);
	for (unsigned int i = 0; i < PAGES; i++)
		assert_int_equal(share_has(page(&vmm, i)), i < 2);
	assert_int_equal(pages_of(&vmm), 2);
	assert_int_equal(*page(&vmm, 0), 'A');
	vmm_close(&vmm);
}

static void what_the_vmm_writes_is_seen(void **state)
{
	struct vmm vmm;

	(void)state;
	vmm_open(&vmm);
	assert_true(share_has(page(&vmm, 0)));
	assert_false(share_has(page(&vmm, 7)));
	vmm.memory[0] = 'C';
	vmm.memory[7 * GUEST_PAGE_SIZE] = 'D';
	assert_int_equal(*page(&vmm, 0), 'C');
	assert_true(share_has(page(&vmm, 7)));
	assert_int_equal(*page(&vmm, 7), 'D');
	vmm_close(&vmm);
}

static void a_page_that_is_given_back_is_not_made_again(void **state)
{
	struct vmm vmm;

	(void)state;
	vmm_open(&vmm);
	assert_true(share_has(page(&vmm, 1)));
	punch(&vmm, 1);
	assert_false(share_has(page(&vmm, 1)));
	assert_int_equal(pages_of(&vmm), 1);
	assert_false(vmm.share.is_spoiled);
	vmm_close(&vmm);
}

/* The worst moment: between share_has() and the read. */
static void a_page_that_vanishes_before_it_is_read_is_zeros(void **state)
{
	struct vmm vmm;

	(void)state;
	vmm_open(&vmm);
	assert_true(share_has(page(&vmm, 1)));
	punch(&vmm, 1);
	assert_int_equal(*(const volatile char *)page(&vmm, 1), 0);
	assert_true(vmm.share.is_spoiled);
	assert_int_equal(pages_of(&vmm), 1);
	assert_int_equal(*page(&vmm, 0), 'A');
	vmm_close(&vmm);
}

static void a_truncated_file_is_noticed(void **state)
{
	struct vmm vmm;

	(void)state;
	vmm_open(&vmm);
	assert_false(share_is_cut(&vmm.share));
	assert_int_equal(ftruncate(vmm.file, GUEST_PAGE_SIZE), 0);
	assert_true(share_has(page(&vmm, 0)));
	assert_false(share_has(page(&vmm, 1)));
	assert_true(share_is_cut(&vmm.share));
	vmm_close(&vmm);
}

/* On a disk, a file can't be watched. */
static void memory_in_pieces_is_mapped_as_one(void **state)
{
	struct vmm vmm = {.file = -1};

	(void)state;
	vmm.memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0);
	assert_ptr_not_equal(vmm.memory, MAP_FAILED);
	vmm.memory[0] = 'A';
	vmm.memory[GUEST_PAGE_SIZE] = 'B';
	assert_int_equal(mprotect(vmm.memory, GUEST_PAGE_SIZE, PROT_READ), 0);
	vmm_map(&vmm);
	assert_int_equal(*page(&vmm, 0), 'A');
	assert_int_equal(*page(&vmm, 1), 'B');
	vmm_close(&vmm);
}

static void private_memory_and_files_on_disks_are_not_mapped(void **state)
{
	char path[] = "uniprof-share-XXXXXX";
	struct region region = {.size = SIZE};
	struct share share;
	struct proc_map *maps;
	int file = mkstemp(path), watch = share_watch();
	struct statfs disk;
	void *memory[2];
	size_t count;

	(void)state;
	assert_true(file >= 0);
	unlink(path);
	assert_int_equal(fstatfs(file, &disk), 0);
	if (watch < 0 || disk.f_type == TMPFS_MAGIC)
		skip();
	assert_int_equal(ftruncate(file, SIZE), 0);
	memory[0] = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	memory[1] = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	assert_int_equal(proc_read_maps(getpid(), &maps, &count), 0);
	for (int i = 0; i < 2; i++) {
		region.address = (uintptr_t)memory[i];
		assert_false(share_map(&share, watch, getpid(), maps, count, &region));
		munmap(memory[i], SIZE);
	}
	free(maps);
	close(file);
	close(watch);
}

static int run_child(void (*child)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		child();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void read_beyond_a_file(void)
{
	int file = memfd_create("other", MFD_CLOEXEC);
	const volatile char *at = mmap(NULL, GUEST_PAGE_SIZE, PROT_READ, MAP_SHARED, file,
				       0);

	if (share_watch() >= 0)
		(void)*at;
}

static void another_bus_error_ends_the_process(void **state)
{
	int status = run_child(read_beyond_a_file);

	(void)state;
	if (WIFEXITED(status))
		skip(); /* no userfaultfd */
	assert_int_equal(WTERMSIG(status), SIGBUS);
}

static void only_pages_in_memory_are_copied(void **state)
{
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char copy[GUEST_PAGE_SIZE];
	struct vmm_pages pages;
	struct error err;

	(void)state;
	memory[GUEST_PAGE_SIZE] = 'B';
	assert_int_equal(vmm_pages_open(&pages, getpid(), &err), 0);
	assert_true(vmm_pages_copy(&pages, (uintptr_t)memory + GUEST_PAGE_SIZE, copy));
	assert_int_equal(copy[0], 'B');
	madvise(memory, SIZE, MADV_DONTNEED);
	assert_false(vmm_pages_copy(&pages, (uintptr_t)memory + GUEST_PAGE_SIZE, copy));
	assert_false(vmm_pages_copy(&pages, UINT64_MAX - GUEST_PAGE_SIZE + 1, copy));
	vmm_pages_close(&pages);
	munmap(memory, SIZE);
}

static void *fill_one(void *context)
{
	static char image[GUEST_PAGE_SIZE] = "filled";
	int filler = *(int *)context;
	struct uffd_msg message;
	struct uffdio_copy copy = {.src = (uintptr_t)image, .len = GUEST_PAGE_SIZE};

	if (read(filler, &message, sizeof(message)) != sizeof(message))
		return NULL;
	copy.dst = message.arg.pagefault.address & ~(uint64_t)(GUEST_PAGE_SIZE - 1);
	return ioctl(filler, UFFDIO_COPY, &copy) == 0 ? context : NULL;
}

/* Starts a thread that fills the first page of the VMM's that is accessed. */
static void start_filler(const struct vmm *vmm, int *filler, pthread_t *thread)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {
		.range = {(uintptr_t)vmm->memory, SIZE},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	assert_int_equal(ioctl(*filler, UFFDIO_API, &api), 0);
	assert_int_equal(ioctl(*filler, UFFDIO_REGISTER, &range), 0);
	assert_int_equal(pthread_create(thread, NULL, fill_one, filler), 0);
}

/* Adds mappings as of the stacks of a VMM's many threads, below its other ones. */
static void map_stacks(char *stacks[STACKS])
{
	for (unsigned int i = 0; i < STACKS; i++) {
		/* The kernel joins neighbours that are alike. */
		int access = i % 2 ? PROT_READ : PROT_READ | PROT_WRITE;

		stacks[i] = mmap(NULL, STACK_SIZE, access, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);
		assert_ptr_not_equal(stacks[i], MAP_FAILED);
	}
}

static void unmap_stacks(char *stacks[STACKS])
{
	for (unsigned int i = 0; i < STACKS; i++)
		munmap(stacks[i], STACK_SIZE);
}

/* Pages are fetched in the order in which they were asked for: once the second one is
 * there, the first one has had its turn. */
static void a_page_is_fetched_if_someone_provides_it(void **state)
{
	int filler = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct vmm nobody, someone;
	char *stacks[STACKS];
	struct fetch *fetch;
	struct error err;
	pthread_t thread;
	void *filled;

	(void)state;
	if (filler < 0)
		skip();
	vmm_open(&nobody);
	vmm_open(&someone);
	map_stacks(stacks);
	start_filler(&someone, &filler, &thread);
	fetch = fetch_new(&err);
	assert_non_null(fetch);
	assert_int_equal(fetch_start(fetch, NULL, &err), 0);
	fetch_ask(fetch, getpid(), (uintptr_t)nobody.memory + 5 * GUEST_PAGE_SIZE);
	fetch_ask(fetch, getpid(), (uintptr_t)someone.memory + 6 * GUEST_PAGE_SIZE);
	assert_int_equal(pthread_join(thread, &filled), 0);
	assert_non_null(filled);
	assert_true(share_has(page(&someone, 6)));
	assert_string_equal(page(&someone, 6), "filled");
	assert_int_equal(pages_of(&someone), 3);
	assert_int_equal(pages_of(&nobody), 2);
	fetch_end(fetch);
	close(filler);
	unmap_stacks(stacks);
	vmm_close(&someone);
	vmm_close(&nobody);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hole_stays_a_hole),
		cmocka_unit_test(what_the_vmm_writes_is_seen),
		cmocka_unit_test(a_page_that_is_given_back_is_not_made_again),
		cmocka_unit_test(a_page_that_vanishes_before_it_is_read_is_zeros),
		cmocka_unit_test(a_truncated_file_is_noticed),
		cmocka_unit_test(memory_in_pieces_is_mapped_as_one),
		cmocka_unit_test(private_memory_and_files_on_disks_are_not_mapped),
		cmocka_unit_test(another_bus_error_ends_the_process),
		cmocka_unit_test(only_pages_in_memory_are_copied),
		cmocka_unit_test(a_page_is_fetched_if_someone_provides_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
