/* SPDX-License-Identifier: BSD-3-Clause */
/* Which pauses are made, and which are rehearsed, for a made-up guest whose memory is all
 * zero. */
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
	bool rests; /* it does not run */
	bool wakes; /* it does, as is seen after the samples were taken */
};

static int observe(struct guest *guest, uint64_t now, enum observation *observation,
		   struct error *err)
{
	(void)guest, (void)now, (void)err;
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
};

struct scene {
	struct memory memory;
	struct guest_vcpu vcpu;
	struct guest guest;
	struct sampler *sampler;
};

static void scene_open(struct scene *scene, const struct guest_ops *ops)
{
	const struct sampling sampling = {.period = NS_PER_S / 1000};
	struct error err;

	memset(scene, 0, sizeof(*scene));
	scene->guest = (struct guest){.ops = ops, .info.vcpus = 1};
	scene->guest.vcpu = &scene->vcpu;
	scene->guest.memory = &scene->memory;
	scene->vcpu.captured = true; /* the first rehearsal walks it, too */
	scene->vcpu.cpu.family = CPU_FAMILY_X86;
	scene->vcpu.cpu.x86.cr0 = X86_CR0_PE;
	scene->vcpu.cpu.x86.rip = GUEST_PAGE_SIZE;
	scene->vcpu.cpu.x86.reg[X86_RBP] = 2 * GUEST_PAGE_SIZE;
	scene->sampler = sampler_new(&scene->guest, &sampling, &err);
	assert_non_null(scene->sampler);
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
	const unsigned int many = 100000;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_calm_guests_pauses_are_rehearsed_now_and_then),
		cmocka_unit_test(at_a_usual_rate_all_are),
		cmocka_unit_test(after_a_missed_page_all_are_for_a_while),
		cmocka_unit_test(copies_are_always_renewed),
		cmocka_unit_test(a_guest_that_has_not_run_is_not_paused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
