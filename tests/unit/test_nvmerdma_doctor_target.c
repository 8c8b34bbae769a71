// SPDX-License-Identifier: GPL-2.0
/* tools/nvmerdma/doctor: checks of files below a root, and the commands that they print */
#include "harness.h"
#include "shell.h"

#include <string.h>
#include <unistd.h>

#include "tools/nvmerdma/config/config.h"
#include "tools/nvmerdma/doctor/doctor.h"

#define NVMET	"/sys/kernel/config/nvmet"
#define SHOWN	"/sys/kernel/debug/nvmet_rdma"

/* mkdtemp() fills it in */
static char top[sizeof("/tmp/nvmerdma-doctor.XXXXXX")];
static struct doctor d;

static void put(const char *path, const char *text)
{
	const char *name = mem_fmt("%s%s", top, path);
	FILE *f;

	sh("mkdir -p '%.*s'", (int)(strrchr(name, '/') - name), name);
	f = fopen(name, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int setup(void **state)
{
	(void)state;
	strcpy(top, "/tmp/nvmerdma-doctor.XXXXXX");
	assert_non_null(mkdtemp(top));
	d = (struct doctor) { .root = top, .check = "test", .release = "6.12.1" };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sh("rm -rf %s", top);
	mem_release((struct mem_mark) { 0 });
	return 0;
}

/* The only finding: its severity, and words that are in it */
static const struct finding *finds(void (*check)(struct doctor *d), enum severity severity,
				   const char *words)
{
	d.nr_findings = 0;
	d.target = configfs_read_below(top);
	check(&d);
	if (d.nr_findings != 1)
		fail_msg("%zu findings, the first: %s", d.nr_findings, d.finding[0].what);
	if (d.finding->severity != severity || !strstr(d.finding->what, words))
		fail_msg("%d: %s", d.finding->severity, d.finding->what);
	return d.finding;
}

static void assert_command(const struct finding *f, size_t i, const char *command)
{
	assert_true(i < f->nr_remedies);
	assert_string_equal(f->remedy[i].command, command);
}

/* ---- findings that are kept ---- */

static void a_peers_words(void **state)
{
	(void)state;
	report(&d, FOUND_NOTE, "the name \x1b]52;c;x\x07 and \xff");
	report_reason(&d, "a\rb");
	report_fix(&d, HERE, "ls %s", "\x1b[2J");
	report_fix(&d, HERE, "ls /");
	assert_string_equal(d.finding->what, "the name ?]52;c;x? and ?");
	assert_string_equal(d.finding->why, "a?b");
	assert_int_equal(d.finding->nr_remedies, 1);
	assert_command(d.finding, 0, "ls /");
	assert_non_null(strstr(d.finding->detail[0], "left out"));
}

static void words_of_a_shell(void **state)
{
	(void)state;
	assert_string_equal(word_for_shell("nqn.2026-01.org:a_b"), "nqn.2026-01.org:a_b");
	assert_string_equal(word_for_shell("a b;$(c)"), "'a b;$(c)'");
	assert_string_equal(word_for_shell("it's"), "'it'\\''s'");
	assert_string_equal(word_for_shell(""), "''");
}

/* ---- limits ---- */

#define RAISED	"echo 'options nvmet-rdma host_pending=2048 max_pending=10240' >>/etc/modprobe.d/zz-nvmerdma.conf"

static void refused_for_a_limit(void **state)
{
	const struct finding *f;

	(void)state;
	put("/sys/module/nvmet_rdma/parameters/host_pending", "1024\n");
	put("/sys/module/nvmet_rdma/parameters/max_pending", "8192\n");
	put(NVMET "/subsystems/nqn.x:y/attr_serial", "1\n");
	put(SHOWN "/ports/1", "refused_ird 0\nrefused_host_pending 3\n");
	f = finds(check_target_refused, FOUND_WARNING, "port 1 has refused 3 connections (refused_host_pending)");
	assert_command(f, 0, RAISED);
	assert_command(f, 1, "modprobe -r nvmet-rdma && modprobe nvmet-rdma");
	assert_null(strstr(f->why, "all exports"));

	/* which disconnects connected hosts */
	put(NVMET "/ports/1/addr_trtype", "rdma\n");
	put(NVMET "/ports/1/subsystems/nqn.x:y", "");
	f = finds(check_target_refused, FOUND_WARNING, "refused_host_pending");
	assert_int_equal(strncmp(f->remedy[1].command, "nvmerdma save ", 14), 0);
	assert_non_null(strstr(f->why, "takes all exports away for a moment"));

	/*
	 * a limit that is enough for all addresses stays, and the module accepts no more than its
	 * maximum
	 */
	put("/sys/module/nvmet_rdma/parameters/max_pending", "20000\n");
	f = finds(check_target_refused, FOUND_WARNING, "refused_host_pending");
	assert_command(f, 0, "echo 'options nvmet-rdma host_pending=2048' >>/etc/modprobe.d/zz-nvmerdma.conf");
	put("/sys/module/nvmet_rdma/parameters/host_pending", "1048576\n");
	f = finds(check_target_refused, FOUND_WARNING, "refused_host_pending");
	assert_non_null(strstr(f->why, "as high as the module allows"));
}

/* ---- threads ---- */

#define ONLINE	"/sys/devices/system/cpu/online"

static void threads_for_processors(void **state)
{
	const struct finding *f;
	unsigned int i;

	(void)state;
	put(ONLINE, "0,2-4\n");
	finds(check_target_threads, FOUND_OK, "no thread of the target polls");
	put("/sys/module/nvmet_rdma/parameters/io_threads", "Y\n");
	finds(check_target_threads, FOUND_OK, "0 threads");
	for (i = 0; i < 3; i++)
		put(mem_fmt(SHOWN "/threads/mlx5_0-%u", i), "state asleep\n");
	finds(check_target_threads, FOUND_OK, "3 threads of the target for 4 processors");
	put(SHOWN "/threads/mlx5_0-3", "state asleep\n");
	f = finds(check_target_threads, FOUND_WARNING, "poll on 4 processors");
	assert_command(f, 0, "echo N >/sys/module/nvmet_rdma/parameters/io_threads");
	put("/sys/module/nvmet_rdma/parameters/io_threads", "N\n");
	finds(check_target_threads, FOUND_OK, "no thread of the target polls");
}

static void put_thread(unsigned int number, unsigned int pid, const char *cpus)
{
	put(mem_fmt(SHOWN "/threads/mlx5_0-%u", number), mem_fmt("state awake\npid %u\n", pid));
	put(mem_fmt("/proc/%u/status", pid),
	    mem_fmt("Name:\tnvmet-io\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\nx:\t9\n", cpus));
}

static void threads_in_each_others_way(void **state)
{
	const struct finding *f;

	(void)state;
	put("/sys/module/nvmet_rdma/parameters/io_threads", "Y\n");
	put(ONLINE, "0-15\n");
	put_thread(0, 10, "3");
	finds(check_target_threads, FOUND_OK, "1 thread of the target for 1 processor");
	put_thread(1, 11, "3");
	f = finds(check_target_threads, FOUND_WARNING, "2 threads of the target may use only 1 of 16 processors");
	assert_command(f, 0, "for f in " SHOWN "/threads/*; do taskset -pc 0-15 $(sed -n 's/^pid //p' $f); done");
	put_thread(1, 11, "3,8-9");
	finds(check_target_threads, FOUND_OK, "2 threads of the target for 3 processors");
	put_thread(2, 12, "9");
	put_thread(3, 13, "8");
	f = finds(check_target_threads, FOUND_WARNING, "4 threads of the target may use only 3 of 16 processors");
}

/* ---- the target ---- */

static void hosts_that_are_let_in(void **state)
{
	const struct finding *f;

	(void)state;
	put(NVMET "/subsystems/nqn.x:s/attr_allow_any_host", "1\n");
	f = finds(check_target_hosts, FOUND_NOTE, "any host may use nqn.x:s");
	assert_command(f, 0, "echo 0 >/sys/kernel/config/nvmet/subsystems/nqn.x:s/attr_allow_any_host && mkdir -p /sys/kernel/config/nvmet/hosts/HOSTNQN && ln -s /sys/kernel/config/nvmet/hosts/HOSTNQN /sys/kernel/config/nvmet/subsystems/nqn.x:s/allowed_hosts/");
	assert_non_null(strstr(f->why, "only the host of that name"));

	/* a connected host stays allowed, once, and its name is not executed as a command */
	put(SHOWN "/queues/1", "host nqn.h:a;reboot\nsubsystem nqn.x:s\ncontroller 1\nqid 0\n");
	put(SHOWN "/queues/2", "host nqn.h:a;reboot\nsubsystem nqn.x:s\ncontroller 1\nqid 1\n");
	put(SHOWN "/queues/3", "host nqn.h:b\nsubsystem nqn.x:other\ncontroller 1\nqid 0\n");
	put(SHOWN "/queues/4", "host nqn.h:a;reboot\nsubsystem nqn.x:s\ncontroller 2\nqid 0\n");
	put(SHOWN "/queues/5", "host ../../x\nsubsystem nqn.x:s\ncontroller 3\nqid 0\n");
	f = finds(check_target_hosts, FOUND_NOTE, "any host may use nqn.x:s");
	assert_command(f, 0, "echo 0 >/sys/kernel/config/nvmet/subsystems/nqn.x:s/attr_allow_any_host && mkdir -p '/sys/kernel/config/nvmet/hosts/nqn.h:a;reboot' && ln -s '/sys/kernel/config/nvmet/hosts/nqn.h:a;reboot' /sys/kernel/config/nvmet/subsystems/nqn.x:s/allowed_hosts/");
	assert_non_null(strstr(f->why, "hosts that are connected now"));

	put(NVMET "/subsystems/nqn.x:s/attr_allow_any_host", "0\n");
	f = finds(check_target_hosts, FOUND_WARNING, "no host may use nqn.x:s");
	assert_command(f, 0, "mkdir -p /sys/kernel/config/nvmet/hosts/HOSTNQN && ln -s /sys/kernel/config/nvmet/hosts/HOSTNQN /sys/kernel/config/nvmet/subsystems/nqn.x:s/allowed_hosts/");
}

/* Which disk a port is to offer, and which of several ports a disk is for, is not guessed */
static void ports_and_subsystems(void **state)
{
	const struct finding *f;

	(void)state;
	put(NVMET "/ports/3/addr_trtype", "rdma\n");
	put(NVMET "/ports/2/addr_trtype", "tcp\n");
	put(NVMET "/subsystems/nqn.x:first/attr_serial", "1\n");
	f = finds(check_target_port, FOUND_WARNING, "no subsystem is linked to port 3");
	assert_command(f, 0, "ln -s " NVMET "/subsystems/NQN " NVMET "/ports/3/subsystems/");
	f = finds(check_target_subsystem, FOUND_WARNING, "nqn.x:first is linked to no port");
	assert_command(f, 0, "ln -s " NVMET "/subsystems/nqn.x:first " NVMET "/ports/3/subsystems/");
	put(NVMET "/ports/4/addr_trtype", "rdma\n");
	f = finds(check_target_subsystem, FOUND_WARNING, "nqn.x:first is linked to no port");
	assert_command(f, 0, "ln -s " NVMET "/subsystems/nqn.x:first " NVMET "/ports/PORT/subsystems/");
}

/* A port with two VLANs is one port */
static struct rdma_link vlans[] = {
	{ .device = "mlx5_0", .port = 1, .kind = "RoCE", .netdev = "eth2", .state = "ACTIVE",
	  .active = true },
	{ .device = "mlx5_0", .port = 1, .kind = "RoCE", .netdev = "eth2.100",
	  .state = "ACTIVE", .active = true },
	{ .device = "mlx5_0", .port = 1, .kind = "RoCE", .netdev = "eth2.200",
	  .state = "ACTIVE", .active = true },
};

static void ports_with_vlans(void **state)
{
	const struct finding *f;
	size_t i;

	(void)state;
	d.links = (struct rdma_links) { .link = vlans, .nr = NR(vlans) };
	put("/sys/class/net/eth2/flags", "0x1003\n");
	put("/sys/class/net/eth2.100/flags", "0x1002\n");
	put("/sys/class/net/eth2.200/flags", "0x1003\n");
	finds(check_rdma_device, FOUND_OK, "1 RDMA link");
	finds(check_link_state, FOUND_OK, "an RDMA link is ACTIVE");
	for (i = 0; i < NR(vlans); i++) {
		vlans[i].active = false;
		vlans[i].state = "DOWN";
	}
	f = finds(check_link_state, FOUND_ERROR, "port 1 of mlx5_0 is DOWN");
	assert_command(f, 0, "ip -s link show eth2");
	put("/sys/class/net/eth2/carrier", "1\n");
	f = finds(check_link_state, FOUND_ERROR, "port 1 of mlx5_0 is DOWN");
	assert_command(f, 0, "ip link set eth2 down && ip link set eth2 up");
	assert_non_null(strstr(f->why, "this session, if it does"));
	for (i = 0; i < NR(vlans); i++)
		put(mem_fmt("/sys/class/net/%s/flags", vlans[i].netdev), "0x1002\n");
	f = finds(check_link_state, FOUND_ERROR, "the interface eth2, of the RDMA device mlx5_0, is down");
	assert_command(f, 0, "ip link set eth2 up");
}

/* ---- where the work goes ---- */

static void few_queues(void **state)
{
	const struct finding *f;

	(void)state;
	put("/sys/class/nvme/nvme7/transport", "rdma\n");
	put("/sys/class/nvme/nvme7/subsysnqn", "nqn.x:y\n");
	put("/sys/class/nvme/nvme7/state", "live\n");
	put("/sys/class/nvme/nvme7/queue_count", "1\n");
	f = finds(check_queues, FOUND_NOTE, mem_fmt("nvme7 has 0 I/O queues for %ld processors",
						    sysconf(_SC_NPROCESSORS_ONLN)));
	assert_command(f, 0, "dmesg | grep 'nvme nvme7:'");
	assert_non_null(strstr(f->why, "umount its disks"));
	assert_non_null(strstr(f->why, "with the options that it had"));
	put("/sys/class/nvme/nvme7/queue_count", "100000\n");
	finds(check_queues, FOUND_OK, "nvme7 has 99999 I/O queues");
	put("/sys/class/nvme/nvme7/state", "connecting\n");
	finds(check_queues, FOUND_ERROR, "nvme7, of nqn.x:y, is connecting");
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_peers_words),
		TEST(words_of_a_shell),
		TEST(refused_for_a_limit),
		TEST(threads_for_processors),
		TEST(threads_in_each_others_way),
		TEST(hosts_that_are_let_in),
		TEST(ports_and_subsystems),
		TEST(ports_with_vlans),
		TEST(few_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
