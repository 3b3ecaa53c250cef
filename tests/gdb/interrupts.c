/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interrupts for the guest of the KVM tests: the local APIC's timer interrupts its work,
 * and again some time after each handler. Handlers take turns; all work equally long, and
 * differ in their stacks.
 */
#include "tests/kvm/guest.c"

#define HANDLED 200000	/* work of a handler, iterations of the loop */
#define WAIT	2000000 /* time between interrupts, ticks of the timer */

#define STACKS	   0x400000000000 /* start.S */
#define STACK_SIZE 0x20000

CHAIN(same, )
CHAIN(lower, )
CHAIN(higher, )
CHAIN(switched, )
CHAIN(kept, )

/* Intel SDM, volume 3: section 8.7 (task-state segment), 6.14.1 (gates). */
static struct {
	uint32_t reserved;
	uint64_t rsp[3], reserved_2, ist[7], reserved_3;
	uint32_t io_map;
} __attribute__((packed)) tss;
static struct {
	uint16_t low, selector, flags, middle;
	uint32_t high, reserved;
} idt[256];
static uint64_t gdt[8];

struct pointer {
	uint16_t size;
	const void *at;
} __attribute__((packed));

#define CODE_64 0x08
#define TSS	0x28
#define GATE	0x8e00
#define VECTOR	0x40
#define ENTRIES 5

static uint64_t lower_stack[4096];
uint64_t handler_stack[4096];

void entry_same(void), entry_lower(void), entry_higher(void), entry_switched(void),
	entry_kept(void);
void on_same(void), on_lower(void), on_higher(void), on_switched(void), on_kept(void);
void interrupts_start(void);

/* The local APIC's registers (Intel SDM, volume 3, section 11.4.1), which the third GiB
 * of addresses maps. */
#define APIC ((volatile uint32_t *)0xbee00000)
enum {
	APIC_EOI = 0xb0 / 4,
	APIC_ENABLE = 0xf0 / 4,
	APIC_TIMER = 0x320 / 4,
	APIC_COUNT = 0x380 / 4,
	APIC_DIVIDE = 0x3e0 / 4,
};

extern uint64_t low_3[512];
static uint64_t apic_2[512] __attribute__((aligned(4096)));
static unsigned int interrupts;
static uint64_t started, handled; /* by the time-stamp counter */

static inline uint64_t now(void)
{
	uint32_t low, high;

	asm volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static void timer_arm(void)
{
	APIC[APIC_TIMER] = VECTOR + interrupts % ENTRIES;
	APIC[APIC_COUNT] = WAIT;
}

/* Ends an interrupt. Prints the handlers' part of the time, in hundredths of a percent,
 * from time to time. */
static APART void finish(uint64_t since)
{
	handled += now() - since;
	if (++interrupts % 50 == 0)
		print("handlers ", handled * 10000 / (now() - started));
	APIC[APIC_EOI] = 0;
	timer_arm();
}

#define HANDLER(name)                   \
	void on_##name(void)            \
	{                               \
		uint64_t since = now(); \
                                        \
		name(HANDLED);          \
		finish(since);          \
		asm volatile("");       \
	}

HANDLER(same)
HANDLER(lower)
HANDLER(higher)
HANDLER(switched)
HANDLER(kept)

static void set_gate(unsigned int i, void (*entry)(void), unsigned int ist)
{
	uint64_t at = (uint64_t)entry;

	idt[VECTOR + i].low = (uint16_t)at;
	idt[VECTOR + i].selector = CODE_64;
	idt[VECTOR + i].flags = (uint16_t)(GATE | ist);
	idt[VECTOR + i].middle = (uint16_t)(at >> 16);
	idt[VECTOR + i].high = (uint32_t)(at >> 32);
}

void interrupts_start(void)
{
	uint64_t at = (uint64_t)&tss;
	struct pointer gdtr = {sizeof(gdt) - 1, gdt}, idtr = {sizeof(idt) - 1, idt};

	gdt[1] = 0x00af9b000000ffff; /* code, data: as in start.S */
	gdt[2] = 0x00cf93000000ffff;
	gdt[TSS / 8] = (sizeof(tss) - 1) | (at & 0xffffff) << 16 | 0x89ull << 40 |
		       (at >> 24 & 0xff) << 56;
	gdt[TSS / 8 + 1] = at >> 32;
	tss.ist[0] = (uint64_t)(lower_stack + 4096);
	tss.ist[1] = STACKS + 2 * STACK_SIZE;
	tss.io_map = sizeof(tss) << 16;
	set_gate(0, entry_same, 0);
	set_gate(1, entry_lower, 1);
	set_gate(2, entry_higher, 2);
	set_gate(3, entry_switched, 0);
	set_gate(4, entry_kept, 0);
	apic_2[0x3ee00000 >> 21] = 0xfee00000 | 0x93; /* a page of 2M, not cached */
	low_3[2] = ((uint64_t)apic_2 - 0x40000000) | 0x3;
	asm volatile("lgdt %0; lidt %1; ltr %w2"
		     :
		     : "m"(gdtr), "m"(idtr), "r"(TSS)
		     : "memory");
	APIC[APIC_ENABLE] = 0x1ff;
	APIC[APIC_DIVIDE] = 0xb;
	started = now();
	timer_arm();
	asm volatile("sti");
}
