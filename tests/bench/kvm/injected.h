/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_BENCH_KVM_INJECTED_H
#define UNIPROF_TESTS_BENCH_KVM_INJECTED_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* A thread of a VMM, in which system calls are executed. */
struct injected {
	pid_t tid;
	int fd;	    /* the VMM's descriptor of the vCPU that the thread runs */
	int signal; /* signal for the thread that came meanwhile; 0: none */
};

/* Attach to the threads, and stop all of them. -1 with @err set on failure. */
int injected_attach(const struct injected *threads, unsigned int count,
		    struct error *err);
int injected_stop(const struct injected *threads, unsigned int count, struct error *err);
/* Lets the threads go on, with their signals, and detaches. */
void injected_release(const struct injected *threads, unsigned int count);

/*
 * Reads the vCPU's registers as other tools do: lets the stopped thread make the requests
 * KVM_GET_REGS and KVM_GET_SREGS, whose answers are written below its stack. If this
 * process dies in between, the VMM goes on with wrong registers. -1 with @err set on
 * failure.
 */
int injected_read(struct injected *thread, uint64_t *rip, struct error *err);

#endif
