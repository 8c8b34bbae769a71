// SPDX-License-Identifier: GPL-2.0
/* Lines of other programs and of /proc, taken apart */
#include "doctor/parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part up to one of @ends, copied; *@at goes to behind it and the blanks there */
static char *take(const char **at, const char *ends)
{
	size_t len = strcspn(*at, ends);
	char *word = mem_strn(*at, len);

	*at += len;
	while (**at == ' ' || (**at && strchr(ends, **at)))
		(*at)++;
	return word;
}

/* "nvme-rdma/0.1.0, 6.12.1-amd64, x86_64: installed", or "nvme-rdma/0.1.0: added"; older
 * ones have a comma in place of the slash
 */
const char *parse_dkms(const char *status, const char *package, const char *release,
		       const char **version)
{
	const char *state = NULL, *at = status;
	size_t len = strlen(package);

	*version = NULL;
	while (*at) {
		const char *line = mem_strn(at, strcspn(at, "\n"));
		const char *of, *kernel;

		at += strcspn(at, "\n");
		at += *at == '\n';
		if (strncmp(line, package, len) || !line[len] || !strchr("/,", line[len]))
			continue;
		line += len + 1;
		while (*line == ' ')
			line++;
		of = take(&line, ",:");
		if (!*version)
			*version = of;
		kernel = strchr(line, ',') ? take(&line, ",") : "";
		if (!strcmp(kernel, release) && *release) {
			take(&line, ":");
			*version = of;
			state = line;
			if (!strncmp(state, "installed", strlen("installed")))
				break;
		}
	}
	return state;
}

static bool line_has(const char *line, size_t len, const char *word)
{
	return memmem(line, len, word, strlen(word));
}

/* The numbers of the processors that the columns are of: those that are off have none */
static unsigned int *columns(const char *text, unsigned int *nr)
{
	unsigned int *cpu = NULL;
	const char *at;

	for (at = text, *nr = 0; *at && *at != '\n'; at++) {
		if (strncmp(at, "CPU", 3))
			continue;
		cpu = mem_grow(cpu, *nr, sizeof(*cpu));
		cpu[(*nr)++] = strtoul(at + 3, NULL, 10);
	}
	return cpu;
}

struct irq_load parse_interrupts(const char *text, const char *word)
{
	struct irq_load load = { 0 };
	unsigned int nr, i, *cpu = columns(text, &nr);
	uint64_t *of_column = mem_get((nr + 1) * sizeof(*of_column));
	const char *at = text + strcspn(text, "\n");

	while (*at) {
		size_t len;
		char *end;

		at++;
		len = strcspn(at, "\n");
		if (line_has(at, len, word) && memchr(at, ':', len)) {
			const char *number = strchr(at, ':') + 1;

			load.vectors++;
			for (i = 0; i < nr; i++, number = end)
				of_column[i] += strtoull(number, &end, 10);
		}
		at += len;
	}
	for (i = 0; i < nr; i++) {
		load.all += of_column[i];
		if (of_column[i] > load.most) {
			load.most = of_column[i];
			load.cpu = cpu[i];
		}
	}
	return load;
}

/* The next "3" or "3-5" of a list; false at its end */
static bool next_range(const char **list, unsigned int *first, unsigned int *last)
{
	char *end;

	while (**list == ',' || isspace((unsigned char)**list))
		(*list)++;
	if (!isdigit((unsigned char)**list))
		return false;
	*first = *last = strtoul(*list, &end, 10);
	if (*end == '-')
		*last = strtoul(end + 1, &end, 10);
	*list = end;
	return true;
}

bool parse_is_in_list(const char *list, unsigned int number)
{
	unsigned int first, last;

	while (next_range(&list, &first, &last)) {
		if (number >= first && number <= last)
			return true;
	}
	return false;
}

unsigned int parse_list_count(const char *list)
{
	unsigned int first, last, n = 0;

	while (next_range(&list, &first, &last))
		n += last >= first ? last - first + 1 : 0;
	return n;
}
