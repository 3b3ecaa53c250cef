/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The output of xenctx (Xen, tools/xentrace/xenctx.c: print_ctx_*(), print_stack(),
 * dump_all_vcpus()), any number of times. For each vCPU: optionally "vcpuN:", then the
 * registers with the instruction pointer, then "Call Trace:" or "Stack Trace:" and lines
 * with [<ADDRESS>] and optionally a name, innermost first. An arrow after the first
 * marks the sampled instruction. Other lines, such as stack words, are skipped.
 *
 * Without its option -f, xenctx prints all words on the stack that look like return
 * addresses, which is not a call chain.
 */
#include "import/format.h"

#include <string.h>

#include "import/scan.h"

struct vcpu {
	uint32_t number;
	bool is_open;  /* within a sample */
	bool in_trace; /* the next lines are frames of the sample */
};

/* Finds the address and name of the instruction after the register's name. */
static bool find_instruction(struct recording_text line, struct recording_text *rest)
{
	if (scan_past(&line, "cs:eip: ")) {
		const char *colon = memchr(line.at, ':', line.length);

		if (!colon)
			return false;
		line.length -= (size_t)(colon + 1 - line.at);
		line.at = colon + 1;
	} else if (!scan_past(&line, "rip: ") && !scan_past(&line, "PC:  ")) {
		return false;
	}
	*rest = line;
	return true;
}

/* Parses "vcpuN:" or "vcpuN offline". */
static bool find_vcpu(struct recording_text line, uint64_t *number)
{
	struct recording_text word;

	if (!scan_past(&line, "vcpu"))
		return false;
	word = scan_word(&line);
	if (word.length && word.at[word.length - 1] == ':')
		word.length--;
	else if (!scan_is(line, "offline"))
		return false;
	return scan_decimal(word, number);
}

static bool is_trace(struct recording_text line)
{
	line = scan_trim(line);
	return scan_is(line, "Call Trace:") || scan_is(line, "Stack Trace:");
}

static bool xenctx_recognize(struct recording_text line)
{
	struct recording_text rest;
	uint64_t number;

	return find_instruction(line, &rest) || find_vcpu(line, &number) ||
	       is_trace(line);
}

static int close_sample(struct vcpu *vcpu, struct importer *importer, struct error *err)
{
	bool was_open = vcpu->is_open;

	*vcpu = (struct vcpu){0};
	return was_open ? importer_sample(importer, 1, CHAIN_WHOLE, err) : 0;
}

/* Adds a frame. @rest is NAME, NAME+0xOFFSET or empty. */
static int take_frame(struct importer *importer, struct recording_text address,
		      struct recording_text rest, struct error *err)
{
	struct import_frame frame = {.has_address = true};

	if (!scan_hex(address, &frame.address))
		return error_set(err, "expected an address");
	rest = scan_trim(rest);
	if (!scan_name_offset(rest, &frame.name, &frame.offset))
		frame.name = rest;
	return importer_frame(importer, &frame, err);
}

static int open_sample(struct vcpu *vcpu, struct importer *importer,
		       struct recording_text rest, struct error *err)
{
	static const char domain[] = "imported";
	struct import_place place = {.domain = {domain, sizeof(domain) - 1}};
	struct recording_text address = scan_word(&rest);

	if (vcpu->is_open && close_sample(vcpu, importer, err) < 0)
		return -1;
	place.vcpu = vcpu->number;
	vcpu->is_open = true;
	if (importer_begin(importer, &place, err) < 0)
		return -1;
	return take_frame(importer, address, rest, err);
}

static bool is_instruction(struct recording_text rest)
{
	return rest.length >= 4 && !memcmp(rest.at + rest.length - 4, " <--", 4);
}

/* Takes a line of the trace: frames contain [<ADDRESS>]. */
static int take_trace(struct importer *importer, struct recording_text line,
		      struct error *err)
{
	const char *from = memmem(line.at, line.length, "[<", 2), *to;
	struct recording_text address, rest;

	if (!from)
		return 0;
	from += 2;
	rest = (struct recording_text){from, (size_t)(line.at + line.length - from)};
	to = memmem(from, rest.length, ">]", 2);
	if (!to)
		return error_set(err, "expected [<ADDRESS>]");
	address = (struct recording_text){from, (size_t)(to - from)};
	rest.length -= address.length + 2;
	rest.at = to + 2;
	/* The sampled instruction is known from the registers. */
	if (is_instruction(rest))
		return 0;
	return take_frame(importer, address, rest, err);
}

static int read_line(struct vcpu *vcpu, struct importer *importer,
		     struct recording_text line, struct error *err)
{
	struct recording_text rest;
	uint64_t number;

	if (find_vcpu(line, &number)) {
		if (number > RECORDING_MAX_VCPU)
			return error_set(err, "the vCPU number is too large");
		if (close_sample(vcpu, importer, err) < 0)
			return -1;
		vcpu->number = (uint32_t)number;
		return 0;
	}
	if (find_instruction(line, &rest))
		return open_sample(vcpu, importer, rest, err);
	if (is_trace(line)) {
		if (!vcpu->is_open)
			return error_set(err, "no registers before the trace");
		vcpu->in_trace = true;
		return 0;
	}
	return vcpu->in_trace ? take_trace(importer, line, err) : 0;
}

/* Takes a line. An invalid line drops the sample of its vCPU. */
static int take_line(void *state, struct importer *importer, struct recording_text line,
		     struct error *err)
{
	struct vcpu *vcpu = state;

	if (read_line(vcpu, importer, line, err) == 0)
		return 0;
	vcpu->is_open = vcpu->in_trace = false;
	return -1;
}

static int xenctx_end(void *state, struct importer *importer,
		      struct import_result *result, struct error *err)
{
	(void)result;
	return close_sample(state, importer, err);
}

const struct import_format import_xenctx = {
	.name = "xenctx",
	.about = "the output of xenctx, any number of times",
	.recognize = xenctx_recognize,
	.state_size = sizeof(struct vcpu),
	.line = take_line,
	.end = xenctx_end,
};
