// SPDX-License-Identifier: GPL-2.0
/*
 * Names of disks that stay. /dev/sdb and /dev/nvme0n1 are numbered as they come: after a
 * reboot, or without a disk that died, they may be another disk's.
 */
#include "lasting.h"

#include <string.h>
#include <sys/stat.h>

#define BY_ID	"/dev/disk/by-id"
#define MAPPER	"/dev/mapper/"

bool lasting_is(const char *path)
{
	struct stat st;

	return !strncmp(path, MAPPER, strlen(MAPPER)) ||
	       (!lstat(path, &st) && S_ISLNK(st.st_mode));
}

/* A link in by-id that udev made of what identifies a disk; others, as by a name that an
 * administrator gave, or by the slot, lead to whatever is there now
 */
bool lasting_sure(const char *path)
{
	static const char * const names[] = { "dm-name-", "md-name-", "lvm-pv-uuid-" };
	const char *name = path + strlen(BY_ID "/");
	size_t i;

	if (strncmp(path, BY_ID "/", strlen(BY_ID "/")))
		return false;
	for (i = 0; i < NR(names); i++) {
		if (!strncmp(name, names[i], strlen(names[i])))
			return false;
	}
	return true;
}

/*
 * Identifiers of the disk itself are each another one's. Of the others, model and serial
 * number, the form without the namespace's number is shared by those of one controller.
 * What a disk holds, as a physical volume of LVM, says nothing of which disk it is.
 */
static unsigned int rank(const char *name)
{
	static const char * const sure[] = {
		"nvme-eui.", "nvme-uuid.", "nvme-nvme.", "wwn-", "md-uuid-", "dm-uuid-",
	};
	size_t i;

	for (i = 0; i < NR(sure); i++) {
		if (!strncmp(name, sure[i], strlen(sure[i])))
			return 2;
	}
	return !strncmp(name, "lvm-pv-uuid-", strlen("lvm-pv-uuid-")) ? 0 : 1;
}

bool lasting_better(const char *a, const char *b)
{
	return rank(a) > (b ? rank(b) : 0);
}

static bool leads_to(const char *path, const struct place *place)
{
	struct place there;

	return !place_of(path, &there) && place_same(&there, place);
}

static const char *by_id(const struct place *place)
{
	struct names names = names_in(BY_ID);
	const char *best = NULL;
	size_t i;

	for (i = 0; i < names.nr; i++) {
		if (lasting_better(names.name[i], best) &&
		    leads_to(mem_fmt(BY_ID "/%s", names.name[i]), place))
			best = names.name[i];
	}
	return best ? mem_fmt(BY_ID "/%s", best) : NULL;
}

const char *lasting_name(const struct place *place)
{
	const char *mapped = file_read("%s/dm/name", place_sysfs(place));

	if (mapped && leads_to(mem_fmt(MAPPER "%s", mapped), place))
		return mem_fmt(MAPPER "%s", mapped);
	return by_id(place);
}

const char *lasting_sure_name(const struct place *place)
{
	const char *name = by_id(place);

	return name && lasting_sure(name) ? name : NULL;
}
