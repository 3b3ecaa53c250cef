/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/domains.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool domain_is(const struct recording_domain *domain, const char *what)
{
	return domain_is_called(domain, what, strlen(what));
}

void domain_name_host(struct recording_domain *domain, const char *host)
{
	char name[256 + sizeof(domain->name) + 32];
	size_t length, excess;

	if (*domain->name)
		snprintf(name, sizeof(name), "%s/%s", host, domain->name);
	else
		snprintf(name, sizeof(name), "%s/domain-%" PRIu64, host, domain->id);
	/* If the name is too long, its end matters more. */
	length = strlen(name) + 1;
	excess = length > sizeof(domain->name) ? length - sizeof(domain->name) : 0;
	memcpy(domain->name, name + excess, length - excess);
}

bool domain_has_table(const struct recording_domain *domain)
{
	return domain->unwind_way == UNWIND_BY_TABLE ||
	       domain->unwind_way == UNWIND_BY_TABLE_LATER;
}

/* Whether @name, of @length bytes, names the file called @own. Names of 63 bytes may have
 * been truncated (struct table_origin), and an offset may follow a file's own. */
static bool is_named(const char *own, const char *name, size_t length)
{
	return strncmp(own, name, length) == 0 &&
	       (!own[length] || own[length] == '@' || length >= 63);
}

int domain_table_file(const struct recording_domain *domain, const char *path)
{
	const char *slash = strrchr(path, '/'), *own = slash ? slash + 1 : path;
	const char *name = domain->table_files;
	int found = -1;

	if (strlen(name) + 1 >= sizeof(domain->table_files))
		return DOMAIN_FILES;
	for (int number = 0; *name; number++) {
		size_t length = strcspn(name, ",");

		if (is_named(own, name, length))
			found = found < 0 ? number : DOMAIN_FILES;
		name += length + strspn(name + length, ", ");
	}
	return found;
}

bool domain_in_list(const struct recording_domain *domain, const char *list)
{
	if (!list)
		return true;
	while (list) {
		size_t length = strcspn(list, ",");

		if (domain_is_called(domain, list, length))
			return true;
		list = list[length] ? list + length + 1 : NULL;
	}
	return false;
}

static bool is_known(const struct summary *summary, const char *what, size_t length)
{
	for (size_t i = 0; i < summary->domain_room; i++)
		if (domain_is_called(summary->domains[i], what, length))
			return true;
	return false;
}

static void list_domains(char *to, size_t size, const struct summary *summary)
{
	size_t used = 0;

	snprintf(to, size, "none known");
	for (size_t i = 0; i < summary->domain_room && used < size; i++) {
		const struct recording_domain *domain = summary->domains[i];

		if (domain)
			used += (size_t)snprintf(to + used, size - used,
						 "%s%s (%" PRIu64 ")", used ? ", " : "",
						 domain->name, domain->id);
	}
}

/* Like is_known(); sets @err to the list of domains if false. */
static bool check_known(const struct summary *summary, const char *what, size_t length,
			const char *name, struct error *err)
{
	char all[320];

	if (is_known(summary, what, length))
		return true;
	list_domains(all, sizeof(all), summary);
	error_set(err, "no domain '%.*s' in %s (domains: %s)", (int)length, what, name,
		  all);
	return false;
}

bool domain_is_known(const struct summary *summary, const char *what, const char *name,
		     struct error *err)
{
	return check_known(summary, what, strlen(what), name, err);
}

bool domain_list_is_known(const struct summary *summary, const char *list,
			  const char *name, struct error *err)
{
	while (list) {
		size_t length = strcspn(list, ",");

		if (!check_known(summary, list, length, name, err))
			return false;
		list = list[length] ? list + length + 1 : NULL;
	}
	return true;
}

/*
 * Kernels that share an address space with their processes have the upper half of 64 bits
 * (Linux, Documentation/arch/x86/x86_64/mm.rst, Documentation/arch/arm64/memory.rst), and
 * most often the last quarter of 32 bits, with modules right below it
 * (Documentation/arch/arm/memory.rst, PAGE_OFFSET - 16 MB); a unikernel is in the lower
 * part, with everything it runs.
 */
#define UPPER_64 ((uint64_t)1 << 63)
#define UPPER_32 ((uint64_t)0xbf000000)

bool domain_is_upper(const struct recording_domain *domain, uint64_t address)
{
	return address >= (domain && domain->word == 4 ? UPPER_32 : UPPER_64);
}

void domain_plain_name(char to[DOMAIN_NAME_SIZE], const struct recording_domain *domain)
{
	if (!domain)
		snprintf(to, DOMAIN_NAME_SIZE, "domain-?");
	else if (!*domain->name)
		snprintf(to, DOMAIN_NAME_SIZE, "domain-%" PRIu64, domain->id);
	else
		snprintf(to, DOMAIN_NAME_SIZE, "%s", domain->name);
}

void domain_space(char to[DOMAIN_SPACE_SIZE], const struct recording_domain *domain)
{
	*to = 0;
	if (domain && domain->process.space)
		snprintf(to, DOMAIN_SPACE_SIZE, "0x%" PRIx64, domain->process.space);
}

void domain_process(char to[DOMAIN_PROCESS_SIZE], const struct recording_domain *domain)
{
	const struct recording_process *process = domain ? &domain->process : NULL;
	size_t length;

	if (process && process->pid)
		snprintf(to, DOMAIN_PROCESS_SIZE, "%s[%" PRIu32 "]", process->comm,
			 process->pid);
	else
		domain_space(to, domain);
	length = strlen(to);
	/* The first thread has the process's number. */
	if (process && process->tid && process->tid != process->pid)
		snprintf(to + length, DOMAIN_PROCESS_SIZE - length, "%s%s[%" PRIu64 "]",
			 length ? ":" : "", process->thread, process->tid);
}

void domain_name(char to[DOMAIN_NAME_SIZE], const struct recording_domain *domain)
{
	char process[DOMAIN_PROCESS_SIZE];
	size_t length;

	domain_plain_name(to, domain);
	domain_process(process, domain);
	length = strlen(to);
	if (*process)
		snprintf(to + length, DOMAIN_NAME_SIZE - length, ":%s", process);
}

/* End of Xen's domain ids (DOMID_FIRST_RESERVED, xen/include/public/xen.h) */
#define MAX_ID 0x7ff0
/* First pid of domains whose own id can't be used: plus any index, times 10,000, it is
 * below 2^31 */
#define OTHER_IDS 32768

uint32_t domain_pid(const struct summary *summary, uint32_t index)
{
	const struct recording_domain *domain = summary_domain(summary, index);
	bool is_taken = false;

	if (index >= SUMMARY_FIRST_PROCESS)
		return DOMAIN_PROCESS_PIDS + index - SUMMARY_FIRST_PROCESS;
	if (!domain || domain->id >= MAX_ID)
		return OTHER_IDS + index;
	for (uint32_t i = 0; i < index && i < summary->domain_room; i++) {
		const struct recording_domain *other = summary->domains[i];

		if (!other || other->id != domain->id)
			continue;
		if (strcmp(other->name, domain->name) == 0)
			return is_taken ? OTHER_IDS + i : (uint32_t)domain->id;
		is_taken = true;
	}
	return is_taken ? OTHER_IDS + index : (uint32_t)domain->id;
}

static int add_name(struct names *names, const struct recording_domain *domain)
{
	char name[DOMAIN_NAME_SIZE];

	domain_name(name, domain);
	return names_intern(names, name) == NAMES_NONE ? -1 : 0;
}

/* Adds the names of domains with samples, and of processes. */
static int add_sampled(struct names *names, const struct summary *summary,
		       const struct stacks *stacks)
{
	for (uint32_t i = SAMPLES_ROOTS; i < stacks->tree.count; i++)
		if (!stacks_is_address(stacks, i) &&
		    add_name(names, summary_domain(summary, stacks->domain[i])) < 0)
			return -1;
	return 0;
}

struct names *domain_names(const struct summary *summary, const char *list,
			   const struct stacks *stacks)
{
	struct names *names = names_new();
	int status = names ? 0 : -1;

	for (size_t i = 0; i < summary->domain_room && status == 0; i++)
		if (!summary->process_count && summary->domains[i] &&
		    domain_in_list(summary->domains[i], list))
			status = add_name(names, summary->domains[i]);
	if (status == 0)
		status = add_sampled(names, summary, stacks);
	if (status == 0)
		return names;
	if (names)
		names_free(names);
	return NULL;
}
