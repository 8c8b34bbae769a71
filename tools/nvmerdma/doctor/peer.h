/* SPDX-License-Identifier: GPL-2.0 */
/* What the doctor has learned of the peer, and how */
#ifndef NVMERDMA_DOCTOR_PEER_H
#define NVMERDMA_DOCTOR_PEER_H

#include "doctor/doctor.h"
#include "doctor/verbs.h"

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

/* ---- doctor/discovery.c ---- */

/* entry_nqn() - whether the discovery log has a subsystem for this host, of any address */
bool entry_nqn(const struct peer *peer, const char *nqn);

/* ---- doctor/firewall.c ---- */

/* report_fix_firewall() - what is to be typed on a target that seems to have one */
void report_fix_firewall(struct doctor *d);

/* ---- doctor/fabrics.c: the kernel's own host ---- */

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

/* What ip(8) says of the way to the peer */

/* ip_bare() - an address without its zone, as ip(8) takes it */
const char *ip_bare(const char *address);

/* ip_find_route() - sets @d's iface, source and gateway; false if there is no route */
bool ip_find_route(struct doctor *d);

/* ip_is_on_network() - whether the peer is on a network of @iface, with no gateway between */
bool ip_is_on_network(const struct doctor *d, const char *iface);

/* ip_own_route() - "over eth0 via 192.0.2.1" of a route to the peer alone, which somebody
 * has set; NULL if there is none
 */
const char *ip_own_route(const struct doctor *d);

/* Who has to answer on the interface's network: the peer, or the gateway to it */
struct neighbour {
	const char *address;
	const char *state;	/* "REACHABLE", "FAILED", ... "NONE" */
	const char *lladdr;	/* its hardware address, or NULL */
};

struct neighbour ip_neighbour(const struct doctor *d);

/* The limits of nvmet-rdma, and what to load it with where they do not fit */

/* Parameters of the module, see nvmet-rdma(4) */
enum limit {
	HOST_QUEUES, HOST_PENDING, MAX_PENDING, HOST_UNPROVED, MAX_UNPROVED,
	HOST_PENDING_MB, MAX_PENDING_MB, BUFFER_CACHE_MB, NR_LIMITS
};

/* What connections were refused for: bits */
#define BEYOND_HOST_QUEUES	1u
#define BEYOND_HOST_PENDING	2u
#define BEYOND_MAX_PENDING	4u
#define BEYOND_HOST_UNPROVED	8u
#define BEYOND_MAX_UNPROVED	16u

struct limits {
	uint64_t of[NR_LIMITS];
	uint64_t mb;		/* memory of the machine */
	uint64_t devices;	/* that may have buffers */
};

/* limits_read() - those in force; false if our module is not loaded */
bool limits_read(struct limits *limits, const char *root);
/* limits_pending_mb() - what all hosts may take before Connect; 0 stands for a quarter */
uint64_t limits_pending_mb(const struct limits *limits);
/* limits_cache_mb() - what unused buffers may take */
uint64_t limits_cache_mb(const struct limits *limits);
/* limits_too_high() - the two together are more than half of the machine */
bool limits_too_high(const struct limits *limits);
/*
 * limits_better() - what fits the machine, and refuses less of what was @refused
 *
 * Memory bounds that: false if it is what is in force.
 */
bool limits_better(struct limits *better, const struct limits *now, unsigned int refused);
/*
 * limits_options() - the line for a file of modprobe.d
 *
 * All that differs from the module's defaults, or from what is in force: with what else
 * files there say, nothing that was set is lost.
 */
const char *limits_options(const struct limits *better, const struct limits *now);

#endif
