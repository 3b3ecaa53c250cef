/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The first process of a Linux guest, with eight threads that wait, for known parts of
 * the time and in known ways. The first thread prints what the kernel itself says about
 * their stacks (/proc/PID/task/TID/stack), some times; then, each second, a heartbeat and
 * how long each of three threads has been in its two waits: a slow machine makes the one
 * longer, the other not.
 *
 * With QUICK, all waits are a 16th as long, so that many are seen in a short time. With
 * MANY, there are 400 more threads, which wait for good, and the first thread counts how
 * often it does some work, instead of waiting.
 */
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>

#include "tests/lab/threads.h"

#ifdef QUICK
#define PACE 16
#else
#define PACE 1
#endif
#define MS	(1000000L / PACE)
#define THREADS 8
#define STACK	16384

static int ends[2]; /* of a pipe */

static int started; /* number of threads that have begun */

/* The waits of a thread that has two, one after the other, in ticks of the CPU's time
 * stamp counter: their sums, without those that are not over. */
struct turns {
	const char *name;
	volatile unsigned long first, second;
};
static struct turns futex = {"futex", 0, 0}, reader = {"reader", 0, 0},
		    vforker = {"vforker", 0, 0};

/* Adds two waits that lasted from @start to @middle and to now. */
static void add_turn(struct turns *turns, unsigned long start, unsigned long middle)
{
	turns->first += middle - start;
	turns->second += __builtin_ia32_rdtsc() - middle;
}

/* Always true; so threads' functions can return, and have frames. */
static bool goes_on(void)
{
	return __atomic_load_n(&started, __ATOMIC_RELAXED) > 0;
}

static APART void nap(long ms)
{
	struct timespec time = {ms * MS / 1000000000, ms * MS % 1000000000};

	system_call(SYS_nanosleep, (long)&time, NULL, 0, 0);
}

/* Always asleep, for 300 ms each time. */
static APART void sleep_again(void)
{
	while (goes_on())
		nap(300);
}

static APART void sleep_forever(void)
{
	while (goes_on())
		nap(1000000000);
}

/* 60.2 % of the time in futex(), 39.8 % asleep. All times are out of step with rounds. */
static APART void wait_for_futex(void)
{
	static const struct timespec time = {0, 637 * MS};
	static int word;

	while (goes_on()) {
		unsigned long start = __builtin_ia32_rdtsc(), middle;

		system_call(SYS_futex, (long)&word, (void *)FUTEX_WAIT, 0, (long)&time);
		middle = __builtin_ia32_rdtsc();
		nap(421);
		add_turn(&futex, start, middle);
	}
}

/* 70.0 % of the time in read(), 30.0 % asleep. */
static APART void read_pipe(void)
{
	char byte;

	while (goes_on()) {
		unsigned long start = __builtin_ia32_rdtsc(), middle;

		system_call(SYS_read, ends[0], &byte, 1, 0);
		middle = __builtin_ia32_rdtsc();
		nap(311);
		add_turn(&reader, start, middle);
	}
}

static APART void write_pipe(void)
{
	while (goes_on()) {
		nap(1037);
		system_call(SYS_write, ends[1], "x", 1, 0);
	}
}

static APART void poll_again(void)
{
	while (goes_on())
		system_call(SYS_poll, 0, NULL, 700 / PACE, 0);
}

static APART void pause_forever(void)
{
	while (goes_on())
		system_call(SYS_pause, 0, NULL, 0, 0);
}

static APART void nap_and_exit(void)
{
	nap(523);
	system_call(SYS_exit, 0, NULL, 0, 0);
}

/* 50 % of the time in vfork(), which no signal ends but a fatal one, as waits for disks;
 * 50 % asleep. */
static APART void wait_for_child(void)
{
	char stack[STACK / 4];

	while (goes_on()) {
		unsigned long start = __builtin_ia32_rdtsc(), middle;

		run_apart(CLONE_VM | CLONE_VFORK | SIGCHLD, nap_and_exit,
			  stack + sizeof(stack));
		middle = __builtin_ia32_rdtsc();
		nap(523);
		add_turn(&vforker, start, middle);
	}
}

static const struct {
	const char *name;
	void (*function)(void);
} threads[THREADS] = {
	{"sleeper", sleep_again},  {"forever", sleep_forever},	{"futex", wait_for_futex},
	{"reader", read_pipe},	   {"writer", write_pipe},	{"poller", poll_again},
	{"pauser", pause_forever}, {"vforker", wait_for_child},
};

static APART void run_thread(void)
{
	int number = __atomic_fetch_add(&started, 1, __ATOMIC_SEQ_CST);

	system_call(SYS_prctl, PR_SET_NAME, threads[number].name, 0, 0);
	threads[number].function();
}

static void print(const char *text)
{
	size_t size = 0;

	while (text[size])
		size++;
	system_call(SYS_write, 1, text, size, 0);
}

static char *put_text(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	*to = 0;
	return to;
}

static char *put_number(char *to, long number)
{
	if (number >= 10)
		to = put_number(to, number / 10);
	*to++ = (char)('0' + number % 10);
	return to;
}

/* Prints the thread's stack, as the kernel tells it. */
static void print_stack(const char *name, long tid)
{
	static char text[4096], path[64];
	long file, size;

	put_text(put_number(put_text(path, "/proc/self/task/"), tid), "/stack");
	file = system_call(SYS_open, (long)path, (void *)0, 0, 0);
	print("STACK ");
	print(name);
	print("\n");
	while ((size = system_call(SYS_read, file, text, sizeof(text), 0)) > 0)
		system_call(SYS_write, 1, text, (size_t)size, 0);
	system_call(SYS_close, file, NULL, 0, 0);
}

/* Prints the sums of a thread's waits, as "TURNS name first second". */
static void print_turns(const struct turns *turns)
{
	char text[80], *end = put_text(text, "TURNS ");

	end = put_text(put_text(end, turns->name), " ");
	end = put_text(put_number(end, (long)turns->first), " ");
	put_text(put_number(end, (long)turns->second), "\n");
	print(text);
}

/* Children are gone once they have ended. */
static APART void ignore_children(void)
{
	/* The kernel's struct sigaction: handler, flags, restorer, mask */
	static const unsigned long action[4] = {(unsigned long)SIG_IGN};

	system_call(SYS_rt_sigaction, SIGCHLD, action, 0, sizeof(action[3]));
}

static APART void mount_proc(void)
{
	system_call(SYS_mkdir, (long)"/proc", (void *)0700, 0, 0);
	system_call(SYS_mount, (long)"proc", "/proc", (size_t) "proc", 0);
}

#ifdef MANY

#define MORE 400

static APART void start_more(void)
{
	static char stacks[MORE][STACK / 4];

	for (int i = 0; i < MORE; i++)
		run_apart(THREAD_FLAGS, pause_forever, stacks[i] + sizeof(stacks[i]));
}

/* Works, and prints each second how much work is done, as "WORK count ticks". */
static APART void work(void)
{
	unsigned long count = 0;
	char text[80];

	for (long second = seconds();;) {
		for (volatile int i = 0; i < 20000; i++)
			continue;
		count++;
		if (seconds() == second)
			continue;
		second = seconds();
		beat();
		put_text(put_number(put_text(put_number(put_text(text, "WORK "),
							(long)count),
					     " "),
				    (long)__builtin_ia32_rdtsc()),
			 "\n");
		print(text);
	}
}

#endif

int main(void)
{
	/* Where only 64-bit code has its stacks. */
	char stacks[THREADS][STACK];
	long tid[THREADS];

	mount_proc();
	ignore_children();
	system_call(SYS_pipe, (long)ends, NULL, 0, 0);
	for (int i = 0; i < THREADS; i++) {
		tid[i] = run_apart(THREAD_FLAGS, run_thread, stacks[i] + STACK);
		while (__atomic_load_n(&started, __ATOMIC_SEQ_CST) == i)
			nap(1);
	}
	for (int round = 0; round < 20; round++) {
		nap(170);
		for (int i = 0; i < THREADS; i++)
			print_stack(threads[i].name, tid[i]);
	}
	print("guest: stacks of all threads are printed\n");
#ifdef MANY
	start_more();
	work();
#endif
	for (;;) {
		beat();
		print_turns(&futex);
		print_turns(&reader);
		print_turns(&vforker);
		nap(1000 * PACE);
	}
}
