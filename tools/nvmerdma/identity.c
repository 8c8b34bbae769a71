// SPDX-License-Identifier: GPL-2.0
/*
 * Names that stay. They are UUIDs of version 5 (RFC 9562): a hash of the machine's ID,
 * which is not told itself, and of the disks.
 */
#include "identity.h"

#include <string.h>
#include <uuid/uuid.h>

#include "lasting.h"

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
	return complain("there is no /etc/machine-id, of which names that stay are made: 'systemd-machine-id-setup' makes it; or give --nqn, --serial and --uuid");
}

/* NULL: the machine has no ID */
static const char *hash(const char *what, const char *of)
{
	const char *id = machine(), *name;
	char text[UUID_STR_LEN];
	uuid_t space, uuid;

	if (!id)
		return NULL;
	uuid_parse(name_space, space);
	name = mem_fmt("%s\n%s\n%s", what, id, of);
	uuid_generate_sha1(uuid, space, name, strlen(name));
	uuid_unparse_lower(uuid, text);
	return mem_str(text);
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

static const char *uuid_of(const char *identity)
{
	return hash("namespace", identity);
}

const char *identity_uuid(const struct disk *disk)
{
	const char *uuid = uuid_of(disk->identity);

	if (!uuid)
		no_machine();
	return uuid;
}

/* ---- which disk a UUID was made for ---- */

static bool is_uuid_of(const char *identity, const uuid_t uuid)
{
	const char *text = identity ? uuid_of(identity) : NULL;
	uuid_t of;

	return text && !uuid_parse(text, of) && !uuid_compare(of, uuid);
}

/* Where the disk is by now: "; that is /dev/sdc now"; "" if it is not there */
static const char *where_is(const uuid_t uuid)
{
	struct names blocks = names_in("/sys/class/block");
	struct place place;
	size_t i;

	for (i = 0; i < blocks.nr; i++) {
		if (place_at(mem_fmt("/sys/class/block/%s", blocks.name[i]), &place) &&
		    is_uuid_of(disk_identity(&place), uuid))
			return mem_fmt("; that is /dev/%s now", blocks.name[i]);
	}
	return "";
}

/* Controller IDs of its own has what another machine exports, too */
static bool of_two_machines(const struct node *subsys)
{
	static const char * const ids[] = { "attr_cntlid_min", "attr_cntlid_max" };
	size_t i;

	for (i = 0; i < NR(ids); i++) {
		const char *id = node_get(subsys, ids[i]);

		if (id && strcmp(id, shape_default(&shape_subsys, ids[i])))
			return true;
	}
	return false;
}

/*
 * A UUID that is a hash, and not this disk's, is another disk's, or of another machine that
 * exports the disk, too, and was given with --uuid. Believed is who names the disk by what
 * identifies it, and where two machines export it who names it by any name that stays. A link
 * by the slot, one that somebody made, a logical volume's name say nothing of which disk that
 * was.
 */
const char *identity_differs(const struct disk *disk, const struct node *ns)
{
	const char *uuid = node_get(ns, "device_uuid"), *name;
	uuid_t wanted;

	if (!uuid || disk->place.file || !disk->stable || !machine() ||
	    uuid_parse(uuid, wanted) || uuid_type(wanted) != UUID_TYPE_DCE_SHA1 ||
	    is_uuid_of(disk->identity, wanted) || lasting_sure(disk->path) ||
	    (lasting_is(disk->path) && of_two_machines(ns->parent)))
		return NULL;
	name = lasting_sure_name(&disk->place);
	return mem_fmt("%s is another disk than the one that was exported with UUID %s%s; if it is to be this one all the same, %s",
		       disk->path, uuid, where_is(wanted), name ? mem_fmt("name it %s", name) :
		       "give the namespace another UUID: 'uuidgen' makes one");
}
