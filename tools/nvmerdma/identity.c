// SPDX-License-Identifier: GPL-2.0
/*
 * Names that stay. They are UUIDs of version 5 (RFC 9562): a hash of the machine's ID,
 * which is not told itself, and of the disks.
 */
#include "identity.h"

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
	complain("there is no /etc/machine-id, of which names that stay are made: 'systemd-machine-id-setup' makes it; or give --nqn, --serial and --uuid");
	return NULL;
}

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
		return -1;
	id->nqn = mem_fmt(NQN_OF_UUID "%s", uuid);
	for (; *serial && to < digits + SERIAL_DIGITS; serial++) {
		if (*serial != '-')
			*to++ = *serial;
	}
	id->serial = digits;
	return 0;
}

const char *identity_uuid(const struct disk *disk)
{
	return hash("namespace", disk->identity);
}
