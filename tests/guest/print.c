/* Lines to the console. */
#include "guest.h"

#include <stdarg.h>

static unsigned long lost;

struct line {
	char text[512];
	size_t length;
};

static void line_put(struct line *line, char c)
{
	if (line->length < sizeof(line->text) - 1) /* the last byte is for '\n' */
		line->text[line->length++] = c;
}

static void put_number(struct line *line, uint64_t value, unsigned int base,
		       unsigned int width)
{
	char digits[20];
	unsigned int n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	for (; width > n; width--)
		line_put(line, '0');
	while (n)
		line_put(line, digits[--n]);
}

void print(const char *format, ...)
{
	struct line line = {.length = 0};
	va_list args;

	va_start(args, format);
	for (; *format; format++) {
		unsigned int width = 0;
		uint64_t number;

		if (*format != '%') {
			line_put(&line, *format);
			continue;
		}
		for (format++; *format >= '0' && *format <= '9'; format++)
			width = width * 10 + (unsigned int)(*format - '0');
		if (*format == 's') {
			for (const char *s = va_arg(args, const char *); *s; s++)
				line_put(&line, *s);
			continue;
		}
		format++; /* the l of %lu and %lx */
		if (*format == 'l') {
			format++;
			number = va_arg(args, unsigned long long);
		} else {
			number = va_arg(args, unsigned long);
		}
		put_number(&line, number, *format == 'x' ? 16 : 10, width);
	}
	va_end(args);

	line.text[line.length++] = '\n';
	if (!xen_console_write(line.text, line.length))
		lost++;
}

unsigned long print_lost(void)
{
	return lost;
}
