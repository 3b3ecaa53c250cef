/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What unikernels have of their threads, by the names in tables/fibers/systems: of
 * Unikraft's VERSION 11, 14 or 16, or of Mini-OS. With MORE, structs have another member
 * at their start, so that offsets are not those that uniprof knows.
 */

struct link {
	void *next, *previous;
};

#ifdef MORE
#define MEMBER long more;
#else
#define MEMBER
#endif

#ifdef MINIOS
struct thread {
	MEMBER char *name;
	char *stack;
	unsigned long sp, ip;
	struct link thread_list;
	unsigned int flags;
	long wakeup_time;
};

static struct {
	struct thread *first, **last;
} thread_list = {0, &thread_list.first};

void *use(void);
void *use(void)
{
	return thread_list.last;
}

void __arch_switch_threads(void);
void __arch_switch_threads(void)
{
}
#else
struct ukarch_ctx {
	unsigned long ip, sp;
};

struct uk_thread {
	MEMBER struct ukarch_ctx ctx;
	void *ectx;
	unsigned long tlsp, uktlsp;
#if VERSION >= 16
	unsigned long auxsp;
#endif
	struct link queue;
	unsigned int flags;
	long wakeup_time;
	void *sched;
	struct {
		void *t_a, *stack, *stack_a, *uktls, *uktls_a;
#if VERSION >= 16
		void *auxstack, *auxstack_a;
#endif
	} _mem;
	void *_gc_fn, *_gc_argp, *dtor, *priv;
#if VERSION >= 14
	unsigned long exec_time;
#endif
	const char *name;
	struct link thread_list;
};

struct uk_sched {
	MEMBER void *functions[VERSION >= 16 ? 8 : VERSION >= 14 ? 7 : 6];
	_Bool is_started;
	struct link thread_list, exited_threads;
	void *a[VERSION >= 16 ? 4 : 3];
	struct uk_sched *next;
};

struct uk_sched *uk_sched_head;
struct uk_thread *__uk_sched_thread_current[3];

void ukarch_ctx_switch(void);
void ukarch_ctx_switch(void)
{
}
#endif
