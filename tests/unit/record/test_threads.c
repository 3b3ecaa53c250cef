/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads in a made-up guest's memory, and what is recorded of them; the lab has real
 * ones. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include "base/clock.h"
#include "record/threads/linux.h"
#include "record/threads/look.h"
#include "record/threads/waits.h"

#define PAGES	  256
#define DIRECT	  0xffff888000000000
#define IMAGE	  0xffffffff80000000
#define SHIFT	  ((uint64_t)0 - 0x1000000)
#define TOP	  0x1000 /* physical addresses of page tables */
#define DIRECT_1  0x2000
#define IMAGE_1	  0x3000
#define INIT	  (IMAGE + 0x7000)
#define TASK(i)	  (DIRECT + 0x8000 + (i)*0x1000ull)
#define SIGNAL(i) (DIRECT + 0x20000 + (i)*0x100ull)
#define MM	  (DIRECT + 0x24000)
#define STACK(i)  (DIRECT + 0x30000 + (i)*0x1000ull)

static const struct task_layout tasks = {
	.per_cpu = IMAGE,
	.tgid = 0x6c,
	.comm = 0xa0,
	.group_leader = 0x80,
	.mm = 0x78,
	.pgd = 0x18,
};

static const struct thread_layout layout = {
	.init = INIT - SHIFT,
	.tasks = 0x20,
	.thread_node = 0x40,
	.signal = 0x60,
	.thread_head = 0x10,
	.pid = 0x68,
	.flags = 0x74,
	.state = 0x10,
	.exit_state = 0x70,
	.on_cpu = 0x14,
	.switches = 0x88,
	.preemptions = 0x90,
	.sp = 0xc0,
	.ran = 0xc8,
	.r15 = 0,
	.r14 = 8,
	.r13 = 16,
	.r12 = 24,
	.bx = 32,
	.bp = 40,
	.return_address = 48,
};

static uint8_t memory[PAGES][GUEST_PAGE_SIZE];
static uint64_t
	running; /* a task whose switches grow whenever its stack is read; 0: none */
static unsigned int pages_read;

static uint8_t *at(uint64_t address)
{
	uint64_t physical = address - (address >= IMAGE ? IMAGE : DIRECT);

	assert_true(physical < sizeof(memory));
	return memory[0] + physical;
}

static void put(uint64_t address, uint64_t word)
{
	memcpy(at(address), &word, sizeof(word));
}

static void put_half(uint64_t address, uint32_t number)
{
	memcpy(at(address), &number, sizeof(number));
}

static void add(uint64_t address, uint64_t more)
{
	uint64_t word;

	memcpy(&word, at(address), sizeof(word));
	put(address, word + more);
}

static const void *page_of(void *context, uint64_t frame)
{
	(void)context;
	pages_read++;
	if (running && frame == (STACK(1) - DIRECT) / GUEST_PAGE_SIZE)
		add(running + layout.switches, 1);
	return frame < PAGES ? memory[frame] : NULL;
}

static void begin_pages(void *context, uint64_t now, unsigned int calls)
{
	(void)context, (void)now, (void)calls;
}

static const struct guest_ops ops = {
	.map_page = page_of,
	.get_page = page_of,
	.begin_pages = begin_pages,
	.are_pages_live = true,
};

/* A list of two links: @head and those of @tasks at the @offset. */
static void put_list(uint64_t head, uint64_t offset, const unsigned int *tasks_in,
		     unsigned int count)
{
	uint64_t last = head;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t link = TASK(tasks_in[i]) + offset;

		put(last, link);
		put(link + 8, last);
		last = link;
	}
	put(last, head);
	put(head + 8, last);
}

static void put_task(unsigned int i, unsigned int leader, uint64_t mm, const char *comm)
{
	uint64_t task = TASK(i), sp = STACK(i) + 0x800;

	put_half(task + layout.pid, 100 + i);
	put_half(task + tasks.tgid, 100 + leader);
	put_half(task + layout.state, 1);
	put(task + tasks.group_leader, TASK(leader));
	put(task + tasks.mm, mm);
	put(task + layout.signal, SIGNAL(leader));
	put(task + layout.switches, 7);
	put(task + layout.preemptions, 1);
	put(task + layout.ran, 1000 * i);
	strcpy((char *)at(task + tasks.comm), comm);
	put(task + layout.sp, sp);
	put(sp + layout.return_address, IMAGE + 0x5010 + i);
	put(sp + layout.bp, sp + 0x100);
	put(sp + layout.r12, 0x1212);
	put(sp + 0x100, 0);
	put(sp + 0x108, IMAGE + 0x5020);
}

/* What is known of the guest. Tasks 0 and 1 are of one process, 2 is of the kernel, 3 of
 * another process. */
struct scene {
	struct guest guest;
	struct guest_vcpu vcpu;
	struct learning learning;
	struct thread_view view;
};

static int setup(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	const unsigned int leaders[] = {0, 2, 3}, threads[] = {0, 1}, kernel[] = {2},
			   other[] = {3};

	assert_non_null(scene);
	memset(memory, 0, sizeof(memory));
	running = 0;
	put(DIRECT + TOP + 8 * 273, DIRECT_1 | 1);
	put(DIRECT + TOP + 8 * 511, IMAGE_1 | 1);
	put(DIRECT + DIRECT_1, 0x81);
	put(DIRECT + IMAGE_1 + 8 * 510, 0x81);
	put_task(0, 0, MM, "nginx");
	put_task(1, 0, MM, "worker");
	put_task(2, 2, 0, "kworker/0:1");
	put_task(3, 3, MM, "redis");
	put_half(TASK(2) + layout.state, 0x402);
	put(MM + tasks.pgd, DIRECT + TOP);
	put_list(INIT + layout.tasks, layout.tasks, leaders, 3);
	put_list(SIGNAL(0) + layout.thread_head, layout.thread_node, threads, 2);
	put_list(SIGNAL(2) + layout.thread_head, layout.thread_node, kernel, 1);
	put_list(SIGNAL(3) + layout.thread_head, layout.thread_node, other, 1);
	scene->guest = (struct guest){.ops = &ops, .info.vcpus = 1, .vcpu = &scene->vcpu};
	scene->vcpu = (struct guest_vcpu){.captured = true,
					  .cpu = {.family = CPU_FAMILY_X86,
						  .x86 = {.cr0 = X86_CR0_PE | X86_CR0_PG,
							  .cr4 = X86_CR4_PAE,
							  .efer = X86_EFER_LMA,
							  .cs = 0x33,
							  .cr3 = TOP}}};
	scene->learning.guest = &scene->guest;
	scene->learning.tasks = (struct tasks){
		.layout = &tasks, .threads = &layout, .shift = SHIFT};
	assert_true(thread_view_open(&scene->view, &scene->learning));
	*state = scene;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static unsigned int count_threads(const struct scene *scene, enum walk_step *end)
{
	struct thread_walk walk = {0};
	unsigned int count = 0;
	struct thread thread;

	while ((*end = thread_walk_step(&walk, &scene->view, &thread)) == WALK_THREAD) {
		assert_true(thread_walk_holds(&walk, &scene->view));
		count++;
	}
	return count;
}

static void all_threads_are_found_with_their_chains(void **state)
{
	struct scene *scene = *state;
	struct threads_seen seen;
	struct error err;

	assert_int_equal(threads_look(&scene->learning, &seen, &err), 0);
	assert_true(seen.is_full);
	assert_int_equal(seen.count, 4);
	assert_int_equal(seen.now, 3000);
	for (unsigned int i = 0; i < 4; i++) {
		const struct thread_seen *one = &seen.list[i];
		const struct recording_process *process = &one->wait.process;
		static const char *const names[] = {"nginx", "worker", "kworker/0:1",
						    "redis"};

		assert_int_equal(one->kind, THREAD_READ);
		assert_int_equal(one->thread.tid, 100 + i);
		assert_int_equal(one->thread.moment.switches, 8);
		assert_int_equal(process->tid, 100 + i);
		assert_int_equal(process->pid, i == 1 ? 100 : 100 + i);
		assert_string_equal(process->thread, names[i]);
		assert_string_equal(process->comm, names[i == 1 ? 0 : i]);
		assert_int_equal(process->space, i == 2 ? 0 : TOP);
		assert_int_equal(one->wait.state, i == 2 ? WAIT_IDLE : WAIT_SLEEPING);
		assert_int_equal(one->wait.cpu.x86.reg[12], 0x1212);
		assert_int_equal(one->chain.count, 2);
		assert_int_equal(one->chain.address[0], IMAGE + 0x5010 + i);
		assert_int_equal(one->chain.address[1], IMAGE + 0x5020);
	}
	threads_seen_free(&seen);
}

static void states_are_those_of_the_kernel(void **state)
{
	static const struct {
		uint32_t bits;
		uint8_t state;
	} known[] = {
		{0, WAIT_RUNNABLE},	   {1, WAIT_SLEEPING},
		{2, WAIT_UNINTERRUPTIBLE}, {0x102, WAIT_UNINTERRUPTIBLE},
		{0x402, WAIT_IDLE},	   {0x40, WAIT_IDLE},
		{0x4, WAIT_STOPPED},	   {0x108, WAIT_STOPPED},
		{0x2001, WAIT_SLEEPING},   {0x200, WAIT_UNKNOWN},
	};
	struct scene *scene = *state;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct thread thread = {.task = TASK(3), .tid = 103};
		struct thread_wait wait;

		put_half(TASK(3) + layout.state, known[i].bits);
		assert_true(thread_read_moment(&scene->view, TASK(3), &thread.moment));
		assert_true(thread_read_wait(&scene->view, &thread, &wait));
		assert_int_equal(wait.state, known[i].state);
	}
	put_half(TASK(3) + layout.on_cpu, 1);
	put_half(TASK(1) + layout.exit_state, 32);
	for (unsigned int i = 1; i < 4; i += 2) {
		struct thread_moment moment;

		assert_true(thread_read_moment(&scene->view, TASK(i), &moment));
		assert_false(thread_waits(&moment));
	}
}

static void lists_that_lead_in_circles_end(void **state)
{
	struct scene *scene = *state;
	enum walk_step end;

	assert_int_equal(count_threads(scene, &end), 4);
	assert_int_equal(end, WALK_DONE);
	put(TASK(1) + layout.thread_node, TASK(0) + layout.thread_node);
	put(TASK(0) + layout.thread_node + 8, TASK(1) + layout.thread_node);
	assert_int_equal(count_threads(scene, &end), THREADS_MAX);
	assert_int_equal(end, WALK_BROKEN);
}

static void lists_that_lead_elsewhere_are_broken(void **state)
{
	static const uint64_t places[] = {0,
					  8,
					  0x1000,
					  DIRECT,
					  IMAGE,
					  INIT,
					  DIRECT + 0x7777,
					  MM,
					  ~0ull,
					  1ull << 63,
					  DIRECT + ((uint64_t)PAGES << 12)};
	static const uint64_t links[] = {INIT + 0x20, TASK(0) + 0x40, TASK(1) + 0x40,
					 SIGNAL(0) + 0x10, TASK(0) + 0x60};
	struct scene *scene = *state;

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		for (size_t j = 0; j < sizeof(places) / sizeof(places[0]); j++) {
			struct thread_walk walk = {0};
			struct thread thread;
			uint64_t before;
			enum walk_step end;

			memcpy(&before, at(links[i]), sizeof(before));
			put(links[i], places[j]);
			while ((end = thread_walk_step(&walk, &scene->view, &thread)) ==
			       WALK_THREAD)
				;
			assert_true(end == WALK_BROKEN || walk.threads <= 4);
			put(links[i], before);
		}
}

/* Whatever a guest has in its tasks, looking at them ends, within the memory. */
static void random_memory_is_safe(void **state)
{
	struct scene *scene = *state;
	uint64_t seed = 1;

	for (unsigned int round = 0; round < 200; round++) {
		struct threads_seen seen;
		struct error err;
		uint64_t address = DIRECT + 0x7000 +
				   random_next(&seed) % (sizeof(memory) - 0x7000) / 8 * 8;

		put(address, random_next(&seed) & 1
				     ? DIRECT + random_next(&seed) % sizeof(memory)
				     : random_next(&seed) >> random_next(&seed) % 64);
		if (round % 3 == 0)
			put(TASK(round % 4) + random_next(&seed) % 32 * 8,
			    DIRECT + random_next(&seed) % sizeof(memory) / 8 * 8);
		pages_read = 0;
		if (round % 50 == 0) {
			setup(state);
			free(scene);
			scene = *state;
		}
		if (threads_look(&scene->learning, &seen, &err) == 0)
			threads_seen_free(&seen);
		assert_in_range(pages_read, 0, 100u * THREADS_MAX * 5);
	}
}

/* A stand-in for the recorder: rounds of waits, until there were @count of them. */
static void take_rounds(struct waits *waits, struct sink *sink, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		while (clock_monotonic() < waits_due(waits))
			;
		waits_take(waits, sink);
	}
}

struct taken {
	struct waits_batch batch;
	struct waits_totals totals;
	struct wait wait[32];
	uint64_t address[32][RECORDING_MAX_DEPTH];
	unsigned int waits;
};

/* Records two parts of a guest's waits, with @between in the middle. */
static void record_waits(struct scene *scene, void (*between)(void), struct taken *taken)
{
	const struct waits_pace pace = {NS_PER_S / 1000, 1};
	struct waits *waits = waits_new(&pace, &scene->learning, 3);
	struct recording_end end = {.reason = END_TIME};
	struct recording_info info = test_info();
	int fd = file_with(NULL, 0);
	struct error err;
	struct series series = {.writer = writer_new(fd, &info, NULL, 0, &err)};
	struct sink *sink = sink_new(&err);
	struct reader *reader;
	struct cursor payload;
	unsigned int type;
	sigset_t none;

	sigemptyset(&none);
	assert_non_null(waits);
	assert_non_null(sink);
	assert_int_equal(sink_start(sink, &series, NULL, &err), 0);
	waits_begin(waits, clock_monotonic());
	take_rounds(waits, sink, 5);
	between();
	take_rounds(waits, sink, 5);
	waits_end(waits, sink, false);
	waits_add(waits, &taken->totals);
	waits_free(waits);
	assert_int_equal(sink_end(sink, &end, &none, &err), 0);
	lseek(fd, 0, SEEK_SET);
	reader = reader_new(fd);
	while (reader_next(reader, &type, &payload, &err) > 0) {
		if (type != CHUNK_WAITS)
			continue;
		assert_int_equal(waits_decode(payload, &taken->batch), 0);
		for (size_t i = 0; i < taken->batch.samples.count; i++, taken->waits++)
			taken->wait[taken->waits] = waits_batch_wait(
				&taken->batch, i, taken->address[taken->waits]);
	}
	reader_free(reader);
	close(fd);
}

static void change_waits(void)
{
	/* Thread 0 has run and waits again, 1 runs, 3 has ended. */
	add(TASK(0) + layout.switches, 1);
	put_half(TASK(1) + layout.on_cpu, 1);
	put_half(TASK(3) + layout.exit_state, 32);
}

static void only_changes_are_written(void **state)
{
	static struct taken taken;
	unsigned int over = 0;

	taken = (struct taken){0};
	record_waits(*state, change_waits, &taken);
	assert_int_equal(taken.totals.rounds, 10);
	assert_int_equal(taken.totals.threads, 4);
	assert_int_equal(taken.totals.read, 5);
	assert_int_equal(taken.totals.torn + taken.totals.unread, 0);
	assert_false(taken.totals.is_unknown || taken.totals.is_broken);
	/* Three waits that are over, and two that go on. */
	assert_int_equal(taken.waits, 5);
	for (unsigned int i = 0; i < taken.waits; i++) {
		const struct wait *wait = &taken.wait[i];

		over += wait->is_over;
		assert_int_equal(wait->domain, 3);
		assert_int_equal(wait->chain.count, 2);
		assert_true(wait->to > wait->from);
		assert_true(wait->is_over || wait->process.tid == 100 ||
			    wait->process.tid == 102);
	}
	assert_int_equal(over, 3);
	waits_batch_free(&taken.batch);
}

static void nothing(void)
{
}

static void a_thread_that_runs_meanwhile_is_torn(void **state)
{
	static struct taken taken;

	taken = (struct taken){0};
	running = TASK(1);
	record_waits(*state, nothing, &taken);
	assert_int_equal(taken.totals.torn, 10);
	assert_int_equal(taken.totals.read, 3);
	for (unsigned int i = 0; i < taken.waits; i++)
		assert_int_not_equal(taken.wait[i].process.tid, 101);
	waits_batch_free(&taken.batch);
}

/* Threads that come and go, each in a process of its own; signal and stack are in the
 * same bytes as the task. */
#define MANY   150
#define ONE(i) (DIRECT + 0x50000 + (i)*0x800ull)

static bool is_waiting[MANY];
static unsigned int begun; /* waits so far */

static void put_many(void)
{
	uint64_t last = INIT + layout.tasks;

	for (unsigned int i = 0; i < MANY; i++) {
		uint64_t task = ONE(i), link = task + layout.tasks, sp = task + 0x400;
		uint64_t head = task + 0x200 + layout.thread_head;

		put(last, link);
		put(link + 8, last);
		last = link;
		put(task + layout.signal, task + 0x200);
		put(head, task + layout.thread_node);
		put(head + 8, task + layout.thread_node);
		put(task + layout.thread_node, head);
		put(task + layout.thread_node + 8, head);
		put_half(task + layout.pid, 1000 + i);
		put_half(task + tasks.tgid, 1000 + i);
		put_half(task + layout.state, 1);
		put(task + tasks.group_leader, task);
		put(task + layout.sp, sp);
		put(sp + layout.return_address, IMAGE + 0x5010 + i);
		is_waiting[i] = true;
	}
	put(last, INIT + layout.tasks);
	put(INIT + layout.tasks + 8, last);
	begun = MANY;
}

/* Between two rounds, some threads begin to run, others wait for something new. */
static void change_many(uint64_t *seed)
{
	for (unsigned int i = 0; i < MANY; i++) {
		uint64_t choice = random_next(seed) % 8;

		if (choice == 0 && is_waiting[i])
			put_half(ONE(i) + layout.on_cpu, 1);
		if (choice == 1 || (choice == 0 && !is_waiting[i])) {
			put_half(ONE(i) + layout.on_cpu, 0);
			add(ONE(i) + layout.switches, 1);
			begun++;
		}
		is_waiting[i] = choice == 1 || (choice == 0) != is_waiting[i];
	}
}

static void many_threads_come_and_go(void **state)
{
	const struct waits_pace pace = {NS_PER_S / 1000, 1};
	struct scene *scene = *state;
	struct waits *waits;
	struct recording_end end = {.reason = END_TIME};
	struct recording_info info = test_info();
	int fd = file_with(NULL, 0);
	struct error err;
	struct series series = {.writer = writer_new(fd, &info, NULL, 0, &err)};
	struct sink *sink = sink_new(&err);
	struct waits_totals totals = {0};
	struct waits_batch batch = {0};
	uint64_t last[MANY] = {0}; /* begin of each thread's wait that goes on */
	unsigned int over = 0, open = 0, rest = 0;
	struct reader *reader;
	struct cursor payload;
	unsigned int type;
	uint64_t seed = 5;
	sigset_t none;

	put_many();
	waits = waits_new(&pace, &scene->learning, 0);
	sigemptyset(&none);
	assert_int_equal(sink_start(sink, &series, NULL, &err), 0);
	waits_begin(waits, clock_monotonic());
	for (unsigned int round = 0; round < 60; round++) {
		uint64_t rounds;

		do {
			totals = (struct waits_totals){0};
			waits_add(waits, &totals);
			rounds = totals.rounds;
			while (clock_monotonic() < waits_due(waits))
				;
			waits_take(waits, sink);
			totals = (struct waits_totals){0};
			waits_add(waits, &totals);
		} while (totals.rounds == rounds);
		if (round < 59)
			change_many(&seed);
	}
	for (unsigned int i = 0; i < MANY; i++)
		rest += is_waiting[i];
	waits_end(waits, sink, false);
	waits_free(waits);
	assert_int_equal(sink_end(sink, &end, &none, &err), 0);
	lseek(fd, 0, SEEK_SET);
	reader = reader_new(fd);
	while (reader_next(reader, &type, &payload, &err) > 0) {
		if (type != CHUNK_WAITS)
			continue;
		assert_int_equal(waits_decode(payload, &batch), 0);
		/* One that goes on may be there again, complete. */
		for (size_t i = 0; i < batch.samples.count; i++) {
			uint32_t process = batch.samples.process[i];
			uint64_t tid = batch.samples.processes[process].tid - 1000;

			assert_in_range(tid, 0, MANY - 1);
			over += batch.is_over[i];
			last[tid] = batch.is_over[i] ? 0 : batch.samples.time[i];
		}
	}
	for (unsigned int i = 0; i < MANY; i++)
		open += last[i] != 0;
	assert_int_equal(open, rest);
	assert_int_equal(over, begun - rest);
	waits_batch_free(&batch);
	reader_free(reader);
	close(fd);
}

static void break_lists(void)
{
	put(TASK(1) + layout.thread_node, 0);
}

/* What was not seen, because the lists lead nowhere, is not over. */
static void broken_lists_end_no_waits(void **state)
{
	static struct taken taken;

	taken = (struct taken){0};
	record_waits(*state, break_lists, &taken);
	assert_int_equal(taken.waits, 4);
	for (unsigned int i = 0; i < taken.waits; i++)
		assert_false(taken.wait[i].is_over);
	waits_batch_free(&taken.batch);
}

static void without_a_layout_nothing_is_known(void **state)
{
	struct scene *scene = *state;
	struct threads_seen seen;
	static struct taken taken;
	struct error err;

	taken = (struct taken){0};
	scene->learning.tasks.threads = NULL;
	assert_int_equal(threads_look(&scene->learning, &seen, &err), -1);
	assert_non_null(strstr(err.text, "not known"));
	record_waits(scene, nothing, &taken);
	assert_true(taken.totals.is_unknown);
	assert_int_equal(taken.totals.rounds, 0);
	assert_int_equal(taken.waits, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_threads_are_found_with_their_chains,
						setup, teardown),
		cmocka_unit_test_setup_teardown(states_are_those_of_the_kernel, setup,
						teardown),
		cmocka_unit_test_setup_teardown(lists_that_lead_in_circles_end, setup,
						teardown),
		cmocka_unit_test_setup_teardown(lists_that_lead_elsewhere_are_broken,
						setup, teardown),
		cmocka_unit_test_setup_teardown(random_memory_is_safe, setup, teardown),
		cmocka_unit_test_setup_teardown(only_changes_are_written, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_thread_that_runs_meanwhile_is_torn,
						setup, teardown),
		cmocka_unit_test_setup_teardown(many_threads_come_and_go, setup,
						teardown),
		cmocka_unit_test_setup_teardown(broken_lists_end_no_waits, setup,
						teardown),
		cmocka_unit_test_setup_teardown(without_a_layout_nothing_is_known, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
