/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The doctor: checks, and what they find.
 *
 * A check is a row of the table in doctor/doctor.c. Its name is for people to search for: it
 * is in the manual page, in --json, in brackets in the text, and is not changed. It says
 * what it finds by report(), at least once, in the order from this machine's modules to
 * the peer's subsystem, so that the first error is where to begin.
 *
 * Files of the kernel and of /etc are looked for below a root, for tests, which make them
 * up: --root names it. What programs, the network and RDMA devices say is of this machine.
 */
#ifndef NVMERDMA_DOCTOR_DOCTOR_H
#define NVMERDMA_DOCTOR_DOCTOR_H

#include "common/util.h"
#include "config/tree.h"
#include "doctor/verbs.h"
#include "rdma/rdma.h"

/* How 'nvmerdma doctor' ends, beside STATUS_FAILED (1) and STATUS_USAGE (2): what was
 * worst. Notes count as fine, and so does what was not checked beside others.
 */
enum doctor_status {
	DOCTOR_FINE	= 0,
	DOCTOR_WARNINGS	= 3,	/* or nothing of what was asked for could be checked */
	DOCTOR_ERRORS	= 4,
};

enum severity {
	FOUND_OK,
	FOUND_SKIPPED,		/* not checked; the words say for want of what */
	FOUND_NOTE,		/* as it may well be meant */
	FOUND_WARNING,		/* it works, less well or not for long */
	FOUND_ERROR,		/* it does not work for this */
};

enum where {
	HERE,			/* to be typed on this machine */
	TARGET,			/* on the one that has the disks */
};

struct remedy {
	enum where where;
	const char *command;
};

struct finding {
	const char *check;
	enum severity severity;
	const char *what;	/* a sentence without its period */
	const char *why;	/* why that matters, or NULL */
	struct remedy *remedy;
	size_t nr_remedies;
	const char **detail;	/* shown by --verbose, and in --json */
	size_t nr_details;
};

struct doctor {
	/* asked for */
	const char *root;	/* "", but in tests */
	const char *address;	/* of the peer, as typed; NULL: this machine alone */
	const char *port;	/* "4420" */
	const char *nqn;
	const char *host_iface;
	const char *only;	/* names of checks, with commas; NULL: all */
	unsigned int only_bits;	/* those, a bit for each */
	bool json, verbose;
	/* what everybody wants to know */
	const char *release;	/* of the kernel that runs */
	const char *hostnqn, *hostid;	/* NULL: none, or not well-formed */
	struct node *target;	/* what it has configured as one */
	struct rdma_links links;
	struct rdma_addrs addrs;
	/* the way to the peer, as far as it was found: doctor/path.c */
	const char *iface, *source;
	const char *gateway;	/* NULL: the peer is on the interface's network */
	const struct rdma_link *link;
	int family;
	bool is_self;		/* the peer is this machine */
	bool pings;		/* it answered one */
	bool asked;		/* by a connection of our own, of which this is the answer */
	struct verbs_answer answer;
	/* what was found */
	const char *check;	/* the check that is on */
	struct finding *finding;
	size_t nr_findings;
};

/* ---- doctor/report.c ---- */

/* report() - says something; the last finding is what report_reason() and the others add to */
void report(struct doctor *d, enum severity severity, const char *fmt, ...) PRINTF(3, 4);
void report_reason(struct doctor *d, const char *fmt, ...) PRINTF(2, 3);
/* report_fix() - a command that a shell takes as it is; words in capitals are to be replaced */
void report_fix(struct doctor *d, enum where where, const char *fmt, ...) PRINTF(3, 4);
void report_detail(struct doctor *d, const char *fmt, ...) PRINTF(2, 3);

/* report_skipped() - whether a check is skipped: for what reason, or NULL */
static inline bool report_skipped(struct doctor *d, const char *why)
{
	if (why)
		report(d, FOUND_SKIPPED, "%s", why);
	return why;
}

/* print_finding() - for people; print_summary() - how many of what; print_findings_json() */
void print_finding(const struct doctor *d, const struct finding *f);
void print_summary(const struct doctor *d, int status);
void print_findings_json(const struct doctor *d, int status);

/* ---- doctor/target.c ---- */

/* target_listens() - a subsystem is linked to one of its RDMA ports */
bool target_listens(const struct doctor *d);
/* is_target() - it has subsystems or ports */
bool is_target(const struct doctor *d);
/* report_fix_reload_target() - the command that loads nvmet-rdma anew, with what is exported; where
 * target_listens(), it has to be said what that interrupts
 */
void report_fix_reload_target(struct doctor *d);

/* ---- the checks, by file ---- */

void check_module_host(struct doctor *d);	/* doctor/modules.c */
void check_module_target(struct doctor *d);
void check_module_fabrics(struct doctor *d);

void check_rdma_device(struct doctor *d);	/* doctor/rdma.c */
void check_link_state(struct doctor *d);

void check_host_name(struct doctor *d);		/* doctor/host.c */
void check_queues(struct doctor *d);		/* doctor/queues.c */

void check_target_port(struct doctor *d);	/* doctor/target.c */
void check_target_subsystem(struct doctor *d);
void check_target_hosts(struct doctor *d);
void check_target_refused(struct doctor *d);
void check_target_threads(struct doctor *d);	/* doctor/threads.c */

void check_target_namespace(struct doctor *d);	/* doctor/namespace.c */

void check_address(struct doctor *d);		/* doctor/path.c */
void check_route(struct doctor *d);
void check_rdma_path(struct doctor *d);
void check_gid(struct doctor *d);
void check_neighbour(struct doctor *d);
void check_mtu_path(struct doctor *d);	/* doctor/mtu.c */

void check_resolve(struct doctor *d);		/* doctor/peer.c */
void check_connect(struct doctor *d);
void check_port_blocked(struct doctor *d);
void check_subsystem(struct doctor *d);
void check_host_allowed(struct doctor *d);
void check_authentication(struct doctor *d);

#endif
