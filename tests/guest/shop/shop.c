/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The first process of a Linux guest, without a C library: four threads answer requests,
 * and note each one in a log. The first thread prints each second how many they were. For
 * docs/tutorial-waits.md.
 */
#include <linux/futex.h>
#include <sys/prctl.h>

#include "tests/lab/threads.h"
#include "tests/guest/shop/shop.h"

#define WORKERS 4
#define STACK	16384

int log_lock;

static long lines, requests;

/* The system call futex(2), as part of its caller. */
static inline __attribute__((always_inline)) void call_futex(int *word, long what, long n)
{
	register long timeout __asm__("r10") = 0;
	long result = SYS_futex;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(word), "S"(what), "d"(n), "r"(timeout)
			 : "rcx", "r11", "memory");
}

static int swap(int *word, int from, int to)
{
	__atomic_compare_exchange_n(word, &from, to, 0, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return from;
}

/* 0: free; 1: held; 2: held, and others may wait (Drepper, "Futexes Are Tricky"). */
APART void mutex_lock(int *word)
{
	int was = swap(word, 0, 1);

	while (was) {
		if (was == 2 || swap(word, 1, 2))
			call_futex(word, FUTEX_WAIT, 2);
		was = swap(word, 0, 2);
	}
}

APART void mutex_unlock(int *word)
{
	if (__atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST) == 2)
		call_futex(word, FUTEX_WAKE, 1);
}

APART long append_line(void)
{
	return ++lines;
}

/* There is no disk here: as long as one would take, the thread sleeps. */
APART void write_line(long line)
{
	static const struct timespec time = {0, 5000000};

	if (line)
		system_call(SYS_nanosleep, (long)&time, NULL, 0, 0);
}

static APART void answer(void)
{
	static volatile unsigned char page[4096];
	unsigned int sum = 0;

	for (size_t i = 0; i < sizeof(page); i++)
		sum += page[i];
	page[sum % sizeof(page)] = 0;
}

static APART void serve(void)
{
	system_call(SYS_prctl, PR_SET_NAME, "worker", 0, 0);
	for (;;) {
		answer();
		log_request();
		__atomic_fetch_add(&requests, 1, __ATOMIC_RELAXED);
	}
}

static char *put_number(char *to, long number)
{
	if (number >= 10)
		to = put_number(to, number / 10);
	*to = (char)('0' + number % 10);
	return to + 1;
}

static char *put_text(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	return to;
}

static APART void print_requests(long second, long count)
{
	char text[80], *end = put_number(put_text(text, "second "), second);

	end = put_number(put_text(end, ": "), count);
	end = put_text(end, " requests a second\nguest: heartbeat\n");
	system_call(SYS_write, 1, text, (size_t)(end - text), 0);
}

int main(void)
{
	static const struct timespec second = {1, 0};
	char stacks[WORKERS][STACK]; /* where only 64-bit code has its stacks */
	long before = 0;

	for (int i = 0; i < WORKERS; i++)
		run_apart(THREAD_FLAGS, serve, stacks[i] + STACK);
	for (long i = 1;; i++) {
		long now;

		system_call(SYS_nanosleep, (long)&second, NULL, 0, 0);
		now = __atomic_load_n(&requests, __ATOMIC_RELAXED);
		print_requests(i, now - before);
		before = now;
	}
}
