/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long one sample keeps a guest paused: bench-pause DOMAIN ROUNDS TEXTFILE
 * In each round every way takes one sample, one after the other, so that what
 * disturbs the machine disturbs all of them alike. Times are from before the
 * pause is asked for until the resumption has returned.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "record/guard.h"
#include "record/sampler.h"
#include "xen/internal.h"
#include "xen/registers.h"

#define MAX_VCPUS 64

/*
 * The floor: the fewest hypercalls that there can be, with nothing else. One
 * multicall of the pause and the contexts, then the resumption.
 */
struct floor {
	struct xen *xen;
	multicall_entry_t *entry;
	struct xen_domctl *domctl;
	struct xen_domctl *resume;
	unsigned int count;
};

static int floor_init(struct floor *way, struct xen *xen, const struct xen_domain *domain)
{
	size_t context_pages = (domain->online * sizeof(vcpu_guest_context_t) + 4095) /
			       4096;
	char *page = xen->lib.alloc_pages(xen->call, 5);
	vcpu_guest_context_t *context = xen->lib.alloc_pages(xen->call, context_pages);

	if (!page || !context)
		return -1;
	memset(page, 0, 5 * 4096);
	way->xen = xen;
	way->entry = (void *)page;
	way->domctl = (void *)(page + 4096);
	way->count = 1 + domain->online;
	way->resume = &way->domctl[way->count];
	for (unsigned int i = 0; i < way->count; i++) {
		xen_domctl_init(xen, &way->domctl[i],
				i ? XEN_DOMCTL_getvcpucontext : XEN_DOMCTL_pausedomain,
				domain->id);
		way->entry[i].op = __HYPERVISOR_domctl;
		way->entry[i].args[0] = (xen_ulong_t)(uintptr_t)&way->domctl[i];
		if (!i)
			continue;
		way->domctl[i].u.vcpucontext.vcpu = i - 1;
		set_xen_guest_handle_raw(way->domctl[i].u.vcpucontext.ctxt,
					 &context[i - 1]);
	}
	xen_domctl_init(xen, way->resume, XEN_DOMCTL_unpausedomain, domain->id);
	return 0;
}

static uint64_t floor_sample(struct floor *way)
{
	uint64_t start = clock_monotonic();

	way->xen->lib.call2(way->xen->call, __HYPERVISOR_multicall,
			    (uint64_t)(uintptr_t)way->entry, way->count);
	way->xen->lib.call1(way->xen->call, __HYPERVISOR_domctl,
			    (uint64_t)(uintptr_t)way->resume);
	return clock_monotonic() - start;
}

/*
 * The way of 2017's uniprof, after its published description: three calls; for
 * each page of the stack that is not yet in a list kept by virtual address, a
 * page walk that maps and unmaps a page for every level, and then maps the
 * page; the trace as text, written while the guest is paused.
 */
struct old_page {
	struct old_page *next;
	uint64_t address;
	const void *page;
};

struct old {
	struct xen *xen;
	struct xen_domain domain;
	vcpu_guest_context_t *context;
	struct old_page *pages;
	FILE *text;
	/* For the walk's pages, which x86_translate() asks for one at a time. */
	void *mapped;
};

static int old_init(struct old *way, struct xen *xen, const struct xen_domain *domain,
		    const char *path)
{
	way->xen = xen;
	way->domain = *domain;
	way->context = xen->lib.alloc_pages(xen->call, 2);
	way->text = fopen(path, "w");
	return way->context && way->text ? 0 : -1;
}

static void *map_frame(struct old *way, uint64_t frame)
{
	xen_pfn_t gfn = frame;

	return way->xen->lib.memory_map(way->xen->memory, way->domain.id, PROT_READ, 1,
					&gfn, NULL);
}

static const void *map_for_walk(void *context, uint64_t frame)
{
	struct old *way = context;

	if (way->mapped)
		way->xen->lib.memory_unmap(way->xen->memory, way->mapped, 1);
	way->mapped = map_frame(way, frame);
	return way->mapped;
}

static const void *old_page(struct old *way, const struct x86_cpu *cpu, uint64_t address)
{
	const struct guest_memory memory = {map_for_walk, way};
	struct old_page *page;
	uint64_t frame;

	for (page = way->pages; page; page = page->next)
		if (page->address == address >> GUEST_PAGE_SHIFT)
			return page->page;
	if (x86_translate(cpu, &memory, address, &frame) != TRANSLATED)
		return NULL;
	page = malloc(sizeof(*page));
	if (!page)
		return NULL;
	*page = (struct old_page){way->pages, address >> GUEST_PAGE_SHIFT,
				  map_frame(way, frame)};
	way->pages = page;
	return page->page;
}

static void old_walk(struct old *way, const struct x86_cpu *cpu)
{
	uint64_t frame = cpu->reg[X86_RBP];

	fprintf(way->text, "%#" PRIx64 "\n", cpu->rip);
	for (unsigned int i = 0; frame && i < CHAIN_MAX; i++) {
		const void *page = old_page(way, cpu, frame);
		uint64_t words[2];

		if (!page || (frame & 4095) > 4096 - sizeof(words))
			break;
		memcpy(words, (const char *)page + (frame & 4095), sizeof(words));
		if (!words[1])
			break;
		fprintf(way->text, "%#" PRIx64 "\n", words[1]);
		frame = words[0];
	}
	fputs("1\n\n", way->text);
}

static uint64_t old_sample(struct old *way)
{
	uint64_t start = clock_monotonic();
	struct xen_domctl domctl;

	xen_domctl_init(way->xen, &domctl, XEN_DOMCTL_pausedomain, way->domain.id);
	xen_domctl(way->xen, &domctl);
	for (unsigned int i = 0; i < way->domain.online; i++) {
		struct x86_cpu cpu;

		xen_domctl_init(way->xen, &domctl, XEN_DOMCTL_getvcpucontext,
				way->domain.id);
		domctl.u.vcpucontext.vcpu = i;
		set_xen_guest_handle_raw(domctl.u.vcpucontext.ctxt, way->context);
		xen_domctl(way->xen, &domctl);
		if (way->domain.type == GUEST_PV)
			registers_from_pv(way->context, &cpu);
		else
			registers_from_hvm(way->context, &cpu);
		cpu.efer = X86_EFER_LMA;
		old_walk(way, &cpu);
	}
	xen_domctl_init(way->xen, &domctl, XEN_DOMCTL_unpausedomain, way->domain.id);
	xen_domctl(way->xen, &domctl);
	return clock_monotonic() - start;
}

/* Lengths of one way's pauses, in ns. */
struct series {
	const char *name;
	uint64_t *ns;
	size_t count;
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print_series(const struct series *series, uint64_t floor_median)
{
	uint64_t median;

	qsort(series->ns, series->count, sizeof(*series->ns), compare);
	median = series->ns[series->count / 2];
	printf("%-28s %8.1f %8.1f %10.1f %8.2f\n", series->name, (double)median / 1000,
	       (double)series->ns[series->count * 99 / 100] / 1000,
	       (double)series->ns[series->count - 1] / 1000,
	       (double)median / (double)floor_median);
}

static int bench(struct xen *xen, const struct xen_domain *domain, size_t rounds,
		 const char *text, struct error *err)
{
	struct capture *capture = capture_new(xen, domain, NULL, err);
	struct guard *guard = capture ? guard_start(capture, err) : NULL;
	struct pages *pages = pages_new(xen, domain->id, err);
	struct sampler *sampler = guard && pages ? sampler_new(capture, pages, err)
						 : NULL;
	struct series series[] = {{.name = "floor: hypercalls alone"},
				  {.name = "uniprof"},
				  {.name = "first uniprof's way"}};
	struct floor barest = {0};
	struct old old = {0};
	uint64_t floor_median, depth = 0, map_calls = 0, in_all = 0, start;

	if (!sampler)
		return -1;
	if (floor_init(&barest, xen, domain) < 0 || old_init(&old, xen, domain, text) < 0)
		return error_set(err, "can't get memory or open %s", text);
	for (size_t i = 0; i < 3; i++) {
		series[i].ns = calloc(rounds, sizeof(uint64_t));
		if (!series[i].ns)
			return error_set(err, "not enough memory");
	}
	mlockall(MCL_CURRENT);
	for (size_t i = 0; i < rounds; i++) {
		struct round round;
		struct timespec gap = {0, 500000};

		nanosleep(&gap, NULL);
		series[0].ns[series[0].count++] = floor_sample(&barest);
		nanosleep(&gap, NULL);
		start = clock_monotonic();
		if (sampler_round(sampler, 1, &round, err) < 0)
			return -1;
		in_all += clock_monotonic() - start;
		if (round.outcome != ROUND_TAKEN)
			return error_set(err, "the domain does not run");
		series[1].ns[series[1].count++] = round.pause[round.pauses - 1];
		depth = round.sample[0].chain.count;
		nanosleep(&gap, NULL);
		series[2].ns[series[2].count++] = old_sample(&old);
	}
	map_calls = pages_map_calls(pages);
	printf("%s, %s, %u vCPUs, depth %" PRIu64 ", %zu samples each; us\n",
	       domain->name, guest_type_name(domain->type), domain->online, depth,
	       rounds);
	printf("%-28s %8s %8s %10s %8s\n", "pause", "median", "p99", "max", "/ floor");
	qsort(series[0].ns, series[0].count, sizeof(uint64_t), compare);
	floor_median = series[0].ns[series[0].count / 2];
	for (size_t i = 0; i < 3; i++) {
		print_series(&series[i], floor_median);
		free(series[i].ns);
	}
	printf("uniprof: %.1f us for a whole round on average, %" PRIu64
	       " map calls in all\n\n",
	       (double)in_all / 1000 / (double)rounds, map_calls);
	sampler_free(sampler);
	pages_free(pages);
	guard_stop(guard);
	capture_free(capture);
	fclose(old.text);
	return 0;
}

int main(int argc, char **argv)
{
	struct xen_domain domain;
	struct error err;
	struct xen *xen;

	if (argc != 4)
		return EXIT_USAGE;
	xen = xen_open(&err);
	if (!xen || xen_domain_find(xen, argv[1], &domain, &err) < 0 ||
	    bench(xen, &domain, strtoul(argv[2], NULL, 10), argv[3], &err) < 0) {
		fprintf(stderr, "bench-pause: %s\n", err.text);
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}
