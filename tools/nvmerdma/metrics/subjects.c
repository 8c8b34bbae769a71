// SPDX-License-Identifier: GPL-2.0
/*
 * What there are series of: labels, and the counters behind them.
 *
 * Peers choose NQNs, so that two hosts may have the same label, for example after bytes that
 * are no UTF-8 were replaced, or if one calls itself METRICS_OTHERS. Members with the same
 * labels are added up to one subject.
 *
 * Only so many hosts, and controllers, have series of their own: those that came first. The
 * rest is one subject. A host that comes later thus neither moves another one into the rest,
 * nor adds to it what was counted before. If a host of the rest is forgotten, or becomes one
 * of the first, the sums of the rest fall, which a reader takes for a restart from 0.
 */
#include "metrics/metrics.h"
#include "rdma/rdma.h"

#include <stdlib.h>
#include <string.h>

/* Space of the UUIDs that stand for the NQNs of hosts: the same on all targets */
#define HASH_SPACE	"b8a7d3f6-61a5-4c0e-9f0d-6d2c8f3f7b51"

/* The name that a member has for a reader */
static const char *hash_of(const char *nqn)
{
	return mem_fmt("sha1:%s", name_uuid(HASH_SPACE, nqn));
}

static void add_member(struct metric_subjects *members, const char *labels,
		       const struct counters *counters)
{
	struct metric_subject member = { .labels = labels, .counters = counters };

	mem_push(members->list, members->nr, member);
}

static void add_count(struct counters *counters, const char *key, uint64_t value)
{
	struct counter one = { .key = key, .value = value, .is_number = true };

	mem_push(counters->list, counters->nr, one);
}

static int by_labels(const void *a, const void *b)
{
	return strcmp(((const struct metric_subject *)a)->labels,
		      ((const struct metric_subject *)b)->labels);
}

/* Members with the same labels become a subject, which also has their number */
static struct metric_subjects merge(struct metric_subjects members)
{
	struct metric_subjects subjects = { 0 };
	struct counters *sum;
	size_t i, first;

	if (members.nr)
		qsort(members.list, members.nr, sizeof(*members.list), by_labels);
	for (i = 0; i < members.nr; ) {
		first = i;
		sum = mem_get(sizeof(*sum));
		while (i < members.nr && !by_labels(&members.list[i], &members.list[first]))
			counters_add(sum, members.list[i++].counters);
		add_count(sum, "members", i - first);
		add_member(&subjects, members.list[first].labels, sum);
	}
	return subjects;
}

static int by_age(const void *a, const void *b)
{
	const struct stat_group *one = *(const struct stat_group * const *)a;
	const struct stat_group *other = *(const struct stat_group * const *)b;

	if (one->born != other->born)
		return one->born < other->born ? -1 : 1;
	return strcmp(one->name, other->name);
}

/* For each group, whether it has series of its own */
static const bool *first_groups(const struct stat_groups *groups, unsigned long limit)
{
	const struct stat_group **order = mem_get((groups->nr + 1) * sizeof(*order));
	bool *first = mem_get(groups->nr + 1);
	size_t i;

	for (i = 0; i < groups->nr; i++)
		order[i] = &groups->list[i];
	qsort(order, groups->nr, sizeof(*order), by_age);
	for (i = 0; i < groups->nr && i < limit; i++)
		first[order[i] - groups->list] = true;
	return first;
}

/* ---- a host's controllers ---- */

static const char *ctrl_labels(const struct stat_group *ctrl, bool own)
{
	if (!own)
		return metric_label("", "controller", METRICS_OTHERS);
	return metric_label(metric_label("", "controller", ctrl->name), "subsystem", ctrl->nqn);
}

static void add_ctrls(struct metric_subjects *members, const struct sample *sample,
		      const bool *own)
{
	uint64_t *connects = mem_get((sample->ctrls.nr + 1) * sizeof(*connects));
	size_t i;

	for (i = 0; i < sample->queues[SIDE_HOST].nr; i++) {
		const struct stat_queue *queue = &sample->queues[SIDE_HOST].list[i];

		if (queue->admin)
			connects[queue->owner] = counter(&queue->counters, "connects");
	}
	for (i = 0; i < sample->ctrls.nr; i++) {
		const struct stat_group *ctrl = &sample->ctrls.list[i];
		struct counters *counters = mem_get(sizeof(*counters));

		add_count(counters, "live", !strcmp(ctrl->state, "live"));
		add_count(counters, "reconnects", connects[i] ? connects[i] - 1 : 0);
		add_member(members, ctrl_labels(ctrl, own[i]), counters);
	}
}

static void add_ctrl_info(struct metric_subjects *members, const struct sample *sample,
			  const bool *own)
{
	static const struct counters none;
	size_t i;

	for (i = 0; i < sample->queues[SIDE_HOST].nr; i++) {
		const struct stat_queue *queue = &sample->queues[SIDE_HOST].list[i];
		const char *labels;

		if (!queue->admin || !own[queue->owner])
			continue;
		labels = ctrl_labels(&sample->ctrls.list[queue->owner], true);
		labels = metric_label(labels, "address", queue->address);
		add_member(members, metric_label(labels, "device",
						 counter_text(&queue->counters, "device")), &none);
	}
}

static void add_ctrl_queues(struct metric_subjects *members, const struct sample *sample,
			    const bool *own)
{
	size_t i;

	for (i = 0; i < sample->queues[SIDE_HOST].nr; i++) {
		const struct stat_queue *queue = &sample->queues[SIDE_HOST].list[i];
		const char *kind = queue->admin ? "admin" :
				   counter(&queue->counters, "polled") ? "poll" : "io";

		add_member(members, metric_label(ctrl_labels(&sample->ctrls.list[queue->owner],
							     own[queue->owner]), "kind", kind),
			   &queue->counters);
	}
}

/* ---- a target ---- */

static void add_hosts(struct metric_subjects *members, const struct sample *sample,
		      const bool *own, bool hash)
{
	size_t i;

	for (i = 0; i < sample->hosts.nr; i++) {
		const struct stat_group *host = &sample->hosts.list[i];
		const char *name = !own[i] ? METRICS_OTHERS : hash ? hash_of(host->nqn) :
				   host->nqn;

		add_member(members, metric_label("", "host", name), &host->counters);
	}
}

static void add_ports(struct metric_subjects *members, const struct sample *sample)
{
	size_t i;

	for (i = 0; i < sample->ports.nr; i++) {
		const struct stat_group *port = &sample->ports.list[i];

		add_member(members, metric_label(metric_label("", "port", port->name), "address",
						 port->address), &port->counters);
	}
}

static void add_threads(struct metric_subjects *members, const struct sample *sample)
{
	size_t i;

	for (i = 0; i < sample->threads.nr; i++)
		add_member(members, metric_label("", "thread", sample->threads.list[i].name),
			   &sample->threads.list[i].counters);
}

/* ---- both ---- */

/* All of this machine: those of a target's queues are not known without reading each queue */
static void add_devices(struct metric_subjects *members, const struct stat_dirs *dirs)
{
	const char *sysfs = dirs->devices;
	struct names names = names_in("%s", sysfs);
	uint64_t retries;
	size_t i;

	/* Without a module of ours there are no series */
	if (!file_there("%s", dirs->debugfs[SIDE_HOST]) &&
	    !file_there("%s", dirs->debugfs[SIDE_TARGET]))
		return;
	for (i = 0; i < names.nr; i++) {
		struct counters *counters = mem_get(sizeof(*counters));

		if (!rdma_retries(sysfs, names.name[i], &retries))
			continue;
		add_count(counters, "retries", retries);
		add_member(members, metric_label("", "device", names.name[i]), counters);
	}
}

static void add_modules(struct metric_subjects *members, const struct stat_dirs *dirs)
{
	static const char * const names[NR_SIDES] = { "nvme-rdma", "nvmet-rdma" };
	static const struct counters none;
	enum side side;

	for (side = 0; side < NR_SIDES; side++) {
		if (file_there("%s", dirs->debugfs[side]))
			add_member(members, metric_label("", "module", names[side]), &none);
	}
}

struct metric_subjects metric_subjects(const struct sample *sample, enum metric_kind kind,
				       const struct metrics_options *options)
{
	const bool *own = first_groups(kind == METRIC_HOSTS ? &sample->hosts : &sample->ctrls,
				       options->limit);
	struct metric_subjects members = { 0 };

	switch (kind) {
	case METRIC_MODULES:
		add_modules(&members, &options->dirs);
		break;
	case METRIC_CONTROLLERS:
		add_ctrls(&members, sample, own);
		break;
	case METRIC_CONTROLLER_INFO:
		add_ctrl_info(&members, sample, own);
		break;
	case METRIC_CONTROLLER_QUEUES:
		add_ctrl_queues(&members, sample, own);
		break;
	case METRIC_HOSTS:
		add_hosts(&members, sample, own, options->hash_hosts);
		break;
	case METRIC_PORTS:
		add_ports(&members, sample);
		break;
	case METRIC_THREADS:
		add_threads(&members, sample);
		break;
	default:
		add_devices(&members, &options->dirs);
		break;
	}
	return merge(members);
}
