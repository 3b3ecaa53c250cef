/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A guest that asks its VMM for the number after each number, so that a VMM that is given
 * stale registers gives a wrong answer. Between two questions it works for some
 * microseconds. It prints a line now and then.
 */
#include <stdint.h>

#define PORT_OUTPUT 0x3f8
#define PORT_ECHO   0x3f9

static void put(const char *text)
{
	for (; *text; text++)
		asm volatile("outb %0, %1" : : "a"(*text), "d"((uint16_t)PORT_OUTPUT));
}

static uint64_t ask(uint64_t number)
{
	uint64_t answer = 0;

	asm volatile("outb %%al, %%dx"
		     : "+b"(answer)
		     : "a"(0), "c"(number), "d"((uint16_t)PORT_ECHO));
	return answer;
}

void guest_main(uint64_t vcpu);

void guest_main(uint64_t vcpu)
{
	uint64_t number = 0;

	(void)vcpu;
	for (;;) {
		/* A wrong answer is the next question, which the VMM does not expect. */
		number = ask(number);
		for (volatile unsigned int i = 0; i < 2000;)
			i = i + 1;
		if (number % 4096 == 1)
			put("first\n");
	}
}
