/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Controllers that ended with their RDMA device, and are connected again when it is back.
 *
 * udev's rule tells of each controller: it is connected, its RDMA device was removed, it was
 * deleted. A file for each, below RECONNECT_DIR, keeps its options. What the kernel deletes
 * for its device moves from "connected" to "waiting"; what ends in another way is dropped.
 */
#ifndef NVMERDMA_RECONNECT_H
#define NVMERDMA_RECONNECT_H

#include "common/util.h"
#include "rdma/rdma.h"

#define RECONNECT_DIR	"/run/nvmerdma"

extern const char *reconnect_root;	/* "", but in tests: before all paths */

/* ---- record.c ---- */

/* ctrl_options() - of "nvme0", a line for /dev/nvme-fabrics, without keys; NULL: it has gone, or
 * another module has it
 */
const char *ctrl_options(const char *ctrl);
/* ctrl_state() - its state in sysfs; NULL: it has gone */
const char *ctrl_state(const char *ctrl);
/* state_is_deleting() - is such a controller being deleted? */
bool state_is_deleting(const char *state);

/* Tells a file from one that has replaced it */
struct record_stamp {
	ino_t inode;
	struct timespec written;
};

/*
 * A record is a line for /dev/nvme-fabrics, as the module shows it in debugfs, with the keys
 * of DH-HMAC-CHAP; a line "source ADDRESS", the address that this machine had towards the
 * controller; and a line "beside NAME...", controllers that were there when its device was
 * removed, and would otherwise be taken for one that somebody has connected in its place.
 * Only root may read it.
 */
struct record {
	const char *id;			/* its file in "waiting"; NULL in "connected" */
	struct record_stamp stamp;
	const char *options;		/* the line for /dev/nvme-fabrics */
	const char *source;		/* NULL: not known */
	const char *beside;		/* "nvme3 nvme5"; NULL: none */
	/* parts of the options; NULL: not given */
	const char *nqn, *address, *service, *host_traddr, *host_iface, *hostnqn, *hostid;
	unsigned int reconnect_delay;	/* seconds */
	int ctrl_loss_tmo;		/* seconds; -1: for ever */
};

struct records {
	struct record *record;
	size_t nr;
};

#define for_each_record(one, records)						\
	for ((one) = (records)->record; (one) < (records)->record + (records)->nr; (one)++)

/* record_parse() - false: it is no record */
bool record_parse(struct record *record, const char *text);
/* record_id() - the same for the same controller, address and host, and safe as a file name */
const char *record_id(const struct record *record);
/* record_words() - "NQN at ADDRESS:SERVICE", safe for a terminal */
const char *record_words(const struct record *record);
/* record_same() - would the two be controllers for the same thing? */
bool record_same(const struct record *a, const struct record *b);

/*
 * What udev's rule says of a controller, "nvme0"; 0, or -1 and it was said.
 *
 * record_connected() also drops a waiting record of the same: somebody has connected it.
 */
int record_connected(const char *ctrl);
int record_device_removed(const char *ctrl);
int record_deleted(const char *ctrl);

/* records_waiting() - those that wait; a file that is none is said and removed */
struct records records_waiting(void);
/* record_remove() - unless another one has replaced it */
void record_remove(const char *id, const struct record_stamp *stamp);

/* reconnect_claim() - be the only process that connects; 0, or -1 and it was said */
int reconnect_claim(void);

/* ---- ready.c ---- */

/* A controller that there is */
struct present {
	const char *name;		/* nvme0 */
	bool live;
	struct record record;
};

struct presents {
	struct present *ctrl;
	size_t nr;
};

/* presents() - all controllers of the module but those that are being deleted */
struct presents presents(void);
/* present_find() - the one that is what a record is for; NULL: there is none */
const struct present *present_find(const struct presents *all, const struct record *record);

/* not_reachable_reason() - why it makes no sense to connect now, in words; NULL: it does */
const char *not_reachable_reason(const struct record *record, const struct rdma_addrs *addrs,
				 const struct rdma_links *links);
/* source_towards() - this machine's address towards a controller; NULL: it cannot be told */
const char *source_towards(const struct record *record);

/* ---- retry.c ---- */

/* reconnect_all() - connect what waits, and return when nothing does; 0, or -1 and it was said */
int reconnect_all(void);

#endif
