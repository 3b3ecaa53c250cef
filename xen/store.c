/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/store.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compat.h"

/* Stack size of the thread, bytes, enough for the library. The default would be too much,
 * as the whole process is locked. */
#define STACK_SIZE (128u << 10)

/* A query that is made by a separate thread, so that it can be abandoned. */
struct question {
	struct xen *xen;
	bool open;		     /* connect, as @store */
	struct xs_handle *store;     /* NULL: can't connect */
	bool all;		     /* list all domains */
	struct store_entry *entries; /* unless @all, a single entry, with the id */
	size_t count;
	bool describe; /* also read @facts of the first entry */
	struct store_facts facts;
	int failure; /* an errno */
};

static void read_node(struct xen *xen, char *text, size_t size, const char *format,
		      uint32_t id)
{
	char path[64];
	unsigned int length = 0;
	char *value;

	snprintf(path, sizeof(path), format, id);
	value = xen->lib.store_read(xen->store, 0, path, &length);
	snprintf(text, size, "%.*s", (int)length, value ? value : "");
	free(value);
}

static void list_ids(struct question *question)
{
	struct xen *xen = question->xen;
	unsigned int count = 0;
	char **directory;

	directory = xen->lib.store_directory(xen->store, 0, "/local/domain", &count);
	if (!directory) {
		question->failure = errno;
		return;
	}
	question->entries = calloc(count + 1, sizeof(*question->entries));
	for (unsigned int i = 0; question->entries && i < count; i++)
		question->entries[question->count++].id = (uint32_t)strtoul(directory[i],
									    NULL, 10);
	if (!question->entries)
		question->failure = ENOMEM;
	free(directory);
}

static uint64_t read_number(struct xen *xen, const char *format, uint32_t id)
{
	char text[24];

	read_node(xen, text, sizeof(text), format, id);
	return strtoull(text, NULL, 10);
}

static void read_facts(struct xen *xen, uint32_t id, struct store_facts *facts)
{
	char path[64];
	unsigned int count = 0;

	read_node(xen, facts->type, sizeof(facts->type), "/libxl/%u/type", id);
	read_node(xen, facts->vm, sizeof(facts->vm), "/local/domain/%u/vm", id);
	facts->target = read_number(xen, "/local/domain/%u/memory/target", id);
	facts->maximum = read_number(xen, "/local/domain/%u/memory/static-max", id);
	snprintf(path, sizeof(path), "/local/domain/%u/cpu", id);
	free(xen->lib.store_directory(xen->store, 0, path, &count));
	facts->vcpus = count;
}

/*
 * The library writes a request in parts, and xenstored waits for the rest of what it has
 * begun to read from a socket: a program that is stopped in between (SIGSTOP, Ctrl-Z)
 * would stop xenstored. The kernel's device passes on whole requests only
 * (drivers/xen/xenbus/xenbus_dev_frontend.c in Linux); the variable names it instead of
 * the socket.
 */
static struct xs_handle *connect_store(struct xen *xen)
{
	struct xs_handle *store = NULL;

	if (!getenv("XENSTORED_PATH") &&
	    setenv("XENSTORED_PATH", "/dev/xen/xenbus", 0) == 0) {
		store = xen->lib.store_open(0);
		unsetenv("XENSTORED_PATH");
	}
	return store ? store : xen->lib.store_open(0);
}

static void *answer_question(void *context)
{
	struct question *question = context;

	if (question->open)
		question->store = connect_store(question->xen);
	if (question->all)
		list_ids(question);
	for (size_t i = 0; i < question->count; i++) {
		struct store_entry *entry = &question->entries[i];

		read_node(question->xen, entry->name, sizeof(entry->name),
			  "/local/domain/%u/name", entry->id);
		read_node(question->xen, entry->type, sizeof(entry->type),
			  "/libxl/%u/type", entry->id);
	}
	if (question->describe)
		read_facts(question->xen, question->entries[0].id, &question->facts);
	return NULL;
}

static int start_thread(pthread_t *thread, struct question *question)
{
	pthread_attr_t small;
	sigset_t all, was;
	int status;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_SIZE);
	/* Signals are handled by the other thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	status = pthread_create(thread, &small, answer_question, question);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	pthread_attr_destroy(&small);
	return status;
}

static int refuse_late(struct error *err)
{
	return error_set(err, "xenstored did not answer for %d s: is it running?",
			 STORE_PATIENCE_S);
}

/* Waits for the thread's answer: 0, or -1 if there is none. The thread then owns
 * @question forever. */
static int wait_for_answer(struct question *question, struct error *err)
{
	uint64_t until = clock_monotonic() + STORE_PATIENCE_S * NS_PER_S;
	const struct timespec time = {(time_t)(until / NS_PER_S),
				      (long)(until % NS_PER_S)};
	pthread_t thread;
	int status = start_thread(&thread, question);

	if (status) {
		free(question->entries);
		free(question);
		return error_errno(err, status, "can't start a thread");
	}
	if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &time) == 0)
		return 0;
	pthread_detach(thread);
	question->xen->store_stuck = true;
	return refuse_late(err);
}

/* By a thread, since the library waits even here: of a server that accepts nobody, a few
 * programs wait for the answer, and all others in connect(). */
void store_open(struct xen *xen)
{
	struct question *question = calloc(1, sizeof(*question));
	struct error ignored;

	if (!question)
		return;
	question->xen = xen;
	question->open = true;
	if (wait_for_answer(question, &ignored) < 0)
		return;
	xen->store = question->store;
	free(question);
}

static struct question *question_new(struct xen *xen, bool all, struct error *err)
{
	struct question *question;

	if (xen->store_stuck) {
		refuse_late(err);
		return NULL;
	}
	if (!xen->store) {
		error_set(err, "can't reach xenstore: is xenstored running?");
		return NULL;
	}
	question = calloc(1, sizeof(*question));
	if (!question) {
		error_set(err, "out of memory");
		return NULL;
	}
	question->xen = xen;
	question->all = all;
	return question;
}

int store_list(struct xen *xen, struct store_entry **entries, size_t *count,
	       struct error *err)
{
	struct question *question = question_new(xen, true, err);
	int failure;

	if (!question || wait_for_answer(question, err) < 0)
		return -1;
	failure = question->failure;
	*entries = question->entries;
	*count = question->count;
	free(question);
	return failure ? error_errno(err, failure, "can't list domains in xenstore") : 0;
}

static int find_entry(struct xen *xen, uint32_t id, struct store_entry *entry,
		      struct store_facts *facts, struct error *err)
{
	struct question *question = question_new(xen, false, err);

	if (!question)
		return -1;
	question->count = 1;
	question->describe = facts;
	question->entries = calloc(1, sizeof(*question->entries));
	if (!question->entries) {
		free(question);
		return error_set(err, "out of memory");
	}
	question->entries[0].id = id;
	if (wait_for_answer(question, err) < 0)
		return -1;
	*entry = question->entries[0];
	if (facts)
		*facts = question->facts;
	free(question->entries);
	free(question);
	return 0;
}

int store_find(struct xen *xen, uint32_t id, struct store_entry *entry, struct error *err)
{
	return find_entry(xen, id, entry, NULL, err);
}

int store_describe(struct xen *xen, uint32_t id, struct store_facts *facts,
		   struct error *err)
{
	struct store_entry entry;

	return find_entry(xen, id, &entry, facts, err);
}
