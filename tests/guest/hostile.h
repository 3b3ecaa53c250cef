/* Shared by the parts of the hostile guest: a row for each kind of attack. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include "guest.h"
#include "kinds.h"

#define NUMBER(kind) KIND_##kind,
enum {
	HOSTILE_KINDS(NUMBER) KINDS
};

/* spin.S */
typedef void spin(unsigned long frame, uint64_t end, volatile pte_t *entry,
		  const pte_t *values, unsigned long mask);
#define DECLARE(kind) spin hostile_##kind;
HOSTILE_KINDS(DECLARE)

struct kind {
	const char *name;
	spin *spin;
	unsigned long frame;
	volatile pte_t *entry;
	const pte_t *values; /* @mask + 1 values, written to the entry in turn */
	unsigned long mask;
	bool allowed; /* Xen allows it, and the CPU supports it */
};
extern struct kind kinds[KINDS];

/* An unused address. */
#define PLACE(kind) (PLACES + (KIND_##kind + 1ul) * PLACE_SIZE)

/* Points the kind's frame pointer at an address whose entry at @level is invalid. */
bool hostile_map_entry(unsigned int kind, unsigned long address, unsigned int level,
		       pte_t value);
/* Points the kind's frame pointer at @address, on a separate page. Returns the page. */
unsigned long *hostile_map_page(unsigned int kind, unsigned long address);
void hostile_put_frame(unsigned long *at, unsigned long next);

/* hostile_CPU.c: the kinds specific to a CPU. */
void hostile_init_cpu(void);

#endif
