/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/domains/watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"

/* Time between two listings, ns */
#define REST_NS (NS_PER_S / 4)

struct listing {
	uint64_t begun; /* start of the listing, ns, monotonic */
	struct guest_info *guests;
	size_t count;
};

struct watch {
	struct host *host; /* only for the thread */
	pthread_t thread;
	bool started;
	pthread_mutex_t lock; /* for the fields below */
	pthread_cond_t wake;
	bool stop;
	struct listing listing; /* newest listing; no guests: it was taken */
	/* guests to omit; used only by the thread that takes listings */
	struct guest_info *refused;
	size_t refusals;
};

struct watch *watch_new(struct host *host, struct error *err)
{
	pthread_condattr_t monotonic;
	struct watch *watch;

	if (!host)
		return NULL;
	watch = calloc(1, sizeof(*watch));
	if (!watch) {
		host_close(host);
		error_set(err, "out of memory");
		return NULL;
	}
	watch->host = host;
	pthread_mutex_init(&watch->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return watch;
}

/* Makes a listing; the lock is released meanwhile. After a failure, the next listing may
 * succeed. */
static void list_guests(struct watch *watch)
{
	struct listing listing = {.begun = clock_monotonic()};
	struct error ignored;
	int status;

	pthread_mutex_unlock(&watch->lock);
	status = watch->host->ops->list(watch->host, &listing.guests, &listing.count,
					&ignored);
	pthread_mutex_lock(&watch->lock);
	if (status < 0)
		return;
	free(watch->listing.guests);
	watch->listing = listing;
}

/* Waits for the time of the next listing, or the end. */
static void wait_rest(struct watch *watch)
{
	uint64_t until = clock_monotonic() + REST_NS;
	const struct timespec time = {(time_t)(until / NS_PER_S),
				      (long)(until % NS_PER_S)};

	while (!watch->stop &&
	       pthread_cond_timedwait(&watch->wake, &watch->lock, &time) != ETIMEDOUT)
		;
}

static void *watch_run(void *context)
{
	struct watch *watch = context;

	pthread_mutex_lock(&watch->lock);
	while (!watch->stop) {
		list_guests(watch);
		wait_rest(watch);
	}
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

int watch_start(struct watch *watch, struct error *err)
{
	int status = pthread_create(&watch->thread, NULL, watch_run, watch);

	if (status)
		return error_errno(err, status, "can't start a thread");
	watch->started = true;
	return 0;
}

static bool is_same_guest(const struct guest_info *a, const struct guest_info *b)
{
	return a->id == b->id && memcmp(a->uuid, b->uuid, sizeof(a->uuid)) == 0;
}

static bool is_among(const struct guest_info *guests, size_t count,
		     const struct guest_info *guest)
{
	for (size_t i = 0; i < count; i++)
		if (is_same_guest(&guests[i], guest))
			return true;
	return false;
}

/* Keeps the @guests that are among @others or, if !@among, the guests that are not.
 * Returns the number of guests kept. */
static size_t keep_guests(struct guest_info *guests, size_t count,
			  const struct guest_info *others, size_t other_count, bool among)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (is_among(others, other_count, &guests[i]) == among)
			guests[kept++] = guests[i];
	return kept;
}

/* If out of memory, the guest is listed again. */
void watch_refuse(struct watch *watch, const struct guest_info *guest)
{
	if (!array_grow(&watch->refused, watch->refusals + 1, sizeof(*watch->refused)))
		return;
	watch->refused[watch->refusals++] = *guest;
}

struct guest_info *watch_take(struct watch *watch, uint64_t since, size_t *count)
{
	struct guest_info *guests = NULL;

	/* The sampling thread has the highest priority, and must not wait for others. */
	if (pthread_mutex_trylock(&watch->lock))
		return NULL;
	if (watch->listing.guests && watch->listing.begun > since) {
		guests = watch->listing.guests;
		*count = watch->listing.count;
		watch->listing.guests = NULL;
	}
	pthread_mutex_unlock(&watch->lock);
	if (!guests)
		return NULL;
	watch->refusals = keep_guests(watch->refused, watch->refusals, guests, *count,
				      true);
	*count = keep_guests(guests, *count, watch->refused, watch->refusals, false);
	return guests;
}

void watch_free(struct watch *watch)
{
	if (!watch)
		return;
	if (watch->started) {
		pthread_mutex_lock(&watch->lock);
		watch->stop = true;
		pthread_cond_signal(&watch->wake);
		pthread_mutex_unlock(&watch->lock);
		pthread_join(watch->thread, NULL);
	}
	pthread_cond_destroy(&watch->wake);
	pthread_mutex_destroy(&watch->lock);
	free(watch->listing.guests);
	free(watch->refused);
	host_close(watch->host);
	free(watch);
}
