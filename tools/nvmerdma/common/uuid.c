// SPDX-License-Identifier: GPL-2.0
/* UUIDs that stand for names */
#include "common/util.h"

#include <string.h>

#include <uuid/uuid.h>

const char *name_uuid(const char *space, const char *name)
{
	char *text = mem_get(UUID_STR_LEN);
	uuid_t space_uuid, uuid;

	uuid_parse(space, space_uuid);
	uuid_generate_sha1(uuid, space_uuid, name, strlen(name));
	uuid_unparse_lower(uuid, text);
	return text;
}
