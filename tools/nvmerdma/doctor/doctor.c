// SPDX-License-Identifier: GPL-2.0
/* The doctor: its arguments, the order of its checks, and how it ends */
#include "doctor/doctor.h"
#include "command.h"
#include "config/config.h"

#include <getopt.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* No check is begun later than this; the longest one takes less than what is left of a
 * minute.
 */
#define LAST_BEGIN	25

#define ALWAYS		0u
#define WITH_ADDRESS	1u
#define WITH_NQN	2u
#define ON_TARGET	4u
#define BEFORE_ALL	8u	/* what finds the way, and this host's name */
#define PINGS		16u
#define AFTER_PING	32u	/* those that do run before it, though not asked for */
#define ASKS		64u
#define AFTER_ASKING	128u

static const struct check {
	const char *name;
	unsigned int when;
	void (*run)(struct doctor *d);
} checks[] = {
	{ "module-host", ALWAYS, check_module_host },
	{ "module-target", ALWAYS, check_module_target },
	{ "module-fabrics", ALWAYS, check_module_fabrics },
	{ "rdma-device", ALWAYS, check_rdma_device },
	{ "link-state", ALWAYS, check_link_state },
	{ "host-name", BEFORE_ALL, check_host_name },
	{ "target-port", ON_TARGET, check_target_port },
	{ "target-subsystem", ON_TARGET, check_target_subsystem },
	{ "target-namespace", ON_TARGET, check_target_namespace },
	{ "target-hosts", ON_TARGET, check_target_hosts },
	{ "target-refused", ON_TARGET, check_target_refused },
	{ "target-threads", ON_TARGET, check_target_threads },
	{ "address", WITH_ADDRESS | BEFORE_ALL, check_address },
	{ "route", WITH_ADDRESS | BEFORE_ALL, check_route },
	{ "rdma-path", WITH_ADDRESS | BEFORE_ALL, check_rdma_path },
	{ "gid", WITH_ADDRESS, check_gid },
	{ "neighbour", WITH_ADDRESS | PINGS, check_neighbour },
	{ "mtu-path", WITH_ADDRESS | AFTER_PING, check_mtu_path },
	{ "resolve", WITH_ADDRESS | ASKS, check_resolve },
	{ "connect", WITH_ADDRESS | AFTER_ASKING, check_connect },
	{ "port-blocked", WITH_ADDRESS | AFTER_PING | AFTER_ASKING, check_port_blocked },
	{ "subsystem", WITH_ADDRESS | WITH_NQN | AFTER_ASKING, check_subsystem },
	{ "host-allowed", WITH_ADDRESS | WITH_NQN | AFTER_ASKING, check_host_allowed },
	{ "authentication", WITH_ADDRESS | WITH_NQN | AFTER_ASKING, check_authentication },
	{ "queues", ALWAYS, check_queues },
};

static bool is_asked_for(const struct doctor *d, const struct check *check)
{
	return !d->only || d->only_bits & 1u << (check - checks);
}

/* Whether another check, that is asked for, builds on this one */
static bool is_needed(const struct doctor *d, const struct check *check)
{
	unsigned int all = 0;
	size_t i;

	for (i = 0; i < NR(checks); i++)
		all |= is_asked_for(d, &checks[i]) ? checks[i].when : 0;
	return check->when & BEFORE_ALL || (check->when & PINGS && all & AFTER_PING) ||
	       (check->when & ASKS && all & AFTER_ASKING);
}

static bool fits(const struct doctor *d, const struct check *check)
{
	return !(((check->when & WITH_ADDRESS) && !d->address) ||
		 ((check->when & WITH_NQN) && !d->nqn));
}

static void run_checks(struct doctor *d)
{
	time_t begun = seconds_now();
	size_t i, shown = 0;

	for (i = 0; i < NR(checks); i++) {
		bool asked = is_asked_for(d, &checks[i]);
		size_t before = d->nr_findings;

		if (!fits(d, &checks[i]) || !(asked || is_needed(d, &checks[i])))
			continue;
		d->check = checks[i].name;
		if ((checks[i].when & ON_TARGET) && !is_target(d)) {
			if (d->only)
				report(d, FOUND_SKIPPED, "this machine is no target: nvmet has no port and no subsystem");
		} else if (seconds_now() - begun > LAST_BEGIN) {
			report(d, FOUND_SKIPPED, "the other checks took %d s", LAST_BEGIN);
		} else {
			checks[i].run(d);
		}
		if (!asked)
			d->nr_findings = before;
		for (; shown < d->nr_findings && !d->json; shown++)
			print_finding(d, &d->finding[shown]);
	}
}

/* Who asks for checks, and gets none of them, is not to take that for a machine that is well */
static int status_of(const struct doctor *d)
{
	enum severity worst = FOUND_OK;
	bool checked = !d->only;
	size_t i;

	for (i = 0; i < d->nr_findings; i++) {
		checked |= d->finding[i].severity != FOUND_SKIPPED;
		if (d->finding[i].severity > worst)
			worst = d->finding[i].severity;
	}
	return worst == FOUND_ERROR ? DOCTOR_ERRORS :
	       worst == FOUND_WARNING || !checked ? DOCTOR_WARNINGS : DOCTOR_FINE;
}

static void look_around(struct doctor *d)
{
	struct utsname names;

	d->release = file_read("%s/proc/sys/kernel/osrelease", d->root);
	if (!d->release && uname(&names) == 0)
		d->release = mem_str(names.release);
	d->target = configfs_read_below(d->root) ?: node_root();
	d->links = rdma_links();
	d->addrs = rdma_addrs(&d->links);
	if (geteuid())
		note_msg("as root more can be checked: debugfs, firewalls");
}

/* --root is for tests, and in no manual: programs and the network are this machine's */
enum { OPT_ROOT = 256, OPT_ONLY };

static const struct option options[] = {
	{ "port", required_argument, NULL, 'p' },
	{ "nqn", required_argument, NULL, 'n' },
	{ "host-iface", required_argument, NULL, 'f' },
	{ "json", no_argument, NULL, 'j' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "only", required_argument, NULL, OPT_ONLY },
	{ "root", required_argument, NULL, OPT_ROOT },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

/* The status to end with, or -1 */
static int parse_option(struct doctor *d, int c)
{
	const char **text = c == 'p' ? &d->port : c == 'n' ? &d->nqn :
			    c == 'f' ? &d->host_iface : c == OPT_ONLY ? &d->only :
			    c == OPT_ROOT ? &d->root : NULL;
	bool *flag = c == 'j' ? &d->json : c == 'v' ? &d->verbose : NULL;

	if (c == 'h')
		return command_help(&cmd_doctor);
	if (text)
		*text = optarg;
	else if (flag)
		*flag = true;
	else
		return command_usage_hint(&cmd_doctor);
	return -1;
}

/* A check that could not run would look as if all were well */
static int judge_only(struct doctor *d)
{
	char *list = mem_str(d->only), *name;

	while ((name = strsep(&list, ","))) {
		size_t i = 0;

		while (i < NR(checks) && strcmp(checks[i].name, name))
			i++;
		if (i == NR(checks))
			return -usage_error("--only: unknown check \"%s\" (see nvmerdma(8), \"doctor\")",
					    name);
		if ((checks[i].when & WITH_ADDRESS) && !d->address)
			return -usage_error("missing argument: ADDRESS of the target, for the check %s",
					    name);
		if ((checks[i].when & WITH_NQN) && !d->nqn)
			return -usage_error("missing option: --nqn, for the check %s", name);
		d->only_bits |= 1u << i;
	}
	return 0;
}

static int check_arguments(struct doctor *d)
{
	unsigned long port;

	if (number_option("--port", d->port, 1, UINT16_MAX, &port))
		return STATUS_USAGE;
	if (!d->address && (d->nqn || d->host_iface))
		return -usage_error("missing argument: ADDRESS of the target, for --nqn and --host-iface");
	return d->only ? judge_only(d) : 0;
}

static int run(int argc, char **argv)
{
	struct doctor d = { .root = "", .port = "4420" };
	int c, status;

	while ((c = getopt_long(argc, argv, "p:n:f:jvh", options, NULL)) != -1) {
		status = parse_option(&d, c);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		d.address = argv[optind++];
	if (optind < argc)
		return -usage_error("unexpected argument \"%s\" (expected one ADDRESS)",
				    argv[optind]);
	status = check_arguments(&d);
	if (status)
		return status;
	look_around(&d);
	run_checks(&d);
	status = status_of(&d);
	if (d.json)
		print_findings_json(&d, status);
	else
		print_summary(&d, status);
	return status;
}

const struct command cmd_doctor = {
	"doctor", run, "find out why it does not work",
	"[ADDRESS] [OPTIONS]\n\n"
	"Looks at this machine and, with the ADDRESS of a target, at the way to it: what is\n"
	"wrong, why that matters, and the command that fixes it. Nothing is changed.\n\n"
	"  -p, --port PORT        the target's port (4420)\n"
	"  -n, --nqn NQN          a subsystem that this host wants to use\n"
	"  -f, --host-iface IFACE the network interface to go by\n"
	"      --only CHECK,...   these checks alone, by the names in brackets\n"
	"  -j, --json             for programs\n"
	"  -v, --verbose          what was looked at, too\n\n"
	"Status: 0 fine, 3 warnings, or nothing of --only could be checked, 4 errors; 1 failure,\n"
	"2 wrong usage.\n"
};
