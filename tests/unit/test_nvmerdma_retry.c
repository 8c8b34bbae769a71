// SPDX-License-Identifier: GPL-2.0
/*
 * restore --late: when it retries, what it reports, and what it leaves alone
 *
 * The kernel's configuration is a tree in memory, systemd is a socket, and a script of the
 * test runs at the end of each second.
 */
#include "disks.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tools/nvmerdma/config/config.h"
#include "tools/nvmerdma/restore/restore.h"

#define WORDS_MAX	8192

static struct node *kernel;		/* the configuration */
static bool loaded = true;		/* the module nvmet */
static bool refuses;			/* the kernel refuses to enable anything */
static unsigned int now;		/* seconds */
static unsigned int opened;		/* times that something was tried */
static void (*script)(void);		/* each second */
static int systemd = -1;

/* ---- functions that restore/retry.c uses ---- */

unsigned int sleep(unsigned int seconds)
{
	now += seconds;
	if (now > 10000)
		fail_msg("it does not end");
	script();
	return 0;
}

bool configfs_there(void)
{
	return loaded;
}

int configfs_open(void)
{
	opened++;
	return 0;
}

void configfs_unlock(void)
{
}

struct node *configfs_read(void)
{
	return node_copy(kernel);
}

bool configfs_enabled(const struct node *node)
{
	const struct node *subsys = node_find(kernel, &schema_subsys, node->parent->name);
	const struct node *same = subsys ? node_find(subsys, node->shape, node->name) : NULL;

	return same && node_is(same, "enable", "1");
}

/* All that may change here; the memory of @want ends before that of @kernel */
int configfs_apply(const struct node *have, const struct node *want, bool dry,
		   struct plan *plan)
{
	const struct node *ns;

	(void)have;
	(void)dry;
	(void)plan;
	if (refuses)
		return -1;
	for_each_node(ns, node_find(want, &schema_subsys, NQN), &schema_ns) {
		if (node_is(ns, "enable", "1"))
			ns_of(kernel, ns->name)->attrs->next->value = "1";
	}
	return 0;
}

void configfs_report(const struct plan *plan)
{
	(void)plan;
}

/* ---- its messages ---- */

static FILE *words;

static void listen_as_systemd(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", disk("systemd"));
	systemd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(systemd, (struct sockaddr *)&at, sizeof(at)), 0);
	setenv("NOTIFY_SOCKET", at.sun_path, 1);
}

/* The last status; NULL: none since then */
static const char *status(void)
{
	static char text[WORDS_MAX];
	ssize_t n, last = -1;

	while ((n = recv(systemd, text, sizeof(text) - 1, 0)) >= 0)
		last = n;
	if (last < 0)
		return NULL;
	text[last] = 0;
	return strstr(text, "STATUS=");
}

static void status_has(const char *what)
{
	const char *is = status();

	if (!is || !strstr(is, what))
		fail_msg("second %u: the status is \"%s\", expected \"%s\"", now, is ?: "", what);
}

/* Number of times that a message was written to stderr */
static unsigned int said(const char *what)
{
	static char text[WORDS_MAX];
	const char *at = text;
	unsigned int nr = 0;

	fflush(stderr);
	text[pread(fileno(words), text, sizeof(text) - 1, 0)] = 0;
	while ((at = strstr(at, what))) {
		nr++;
		at++;
	}
	return nr;
}

/* ---- followed disks ---- */

static struct node *file_with(const char *name)
{
	struct node *file = node_root();

	add_ns(file, "1", disk(name), "1");
	return file;
}

/* A restore of @file leaves out missing disks, which are then followed with a script */
static void follow(const struct node *file, void (*each_second)(void))
{
	const struct unavailable missing = unavailable_in(node_root(), file);
	size_t i;
	int err = dup(2);

	lose_disk("left");
	kernel = node_copy(file);
	for (i = 0; i < missing.nr; i++)
		unavailable_disable(kernel, missing.node[i]);
	deferred_record(kernel, &missing);
	now = 0;
	opened = 0;
	refuses = false;
	script = each_second;
	words = tmpfile();
	assert_true(dup2(fileno(words), 2) == 2);
	retry_unavailable(&missing);
	fflush(stderr);
	dup2(err, 2);
	close(err);
}

static void ends(void)
{
	status_has("All is exported");
	assert_int_not_equal(access(deferred_file, F_OK), 0);
	fclose(words);
}

static void comes_at_5(void)
{
	if (now == 1)
		status_has("Waiting: namespace 1 of " NQN ": there is no ");
	if (now < 5)
		assert_int_equal(opened, 0);
	if (now == 5)
		make_disk("late");
	assert_true(now < 6);
}

static void is_absent(void **state)
{
	(void)state;
	lose_disk("late");
	follow(file_with("late"), comes_at_5);
	assert_true(enabled(kernel, "1"));
	assert_int_equal(opened, 1);
	ends();
}

static void unloaded_at_3(void)
{
	if (now == 3) {
		loaded = false;
		make_disk("late");
	}
	assert_true(now < 6);
}

/* The module is not loaded again for a disk that appears */
static void is_unloaded(void **state)
{
	(void)state;
	lose_disk("late");
	follow(file_with("late"), unloaded_at_3);
	loaded = true;
	assert_int_equal(opened, 0);
	assert_false(enabled(kernel, "1"));
	ends();
}

static void sized_at_5(void)
{
	if (now == 1)
		status_has("has 0 bytes");
	if (now == 5)
		make_disk("late");
	assert_true(now < 6);
}

/* A missing size is checked each second, because that disturbs no user */
static void is_empty(void **state)
{
	(void)state;
	sh(": > %s", disk("late"));
	follow(file_with("late"), sized_at_5);
	assert_true(enabled(kernel, "1"));
	assert_int_equal(opened, 1);
	ends();
}

/* Another namespace has the disk, until second 300 */
static void free_at_300(void)
{
	static unsigned int before;

	if (now == 1) {
		before = 0;
		status_has("to be namespace 2 of " NQN " as well");
		assert_non_null(deferred_reason(ns_of(kernel, "1")));
	}
	assert_true(opened <= before + 1);
	before = opened;
	if (now == 300)
		ns_of(kernel, "2")->attrs->next->value = "0";
	assert_true(now <= 360);
}

static void is_busy(void **state)
{
	struct node *file = file_with("late");

	(void)state;
	make_disk("late");
	add_ns(file, "2", disk("late"), "1");
	follow(file, free_at_300);
	assert_true(enabled(kernel, "1"));
	/* seconds 1, 3, 6, 11, 20, 37, 70 ... */
	assert_true(opened >= 8 && opened <= 14);
	/* the restore has reported it, and nothing else may be reported */
	assert_int_equal(said("left disabled"), 0);
	ends();
}

/* It appears, but is in use: that is a new reason, reported once */
static void comes_busy(void)
{
	if (now == 3)
		sh("ln -s other %s", disk("late"));
	if (now == 20) {
		status_has("to be namespace 2 of " NQN " as well");
		assert_non_null(strstr(deferred_reason(ns_of(kernel, "1")), "to be namespace 2"));
		ns_of(kernel, "2")->attrs->next->value = "0";
	}
	assert_true(now < 60);
}

static void is_busy_when_it_comes(void **state)
{
	struct node *file = file_with("late");

	(void)state;
	lose_disk("late");
	make_disk("other");
	add_ns(file, "2", disk("other"), "1");
	follow(file, comes_busy);
	assert_true(enabled(kernel, "1"));
	assert_int_equal(said("left disabled until it can be enabled"), 1);
	ends();
}

static void refused_until_20(void)
{
	if (now == 1)
		make_disk("late");
	refuses = now < 20;
	if (now == 19)
		status_has("it was tried, and that failed");
	assert_true(now < 60);
}

static void kernel_refuses(void **state)
{
	(void)state;
	lose_disk("late");
	follow(file_with("late"), refused_until_20);
	assert_true(enabled(kernel, "1"));
	ends();
}

/* Another program enables it, and owns it from then on */
static void enabled_at_3(void)
{
	if (now == 3)
		ns_of(kernel, "1")->attrs->next->value = "1";
	assert_true(now < 4);
}

static void enabled_by_hand(void **state)
{
	(void)state;
	lose_disk("late");
	follow(file_with("late"), enabled_at_3);
	ends();
}

static void gone_when_it_comes(void)
{
	if (now == 3)
		node_remove(node_find(kernel, &schema_subsys, NQN));
	if (now == 5)
		make_disk("late");
	assert_true(now < 6);
}

static void taken_away(void **state)
{
	(void)state;
	lose_disk("late");
	follow(file_with("late"), gone_when_it_comes);
	assert_null(node_find(kernel, &schema_subsys, NQN));
	ends();
}

/* Another restore has read that it has to be disabled */
static void restored_when_it_comes(void)
{
	if (now == 3)
		deferred_clear();
	if (now == 5)
		make_disk("late");
	assert_true(now < 6);
}

static void restored_otherwise(void **state)
{
	(void)state;
	lose_disk("late");
	follow(file_with("late"), restored_when_it_comes);
	assert_false(enabled(kernel, "1"));
	ends();
}

/* Enabled and disabled by hand in the pause between two attempts */
static void by_hand_at_100(void)
{
	if (now == 100)
		ns_of(kernel, "1")->attrs->next->value = "1";
	if (now == 101)
		fail_msg("it is followed still");
}

static void enabled_in_a_pause(void **state)
{
	struct node *file = file_with("late");

	(void)state;
	make_disk("late");
	add_ns(file, "2", disk("late"), "1");
	follow(file, by_hand_at_100);
	ends();
}

static int start(void **state)
{
	(void)state;
	if (systemd < 0)
		listen_as_systemd();
	status();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(is_absent, start),
		cmocka_unit_test_setup(is_unloaded, start),
		cmocka_unit_test_setup(is_empty, start),
		cmocka_unit_test_setup(is_busy, start),
		cmocka_unit_test_setup(is_busy_when_it_comes, start),
		cmocka_unit_test_setup(kernel_refuses, start),
		cmocka_unit_test_setup(enabled_by_hand, start),
		cmocka_unit_test_setup(taken_away, start),
		cmocka_unit_test_setup(restored_otherwise, start),
		cmocka_unit_test_setup(enabled_in_a_pause, start),
	};

	return run_with_disks(tests, NR(tests));
}
