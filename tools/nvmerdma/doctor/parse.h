/* SPDX-License-Identifier: GPL-2.0 */
/* What other programs and the peer say, taken apart: pure, for the unit test */
#ifndef NVMERDMA_DOCTOR_PARSE_H
#define NVMERDMA_DOCTOR_PARSE_H

#include "common/util.h"

/* ---- doctor/parse.c ---- */

/*
 * parse_dkms() - the state of a package for a kernel, in what 'dkms status' prints
 *
 * @version: set to a version of the package, NULL if DKMS does not know it
 *
 * "added", "built", "installed" with what DKMS warns of, as in its words; NULL: it does
 * not name that kernel.
 */
const char *parse_dkms(const char *status, const char *package, const char *release,
		       const char **version);

/* parse_list_count() - how many numbers are in "0-3,8", as cpulist is written */
unsigned int parse_list_count(const char *list);

/* ---- doctor/roce.c: how large RoCE packets are ---- */

#define ROCE_LEAST_MTU	256
#define ROCE_MOST_MTU	4096

/* roce_mtu() - how much data a packet has, 256, 512, ... 4096, with an interface of that MTU;
 * 0: too small for any
 */
unsigned int roce_mtu(unsigned int mtu);
/* roce_least_mtu() - the smallest MTU that RoCE can do with */
unsigned int roce_least_mtu(void);
/* roce_packet() - the bytes, from its IP header on, of the largest packet of NVMe with so
 * much data
 */
unsigned int roce_packet(unsigned int data, bool ip6);

/* ---- doctor/cm-strings.c: what a peer answered, and what that means ---- */

/* word_is_address() - an IP address in figures, with a zone or without, and not one letter
 * that a shell or a terminal would make something of
 */
bool word_is_address(const char *word);

/* words_cm_status() - an NVMe/RDMA status of RDMA_CM_REJECT; NULL: none that is known */
const char *words_cm_status(unsigned int status);
/* words_cm_reason() - a reason of InfiniBand's CM, also of RoCE */
const char *words_cm_reason(unsigned int reason);

/* ---- doctor/nft.c: would a packet get through? ---- */

enum verdict { PASSES, DROPPED, PERHAPS };

/* What is looked for: a packet of @protocol to port @dport, by @iface, in @hook ("input",
 * "output")
 */
struct packet {
	const char *hook;
	const char *protocol;	/* "udp", "tcp" */
	const char *family;	/* "ip" or "ip6" */
	unsigned int dport;
	const char *iface;
	const char *peer, *own;	/* addresses, NULL: not known */
};

struct blocked_by {
	const char *chain;	/* "inet filter input" */
	const char *handle;	/* of the rule; NULL: the chain's policy */
};

/* Whether 'nft -j list ruleset' has printed all that it has to */
bool nft_is_whole(const char *ruleset);

/*
 * nft_judge() - what the rules that 'nft -j list ruleset' prints make of a packet
 *
 * What is not understood of a rule may match or not: PERHAPS, if that decides.
 */
enum verdict nft_judge(const char *ruleset, const struct packet *packet, struct blocked_by *by);

#endif
