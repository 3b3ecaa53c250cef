/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/html/columns.h"

#include <stdbool.h>
#include <stdlib.h>

#include "format/buffer.h"
#include "output/write/base116.h"
#include "output/write/gzip.h"

struct page_data {
	FILE *out;
	uint32_t rows;
	struct buffer columns[SAMPLE_COLUMNS];
};

struct page_data *page_data_new(FILE *out)
{
	struct page_data *data = calloc(1, sizeof(*data));

	if (data)
		data->out = out;
	return data;
}

void page_data_free(struct page_data *data)
{
	if (!data)
		return;
	for (unsigned int i = 0; i < SAMPLE_COLUMNS; i++)
		buffer_free(&data->columns[i]);
	free(data);
}

void page_data_put(struct page_data *data, unsigned int column, uint64_t value)
{
	buffer_put_varint(&data->columns[column], value);
}

void page_data_put_signed(struct page_data *data, unsigned int column, int64_t value)
{
	buffer_put_signed(&data->columns[column], value);
}

void page_data_put_split(struct page_data *data, unsigned int column, uint64_t value)
{
	page_data_put(data, column, value % 128);
	page_data_put(data, column + 1, value / 128);
}

uint32_t page_data_row(struct page_data *data)
{
	return ++data->rows;
}

/* The gzip file of a part while it is made. */
struct part {
	char *file;
	size_t size;
	FILE *to; /* writes to the file; NULL: out of memory */
	struct gzip *gzip;
};

int memory_close(FILE *stream, char *const *text)
{
	bool failed = ferror(stream);

	/* glibc's fclose() reports no failure, but sets the text to NULL. */
	return fclose(stream) != 0 || failed || !*text ? -1 : 0;
}

static int part_begin(struct part *part)
{
	*part = (struct part){0};
	part->to = open_memstream(&part->file, &part->size);
	part->gzip = part->to ? gzip_new(part->to, GZIP_FAST) : NULL;
	return part->gzip ? 0 : -1;
}

static void part_put_buffer(const struct part *part, const struct buffer *buffer)
{
	gzip_put(part->gzip, buffer->data, buffer->size);
}

/* Ends the part and, unless @status is -1, writes it. -1 if out of memory. */
static int part_end(struct part *part, const char *name, FILE *out, int status)
{
	if (part->gzip && status == 0)
		gzip_end(part->gzip);
	gzip_free(part->gzip);
	if (part->to && memory_close(part->to, &part->file) < 0)
		status = -1;
	if (status == 0) {
		fprintf(out, "<script type=\"application/gzip\" data-part=\"%s\">", name);
		base116_write(out, part->file, part->size);
		fputs("</script>\n", out);
	}
	free(part->file);
	return status;
}

/* Adds a number to the part. -1 if out of memory. */
static int part_put_number(const struct part *part, uint64_t value)
{
	struct buffer number = {0};
	int status;

	buffer_put_varint(&number, value);
	status = number.failed ? -1 : 0;
	if (status == 0)
		part_put_buffer(part, &number);
	buffer_free(&number);
	return status;
}

int page_data_write(struct page_data *data, const char *part, unsigned int columns,
		    unsigned int noise)
{
	struct part file;
	int status = part_begin(&file);

	if (status == 0)
		status = part_put_number(&file, data->rows);
	for (unsigned int i = 0; i < columns && status == 0; i++) {
		struct buffer *column = &data->columns[i];

		status = column->failed ? -1 : part_put_number(&file, column->size);
		if (status == 0) {
			gzip_begin_block(file.gzip, noise >> i & 1);
			part_put_buffer(&file, column);
		}
		buffer_reset(column);
	}
	data->rows = 0;
	return part_end(&file, part, data->out, status);
}

int page_data_text(struct page_data *data, const char *part, const char *text,
		   size_t size)
{
	struct part file;
	int status = part_begin(&file);

	if (status == 0)
		gzip_put(file.gzip, text, size);
	return part_end(&file, part, data->out, status);
}
