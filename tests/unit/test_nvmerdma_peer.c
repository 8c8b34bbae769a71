// SPDX-License-Identifier: GPL-2.0
/* tools/nvmerdma/doctor: the peer's words, and this host's name */
#include "machine.h"

/* ---- the identity of this host ---- */

#define UUID_A	"aaaaaaaa-0000-4000-8000-000000000001"
#define UUID_B	"bbbbbbbb-0000-4000-8000-000000000002"
#define NQN_A	"nqn.2014-08.org.nvmexpress:uuid:" UUID_A

static void host_id(void **state)
{
	static const struct {
		const char *nqn, *hostid, *want;
		enum severity severity;
	} rows[] = {
		{ NQN_A, UUID_B, UUID_B, FOUND_OK },
		{ NQN_A, "", UUID_A, FOUND_WARNING },
		{ NQN_A, "nonsense", UUID_A, FOUND_WARNING },
		{ "nqn.2026-01.org.host:one", "", NULL, FOUND_WARNING },
		{ "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-0000-0000-000000000000", UUID_B,
		  UUID_B, FOUND_WARNING },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(rows); i++) {
		struct doctor d = machine(NULL);

		unit_context("%s, %s", rows[i].nqn, rows[i].hostid);
		file_is("etc/nvme/hostnqn", rows[i].nqn);
		file_is("etc/nvme/hostid", rows[i].hostid);
		check_host_name(&d);
		finds(&d, rows[i].severity, "");
		assert_string_equal(d.hostnqn, rows[i].nqn);
		if (rows[i].want)
			assert_string_equal(d.hostid, rows[i].want);
		else
			assert_null(d.hostid);
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
	check_resolve(&d);
	finds(&d, FOUND_NOTE, "programs cannot use RDMA");
	mends(&d, 0, "modprobe -a rdma_ucm ib_uverbs");
	d = machine(NULL);
	d.asked = true;
	d.answer.step = STEP_PROGRAMS;
	check_connect(&d);
	finds(&d, FOUND_SKIPPED, "programs cannot use RDMA");
	unit_context("no address");
	d = machine(NULL);
	d.asked = true;
	d.answer.step = STEP_ADDRESS;
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
		d.answer.step = STEP_DONE;
		d.answer.result = rows[i].result;
		check_authentication(&d);
		finds(&d, rows[i].wants ? FOUND_ERROR : FOUND_OK,
		      rows[i].wants ? "wants this host to authenticate" : "wants no key");
		if (rows[i].wants)
			mends(&d, 0, "nvme connect -t rdma -a 192.0.2.9 -s 4420 -n 'nqn.x:a b' --dhchap-secret \"$(grep -m 1 ^DHHC KEYFILE)\"");
	}
}

static void refusals(void **state)
{
	static const unsigned int none[] = { 0, 11, 18, 34, 36, 1u << 31 };
	size_t i;

	(void)state;
	assert_non_null(strstr(words_cm_status(6), "resources"));
	assert_null(words_cm_status(0));
	assert_null(words_cm_status(1000));
	assert_non_null(strstr(words_cm_reason(8), "nothing listens"));
	assert_non_null(strstr(words_cm_reason(10), "stale"));
	assert_non_null(words_cm_reason(35));
	for (i = 0; i < NR(none); i++)
		assert_null(words_cm_reason(none[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_id),
		cmocka_unit_test(host_name),
		cmocka_unit_test(left_out),
		cmocka_unit_test(wants_a_key),
		cmocka_unit_test(refusals),
	};

	return run_on_machine(tests, NR(tests));
}
