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

unsigned int parse_list_count(const char *list)
{
	unsigned int first, last, n = 0;

	while (next_range(&list, &first, &last))
		n += last >= first ? last - first + 1 : 0;
	return n;
}
