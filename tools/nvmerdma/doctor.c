// SPDX-License-Identifier: GPL-2.0
/* The doctor: its arguments, the order of its checks, and how it ends */
#include "doctor.h"
#include "nvmerdma.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* No check is begun later than this; the longest one takes less than what is left of a
 * minute.
 */
#define LAST_BEGIN	25

#define ALWAYS		0u
#define WITH_ADDRESS	1u
#define WITH_NQN	2u
#define ON_TARGET	4u
/* What must have run before, if only some are asked for */
#define AFTER_PING	8u
#define AFTER_ASKING	16u
#define AFTER_LOG	32u	/* of discovery */
#define AFTER_DISCOVERY	(AFTER_LOG | AFTER_ASKING)
#define BEFORE_ALL	64u	/* what finds the way, and this host's name */

static const struct check {
	const char *name;
	unsigned int when;
	void (*run)(struct doctor *d);
} checks[] = {
	{ "module-host", ALWAYS, check_module_host },
	{ "module-target", ALWAYS, check_module_target },
	{ "module-fabrics", ALWAYS, check_module_fabrics },
	{ "module-kernel", ALWAYS, check_module_kernel },
	{ "dkms", ALWAYS, check_dkms },
	{ "secure-boot", ALWAYS, check_secure_boot },
	{ "rdma-device", ALWAYS, check_rdma_device },
	{ "interface-down", ALWAYS, check_interface },
	{ "link-state", ALWAYS, check_link_state },
	{ "roce-mode", ALWAYS, check_roce_mode },
	{ "user-verbs", ALWAYS, check_user_verbs },
	{ "host-name", BEFORE_ALL, check_host_name },
	{ "target-port", ON_TARGET, check_target_port },
	{ "target-subsystem", ON_TARGET, check_target_subsystem },
	{ "target-namespace", ON_TARGET, check_target_namespace },
	{ "target-hosts", ON_TARGET, check_target_hosts },
	{ "target-refused", ON_TARGET, check_target_refused },
	{ "target-memory", ON_TARGET, check_target_memory },
	{ "address", WITH_ADDRESS | BEFORE_ALL, check_address },
	{ "route", WITH_ADDRESS | BEFORE_ALL, check_route },
	{ "rdma-path", WITH_ADDRESS | BEFORE_ALL, check_rdma_path },
	{ "gid", WITH_ADDRESS, check_gid },
	{ "roce-version", WITH_ADDRESS, check_roce_version },
	{ "neighbour", WITH_ADDRESS, check_neighbour },
	{ "mtu", WITH_ADDRESS, check_mtu },
	{ "mtu-path", WITH_ADDRESS | AFTER_PING, check_mtu_path },
	{ "resolve", WITH_ADDRESS, check_resolve },
	{ "connect", WITH_ADDRESS | AFTER_ASKING, check_connect },
	{ "port-blocked", WITH_ADDRESS | AFTER_PING | AFTER_ASKING, check_port_blocked },
	{ "discovery", WITH_ADDRESS | AFTER_ASKING, check_discovery },
	{ "discovery-address", WITH_ADDRESS | AFTER_DISCOVERY, check_discovery_address },
	{ "subsystem", WITH_ADDRESS | WITH_NQN | AFTER_DISCOVERY, check_subsystem },
	{ "host-allowed", WITH_ADDRESS | WITH_NQN | AFTER_DISCOVERY, check_host_allowed },
	{ "authentication", WITH_ADDRESS | WITH_NQN | AFTER_ASKING, check_authentication },
	{ "counters-device", ALWAYS, check_device_counters },
	{ "counters-host", ALWAYS, check_host_counters },
	{ "counters-target", ON_TARGET, check_target_counters },
	{ "queues", ALWAYS, check_queues },
	{ "vectors", ALWAYS, check_vectors },
	{ "numa", ALWAYS, check_numa },
	{ "iommu", ALWAYS, check_iommu },
};

#define FORMAT(text, fmt)					\
	do {							\
		va_list ap_;					\
								\
		va_start(ap_, fmt);				\
		if (vasprintf(&(text), fmt, ap_) < 0)		\
			(text) = NULL;				\
		va_end(ap_);					\
	} while (0)

static const char *kept(char *text)
{
	char *copy = mem_str(text ? text : "?");

	free(text);
	return copy;
}

void found(struct doctor *d, enum severity severity, const char *fmt, ...)
{
	struct finding *f;
	char *text;

	FORMAT(text, fmt);
	d->finding = mem_grow(d->finding, d->nr_findings, sizeof(*f));
	f = &d->finding[d->nr_findings++];
	*f = (struct finding) { .check = d->check, .severity = severity, .what = kept(text) };
}

static struct finding *last_found(struct doctor *d)
{
	return &d->finding[d->nr_findings - 1];
}

void because(struct doctor *d, const char *fmt, ...)
{
	char *text;

	FORMAT(text, fmt);
	last_found(d)->why = kept(text);
}

void mend(struct doctor *d, enum where where, const char *fmt, ...)
{
	struct finding *f = last_found(d);
	char *text;

	FORMAT(text, fmt);
	f->remedy = mem_grow(f->remedy, f->nr_remedies, sizeof(*f->remedy));
	f->remedy[f->nr_remedies++] = (struct remedy) { where, kept(text) };
}

void detail(struct doctor *d, const char *fmt, ...)
{
	struct finding *f = last_found(d);
	char *text;

	FORMAT(text, fmt);
	f->detail = mem_grow(f->detail, f->nr_details, sizeof(*f->detail));
	f->detail[f->nr_details++] = kept(text);
}

static bool is_asked_for(const struct doctor *d, const char *name)
{
	const char *at = d->only;
	size_t len;

	for (; at && *at; at += len + (at[len] == ',')) {
		len = strcspn(at, ",");
		if (strlen(name) == len && !strncmp(at, name, len))
			return true;
	}
	return !d->only;
}

/* Whether another check, that is asked for, builds on this one */
static bool is_needed(const struct doctor *d, const struct check *check)
{
	unsigned int after = 0;
	size_t i;

	for (i = 0; i < NR(checks); i++) {
		if (is_asked_for(d, checks[i].name))
			after |= checks[i].when;
	}
	return (check->when & BEFORE_ALL) ||
	       ((after & AFTER_PING) && !strcmp(check->name, "neighbour")) ||
	       ((after & AFTER_ASKING) && !strcmp(check->name, "resolve")) ||
	       ((after & AFTER_LOG) && !strcmp(check->name, "discovery"));
}

static bool fits(const struct doctor *d, const struct check *check)
{
	return !(((check->when & WITH_ADDRESS) && !d->address) ||
		 ((check->when & WITH_NQN) && !d->nqn) ||
		 ((check->when & ON_TARGET) && !d->is_target));
}

static time_t seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void run_checks(struct doctor *d)
{
	time_t begun = seconds_now();
	size_t i, shown = 0;

	for (i = 0; i < NR(checks); i++) {
		bool asked = is_asked_for(d, checks[i].name);
		size_t before = d->nr_findings;

		if (!fits(d, &checks[i]) || !(asked || is_needed(d, &checks[i])))
			continue;
		d->check = checks[i].name;
		if (seconds_now() - begun > LAST_BEGIN)
			found(d, FOUND_SKIPPED, "the other checks took %d s", LAST_BEGIN);
		else
			checks[i].run(d);
		if (!asked)
			d->nr_findings = before;
		for (; shown < d->nr_findings && !d->json; shown++)
			report_finding(d, &d->finding[shown]);
	}
}

static int status_of(const struct doctor *d)
{
	enum severity worst = FOUND_OK;
	size_t i;

	for (i = 0; i < d->nr_findings; i++) {
		if (d->finding[i].severity > worst)
			worst = d->finding[i].severity;
	}
	return worst == FOUND_ERROR ? DOCTOR_ERRORS :
	       worst == FOUND_WARNING ? DOCTOR_WARNINGS : DOCTOR_FINE;
}

static void look_around(struct doctor *d)
{
	struct utsname names;

	d->release = file_read("%s/proc/sys/kernel/osrelease", d->root);
	if (!d->release && uname(&names) == 0)
		d->release = mem_str(names.release);
	d->is_target = names_in("%s/sys/kernel/config/nvmet/subsystems", d->root).nr ||
		       names_in("%s/sys/kernel/config/nvmet/ports", d->root).nr;
	d->links = rdma_links();
	d->addrs = rdma_addrs(&d->links);
	if (geteuid())
		warn("as root more can be checked: debugfs, firewalls, discovery");
}

enum { OPT_ROOT = 256, OPT_DHCHAP, OPT_ONLY };

static const struct option options[] = {
	{ "port", required_argument, NULL, 'p' },
	{ "nqn", required_argument, NULL, 'n' },
	{ "host-iface", required_argument, NULL, 'f' },
	{ "dhchap", required_argument, NULL, OPT_DHCHAP },
	{ "json", no_argument, NULL, 'j' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "only", required_argument, NULL, OPT_ONLY },
	{ "root", required_argument, NULL, OPT_ROOT },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

/* The status to end with, or -1 */
static int take_option(struct doctor *d, int c)
{
	const char **text = c == 'p' ? &d->port : c == 'n' ? &d->nqn :
			    c == 'f' ? &d->host_iface : c == OPT_DHCHAP ? &d->keyfile :
			    c == OPT_ONLY ? &d->only : c == OPT_ROOT ? &d->root : NULL;
	bool *flag = c == 'j' ? &d->json : c == 'v' ? &d->verbose : NULL;

	if (c == 'h')
		return command_help(&cmd_doctor);
	if (text)
		*text = optarg;
	else if (flag)
		*flag = true;
	else
		return command_misused(&cmd_doctor);
	return -1;
}

/* The first of --only that is no check; NULL: there is none */
static const char *unknown_check(const struct doctor *d)
{
	const char *at = d->only;
	size_t i, len;

	for (; at && *at; at += len + (at[len] == ',')) {
		len = strcspn(at, ",");
		for (i = 0; i < NR(checks); i++) {
			if (strlen(checks[i].name) == len && !strncmp(at, checks[i].name, len))
				break;
		}
		if (i == NR(checks))
			return mem_strn(at, len);
	}
	return NULL;
}

static int judge_arguments(const struct doctor *d)
{
	char *end;
	unsigned long port = strtoul(d->port, &end, 10);

	if (unknown_check(d))
		return -usage_error("there is no check \"%s\"; nvmerdma(8) has them all",
				    unknown_check(d));
	if (*end || !port || port > 65535)
		return -usage_error("--port takes 1 to 65535, \"%s\" came", d->port);
	if (!d->address && (d->nqn || d->keyfile || d->host_iface))
		return -usage_error("--nqn, --dhchap and --host-iface need the target's ADDRESS");
	if (d->keyfile && !d->nqn)
		return -usage_error("--dhchap needs --nqn, the subsystem that the key is for");
	return 0;
}

static int run(int argc, char **argv)
{
	struct doctor d = { .root = "", .port = "4420" };
	int c, status;

	while ((c = getopt_long(argc, argv, "p:n:f:jvh", options, NULL)) != -1) {
		status = take_option(&d, c);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		d.address = argv[optind++];
	if (optind < argc)
		return -usage_error("one ADDRESS is enough, \"%s\" came, too", argv[optind]);
	status = judge_arguments(&d);
	if (status)
		return status;
	look_around(&d);
	run_checks(&d);
	status = status_of(&d);
	if (d.json)
		report_json(&d, status);
	else
		report_end(&d);
	return status;
}

const struct command cmd_doctor = {
	"doctor", run, "find out why it does not work",
	"[ADDRESS] [OPTIONS]\n\n"
	"Looks at this machine and, with the ADDRESS of a target, at the way to it: what is\n"
	"wrong, why that matters, and the command that mends it. Nothing is changed.\n\n"
	"  -p, --port PORT        the target's port (4420)\n"
	"  -n, --nqn NQN          a subsystem that this host wants to use\n"
	"  -f, --host-iface IFACE the network interface to go by\n"
	"      --dhchap KEYFILE   this host's key, to try it: connects for a moment\n"
	"      --only CHECK,...   these checks alone, by the names in brackets\n"
	"  -j, --json             for programs\n"
	"  -v, --verbose          what was looked at, too\n"
	"      --root DIR         look at the files of the system below DIR\n\n"
	"Status: 0 fine, 3 warnings, 4 errors were found; 1 failure, 2 wrong usage.\n"
};
