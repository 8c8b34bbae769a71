// SPDX-License-Identifier: GPL-2.0
/*
 * Records of controllers, in files.
 *
 * A file in "connected" has the kernel's name of the controller, as udev handles the events of
 * one name in order. A file in "waiting" has a name made of a hash: names of controllers are
 * used again, and an NQN may have been chosen by a target that wishes nobody well.
 *
 * Each change of "waiting" is under a lock, so that a record that has just been replaced is not
 * removed in place of the old one.
 */
#include "reconnect/reconnect.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONNECTED	RECONNECT_DIR "/connected"
#define WAITING		RECONNECT_DIR "/waiting"

/* Space of the UUIDs that records have for names */
#define ID_SPACE	"00000000-0000-0000-0000-000000000000"

const char *reconnect_root = "";

/* ---- what a record says ---- */

/* The value of an option, or "" of one that has none; NULL: it is not given */
static const char *option(const char *options, const char *key)
{
	size_t len = strlen(key);

	for (; *options; options += *options == ',') {
		size_t end = strcspn(options, ",");

		if (end >= len && !strncmp(options, key, len) &&
		    (end == len || options[len] == '='))
			return end == len ? "" : mem_strn(options + len + 1, end - len - 1);
		options += end;
	}
	return NULL;
}

static int number(const char *options, const char *key, int absent)
{
	const char *text = option(options, key);

	return text ? atoi(text) : absent;
}

bool record_parse(struct record *record, const char *text)
{
	const char *options = mem_strn(text, strcspn(text, "\n"));
	const char *transport = option(options, "transport");
	int delay = number(options, "reconnect_delay", 10);

	*record = (struct record) {
		.options = options,
		.source = text_value(text, "source"),
		.beside = text_value(text, "beside"),
		.nqn = option(options, "nqn"),
		.address = option(options, "traddr"),
		.service = option(options, "trsvcid"),
		.host_traddr = option(options, "host_traddr"),
		.host_iface = option(options, "host_iface"),
		.hostnqn = option(options, "hostnqn"),
		.hostid = option(options, "hostid"),
		.reconnect_delay = delay > 0 ? delay : 1,
		.ctrl_loss_tmo = number(options, "ctrl_loss_tmo", 600),
	};
	return transport && !strcmp(transport, "rdma") && record->nqn && record->address &&
	       record->service && record->hostnqn && record->hostid;
}

const char *record_id(const struct record *r)
{
	const char *name = mem_fmt("%s\n%s\n%s\n%s\n%s\n%s\n%s", r->nqn, r->address, r->service,
				   r->host_traddr ?: "", r->host_iface ?: "", r->hostnqn,
				   r->hostid);

	return name_uuid(ID_SPACE, name);
}

const char *record_words(const struct record *r)
{
	return mem_fmt(strchr(r->address, ':') ? "%s at [%s]:%s" : "%s at %s:%s",
		       safe_words(r->nqn), r->address, r->service);
}

/* Of the same bytes, in whatever spelling */
static bool same_address(const char *a, const char *b)
{
	const char *zone_a = strchr(a, '%') ?: "", *zone_b = strchr(b, '%') ?: "";
	struct in6_addr bytes_a, bytes_b;
	int family;

	if (!rdma_addr_parse(a, &bytes_a, &family) || !rdma_addr_parse(b, &bytes_b, &family))
		return !strcmp(a, b);
	return !memcmp(&bytes_a, &bytes_b, sizeof(bytes_a)) && !strcmp(zone_a, zone_b);
}

/*
 * Of two that differ in whether they name an address or an interface of this machine, one
 * may be what somebody has typed in place of the other.
 */
bool record_same(const struct record *a, const struct record *b)
{
	if (strcmp(a->nqn, b->nqn) || !same_address(a->address, b->address) ||
	    strcmp(a->service, b->service) || strcmp(a->hostnqn, b->hostnqn) ||
	    strcmp(a->hostid, b->hostid))
		return false;
	if (a->host_traddr && b->host_traddr && !same_address(a->host_traddr, b->host_traddr))
		return false;
	return !a->host_iface || !b->host_iface || !strcmp(a->host_iface, b->host_iface);
}

/* ---- its file ---- */

static int make_dir(const char *name)
{
	const char *path = mem_fmt("%s%s", reconnect_root, name);

	if (mkdir(path, 0700) && errno != EEXIST)
		return error_msg("the directory %s cannot be made: %m", path);
	return 0;
}

static int make_dirs(void)
{
	return make_dir(RECONNECT_DIR) || make_dir(CONNECTED) || make_dir(WAITING) ? -1 : 0;
}

/* Ends with the file descriptor; -1: it was said */
static int lock_dir(const char *name, int how)
{
	const char *path = mem_fmt("%s%s", reconnect_root, name);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return error_msg("the directory %s cannot be opened: %m", path);
	while (flock(fd, how)) {
		if (errno == EINTR)
			continue;
		if (errno == EWOULDBLOCK)
			error_msg("another process connects again what a removed RDMA device took: see 'systemctl status nvmerdma-reconnect'");
		else
			error_msg("the directory %s cannot be locked: %m", path);
		close(fd);
		return -1;
	}
	return fd;
}

int reconnect_claim(void)
{
	/* held until this process ends */
	return make_dirs() || lock_dir(WAITING, LOCK_EX | LOCK_NB) < 0 ? -1 : 0;
}

/* ---- what the kernel says of a controller ---- */

const char *ctrl_options(const char *ctrl)
{
	return file_read("%s/sys/kernel/debug/nvme_rdma/%s/options", reconnect_root, ctrl);
}

const char *ctrl_state(const char *ctrl)
{
	return file_read("%s/sys/class/nvme/%s/state", reconnect_root, ctrl);
}

bool state_is_deleting(const char *state)
{
	return !strncmp(state, "deleting", strlen("deleting"));
}

/* A key that the kernel has for the controller, as an option */
static const char *with_key(const char *options, const char *ctrl, const char *key)
{
	const char *value = file_read("%s/sys/class/nvme/%s/%s", reconnect_root, ctrl, key);

	return value && *value && strcmp(value, "none") ?
	       mem_fmt("%s,%s=%s", options, key, value) : options;
}

/* The options of a controller as they are now, with its keys; NULL: as ctrl_options() */
static const char *read_options(const char *ctrl)
{
	const char *options = ctrl_options(ctrl);

	if (!options)
		return NULL;
	options = with_key(options, ctrl, "dhchap_secret");
	return with_key(options, ctrl, "dhchap_ctrl_secret");
}

/* nvme-cli has such a controller only while it reads a discovery log page */
static bool is_for_a_moment(const struct record *record)
{
	return option(record->options, "discovery") &&
	       !number(record->options, "keep_alive_tmo", 0);
}

static const char *file_text(const struct record *record)
{
	return mem_fmt("%s\n%s%s%s%s%s%s", record->options,
		       record->source ? "source " : "", record->source ?: "",
		       record->source ? "\n" : "",
		       record->beside ? "beside " : "", record->beside ?: "",
		       record->beside ? "\n" : "");
}

/* Whether its file is to be there */
static bool is_wanted(const char *ctrl, struct record *record)
{
	const char *options = read_options(ctrl);

	if (!options || !record_parse(record, options) || is_for_a_moment(record))
		return false;
	record->source = source_towards(record);
	return true;
}

static bool is_ctrl_name(const char *ctrl)
{
	const char *digits = ctrl + strlen("nvme");

	if (!strncmp(ctrl, "nvme", strlen("nvme")) && *digits && strlen(digits) < 10 &&
	    !digits[strspn(digits, "0123456789")])
		return true;
	error_msg("invalid controller \"%s\" (expected nvme and a number)", ctrl);
	return false;
}

static const char *connected_file(const char *ctrl)
{
	return mem_fmt("%s" CONNECTED "/%s", reconnect_root, ctrl);
}

static const char *waiting_file(const char *id)
{
	return mem_fmt("%s" WAITING "/%s", reconnect_root, id);
}

/* Not there, which is as good, or it was said */
static int remove_file(const char *path)
{
	if (unlink(path) && errno != ENOENT)
		return error_msg("%s cannot be removed: %m", path);
	return 0;
}

int record_connected(const char *ctrl)
{
	struct record record;
	int lock, err;

	if (!is_ctrl_name(ctrl))
		return -1;
	if (!is_wanted(ctrl, &record))
		return remove_file(connected_file(ctrl));
	if (make_dirs() ||
	    replace_file_unsynced(connected_file(ctrl), file_text(&record), 0600))
		return -1;
	lock = lock_dir(RECONNECT_DIR, LOCK_EX);
	if (lock < 0)
		return -1;
	err = remove_file(waiting_file(record_id(&record)));
	close(lock);
	return err;
}

/*
 * Options may have been changed since the file was written. The controller of this name may
 * be another one by now.
 */
static void refresh(const char *ctrl, struct record *record)
{
	const char *state = ctrl_state(ctrl);
	const char *options = state && state_is_deleting(state) ? read_options(ctrl) : NULL;
	struct record now;

	if (options && record_parse(&now, options) &&
	    !strcmp(record_id(&now), record_id(record)))
		record->options = now.options;
}

/* A second path over another device may differ in no more than what is given of this machine */
static void note_neighbours(struct record *record)
{
	struct presents all = presents();
	size_t i;

	for (i = 0; i < all.nr; i++) {
		const struct present *other = &all.ctrl[i];

		if (record_same(&other->record, record) &&
		    strcmp(record_id(&other->record), record_id(record)))
			record->beside = record->beside ?
				mem_fmt("%s %s", record->beside, other->name) : other->name;
	}
}

int record_device_removed(const char *ctrl)
{
	const char *text, *waiting;
	struct record record;
	int lock, err;

	if (!is_ctrl_name(ctrl) || make_dirs())
		return -1;
	text = file_read("%s", connected_file(ctrl));
	if (!text || !record_parse(&record, text)) {
		/* one for a moment, or one that udev has not seen connected */
		note_msg("%s ended with its RDMA device, and is not connected again: there is no record of it",
			 ctrl);
		return 0;
	}
	refresh(ctrl, &record);
	note_neighbours(&record);
	if (replace_file_unsynced(connected_file(ctrl), file_text(&record), 0600))
		return -1;
	waiting = waiting_file(record_id(&record));
	lock = lock_dir(RECONNECT_DIR, LOCK_EX);
	if (lock < 0)
		return -1;
	err = rename(connected_file(ctrl), waiting);
	if (err)
		error_msg("%s cannot be renamed to %s: %m", connected_file(ctrl), waiting);
	close(lock);
	return err ? -1 : 0;
}

int record_deleted(const char *ctrl)
{
	return is_ctrl_name(ctrl) ? remove_file(connected_file(ctrl)) : -1;
}

static struct record_stamp stamp_of(const struct stat *st)
{
	return (struct record_stamp) { .inode = st->st_ino, .written = st->st_mtim };
}

struct records records_waiting(void)
{
	struct names names = names_in("%s" WAITING, reconnect_root);
	struct records records = { 0 };
	size_t i;

	for (i = 0; i < names.nr; i++) {
		const char *path = waiting_file(names.name[i]);
		struct record record;
		struct stat st;
		const char *text;

		/* in this order: a file that is replaced in between is taken for another one */
		text = stat(path, &st) ? NULL : file_read("%s", path);
		if (!text)
			continue;
		if (!record_parse(&record, text)) {
			error_msg("%s is not a record of a controller: it is removed", path);
			remove_file(path);
			continue;
		}
		record.id = names.name[i];
		record.stamp = stamp_of(&st);
		mem_push(records.record, records.nr, record);
	}
	return records;
}

void record_remove(const char *id, const struct record_stamp *stamp)
{
	int lock = lock_dir(RECONNECT_DIR, LOCK_EX);
	struct record_stamp now;
	struct stat st;

	if (!stat(waiting_file(id), &st)) {
		now = stamp_of(&st);
		if (now.inode == stamp->inode &&
		    now.written.tv_sec == stamp->written.tv_sec &&
		    now.written.tv_nsec == stamp->written.tv_nsec)
			remove_file(waiting_file(id));
	}
	if (lock >= 0)
		close(lock);
}
