// SPDX-License-Identifier: GPL-2.0
/*
 * reconnect: what is tried, how often, and when that ends
 *
 * /dev/nvme-fabrics is a file of the test, which takes a line or is not there. A script of the
 * test runs when the loop waits for the kernel's news, which then come at once.
 */
#include "harness.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/nvmerdma/reconnect/reconnect.h"

#define WAITING	"/run/nvmerdma/waiting"
#define ID_A	"00000000-0000-0000-0000-00000000000a"
#define ID_B	"00000000-0000-0000-0000-00000000000b"

static char root[40] = "/tmp/nvme-rdma-reconnect.XXXXXX";
static const char *why;			/* nothing can be reached */
static struct present present;		/* a controller that there is, if it has a name */
static unsigned int rounds;
static void (*script)(void);		/* in each round */

/* ---- functions that reconnect/retry.c uses ---- */

int poll(struct pollfd *fds, nfds_t nr, int ms)
{
	(void)fds;
	(void)nr;
	(void)ms;
	if (++rounds > 400)
		fail_msg("it does not end");
	if (script)
		script();
	return usleep(10000);
}

struct presents presents(void)
{
	return (struct presents) { .ctrl = &present, .nr = !!present.name };
}

const struct present *present_find(const struct presents *all, const struct record *record)
{
	return all->nr && record_same(&all->ctrl->record, record) ? all->ctrl : NULL;
}

const char *not_reachable_reason(const struct record *record, const struct rdma_addrs *addrs,
				 const struct rdma_links *links)
{
	(void)record;
	(void)addrs;
	(void)links;
	return why;
}

const char *source_towards(const struct record *record)
{
	(void)record;
	return NULL;
}

char *program_output(unsigned int seconds, const char *name, ...)
{
	(void)seconds;
	(void)name;
	return NULL;
}

/* ---- what waits ---- */

static const char *path_of(const char *path)
{
	return mem_fmt("%s%s", root, path);
}

static const char *options_of(const char *nqn, int tmo)
{
	return mem_fmt("transport=rdma,nqn=%s,traddr=192.0.2.2,trsvcid=4420,hostnqn=h,hostid=i,reconnect_delay=1,ctrl_loss_tmo=%d",
		       nqn, tmo);
}

static void waits(const char *id, const char *options)
{
	assert_int_equal(replace_file_unsynced(path_of(mem_fmt(WAITING "/%s", id)),
					       mem_fmt("%s\n", options), 0600), 0);
}

static void fabrics_there(void)
{
	FILE *file = fopen(path_of("/dev/nvme-fabrics"), "w");

	assert_non_null(file);
	fclose(file);
}

static const char *fabrics_took(void)
{
	return file_read("%s/dev/nvme-fabrics", root);
}

static int setup(void **state)
{
	(void)state;
	assert_int_equal(system(mem_fmt("cd %s && rm -rf run dev && mkdir -p dev run/nvmerdma/waiting",
					root)), 0);
	why = NULL;
	present = (struct present) { 0 };
	rounds = 0;
	script = NULL;
	return 0;
}

static void connects(void **state)
{
	(void)state;
	fabrics_there();
	waits(ID_A, options_of("a", 60));
	assert_int_equal(reconnect_all(), 0);
	assert_string_equal(fabrics_took(), options_of("a", 60));
	assert_int_equal(records_waiting().nr, 0);
}

static void nothing(void **state)
{
	(void)state;
	assert_int_equal(reconnect_all(), 0);
	assert_int_equal(rounds, 0);
}

static void reachable_later(void)
{
	/* from then on the attempt, a process of its own, may have written it */
	if (rounds <= 20)
		assert_string_equal(fabrics_took(), "");
	if (rounds == 20)
		why = NULL;
}

static void waits_without_trying(void **state)
{
	(void)state;
	fabrics_there();
	waits(ID_A, options_of("a", 0));
	why = "eth0 has no RDMA device";
	script = reachable_later;
	assert_int_equal(reconnect_all(), 0);
	assert_true(rounds >= 20);
	assert_string_equal(fabrics_took(), options_of("a", 0));
}

static void gives_up(void **state)
{
	unsigned int errors = error_count();

	(void)state;
	waits(ID_A, options_of("a", 2));
	assert_int_equal(reconnect_all(), 0);
	assert_int_equal(error_count(), errors + 1);
	assert_int_equal(records_waiting().nr, 0);
}

static void fabrics_later(void)
{
	static time_t from;

	if (rounds == 1)
		from = time(NULL);
	if (time(NULL) - from >= 4 && access(path_of("/dev/nvme-fabrics"), F_OK))
		fabrics_there();
}

static void tries_for_ever(void **state)
{
	unsigned int errors = error_count();

	(void)state;
	waits(ID_A, options_of("a", -1));
	script = fabrics_later;
	assert_int_equal(reconnect_all(), 0);
	assert_int_equal(error_count(), errors);
	assert_string_equal(fabrics_took(), options_of("a", -1));
}

static void somebody_is_done(void)
{
	if (rounds == 5)
		present.live = true;
	assert_string_equal(fabrics_took(), "");
}

/* While it connects it may fail; once it is live, there is nothing left to do */
static void somebody_connects(void **state)
{
	(void)state;
	fabrics_there();
	waits(ID_A, options_of("a", 60));
	assert_true(record_parse(&present.record, options_of("a", 7)));
	present.name = "nvme7";
	script = somebody_is_done;
	assert_int_equal(reconnect_all(), 0);
	assert_true(rounds >= 5);
	assert_string_equal(fabrics_took(), "");
	assert_int_equal(records_waiting().nr, 0);
}

static void another_comes(void)
{
	if (rounds == 3)
		waits(ID_B, options_of("b", 60));
	if (rounds == 6)
		unlink(path_of(WAITING "/" ID_A));
	if (rounds == 9)
		why = NULL;
}

static void comes_and_is_forgotten(void **state)
{
	(void)state;
	fabrics_there();
	waits(ID_A, options_of("a", 60));
	why = "there is no route to 192.0.2.2";
	script = another_comes;
	assert_int_equal(reconnect_all(), 0);
	assert_string_equal(fabrics_took(), options_of("b", 60));
}

static void one_process(void **state)
{
	(void)state;
	assert_int_equal(reconnect_claim(), 0);
	assert_int_equal(reconnect_claim(), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(connects, setup),
		cmocka_unit_test_setup(nothing, setup),
		cmocka_unit_test_setup(waits_without_trying, setup),
		cmocka_unit_test_setup(gives_up, setup),
		cmocka_unit_test_setup(tries_for_ever, setup),
		cmocka_unit_test_setup(somebody_connects, setup),
		cmocka_unit_test_setup(comes_and_is_forgotten, setup),
		cmocka_unit_test_setup(one_process, setup),
	};
	int failed;

	reconnect_root = mkdtemp(root);
	assert_non_null(reconnect_root);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	assert_int_equal(system(mem_fmt("rm -rf %s", root)), 0);
	mem_release((struct mem_mark){ 0 });
	return failed;
}
