// SPDX-License-Identifier: GPL-2.0
/* Who this host says it is: /etc/nvme/hostnqn and hostid */
#include "doctor/doctor.h"

#include <string.h>

#include <uuid/uuid.h>

#define NQN_MOST	223	/* NVMe base specification, "NVMe Qualified Names" */
#define UUID_PREFIX	"nqn.2014-08.org.nvmexpress:uuid:"

/* Names that are on many machines: of tools' examples, and of firmware without a UUID */
static bool is_generic(const char *nqn)
{
	static const char * const uuids[] = {
		"00000000-0000-0000-0000-000000000000",
		"ffffffff-ffff-ffff-ffff-ffffffffffff",
		"03000200-0400-0500-0006-000700080009",
		"12345678-1234-5678-90ab-cddeefaabbcc",
		"11111111-1111-1111-1111-111111111111",
	};
	size_t i;

	if (strstr(nqn, "localhost") || strstr(nqn, "example"))
		return true;
	for (i = 0; i < NR(uuids); i++) {
		if (strcasestr(nqn, uuids[i]))
			return true;
	}
	return false;
}

/* A comma begins the next option where the kernel is told */
static bool is_nqn(const char *nqn)
{
	return strlen(nqn) <= NQN_MOST && (!strncmp(nqn, "nqn.", 4)) && strchr(nqn, ':') &&
	       !strpbrk(nqn, " \t\n,");
}

static void say_bad_name(struct doctor *d, const char *nqn)
{
	if (!nqn)
		report(d, d->address ? FOUND_ERROR : FOUND_NOTE, "this host has no name: there is no /etc/nvme/hostnqn");
	else if (!is_nqn(nqn))
		report(d, FOUND_ERROR, "/etc/nvme/hostnqn holds \"%s\", which is no NQN",
		       safe_words(nqn));
	else
		report(d, FOUND_WARNING, "this host's name, %s, is one that others may have",
		       safe_words(nqn));
	if (nqn && is_nqn(nqn))
		report_reason(d, "a target takes hosts of one name for one, and gives it what the other may have; where this name is in a list of allowed hosts, the new one has to be, too");
	else
		report_reason(d, "a target knows and admits hosts by their name, and 'nvme connect' needs it");
	/* 'nvme gen-hostnqn' makes the same name for all machines whose firmware has no UUID */
	report_fix(d, HERE, "mkdir -p /etc/nvme && echo " UUID_PREFIX
		   "$(cat /proc/sys/kernel/random/uuid) >/etc/nvme/hostnqn");
	report_fix(d, HERE, "sed 's/.*uuid://' /etc/nvme/hostnqn >/etc/nvme/hostid");
}

/* What nvme-cli takes for the ID where there is none; NULL: the name has none */
static const char *uuid_in(const char *nqn)
{
	const char *id = nqn + strlen(UUID_PREFIX);
	uuid_t uuid;

	return !strncmp(nqn, UUID_PREFIX, strlen(UUID_PREFIX)) && !uuid_parse(id, uuid) ? id : NULL;
}

void check_host_name(struct doctor *d)
{
	const char *nqn = file_read("%s/etc/nvme/hostnqn", d->root);
	const char *id = file_read("%s/etc/nvme/hostid", d->root);
	bool has_id;
	uuid_t uuid;

	has_id = id && !uuid_parse(id, uuid) && !uuid_is_null(uuid);
	if (nqn && is_nqn(nqn)) {
		d->hostnqn = nqn;
		d->hostid = has_id ? id : uuid_in(nqn);
	}
	if (!d->hostnqn || is_generic(nqn)) {
		say_bad_name(d, nqn);
		return;
	}
	if (!has_id) {
		report(d, d->address ? FOUND_WARNING : FOUND_NOTE, "%s", id ?
		       mem_fmt("/etc/nvme/hostid holds no UUID: \"%s\"", safe_words(id)) :
		       "there is no /etc/nvme/hostid");
		report_reason(d, "reservations tell hosts apart by it, and newer kernels refuse one name with two of them");
		report_fix(d, HERE, uuid_in(nqn) ?
			   "sed 's/.*uuid://' /etc/nvme/hostnqn >/etc/nvme/hostid" :
			   "cat /proc/sys/kernel/random/uuid >/etc/nvme/hostid");
		return;
	}
	report(d, FOUND_OK, "this host is %s", safe_words(nqn));
	report_detail(d, "its identifier: %s", id);
}
