/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The first process of a 64-bit Linux guest, but 32-bit code, with frame pointers. Its
 * hot path is main, outer, inner; it calls the kernel now and then, and prints a
 * heartbeat each second.
 */

#define APART __attribute__((noipa, used))

/* Linux, arch/x86/entry/syscalls/syscall_32.tbl */
enum {
	CALL_WRITE = 4,
	CALL_TIME = 13
};

static APART long system_call(long number, long a, const void *b, long c)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c)
			 : "memory");
	return result;
}

static APART void inner(void)
{
	for (int i = 0; i < 20000; i++)
		__asm__ volatile("");
}

static APART void outer(void)
{
	for (int i = 0; i < 20; i++) {
		inner();
		__asm__ volatile("");
	}
}

int main(void)
{
	static char text[] = "guest: heartbeat of 32-bit code: 0\n";
	char *digit = &text[sizeof(text) - 3];
	long last = 0;

	for (;;) {
		long now;

		outer();
		now = system_call(CALL_TIME, 0, 0, 0);
		if (now != last) {
			*digit = (char)('0' + now % 10);
			system_call(CALL_WRITE, 1, text, sizeof(text) - 1);
		}
		last = now;
	}
}

__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start: xor %ebp, %ebp\n"
	"and $-16, %esp\n"
	"call main\n"
	".size _start, . - _start\n");
