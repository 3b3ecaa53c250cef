/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Makes the recordings of the command-line tests: reads a description and writes the
 * recording to standard output. The recording starts at the first line that describes
 * neither the recording nor a domain. The lines are:
 *
 *   info KEY VALUE              one of info_keys[], or host, tool, command ...
 *   domain INDEX ID TYPE CPU VCPUS NAME     TYPE, CPU: numbers of base/guest.h
 *   uuid HEX                    of the last domain
 *   unwound WAY ROWS FILES [BUILD-ID...]    of the last domain
 *   vmm NAME                    of the last domain
 *   at-events                   the last domain is sampled at events, without pauses
 *   linux ADDRESS               of the last domain: where its Linux kernel runs
 *   moves MOVE...               of the last domain: of the FILES
 *   spaces [NUMBER SPACE]...    of the last domain: address spaces of the FILES
 *
 *   sample TIME VCPU STATE END ADDRESS...   STATE, END: numbers of base/
 *   weight N                    of the samples that follow (default: 1)
 *   in INDEX                    domain of the samples that follow (default: 0)
 *   exit KIND DETAIL            of the samples that follow: enum exit_kind (default: 0)
 *   cpu-time NS                 of the samples that follow (default: unknown)
 *   frameless 1|0               whether the direct callers in the samples that follow
 *                               were found without a frame (default: 0)
 *   space NUMBER                address space of the samples that follow (default:
 *                               unknown)
 *   process PID COMM            pid and name of the process in that space (default, and
 *                               after each space: unknown)
 *   thread TID NAME             thread of the process (default, and after each space and
 *                               process: unknown)
 *   mapping TIME START SIZE OFFSET PATH [BUILD-ID]
 *                               of the process
 *   pause NS COUNT, lost N, missed N
 *   links PROVEN POSSIBLE IMPOSSIBLE UNKNOWN
 *   flush                       starts a new chunk
 *   many SAMPLES STACKS DEPTH FUNCTIONS     pseudo-random samples, always the same;
 *                               CPU times are below that of cpu-time
 *   wait FROM TO STATE END ADDRESS...       of the thread above; TO: 0 if it still goes
 *                               on; STATE: enum wait_state
 *   waits UNTIL PERIOD ROUNDS THREADS TORN UNREAD CPU-TIME
 *                               counts of the waits before; ends their chunk
 *   chunk TYPE HEX              an intact chunk with its place and the payload HEX
 *   bytes HEX                   raw bytes
 *   end REASON TIME             REASON: enum end_reason; without this line, no end
 *
 * Numbers are decimal, or hexadecimal with 0x; times are ns.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/chunk.h"
#include "format/writer.h"

#define MAX_DOMAINS 8

struct maker {
	struct recording_info info;
	struct recording_domain domains[MAX_DOMAINS];
	size_t domain_count;
	struct writer *writer; /* NULL until the recording starts */
	uint32_t weight, domain;
	uint64_t cpu_time;
	bool has_cpu_time;
	bool frameless;
	struct recording_process process;
	uint64_t exit;
	struct error err;
};

static const struct {
	const char *key;
	size_t offset;
} info_keys[] = {
	{"version", offsetof(struct recording_info, version)},
	{"domctl", offsetof(struct recording_info, domctl_version)},
	{"wall-start", offsetof(struct recording_info, wall_start)},
	{"start", offsetof(struct recording_info, monotonic_start)},
	{"frequency", offsetof(struct recording_info, frequency)},
	{"time-limit", offsetof(struct recording_info, time_limit)},
};

/* Removes and returns the next number. */
static uint64_t take_number(char **rest)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(*rest, &end, 0);
	if (end == *rest || errno) {
		fprintf(stderr, "make-recording: a number is missing before '%s'\n",
			*rest);
		exit(1);
	}
	*rest = end + strspn(end, " ");
	return value;
}

/* Removes and returns the next word. */
static char *take_word(char **rest)
{
	char *start = *rest, *end = start + strcspn(start, " ");

	*rest = end + strspn(end, " ");
	*end = 0;
	return start;
}

static void set_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static int set_info(struct maker *maker, char *rest)
{
	struct recording_info *info = &maker->info;
	const char *key = take_word(&rest);

	for (size_t i = 0; i < sizeof(info_keys) / sizeof(info_keys[0]); i++) {
		if (strcmp(info_keys[i].key, key) == 0) {
			uint64_t value = take_number(&rest);

			memcpy((char *)info + info_keys[i].offset, &value, sizeof(value));
			return 0;
		}
	}
	if (strcmp(key, "tool") == 0)
		set_text(info->tool, sizeof(info->tool), rest);
	else if (strcmp(key, "host") == 0)
		set_text(info->host, sizeof(info->host), rest);
	else if (strcmp(key, "command") == 0)
		set_text(info->command, sizeof(info->command), rest);
	else if (strcmp(key, "hypervisor") == 0)
		set_text(info->hypervisor, sizeof(info->hypervisor), rest);
	else if (strcmp(key, "event") == 0)
		set_text(info->event, sizeof(info->event), rest);
	else
		return error_set(&maker->err, "no info called %s", key);
	return 0;
}

static int add_domain(struct maker *maker, char *rest)
{
	struct recording_domain *domain = &maker->domains[maker->domain_count];

	if (maker->domain_count == MAX_DOMAINS)
		return error_set(&maker->err, "too many domains");
	domain->index = take_number(&rest);
	domain->id = take_number(&rest);
	domain->type = take_number(&rest);
	domain->cpu = take_number(&rest);
	domain->vcpus = take_number(&rest);
	domain->word = domain->cpu == CPU_X86_32 || domain->cpu == CPU_ARM32 ? 4 : 8;
	set_text(domain->name, sizeof(domain->name), rest);
	maker->domain_count++;
	return 0;
}

static void set_unwound(struct recording_domain *domain, char *rest)
{
	domain->unwind_way = take_number(&rest);
	domain->table_rows = take_number(&rest);
	set_text(domain->table_files, sizeof(domain->table_files), take_word(&rest));
	set_text(domain->build_ids, sizeof(domain->build_ids), rest);
}

/* Sets up to @size bytes. Returns their number. */
static size_t parse_hex(const char *text, uint8_t *to, size_t size)
{
	size_t count = 0;
	int used;

	while (count < size && sscanf(text, "%2hhx%n", &to[count], &used) == 1) {
		text += used;
		count++;
	}
	return count;
}

static int add_sample(struct maker *maker, char *rest)
{
	uint64_t addresses[RECORDING_MAX_DEPTH];
	struct sample sample = {
		.domain = maker->domain,
		.weight = maker->weight,
		.cpu_time = maker->cpu_time,
		.has_cpu_time = maker->has_cpu_time,
		.chain.frameless = maker->frameless,
		.process = maker->process,
		.exit = maker->exit,
	};

	sample.chain.address = addresses;
	sample.time = take_number(&rest);
	sample.vcpu = (uint32_t)take_number(&rest);
	sample.state = (uint8_t)take_number(&rest);
	sample.chain.end = (enum chain_end)take_number(&rest);
	while (*rest && sample.chain.count < RECORDING_MAX_DEPTH)
		addresses[sample.chain.count++] = take_number(&rest);
	return writer_sample(maker->writer, &sample, &maker->err);
}

static int add_wait(struct maker *maker, char *rest)
{
	uint64_t addresses[RECORDING_MAX_DEPTH];
	struct wait wait = {.domain = maker->domain, .process = maker->process};

	wait.chain.address = addresses;
	wait.from = take_number(&rest);
	wait.to = take_number(&rest);
	wait.is_over = wait.to;
	wait.state = (uint8_t)take_number(&rest);
	wait.chain.end = (enum chain_end)take_number(&rest);
	while (*rest && wait.chain.count < RECORDING_MAX_DEPTH)
		addresses[wait.chain.count++] = take_number(&rest);
	return writer_wait(maker->writer, &wait, &maker->err);
}

static int end_waits(struct maker *maker, char *rest)
{
	struct waits_counts *counts = writer_waits_counts(maker->writer);

	counts->until = take_number(&rest);
	counts->period = take_number(&rest);
	counts->rounds = take_number(&rest);
	counts->threads = take_number(&rest);
	counts->torn = take_number(&rest);
	counts->unread = take_number(&rest);
	counts->cpu_time = take_number(&rest);
	writer_waits(maker->writer);
	return writer_flush(maker->writer, &maker->err);
}

static int add_mapping(struct maker *maker, char *rest)
{
	uint8_t build_id[RECORDING_MAX_BUILD_ID];
	struct recording_mapping mapping = {
		.domain = maker->domain,
		.pid = maker->process.pid,
		.space = maker->process.space,
		.time = take_number(&rest),
		.start = take_number(&rest),
		.size = take_number(&rest),
		.offset = take_number(&rest),
	};

	mapping.path.at = take_word(&rest);
	mapping.path.length = strlen(mapping.path.at);
	mapping.build_id.at = (const char *)build_id;
	mapping.build_id.length = strlen(rest) / 2;
	if (mapping.build_id.length > sizeof(build_id))
		return error_set(&maker->err, "the build-id is too long");
	parse_hex(rest, build_id, mapping.build_id.length);
	return writer_mapping(maker->writer, &mapping, &maker->err);
}

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators, scrambled"). */
static uint64_t random_number(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717u;
}

static uint64_t random_address(uint64_t *state, uint64_t functions)
{
	return 0x100000 + random_number(state) % functions * 256 +
	       random_number(state) % 8 * 16 + 1;
}

/* Adds samples of stacks that share callers with each other, most of a few stacks. */
static int add_many(struct maker *maker, char *rest)
{
	uint64_t samples = take_number(&rest), stacks = take_number(&rest);
	uint64_t depth = take_number(&rest), functions = take_number(&rest);
	uint64_t *addresses = calloc(stacks * depth, sizeof(*addresses));
	uint64_t state = 88172645463325252u;
	int status = addresses ? 0 : error_set(&maker->err, "out of memory");

	for (uint64_t i = 0; addresses && i < stacks; i++) {
		uint64_t *stack = addresses + i * depth;
		uint64_t own = i ? 1 + random_number(&state) % depth : depth;

		if (i) /* callers come last */
			memcpy(stack, addresses + random_number(&state) % i * depth,
			       depth * sizeof(*stack));
		for (uint64_t j = 0; j < own; j++)
			stack[j] = random_address(&state, functions);
	}
	for (uint64_t i = 0; i < samples && status == 0; i++) {
		double at = (double)(random_number(&state) >> 11) / 9007199254740992.0;
		struct sample sample = {
			.time = maker->info.monotonic_start + i * 250000 +
				random_number(&state) % 20000,
			.domain = maker->domain,
			.vcpu = (uint32_t)(i % 4),
			.cpu_time = maker->cpu_time
					    ? random_number(&state) % maker->cpu_time
					    : 0,
			.has_cpu_time = maker->has_cpu_time,
			.state = VCPU_RUNNING,
			.exit = maker->exit,
			.weight = 1,
			.chain.address = addresses +
					 (uint64_t)(at * at * (double)stacks) * depth,
			.chain.count = (uint32_t)depth,
		};

		status = writer_sample(maker->writer, &sample, &maker->err);
	}
	free(addresses);
	return status;
}

static int write_bytes(struct maker *maker, const void *data, size_t size)
{
	if (write(STDOUT_FILENO, data, size) != (ssize_t)size)
		return error_errno(&maker->err, errno, "can't write");
	return 0;
}

static int add_raw(struct maker *maker, const char *kind, char *rest)
{
	struct buffer payload = {0}, file = {0};
	enum chunk_type type = CHUNK_NONE;
	uint8_t bytes[4096];
	size_t size;
	int status;

	if (writer_flush(maker->writer, &maker->err) < 0)
		return -1;
	if (strcmp(kind, "chunk") == 0)
		type = (enum chunk_type)take_number(&rest);
	size = parse_hex(rest, bytes, sizeof(bytes));
	if (type == CHUNK_NONE)
		return write_bytes(maker, bytes, size);
	writer_begin(maker->writer, &payload);
	buffer_put(&payload, bytes, size);
	status = chunk_encode(&file, type, &payload);
	if (status == 0)
		status = write_bytes(maker, file.data, file.size);
	buffer_free(&payload);
	buffer_free(&file);
	return status;
}

/* Starts the recording unless it has started. */
static int start_recording(struct maker *maker)
{
	if (!maker->writer)
		maker->writer = writer_new(STDOUT_FILENO, &maker->info, maker->domains,
					   maker->domain_count, &maker->err);
	return maker->writer ? 0 : -1;
}

static int add_pauses(struct maker *maker, char *rest)
{
	uint64_t ns = take_number(&rest), count = take_number(&rest);

	while (count--)
		pauses_add(&writer_counts(maker->writer)->pauses, ns);
	return 0;
}

static int add_links(struct maker *maker, char *rest)
{
	uint64_t *links = writer_counts(maker->writer)->links;

	links[LINK_PROVEN] += take_number(&rest);
	links[LINK_POSSIBLE] += take_number(&rest);
	links[LINK_IMPOSSIBLE] += take_number(&rest);
	links[LINK_UNKNOWN] += take_number(&rest);
	return 0;
}

static int add_end(struct maker *maker, char *rest)
{
	struct recording_end end = {.reason = take_number(&rest),
				    .monotonic = take_number(&rest)};

	return writer_end(maker->writer, &end, &maker->err);
}

static void set_process(struct maker *maker, char *rest)
{
	struct recording_process *process = &maker->process;

	process->pid = (uint32_t)take_number(&rest);
	memset(process->comm, 0, sizeof(process->comm));
	strncpy(process->comm, rest, sizeof(process->comm) - 1);
	process->tid = 0;
	memset(process->thread, 0, sizeof(process->thread));
}

static void set_thread(struct maker *maker, char *rest)
{
	struct recording_process *process = &maker->process;

	process->tid = take_number(&rest);
	memset(process->thread, 0, sizeof(process->thread));
	strncpy(process->thread, rest, sizeof(process->thread) - 1);
}

static int take_line(struct maker *maker, char *rest)
{
	const char *kind = take_word(&rest);

	if (!*kind || *kind == '#')
		return 0;
	if (strcmp(kind, "info") == 0)
		return set_info(maker, rest);
	if (strcmp(kind, "domain") == 0)
		return add_domain(maker, rest);
	if (strcmp(kind, "unwound") == 0 && maker->domain_count) {
		set_unwound(&maker->domains[maker->domain_count - 1], rest);
		return 0;
	}
	if (strcmp(kind, "vmm") == 0 && maker->domain_count) {
		struct recording_domain *last = &maker->domains[maker->domain_count - 1];

		set_text(last->vmm, sizeof(last->vmm), rest);
		return 0;
	}
	if (strcmp(kind, "at-events") == 0 && maker->domain_count) {
		maker->domains[maker->domain_count - 1].has_events = 1;
		return 0;
	}
	if (strcmp(kind, "linux") == 0 && maker->domain_count) {
		maker->domains[maker->domain_count - 1].linux_text = take_number(&rest);
		return 0;
	}
	if (strcmp(kind, "moves") == 0 && maker->domain_count) {
		struct recording_domain *last = &maker->domains[maker->domain_count - 1];

		for (size_t i = 0; i < RECORDING_MOVES && *rest; i++)
			last->moves[i] = take_number(&rest);
		return 0;
	}
	if (strcmp(kind, "spaces") == 0 && maker->domain_count) {
		struct recording_domain *last = &maker->domains[maker->domain_count - 1];

		for (size_t i = 0; i < 2 * RECORDING_SPACES && *rest; i++)
			last->spaces[i] = take_number(&rest);
		return 0;
	}
	if (strcmp(kind, "uuid") == 0 && maker->domain_count) {
		parse_hex(rest, maker->domains[maker->domain_count - 1].uuid, 16);
		return 0;
	}
	if (start_recording(maker) < 0)
		return -1;
	if (strcmp(kind, "sample") == 0)
		return add_sample(maker, rest);
	if (strcmp(kind, "mapping") == 0)
		return add_mapping(maker, rest);
	if (strcmp(kind, "wait") == 0)
		return add_wait(maker, rest);
	if (strcmp(kind, "waits") == 0)
		return end_waits(maker, rest);
	if (strcmp(kind, "many") == 0)
		return add_many(maker, rest);
	if (strcmp(kind, "pause") == 0)
		return add_pauses(maker, rest);
	if (strcmp(kind, "links") == 0)
		return add_links(maker, rest);
	if (strcmp(kind, "chunk") == 0 || strcmp(kind, "bytes") == 0)
		return add_raw(maker, kind, rest);
	if (strcmp(kind, "flush") == 0)
		return writer_flush(maker->writer, &maker->err);
	if (strcmp(kind, "end") == 0)
		return add_end(maker, rest);
	if (strcmp(kind, "weight") == 0)
		maker->weight = (uint32_t)take_number(&rest);
	else if (strcmp(kind, "cpu-time") == 0) {
		maker->cpu_time = take_number(&rest);
		maker->has_cpu_time = true;
	} else if (strcmp(kind, "frameless") == 0)
		maker->frameless = take_number(&rest);
	else if (strcmp(kind, "space") == 0)
		maker->process = (struct recording_process){.space = take_number(&rest)};
	else if (strcmp(kind, "process") == 0)
		set_process(maker, rest);
	else if (strcmp(kind, "thread") == 0)
		set_thread(maker, rest);
	else if (strcmp(kind, "exit") == 0) {
		maker->exit = take_number(&rest);
		maker->exit |= take_number(&rest) << 4;
	} else if (strcmp(kind, "in") == 0)
		maker->domain = (uint32_t)take_number(&rest);
	else if (strcmp(kind, "lost") == 0)
		writer_counts(maker->writer)->lost += take_number(&rest);
	else if (strcmp(kind, "missed") == 0)
		writer_counts(maker->writer)->missed += take_number(&rest);
	else
		return error_set(&maker->err, "unknown keyword %s", kind);
	return 0;
}

int main(void)
{
	struct maker maker = {.info.version = RECORDING_VERSION, .weight = 1};
	char line[8192];
	int status = 0;

	while (status == 0 && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		status = take_line(&maker, line + strspn(line, " \t"));
	}
	if (status == 0)
		status = start_recording(&maker);
	if (status == 0)
		status = writer_flush(maker.writer, &maker.err);
	if (status < 0)
		fprintf(stderr, "make-recording: %s\n", maker.err.text);
	writer_free(maker.writer);
	return status < 0;
}
