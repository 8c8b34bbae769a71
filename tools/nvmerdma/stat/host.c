// SPDX-License-Identifier: GPL-2.0
/* Controllers and their queues, on a host: nvme_rdma/nvmeN/queueM, as in nvme-rdma(4) */
#include "stat/stat.h"

#include <string.h>
#include <sys/stat.h>

uint64_t stat_instance(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_ino;
}

uint64_t stat_born(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_mtim.tv_sec * 1000000000ULL + st.st_mtim.tv_nsec;
}

static void read_queue(struct stat_queues *queues, const char *dir, const char *ctrl,
		       const char *name)
{
	struct stat_queue queue = {
		.id = mem_fmt("%s/%s", ctrl, name),
		.admin = !strcmp(name, "queue0"),
		.port = NO_GROUP,
	};
	const struct counters *counters = &queue.counters;
	uint64_t sent, answered;

	if (!counters_read(&queue.counters, "%s/%s", dir, queue.id))
		return;
	sent = counter_sum(counters, "sent_");
	answered = counter(counters, "responses");
	queue.open = sent > answered ? sent - answered : 0;
	queue.depth = counter(counters, "depth");
	queue.state = counter_text(counters, "state");
	queue.total = work_of(counters);
	mem_push(queues->list, queues->nr, queue);
}

static const char *attribute(const char *sysfs, const char *ctrl, const char *name)
{
	const char *text = file_read("%s/%s/%s", sysfs, ctrl, name);

	return text && *text ? text : "-";
}

/* One of which nothing can be read has gone meanwhile */
static void read_ctrl(struct sample *sample, const char *dir, const char *sysfs, const char *name)
{
	struct stat_queues *queues = &sample->queues[SIDE_HOST];
	struct names files = names_in("%s/%s", dir, name);
	uint64_t instance = stat_instance(mem_fmt("%s/%s", dir, name));
	size_t i, first = queues->nr;
	struct stat_group ctrl = {
		.name = name,
		.nqn = attribute(sysfs, name, "subsysnqn"),
		.address = attribute(sysfs, name, "address"),
		.state = attribute(sysfs, name, "state"),
		.born = stat_born(mem_fmt("%s/%s", dir, name)),
	};

	/* beside them is "options" */
	for (i = 0; i < files.nr; i++)
		if (!strncmp(files.name[i], "queue", strlen("queue")))
			read_queue(queues, dir, name, files.name[i]);
	if (queues->nr == first)
		return;
	for (i = first; i < queues->nr; i++) {
		queues->list[i].instance = instance;
		queues->list[i].owner = sample->ctrls.nr;
		queues->list[i].address = ctrl.address;
	}
	mem_push(sample->ctrls.list, sample->ctrls.nr, ctrl);
}

void stat_read_host(struct sample *sample, const char *dir, const char *sysfs)
{
	struct names names = names_in("%s", dir);
	size_t i;

	for (i = 0; i < names.nr; i++)
		read_ctrl(sample, dir, sysfs, names.name[i]);
}
