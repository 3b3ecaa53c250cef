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

static void enumerators_are_found(void **state)
{
	struct buffer made = btf_of_kernel();
	int32_t value = 0;
	struct btf btf;
	void *copy;

	(void)state;
	assert_true(open_copy(&btf, made.data, made.size, &copy));
	assert_true(btf_enumerator(&btf, "pid_type", "PIDTYPE_TGID", &value));
	assert_int_equal(value, 1);
	assert_true(btf_enumerator(&btf, "pid_type", "PIDTYPE_NONE", &value));
	assert_int_equal(value, -1);
	assert_false(btf_enumerator(&btf, "pid_type", "PIDTYPE", &value));
	assert_false(btf_enumerator(&btf, "pid", "PIDTYPE_TGID", &value));
	assert_false(btf_enumerator(&btf, "task_struct", "mm", &value));
	btf_close(&btf);
	free(copy);
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
			int32_t value;
			struct btf btf;
			void *copy;

			made.data[i] = (uint8_t)wrong;
			if (open_copy(&btf, made.data, made.size, &copy)) {
				btf_member(&btf, "task_struct", "comm", &offset);
				btf_member(&btf, "mm_struct", "pgd", &offset);
				btf_enumerator(&btf, "pid_type", "PIDTYPE_NONE", &value);
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

#define FILE_PATH   64
#define PATH_DENTRY 8
#define VCPU_KVM    40
#define VCPU_FILE   128

/* A kernel with struct file, whose path is constant and in an unnamed union. */
static struct buffer kernel_with_file(struct btf_maker *maker)
{
	uint32_t number = btf_type(maker, "int", KIND_INT, 0), path;

	path = btf_type(maker, "path", KIND_STRUCT, 2);
	btf_add(maker, "mnt", number, 0);
	btf_add(maker, "dentry", number, 8 * PATH_DENTRY);
	path = btf_const(maker, path);
	number = btf_type(maker, "", KIND_UNION, 1);
	btf_add(maker, "f_path", path, 0);
	btf_type(maker, "file", KIND_STRUCT, 2);
	btf_add(maker, "f_mode", 1, 0);
	btf_add(maker, "", number, 8 * FILE_PATH);
	/* Another struct of this name, as in a kernel's own test modules. */
	btf_type(maker, "kvm_vcpu", KIND_STRUCT, 1);
	btf_add(maker, "fake", 1, 0);
	return btf_finish(maker);
}

/* A module's types have the numbers and strings after the kernel's. */
static void types_of_a_module_continue_the_kernels(void **state)
{
	struct btf_maker kernel = {0}, module;
	struct buffer of_kernel = kernel_with_file(&kernel), of_module;
	uint32_t names = get_le32(of_kernel.data + 20), size = 1;
	struct btf base, btf;
	uint64_t offset = 0;
	void *copies[2];

	(void)state;
	module = (struct btf_maker){.count = kernel.count, .names = names};
	btf_type(&module, "kvm_vcpu", KIND_STRUCT, 2);
	btf_add(&module, "kvm", 1, 8 * VCPU_KVM);
	btf_add(&module, "file", kernel.count - 1, 8 * VCPU_FILE);
	of_module = btf_finish(&module);
	assert_true(open_copy(&base, of_kernel.data, of_kernel.size, &copies[0]));
	copies[1] = malloc(of_module.size);
	memcpy(copies[1], of_module.data, of_module.size);
	assert_true(btf_open_module(&btf, &base, copies[1], of_module.size));
	assert_true(btf_member(&btf, "kvm_vcpu", "kvm", &offset));
	assert_int_equal(offset, VCPU_KVM);
	assert_true(btf_member(&btf, "kvm_vcpu", "file.f_path.dentry", &offset));
	assert_int_equal(offset, VCPU_FILE + FILE_PATH + PATH_DENTRY);
	assert_true(btf_member(&btf, "file", "f_path.dentry", &offset));
	assert_int_equal(offset, FILE_PATH + PATH_DENTRY);
	assert_true(btf_member(&btf, "file", "f_path", &offset));
	assert_int_equal(offset, FILE_PATH);
	assert_true(btf_member(&btf, "kvm_vcpu", "fake", &offset));
	assert_false(btf_member(&btf, "file", "f_path.", &offset));
	assert_false(btf_member(&btf, "file", "f_mode.dentry", &offset));
	assert_false(btf_member(&btf, "file", "dentry", &offset));
	assert_false(btf_member(&base, "kvm_vcpu", "kvm", &offset));
	assert_true(btf_size(&btf, "file", &size));
	assert_int_equal(size, 0);
	assert_false(btf_size(&btf, "files", &size));
	btf_close(&btf);
	/* Another kernel's module. */
	of_module.data[of_module.size - 1] = 'x';
	assert_true(btf_open_module(&btf, &base, of_module.data, of_module.size));
	btf_member(&btf, "file", "f_path.dentry", &offset);
	btf_member(&btf, "kvm_vcpu", "file.f_path.dentry", &offset);
	btf_close(&btf);
	btf_close(&base);
	free(copies[0]);
	free(copies[1]);
	buffer_free(&of_kernel);
	buffer_free(&of_module);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_found),
		cmocka_unit_test(enumerators_are_found),
		cmocka_unit_test(damaged_types_are_refused),
		cmocka_unit_test(any_byte_may_be_wrong),
		cmocka_unit_test(a_search_ends),
		cmocka_unit_test(types_of_a_module_continue_the_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
