/* The calls into Xen, through the page of stubs that Xen fills in. */
#ifndef HYPERCALL_H
#define HYPERCALL_H

#include "cpu.h"

/* Registers: xen/include/public/arch-x86/xen-x86_64.h, "Hypercall interface". */
static inline long hypercall(unsigned int nr, unsigned long a1, unsigned long a2,
			     unsigned long a3, unsigned long a4)
{
	register unsigned long r10 asm("r10") = a4;
	long result;

	asm volatile("call *%[stub]"
		     : "=a"(result), "+D"(a1), "+S"(a2), "+d"(a3), "+r"(r10)
		     : [stub] "b"(hypercall_page + nr * 32)
		     : "rcx", "r8", "r9", "r11", "cc", "memory");
	return result;
}

#endif
