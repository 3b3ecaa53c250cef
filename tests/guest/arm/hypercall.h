/* The calls into Xen, and into the firmware, which Xen emulates. */
#ifndef HYPERCALL_H
#define HYPERCALL_H

/* Registers: xen/include/public/arch-arm.h, "Hypercall Calling Convention". */
static inline long hypercall(unsigned int nr, unsigned long a1, unsigned long a2,
			     unsigned long a3, unsigned long a4)
{
#ifdef __aarch64__
	register unsigned long r0 asm("x0") = a1;
	register unsigned long r1 asm("x1") = a2;
	register unsigned long r2 asm("x2") = a3;
	register unsigned long r3 asm("x3") = a4;
	register unsigned long number asm("x16") = nr;
#else
	register unsigned long r0 asm("r0") = a1;
	register unsigned long r1 asm("r1") = a2;
	register unsigned long r2 asm("r2") = a3;
	register unsigned long r3 asm("r3") = a4;
	register unsigned long number asm("r12") = nr;
#endif

	asm volatile("hvc #0xea1"
		     : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3), "+r"(number)
		     :
		     : "memory");
	return (long)r0;
}

/* Arm's SMC Calling Convention (DEN 0028), 2.6 and 2.7. */
static inline long firmware_call(unsigned long function, unsigned long a1,
				 unsigned long a2, unsigned long a3)
{
#ifdef __aarch64__
	register unsigned long r0 asm("x0") = function;
	register unsigned long r1 asm("x1") = a1;
	register unsigned long r2 asm("x2") = a2;
	register unsigned long r3 asm("x3") = a3;

	asm volatile("hvc #0"
		     : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3)
		     :
		     : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
		       "x14", "x15", "x16", "x17", "memory");
#else
	register unsigned long r0 asm("r0") = function;
	register unsigned long r1 asm("r1") = a1;
	register unsigned long r2 asm("r2") = a2;
	register unsigned long r3 asm("r3") = a3;

	asm volatile("hvc #0" : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3) : : "memory");
#endif
	return (long)r0;
}

#endif
