/* The calls into Xen, through the page of stubs that Xen fills in. */
#ifndef HYPERCALL_H
#define HYPERCALL_H

#include "cpu.h"

/* Registers: xen/include/public/arch-x86/xen-x86_32.h, "Hypercall interface". */
static inline long hypercall(unsigned int nr, unsigned long a1, unsigned long a2,
			     unsigned long a3, unsigned long a4)
{
	long result = (long)(hypercall_page + nr * 32);

	asm volatile("call *%%eax"
		     : "+a"(result), "+b"(a1), "+c"(a2), "+d"(a3), "+S"(a4)
		     :
		     : "edi", "cc", "memory");
	return result;
}

#endif
