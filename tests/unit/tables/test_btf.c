/* SPDX-License-Identifier: BSD-3-Clause */

/* BTF written by hand, intact and damaged. tests/unit/tables/test_task_layout.c has it in
 * a kernel's file; the lab has real kernels. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tables/linux/btf.h"
#include "tests/unit/tables/test_btf.h"

/* A copy of its own, so that reads beyond the end are detected. */
static bool open_copy(struct btf *btf, const void *data, size_t size, void **copy)
{
	*copy = malloc(size + !size);
	assert_non_null(*copy);
	memcpy(*copy, data, size);
	return btf_open(btf, *copy, size);
}

static void expect_member(const struct buffer *made, const char *type, const char *member,
			  uint64_t wanted)
{
	uint64_t offset = 0;
	struct btf btf;
	void *copy;

	assert_true(open_copy(&btf, made->data, made->size, &copy));
	assert_true(btf_member(&btf, type, member, &offset));
	assert_int_equal(offset, wanted);
	btf_close(&btf);
	free(copy);
}

static void expect_none(const struct buffer *made, const char *type, const char *member)
{
	uint64_t offset;
	struct btf btf;
	void *copy;

	assert_true(open_copy(&btf, made->data, made->size, &copy));
	assert_false(btf_member(&btf, type, member, &offset));
	btf_close(&btf);
	free(copy);
}

static void members_are_found(void **state)
{
	struct buffer made = btf_of_kernel();

	(void)state;
	expect_member(&made, "task_struct", "mm", TASK_MM);
	expect_member(&made, "task_struct", "tgid", TASK_TGID);
	expect_member(&made, "task_struct", "comm", TASK_COMM);
	expect_member(&made, "mm_struct", "pgd", MM_PGD);
	expect_member(&made, "pcpu_hot", "current_task", HOT_CURRENT);
	expect_none(&made, "task_struct", "pid");
	expect_none(&made, "task_struct", "com");
	expect_none(&made, "task_struct", "pgd");
	expect_none(&made, "task", "mm");
	expect_none(&made, "int", "mm");
	buffer_free(&made);
}

static void damaged_types_are_refused(void **state)
{
	struct buffer made = btf_of_kernel();
	struct btf btf;
	void *copy;

	(void)state;
	for (size_t size = 0; size < made.size; size++) {
		bool opened = open_copy(&btf, made.data, size, &copy);

		assert_false(opened);
		assert_null(btf.at);
		free(copy);
	}
	/* A kind that does not exist; a list of members that is too long. */
	made.data[BTF_HEADER + 7] = 31;
	assert_false(open_copy(&btf, made.data, made.size, &copy));
	free(copy);
	made.data[BTF_HEADER + 7] = KIND_STRUCT;
	made.data[BTF_HEADER + 5] = 0xff;
	assert_false(open_copy(&btf, made.data, made.size, &copy));
	free(copy);
	/* Of the other byte order. */
	made.data[0] = 0xeb;
	made.data[1] = 0x9f;
	assert_false(open_copy(&btf, made.data, made.size, &copy));
	free(copy);
	buffer_free(&made);
}

/* Whatever a byte is, all reads are within the section. */
static void any_byte_may_be_wrong(void **state)
{
	struct buffer made = btf_of_kernel();

	(void)state;
	for (size_t i = 0; i < made.size; i++) {
		uint8_t right = made.data[i];

		for (unsigned int wrong = 0; wrong < 256; wrong += 15) {
			uint64_t offset;
			struct btf btf;
			void *copy;

			made.data[i] = (uint8_t)wrong;
			if (open_copy(&btf, made.data, made.size, &copy)) {
				btf_member(&btf, "task_struct", "comm", &offset);
				btf_member(&btf, "mm_struct", "pgd", &offset);
			}
			btf_close(&btf);
			free(copy);
		}
		made.data[i] = right;
	}
	buffer_free(&made);
}

/* Structs that contain themselves, many times: 2000 to the power of 8 members. */
static void a_search_ends(void **state)
{
	struct btf_maker maker = {0};
	struct buffer made;

	(void)state;
	btf_type(&maker, "", KIND_UNION, 2000);
	for (unsigned int i = 0; i < 2000; i++)
		btf_add(&maker, "", 1, 0);
	btf_type(&maker, "mm_struct", KIND_STRUCT, 1);
	btf_add(&maker, "", 1, 0);
	made = btf_finish(&maker);
	expect_none(&made, "mm_struct", "pgd");
	buffer_free(&made);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_found),
		cmocka_unit_test(damaged_types_are_refused),
		cmocka_unit_test(any_byte_may_be_wrong),
		cmocka_unit_test(a_search_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
