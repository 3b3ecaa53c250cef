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
	struct watched *guests;
	size_t count;
};

struct watch {
	struct host *host; /* only for the thread, as the next two */
	struct watch_wish wish;
	struct listing before; /* guests whose files were looked for */
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

struct watch *watch_new(struct host *host, const struct watch_wish *wish,
			struct error *err)
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
	watch->wish = *wish;
	pthread_mutex_init(&watch->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return watch;
}

static bool is_same_guest(const struct guest_info *a, const struct guest_info *b)
{
	return a->id == b->id && memcmp(a->uuid, b->uuid, sizeof(a->uuid)) == 0;
}

static const struct watched *find_guest(const struct listing *listing,
					const struct guest_info *guest)
{
	for (size_t i = 0; i < listing->count; i++)
		if (is_same_guest(&listing->guests[i].info, guest))
			return &listing->guests[i];
	return NULL;
}

/* Looks for the files of guests that may have one and had none before, and keeps them for
 * the next listing. If out of memory, they are looked for again. */
static void find_files(struct watch *watch, struct listing *listing)
{
	const struct watch_wish *wish = &watch->wish;
	struct listing *before = &watch->before, now = {0};

	for (size_t i = 0; wish->finder && i < listing->count; i++) {
		struct watched *guest = &listing->guests[i];
		const struct watched *known = find_guest(before, &guest->info);

		if (known)
			guest->file = known->file;
		else if (wish->wants(wish->context, &guest->info))
			finder_ask(wish->finder, &guest->info, &watch->stop,
				   &guest->file);
		else
			continue;
		if (array_grow(&now.guests, now.count + 1, sizeof(*now.guests)))
			now.guests[now.count++] = *guest;
	}
	free(before->guests);
	*before = now;
}

/* Makes a listing: 0, or -1. */
static int make_listing(struct watch *watch, struct listing *listing)
{
	struct guest_info *guests;
	struct error ignored;
	size_t count;

	*listing = (struct listing){.begun = clock_monotonic()};
	if (watch->host->ops->list(watch->host, &guests, &count, &ignored) < 0)
		return -1;
	listing->guests = calloc(count + 1, sizeof(*listing->guests));
	if (listing->guests)
		listing->count = count;
	for (size_t i = 0; i < listing->count; i++)
		listing->guests[i].info = guests[i];
	free(guests);
	find_files(watch, listing);
	return listing->guests ? 0 : -1;
}

/* Makes a listing; the lock is released meanwhile. After a failure, the next listing may
 * succeed. */
static void list_guests(struct watch *watch)
{
	struct listing listing;
	int status;

	pthread_mutex_unlock(&watch->lock);
	status = make_listing(watch, &listing);
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

/* Forgets the refused guests that are no longer listed. */
static void forget_gone(struct watch *watch, const struct listing *listing)
{
	size_t kept = 0;

	for (size_t i = 0; i < watch->refusals; i++)
		if (find_guest(listing, &watch->refused[i]))
			watch->refused[kept++] = watch->refused[i];
	watch->refusals = kept;
}

static bool is_refused(const struct watch *watch, const struct guest_info *guest)
{
	for (size_t i = 0; i < watch->refusals; i++)
		if (is_same_guest(&watch->refused[i], guest))
			return true;
	return false;
}

static void leave_out_refused(const struct watch *watch, struct listing *listing)
{
	size_t kept = 0;

	for (size_t i = 0; i < listing->count; i++)
		if (!is_refused(watch, &listing->guests[i].info))
			listing->guests[kept++] = listing->guests[i];
	listing->count = kept;
}

/* If out of memory, the guest is listed again. */
void watch_refuse(struct watch *watch, const struct guest_info *guest)
{
	if (!array_grow(&watch->refused, watch->refusals + 1, sizeof(*watch->refused)))
		return;
	watch->refused[watch->refusals++] = *guest;
}

struct watched *watch_take(struct watch *watch, uint64_t since, size_t *count)
{
	struct listing listing = {0};

	/* The sampling thread has the highest priority, and must not wait for others. */
	if (pthread_mutex_trylock(&watch->lock))
		return NULL;
	if (watch->listing.guests && watch->listing.begun > since) {
		listing = watch->listing;
		watch->listing.guests = NULL;
	}
	pthread_mutex_unlock(&watch->lock);
	if (!listing.guests)
		return NULL;
	forget_gone(watch, &listing);
	leave_out_refused(watch, &listing);
	*count = listing.count;
	return listing.guests;
}

void watch_free(struct watch *watch)
{
	if (!watch)
		return;
	if (watch->started) {
		pthread_mutex_lock(&watch->lock);
		__atomic_store_n(&watch->stop, true, __ATOMIC_RELAXED);
		pthread_cond_signal(&watch->wake);
		pthread_mutex_unlock(&watch->lock);
		pthread_join(watch->thread, NULL);
	}
	pthread_cond_destroy(&watch->wake);
	pthread_mutex_destroy(&watch->lock);
	free(watch->listing.guests);
	free(watch->before.guests);
	free(watch->refused);
	host_close(watch->host);
	free(watch);
}
