/* SPDX-License-Identifier: BSD-3-Clause */

/* Trees of nodes that are identified by their parents and keys. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/tree.h"

#define NODES 10000

static void nodes_are_found_again_with_any_number_of_roots(void **state)
{
	static const uint32_t counts[] = {1, 2, 16, 31, 32, 33, 1000};

	(void)state;
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		uint32_t roots = counts[c];
		struct tree tree;

		assert_int_equal(tree_init(&tree, roots), 0);
		for (uint32_t i = 1; i < NODES; i++) {
			uint32_t parent = i % 3 ? i % roots : tree.count / 2;

			assert_int_equal(tree_find(&tree, parent, i), TREE_NONE);
			assert_int_equal(tree_intern(&tree, parent, i), roots + i - 1);
			assert_int_equal(tree_intern(&tree, parent, i), roots + i - 1);
			assert_true(tree.count <= (1u << tree.slot_bits) / 2);
		}
		for (uint32_t i = roots; i < tree.count; i++) {
			const struct tree_node *node = &tree.nodes[i];

			assert_int_equal(tree_find(&tree, node->parent, node->key), i);
		}
		tree_free(&tree);
	}
}

static void a_cleared_tree_is_used_again(void **state)
{
	struct tree tree;

	(void)state;
	assert_int_equal(tree_init(&tree, 2), 0);
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < NODES; i++) {
			assert_int_equal(tree_find(&tree, 1, i + round), TREE_NONE);
			assert_int_equal(tree_intern(&tree, 1, i + round), 2 + i);
		}
		tree_clear(&tree, 2);
		assert_int_equal(tree.count, 2);
	}
	tree_free(&tree);
}

static void roots_are_their_own_parents(void **state)
{
	struct tree tree;

	(void)state;
	assert_int_equal(tree_init(&tree, 40), 0);
	assert_int_equal(tree.count, 40);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(tree.nodes[i].parent, i);
	tree_free(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_found_again_with_any_number_of_roots),
		cmocka_unit_test(a_cleared_tree_is_used_again),
		cmocka_unit_test(roots_are_their_own_parents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
