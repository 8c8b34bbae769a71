// SPDX-License-Identifier: GPL-2.0
/*
 * tools/nvmerdma/doctor/fabrics.c: a controller that was connected is taken away again,
 * whatever becomes of the doctor. In the place of the kernel there is a FIFO, which gives back
 * what was written, the controller's number, too.
 */
#include "harness.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/nvmerdma/doctor/peer.h"

#define CONTROLLER	"sys/class/nvme/nvme7"

static const char *root;

void report_detail(struct doctor *d, const char *fmt, ...)
{
	(void)d;
	(void)fmt;
}

static struct doctor host(void)
{
	return (struct doctor) {
		.root = root, .address = "192.0.2.9", .port = "4420", .hostnqn = "nqn.x:host",
		.hostid = "aaaaaaaa-0000-4000-8000-000000000001",
	};
}

static int begin(void **state)
{
	const char *path;
	FILE *file;

	(void)state;
	path = mem_fmt("%s/" CONTROLLER "/delete_controller", root);
	if (system(mem_fmt("mkdir -p %s/dev %s/" CONTROLLER, root, root)))
		return 1;
	unlink(mem_fmt("%s/dev/nvme-fabrics", root));
	file = fopen(path, "w");
	return !file || fclose(file) || mkfifo(mem_fmt("%s/dev/nvme-fabrics", root), 0600);
}

static bool is_deleted(void)
{
	const char *text = file_read("%s/" CONTROLLER "/delete_controller", root);

	return text && !strcmp(text, "1");
}

static bool gets_deleted(void)
{
	int tries;

	for (tries = 0; tries < 500 && !is_deleted(); tries++)
		usleep(10000);
	return is_deleted();
}

static void disconnects(void **state)
{
	struct doctor d = host();
	const char *name = NULL;

	(void)state;
	assert_int_equal(fabrics_connect(&d, "nqn.x:y", ",instance=7", &name), 0);
	assert_string_equal(name, "nvme7");
	usleep(100000);
	assert_false(is_deleted());
	/* the file is there still, as the kernel's would not be */
	assert_false(fabrics_disconnect(&d, name));
	assert_true(is_deleted());
}

static void is_killed(void **state)
{
	static const int signals[] = { SIGKILL, SIGTERM, SIGINT };
	struct doctor d = host();
	const char *name;
	size_t i;
	pid_t pid;

	for (i = 0; i < NR(signals); i++) {
		assert_int_equal(begin(state), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			/* as by Ctrl-C: to all of the terminal's processes */
			setpgid(0, 0);
			if (!fabrics_connect(&d, "nqn.x:y", ",instance=7", &name)) {
				signal(signals[i], SIG_DFL);
				kill(0, signals[i]);
			}
			_exit(1);
		}
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		assert_true(gets_deleted());
	}
}

static void fails(void **state)
{
	struct doctor d = host();
	const char *name = NULL;

	(void)state;
	assert_int_equal(fabrics_connect(&d, "nqn.x:y", "", &name), EIO);
	unlink(mem_fmt("%s/dev/nvme-fabrics", root));
	assert_int_equal(fabrics_connect(&d, "nqn.x:y", ",instance=7", &name), ENOENT);
	assert_null(name);
	assert_false(is_deleted());
}

/* A comma in what others say would be another option */
static void commas(void **state)
{
	struct doctor d = host();
	const char *name = NULL;

	(void)state;
	assert_int_equal(fabrics_connect(&d, "nqn.x:y,traddr=192.0.2.66", ",instance=7", &name),
			 EINVAL);
	d.hostnqn = "nqn.x:host,instance=7";
	assert_int_equal(fabrics_connect(&d, "nqn.x:y", ",instance=7", &name), EINVAL);
	d = host();
	d.host_iface = "eth0,tos=1";
	assert_int_equal(fabrics_connect(&d, "nqn.x:y", ",instance=7", &name), EINVAL);
	assert_null(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(disconnects, begin),
		cmocka_unit_test_setup(is_killed, begin),
		cmocka_unit_test_setup(fails, begin),
		cmocka_unit_test_setup(commas, begin),
	};
	char dir[] = "/tmp/nvmerdma-unit.XXXXXX";
	int failed;

	root = mkdtemp(dir);
	if (!root)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	return system(mem_fmt("rm -r %s", dir)) ? 1 : failed;
}
