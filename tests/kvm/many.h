/* SPDX-License-Identifier: BSD-3-Clause */

/* A guest for tests/bench/waits: MANY threads more than others have wait for good, and
 * its worker counts how often it does some work, and prints that. */

static APART void print_count(uint64_t count)
{
	char text[24] = "", *at = text + sizeof(text) - 1;

	do
		*--at = (char)('0' + count % 10);
	while (count /= 10);
	print("first ");
	print(at);
	print("\n");
}

static APART void count_work(void)
{
	(void)worker;
	thread_create("sleeper", sleeper);
	waiter_thread = thread_create("waiter", waiter);
	waker_thread = thread_create("waker", waker);
	for (unsigned int i = 0; i < MANY; i++)
		thread_create("parked", forever);
	for (uint64_t count = 0;; count++) {
		for (volatile int i = 0; i < 100000; i++)
			continue;
		schedule();
		if (count % 512 == 64)
			print_count(count);
	}
}
