/* A guest with a known workload, see README.md. */
#include "guest.h"

#include <xen/xen.h>
#include <xen/sched.h>

#define SECOND 1000000000ul

/* alpha's time in a round, ns; a whole round is ten times as long, about 4 ms. */
#define UNIT_NS 400000

/* Frames outside a chain: _start, guest_main, main. Other vCPUs have one frame less. */
#define OUTER_FRAMES	       3
#define SECONDARY_OUTER_FRAMES 2
#define MIN_DEPTH	       (OUTER_FRAMES + CHAIN_FIXED + 1)
#define MAX_DEPTH	       1000

/* Upper bound of a frame's size without its locals. */
#define FRAME_REST 64
#define MAX_LOCALS 4096

static struct options {
	const char *mode, *stack, *pages;
	const char *hostile;	   /* NULL: none */
	unsigned long depth;	   /* addresses in a chain that is sampled in a leaf */
	unsigned long smp;	   /* additional vCPUs to start */
	unsigned long calls;	   /* hypercalls in each round */
	unsigned long moving;	   /* whether each chain has a different stack */
	unsigned long chain_bytes; /* upper bound of a chain's size */
	unsigned long events;	   /* whether events of Xen interrupt the work */
	unsigned long exit, reboot, idle; /* after this many heartbeats, 0: never */
} options;

static uint64_t unit; /* iterations that take UNIT_NS */

/* Running time in nanoseconds, and the work done. */
static struct totals {
	uint64_t rounds, iterations;
	uint64_t alpha, beta, gamma, other;
} totals;

/* Written by the other vCPUs; vCPU 0 only reads them. */
static volatile struct secondary {
	uint64_t chain;
	unsigned long low, high;
	uint64_t rounds, iterations, time;
} secondaries[MAX_VCPUS];

void *guest_setup(const void *start_info, bool pv);
void guest_main(void);
void secondary_main(unsigned int vcpu);
int main(void);

static enum stack_kind stack_option(const char *line)
{
	const char *text = option_text(line, "stack");

	switch (text ? *text : 0) {
	case '4':
		return STACK_4K;
	case '2':
		return STACK_2M;
	case '1':
		return STACK_1G;
	default:
		return STACK_MIXED;
	}
}

/* Runs on the boot stack. Returns the top of the stack for guest_main. */
void *guest_setup(const void *start_info, bool pv)
{
	static const char *const stack_names[] = {"mixed", "4k", "2m", "1g"};
	const char *line = xen_init(start_info, pv);
	enum stack_kind kind = stack_option(line);
	void *top = memory_stack_top(&kind, &options.pages);

	options.mode = xen_mode();
	options.stack = stack_names[kind];
	options.moving = option_number(line, "moving", 0);
	options.calls = option_number(line, "calls", 0);
	options.depth = option_number(line, "depth", MIN_DEPTH);
	if (options.depth < MIN_DEPTH)
		options.depth = MIN_DEPTH;
	if (options.depth > MAX_DEPTH)
		options.depth = MAX_DEPTH;
	work_yields = option_number(line, "yield", 0);
	work_nest_locals = option_number(line, "frame", work_nest_locals);
	if (work_nest_locals < 1 || work_nest_locals > MAX_LOCALS)
		work_nest_locals = MAX_LOCALS;
	if (options.depth > STACK_SIZE / (work_nest_locals + FRAME_REST))
		options.depth = STACK_SIZE / (work_nest_locals + FRAME_REST);
	options.chain_bytes = options.depth * (work_nest_locals + FRAME_REST);
	options.smp = option_number(line, "smp", 0);
	if (options.smp > MAX_VCPUS - 1)
		options.smp = MAX_VCPUS - 1;
	options.events = option_number(line, "events", 0);
	options.exit = option_number(line, "exit", 0);
	options.reboot = option_number(line, "reboot", 0);
	options.idle = option_number(line, "idle", 0);
	options.hostile = option_text(line, "hostile");
	xen_time_init(0);
	return top;
}

static unsigned long nest_below(unsigned long outer_frames)
{
	return options.depth - outer_frames - CHAIN_FIXED;
}

/*
 * Returns n plus or minus up to a quarter, varying: rounds of constant length could run
 * in lockstep with a profiler's rate. The generator is Knuth's for MMIX (TAOCP vol.
 * 2, 3.3.4).
 */
static uint64_t jitter(uint64_t n, uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return n * (192 + (*state >> 57)) / 256 + 1;
}

/*
 * Returns the best of several runs: a slow run may only have been interrupted, for
 * example by the host of an emulator. Called by guest_main, as main is, so that chains
 * are as deep as in main.
 */
static APART void calibrate(void)
{
	unsigned long nest = nest_below(OUTER_FRAMES);
	uint64_t n = 1000, best;

	for (;; n *= 2) {
		best = UINT64_MAX;
		for (unsigned int i = 0; i < 10; i++) {
			uint64_t time = xen_running_time(0, NULL);

			alpha(nest, n);
			time = xen_running_time(0, NULL) - time;
			if (time < best)
				best = time;
		}
		if (best > UNIT_NS)
			break;
	}
	unit = n * UNIT_NS / best;
}

static APART void check_chains(void)
{
	unsigned long nest = nest_below(OUTER_FRAMES);
	uint64_t a = alpha(nest, 0), b = beta(nest, 0), c = gamma(nest, 0);

	print("vcpu=0 chain=%" PRIu64 ",%" PRIu64 ",%" PRIu64 " frames=%lx-%lx", a, b, c,
	      chain_low, chain_high);
}

static void start_secondary(unsigned int vcpu)
{
	const volatile struct secondary *secondary = &secondaries[vcpu];
	uint64_t end = xen_time() + 2 * SECOND;
	long err = xen_start_vcpu(vcpu, memory_secondary_stack_top(vcpu));

	if (err) {
		print("vcpu=%lu not started: error %lu", (unsigned long)vcpu,
		      (unsigned long)-err);
		return;
	}
	while (!secondary->rounds && xen_time() < end)
		cpu_relax();
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	print("vcpu=%lu chain=%" PRIu64 " frames=%lx-%lx", (unsigned long)vcpu,
	      secondary->chain, secondary->low, secondary->high);
}

/* For print: hundredths of a percent of the whole, as two arguments. */
#define PERCENT_FORMAT PRIu64 ".%02" PRIu64
#define PERCENT(part, whole) \
	10000 * (part) / (whole) / 100, 10000 * (part) / (whole) % 100

static void heartbeat(unsigned long count, uint64_t wall, uint64_t stolen)
{
	const volatile struct secondary *second = &secondaries[1];
	const struct totals *t = &totals;
	uint64_t all = t->alpha + t->beta + t->gamma + t->other;

	print("heartbeat %lu rounds=%" PRIu64 " iters=%" PRIu64 " alpha=%" PERCENT_FORMAT
	      " beta=%" PERCENT_FORMAT " gamma=%" PERCENT_FORMAT
	      " depth=%lu vcpu=0 t_alpha=%" PRIu64 " t_beta=%" PRIu64 " t_gamma=%" PRIu64
	      " t_other=%" PRIu64 " wall=%" PRIu64 " stolen=%" PRIu64 " delta=%" PRIu64
	      " i_delta=%" PRIu64 " t_delta=%" PRIu64 " lost=%lu",
	      count, t->rounds, t->iterations, PERCENT(t->alpha, all),
	      PERCENT(t->beta, all), PERCENT(t->gamma, all), options.depth, t->alpha,
	      t->beta, t->gamma, t->other, wall, stolen, second->rounds,
	      second->iterations, second->time, print_lost());

	if (options.exit && count >= options.exit)
		xen_shutdown(SHUTDOWN_poweroff);
	if (options.reboot && count >= options.reboot)
		xen_shutdown(SHUTDOWN_reboot);
	if (options.idle && count >= options.idle)
		xen_idle();
}

/* Inlined: another frame would make the chain deeper. */
static inline __attribute__((always_inline)) void
work(uint64_t (*chain)(unsigned long, uint64_t), unsigned long nest, uint64_t n)
{
	if (options.moving)
		call_on_stack(memory_next_stack_top(options.chain_bytes), chain, nest, n);
	else
		chain(nest, n);
}

#ifdef HAS_EVENTS
/* Works for a fifth of the time between two events. The work is counted as vCPU 1's. */
void event_work(void)
{
	volatile struct secondary *secondary = &secondaries[1];

	delta(1, 5 * unit);
	secondary->iterations += 5 * unit;
	secondary->rounds++;
}

static void start_events(void)
{
	long err = xen_start_events();

	if (err)
		print("no events: error %lu", (unsigned long)-err);
}
#else
static void start_events(void)
{
	print("no events on this CPU");
}
#endif

/* Runs forever on vCPU 0. Its times are running time, without pauses. */
int main(void)
{
	unsigned long nest = nest_below(OUTER_FRAMES);
	uint64_t start = xen_time(), beats = 0, random = start;
	uint64_t stolen_before, stolen;
	uint64_t end = xen_running_time(0, &stolen_before);

	for (;;) {
		uint64_t n = jitter(unit, &random);
		uint64_t t0, t1, t2, now;

		t0 = xen_running_time(0, NULL);
		work(alpha, nest, n);
		t1 = xen_running_time(0, NULL);
		work(beta, nest, 3 * n);
		t2 = xen_running_time(0, NULL);
		work(gamma, nest, 6 * n);

		totals.other += t0 - end;
		end = xen_running_time(0, &stolen);
		totals.alpha += t1 - t0;
		totals.beta += t2 - t1;
		totals.gamma += end - t2;
		totals.rounds++;
		totals.iterations += 10 * n;

		if (options.calls)
			xen_ask(options.calls);
		now = xen_time();
		if (options.hostile)
			hostile_spell(now - start);
		if (now - start >= (beats + 1) * SECOND) {
			/* Heartbeats missed during a long pause are skipped. */
			beats = (now - start) / SECOND;
			heartbeat(beats, now - start, stolen - stolen_before);
		}
	}
}

void guest_main(void)
{
	print("uniprof-guest mode=%s build=%s depth=%lu stack=%s pages=%s smp=%lu",
	      options.mode,
#if defined(NO_FRAME_POINTER)
	      "nofp",
#elif defined(NO_LEAF_FRAME) || defined(SHARED_LEAF)
	      "leaf",
#else
	      "fp",
#endif
	      options.depth, options.stack, options.pages, options.smp);
	check_chains();
	calibrate();
	print("unit=%" PRIu64 " iterations", unit);
	for (unsigned int vcpu = 1; vcpu <= options.smp; vcpu++)
		start_secondary(vcpu);
	if (options.hostile)
		hostile_init(options.hostile);
	if (options.events)
		start_events();
	main();
}

/* Runs forever on each of the other vCPUs. */
void secondary_main(unsigned int vcpu)
{
	volatile struct secondary *secondary = &secondaries[vcpu];
	unsigned long nest = nest_below(SECONDARY_OUTER_FRAMES);
	uint64_t random = 1;

	secondary->chain = delta(nest, 0);
	secondary->low = chain_low;
	secondary->high = chain_high;
	xen_time_init(vcpu);
	for (;;) {
		uint64_t n = jitter(10 * unit, &random);
		uint64_t time = xen_running_time(vcpu, NULL);

		delta(nest, n);
		secondary->time += xen_running_time(vcpu, NULL) - time;
		secondary->iterations += n;
		__atomic_thread_fence(__ATOMIC_RELEASE);
		secondary->rounds++;
	}
}
