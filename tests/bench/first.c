/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "tests/bench/ways.h"
#include "xen/hypercall.h"
#include "xen/internal.h"
#include "xen/registers.h"

struct first_page {
	struct first_page *next;
	uint64_t address;
	void *page;
};

struct first {
	struct xen *xen;
	struct guest_info domain;
	struct hypercall_memory memory;
	xenforeignmemory_handle *foreign;
	vcpu_guest_context_t *context;
	struct first_page *pages;
	FILE *text;
	void *walked; /* page table mapped by a page walk, which uses one at a time */
};

struct first *first_new(struct host *host, const struct guest_info *domain,
			const char *text, struct error *err)
{
	struct first *way = calloc(1, sizeof(*way));

	if (!way) {
		error_set(err, "out of memory");
		return NULL;
	}
	way->xen = xen_of(host);
	way->domain = *domain;
	if (hypercall_memory_get(way->xen, &way->memory, sizeof(*way->context), err) < 0)
		goto fail;
	way->context = way->memory.data;
	way->foreign = way->xen->lib.memory_open(xen_library_silence(), 0);
	way->text = fopen(text, "w");
	if (way->foreign && way->text)
		return way;
	error_errno(err, errno, "can't open %s or guests' memory", text);
fail:
	first_free(way);
	return NULL;
}

static void unmap_frame(struct first *way, void *page)
{
	if (page)
		way->xen->lib.memory_unmap(way->foreign, page, 1);
}

void first_free(struct first *way)
{
	if (!way)
		return;
	while (way->pages) {
		struct first_page *page = way->pages;

		way->pages = page->next;
		unmap_frame(way, page->page);
		free(page);
	}
	if (way->text)
		fclose(way->text);
	if (way->foreign)
		way->xen->lib.memory_close(way->foreign);
	hypercall_memory_put(way->xen, &way->memory);
	free(way);
}

static void *map_frame(struct first *way, uint64_t frame)
{
	xen_pfn_t gfn = frame;

	return way->xen->lib.memory_map(way->foreign, way->domain.id, PROT_READ, 1, &gfn,
					NULL);
}

static const void *map_for_walk(void *context, uint64_t frame)
{
	struct first *way = context;

	unmap_frame(way, way->walked);
	way->walked = map_frame(way, frame);
	return way->walked;
}

static enum translation translate(const struct cpu *cpu,
				  const struct guest_memory *memory, uint64_t address,
				  uint64_t *frame)
{
	return cpu->family == CPU_FAMILY_ARM
		       ? arm_translate(&cpu->arm, memory, address, frame)
		       : x86_translate(&cpu->x86, memory, address, frame);
}

static const void *find_page(struct first *way, const struct cpu *cpu, uint64_t address)
{
	const struct guest_memory memory = {.page = map_for_walk, .context = way};
	enum translation translation;
	struct first_page *page;
	uint64_t frame;

	for (page = way->pages; page; page = page->next)
		if (page->address == address >> GUEST_PAGE_SHIFT)
			return page->page;
	translation = translate(cpu, &memory, address, &frame);
	unmap_frame(way, way->walked);
	way->walked = NULL;
	page = translation == TRANSLATED ? malloc(sizeof(*page)) : NULL;
	if (!page)
		return NULL;
	*page = (struct first_page){way->pages, address >> GUEST_PAGE_SHIFT,
				    map_frame(way, frame)};
	way->pages = page;
	return page->page;
}

/* Where the test guests' frames have the caller's frame pointer, which the return address
 * follows. */
struct frames {
	uint64_t first, pc;
	unsigned int word;  /* size of a word, bytes */
	unsigned int below; /* offset of the frame pointer's target, bytes */
};

static struct frames cpu_frames(const struct cpu *cpu)
{
	if (cpu->family == CPU_FAMILY_X86)
		return (struct frames){cpu->x86.reg[X86_RBP], cpu->x86.rip, 8, 0};
	if (arm_kind(&cpu->arm) == CPU_ARM64)
		return (struct frames){cpu->arm.x[29], cpu->arm.pc, 8, 0};
	return (struct frames){cpu->arm.x[11], cpu->arm.pc, 4, 4};
}

/* Writes a vCPU's call chain as text. Returns the number of its addresses. */
static unsigned int write_chain(struct first *way, const struct cpu *cpu)
{
	const struct frames frames = cpu_frames(cpu);
	uint64_t frame = frames.first;
	unsigned int depth = 1;

	fprintf(way->text, "%#" PRIx64 "\n", frames.pc);
	for (; frame && depth < CHAIN_MAX; depth++) {
		uint64_t at = frame - frames.below, address = 0;
		const char *page = find_page(way, cpu, at);

		at &= GUEST_PAGE_SIZE - 1;
		if (!page || at > GUEST_PAGE_SIZE - 2 * frames.word)
			break;
		frame = 0;
		memcpy(&frame, page + at, frames.word);
		memcpy(&address, page + at + frames.word, frames.word);
		if (!address)
			break;
		fprintf(way->text, "%#" PRIx64 "\n", address);
	}
	fputs("1\n", way->text);
	return depth;
}

uint64_t first_sample(struct first *way, unsigned int *depth)
{
	uint64_t start = clock_monotonic();
	const struct vcpu_mode mode = {.efer = X86_EFER_LMA};
	struct xen_domctl domctl;

	xen_domctl_init(way->xen, &domctl, XEN_DOMCTL_pausedomain, way->domain.id);
	xen_domctl(way->xen, &domctl);
	for (unsigned int i = 0; i < way->domain.online; i++) {
		struct cpu cpu;
		unsigned int addresses;

		xen_domctl_init(way->xen, &domctl, XEN_DOMCTL_getvcpucontext,
				way->domain.id);
		domctl.u.vcpucontext.vcpu = i;
		set_xen_guest_handle_raw(domctl.u.vcpucontext.ctxt, way->context);
		xen_domctl(way->xen, &domctl);
		registers_take(way->xen, way->domain.type, way->context, &mode, &cpu);
		addresses = write_chain(way, &cpu);
		if (!i && depth)
			*depth = addresses;
	}
	xen_domctl_init(way->xen, &domctl, XEN_DOMCTL_unpausedomain, way->domain.id);
	xen_domctl(way->xen, &domctl);
	return clock_monotonic() - start;
}
