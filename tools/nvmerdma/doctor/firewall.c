// SPDX-License-Identifier: GPL-2.0
/*
 * Is the fabric's port blocked? By rules of this machine, which can be read, on the way to a
 * peer or to the ports of a target; or by somebody's who just lets the other side wait.
 *
 * Only what goes through the kernel's network meets its rules: soft-RoCE and software
 * iWARP. A card's own RDMA passes below.
 */
#include "doctor/peer.h"
#include "doctor/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROCE_V2_PORT	4791
#define PORTS		"/sys/kernel/config/nvmet/ports"

/* soft-RoCE names its interface in "parent"; a card has a device of its own below */
static bool is_software(struct doctor *d, const struct rdma_link *link)
{
	const char *dir = mem_fmt("%s/sys/class/infiniband/%s", d->root, link->device);
	const char *words = file_read("%s/node_desc", dir);

	return file_there("%s/parent", dir) || !file_there("%s/device", dir) ||
	       (words && strstr(words, "Software iWARP"));
}

static bool is_iwarp(const struct rdma_link *link)
{
	return !strcmp(link->kind, "iWARP");
}

/* ---- the rules of this machine ---- */

struct rules {
	const char *nft;	/* as 'nft -j' prints them; NULL: it does not */
	const char *unread;	/* why some may be missing; NULL: these are all */
	const char *fix;	/* what shows those */
};

/* nft does not see tables of iptables-legacy; the kernel knows them by name */
static struct rules read_rules(struct doctor *d, bool six)
{
	const char *names = file_read("%s/proc/net/%s_tables_names", d->root, six ? "ip6" : "ip");
	struct rules rules = {
		.nft = program_output(PROGRAM_S, "nft", "-j", "list", "ruleset", NULL),
	};

	if (!rules.nft) {
		rules.unread = program_there("nft") ?
			mem_fmt("'nft -j list ruleset' fails, or takes more than %d s", PROGRAM_S) :
			"there is no program nft";
		rules.fix = program_there("nft") ? "nft list ruleset" : "apt install nftables";
	} else if (!nft_is_whole(rules.nft)) {
		/* nft 1.0.6 breaks off at some tables that are dormant */
		rules.nft = NULL;
		rules.unread = "'nft -j list ruleset' prints no whole JSON";
		rules.fix = "nft list ruleset";
	} else if (names && strstr(names, "filter")) {
		rules.unread = "tables of iptables-legacy, which nft does not show";
		rules.fix = six ? "ip6tables-legacy -S" : "iptables-legacy -S";
	}
	return rules;
}

static void say_unread(struct doctor *d, const struct rules *rules)
{
	report(d, FOUND_SKIPPED, "rules of this machine are not checked: %s", rules->unread);
	report_reason(d, "firewalld, systemd and Docker keep rules in the kernel, whatever programs are installed");
	report_fix(d, HERE, "%s", rules->fix);
}

static const char *port_words(const struct packet *packet)
{
	return mem_fmt("%s port %u%s", strcmp(packet->protocol, "udp") ? "TCP" : "UDP",
		       packet->dport, packet->dport == ROCE_V2_PORT ? ", RoCE v2," : "");
}

/* What a rule is for: the peer alone; where it is not known, a person puts it in */
static const char *peer_word(const struct packet *packet)
{
	return packet->peer ? packet->peer : "HOSTADDRESS";
}

/* In nft's words: the peer alone is let through, and to this port alone */
static const char *accept_words(const struct packet *packet)
{
	return mem_fmt("%s %s %s %s dport %u accept", packet->family,
		       strcmp(packet->hook, "input") ? "daddr" : "saddr", peer_word(packet),
		       packet->protocol, packet->dport);
}

/*
 * A rule of somebody's is not taken away, as it may stop what it is meant to stop, too: one
 * that lets this peer through is put before it.
 */
static void say_rules(struct doctor *d, const struct packet *packet, enum verdict verdict,
		      const struct blocked_by *by)
{
	bool sure = verdict == DROPPED;
	const char *dir = strcmp(packet->hook, "output") ? "comes from" : "goes to";

	report(d, sure ? FOUND_ERROR : FOUND_NOTE, "%s %s dropped by the chain \"%s\" of this machine (%s)",
	       port_words(packet), sure ? "is" : "may be", by->chain,
	       by->handle ? mem_fmt("the rule with handle %s", by->handle) : "its policy");
	if (packet->peer)
		report_reason(d, "what %s the peer does not arrive, so that connections time out; the command lets through what %s this peer alone",
			      dir, dir);
	else
		report_reason(d, "what %s %s does not arrive, so that their connections time out; the command lets through what %s one host alone: HOSTADDRESS",
			      dir, sure ? "hosts" : "some hosts, as it may well be meant,", dir);
	report_fix(d, HERE, "nft insert rule %s %s", by->chain, accept_words(packet));
	report_detail(d, "the rules: nft -a list chain %s", by->chain);
	report_detail(d, "the rule is lost when the rules are reloaded: add it to what loads them (/etc/nftables.conf, firewalld, ufw), too");
}

/* False: none drops it; of what is not read, nothing is said */
static bool judge(struct doctor *d, const struct packet *packet, const struct rules *rules)
{
	struct blocked_by by = { 0 };
	enum verdict verdict = rules->nft ? nft_judge(rules->nft, packet, &by) : PASSES;

	if (verdict == DROPPED || verdict == PERHAPS)
		say_rules(d, packet, verdict, &by);
	return verdict == DROPPED || verdict == PERHAPS;
}

/* What a peer of iWARP sends back goes to a port of its connection's own */
static bool judge_peer(struct doctor *d, const struct rules *rules)
{
	bool iwarp = is_iwarp(d->link), found_one;
	struct packet packet = {
		.hook = "output", .protocol = iwarp ? "tcp" : "udp",
		.family = d->family == AF_INET6 ? "ip6" : "ip",
		.dport = iwarp ? strtoul(d->port, NULL, 10) : ROCE_V2_PORT, .iface = d->iface,
		.peer = mem_strn(d->address, strcspn(d->address, "%")), .own = d->source,
	};

	found_one = judge(d, &packet, rules);
	packet.hook = "input";
	return (!iwarp && judge(d, &packet, rules)) || found_one;
}

/* ---- the way to a peer ---- */

void report_fix_firewall(struct doctor *d)
{
	if (!d->source)
		report_fix(d, TARGET, "nft list ruleset");
	else if (is_iwarp(d->link))
		report_fix(d, TARGET, "nvmerdma doctor --only target-blocked");
	else
		report_fix(d, TARGET, "nvmerdma doctor %s --only port-blocked", d->source);
}

static void say_symptom(struct doctor *d, const struct rules *rules)
{
	bool iwarp = is_iwarp(d->link);

	report(d, FOUND_ERROR, "%s's address resolves%s, and it does not answer a connection request: that is what a firewall looks like",
	       d->address,
	       d->pings ? ", it answers pings" : "");
	report_reason(d, iwarp ? "iWARP is TCP to port %s, which has to pass there and between" :
		      "RoCE v2 is UDP to port 4791 in both directions, whatever port the target has (%s)",
		      d->port);
	report_fix_firewall(d);
	report_fix(d, TARGET, "nft list ruleset; rdma link");
	if (rules->unread)
		report_fix(d, HERE, "%s", rules->fix);
	report_detail(d, "the doctor says there which rule it is, and what to type; not with a card whose RDMA passes below the rules");
	report_detail(d, "a peer without a running RDMA device looks the same: 'rdma link' there");
}

void check_port_blocked(struct doctor *d)
{
	const struct verbs_answer *answer = &d->peer->answer;
	bool silent = answer->step == STEP_CONNECT && !answer->rejected &&
		      answer->error == ETIMEDOUT;
	struct rules rules = { 0 };
	bool judged;

	if (report_skipped(d, d->link ? NULL : "the way leads over no RDMA device"))
		return;
	judged = is_software(d, d->link) && !geteuid();
	if (judged) {
		rules = read_rules(d, d->family == AF_INET6);
		/* a rule that may drop it is not all there is to say of a peer that is silent */
		if (judge_peer(d, &rules) &&
		    !(silent && d->finding[d->nr_findings - 1].severity == FOUND_NOTE))
			return;
	}
	if (silent)
		say_symptom(d, &rules);
	else if (answer->step > STEP_CONNECT)
		report(d, FOUND_OK, "the peer is heard");
	else if (rules.unread)
		say_unread(d, &rules);
	else if (judged)
		report(d, FOUND_OK, "no rule of this machine drops it");
	else
		report(d, FOUND_SKIPPED, geteuid() ? "only root may read the rules" :
		       "the card's RDMA passes below this machine's rules");
}

/* ---- what comes in to this target ---- */

/* Packets to look for, each once: several ports may listen at one address */
struct packets {
	struct packet *packet;
	size_t nr;
};

static void add_packet(struct packets *all, const struct rdma_link *link, const char *own,
		       bool six, const char *service)
{
	bool iwarp = is_iwarp(link);
	struct packet new = {
		.hook = "input", .protocol = iwarp ? "tcp" : "udp", .family = six ? "ip6" : "ip",
		.dport = iwarp ? strtoul(service, NULL, 10) : ROCE_V2_PORT, .iface = link->netdev,
		.own = own,
	};
	size_t i;

	for (i = 0; i < all->nr; i++) {
		const struct packet *old = &all->packet[i];

		if (old->dport == new.dport && !strcmp(old->family, new.family) &&
		    !strcmp(old->protocol, new.protocol) && !strcmp(old->iface, new.iface) &&
		    !strcmp(old->own ? old->own : "", own ? own : ""))
			return;
	}
	mem_push(all->packet, all->nr, new);
}

static const char *port_attr(struct doctor *d, const char *id, const char *attr)
{
	const char *value = file_read("%s" PORTS "/%s/addr_%s", d->root, id, attr);

	return value ? value : "";
}

/* By an address to one interface; by that which stands for all, to all interfaces */
static void add_port(struct doctor *d, struct packets *all, const char *id)
{
	const char *traddr = port_attr(d, id, "traddr"), *service = port_attr(d, id, "trsvcid");
	bool six = strchr(traddr, ':'), any = !strcmp(traddr, "0.0.0.0") || !strcmp(traddr, "::");
	const struct rdma_addr *addr = rdma_addr_find(&d->addrs, traddr);
	const struct rdma_link *link;

	if (strcmp(port_attr(d, id, "trtype"), "rdma") ||
	    !names_in("%s" PORTS "/%s/subsystems", d->root, id).nr)
		return;
	if (addr && addr->link && is_software(d, addr->link))
		add_packet(all, addr->link, mem_strn(traddr, strcspn(traddr, "%")), six, service);
	for_each_link(link, &d->links) {
		if (any && link->netdev && is_software(d, link))
			add_packet(all, link, NULL, six, service);
	}
}

void check_target_blocked(struct doctor *d)
{
	struct names ports = names_in("%s" PORTS, d->root);
	struct rules rules[2] = { 0 }, *of;
	struct packets all = { 0 };
	bool bad = false;
	size_t i;

	for (i = 0; i < ports.nr; i++)
		add_port(d, &all, ports.name[i]);
	if (!all.nr || geteuid()) {
		report(d, FOUND_SKIPPED, all.nr ? "only root may read the rules" :
		       "no port listens on software RDMA, and a card's passes below this machine's rules");
		return;
	}
	for (i = 0; i < all.nr; i++) {
		of = &rules[!strcmp(all.packet[i].family, "ip6")];
		if (!of->nft && !of->unread)
			*of = read_rules(d, of == &rules[1]);
		bad |= judge(d, &all.packet[i], of);
	}
	if (!bad && (rules[0].unread || rules[1].unread))
		say_unread(d, rules[0].unread ? &rules[0] : &rules[1]);
	else if (!bad)
		report(d, FOUND_OK, "no rule of this machine drops what comes to its ports");
}
