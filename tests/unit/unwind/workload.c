/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Real code for test_x86_leaves.c and test_x86_table.c, built like a program: draws,
 * packs, unpacks, scales and tiles images; sorts and looks up text and hashes. Most
 * functions are static, so that symbols tell them from functions of the C library.
 */

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#define STBIWDEF static
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#define STB_IMAGE_RESIZE_STATIC
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb/stb_image_resize.h>
#define STB_PERLIN_IMPLEMENTATION
#include <stb/stb_perlin.h>
#define STB_DXT_STATIC
#define STB_DXT_IMPLEMENTATION
#include <stb/stb_dxt.h>
#define STB_SPRINTF_STATIC
#define STB_SPRINTF_IMPLEMENTATION
#include <stb/stb_sprintf.h>
#define STB_RECT_PACK_IMPLEMENTATION
#define STBRP_STATIC
#include <stb/stb_rect_pack.h>
#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include <xxhash.h>

#define SIDE 8

struct packed {
	unsigned char bytes[65536];
	int size;
};

static void write_packed(void *context, void *data, int size)
{
	struct packed *to = context;

	if (to->size + size <= (int)sizeof(to->bytes))
		memcpy(to->bytes + to->size, data, (size_t)size);
	to->size += size;
}

static int compare_bytes(const void *a, const void *b)
{
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

static __attribute__((noinline)) uint64_t hash(const void *data, size_t size)
{
	return XXH64(data, size, 1) ^ XXH32(data, size, 2) ^ XXH3_64bits(data, size);
}

/* Code between two calls of mark() runs without steps (process_step()). It does not call
 * kill(), so that the calls that have not returned are the same at both. */
static inline __attribute__((always_inline)) void mark(pid_t self)
{
	long result = SYS_kill;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(self), "S"(SIGURG)
			 : "rcx", "r11", "memory");
}

int main(void)
{
	static unsigned char image[SIDE * SIDE * 3], small[SIDE * SIDE * 3], block[16];
	static struct packed png, jpeg;
	unsigned char *again, *blocks = image;
	char text[200];
	uint64_t sum = 0;
	int x, y, channels;
	pid_t self = getpid();

	/* The first call of stb_dxt.h 1.10 (Debian 11) makes tables, in 26 million
	 * instructions. */
	mark(self);
	stb_compress_dxt_block(block, blocks, 0, STB_DXT_HIGHQUAL);
	mark(self);
	for (int i = 0; i < SIDE * SIDE * 3; i += 2)
		image[i] = (unsigned char)(128 + 100 * stb_perlin_noise3((float)i / 17,
									 (float)i / 5, 0,
									 0, 0, 0));
	/* A third of all instructions would be loops that clear and free a hash table. */
	mark(self);
	stbi_write_png_to_func(write_packed, &png, SIDE, SIDE, 3, image, SIDE * 3);
	mark(self);
	stbi_write_jpg_to_func(write_packed, &jpeg, SIDE, SIDE, 3, image, 80);
	again = stbi_load_from_memory(png.bytes, png.size, &x, &y, &channels, 3);
	if (!again || memcmp(again, image, sizeof(image)) != 0)
		return 1;
	free(again);
	again = stbi_load_from_memory(jpeg.bytes, jpeg.size, &x, &y, &channels, 3);
	if (!again)
		return 1;
	stbir_resize_uint8(again, SIDE, SIDE, 0, small, SIDE / 2, SIDE / 2, 0, 3);
	for (int i = 0; i < 2; i++) {
		stb_compress_dxt_block(block, blocks + i * 64, 0, STB_DXT_HIGHQUAL);
		sum += hash(block, sizeof(block));
	}
	free(again);
	for (size_t size = 0; size <= 160; size = size * 3 + 13)
		sum += hash(image, size);
	for (int i = 0; i < 4; i++)
		sum += (uint64_t)stbsp_snprintf(
			text, sizeof(text), "%d %08x %s %g %.3f %lld", i * 7919, i,
			"text", i / 3.0, i * 1e10, (long long)sum);
	qsort(small, sizeof(small) / 3, 1, compare_bytes);
	return sum == 0;
}
