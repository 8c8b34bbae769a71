// SPDX-License-Identifier: GPL-2.0
/* The disks of an export: that each is there, free, and named once */
#include "command.h"

#include "disk/disk.h"

/* Be it disabled: a restore may have left it so, to be enabled when it can be */
static const char *exported_already(const struct disk *disk, const struct node *have)
{
	const struct overlap clash = overlap_find(disk, have, NULL, false);

	return clash.with ? mem_fmt("%s exported already, as %s", clash.how,
				    node_words(clash.with)) : NULL;
}

static int check_twice(const struct disk *first, const struct disk *second)
{
	if (place_same(&first->place, &second->place))
		return error_msg("%s: named twice", second->path);
	if (place_is_on(&first->place, &second->place))
		return error_msg("%s and %s share data (%s is on %s); export only one of them",
				 first->path, second->path, first->path, second->path);
	if (place_is_on(&second->place, &first->place))
		return error_msg("%s and %s share data (%s is on %s); export only one of them",
				 first->path, second->path, second->path, first->path);
	return 0;
}

/* Whether a restore would not notice that the name is another disk's by then, or not take it */
static int check_name(const struct disk *disk, bool own_uuid, bool save)
{
	bool told = disk->told != TOLD_BY_BOOT;

	if (!told && save && !own_uuid)
		return error_msg("--save: %s has no serial number, UUID or persistent name, and another disk may have its name after a reboot; export it by a link in /dev/disk/by-path, or use --uuid",
				 disk->path);
	if (!told && !save)	/* otherwise it is said of what is saved */
		note_msg("%s has no serial number, UUID or persistent name: %s", disk->path,
			 own_uuid ?
			 "after a reboot another disk of that name would be taken for it" :
			 "its UUID is made for this boot, and a restore after a reboot will not take it");
	else if (told && own_uuid && !disk->place.file && !persistent_is(disk->kept))
		note_msg("%s is a name that the kernel may give another disk after a reboot, and udev has no other: with --uuid that would not be noticed",
			 disk->path);
	return 0;
}

int export_disks(char **paths, size_t nr, bool own_uuid, bool save, const struct node *have,
		 struct disk **disks)
{
	size_t i, k;

	*disks = mem_get(nr * sizeof(**disks));
	for (i = 0; i < nr; i++) {
		struct disk *disk = &(*disks)[i];

		const char *why = disk_look(paths[i], disk);

		if (!why)
			why = exported_already(disk, have);
		if (!why)
			why = disk_user(disk);
		if (why)
			return error_msg("%s", why);
		for (k = 0; k < i; k++) {
			if (check_twice(&(*disks)[k], disk))
				return -1;
		}
		if (check_name(disk, own_uuid, save))
			return -1;
	}
	return 0;
}
