/* SPDX-License-Identifier: BSD-3-Clause */

/* Kernels in boot images, compressed by the formats that have no tool or test elsewhere:
 * damaged, and much larger than they should be. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lzma.h>
#ifdef HAVE_BZIP2
#include <bzlib.h>
#endif
#ifdef HAVE_LZ4
#include <lz4.h>
#endif

#include "symbols/elf/unpack.h"

#define BLOCK	    ((size_t)8 << 20)
#define IMAGE_START 1024
#define PACKED_ROOM ((size_t)4 << 20)
/* unpack_limit() of small images, in blocks */
#define BLOCKS_MAX 8

/* A compressed kernel. */
struct kernel {
	uint8_t *packed;
	size_t size;
};

static void number_put(uint8_t *to, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(number >> 8 * i);
}

#ifdef HAVE_LZ4
/* The format is the legacy frame, see symbols/elf/decompress.c. */
static void pack_lz4(struct kernel *kernel, const uint8_t *data, size_t size)
{
	number_put(kernel->packed, 0x184c2102);
	kernel->size = 4;
	for (size_t at = 0; at < size; at += BLOCK) {
		size_t length = size - at < BLOCK ? size - at : BLOCK;
		uint8_t *to = kernel->packed + kernel->size;
		int packed = LZ4_compress_default((const char *)data + at, (char *)to + 4,
						  (int)length,
						  (int)(PACKED_ROOM - kernel->size - 4));

		assert_true(packed > 0);
		number_put(to, (uint32_t)packed);
		kernel->size += 4 + (size_t)packed;
	}
}
#endif

#ifdef HAVE_BZIP2
static void pack_bzip2(struct kernel *kernel, const uint8_t *data, size_t size)
{
	unsigned int packed = PACKED_ROOM;

	assert_int_equal(BZ2_bzBuffToBuffCompress((char *)kernel->packed, &packed,
						  (char *)(uintptr_t)data,
						  (unsigned int)size, 9, 0, 0),
			 BZ_OK);
	kernel->size = packed;
}
#endif

static void pack_lzma(struct kernel *kernel, const uint8_t *data, size_t size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_options_lzma options;

	assert_false(lzma_lzma_preset(&options, 1));
	assert_int_equal(lzma_alone_encoder(&stream, &options), LZMA_OK);
	stream.next_in = data;
	stream.avail_in = size;
	stream.next_out = kernel->packed;
	stream.avail_out = PACKED_ROOM;
	assert_int_equal(lzma_code(&stream, LZMA_FINISH), LZMA_STREAM_END);
	kernel->size = PACKED_ROOM - stream.avail_out;
	lzma_end(&stream);
}

static const struct {
	const char *name;
	void (*pack)(struct kernel *kernel, const uint8_t *data, size_t size);
} formats[] = {
#ifdef HAVE_LZ4
	{"lz4", pack_lz4},
#endif
#ifdef HAVE_BZIP2
	{"bzip2", pack_bzip2},
#endif
	{"lzma", pack_lzma},
};

/* Makes a boot image of the compressed kernel, and unpacks it. */
static int unpack_kernel(const struct kernel *kernel, struct symbols_source *source,
			 struct error *err)
{
	uint8_t *image = calloc(1, IMAGE_START + kernel->size + 4);

	assert_non_null(image);
	image[0x1f1] = 1;
	memcpy(image + 0x202, "HdrS\x0f\x02", 6);
	number_put(image + 0x24c, (uint32_t)kernel->size + 4);
	memcpy(image + IMAGE_START, kernel->packed, kernel->size);
	*source = (struct symbols_source){image, IMAGE_START + kernel->size + 4, false};
	return unpack_boot_image(source, "vmlinuz", err);
}

static void kernels_are_unpacked(void **state)
{
	size_t size = BLOCK + 12345;
	uint8_t *data = calloc(1, size);
	struct kernel kernel = {.packed = malloc(PACKED_ROOM)};

	(void)state;
	assert_non_null(data);
	assert_non_null(kernel.packed);
	for (size_t i = 0; i < size; i++)
		data[i] = (uint8_t)(i >> 8);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct symbols_source source;
		struct error err;

		formats[i].pack(&kernel, data, size);
		assert_int_equal(unpack_kernel(&kernel, &source, &err), 0);
		assert_int_equal(source.size, size);
		assert_memory_equal(source.data, data, size);
		symbols_source_close(&source);
	}
	free(kernel.packed);
	free(data);
}

static void damaged_kernels_are_refused(void **state)
{
	uint8_t *data = calloc(1, BLOCK);
	struct kernel kernel = {.packed = malloc(PACKED_ROOM)};

	(void)state;
	assert_non_null(data);
	assert_non_null(kernel.packed);
	for (size_t i = 0; i < BLOCK; i++)
		data[i] = (uint8_t)(i * i >> 7);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct symbols_source source;
		struct error err;

		formats[i].pack(&kernel, data, BLOCK);
		for (size_t cut = 1; cut < kernel.size; cut += kernel.size / 7 + 1) {
			const struct kernel truncated = {kernel.packed,
							 kernel.size - cut};

			assert_int_equal(unpack_kernel(&truncated, &source, &err), -1);
			assert_non_null(strstr(err.text, formats[i].name));
			symbols_source_close(&source);
		}
	}
	free(kernel.packed);
	free(data);
}

static void kernels_that_expand_too_much_are_refused(void **state)
{
	uint8_t *data = calloc(BLOCKS_MAX + 1, BLOCK);
	struct kernel kernel = {.packed = malloc(PACKED_ROOM)};

	(void)state;
	assert_non_null(data);
	assert_non_null(kernel.packed);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct symbols_source source;
		struct error err;

		formats[i].pack(&kernel, data, BLOCKS_MAX * BLOCK + 1);
		assert_int_equal(unpack_limit(kernel.size), BLOCKS_MAX * BLOCK);
		assert_int_equal(unpack_kernel(&kernel, &source, &err), -1);
		assert_non_null(strstr(err.text, "larger than 64 MiB"));
		symbols_source_close(&source);
	}
	free(kernel.packed);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_are_unpacked),
		cmocka_unit_test(damaged_kernels_are_refused),
		cmocka_unit_test(kernels_that_expand_too_much_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
