/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/write/svg.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

/* Maximum length of the name in the heading, in characters */
#define MOST_OF_TITLE 100

static const char style_of_all[] =
	"svg{color-scheme:light dark;font:12px system-ui,'Segoe UI',Roboto,Helvetica,"
	"'DejaVu Sans',Arial,sans-serif}"
	".page{fill:#fff}text{fill:#1b1f24}.dim{fill:#57606a}"
	".kind{font-size:17px;font-weight:600}"
	"@media(prefers-color-scheme:dark){svg{background:#16191d}.page{fill:#16191d}"
	"text{fill:#e8eaed}"
	".dim{fill:#a3abb5}}\n";

/* XML 1.0, section 2.2, in addition to what is no text for a terminal. */
static size_t xml_character(const char *text)
{
	size_t length = text_character(text);
	bool is_noncharacter = length == 3 && (memcmp(text, "\xef\xbf\xbe", 3) == 0 ||
					       memcmp(text, "\xef\xbf\xbf", 3) == 0);

	return is_noncharacter ? 0 : length;
}

void svg_text(FILE *out, const char *text, size_t most)
{
	while (*text && most--) {
		size_t length = xml_character(text);

		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (length)
			fwrite(text, 1, length, out);
		else
			fputs("\xef\xbf\xbd", out);
		text += length ? length : 1;
	}
	if (*text)
		fputs("…", out);
}

void svg_line_begin(FILE *out, unsigned int line)
{
	fprintf(out, "<text class=\"dim\" x=\"%d\" y=\"%u\">", SVG_MARGIN,
		44 + SVG_LINE * line);
}

void svg_line_end(FILE *out)
{
	fputs("</text>\n", out);
}

void svg_begin(FILE *out, const char *title, unsigned int height, const char *style)
{
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\">\n<title>",
		SVG_WIDTH, height, SVG_WIDTH, height);
	svg_text(out, title, MOST_OF_TITLE);
	fprintf(out,
		"</title>\n<style>%s%s</style>\n"
		"<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n"
		"<text class=\"kind\" x=\"%d\" y=\"26\">",
		style_of_all, style, SVG_MARGIN);
	svg_text(out, title, MOST_OF_TITLE);
	fputs("</text>\n", out);
}
