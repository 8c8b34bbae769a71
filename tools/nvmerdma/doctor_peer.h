/* SPDX-License-Identifier: GPL-2.0 */
/* What was learned of the peer so far */
#ifndef NVMERDMA_DOCTOR_PEER_H
#define NVMERDMA_DOCTOR_PEER_H

#include "doctor.h"
#include "doctor_verbs.h"

#define DISCOVERY_NQN	"nqn.2014-08.org.nvmexpress.discovery"

struct nvmf_disc_log_entry;

struct peer {
	bool asked;			/* by verbs; then @answer is about @nqn */
	const char *nqn;
	struct verbs_answer answer;
	bool discovered;
	struct nvmf_disc_log_entry *entry;
	size_t nr_entries;
	uint64_t left_out;		/* of the log's entries */
};

/* ---- doctor_discovery.c ---- */

/* entry_nqn() - whether the discovery log has a subsystem for this host, of any address */
bool entry_nqn(const struct peer *peer, const char *nqn);

/* ---- doctor_firewall.c ---- */

/* mend_firewall() - what is to be typed on a target that seems to have one */
void mend_firewall(struct doctor *d);

/* ---- doctor_fabrics.c: the kernel's own host ---- */

/*
 * fabrics_connect() - connect as 'nvme connect' does, for at most 15 seconds
 *
 * One controller at a time. It goes with fabrics_disconnect(), or with this process; so does
 * one that the kernel connects after the 15 seconds.
 *
 * @options: of /dev/nvme-fabrics, beside address, port and this host's name
 * @name: set to the controller's name
 *
 * 0, or an errno; the last finding gets what the kernel says about it by
 * fabrics_details().
 */
int fabrics_connect(struct doctor *d, const char *nqn, const char *options,
		    const char **name);
void fabrics_details(struct doctor *d);
/* fabrics_said() - whether the kernel has said these words about it */
bool fabrics_said(const char *words);
/* fabrics_disconnect() - takes it away again; false if it is there still */
bool fabrics_disconnect(struct doctor *d, const char *name);

#endif
