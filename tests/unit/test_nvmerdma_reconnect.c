// SPDX-License-Identifier: GPL-2.0
/*
 * reconnect: the records of controllers, and when one can be connected again
 *
 * The kernel's files are in a directory of the test, and ip(8) says what the test wants. The
 * loop that connects is tested in a guest (reconnect.sh).
 */
#include "harness.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/nvmerdma/reconnect/reconnect.h"

#define IDS	"hostnqn=nqn.2014-08.org.nvmexpress:uuid:1,hostid=11111111-2222-3333-4444-555555555555"
#define OPTIONS	"transport=rdma,nqn=nqn.x:a,traddr=203.0.113.242,trsvcid=4420," IDS		\
		",nr_io_queues=4,queue_size=128,keep_alive_tmo=5,reconnect_delay=3,ctrl_loss_tmo=60"

#define OWN	"203.0.113.241"

static char root[40] = "/tmp/nvme-rdma-reconnect.XXXXXX";
static const char *route;		/* what 'ip route get' prints; NULL: it fails */
static const char *asked;		/* its command line */

char *program_output(unsigned int seconds, const char *name, ...)
{
	const char *line = name, *arg;
	va_list ap;

	(void)seconds;
	va_start(ap, name);
	while ((arg = va_arg(ap, const char *)))
		line = mem_fmt("%s %s", line, arg);
	va_end(ap);
	if (strncmp(line, "ip ", 3))
		return NULL;
	asked = line;
	return route ? mem_str(route) : NULL;
}

/* ---- files ---- */

static const char *path_of(const char *path)
{
	return mem_fmt("%s/%s", root, path);
}

static void file_is(const char *path, const char *text)
{
	char *full = mem_str(path_of(path)), *at;
	FILE *file;

	for (at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		mkdir(full, 0755);
		*at = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void ctrl_is(const char *name, const char *state, const char *options)
{
	file_is(mem_fmt("sys/kernel/debug/nvme_rdma/%s/options", name), options);
	file_is(mem_fmt("sys/class/nvme/%s/state", name), state);
}

static void ctrl_gone(const char *name)
{
	unlink(path_of(mem_fmt("sys/kernel/debug/nvme_rdma/%s/options", name)));
	unlink(path_of(mem_fmt("sys/class/nvme/%s/state", name)));
	unlink(path_of(mem_fmt("sys/class/nvme/%s/dhchap_secret", name)));
	unlink(path_of(mem_fmt("sys/class/nvme/%s/dhchap_ctrl_secret", name)));
}

static bool kept(const char *ctrl)
{
	return file_there("%s/run/nvmerdma/connected/%s", root, ctrl);
}

static struct record parsed(const char *text)
{
	struct record record;

	assert_true(record_parse(&record, text));
	return record;
}

static int setup(void **state)
{
	const char *command;

	(void)state;
	command = mem_fmt("rm -rf %s/*", root);
	assert_int_equal(system(command), 0);
	assert_int_equal(mkdir(path_of("run"), 0755), 0);
	route = "[{\"dst\":\"203.0.113.242\",\"dev\":\"eth7\",\"prefsrc\":\"203.0.113.241\"}]";
	asked = "";
	return 0;
}

/* ---- a record ---- */

static void parse(void **state)
{
	static const char * const none[] = {
		"", "\n", ",", "=", "transport=rdma", "transport=tcp,nqn=a,traddr=b,trsvcid=c," IDS,
		"transport=rdma,nqn=a,traddr=b,trsvcid=c", "nqn=a,traddr=b,trsvcid=c," IDS,
		"transport=rdma,xnqn=a,traddr=b,trsvcid=c," IDS,
	};
	struct record r = parsed(OPTIONS "\nsource 203.0.113.241\n");
	size_t i;

	(void)state;
	assert_string_equal(r.nqn, "nqn.x:a");
	assert_string_equal(r.address, "203.0.113.242");
	assert_string_equal(r.service, "4420");
	assert_string_equal(r.source, "203.0.113.241");
	assert_string_equal(r.options, OPTIONS);
	assert_null(r.host_traddr);
	assert_null(r.host_iface);
	assert_int_equal(r.reconnect_delay, 3);
	assert_int_equal(r.ctrl_loss_tmo, 60);
	r = parsed("transport=rdma,traddr=fe80::1%eth0,host_iface=eth0,host_traddr=fe80::2,trsvcid=1,nqn=a=b,"
		   IDS ",ctrl_loss_tmo=-1");
	assert_string_equal(r.nqn, "a=b");
	assert_string_equal(r.host_iface, "eth0");
	assert_string_equal(r.host_traddr, "fe80::2");
	assert_null(r.source);
	assert_int_equal(r.ctrl_loss_tmo, -1);
	assert_int_equal(r.reconnect_delay, 10);
	assert_string_equal(record_words(&r), "a=b at [fe80::1%eth0]:1");
	/* all that a pause of zero would do is load */
	assert_int_equal(parsed(OPTIONS ",x\n").reconnect_delay, 3);
	assert_int_equal(parsed("transport=rdma,nqn=a,traddr=b,trsvcid=c," IDS
				",reconnect_delay=0").reconnect_delay, 1);
	for (i = 0; i < NR(none); i++) {
		if (record_parse(&r, none[i]))
			fail_msg("\"%s\" is taken for a record", none[i]);
	}
}

/* A target may have chosen the NQN: it is in no path, and does not control a terminal */
static void hostile_names(void **state)
{
	static const char * const names[] = {
		"../../../etc/passwd", "a/b", "$(reboot)", "`reboot`", "a;b", "a b", "-rf", "%n%s",
		"\033]0;x\007", "a\tb", "..", ".",
	};
	size_t i, n;

	(void)state;
	for (i = 0; i < NR(names); i++) {
		const char *options =
			mem_fmt("transport=rdma,traddr=203.0.113.242,trsvcid=1,nqn=%s," IDS,
				names[i]);
		struct record r = parsed(options);
		const char *id = record_id(&r), *words = record_words(&r);
		struct records waiting;

		assert_int_equal(strlen(id), 36);
		assert_int_equal(strspn(id, "0123456789abcdef-"), 36);
		for (n = 0; words[n]; n++)
			assert_true(words[n] >= ' ' && words[n] < 127);
		ctrl_is("nvme0", "live", options);
		assert_int_equal(record_connected("nvme0"), 0);
		assert_int_equal(record_device_removed("nvme0"), 0);
		waiting = records_waiting();
		assert_int_equal(waiting.nr, 1);
		assert_string_equal(waiting.record->nqn, names[i]);
		assert_string_equal(waiting.record->id, id);
		record_remove(id, &waiting.record->stamp);
		assert_int_equal(records_waiting().nr, 0);
	}
}

static void controllers_of_no_name(void **state)
{
	static const char * const names[] = {
		"", "nvme", "nvme0n1", "../nvme0", "nvme0/..", "nvme-1", "nvme1234567890", "nvme 1",
		"sda", ".",
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(names); i++) {
		assert_int_equal(record_connected(names[i]), -1);
		assert_int_equal(record_device_removed(names[i]), -1);
		assert_int_equal(record_deleted(names[i]), -1);
	}
	assert_false(file_there("%s/run/nvmerdma", root));
}

static void same(void **state)
{
	static const struct {
		const char *a, *b;
		bool same, same_id;
	} cases[] = {
		{ "traddr=203.0.113.242", "traddr=203.0.113.242", true, true },
		{ "traddr=203.0.113.242", "traddr=203.0.113.243", false, false },
		{ "traddr=2001:db8::1", "traddr=2001:DB8:0::1", true, false },
		{ "traddr=fe80::1%eth0", "traddr=fe80::1%eth1", false, false },
		{ "traddr=a,host_iface=eth0", "traddr=a,host_iface=eth1", false, false },
		{ "traddr=a,host_iface=eth0", "traddr=a", true, false },
		{ "traddr=a", "traddr=a,host_traddr=203.0.113.241", true, false },
		{ "traddr=a,host_traddr=203.0.113.241", "traddr=a,host_traddr=203.0.113.249",
		  false, false },
		{ "traddr=a,host_traddr=203.0.113.241", "traddr=a,host_iface=eth0", true, false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++) {
		struct record a = parsed(mem_fmt("transport=rdma,nqn=n,trsvcid=1,%s," IDS,
						 cases[i].a));
		struct record b = parsed(mem_fmt("transport=rdma,nqn=n,trsvcid=1,%s," IDS
						 ",queue_size=7", cases[i].b));

		unit_context("%s and %s", cases[i].a, cases[i].b);
		unit_equal(cases[i].same, record_same(&a, &b));
		unit_equal(cases[i].same, record_same(&b, &a));
		unit_equal(cases[i].same_id, !strcmp(record_id(&a), record_id(&b)));
		b.nqn = "m";
		unit_equal(false, record_same(&a, &b));
		b.nqn = a.nqn;
		b.service = "2";
		unit_equal(false, record_same(&a, &b));
		b.service = a.service;
		b.hostnqn = "another host";
		unit_equal(false, record_same(&a, &b));
		b.hostnqn = a.hostnqn;
		b.hostid = "another one";
		unit_equal(false, record_same(&a, &b));
	}
}

/* ---- what udev tells ---- */

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path_of(path), &st), 0);
	return st.st_mode & 07777;
}

static void keys_are_kept_secret(void **state)
{
	struct records waiting;

	(void)state;
	ctrl_is("nvme3", "live", OPTIONS "\n");
	file_is("sys/class/nvme/nvme3/dhchap_secret", "DHHC-1:00:one:\n");
	file_is("sys/class/nvme/nvme3/dhchap_ctrl_secret", "none\n");
	umask(0);
	assert_int_equal(record_connected("nvme3"), 0);
	assert_int_equal(mode_of("run/nvmerdma"), 0700);
	assert_int_equal(mode_of("run/nvmerdma/connected"), 0700);
	assert_int_equal(mode_of("run/nvmerdma/waiting"), 0700);
	assert_int_equal(mode_of("run/nvmerdma/connected/nvme3"), 0600);
	file_is("sys/class/nvme/nvme3/dhchap_ctrl_secret", "DHHC-1:00:two:\n");
	assert_int_equal(record_connected("nvme3"), 0);
	assert_int_equal(record_device_removed("nvme3"), 0);
	waiting = records_waiting();
	assert_int_equal(waiting.nr, 1);
	assert_string_equal(waiting.record->options,
			    OPTIONS ",dhchap_secret=DHHC-1:00:one:,dhchap_ctrl_secret=DHHC-1:00:two:");
	assert_int_equal(mode_of(mem_fmt("run/nvmerdma/waiting/%s", waiting.record->id)), 0600);
	assert_null(strstr(record_words(waiting.record), "DHHC"));
}

static void only_the_device_counts(void **state)
{
	(void)state;
	ctrl_is("nvme0", "live", OPTIONS);
	assert_int_equal(record_connected("nvme0"), 0);
	assert_true(kept("nvme0"));
	/* disconnected, or ctrl_loss_tmo is over */
	ctrl_gone("nvme0");
	assert_int_equal(record_deleted("nvme0"), 0);
	assert_false(kept("nvme0"));
	assert_int_equal(records_waiting().nr, 0);

	ctrl_is("nvme0", "live", OPTIONS);
	assert_int_equal(record_connected("nvme0"), 0);
	assert_int_equal(record_device_removed("nvme0"), 0);
	ctrl_gone("nvme0");
	assert_int_equal(record_deleted("nvme0"), 0);
	assert_false(kept("nvme0"));
	assert_int_equal(records_waiting().nr, 1);
	/* its name is used again, and ends otherwise */
	ctrl_is("nvme0", "live", "transport=rdma,nqn=other,traddr=203.0.113.242,trsvcid=1," IDS);
	assert_int_equal(record_connected("nvme0"), 0);
	assert_int_equal(record_deleted("nvme0"), 0);
	assert_int_equal(records_waiting().nr, 1);
	/* somebody connects what waits */
	ctrl_is("nvme5", "live", OPTIONS);
	assert_int_equal(record_connected("nvme5"), 0);
	assert_int_equal(records_waiting().nr, 0);
	assert_true(kept("nvme5"));
}

static void others_are_left_alone(void **state)
{
	(void)state;
	/* the kernel's own module, or PCI */
	file_is("sys/class/nvme/nvme0/state", "live");
	assert_int_equal(record_connected("nvme0"), 0);
	assert_int_equal(record_device_removed("nvme0"), 0);
	assert_int_equal(record_deleted("nvme0"), 0);
	assert_int_equal(records_waiting().nr, 0);
	/* nvme-cli reads a log page, and a persistent discovery controller */
	ctrl_is("nvme1", "live", "transport=rdma,nqn=d,traddr=203.0.113.242,trsvcid=1," IDS
		",keep_alive_tmo=0,discovery");
	assert_int_equal(record_connected("nvme1"), 0);
	assert_false(kept("nvme1"));
	ctrl_is("nvme2", "live", "transport=rdma,nqn=d,traddr=203.0.113.242,trsvcid=1," IDS
		",keep_alive_tmo=30,discovery");
	assert_int_equal(record_connected("nvme2"), 0);
	assert_true(kept("nvme2"));
}

static void options_of_the_end(void **state)
{
	const char *changed = "transport=rdma,nqn=nqn.x:a,traddr=203.0.113.242,trsvcid=4420," IDS
			      ",ctrl_loss_tmo=-1";
	struct records waiting;

	(void)state;
	/* sysfs has changed one since */
	ctrl_is("nvme0", "live", OPTIONS);
	assert_int_equal(record_connected("nvme0"), 0);
	ctrl_is("nvme0", "deleting", changed);
	assert_int_equal(record_device_removed("nvme0"), 0);
	waiting = records_waiting();
	assert_int_equal(waiting.nr, 1);
	assert_int_equal(waiting.record->ctrl_loss_tmo, -1);
	assert_string_equal(waiting.record->source, "203.0.113.241");
	/* of a controller that has the name now, none are taken */
	ctrl_is("nvme0", "live", OPTIONS);
	assert_int_equal(record_connected("nvme0"), 0);
	ctrl_is("nvme0", "live", changed);
	assert_int_equal(record_device_removed("nvme0"), 0);
	waiting = records_waiting();
	assert_int_equal(waiting.nr, 1);
	assert_int_equal(waiting.record->ctrl_loss_tmo, 60);
	ctrl_is("nvme0", "live", OPTIONS);
	assert_int_equal(record_connected("nvme0"), 0);
	ctrl_is("nvme0", "deleting",
		"transport=rdma,nqn=other,traddr=203.0.113.242,trsvcid=1," IDS);
	assert_int_equal(record_device_removed("nvme0"), 0);
	assert_string_equal(records_waiting().record->nqn, "nqn.x:a");
}

static void one_that_was_replaced_stays(void **state)
{
	struct records old, new;

	(void)state;
	ctrl_is("nvme0", "live", OPTIONS);
	assert_int_equal(record_connected("nvme0"), 0);
	assert_int_equal(record_device_removed("nvme0"), 0);
	old = records_waiting();
	assert_int_equal(old.nr, 1);
	/* an attempt has succeeded, and its device was removed again at once */
	assert_int_equal(record_connected("nvme0"), 0);
	assert_int_equal(record_device_removed("nvme0"), 0);
	new = records_waiting();
	assert_int_equal(new.nr, 1);
	assert_string_equal(new.record->id, old.record->id);
	record_remove(old.record->id, &old.record->stamp);
	assert_int_equal(records_waiting().nr, 1);
	record_remove(new.record->id, &new.record->stamp);
	assert_int_equal(records_waiting().nr, 0);
}

static void no_record(void **state)
{
	(void)state;
	file_is("run/nvmerdma/waiting/x", "something else\n");
	assert_int_equal(records_waiting().nr, 0);
	assert_false(file_there("%s/run/nvmerdma/waiting/x", root));
}

/* ---- can it be connected? ---- */

static struct rdma_link link_of[] = {
	{ .device = "rxe0", .port = 1, .netdev = "eth7", .state = "ACTIVE", .active = true },
	{ .device = "rxe1", .port = 1, .netdev = "eth8", .state = "DOWN" },
};

static const struct rdma_links links = { .link = link_of, .nr = NR(link_of) };

static void reasons(void **state)
{
	static struct rdma_addr addr[] = {
		{ .text = "203.0.113.241", .family = AF_INET, .netdev = "eth7",
		  .link = &link_of[0] },
		{ .text = "203.0.113.248", .family = AF_INET, .netdev = "eth8",
		  .link = &link_of[1] },
		{ .text = "203.0.113.249", .family = AF_INET, .netdev = "eth9" },
	};
	static const struct {
		const char *address, *source, *route, *why;
	} cases[] = {
		{ "203.0.113.242", "203.0.113.241", "{\"dev\":\"eth7\",\"prefsrc\":\"203.0.113.241\"}",
		  NULL },
		{ "203.0.113.242", NULL, "{\"dev\":\"eth7\"}", NULL },
		{ "203.0.113.242", "203.0.113.245", "{\"dev\":\"eth7\",\"prefsrc\":\"203.0.113.241\"}",
		  "no interface has the address 203.0.113.245" },
		{ "203.0.113.242", "203.0.113.248", "{\"dev\":\"eth7\"}", "rxe1 of eth8 is DOWN" },
		{ "203.0.113.242", "203.0.113.249", "{\"dev\":\"eth7\"}",
		  "eth9 has no RDMA device" },
		{ "203.0.113.242", "203.0.113.241", NULL, "there is no route to 203.0.113.242" },
		{ "203.0.113.242", NULL, "{\"dev\":\"eth9\"}", "eth9 has no RDMA device" },
		{ "203.0.113.242", NULL, "{\"dev\":\"eth8\"}", "rxe1 of eth8 is DOWN" },
		/* the default route leads over another RDMA device */
		{ "203.0.113.242", "203.0.113.241", "{\"dev\":\"eth8\",\"prefsrc\":\"203.0.113.248\"}",
		  "the route to 203.0.113.242 leads over eth8 from 203.0.113.248, and led from "
		  OWN },
		/* a target of this machine */
		{ "203.0.113.241", "203.0.113.241", NULL, NULL },
		{ "203.0.113.249", "203.0.113.249", NULL, "eth9 has no RDMA device" },
	};
	const struct rdma_addrs addrs = { .addr = addr, .nr = NR(addr) };
	size_t i;

	(void)state;
	for (i = 0; i < NR(cases); i++) {
		const char *source = cases[i].source ?: "", *key = *source ? "\nsource " : "";
		struct record r = parsed(mem_fmt("transport=rdma,nqn=n,trsvcid=1,traddr=%s," IDS
						 "%s%s", cases[i].address,
						 key, source));
		const char *why;

		route = NULL;
		if (cases[i].route)
			route = mem_fmt("[%s]", cases[i].route);
		why = not_reachable_reason(&r, &addrs, &links);
		unit_context("case %zu: %s", i, why ?: "can be reached");
		unit_equal(!cases[i].why, !why);
		if (why)
			assert_string_equal(why, cases[i].why);
	}
}

static void route_asked_for(void **state)
{
	struct record r = parsed("transport=rdma,nqn=n,trsvcid=1,traddr=2001:db8::2,host_traddr=2001:db8::1,host_iface=eth7,"
				 IDS);

	(void)state;
	assert_string_equal(source_towards(&r), "2001:db8::1");
	r.host_traddr = NULL;
	assert_string_equal(source_towards(&r), "203.0.113.241");
	assert_string_equal(asked, "ip -j route get 2001:db8::2 oif eth7");
	r.host_iface = NULL;
	r.address = "fe80::2%eth8";
	assert_string_equal(source_towards(&r), "203.0.113.241");
	assert_string_equal(asked, "ip -j route get fe80::2 oif eth8");
	r.host_traddr = "fe80::1%eth8";
	assert_null(not_reachable_reason(&r, &(struct rdma_addrs){ 0 }, &links));
	assert_string_equal(asked, "ip -j route get fe80::2 from fe80::1 oif eth8");
	route = NULL;
	r.host_traddr = NULL;
	assert_null(source_towards(&r));
}

static void who_is_there(void **state)
{
	struct record r = parsed(OPTIONS);
	struct presents all;

	(void)state;
	ctrl_is("nvme0", "deleting", OPTIONS);
	ctrl_is("nvme1", "dead", OPTIONS);
	ctrl_is("nvme2", "live", "transport=rdma,nqn=other,traddr=203.0.113.242,trsvcid=1," IDS);
	all = presents();
	assert_int_equal(all.nr, 1);
	assert_null(present_find(&all, &r));
	ctrl_is("nvme3", "connecting", OPTIONS);
	all = presents();
	assert_string_equal(present_find(&all, &r)->name, "nvme3");
	assert_false(present_find(&all, &r)->live);
	ctrl_is("nvme3", "live", OPTIONS ",host_iface=eth7");
	all = presents();
	assert_true(present_find(&all, &r)->live);
}

/* A second path from another address is no substitute, unless it came later */
static void second_paths(void **state)
{
	struct records waiting;
	struct presents all;

	(void)state;
	ctrl_is("nvme0", "live", OPTIONS ",host_iface=eth7");
	ctrl_is("nvme1", "live", OPTIONS);
	ctrl_is("nvme12", "live", OPTIONS ",host_iface=eth8");
	assert_int_equal(record_connected("nvme0"), 0);
	ctrl_is("nvme0", "deleting", OPTIONS ",host_iface=eth7");
	assert_int_equal(record_device_removed("nvme0"), 0);
	ctrl_gone("nvme0");
	waiting = records_waiting();
	assert_int_equal(waiting.nr, 1);
	assert_string_equal(waiting.record->beside, "nvme1");
	assert_string_equal(waiting.record->source, "203.0.113.241");
	all = presents();
	assert_null(present_find(&all, waiting.record));
	ctrl_is("nvme2", "live", OPTIONS);
	all = presents();
	assert_string_equal(present_find(&all, waiting.record)->name, "nvme2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse),
		cmocka_unit_test_setup(hostile_names, setup),
		cmocka_unit_test_setup(controllers_of_no_name, setup),
		cmocka_unit_test(same),
		cmocka_unit_test_setup(keys_are_kept_secret, setup),
		cmocka_unit_test_setup(only_the_device_counts, setup),
		cmocka_unit_test_setup(others_are_left_alone, setup),
		cmocka_unit_test_setup(options_of_the_end, setup),
		cmocka_unit_test_setup(one_that_was_replaced_stays, setup),
		cmocka_unit_test_setup(no_record, setup),
		cmocka_unit_test_setup(reasons, setup),
		cmocka_unit_test_setup(route_asked_for, setup),
		cmocka_unit_test_setup(who_is_there, setup),
		cmocka_unit_test_setup(second_paths, setup),
	};
	int failed;

	reconnect_root = mkdtemp(root);
	assert_non_null(reconnect_root);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	assert_int_equal(system(mem_fmt("rm -rf %s", root)), 0);
	mem_release((struct mem_mark){ 0 });
	return failed;
}
