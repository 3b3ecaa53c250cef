/* SPDX-License-Identifier: BSD-3-Clause */
/* Which pauses are made, and which are rehearsed, for a made-up guest whose memory is all
 * zero; and what becomes of a guest's events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "record/sampler.h"

#define CALM_ROUNDS	16
#define REHEARSAL_LASTS (2 * NS_PER_S / 1000)

static const char zeros[GUEST_PAGE_SIZE];

/* The guest's memory. */
struct memory {
	unsigned int mapped;  /* number of calls of map_page() */
	unsigned int missing; /* number of pauses that will miss something */
	unsigned int pauses;
	bool rests;		  /* it does not run */
	bool wakes;		  /* it does, as is seen after the samples were taken */
	unsigned int events, cut; /* events to come, the first of them without a stack */
	uint64_t time;		  /* of the next event, ns */
	bool waits, has_run;	  /* it waits; it has run while it was looked at */
};

static int observe(struct guest *guest, uint64_t now, enum observation *observation,
		   struct error *err)
{
	struct memory *memory = guest->memory;

	(void)now, (void)err;
	guest->vcpu[0].online = true;
	guest->vcpu[0].state = memory->waits ? VCPU_BLOCKED : VCPU_RUNNING;
	*observation = OBSERVED_RUNNING;
	return 0;
}

static void prepare(struct guest *guest)
{
	(void)guest;
}

static int pause_guest(struct guest *guest, struct error *err)
{
	struct memory *memory = guest->memory;

	(void)err;
	guest->vcpu[0].captured = true;
	if (memory->rests)
		return PAUSE_NEEDLESS;
	memory->pauses++;
	return 0;
}

static int resume(struct guest *guest, struct error *err)
{
	(void)guest, (void)err;
	return 0;
}

static uint64_t finish(struct guest *guest)
{
	(void)guest;
	return 0;
}

static bool learn_modes(struct guest *guest)
{
	struct memory *memory = guest->memory;
	bool has_woken = memory->rests && memory->wakes;

	if (has_woken)
		memory->rests = false;
	return has_woken;
}

static void begin_pages(void *memory, uint64_t now, unsigned int map_calls)
{
	(void)memory, (void)now, (void)map_calls;
}

static const void *get_page(void *memory, uint64_t frame)
{
	(void)memory, (void)frame;
	return zeros;
}

static const void *map_page(void *context, uint64_t frame)
{
	struct memory *memory = context;

	memory->mapped++;
	return get_page(memory, frame);
}

static bool pages_missed(void *context)
{
	struct memory *memory = context;

	return memory->missing && memory->missing--;
}

static uint64_t page_misses(const void *memory)
{
	(void)memory;
	return 0;
}

/* Of each event */
#define COUNTED 1234567

static bool next_event(struct guest *guest, unsigned int vcpu, struct guest_event *event)
{
	static const uint64_t stack[2];
	struct memory *memory = guest->memory;

	if (!memory->events)
		return false;
	memory->events--;
	guest->vcpu[vcpu].captured = true;
	*event = (struct guest_event){.time = memory->time,
				      .start = 2 * GUEST_PAGE_SIZE,
				      .word = stack,
				      .counted = COUNTED,
				      .count = memory->cut ? 0 : 2};
	memory->cut -= memory->cut > 0;
	memory->time += NS_PER_S / 1000;
	return true;
}

static bool peek(struct guest *guest, unsigned int vcpu)
{
	const struct memory *memory = guest->memory;

	guest->vcpu[vcpu].captured = memory->waits;
	return memory->waits;
}

static bool has_waited(struct guest *guest, unsigned int vcpu)
{
	const struct memory *memory = guest->memory;

	(void)vcpu;
	return !memory->has_run;
}

static bool copy_more(struct guest *guest)
{
	(void)guest;
	return false;
}

static void end_events(struct guest *guest)
{
	guest->has_events = false;
}

static const struct guest_ops live = {
	.observe = observe,
	.prepare = prepare,
	.pause = pause_guest,
	.resume = resume,
	.finish = finish,
	.learn_modes = learn_modes,
	.begin_pages = begin_pages,
	.get_page = get_page,
	.map_page = map_page,
	.pages_missed = pages_missed,
	.page_misses = page_misses,
	.are_pages_live = true,
	.next_event = next_event,
	.peek = peek,
	.has_waited = has_waited,
	.copy_more = copy_more,
	.end_events = end_events,
};

struct scene {
	struct memory memory;
	struct guest_vcpu vcpu;
	struct guest guest;
	struct sampler *sampler;
};

static void scene_open_as(struct scene *scene, const struct guest_ops *ops,
			  const struct sampling *sampling)
{
	struct error err;

	memset(scene, 0, sizeof(*scene));
	scene->guest = (struct guest){.ops = ops,
				      .info.vcpus = 1,
				      .has_events = sampling->no_stop != NO_STOP_NEVER};
	scene->vcpu.wanted = true;
	scene->guest.vcpu = &scene->vcpu;
	scene->guest.memory = &scene->memory;
	scene->vcpu.captured = true; /* the first rehearsal walks it, too */
	scene->vcpu.cpu.family = CPU_FAMILY_X86;
	scene->vcpu.cpu.x86.cr0 = X86_CR0_PE;
	scene->vcpu.cpu.x86.rip = GUEST_PAGE_SIZE;
	scene->vcpu.cpu.x86.reg[X86_RBP] = 2 * GUEST_PAGE_SIZE;
	scene->sampler = sampler_new(&scene->guest, sampling, &err);
	assert_non_null(scene->sampler);
}

static void scene_open_for(struct scene *scene, const struct guest_ops *ops,
			   enum no_stop no_stop)
{
	const struct sampling sampling = {.period = NS_PER_S / 1000, .no_stop = no_stop};

	scene_open_as(scene, ops, &sampling);
}

static void scene_open(struct scene *scene, const struct guest_ops *ops)
{
	scene_open_for(scene, ops, NO_STOP_NEVER);
}

static void scene_close(struct scene *scene)
{
	sampler_free(scene->sampler);
}

/* Takes @rounds rounds. Returns how many of their pauses were rehearsed. */
static unsigned int rehearsals(struct scene *scene, unsigned int rounds)
{
	unsigned int rehearsed = 0;

	for (unsigned int i = 0; i < rounds; i++) {
		struct round round;
		struct error err;

		scene->memory.mapped = 0;
		assert_int_equal(sampler_round(scene->sampler, 1, &round, &err), 0);
		assert_int_equal(round.samples, 1);
		rehearsed += scene->memory.mapped > 0;
	}
	return rehearsed;
}

static void sleep_for(uint64_t ns)
{
	const struct timespec time = {0, (long)ns};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void a_calm_guests_pauses_are_rehearsed_now_and_then(void **state)
{
	const unsigned int many = 20000;
	struct scene scene;
	uint64_t start, most;

	(void)state;
	scene_open(&scene, &live);
	assert_int_equal(rehearsals(&scene, CALM_ROUNDS), CALM_ROUNDS);
	start = clock_monotonic();
	most = rehearsals(&scene, many);
	assert_in_range(most, 1, 1 + (clock_monotonic() - start) / REHEARSAL_LASTS);
	sleep_for(REHEARSAL_LASTS);
	assert_int_equal(rehearsals(&scene, 1), 1);
	scene_close(&scene);
}

static void at_a_usual_rate_all_are(void **state)
{
	struct scene scene;

	(void)state;
	scene_open(&scene, &live);
	assert_int_equal(rehearsals(&scene, CALM_ROUNDS), CALM_ROUNDS);
	for (unsigned int i = 0; i < 10; i++) {
		sleep_for(REHEARSAL_LASTS);
		assert_int_equal(rehearsals(&scene, 1), 1);
	}
	scene_close(&scene);
}

static void after_a_missed_page_all_are_for_a_while(void **state)
{
	struct scene scene;

	(void)state;
	scene_open(&scene, &live);
	rehearsals(&scene, 2 * CALM_ROUNDS);
	scene.memory.missing = 1;
	assert_int_equal(rehearsals(&scene, 1 + CALM_ROUNDS), 1 + CALM_ROUNDS);
	scene_close(&scene);
}

static void copies_are_always_renewed(void **state)
{
	struct guest_ops copying = live;
	struct scene scene;

	(void)state;
	copying.are_pages_live = false;
	scene_open(&scene, &copying);
	assert_int_equal(rehearsals(&scene, 1000), 1000);
	scene_close(&scene);
}

static void a_guest_that_has_not_run_is_not_paused(void **state)
{
	struct scene scene;
	struct round round;
	struct error err;

	(void)state;
	scene_open(&scene, &live);
	scene.memory.rests = true;
	assert_int_equal(sampler_round(scene.sampler, 1, &round, &err), 0);
	assert_int_equal(round.outcome, ROUND_TAKEN);
	assert_int_equal(round.samples, 1);
	assert_int_equal(round.pauses, 0);
	assert_int_equal(scene.memory.pauses, 0);

	/* Pages that are always missing end. */
	scene.memory.missing = 100;
	assert_int_equal(sampler_round(scene.sampler, 1, &round, &err), 0);
	assert_int_equal(scene.memory.missing, 100 - ROUND_PAUSES);
	assert_int_equal(round.samples, 1);

	scene.memory.missing = 0;
	scene.memory.wakes = true;
	assert_int_equal(sampler_round(scene.sampler, 1, &round, &err), 0);
	assert_int_equal(round.samples, 1);
	assert_int_equal(round.pauses, 1);
	assert_int_equal(scene.memory.pauses, 1);
	scene_close(&scene);
}

/* Takes the rounds that are due. Returns the weight of their samples, and adds the time
 * of the last one to @last. */
static uint64_t take_all(struct scene *scene, uint64_t *last, unsigned int *pauses)
{
	uint64_t weight = 0;
	struct round round;
	struct error err;

	do {
		assert_int_equal(sampler_round(scene->sampler, 1, &round, &err), 0);
		assert_int_equal(round.outcome, ROUND_TAKEN);
		assert_true(round.samples <= 1);
		*pauses += round.pauses;
		if (round.samples) {
			weight += round.sample[0].weight;
			*last = round.sample[0].time;
		}
	} while (round.has_more);
	return weight;
}

static void events_are_samples_without_pauses(void **state)
{
	struct scene scene;
	unsigned int pauses = 0;
	uint64_t last = 0;

	(void)state;
	scene_open_for(&scene, &live, NO_STOP_AUTO);
	/* Events before the first round are of no sample. */
	scene.memory.events = 3;
	assert_int_equal(take_all(&scene, &last, &pauses), 0);
	scene.memory.events = 5;
	scene.memory.time = NS_PER_S;
	assert_int_equal(take_all(&scene, &last, &pauses), 5);
	assert_int_equal(last, NS_PER_S + 4 * (NS_PER_S / 1000));
	assert_int_equal(take_all(&scene, &last, &pauses), 0);
	assert_int_equal(pauses, 0);
	assert_int_equal(scene.memory.pauses, 0);
	scene_close(&scene);
}

/* Returns the number of pauses for six events, of which two have chains that are cut. */
static unsigned int pauses_for_cut_events(enum no_stop no_stop)
{
	struct scene scene;
	unsigned int pauses = 0;
	uint64_t last = 0;

	scene_open_for(&scene, &live, no_stop);
	take_all(&scene, &last, &pauses);
	scene.memory.events = 6;
	scene.memory.cut = 2;
	assert_int_equal(take_all(&scene, &last, &pauses), 6);
	scene_close(&scene);
	return pauses;
}

static void what_events_miss_is_found_in_one_pause_or_stays_cut(void **state)
{
	(void)state;
	assert_int_equal(pauses_for_cut_events(NO_STOP_AUTO), 1);
	assert_int_equal(pauses_for_cut_events(NO_STOP_ONLY), 0);
}

static void a_guest_whose_chains_are_cut_is_paused(void **state)
{
	struct scene scene;
	unsigned int pauses = 0;
	uint64_t last = 0;

	(void)state;
	scene_open_for(&scene, &live, NO_STOP_AUTO);
	take_all(&scene, &last, &pauses);
	scene.memory.events = scene.memory.cut = 256;
	assert_int_equal(take_all(&scene, &last, &pauses), 256);
	assert_false(scene.guest.has_events);
	assert_string_equal(scene.guest.no_events.text,
			    "too many of its chains were cut");
	pauses = 0;
	assert_int_equal(take_all(&scene, &last, &pauses), 1);
	assert_int_equal(pauses, 1);
	scene_close(&scene);
}

static void a_waiting_vcpu_has_the_weight_of_its_wait(void **state)
{
	struct scene scene;
	unsigned int pauses = 0;
	uint64_t last = 0, begun, weight;

	(void)state;
	scene_open_for(&scene, &live, NO_STOP_ONLY);
	scene.memory.waits = true;
	take_all(&scene, &last, &pauses);
	begun = clock_monotonic();
	sleep_for(20 * (NS_PER_S / 1000));
	/* It has run meanwhile: another round may find it. */
	scene.memory.has_run = true;
	assert_int_equal(take_all(&scene, &last, &pauses), 0);
	scene.memory.has_run = false;
	weight = take_all(&scene, &last, &pauses);
	assert_in_range(weight, 20,
			1 + (clock_monotonic() - begun) / (NS_PER_S / 1000) + 1);
	assert_int_equal(pauses, 0);
	scene_close(&scene);
}

static void weights_are_what_events_count(void **state)
{
	const struct sampling sampling = {.period = NS_PER_S / 1000,
					  .no_stop = NO_STOP_ONLY,
					  .counts_events = true};
	struct scene scene;
	unsigned int pauses = 0;
	uint64_t last = 0;

	(void)state;
	scene_open_as(&scene, &live, &sampling);
	take_all(&scene, &last, &pauses);
	scene.memory.events = 3;
	scene.memory.cut = 1;
	assert_int_equal(take_all(&scene, &last, &pauses), 3 * COUNTED);
	/* One that waits counts nothing. */
	scene.memory.waits = true;
	sleep_for(2 * (NS_PER_S / 1000));
	assert_int_equal(take_all(&scene, &last, &pauses), 0);
	assert_int_equal(pauses, 0);
	scene_close(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_calm_guests_pauses_are_rehearsed_now_and_then),
		cmocka_unit_test(at_a_usual_rate_all_are),
		cmocka_unit_test(after_a_missed_page_all_are_for_a_while),
		cmocka_unit_test(copies_are_always_renewed),
		cmocka_unit_test(a_guest_that_has_not_run_is_not_paused),
		cmocka_unit_test(events_are_samples_without_pauses),
		cmocka_unit_test(what_events_miss_is_found_in_one_pause_or_stays_cut),
		cmocka_unit_test(a_guest_whose_chains_are_cut_is_paused),
		cmocka_unit_test(a_waiting_vcpu_has_the_weight_of_its_wait),
		cmocka_unit_test(weights_are_what_events_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
