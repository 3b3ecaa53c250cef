/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_FORMAT_TEST_RECORDED_NAME_H
#define UNIPROF_TESTS_UNIT_FORMAT_TEST_RECORDED_NAME_H

/* Initializers for the names of a recording, from string literals. */

#define TEXT(text)                     \
	{                              \
		text, sizeof(text) - 1 \
	}

#define NAME(domain_, address_, offset_, name_, dso_)                            \
	{                                                                        \
		.domain = (domain_), .address = (address_), .offset = (offset_), \
		.name = TEXT(name_), .dso = TEXT(dso_)                           \
	}

#endif
