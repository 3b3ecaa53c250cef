/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/learning/examiner.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "record/safety/privileges.h"

/* With this nice value, the thread gets a quarter of a busy CPU (sched(7), "The nice
 * value"). With SCHED_IDLE, it would get next to nothing, but the sampling thread has
 * to wait for its end. */
#define NICE 5

/* Bytes of stack: enough for found_code_examine(), which needs twice as much with
 * sanitizers. With --follow, the stack is locked in memory. */
#define STACK_SIZE (256u << 10)

struct examiner {
	pthread_t thread;
	clockid_t clock;
	bool is_started;
	size_t parts;		/* parts of code given and not dropped */
	sem_t ready;		/* posted when the thread runs */
	sem_t wake;		/* wakes the thread */
	bool stop;		/* atomic */
	struct found_code *job; /* atomic; NULL: none */
};

struct examiner *examiner_new(void)
{
	return calloc(1, sizeof(struct examiner));
}

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) < 0)
		;
}

/* Returns the code to the sampling thread. */
static void end_job(struct examiner *examiner, struct found_code *found)
{
	found_code_free(found);
	__atomic_store_n(&examiner->job, NULL, __ATOMIC_RELEASE);
}

static void *examiner_run(void *context)
{
	struct examiner *examiner = context;

	/* Linux sets the nice value of this thread only (setpriority(2), "C
	 * library/kernel differences"). */
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICE);
	privileges_drop(KEEP_NOTHING);
	sem_post(&examiner->ready);
	for (;;) {
		struct found_code *found;

		wait_for(&examiner->wake);
		if (__atomic_load_n(&examiner->stop, __ATOMIC_ACQUIRE))
			return NULL;
		found = __atomic_load_n(&examiner->job, __ATOMIC_ACQUIRE);
		found_code_examine(found);
		end_job(examiner, found);
	}
}

int examiner_start(struct examiner *examiner, struct error *err)
{
	pthread_attr_t small;
	int status;

	sem_init(&examiner->ready, 0, 0);
	sem_init(&examiner->wake, 0, 0);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_SIZE);
	status = pthread_create(&examiner->thread, &small, examiner_run, examiner);
	pthread_attr_destroy(&small);
	if (status)
		return error_errno(err, status, "can't start a thread");
	examiner->is_started = true;
	pthread_getcpuclockid(examiner->thread, &examiner->clock);
	wait_for(&examiner->ready);
	return 0;
}

const clockid_t *examiner_clock(const struct examiner *examiner)
{
	return &examiner->clock;
}

const struct found_code *examiner_job(const struct examiner *examiner)
{
	return __atomic_load_n(&examiner->job, __ATOMIC_ACQUIRE);
}

bool examiner_has_room(const struct examiner *examiner)
{
	return examiner->parts < EXAMINER_PARTS;
}

void examiner_drop(struct examiner *examiner, struct found_code *found)
{
	if (found)
		examiner->parts -= found_code_parts(found);
	found_code_free(found);
}

void examiner_give(struct examiner *examiner, struct found_code *found)
{
	examiner->parts++;
	found_code_share(found);
	if (!examiner->is_started) {
		found_code_examine(found);
		found_code_free(found);
		return;
	}
	__atomic_store_n(&examiner->job, found, __ATOMIC_RELEASE);
	sem_post(&examiner->wake);
}

void examiner_free(struct examiner *examiner)
{
	if (!examiner)
		return;
	if (examiner->is_started) {
		__atomic_store_n(&examiner->stop, true, __ATOMIC_RELEASE);
		sem_post(&examiner->wake);
		pthread_join(examiner->thread, NULL);
		sem_destroy(&examiner->ready);
		sem_destroy(&examiner->wake);
		found_code_free(examiner->job);
	}
	free(examiner);
}
