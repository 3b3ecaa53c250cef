/*
 * A web server without a network: requests for its pages are always there, and each
 * answer is a packet with a header, a copy of the page and a checksum. Once a second it
 * prints how many requests it has answered each second, on average.
 */
#include "web.h"

#define SECOND	 1000000000ul
#define PAGES	 10
#define PAGE_MAX 8192
#define HEADER	 60

static uint8_t pages[PAGES][PAGE_MAX];
static uint8_t packet[HEADER + PAGE_MAX];
static volatile uint16_t sent; /* in place of a network card */

void *guest_setup(const void *start_info, bool pv);
void guest_main(void);
void secondary_main(unsigned int vcpu);
int main(void);

void *guest_setup(const void *start_info, bool pv)
{
	enum stack_kind kind = STACK_MIXED;
	const char *description;
	void *top;

	xen_init(start_info, pv);
	top = memory_stack_top(&kind, &description);
	xen_time_init(0);
	return top;
}

/* Returns the number of the page in "GET /N". */
static APART unsigned long parse_request(const char *request)
{
	unsigned long page = 0;

	while (*request && *request != '/')
		request++;
	while (*request && *++request >= '0' && *request <= '9')
		page = page * 10 + (unsigned long)(*request - '0');
	return page % PAGES;
}

/* The checksum of the Internet protocols (RFC 1071). */
static APART uint16_t checksum(const uint8_t *bytes, size_t n)
{
	const uint16_t *words = (const void *)bytes;
	uint64_t sum = 0;

	for (size_t i = 0; i < n / sizeof(*words); i++)
		sum += words[i];
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)~sum;
}

static APART void build(unsigned long page)
{
	packet[0] = (uint8_t)page;
	copy(packet + HEADER, pages[page], PAGE_MAX);
}

static APART void answer(const char *request)
{
	build(parse_request(request));
	sent = checksum(packet, sizeof(packet));
}

int main(void)
{
	static char requests[][8] = {"GET /0", "GET /3", "GET /7", "GET /42"};
	uint64_t start = xen_time(), now, second = 0;

	for (uint64_t answered = 1;; answered++) {
		answer(requests[answered % 4]);
		now = xen_time();
		if (now - start >= (second + 1) * SECOND) {
			second = (now - start) / SECOND;
			print("second %" PRIu64 ": %" PRIu64 " requests a second", second,
			      answered * 1000 / ((now - start) / 1000000));
		}
	}
}

void guest_main(void)
{
	main();
}

void secondary_main(unsigned int vcpu)
{
	(void)vcpu; /* this guest starts no other vCPU */
}
