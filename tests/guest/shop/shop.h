/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_GUEST_SHOP_H
#define UNIPROF_TESTS_GUEST_SHOP_H

/* Functions keep their own frames, whatever the compiler could do better. */
#define APART __attribute__((noipa, used))

/* A lock: 0. */
void mutex_lock(int *word);
void mutex_unlock(int *word);

/* Adds a line to the log, and returns its number. */
long append_line(void);
/* Writes a line of the log to a disk, which takes 5 ms. */
void write_line(long line);

extern int log_lock;

/* Notes a request in the log. */
void log_request(void);

#endif
