/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_HTML_COLUMNS_H
#define UNIPROF_OUTPUT_HTML_COLUMNS_H

#include <stdint.h>
#include <stdio.h>

/*
 * The data of a page: parts, each an HTML element with a gzip file in base 116
 * (output/write/base116.h), which decode.mjs decodes. No text of a recording is markup.
 * A part of numbers begins with the number of rows and consists of columns; each begins
 * with its size in bytes, and has a varint (format/buffer.h) for each row. "Signed"
 * numbers are zigzag varints. A "split" number has two columns, its lowest 7 bits and the
 * others, which deflate compresses better.
 *
 * samples, any number of times:
 *   time    signed and split: us, minus the time in the row before and, from the part's
 *           third row on, minus the time between its first two. 0 is the page's start
 *   thread  index in the list "threads" of part about
 *   state   enum vcpu_state
 *   exit    index in the list "exits" of part about plus 1; 0: in the guest's code
 *   stack   split: number of the call chain, in order of appearance
 *   weight  samples that it stands for, minus 1
 *   CPU     split: its CPU time, us
 *   wall    signed: its wall time, minus the time since the thread's sample before, us
 * waits, any number of times: what threads waited for
 *   from    signed and split: us since the end of the thread's wait before or, at first,
 *           since the page's start
 *   length  split: us
 *   thread  index in the list "wait_threads" of part about
 *   state   enum wait_state
 *   stack   split: number of the call chain, as that of a sample
 * tree, once:
 *   parent  the node's number minus its parent's; nodes are numbered from 1, and 0 is the
 *           root
 *   function  of the node, split: index in the list "functions"
 * stacks, once:
 *   node    signed: the call chain's node, minus the one in the row before
 * chunks, once: counts of the first recording, which change with its chunks
 *   time    signed: of the chunk's first sample, us, minus that in the row before
 *   rounds  number of rounds that its samples stand for
 *   paused  sum of the pauses, us
 *   missed  number of rounds that would have been too late
 * about, once: JSON, see about.c
 */
struct page_data;

/* Writes to @out, which keeps write errors. NULL if out of memory. */
struct page_data *page_data_new(FILE *out);
void page_data_free(struct page_data *data);

/* Columns, by part. */
enum {
	SAMPLE_TIME,
	SAMPLE_TIME_HIGH,
	SAMPLE_THREAD,
	SAMPLE_STATE,
	SAMPLE_EXIT,
	SAMPLE_STACK,
	SAMPLE_STACK_HIGH,
	SAMPLE_WEIGHT,
	SAMPLE_CPU,
	SAMPLE_CPU_HIGH,
	SAMPLE_WALL,
	SAMPLE_COLUMNS,

	WAIT_FROM = 0,
	WAIT_FROM_HIGH,
	WAIT_LENGTH,
	WAIT_LENGTH_HIGH,
	WAIT_THREAD,
	WAIT_STATE,
	WAIT_STACK,
	WAIT_STACK_HIGH,
	WAIT_COLUMNS,

	TREE_PARENT = 0,
	TREE_FUNCTION,
	TREE_FUNCTION_HIGH,
	TREE_COLUMNS,

	STACK_NODE = 0,
	STACK_COLUMNS,

	CHUNK_TIME = 0,
	CHUNK_ROUNDS,
	CHUNK_PAUSED,
	CHUNK_MISSED,
	CHUNK_COLUMNS,
};

/* Appends a number to a column of the next part. */
void page_data_put(struct page_data *data, unsigned int column, uint64_t value);
void page_data_put_signed(struct page_data *data, unsigned int column, int64_t value);
/* Appends a number to the column and the next one. */
void page_data_put_split(struct page_data *data, unsigned int column, uint64_t value);
/* Ends a row. Returns the number of rows in the part so far. */
uint32_t page_data_row(struct page_data *data);
/* Writes the part of @columns columns. @noise has a bit, 1 << column, for each in which
 * bytes hardly repeat themselves. -1 if out of memory, now or before. */
int page_data_write(struct page_data *data, const char *part, unsigned int columns,
		    unsigned int noise);

/* Writes a part of text. -1 if out of memory. */
int page_data_text(struct page_data *data, const char *part, const char *text,
		   size_t size);

/* Closes a stream of open_memstream(), whose text is @text. -1 if out of memory. */
int memory_close(FILE *stream, char *const *text);

#endif
