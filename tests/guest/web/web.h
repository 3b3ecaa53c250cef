/* The guest of docs/tutorial.md. */
#ifndef WEB_H
#define WEB_H

#include "guest.h"

/* Copies n bytes to a place that does not overlap. copy.c defines it with the mistake
 * that the tutorial finds, copy_fixed.c without the mistake. */
void copy(uint8_t *to, const uint8_t *from, size_t n);

#endif
