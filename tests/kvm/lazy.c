/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A guest whose memory is filled when it is first accessed (vmm --lazy), and that makes a
 * profiler access it first: for a while, the frame pointer and the stack pointer are in a
 * page that the guest has not accessed yet. Then it checks what is in the page. It prints
 * how many pages were not what they must be, and how long it stood still at most while it
 * accessed nothing. After that, the registers are in pages that the guest never accesses:
 * a profiler can read them only if it asks for them. Built with start.S.
 */
#include <stdint.h>

#define PAGES  512
#define UNUSED 16  /* pages that the guest never accesses */
#define WORDS  512 /* in a page */

/* Ticks of the TSC for which registers are in a page. */
#define SPELL 4000000

/* Page number i is a frame, and the number i + 1: the outermost frame, of checked(); in
 * unused pages, of unused(). */
extern const uint64_t pages[PAGES][WORDS], unused_pages[UNUSED][WORDS];
asm(".macro frames name, count, returns\n"
    "\\name:\n"
    ".set i, 1\n"
    ".rept \\count\n"
    ".quad 0, \\returns, i\n"
    ".skip 4096 - 24\n"
    ".set i, i + 1\n"
    ".endr\n"
    ".endm\n"
    ".section .data.lazy, \"aw\"\n"
    ".balign 4096\n"
    "frames pages, 512, in_checked\n"
    "frames unused_pages, 16, in_unused\n"
    ".text\n");

/* The frames' functions, which nothing calls. */
asm(".macro caller name\n"
    ".type \\name, @function\n"
    "\\name:\n"
    "call spin_in\n"
    "in_\\name:\n"
    "jmp in_\\name\n"
    ".size \\name, . - \\name\n"
    ".endm\n"
    "caller checked\n"
    "caller unused\n");

uint64_t spin_in(const uint64_t *page);
void guest_main(uint64_t vcpu);

static void put_char(char c)
{
	asm volatile("outb %0, %1" : : "a"(c), "d"((uint16_t)0x3f8));
}

static void print(const char *text, uint64_t number)
{
	char digits[20];
	unsigned int count = 0;

	while (*text)
		put_char(*text++);
	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count)
		put_char(digits[--count]);
	put_char('\n');
}

/* Counts for SPELL ticks with both registers in the page. Returns the most ticks between
 * two looks at the TSC. */
__attribute__((noinline)) uint64_t spin_in(const uint64_t *page)
{
	uint64_t most = 0, stack;

	asm volatile("movq	%%rsp, %[stack]\n"
		     "	pushq	%%rbp\n"
		     "	movq	%[stack], %%r8\n"
		     "	movq	%[page], %%rbp\n"
		     "	movq	%[page], %%rsp\n"
		     "	rdtsc\n"
		     "	shlq	$32, %%rdx\n"
		     "	orq	%%rdx, %%rax\n"
		     "	movq	%%rax, %%r9\n" /* the last look */
		     "	leaq	(%%rax, %[spell]), %%r10\n"
		     "1:	rdtsc\n"
		     "	shlq	$32, %%rdx\n"
		     "	orq	%%rdx, %%rax\n"
		     "	movq	%%rax, %%rcx\n"
		     "	subq	%%r9, %%rcx\n"
		     "	cmpq	%[most], %%rcx\n"
		     "	cmova	%%rcx, %[most]\n"
		     "	movq	%%rax, %%r9\n"
		     "	cmpq	%%r10, %%rax\n"
		     "	jb	1b\n"
		     "	leaq	-8(%%r8), %%rsp\n"
		     "	popq	%%rbp\n"
		     : [most] "+&r"(most), [stack] "=&r"(stack)
		     : [page] "r"(page), [spell] "r"((uint64_t)SPELL)
		     : "rax", "rcx", "rdx", "r8", "r9", "r10", "cc", "memory");
	return most;
}

void guest_main(uint64_t vcpu)
{
	uint64_t lost = 0, most = 0;

	(void)vcpu;
	print("first ", 0);
	for (uint64_t i = 0; i < PAGES; i++) {
		uint64_t gap = spin_in(pages[i]);

		most = gap > most ? gap : most;
		lost += pages[i][2] != i + 1;
	}
	print("lost ", lost);
	for (uint64_t i = 1;; i++) {
		uint64_t gap = spin_in(unused_pages[i % UNUSED]);

		most = gap > most ? gap : most;
		if (i % 200 == 0) {
			print("most ", most);
			print("first ", i);
		}
	}
}
