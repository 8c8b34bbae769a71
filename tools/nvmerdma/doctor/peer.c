// SPDX-License-Identifier: GPL-2.0
/* The peer: does it answer, does it take a connection, this host, its key? */
#include "doctor/peer.h"

#include <errno.h>
#include <string.h>
#include <uuid/uuid.h>

#include <nvme/types.h>
#include <nvme/util.h>

#define NVMET	"/sys/kernel/config/nvmet"
/* Of Connect: status code type 1, command specific */
#define SC(code)	(NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | (code))
#define ATTRIBUTE_IN_DATA	0x10000u	/* which field is wrong: one of the data */

static const char *random_uuid(void)
{
	char text[UUID_STR_LEN];
	uuid_t uuid;

	uuid_generate(uuid);
	uuid_unparse_lower(uuid, text);
	return mem_str(text);
}

/* Asked once: connections that fail take their time. What the host has no name for is made up. */
static const struct verbs_answer *ask(struct doctor *d)
{
	struct verbs_question question = {
		.address = d->address, .port = d->port,
		.nqn = d->nqn ? d->nqn : NVME_DISC_SUBSYS_NAME,
		.source = d->host_iface && !strchr(d->address, '%') ? d->source : NULL,
		.hostid = d->hostid ? d->hostid : random_uuid(),
	};

	question.hostnqn = d->hostnqn ? d->hostnqn :
			   mem_fmt("nqn.2014-08.org.nvmexpress:uuid:%s", question.hostid);
	d->asked = true;
	verbs_ask(&question, &d->answer);
	return &d->answer;
}

void check_resolve(struct doctor *d)
{
	const struct verbs_answer *answer;

	if (report_skipped(d, d->link ? NULL : "the way leads over no RDMA device"))
		return;
	answer = ask(d);
	if (answer->step <= STEP_PROGRAMS) {
		report(d, FOUND_NOTE, "programs cannot use RDMA: %s", strerror(answer->error));
		report_reason(d, "the disks do not need it; the doctor does, to try the peer");
		report_fix(d, HERE, "modprobe -a rdma_ucm ib_uverbs");
		report_fix(d, HERE, "apt install ibverbs-providers");
	} else if (answer->step == STEP_ADDRESS) {
		report(d, FOUND_ERROR, "%s cannot be resolved to an RDMA device: %s", d->address,
		       strerror(answer->error));
		report_reason(d, answer->error == ENODEV ?
			      "no RDMA device has a GID of this host's address" :
			      "nobody answers for the address: is the peer on, and in this network?");
		report_fix(d, HERE, "ip neigh show to %.*s",
			   (int)strcspn(d->address, "%"), d->address);
	} else if (answer->step == STEP_ROUTE) {
		report(d, FOUND_ERROR, "the RDMA route to %s cannot be resolved: %s", d->address,
		       strerror(answer->error));
		report_reason(d, "over InfiniBand the subnet administrator did not answer, or knows no path in the partition of the interface");
		report_fix(d, HERE, "sminfo && saquery -p");
	} else {
		report(d, FOUND_OK, "%s is reached by %s", d->address, answer->device);
	}
}

/* ---- does it take a connection? ---- */

const char *words_cm_status(unsigned int status)
{
	static const char * const words[] = {
		[1] = "the private data has the wrong length",
		[2] = "it does not know this record format",
		[3] = "it does not take this queue ID",
		[4] = "it does not take a queue with so many commands (HSQSIZE)",
		[5] = "it does not take so few or many receives (HRQSIZE)",
		[6] = "it has no resources for another queue",
		[7] = "this host serves too few RDMA READs (IRD)",
		[8] = "it does not serve so few or many RDMA READs (ORD)",
		[9] = "it does not take this controller ID",
	};

	return status < NR(words) ? words[status] : NULL;
}

/* InfiniBand Architecture Specification, volume 1, "Rejection Reason": of a request without an
 * alternate path
 */
const char *words_cm_reason(unsigned int reason)
{
	static const char * const words[] = {
		[1] = "it has no queue pair left",
		[2] = "it has no end-to-end context left",
		[3] = "it has no resources left",
		[4] = "its time is over: timeout",
		[5] = "it does not support the request",
		[6] = "it knows no such connection",
		[7] = "it knows this connection, and not this instance of it",
		[8] = "nothing listens on this port (invalid service ID)",
		[9] = "it does not take this transport service",
		[10] = "it still has the connection from before (stale)",
		[12] = "it does not take its GID from this side",
		[13] = "it has not this LID",
		[14] = "it does not take this service level",
		[15] = "it does not take this traffic class",
		[16] = "it does not take this hop limit",
		[17] = "it does not take this packet rate",
		[24] = "another connection manager is to be asked (redirected)",
		[25] = "another port is to be used (redirected)",
		[26] = "the MTUs do not fit: it cannot take this path MTU",
		[27] = "its resources for RDMA READs do not suffice",
		[28] = "the listener itself refused",
		[29] = "it does not take this RNR retry count",
		[30] = "it has another connection of the same communication ID",
		[31] = "it does not know this version of the connection manager",
		[32] = "it does not take this flow label",
		[35] = "it does not support an option of the vendor's",
	};

	return reason < NR(words) ? words[reason] : NULL;
}

/* Errors that only the target's side can fix */
static void ask_the_target(struct doctor *d)
{
	report_fix(d, TARGET, "nvmerdma doctor");
	report_fix(d, TARGET, "dmesg | grep nvmet | tail");
}

static void say_rejected(struct doctor *d, const struct verbs_answer *answer)
{
	const char *words = answer->has_nvme_status ? words_cm_status(answer->nvme_status) :
			    words_cm_reason(answer->reason);
	bool nobody = !answer->has_nvme_status && (answer->reason == 8 || answer->reason < 0);

	if (nobody) {
		report(d, FOUND_ERROR, "nothing listens at %s on port %s", d->address, d->port);
		report_reason(d, "no subsystem is linked to a port with that address and number, or the port waits for its address");
		report_fix(d, TARGET, "grep . " NVMET "/ports/*/addr_tr*; ls " NVMET
			   "/ports/*/subsystems/");
		report_fix(d, TARGET, "nvmerdma doctor");
		return;
	}
	if (answer->has_nvme_status)
		report(d, FOUND_ERROR, "the target refuses the connection: %s (NVMe/RDMA status %u)",
		       words ? words : "for an unknown reason", answer->nvme_status);
	else
		report(d, FOUND_ERROR, "the connection is rejected: %s (reason %d)",
		       words ? words : "for an unknown reason", answer->reason);
	if (answer->nvme_status == 6)
		report_reason(d, "its RDMA device, its memory or a limit of its module is used up");
	else
		report_reason(d, "no disk can be had from it as long as it does");
	report_fix(d, TARGET, "grep -r 'refused_.* [1-9]' /sys/kernel/debug/nvmet_rdma/ports");
	ask_the_target(d);
}

void check_connect(struct doctor *d)
{
	const struct verbs_answer *answer = &d->answer;

	switch (answer->step) {
	case STEP_QUEUE:
		report(d, FOUND_ERROR, "%s has no room for a queue: %s", answer->device,
		       strerror(answer->error));
		report_reason(d, "neither will the kernel's host get one");
		report_fix(d, HERE, "rdma resource show");
		break;
	case STEP_CONNECT:
		if (answer->rejected) {
			say_rejected(d, answer);
			break;
		}
		report(d, FOUND_ERROR, "%s does not answer the connection request: %s", d->address,
		       strerror(answer->error));
		report_reason(d, "nobody hears it there, or its answer is lost: see port-blocked");
		report_fix(d, TARGET, "rdma link; rdma resource show cm_id");
		break;
	case STEP_COMMAND:
		report(d, FOUND_ERROR, "the target took the connection and did not answer Connect: %s",
		       strerror(answer->error));
		report_reason(d, "the target hangs, or closed the connection, or packets with data are lost: see mtu-path");
		ask_the_target(d);
		break;
	case STEP_DONE:
		report(d, FOUND_OK, "the target takes connections");
		report_detail(d, "what it offers to this host: nvme discover -t rdma -a %s -s %s",
			      d->address, d->port);
		break;
	default:
		report(d, FOUND_SKIPPED, "%s", !d->asked ? "the way leads over no RDMA device" :
		       answer->step == STEP_PROGRAMS ? "programs cannot use RDMA" :
		       "the address was not resolved");
	}
}

/* Whether packets of this machine meet rules, be they of nft or of iptables-legacy */
static bool has_rules(const struct doctor *d)
{
	const char *nft = program_output(PROGRAM_S, "nft", "list", "ruleset", NULL);

	return (nft && *nft) || *(file_read("%s/proc/net/ip_tables_names", d->root) ?: "") ||
	       *(file_read("%s/proc/net/ip6_tables_names", d->root) ?: "");
}

/*
 * A peer that resolves and does not answer a connection request looks like a firewall. Which
 * rule it is, a person has to see: only what goes through the kernel's network, soft-RoCE
 * and software iWARP, meets the rules of a machine. A card's own RDMA passes below.
 */
void check_port_blocked(struct doctor *d)
{
	const struct verbs_answer *answer = &d->answer;

	if (report_skipped(d, d->link ? NULL : "the way leads over no RDMA device"))
		return;
	if (answer->step > STEP_CONNECT || answer->rejected) {
		report(d, FOUND_OK, "the peer is heard");
		return;
	}
	if (answer->step != STEP_CONNECT || answer->error != ETIMEDOUT) {
		report(d, FOUND_SKIPPED, "no connection request was sent");
		return;
	}
	report(d, FOUND_ERROR, "%s's address resolves%s, and it does not answer a connection request: that is what a firewall looks like",
	       d->address, d->pings ? ", it answers pings" : "");
	if (strcmp(d->link->kind, "iWARP"))
		report_reason(d, "RoCE v2 is UDP to port 4791 in both directions, whatever port the target has (%s)",
			      d->port);
	else
		report_reason(d, "iWARP is TCP to port %s, which has to pass there and between",
			      d->port);
	report_fix(d, TARGET, "nft list ruleset; rdma link");
	if (has_rules(d))
		report_fix(d, HERE, "nft list ruleset");
	report_detail(d, "rules of iptables-legacy, which nft does not show: iptables-legacy -S");
	report_detail(d, "a peer without a running RDMA device looks the same: 'rdma link' there");
}

static bool wrong_subsystem(const struct verbs_answer *answer)
{
	return answer->status == SC(NVME_SC_CONNECT_INVALID_PARAM) &&
	       answer->result == (ATTRIBUTE_IN_DATA |
				  offsetof(struct nvmf_connect_data, subsysnqn));
}

static bool report_no_answer(struct doctor *d)
{
	return report_skipped(d, d->answer.step == STEP_DONE ? NULL :
			      "no connection was made");
}

void check_subsystem(struct doctor *d)
{
	const struct verbs_answer *answer = &d->answer;

	if (report_no_answer(d))
		return;
	if (wrong_subsystem(answer)) {
		report(d, FOUND_ERROR, "there is no subsystem %s at that port", d->nqn);
		report_reason(d, "its name is misspelled, or it is not linked to the port");
		report_fix(d, HERE, "nvme discover -t rdma -a %s -s %s", d->address, d->port);
		report_fix(d, TARGET, "ln -s " NVMET "/subsystems/%s " NVMET "/ports/ID/subsystems/",
			   word_for_shell(d->nqn));
	} else if (answer->status && answer->status != SC(NVME_SC_CONNECT_INVALID_HOST)) {
		report(d, FOUND_ERROR, "%s refuses Connect: %s", d->nqn,
		       nvme_status_to_string(answer->status, false));
		report_reason(d, "'nvme connect' ends the same way");
		ask_the_target(d);
	} else {
		report(d, FOUND_OK, "%s is there", d->nqn);
	}
}

void check_host_allowed(struct doctor *d)
{
	const struct verbs_answer *answer = &d->answer;
	const char *name = d->hostnqn ? word_for_shell(d->hostnqn) : "HOSTNQN";

	if (report_no_answer(d))
		return;
	if (answer->status != SC(NVME_SC_CONNECT_INVALID_HOST)) {
		if (answer->status)
			report(d, FOUND_SKIPPED, "Connect fails before that");
		else
			report(d, FOUND_OK, "%s may use it", name);
		return;
	}
	report(d, FOUND_ERROR, "this host, %s, may not use %s", name, d->nqn);
	report_reason(d, "the subsystem's list of allowed hosts has not this name: \"Connect for subsystem %s is not allowed\", says the kernel",
		      d->nqn);
	report_fix(d, TARGET, "mkdir -p " NVMET "/hosts/%s && ln -s " NVMET "/hosts/%s " NVMET
		   "/subsystems/%s/allowed_hosts/", name, name, word_for_shell(d->nqn));
	report_detail(d, "when it is exported again: nvmerdma export ... --host %s", name);
}

/* A key of this host that nvme-cli would use by itself */
static bool is_configured(struct doctor *d)
{
	const char *text = file_read("%s/etc/nvme/config.json", d->root);

	return text && strstr(text, "\"dhchap_key\"");
}

void check_authentication(struct doctor *d)
{
	const struct verbs_answer *answer = &d->answer;

	if (report_no_answer(d) ||
	    report_skipped(d, answer->status ? "Connect fails before that" : NULL))
		return;
	if (!(answer->result & CONNECT_AUTH_REQUIRED)) {
		report(d, FOUND_OK, "the target wants no key");
	} else if (is_configured(d)) {
		report(d, FOUND_OK, "the target wants a key, and /etc/nvme/config.json has one");
	} else {
		report(d, FOUND_ERROR, "the target wants this host to authenticate, and /etc/nvme/config.json has no key");
		report_reason(d, "'nvme connect' without one fails: \"Required key not available\"");
		report_fix(d, HERE, "nvme connect -t rdma -a %s -s %s -n %s --dhchap-secret \"$(grep -m 1 ^DHHC KEYFILE)\"",
			   d->address, d->port, word_for_shell(d->nqn));
		report_detail(d, "KEYFILE has what the target has in hosts/%s/dhchap_key",
			      d->hostnqn ? d->hostnqn : "HOSTNQN");
	}
}
