/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/code/code.h"

#include "tables/code/parts.h"

int unwind_table_add_code(struct unwind_builder *builder, const struct machine_code *code,
			  struct error *err)
{
	if (code->is_arm64 ? code_add_arm64(builder, code) : code_add_x86(builder, code))
		return error_set(err, "out of memory for the unwind table");
	return 0;
}
