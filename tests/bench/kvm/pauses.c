/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the cost of pauses for a KVM guest: pauses GUEST SAMPLES
 *
 * Three ways alternate. The floor stops the threads of all vCPUs and lets them go on, and
 * reads nothing. The second takes samples as `uniprof record` does; the first pause of
 * each sample counts. The third only reads registers, by requests that the threads are
 * made to make (injected.h). Prints a line for each way, as series_print(), and how deep
 * the chains were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compat.h"
#include "kvm/internal.h"
#include "kvm/vcpus.h"
#include "record/domains/target.h"
#include "record/safety/priority.h"
#include "tests/bench/bench.h"
#include "tests/bench/kvm/injected.h"

/* The time between two pauses, in which the guest works. */
#define REST_NS (NS_PER_S / 1000)
/* Samples at the start that are not counted. */
#define WARM_UP 50

struct floor {
	struct kvm *kvm;
	pid_t pid;
	struct vcpu *vcpu;
	unsigned int vcpus;
};

static int floor_open(struct floor *floor, struct host *host,
		      const struct guest_info *info, struct error *err)
{
	pid_t pid = (pid_t)info->id;
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct vcpu_fd *fds;
	size_t count;
	bool is_held;

	*floor = (struct floor){.kvm = kvm_of(host), .pid = pid, .vcpus = info->vcpus};
	floor->vcpu = calloc(info->vcpus, sizeof(*floor->vcpu));
	if (!floor->vcpu || vcpus_list(pid, &fds, &count) < 0 || count != info->vcpus)
		return error_set(err, "can't list the vCPUs of process %d", pid);
	for (size_t i = 0; i < count; i++)
		if (vcpu_open(&floor->vcpu[i], pid, pidfd, fds[i].fd,
			      floor->kvm->requests, false) < 0)
			return error_set(err, "can't open vCPU %zu", i);
	free(fds);
	close(pidfd);
	for (int tries = 0;
	     vcpus_find_threads(floor->vcpu, count, pid, floor->kvm, &is_held); tries++)
		if (tries == 1000)
			return error_set(err, "a vCPU has no thread");
	return 0;
}

static void floor_close(struct floor *floor)
{
	for (unsigned int i = 0; i < floor->vcpus; i++)
		vcpu_close(&floor->vcpu[i]);
	free(floor->vcpu);
}

/* Returns the shortest time that a vCPU has waited for a CPU since the last call, ns. */
static uint64_t least_wait(struct floor *floor)
{
	uint64_t least = UINT64_MAX, ran, before;

	for (unsigned int i = 0; i < floor->vcpus; i++) {
		struct vcpu *vcpu = &floor->vcpu[i];

		before = vcpu->waited;
		if (vcpu_thread(vcpu, &ran, &vcpu->waited) &&
		    vcpu->waited - before < least)
			least = vcpu->waited - before;
	}
	return least;
}

/* As in kvm/guest_ops.c, neither attaching nor a time in which all vCPUs waited for a CPU
 * is part of the pause. */
static int floor_sample(struct floor *floor, uint64_t *ns, struct error *err)
{
	struct trace *trace = &floor->kvm->trace;
	uint64_t start, stopped, least;

	least_wait(floor);
	trace_begin(trace, floor->vcpus);
	for (unsigned int i = 0; i < floor->vcpus; i++)
		if (trace_attach(&floor->vcpu[i].traced, floor->pid, floor->vcpu[i].tid) <
		    0)
			return error_set(err, "can't trace vCPU %u", i);
	start = clock_monotonic();
	for (unsigned int i = 0; i < floor->vcpus; i++)
		trace_interrupt(&floor->vcpu[i].traced);
	for (unsigned int i = 0; i < floor->vcpus; i++)
		trace_wait(trace, &floor->vcpu[i].traced);
	stopped = clock_monotonic() - start;
	for (unsigned int i = 0; i < floor->vcpus; i++)
		trace_release(trace, &floor->vcpu[i].traced);
	*ns = clock_monotonic() - start;
	trace_end(trace);
	least = least_wait(floor);
	*ns -= least < stopped ? least : stopped;
	return 0;
}

/* Attaching is not part of the pause. */
static int injected_sample(const struct floor *floor, uint64_t *ns, struct error *err)
{
	struct injected threads[VCPUS_MAX];
	uint64_t start, rip;
	int status;

	for (unsigned int i = 0; i < floor->vcpus; i++)
		threads[i] = (struct injected){.tid = floor->vcpu[i].tid,
					       .fd = floor->vcpu[i].theirs};
	if (injected_attach(threads, floor->vcpus, err) < 0)
		return -1;
	start = clock_monotonic();
	status = injected_stop(threads, floor->vcpus, err);
	for (unsigned int i = 0; status == 0 && i < floor->vcpus; i++)
		status = injected_read(&threads[i], &rip, err);
	injected_release(threads, floor->vcpus);
	*ns = clock_monotonic() - start;
	return status;
}

/* The pauses in each way, and the sizes of uniprof's chains. */
struct results {
	struct series floor, ours, injected;
	uint64_t frames, chains;
};

static int results_new(struct results *results, size_t samples, struct error *err)
{
	*results = (struct results){0};
	return series_new(&results->floor, "floor", samples, err) < 0 ||
			       series_new(&results->ours, "uniprof", samples, err) < 0 ||
			       series_new(&results->injected, "injected", samples, err) <
				       0
		       ? -1
		       : 0;
}

static void results_free(struct results *results)
{
	series_free(&results->floor);
	series_free(&results->ours);
	series_free(&results->injected);
}

static void results_print(struct results *results)
{
	series_print(&results->floor);
	series_print(&results->ours);
	series_print(&results->injected);
	printf("deep %.1f\n",
	       results->chains ? (double)results->frames / results->chains : 0);
}

static int sample_all(struct target *target, struct floor *floor, struct results *results,
		      struct error *err)
{
	const struct timespec rest = {0, REST_NS};
	uint64_t least = 0, injected = 0;
	struct round round;

	nanosleep(&rest, NULL);
	if (floor_sample(floor, &least, err) < 0)
		return -1;
	nanosleep(&rest, NULL);
	if (injected_sample(floor, &injected, err) < 0)
		return -1;
	nanosleep(&rest, NULL);
	if (sampler_round(target->sampler, 1, &round, err) < 0)
		return -1;
	if (round.outcome == ROUND_GONE)
		return error_set(err, "the guest has ended");
	/* A thread that was too late to stop may still be traced by another way. */
	if (round.outcome != ROUND_TAKEN || !round.pauses)
		return 0;
	series_add(&results->floor, least);
	series_add(&results->injected, injected);
	series_add(&results->ours, round.pause[0]);
	for (unsigned int i = 0; i < round.samples; i++)
		results->frames += round.sample[i].chain.count;
	results->chains += round.samples;
	return 0;
}

static int measure_guest(struct host *host, const struct guest_info *info, size_t samples,
			 struct error *err)
{
	const struct sampling sampling = {0};
	struct target target = {0};
	struct floor floor = {0};
	struct results results;
	int status = -1;

	if (results_new(&results, samples + WARM_UP, err) == 0 &&
	    target_open(&target, host, info, NULL, &sampling, err) == 0 &&
	    floor_open(&floor, host, info, err) == 0) {
		status = 0;
		mlockall(MCL_CURRENT | MCL_ONFAULT);
		priority_set(PRIORITY_SAMPLER);
	}
	for (size_t i = 0; status == 0 && i < WARM_UP; i++)
		status = sample_all(&target, &floor, &results, err);
	results.floor.count = results.ours.count = results.injected.count = 0;
	results.frames = results.chains = 0;
	while (status == 0 && results.ours.count < samples)
		status = sample_all(&target, &floor, &results, err);
	priority_set(PRIORITY_USUAL);
	if (status == 0)
		results_print(&results);
	floor_close(&floor);
	target_close(&target);
	results_free(&results);
	return status;
}

int main(int argc, char **argv)
{
	struct guest_info info;
	struct error err;
	struct host *host;
	int status;

	if (argc != 3) {
		fprintf(stderr, "usage: pauses GUEST SAMPLES\n");
		return 2;
	}
	host = kvm_hypervisor.open(false, &err);
	status = host ? host->ops->arm(host, &err) : -1;
	if (status == 0)
		status = host_find(host, argv[1], &info, &err) == 0
				 ? measure_guest(host, &info, strtoul(argv[2], NULL, 10),
						 &err)
				 : -1;
	if (status < 0)
		fprintf(stderr, "pauses: %s\n", err.text);
	host_close(host);
	return status < 0;
}
