// SPDX-License-Identifier: GPL-2.0
/*
 * Is the fabric's port blocked? By rules of this machine, which can be read, or by
 * somebody's who just lets the other side wait.
 *
 * Only what goes through the kernel's network meets its rules: soft-RoCE and software
 * iWARP. A card's own RDMA passes below.
 */
#include "doctor_peer.h"
#include "doctor_parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PROGRAM_S	5
#define ROCE_V2_PORT	4791

/* soft-RoCE names its interface in "parent"; a card has a device of its own below */
static bool is_software(struct doctor *d)
{
	const char *dir = mem_fmt("%s/sys/class/infiniband/%s", d->root, d->link->device);
	const char *words = file_read("%s/node_desc", dir);

	return file_there("%s/parent", dir) || !file_there("%s/device", dir) ||
	       (words && strstr(words, "Software iWARP"));
}

static bool is_iwarp(struct doctor *d)
{
	return !strcmp(d->link->kind, "iWARP");
}

static const char *port_words(const struct packet *packet)
{
	return mem_fmt("%s port %u%s", strcmp(packet->protocol, "udp") ? "TCP" : "UDP",
		       packet->dport, packet->dport == ROCE_V2_PORT ? ", RoCE v2," : "");
}

/* In nft's words: the peer alone is let through, and to this port alone */
static const char *accept_words(struct doctor *d, const struct packet *packet)
{
	return mem_fmt("%s %s %.*s %s dport %u accept", packet->family,
		       strcmp(packet->hook, "input") ? "daddr" : "saddr",
		       (int)strcspn(d->address, "%"), d->address, packet->protocol,
		       packet->dport);
}

/*
 * A rule of somebody's is not taken away, as it may stop what it is meant to stop, too: one
 * that lets this peer through is put before it.
 */
static void say_rules(struct doctor *d, const struct packet *packet, enum verdict verdict,
		      const struct blocked_by *by, const char *iptables)
{
	bool sure = verdict == DROPPED, goes = !strcmp(packet->hook, "output");
	const char *rule = !by->rule ? "its policy" : iptables ? by->handle : by->rule;

	found(d, sure ? FOUND_ERROR : FOUND_NOTE, "%s %s dropped by the chain \"%s\" of this machine (%s)",
	      port_words(packet), sure ? "is" : "may be", by->chain, rule);
	because(d, "what %s the peer does not arrive, so that connections time out; the command lets through what %s this peer alone",
		goes ? "goes to" : "comes from", goes ? "goes to" : "comes from");
	if (iptables)
		mend(d, HERE, "%s -I %s -%c %.*s -p %s --dport %u -j ACCEPT", iptables,
		     goes ? "OUTPUT" : "INPUT", goes ? 'd' : 's',
		     (int)strcspn(d->address, "%"), d->address, packet->protocol, packet->dport);
	else
		mend(d, HERE, "nft insert rule %s %s", by->chain, accept_words(d, packet));
	detail(d, "it is gone when the rules are loaded anew: what loads them (/etc/nftables.conf, firewalld, ufw) has to have it, too");
}

/* The rules of nft, and those that it does not see, which @iptables has printed */
static enum verdict judge(struct doctor *d, const struct packet *packet, const char *rules,
			  const char *saved, const char *iptables)
{
	struct blocked_by by = { 0 };
	enum verdict verdict = rules ? nft_judge(rules, packet, &by) : PASSES;

	if (verdict != PASSES) {
		say_rules(d, packet, verdict, &by, NULL);
		return verdict;
	}
	verdict = saved ? iptables_judge(saved, packet, &by) : PASSES;
	if (verdict != PASSES)
		say_rules(d, packet, verdict, &by, iptables);
	return verdict;
}

static bool check_rules(struct doctor *d)
{
	bool six = d->family == AF_INET6, iwarp = is_iwarp(d);
	struct packet packet = {
		.hook = "output", .protocol = iwarp ? "tcp" : "udp", .family = six ? "ip6" : "ip",
		.dport = iwarp ? strtoul(d->port, NULL, 10) : ROCE_V2_PORT, .iface = d->iface,
		.peer = mem_strn(d->address, strcspn(d->address, "%")), .own = d->source,
	};
	const char *rules, *saved, *iptables;
	bool found_one;

	rules = output(PROGRAM_S, "nft", "-a", "list", "ruleset", NULL);
	iptables = mem_fmt("%s%s", six ? "ip6tables" : "iptables", rules ? "-legacy" : "");
	saved = output(PROGRAM_S, mem_fmt("%s-save", iptables), "-t", "filter", NULL);
	found_one = judge(d, &packet, rules, saved, iptables) != PASSES;
	packet.hook = "input";
	/* what an iWARP peer sends goes to a port of its connection's own */
	if (!iwarp && judge(d, &packet, rules, saved, iptables) != PASSES)
		found_one = true;
	return found_one;
}

void mend_firewall(struct doctor *d)
{
	const char *family = d->family == AF_INET ? "ip" : "ip6";

	/* there the doctor does not look for who comes in by iWARP */
	if (d->source && is_iwarp(d))
		mend(d, TARGET, "nft insert rule inet TABLE CHAIN %s saddr %s tcp dport %s accept",
		     family, d->source, d->port);
	else if (d->source)
		mend(d, TARGET, "nvmerdma doctor %s --only port-blocked", d->source);
	else
		mend(d, TARGET, "nft list ruleset");
}

static void say_symptom(struct doctor *d)
{
	bool iwarp = is_iwarp(d);

	found(d, FOUND_ERROR, "%s's address resolves%s, and it does not answer a connection request: that is what a firewall looks like",
	      d->address,
	      d->pings ? ", it answers pings" : "");
	because(d, iwarp ? "iWARP is TCP to port %s, which has to pass there and between" :
		"RoCE v2 is UDP to port 4791 in both directions, whatever port the target has (%s)",
		d->port);
	mend_firewall(d);
	mend(d, TARGET, "nft list ruleset; rdma link");
	detail(d, "the doctor says there which rule it is, and what to type; not with a card whose RDMA passes below the rules");
	detail(d, "a peer without a running RDMA device looks the same: 'rdma link' there");
}

void check_port_blocked(struct doctor *d)
{
	const struct verbs_answer *answer = &d->peer->answer;
	bool root = !geteuid(), software, said = false;

	if (!d->link) {
		found(d, FOUND_SKIPPED, "the way leads over no RDMA device");
		return;
	}
	software = is_software(d);
	if (software && root)
		said = check_rules(d);
	if (!said && answer->step == STEP_CONNECT && !answer->rejected &&
	    answer->error == ETIMEDOUT) {
		say_symptom(d);
	} else if (!said && answer->step > STEP_CONNECT) {
		found(d, FOUND_OK, "the peer is heard");
	} else if (!said && software && root) {
		found(d, FOUND_OK, "no rule of this machine drops it");
	} else if (!said) {
		found(d, FOUND_SKIPPED, root ? "the card's RDMA passes below this machine's rules" :
		      "only root may read the rules");
	}
}
