/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_KVM_LIST_H
#define UNIPROF_TESTS_KVM_LIST_H

/* Lists as both unikernels of fibers.c have them: what leads to an item is in its link.
 */

#define LINK(type)               \
	struct {                 \
		type *next;      \
		type **previous; \
	}
#define LIST(type)           \
	struct {             \
		type *first; \
		type **last; \
	}
#define list_init(list) ((list)->first = NULL, (list)->last = &(list)->first)
#define list_append(list, item, link)                 \
	do {                                          \
		(item)->link.next = NULL;             \
		(item)->link.previous = (list)->last; \
		*(list)->last = (item);               \
		(list)->last = &(item)->link.next;    \
	} while (0)
#define list_remove(list, item, link)                                             \
	do {                                                                      \
		if ((item)->link.next)                                            \
			(item)->link.next->link.previous = (item)->link.previous; \
		else                                                              \
			(list)->last = (item)->link.previous;                     \
		*(item)->link.previous = (item)->link.next;                       \
	} while (0)

#endif
