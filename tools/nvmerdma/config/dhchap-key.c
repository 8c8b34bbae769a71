// SPDX-License-Identifier: GPL-2.0
/* Keys of DH-HMAC-CHAP, as 'nvme gen-dhchap-key' prints them */
#include "config/config.h"

#include <string.h>
#include <sys/stat.h>

#define BASE64	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/* A key of 32, 48 or 64 bytes, with a CRC of four behind it, three bytes a group of four */
static bool key_length(size_t digits)
{
	return digits == 48 || digits == 72 || digits == 92;
}

bool keyfile_is_key(const char *text)
{
	const char *digits;
	size_t len;

	if (strncmp(text, "DHHC-1:0", 8) || text[8] < '0' || text[8] > '3' || text[9] != ':')
		return false;
	digits = text + 10;
	len = strspn(digits, BASE64);
	len += strspn(digits + len, "=");
	return key_length(len) && !strcmp(digits + len, ":");
}

int keyfile_read(const char *path, struct keys *keys)
{
	char *rest = file_read("%s", path), *line;
	unsigned int nr = 0, number = 0;
	struct stat st;

	*keys = (struct keys) { 0 };
	if (!rest)
		return error_msg("--dhchap: %s cannot be read: %m", path);
	if (!stat(path, &st) && st.st_mode & 077)
		note_msg("%s is readable by other users; run 'chmod 600 %s'", path, path);
	while ((line = strsep(&rest, "\n"))) {
		number++;
		if (!*line || *line == '#')
			continue;
		if (!keyfile_is_key(line))
			return error_msg("--dhchap: %s, line %u: invalid key (expected DHHC-1:00:...:, as 'nvme gen-dhchap-key' prints it)",
					 path, number);
		if (nr++ == 0)
			keys->host = line;
		else
			keys->ctrl = line;
	}
	if (!nr || nr > 2)
		return error_msg("--dhchap: %s has %s (expected the host's, and optionally the controller's)",
				 path, count_words(nr, "key"));
	return 0;
}
