// SPDX-License-Identifier: GPL-2.0
/*
 * Names that stay. They are UUIDs of version 5 (RFC 9562): a hash of the machine's ID,
 * which is not told itself, and of the disks. That of a disk that nothing tells from others
 * after a reboot does not stay.
 */
#include "disk/disk.h"

#include <string.h>
#include <uuid/uuid.h>

/* The name space of all that is hashed here; it is never to change */
static const char name_space[] = "b2173e0c-b091-488b-8a90-e3589ca26446";

/* NQNs with a UUID: NVM Express Base Specification, 4.5 */
#define NQN_OF_UUID	"nqn.2014-08.org.nvmexpress:uuid:"

/* Digits of a serial number: 64 bits of a hash are not the same by chance */
#define SERIAL_DIGITS	16

static const char *machine(void)
{
	static const char * const files[] = {
		"/etc/machine-id", "/var/lib/dbus/machine-id", "/sys/class/dmi/id/product_uuid",
	};
	const char *id;
	size_t i;

	for (i = 0; i < NR(files); i++) {
		id = file_read("%s", files[i]);
		if (id && *id && strcmp(id, "uninitialized"))
			return id;
	}
	return NULL;
}

static int no_machine(void)
{
	return error_msg("no /etc/machine-id to derive names from; run 'systemd-machine-id-setup', or use --nqn, --serial and --uuid");
}

/* NULL: the machine has no ID */
static const char *hash(const char *what, const char *of)
{
	const char *id = machine();

	return id ? name_uuid(name_space, mem_fmt("%s\n%s\n%s", what, id, of)) : NULL;
}

int identity_of(const struct disk *disks, size_t nr, struct identity *id)
{
	const char *of = "", *uuid, *serial;
	char *digits = mem_get(SERIAL_DIGITS + 1), *to = digits;
	size_t i;

	for (i = 0; i < nr; i++)
		of = mem_fmt("%s%s\n", of, disks[i].identity);
	uuid = hash("subsystem", of);
	serial = hash("serial", of);
	if (!uuid || !serial)
		return no_machine();
	id->nqn = mem_fmt(NQN_OF_UUID "%s", uuid);
	for (; *serial && to < digits + SERIAL_DIGITS; serial++) {
		if (*serial != '-')
			*to++ = *serial;
	}
	id->serial = digits;
	return 0;
}

/*
 * The UUID of a disk that is known until a reboot only has version 8, so that it is seen
 * afterwards what it was; it is a hash like the others.
 */
#define UUID_TYPE_OF_BOOT	8
#define VERSION_DIGIT		14

static const char *uuid_of(const char *identity, bool of_boot)
{
	const char *uuid = hash("namespace", identity);

	return uuid && of_boot ? mem_fmt("%.*s%d%s", VERSION_DIGIT, uuid, UUID_TYPE_OF_BOOT,
					 uuid + VERSION_DIGIT + 1) : uuid;
}

const char *identity_uuid(const struct disk *disk)
{
	const char *uuid = uuid_of(disk->identity, disk->told == TOLD_BY_BOOT);

	if (!uuid)
		no_machine();
	return uuid;
}

/* ---- which disk a UUID was made for ---- */

static bool is_made(const uuid_t uuid)
{
	return uuid_type(uuid) == UUID_TYPE_DCE_SHA1 || uuid_type(uuid) == UUID_TYPE_OF_BOOT;
}

static bool is_uuid_of(const char *identity, const uuid_t uuid)
{
	const char *text = identity ?
			   uuid_of(identity, uuid_type(uuid) == UUID_TYPE_OF_BOOT) : NULL;
	uuid_t of;

	return text && !uuid_parse(text, of) && !uuid_compare(of, uuid);
}

/* NULL: none of those that are there */
static const char *block_with(const uuid_t uuid)
{
	struct names blocks = names_in("/sys/class/block"), links;
	struct place place;
	size_t i;

	for (i = 0; i < blocks.nr; i++) {
		if (place_at(mem_fmt("/sys/class/block/%s", blocks.name[i]), &place) &&
		    (is_uuid_of(disk_own_identity(&place), uuid) ||
		     is_uuid_of(disk_boot_identity(&place), uuid)))
			return mem_fmt("/dev/%s", blocks.name[i]);
	}
	links = persistent_all();
	for (i = 0; i < links.nr; i++) {
		if (is_uuid_of(disk_named_identity(links.name[i]), uuid))
			return links.name[i];
	}
	return NULL;
}

/* Where the disk is by now: "; that is /dev/sdc now"; "" if it is not there */
static const char *where_is(const uuid_t uuid)
{
	const char *name = block_with(uuid);

	return name ? mem_fmt("; that is %s now", name) : "";
}

/* Controller IDs of its own has what another machine exports, too */
static bool of_two_machines(const struct node *subsys)
{
	static const char * const ids[] = { "attr_cntlid_min", "attr_cntlid_max" };
	size_t i;

	for (i = 0; i < NR(ids); i++) {
		const char *id = node_get(subsys, ids[i]);

		if (id && strcmp(id, schema_default(&schema_subsys, ids[i])))
			return true;
	}
	return false;
}

/* Whether a name that stays is believed of a disk that nothing else tells from others */
static bool is_named(const struct disk *disk)
{
	return persistent_made(disk->path) ||
	       (persistent_is(disk->path) && !persistent_name(&disk->place));
}

/*
 * A UUID that is a hash, and not this disk's, is another disk's, or of another machine that
 * exports the disk, too, and was given with --uuid. Believed is who names the disk by what
 * identifies it, and where two machines export it who names it by any name that stays. A link
 * by the slot, one that somebody made, a logical volume's name say nothing of which disk that
 * was. Of a disk without a serial number or UUID a name is all that there is; without that
 * too, only a UUID that was made for another boot tells.
 */
static bool is_believed(const struct disk *disk, const struct node *ns, const uuid_t uuid)
{
	if (is_uuid_of(disk->identity, uuid) || persistent_sure(disk->path))
		return true;
	if (disk->told == TOLD_BY_DISK)
		return persistent_is(disk->path) && of_two_machines(ns->parent);
	if (disk->told == TOLD_BY_BOOT && uuid_type(uuid) != UUID_TYPE_OF_BOOT)
		return true;
	return is_named(disk) || of_two_machines(ns->parent);
}

/* What there is to do, if it is the right disk */
static const char *what_to_do(const struct disk *disk)
{
	const char *name = disk->told == TOLD_BY_DISK ? persistent_sure_name(&disk->place) :
			   persistent_name(&disk->place);

	return name ? mem_fmt("name it %s", name) :
	       "give the namespace another UUID: 'uuidgen' makes one";
}

const char *identity_differs(const struct disk *disk, const struct node *ns)
{
	const char *uuid = node_get(ns, "device_uuid");
	uuid_t wanted;

	if (!uuid || disk->place.file || !machine() || uuid_parse(uuid, wanted) ||
	    !is_made(wanted) || is_believed(disk, ns, wanted))
		return NULL;
	if (disk->told == TOLD_BY_BOOT)
		return mem_fmt("%s has nothing that tells whether it is the disk that was exported with UUID %s%s; if it is, name it by a link that stays, or %s",
			       disk->path, uuid, where_is(wanted), what_to_do(disk));
	return mem_fmt("%s is another disk than the one that was exported with UUID %s%s; if it is to be this one all the same, %s",
		       disk->path, uuid, where_is(wanted), what_to_do(disk));
}

/* ---- which disk a restore will not know ---- */

static void warn_of_name(const struct node *ns)
{
	const char *path = node_get(ns, "device_path") ?: "", *uuid = node_get(ns, "device_uuid");
	struct disk disk;
	uuid_t wanted;

	if (!node_is(ns, "enable", "1") || disk_look(path, &disk) || disk.told != TOLD_BY_BOOT)
		return;
	note_msg("%s is on %s, which has no serial number, UUID or persistent name: %s",
		 node_words(ns), path,
		 uuid && !uuid_parse(uuid, wanted) && is_uuid_of(disk.identity, wanted) ?
		 "a restore after a reboot will not take it" :
		 "after a reboot another disk of that name would be taken for it");
}

void identity_unknown(const struct node *root)
{
	const struct node *subsys, *ns;

	for_each_node(subsys, root, &schema_subsys) {
		for_each_node(ns, subsys, &schema_ns)
			warn_of_name(ns);
	}
}
