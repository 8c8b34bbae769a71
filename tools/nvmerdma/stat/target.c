// SPDX-License-Identifier: GPL-2.0
/* Queues, hosts, ports and threads of a target: nvmet_rdma/..., see nvmet-rdma(4) */
#include "stat/stat.h"

#include <stdlib.h>
#include <string.h>

/* A host without queues is remembered for its counts */
static void read_hosts(struct stat_groups *hosts, const char *dir)
{
	struct names names = names_in("%s/hosts", dir);
	size_t i;

	for (i = 0; i < names.nr; i++) {
		struct stat_group host = { .address = "-" };

		if (!counters_read(&host.counters, "%s/hosts/%s", dir, names.name[i]))
			continue;
		host.nqn = counter_text(&host.counters, "host");
		host.name = host.nqn;
		host.state = counter(&host.counters, "queues") ? "live" : "gone";
		host.born = stat_born(mem_fmt("%s/hosts/%s", dir, names.name[i]));
		mem_push(hosts->list, hosts->nr, host);
	}
}

static void read_ports(struct stat_groups *ports, const char *dir)
{
	struct names names = names_in("%s/ports", dir);
	size_t i;

	for (i = 0; i < names.nr; i++) {
		struct stat_group port = { .name = names.name[i] };
		const struct counters *counters = &port.counters;

		if (!counters_read(&port.counters, "%s/ports/%s", dir, names.name[i]))
			continue;
		port.address = mem_fmt("%s:%s", counter_text(counters, "traddr"),
				       counter_text(counters, "trsvcid"));
		port.state = counter(counters, "listening") ? "listening" : "waiting";
		mem_push(ports->list, ports->nr, port);
	}
}

static int by_name_only(const void *a, const void *b)
{
	return strcmp(((const struct stat_group *)a)->name, ((const struct stat_group *)b)->name);
}

/* @groups are in order of their names */
static size_t group_named(const struct stat_groups *groups, const char *name)
{
	struct stat_group wanted = { .name = name }, *found = NULL;

	if (groups->nr)
		found = bsearch(&wanted, groups->list, groups->nr, sizeof(wanted), by_name_only);
	return found ? (size_t)(found - groups->list) : NO_GROUP;
}

/*
 * What has come and whose answer is not known to have gone: nvmet-rdma(4) says of
 * "responses" that up to seven of an I/O queue may be known late.
 */
static void fill_flight(struct stat_queue *queue)
{
	uint64_t come = counter(&queue->counters, "receives_completed");
	uint64_t answered = counter(&queue->counters, "responses");

	queue->open = come > answered ? come - answered : 0;
	queue->in_flight = queue->open;
	queue->in_flight_exact = true;
}

static void read_queue(struct sample *sample, const char *dir, const char *name,
		       uint64_t instance)
{
	struct stat_queues *queues = &sample->queues[SIDE_TARGET];
	struct stat_queue queue = { .id = name, .instance = instance };
	const struct counters *counters = &queue.counters;

	if (!counters_read(&queue.counters, "%s/queues/%s", dir, name))
		return;
	queue.admin = !counter(counters, "qid");
	queue.state = counter_text(counters, "state");
	queue.address = counter_text(counters, "peer");
	queue.owner = group_named(&sample->hosts, counter_text(counters, "host"));
	queue.port = group_named(&sample->ports, counter_text(counters, "port"));
	queue.depth = counter(counters, "depth");
	queue.total = work_of(counters);
	fill_flight(&queue);
	mem_push(queues->list, queues->nr, queue);
}

static void sort_groups(struct stat_groups *groups)
{
	if (groups->nr)
		qsort(groups->list, groups->nr, sizeof(*groups->list), by_name_only);
}

static void read_threads(struct stat_threads *threads, const char *dir)
{
	static const char * const keys[NR_THREAD] = {
		[THREAD_CPU] = "cpu_ns", [THREAD_SPUN] = "spun_ns", [THREAD_ROUNDS] = "rounds",
		[THREAD_SLEEPS] = "sleeps", [THREAD_INTERRUPTS] = "interrupts",
		[THREAD_ABSENCES] = "absences",
	};
	struct names names = names_in("%s/threads", dir);
	size_t i, k;

	for (i = 0; i < names.nr; i++) {
		struct stat_thread thread = { .name = names.name[i] };

		if (!counters_read(&thread.counters, "%s/threads/%s", dir, names.name[i]))
			continue;
		thread.state = counter_text(&thread.counters, "state");
		for (k = 0; k < NR_THREAD; k++)
			thread.total[k] = counter(&thread.counters, keys[k]);
		mem_push(threads->list, threads->nr, thread);
	}
}

void stat_read_target(struct sample *sample, const char *dir, bool queues)
{
	uint64_t instance = stat_instance(dir);
	struct names names;
	size_t i;

	read_hosts(&sample->hosts, dir);
	read_ports(&sample->ports, dir);
	read_threads(&sample->threads, dir);
	sort_groups(&sample->hosts);
	sort_groups(&sample->ports);
	if (!queues)
		return;
	names = names_in("%s/queues", dir);
	for (i = 0; i < names.nr; i++)
		read_queue(sample, dir, names.name[i], instance);
}
