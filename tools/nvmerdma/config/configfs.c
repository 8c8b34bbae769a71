// SPDX-License-Identifier: GPL-2.0
/*
 * The target's configuration where the kernel has it.
 *
 * Of an object's attributes those count that can be read and written. What nvmet
 * thinks of a step that failed, it says in the kernel's log only: it is read from there.
 */
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "config/plan.h"
#include "rdma/rdma.h"

#define CONFIGFS	"/sys/kernel/config"
#define NVMET		CONFIGFS "/nvmet"

/* Another one changes few things, but a port that goes waits for its hosts' I/O */
#define LOCK_SECONDS	30
#define MODPROBE_S	60	/* that modprobe may take */
/* Between two tries, of a second */
#define NAPS		10

/* ---- read ---- */

static bool is_attr(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISREG(st.st_mode) &&
	       (st.st_mode & 0600) == 0600;
}

/* What nvmet shows for a path that was never set */
static const char *cleaned(const char *value)
{
	return strcmp(value, "(null)") ? value : "";
}

static int read_attrs(struct node *node, const char *path)
{
	struct names names = names_in("%s", path);
	size_t i;

	for (i = 0; i < names.nr; i++) {
		const char *attr = mem_fmt("%s/%s", path, names.name[i]);
		const char *value;

		if (!is_attr(attr))
			continue;
		value = file_read("%s", attr);
		if (!value && errno == ENOENT)
			continue;		/* the object goes just now */
		if (!value)
			return error_msg("%s cannot be read: %m", attr);
		node_set(node, names.name[i], cleaned(value));
	}
	return 0;
}

static bool in_tree_loaded(void)
{
	return file_there("/sys/module/nvmet_rdma") && !module_loaded_is_ours("", "nvmet_rdma");
}

static int read_node(struct node *node, const char *path)
{
	const struct schema * const *shape;
	struct names names;
	size_t i;

	if (read_attrs(node, path))
		return -1;
	if (node->shape->links) {
		names = names_in("%s/%s", path, node->shape->links);
		for (i = 0; i < names.nr; i++)
			node_link(node, names.name[i]);
	}
	if (node->shape == &schema_port && node_is(node, "addr_trtype", "rdma"))
		node->in_tree = in_tree_loaded();
	for (shape = node->shape->parts; *shape; shape++) {
		const char *dir = mem_fmt("%s/%s", path, (*shape)->dir);

		if (!(*shape)->key) {
			if (file_there("%s", dir) &&
			    read_node(node_add(node, *shape, ""), dir))
				return -1;
			continue;
		}
		names = names_in("%s", dir);
		for (i = 0; i < names.nr; i++) {
			if (read_node(node_add(node, *shape, names.name[i]),
				      mem_fmt("%s/%s", dir, names.name[i])))
				return -1;
		}
	}
	return 0;
}

bool configfs_there(void)
{
	return file_there(NVMET "/subsystems");
}

bool configfs_enabled(const struct node *node)
{
	const char *value = file_read(NVMET "/%s/enable", node_path(node));

	return value && !strcmp(value, "1");
}

struct node *configfs_read_below(const char *root)
{
	const char *nvmet = mem_fmt("%s" NVMET, root);
	struct node *node = node_root();

	if (!file_there("%s/subsystems", nvmet))
		return node;
	if (access(mem_fmt("%s/subsystems", nvmet), R_OK | X_OK)) {
		error_msg("%s cannot be read: %m", nvmet);
		return NULL;
	}
	return read_node(node, nvmet) ? NULL : node;
}

struct node *configfs_read(void)
{
	return configfs_read_below("");
}

/* ---- ready to be changed ---- */

/* A tenth of a second */
static void nap(void)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 * 1000 / NAPS };

	nanosleep(&pause, NULL);
}

/* The directory, locked while it is open; -1: not by this process */
static int lock_fd = -1;

int configfs_lock(void)
{
	int tries;

	if (lock_fd >= 0)
		return 0;
	lock_fd = open(NVMET, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock_fd < 0)
		return error_msg(NVMET " cannot be opened: %m");
	for (tries = 0; flock(lock_fd, LOCK_EX | LOCK_NB); tries++) {
		if (errno != EWOULDBLOCK && errno != EINTR) {
			error_msg(NVMET " cannot be locked: %m");
			configfs_unlock();
			return -1;
		}
		if (tries == LOCK_SECONDS * NAPS) {
			configfs_unlock();
			return error_msg("the configuration is locked by another nvmerdma (waited %d s)",
					 LOCK_SECONDS);
		}
		nap();
	}
	return 0;
}

void configfs_unlock(void)
{
	if (lock_fd >= 0)
		close(lock_fd);
	lock_fd = -1;
}

int configfs_open(void)
{
	if (geteuid() != 0)
		return error_msg("only root can change the target; run 'sudo nvmerdma ...'");
	if (!configfs_there()) {
		program_output(MODPROBE_S, "modprobe", "nvmet", NULL);
		if (!file_there(NVMET) && mount("none", CONFIGFS, "configfs", 0, NULL) &&
		    errno != EBUSY && errno != ENOENT)
			note_msg("configfs cannot be mounted at " CONFIGFS ": %m");
	}
	if (!configfs_there())
		return error_msg("nvmet is not loaded; run 'modprobe nvmet' to see why");
	return configfs_lock();
}

/* ---- change ---- */

/* Messages of a step that failed that are shown, the last ones */
#define WORDS_MAX	2

struct kernel_words {
	int fd;			/* /dev/kmsg, from before the step */
};

/* A step begins: what was said before is not about it */
static const char *begin(const struct kernel_words *words, const char *path)
{
	if (words->fd >= 0)
		lseek(words->fd, 0, SEEK_END);
	return mem_fmt(NVMET "/%s", path);
}

static int do_make(void *to, const char *path)
{
	return mkdir(begin(to, path), 0755) ? -errno : 0;
}

static int do_remove(void *to, const char *path)
{
	return rmdir(begin(to, path)) ? -errno : 0;
}

/* A key is taken back by a text of no length, which write() would not pass on: one NUL */
static int do_write(void *to, const char *path, const char *value)
{
	int fd = open(begin(to, path), O_WRONLY | O_CLOEXEC), err = 0;
	size_t len = *value ? strlen(value) : 1;

	if (fd < 0)
		return -errno;
	if (write(fd, value, len) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int do_link(void *to, const char *path, const char *target)
{
	return symlink(mem_fmt(NVMET "/%s", target), begin(to, path)) ? -errno : 0;
}

static int do_unlink(void *to, const char *path)
{
	return unlink(begin(to, path)) ? -errno : 0;
}

/* "6,1234,5678,-;nvmet: text\n": the text of messages that are nvmet's */
static const char *do_why(void *to)
{
	const struct kernel_words *words = to;
	const char *last[WORDS_MAX] = { NULL };
	char record[8192];
	ssize_t n;

	if (words->fd < 0)
		return NULL;
	while ((n = read(words->fd, record, sizeof(record) - 1)) > 0 ||
	       (n < 0 && errno == EPIPE)) {
		char *text;

		if (n < 0)
			continue;	/* some were lost */
		record[n] = 0;
		text = strchr(record, ';');
		if (!text || !strstr(text, "nvmet"))
			continue;
		text[strcspn(text, "\n")] = 0;
		last[0] = last[1];
		last[1] = mem_fmt("\"%s\"", text + 1);
	}
	return last[0] ? mem_fmt("%s, %s", last[0], last[1]) : last[1];
}

static void do_nap(void *to)
{
	(void)to;
	nap();
}

static void print_steps(const struct plan *plan)
{
	size_t i;

	if (plan->nr && !configfs_there())
		puts("modprobe nvmet");
	if (plan->nr)
		puts("cd " NVMET);
	for (i = 0; i < plan->nr; i++)
		puts(step_shell(&plan->step[i]));
}

/* Signals that end or stop a program wait while this is set; @disturbed is what was before */
static bool undisturbed;
static sigset_t disturbed;

static void block_signals(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE };
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < NR(ending); i++)
		sigaddset(&set, ending[i]);
	if (!undisturbed)
		sigprocmask(SIG_BLOCK, &set, &disturbed);
	undisturbed = true;
}

static void take_signals(void)
{
	if (undisturbed)
		sigprocmask(SIG_SETMASK, &disturbed, NULL);
	undisturbed = false;
}

void configfs_print(const struct plan *plan)
{
	const char *words;
	size_t i;

	for (i = 0; i < plan->nr; i++) {
		words = step_words(&plan->step[i]);
		if (words)
			puts(words);
	}
}

void configfs_report(const struct plan *plan)
{
	configfs_print(plan);
	fflush(stdout);
	take_signals();
}

static int run_undisturbed(const struct plan *plan)
{
	struct kernel_words words = {
		.fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC),
	};
	const struct plan_doer doer = {
		.make = do_make, .remove = do_remove, .write = do_write, .link = do_link,
		.unlink = do_unlink, .why = do_why, .nap = do_nap, .to = &words,
	};
	int err;

	block_signals();
	err = plan_run(plan, &doer);
	if (words.fd >= 0)
		close(words.fd);
	if (err)
		take_signals();
	return err;
}

/* What the kernel made of parameters that were written, where it is something else */
static void say_lowered(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->nr; i++) {
		const struct step *step = &plan->step[i];
		const char *has;

		if (step->kind != STEP_WRITE || step->node->shape != &schema_port ||
		    strncmp(step->name, "param_", 6) || !strcmp(step->value, "-1"))
			continue;
		has = file_read(NVMET "/%s", step_path(step));
		if (has && !attr_same(step->name, has, step->value))
			note_msg("%s: %s: %s was requested, %s is in force (changed by the kernel or the RDMA device)",
				 node_words(step->node), step->name, step->value, has);
	}
}

int configfs_apply(const struct node *have, const struct node *want, bool dry,
		   struct plan *plan)
{
	*plan = plan_make(have, want);
	plan_say_left(plan);
	if (dry) {
		print_steps(plan);
		return 0;
	}
	if (plan->nr && run_undisturbed(plan))
		return -1;
	say_lowered(plan);
	return 0;
}
