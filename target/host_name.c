// SPDX-License-Identifier: GPL-2.0
/*
 * A file name for a host's NQN.
 *
 * A host chooses its NQN: it may contain slashes, be longer than a file name may be, or be
 * "..". Characters that a name shall not have are replaced by '_', including '~'. So a name
 * with '~' and a number behind it is never that of another NQN.
 *
 * This file is pure: the unit tests compile it in user space.
 */
#include "host_name.h"

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
	       c == ':';
}

/**
 * nvmet_rdma_host_name() - make a file name of an NQN
 * @nqn: whatever a host calls itself
 * @name: filled in, never empty
 *
 * Context: any; touches nothing but its arguments.
 * Return: true if @name is the NQN as it stands; false if other NQNs could have
 * the same name, so that the caller has to add something that tells them apart.
 */
bool nvmet_rdma_host_name(const char *nqn,
			  char name[NVMET_RDMA_HOST_NAME_LEN + 1])
{
	bool same = true;
	size_t i;

	for (i = 0; i < NVMET_RDMA_HOST_NAME_LEN && nqn[i]; i++) {
		/* A name that begins with a dot is hidden, or not allowed */
		bool keep = is_plain(nqn[i]) && (i || nqn[i] != '.');

		name[i] = keep ? nqn[i] : '_';
		same = same && keep;
	}
	if (!i) {
		name[i++] = '_';
		same = false;
	} else if (nqn[i]) {
		same = false;
	}
	name[i] = '\0';
	return same;
}
