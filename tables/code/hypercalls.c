/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/code/code.h"

#include <string.h>

#define STUB_SIZE 32
#define PAGE_SIZE 4096

/* A page with so many stubs is taken for one of hypercalls. Xen fills in all 128, or as
 * many as it has hypercalls. */
#define STUBS_MIN 24

/* mov of the hypercall's number, after push rcx and push r11 in guests without their own
 * page tables. The stub of iret is not a function: it pushes another register. */
static const uint8_t *find_mov(const uint8_t *stub)
{
	static const uint8_t pushes[] = {0x51, 0x41, 0x53};
	size_t at = memcmp(stub, pushes, sizeof(pushes)) == 0 ? sizeof(pushes) : 0;

	return stub[at] == 0xb8 ? stub + at : NULL;
}

bool unwind_is_hypercall_page(const uint8_t *page)
{
	unsigned int stubs = 0;

	for (unsigned int i = 0; i < PAGE_SIZE / STUB_SIZE; i++) {
		const uint8_t number[] = {0xb8, (uint8_t)i, 0, 0, 0};
		const uint8_t *mov = find_mov(page + (size_t)i * STUB_SIZE);

		stubs += mov && memcmp(mov, number, sizeof(number)) == 0;
	}
	return stubs >= STUBS_MIN;
}

int unwind_table_add_hypercalls(struct unwind_builder *builder, const uint8_t *page,
				uint64_t address, struct error *err)
{
	struct unwind_function stubs[PAGE_SIZE / STUB_SIZE];
	struct unwind_code code = {
		.bytes = page,
		.size = PAGE_SIZE,
		.address = address,
		.functions = stubs,
	};

	for (size_t at = 0; at < PAGE_SIZE; at += STUB_SIZE)
		if (find_mov(page + at))
			stubs[code.count++] = (struct unwind_function){
				address + at, STUB_SIZE, UNWIND_PART_FUNCTION};
	return unwind_table_add_code(builder, &code, err);
}
