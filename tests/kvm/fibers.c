/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A guest with threads that switch by themselves, as two unikernels have them: with names
 * and members of structs like Unikraft's (lib/uksched and lib/ukschedcoop, 0.16), or,
 * with MINIOS, like Mini-OS's (include/sched.h, sched.c). What it has in common with them
 * is where things are and what happens when threads switch; the code is the tests' own.
 *
 * What the threads do, in units of 2,000,000 cycles of the TSC, about a millisecond:
 *
 * worker    always runs, and yields twenty times in a unit
 * sleeper   naps for 70 and for 30 units in turn
 * waiter    naps for 42, and waits until the waker has napped for 64
 * waker     waits for the waiter's order
 * forever   waits for nothing
 * deep      naps 40 calls deep
 * ping      runs and waits for pong, as fast as it can, each in a chain of its own
 * spawner   naps for 10, and starts "brief", which naps for 5 and ends
 *
 * On a busy host, naps take longer, so the worker prints for how many cycles sleeper,
 * waiter and waker have done each of two things. With MANY, see many.h.
 */
#include <stddef.h>
#include <stdint.h>

#include "list.h"

#define APART __attribute__((noinline, noclone))
#define UNIT  2000000

/* Where a thread without frame starts: run_thread() has its function. */
extern char thread_starter[];
asm(".text\n"
    ".globl thread_starter\n"
    ".type thread_starter, @function\n"
    "thread_starter:\n"
    "	xorl %ebp, %ebp\n"
    "	popq %rdi\n"
    "	ret\n"
    ".size thread_starter, . - thread_starter\n");

#ifdef MINIOS
#define SWITCH	 "__arch_switch_threads"
#define SP	 "0"
#define IP	 "8"
#define RUNNABLE 1
struct thread {
	const char *name;
	char *stack;
	unsigned long sp, ip;
	LINK(struct thread) thread_list;
	uint32_t flags;
	int64_t wakeup_time;
};
void switch_threads(unsigned long *from, unsigned long *to) asm(SWITCH);
#else
#define SWITCH	 "ukarch_ctx_switch"
#define SP	 "8"
#define IP	 "0"
#define RUNNABLE 8
#define EXITED	 16
#define thread	 uk_thread
struct ukarch_ctx {
	uint64_t ip, sp;
};
struct uk_sched;
struct uk_thread {
	struct ukarch_ctx ctx;
	void *ectx;
	uint64_t tlsp, uktlsp, auxsp;
	LINK(struct uk_thread) queue;
	uint32_t flags;
	int64_t wakeup_time;
	struct uk_sched *sched;
	struct {
		void *t_a, *stack, *stack_a, *uktls, *uktls_a, *auxstack, *auxstack_a;
	} _mem;
	void *_gc_fn, *_gc_argp, *dtor, *priv;
	uint64_t exec_time;
	const char *name;
	LINK(struct uk_thread) thread_list;
};
struct uk_sched {
	void *functions[8];
	uint8_t is_started;
	LIST(struct uk_thread) thread_list, exited_threads;
	void *a, *a_stack, *a_auxstack, *a_uktls;
	struct uk_sched *next;
};
void switch_threads(struct ukarch_ctx *from, struct ukarch_ctx *to) asm(SWITCH);
#endif

asm(".text\n"
    ".globl " SWITCH "\n"
    ".type " SWITCH ", @function\n" SWITCH ":\n"
    "	pushq %rbp\n"
    "	pushq %rbx\n"
    "	pushq %r12\n"
    "	pushq %r13\n"
    "	pushq %r14\n"
    "	pushq %r15\n"
    "	movq %rsp, " SP "(%rdi)\n"
    "	movq " SP "(%rsi), %rsp\n"
    "	leaq 1f(%rip), %rbx\n"
    "	movq %rbx, " IP "(%rdi)\n"
    "	pushq " IP "(%rsi)\n"
    "	ret\n"
    "1:	popq %r15\n"
    "	popq %r14\n"
    "	popq %r13\n"
    "	popq %r12\n"
    "	popq %rbx\n"
    "	popq %rbp\n"
    "	ret\n"
    ".size " SWITCH ", . - " SWITCH "\n");

static uint64_t now(void)
{
	uint32_t low, high;

	asm volatile("rdtsc" : "=a"(low), "=d"(high));
	return low | (uint64_t)high << 32;
}

static APART void print(const char *text)
{
	while (*text)
		asm volatile("outb %0, %1" : : "a"(*text++), "d"((uint16_t)0x3f8));
}

static APART void run_thread(void (*function)(void));

/* Threads and their stacks, which start at multiples of their size. */
static struct thread threads[THREADS];
static char stacks[THREADS][STACK_SIZE] __attribute__((aligned(STACK_SIZE)));
static unsigned char is_used[THREADS];

/* Puts what thread_starter takes on a stack. */
static uint64_t prepare_stack(char *stack, void (*function)(void))
{
	uint64_t *top = (uint64_t *)(void *)(stack + STACK_SIZE);

	*--top = 0;
	*--top = 0; /* the return address of run_thread() */
	*--top = (uintptr_t)run_thread;
	*--top = (uintptr_t)function;
	return (uintptr_t)top;
}

static unsigned int free_thread(void)
{
	unsigned int i = 0;

	while (is_used[i])
		i++;
	is_used[i] = 1;
	return i;
}

#ifdef MINIOS

static LIST(struct thread) thread_list = {NULL, &thread_list.first};
static LIST(struct thread) exited_threads = {NULL, &exited_threads.first};

/* A pointer to the thread is at the bottom of its stack. */
static struct thread *get_current(void)
{
	return *(struct thread **)((uintptr_t)__builtin_frame_address(0) &
				   ~(uintptr_t)(STACK_SIZE - 1));
}

static APART void schedule(void)
{
	struct thread *previous = get_current(), *next, *other;
	int64_t time;

	do {
		time = (int64_t)now();
		for (next = thread_list.first; next; next = other) {
			other = next->thread_list.next;
			if (next->wakeup_time && next->wakeup_time <= time) {
				next->wakeup_time = 0;
				next->flags |= RUNNABLE;
			}
			if (next->flags & RUNNABLE)
				break;
		}
	} while (!next);
	list_remove(&thread_list, next, thread_list);
	list_append(&thread_list, next, thread_list);
	if (previous != next)
		switch_threads(&previous->sp, &next->sp);
	while ((other = exited_threads.first) && other != get_current()) {
		list_remove(&exited_threads, other, thread_list);
		is_used[other - threads] = 0;
	}
}

static struct thread *thread_create(const char *name, void (*function)(void))
{
	unsigned int i = free_thread();
	struct thread *new = &threads[i];

	*new = (struct thread){
		.name = name,
		.stack = stacks[i],
		.sp = prepare_stack(stacks[i], function),
		.ip = (uintptr_t)thread_starter,
		.flags = RUNNABLE,
	};
	*(struct thread **)(void *)stacks[i] = new;
	list_append(&thread_list, new, thread_list);
	return new;
}

static void thread_exit(void)
{
	struct thread *self = get_current();

	list_remove(&thread_list, self, thread_list);
	self->flags = 0;
	list_append(&exited_threads, self, thread_list);
	for (;;)
		schedule();
}

static void block_until(uint64_t time)
{
	struct thread *self = get_current();

	self->wakeup_time = (int64_t)time;
	self->flags &= ~RUNNABLE;
	schedule();
}

static void wake(struct thread *other)
{
	other->wakeup_time = 0;
	other->flags |= RUNNABLE;
}

static void idle(void)
{
	for (;;)
		block_until(0);
}

/* Leaves the stack on which the guest has started. */
static void become_worker(void (*function)(void))
{
	static struct thread none;

	thread_create("worker", function);
	thread_create("Idle", idle);
	switch_threads(&none.sp, &thread_list.first->sp);
}

#else

struct uk_sched *uk_sched_head;
struct uk_thread *__uk_sched_thread_current[1];
static LIST(struct uk_thread) run_queue, sleep_queue;
static struct uk_thread idle_thread;
static uint64_t last_switch;

static struct uk_thread *get_current(void)
{
	return __uk_sched_thread_current[0];
}

static void wake(struct uk_thread *other)
{
	if (other->flags & RUNNABLE)
		return;
	if (other->wakeup_time)
		list_remove(&sleep_queue, other, queue);
	other->wakeup_time = 0;
	other->flags |= RUNNABLE;
	list_append(&run_queue, other, queue);
}

static APART void schedule(void)
{
	struct uk_thread *previous = get_current(), *next, *other;
	uint64_t time = now();

	previous->exec_time += time - last_switch;
	last_switch = time;
	for (next = sleep_queue.first; next; next = other) {
		other = next->queue.next;
		if (next->wakeup_time <= (int64_t)time)
			wake(next);
	}
	next = run_queue.first;
	if (next) {
		list_remove(&run_queue, next, queue);
		if (previous != &idle_thread && previous->flags & RUNNABLE)
			list_append(&run_queue, previous, queue);
	} else {
		next = previous->flags & RUNNABLE ? previous : &idle_thread;
	}
	if (next == previous)
		return;
	__uk_sched_thread_current[0] = next;
	switch_threads(&previous->ctx, &next->ctx);
	while ((other = uk_sched_head->exited_threads.first) && other != get_current()) {
		list_remove(&uk_sched_head->exited_threads, other, thread_list);
		is_used[other - threads] = 0;
	}
}

static void thread_init(struct uk_thread *new, const char *name, char *stack,
			void (*function)(void))
{
	*new = (struct uk_thread){
		.name = name,
		._mem.stack = stack,
		.ctx = {(uintptr_t)thread_starter, prepare_stack(stack, function)},
		.flags = RUNNABLE,
		.sched = uk_sched_head,
	};
	list_append(&uk_sched_head->thread_list, new, thread_list);
}

static struct uk_thread *thread_create(const char *name, void (*function)(void))
{
	unsigned int i = free_thread();

	thread_init(&threads[i], name, stacks[i], function);
	list_append(&run_queue, &threads[i], queue);
	return &threads[i];
}

static void thread_exit(void)
{
	struct uk_thread *self = get_current();

	list_remove(&uk_sched_head->thread_list, self, thread_list);
	self->flags = EXITED;
	list_append(&uk_sched_head->exited_threads, self, thread_list);
	for (;;)
		schedule();
}

static void block_until(uint64_t time)
{
	struct uk_thread *self = get_current();

	self->flags &= ~(uint32_t)RUNNABLE;
	self->wakeup_time = (int64_t)time;
	if (time)
		list_append(&sleep_queue, self, queue);
	schedule();
}

static void idle(void)
{
	for (;;)
		schedule();
}

/* The first thread has the stack on which the guest has started. */
static void become_worker(void (*function)(void))
{
	static struct uk_sched first;
	static struct uk_thread main_thread;
	static char idle_stack[STACK_SIZE] __attribute__((aligned(16)));

	list_init(&first.thread_list);
	list_init(&first.exited_threads);
	list_init(&run_queue);
	list_init(&sleep_queue);
	uk_sched_head = &first;
	thread_init(&idle_thread, "idle", idle_stack, idle);
	main_thread = (struct uk_thread){
		.name = "worker", .flags = RUNNABLE, .sched = &first};
	list_append(&first.thread_list, &main_thread, thread_list);
	__uk_sched_thread_current[0] = &main_thread;
	last_switch = now();
	function();
}

#endif

static APART void run_thread(void (*function)(void))
{
	function();
	thread_exit();
}

static APART void nap(unsigned int units)
{
	block_until(now() + (uint64_t)units * UNIT);
	asm volatile("");
}

static APART void work(unsigned int cycles)
{
	uint64_t until = now() + cycles;

	while (now() < until)
		asm volatile("pause");
}

/* Cycles that were spent: in nap_long() and nap_short(), wait_for_work() and the
 * waiter's nap, wait_for_order() and prepare() */
enum spent {
	LONG,
	SHORT,
	FOR_WORK,
	WAITER_NAP,
	FOR_ORDER,
	PREPARE,
	SPENT
};
static uint64_t spent[SPENT];

#define TIMED(place, what)                     \
	do {                                   \
		uint64_t start = now();        \
                                               \
		what;                          \
		spent[place] += now() - start; \
	} while (0)

static APART void nap_long(void)
{
	TIMED(LONG, nap(70));
}

static APART void nap_short(void)
{
	TIMED(SHORT, nap(30));
}

static APART void sleeper(void)
{
	for (;;) {
		nap_long();
		nap_short();
	}
}

static struct thread *waiter_thread, *waker_thread, *ping_thread, *pong_thread;
static volatile int is_ordered, is_done;

static APART void wait_for_work(void)
{
	uint64_t start = now();

	while (!is_done)
		block_until(0);
	is_done = 0;
	spent[FOR_WORK] += now() - start;
}

static APART void waiter(void)
{
	for (;;) {
		TIMED(WAITER_NAP, nap(42));
		is_ordered = 1;
		wake(waker_thread);
		wait_for_work();
	}
}

static APART void wait_for_order(void)
{
	uint64_t start = now();

	while (!is_ordered)
		block_until(0);
	is_ordered = 0;
	spent[FOR_ORDER] += now() - start;
}

static APART void prepare(void)
{
	TIMED(PREPARE, nap(64));
}

static APART void waker(void)
{
	for (;;) {
		wait_for_order();
		prepare();
		is_done = 1;
		wake(waiter_thread);
	}
}

static APART void forever(void)
{
	for (;;)
		block_until(0);
}

static APART void dive(unsigned int depth)
{
	if (depth)
		dive(depth - 1);
	else
		nap(25);
	asm volatile("");
}

static APART void deep(void)
{
	for (;;)
		dive(39);
}

static APART void wait_for_pong(void)
{
	block_until(0);
	asm volatile("");
}

static APART void ping(void)
{
	for (;;) {
		work(UNIT / 50);
		wake(pong_thread);
		wait_for_pong();
	}
}

static APART void wait_for_ping(unsigned int depth)
{
	if (depth)
		wait_for_ping(depth - 1);
	else
		block_until(0);
	asm volatile("");
}

static APART void pong(void)
{
	for (unsigned int i = 0;; i++) {
		wait_for_ping(i % 4);
		wake(ping_thread);
	}
}

static APART void brief(void)
{
	nap(5);
	asm volatile("");
}

static APART void spawner(void)
{
	for (;;) {
		nap(10);
		thread_create("brief", brief);
	}
}

static APART void print_spent(void)
{
	print("first");
	for (unsigned int i = 0; i < SPENT; i++) {
		char text[24] = "", *at = text + sizeof(text) - 1;
		uint64_t number = spent[i];

		do
			*--at = (char)('0' + number % 10);
		while (number /= 10);
		*--at = ' ';
		print(at);
	}
	print("\n");
}

static APART void worker(void)
{
	thread_create("sleeper", sleeper);
	waiter_thread = thread_create("waiter", waiter);
	waker_thread = thread_create("waker", waker);
	thread_create("forever", forever);
	thread_create("deep", deep);
	pong_thread = thread_create("pong", pong);
	ping_thread = thread_create("ping", ping);
	thread_create("spawner", spawner);
	for (unsigned int round = 0;; round++) {
		work(UNIT / 20);
		schedule();
		if (round % 4096 == 64)
			print_spent();
	}
}

#ifdef MANY
#include "many.h"
#endif
void guest_main(uint64_t vcpu);
void guest_main(uint64_t vcpu)
{
	(void)vcpu;
	become_worker(WORKER);
}
