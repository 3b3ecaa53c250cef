/* SPDX-License-Identifier: BSD-3-Clause */

/* Names of processes in a made-up guest's memory; the lab has real ones. */

#include "record/linux/tasks.h"
#include "tests/unit/arch/test_x86.h"

#define SHIFT	0x1200000
#define PER_CPU 0xffffffff8241cb60
#define CURRENT 0x1fb80
#define DIRECT	0xffff888000000000
#define AREA(i) (DIRECT + 0x7c00000 + (i)*0x100000ull) /* a CPU's variables */
#define TASK(i) (DIRECT + 0x3f00000 + (i)*0x4000ull)
#define MM(i)	(DIRECT + 0x4000040 + (i)*0x4000ull)
#define SPACE	((uint64_t)1 << GUEST_PAGE_SHIFT)

static const struct task_layout layout = {
	.per_cpu = PER_CPU,
	.current = CURRENT,
	.tgid = 2420,
	.comm = 2976,
	.group_leader = 2480,
	.mm = 2272,
	.pgd = 72,
};

struct scene {
	struct guest *guest;
	struct tasks tasks;
};

static void put_word(struct guest *guest, uint64_t address, uint64_t word)
{
	put_bytes(guest, address, &word, sizeof(word));
}

/* Puts a task into memory; @mm is 0 for a thread of the kernel. */
static void put_task(struct guest *guest, unsigned int i, uint64_t mm, uint32_t tgid,
		     const char *comm)
{
	char text[RECORDING_COMM] = "";

	memcpy(text, comm, strlen(comm));
	put_word(guest, TASK(i) + layout.mm, mm);
	put_word(guest, TASK(i) + layout.group_leader, TASK(i));
	put_bytes(guest, TASK(i) + layout.tgid, &tgid, sizeof(tgid));
	put_bytes(guest, TASK(i) + layout.comm, text, sizeof(text));
}

static void set_current(struct guest *guest, unsigned int cpu, uint64_t task)
{
	put_word(guest, PER_CPU + SHIFT + 8 * cpu, AREA(cpu));
	put_word(guest, AREA(cpu) + CURRENT, task);
}

/* Task 0 belongs to nginx, in the address space of the guest's CPU; task 1 to another
 * process, task 2 to the kernel. */
static int setup(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct guest *guest = guest_new(&mode_4_level);

	assert_non_null(scene);
	scene->guest = guest;
	scene->tasks = (struct tasks){.layout = &layout, .shift = SHIFT};
	map(guest, DIRECT + SPACE, 1, GUEST_PAGE_SHIFT);
	put_word(guest, MM(0) + layout.pgd, DIRECT + SPACE);
	put_word(guest, MM(1) + layout.pgd, DIRECT + 0x9000);
	map_new(guest, DIRECT + 0x9000);
	put_task(guest, 0, MM(0), 123, "nginx");
	put_task(guest, 1, MM(1), 456, "redis");
	put_task(guest, 2, 0, 7, "kworker/0:1");
	set_current(guest, 0, TASK(0));
	*state = scene;
	return 0;
}

static int teardown(void **state)
{
	struct scene *scene = *state;

	free(scene->guest);
	free(scene);
	return 0;
}

static struct recording_process look_in(struct scene *scene, uint64_t space,
					unsigned int vcpu)
{
	const struct cpu cpu = {.family = CPU_FAMILY_X86, .x86 = scene->guest->cpu};
	struct recording_process process = {.space = space};

	tasks_name(&scene->tasks, &cpu, &scene->guest->memory, vcpu, &process);
	assert_int_equal(process.space, space);
	return process;
}

static struct recording_process look_at(struct scene *scene, unsigned int vcpu)
{
	return look_in(scene, SPACE, vcpu);
}

static void expect(struct scene *scene, uint32_t pid, const char *comm)
{
	const struct recording_process process = look_at(scene, 0);

	assert_int_equal(process.pid, pid);
	assert_string_equal(process.comm, comm);
}

static void a_process_has_its_name(void **state)
{
	expect(*state, 123, "nginx");
}

static void another_process_of_the_same_cpu_is_not_mistaken(void **state)
{
	struct scene *scene = *state;

	set_current(scene->guest, 0, TASK(1));
	expect(scene, 0, "");
	set_current(scene->guest, 0, TASK(2));
	expect(scene, 0, "");
	set_current(scene->guest, 0, TASK(0));
	expect(scene, 123, "nginx");
	/* The CPU executes other tasks now, but the process still exists. */
	set_current(scene->guest, 0, TASK(1));
	expect(scene, 123, "nginx");
	set_current(scene->guest, 0, TASK(2));
	expect(scene, 123, "nginx");
}

static void a_process_that_has_ended_is_forgotten(void **state)
{
	struct scene *scene = *state;

	expect(scene, 123, "nginx");
	set_current(scene->guest, 0, TASK(1));
	put_word(scene->guest, TASK(0) + layout.mm, 0);
	expect(scene, 0, "");
	/* Another process has its address space now. */
	put_word(scene->guest, TASK(1) + layout.mm, MM(0));
	expect(scene, 456, "redis");
}

static void a_name_may_change(void **state)
{
	struct scene *scene = *state;

	expect(scene, 123, "nginx");
	put_task(scene->guest, 0, MM(0), 123, "nginx: worker p");
	expect(scene, 123, "nginx: worker p");
	/* A guest may leave no 0 at the end of the name. */
	put_bytes(scene->guest, TASK(0) + layout.comm, "0123456789abcdef",
		  RECORDING_COMM);
	expect(scene, 123, "0123456789abcde");
}

/* The thread is that of the CPU now; it is not known if another process runs. */
static void a_thread_has_its_own_name_while_it_runs(void **state)
{
	const struct thread_layout threads = {.init = 1, .pid = 2416};
	struct scene *scene = *state;
	struct recording_process process;
	uint32_t tid = 125;

	put_task(scene->guest, 3, MM(0), 123, "C2 CompilerThre");
	put_bytes(scene->guest, TASK(3) + threads.pid, &tid, sizeof(tid));
	put_word(scene->guest, TASK(3) + layout.group_leader, TASK(0));
	set_current(scene->guest, 0, TASK(3));
	process = look_at(scene, 0);
	assert_int_equal(process.tid, 0);
	assert_string_equal(process.thread, "");
	scene->tasks.threads = &threads;
	process = look_at(scene, 0);
	assert_int_equal(process.pid, 123);
	assert_string_equal(process.comm, "nginx");
	assert_int_equal(process.tid, 125);
	assert_string_equal(process.thread, "C2 CompilerThre");
	set_current(scene->guest, 0, TASK(1));
	process = look_at(scene, 0);
	assert_int_equal(process.pid, 123);
	assert_int_equal(process.tid, 0);
	assert_string_equal(process.thread, "");
}

static void a_thread_has_the_name_of_its_process(void **state)
{
	struct scene *scene = *state;

	put_task(scene->guest, 3, MM(0), 123, "C2 CompilerThre");
	put_word(scene->guest, TASK(3) + layout.group_leader, TASK(0));
	set_current(scene->guest, 0, TASK(3));
	expect(scene, 123, "nginx");
	/* The first thread may have ended. */
	put_word(scene->guest, TASK(0) + layout.mm, 0);
	expect(scene, 123, "nginx");
}

/* A set has room for TASK_WAYS processes; another process replaces the one not met for
 * longest. */
static void processes_of_a_set_do_not_displace_each_other(void **state)
{
	struct scene *scene = *state;
	struct guest *guest = scene->guest;
	struct seen_task *set = NULL;
	uint64_t space[TASK_WAYS + 1] = {SPACE};
	unsigned int processes = 0;

	expect(scene, 123, "nginx");
	for (size_t i = 0; i < TASK_SETS; i++) {
		if (scene->tasks.seen[i][0].space == SPACE)
			set = scene->tasks.seen[i];
	}
	assert_non_null(set);
	/* Copy the top table until the set has as many processes as fit, and one more. */
	for (processes = 1; processes <= TASK_WAYS;) {
		unsigned int i = 3 + processes;
		uint64_t frame = guest->next++;

		assert_true(frame < FRAMES);
		space[processes] = frame << GUEST_PAGE_SHIFT;
		memcpy(guest->page[frame], guest->page[1], GUEST_PAGE_SIZE);
		map(guest, DIRECT + space[processes], frame, GUEST_PAGE_SHIFT);
		put_word(guest, MM(i) + layout.pgd, DIRECT + space[processes]);
		put_task(guest, i, MM(i), 1000 + processes, "worker");
		set_current(guest, 0, TASK(i));
		look_in(scene, space[processes], 0);
		if (set[0].space == space[processes])
			processes++;
	}
	set_current(guest, 0, TASK(2));
	assert_int_equal(look_in(scene, SPACE, 0).pid, 0);
	for (unsigned int i = 1; i <= TASK_WAYS; i++)
		assert_int_equal(look_in(scene, space[i], 0).pid, 1000 + i);
}

static void each_cpu_has_a_task(void **state)
{
	struct scene *scene = *state;

	set_current(scene->guest, 0, TASK(1));
	set_current(scene->guest, 1, TASK(0));
	assert_int_equal(look_at(scene, 0).pid, 0);
	assert_int_equal(look_at(scene, 1).pid, 123);
	assert_int_equal(look_at(scene, 0).pid, 123);
	assert_int_equal(look_at(scene, 700).pid, 123);
}

/* The page tables of user mode lack the kernel in a PV guest, or with PTI. */
static void user_mode_has_page_tables_of_its_own(void **state)
{
	struct scene *scene = *state;

	scene->guest->cpu.kernel_cr3 = SPACE;
	scene->guest->cpu.cr3 = scene->guest->next++ << GUEST_PAGE_SHIFT;
	expect(scene, 123, "nginx");
}

static void variables_of_a_cpu_may_move_with_the_kernel(void **state)
{
	struct scene *scene = *state;
	struct task_layout newer = layout;

	/* In Linux 6.15 and later, the per-CPU offset is for the address after the
	 * move. */
	newer.current = 0xffffffff83000000 + CURRENT;
	scene->tasks.layout = &newer;
	put_word(scene->guest, PER_CPU + SHIFT, AREA(0) - 0xffffffff83000000 - SHIFT);
	expect(scene, 123, "nginx");
}

static void a_name_may_be_in_two_pages(void **state)
{
	struct scene *scene = *state;
	struct task_layout other = layout;

	other.comm = GUEST_PAGE_SIZE - 4;
	scene->tasks.layout = &other;
	put_bytes(scene->guest, TASK(0) + other.comm, "across pages", 13);
	expect(scene, 123, "across pages");
}

static void without_knowledge_there_is_no_name(void **state)
{
	struct scene *scene = *state;

	scene->guest->cpu.efer = 0;
	expect(scene, 0, "");
	scene->guest->cpu.efer = X86_EFER_LMA;
	scene->tasks.layout = NULL;
	expect(scene, 0, "");
}

/* Any page may be missing, and any word of the guest wrong. */
static void a_guest_is_not_trusted(void **state)
{
	static const uint64_t words[] = {0, 1, UINT64_MAX, DIRECT, SPACE, TASK(1), MM(1)};
	struct scene *scene = *state;
	struct guest *guest = scene->guest;
	const uint64_t places[] = {
		PER_CPU + SHIFT,     AREA(0) + CURRENT,
		TASK(0) + layout.mm, TASK(0) + layout.group_leader,
		MM(0) + layout.pgd,  TASK(0) + layout.tgid,
	};

	for (uint64_t frame = 0; frame < guest->next; frame++) {
		guest->missing[frame] = true;
		guest->calls = 0;
		memset(scene->tasks.seen, 0, sizeof(scene->tasks.seen));
		look_at(scene, 0);
		assert_true(guest->calls <= 64 * READ_PAGES_MAX);
		guest->missing[frame] = false;
	}
	for (size_t i = 0; i < COUNT_OF(places); i++) {
		uint64_t right;

		memcpy(&right, guest_byte(guest, places[i]), sizeof(right));
		for (size_t j = 0; j < COUNT_OF(words); j++) {
			put_word(guest, places[i], words[j]);
			look_at(scene, 0);
		}
		put_word(guest, places[i], right);
	}
	expect(scene, 123, "nginx");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_process_has_its_name),
		TEST(another_process_of_the_same_cpu_is_not_mistaken),
		TEST(a_process_that_has_ended_is_forgotten),
		TEST(a_name_may_change),
		TEST(a_thread_has_its_own_name_while_it_runs),
		TEST(a_thread_has_the_name_of_its_process),
		TEST(processes_of_a_set_do_not_displace_each_other),
		TEST(each_cpu_has_a_task),
		TEST(user_mode_has_page_tables_of_its_own),
		TEST(variables_of_a_cpu_may_move_with_the_kernel),
		TEST(a_name_may_be_in_two_pages),
		TEST(without_knowledge_there_is_no_name),
		TEST(a_guest_is_not_trusted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
