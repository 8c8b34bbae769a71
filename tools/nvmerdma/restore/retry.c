// SPDX-License-Identifier: GPL-2.0
/*
 * What a restore at boot had to leave out: a disk that is found late, or is busy, or is mended
 * in the afternoon. Whether it is there is looked for each second, which costs a system call
 * for a disk, and works for whatever makes a name appear. What is there is tried, again and
 * again with a pause that doubles: asking may disturb others who want the disk.
 *
 * Meanwhile the configuration is the administrator's: of it this changes just what the
 * restore has left disabled, if it still is there, disabled, and on the same device (deferred.c).
 * What somebody has enabled is followed no more, so that it can be disabled again.
 *
 * systemd's Restart= cannot do this: a second 'restore --late' would apply the whole file
 * again, and undo what the administrator has changed since the first. Each attempt would also
 * be a failed unit, so that units that wait for this one would fail with it, and
 * StartLimitBurst= would end the wait for a disk that is mended in the afternoon. A timer or a
 * path unit has no place for what was said last, the pause of each disk and the one line of
 * status that 'systemctl status' shows.
 */
#include "restore/restore.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"

/* Seconds between two attempts at what is there and cannot be enabled, at most; each that
 * fails in the kernel is said again, and so not each minute
 */
#define PAUSE_MAX	60
#define PAUSE_FAILED	3600

/* Why something is left disabled that nothing speaks against */
static const char failed[] = "it was tried, and that failed";

struct late {
	const struct node *node;	/* NULL: done */
	char why[512];			/* as it was said last */
	unsigned int pause, rest;	/* seconds: between attempts, to the next one */
};

static void tell_status(const struct late *late, size_t nr)
{
	const char *words = "";
	size_t i;

	for (i = 0; i < nr; i++) {
		if (late[i].node)
			words = mem_fmt("%s%s%s: %s", words, *words ? "; " : "",
					node_words(late[i].node), late[i].why);
	}
	tell_systemd(mem_fmt("READY=1\nSTATUS=%s%s", *words ? "Waiting: " : "All is exported",
			     words));
}

/* A reason is said once, and each time that it is another one; whether it is */
static bool say_why(struct late *late, const char *why)
{
	if (!words_are_news(late->why, sizeof(late->why), why))
		return false;
	note_msg("%s is left disabled until it can be enabled: %s", node_words(late->node), why);
	return true;
}

/* NULL: nothing is left to do for it; else why there is, in words, and that is kept */
static const char *enable(const struct node *node)
{
	const struct unavailable none = { 0 };
	struct node *have, *want, *same;
	struct plan plan;
	const char *why;

	if (!configfs_there()) {
		printf("%s is left alone: the module nvmet is not loaded any more\n",
		       node_words(node));
		deferred_clear();
		return NULL;
	}
	have = configfs_open() ? NULL : configfs_read();
	if (!have)
		return failed;
	want = node_copy(have);
	same = deferred_has(node) ? unavailable_enable(want, node) : NULL;
	if (!same) {
		printf("%s is there, but %s was changed meanwhile, and is left alone\n",
		       node_get(node, "device_path") ?: node_get(node, "addr_traddr"),
		       node_words(node));
		deferred_record(have, &none);
		return NULL;
	}
	why = not_ready_reason(same);
	if (why) {
		deferred_record(have, &(struct unavailable){ .node = &node, .why = &why, .nr = 1 });
		return why;
	}
	if (configfs_apply(have, want, false, &plan))
		return failed;
	deferred_record(want, &none);
	configfs_report(&plan);
	return NULL;
}

/* Whether there is something new to say of it */
static bool try_once(struct late *late)
{
	bool by_others = configfs_enabled(late->node);
	const char *why = by_others ? NULL : not_present_reason(late->node);

	if (why) {
		late->pause = 0;
		late->rest = 0;
		return say_why(late, why);
	}
	if (late->rest && !by_others) {
		late->rest--;
		return false;
	}
	why = enable(late->node);
	configfs_unlock();
	if (!why) {
		late->node = NULL;
		return true;
	}
	late->pause = longer_pause(late->pause, why == failed ? PAUSE_FAILED : PAUSE_MAX);
	late->rest = late->pause;
	return say_why(late, why);
}

void retry_unavailable(const struct unavailable *missing)
{
	struct late *late = mem_get((missing->nr + 1) * sizeof(*late));
	size_t i, undone = missing->nr;
	struct mem_mark mark;
	bool news;

	for (i = 0; i < missing->nr; i++) {
		late[i].node = missing->node[i];
		snprintf(late[i].why, sizeof(late[i].why), "%s", missing->why[i]);
	}
	configfs_unlock();
	fflush(stdout);
	tell_status(late, missing->nr);
	while (undone) {
		sleep(1);
		mark = mem_mark();
		news = false;
		undone = 0;
		for (i = 0; i < missing->nr; i++) {
			news |= late[i].node && try_once(&late[i]);
			undone += !!late[i].node;
		}
		fflush(stdout);
		if (news)
			tell_status(late, missing->nr);
		mem_release(mark);
	}
}
