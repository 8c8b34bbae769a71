// SPDX-License-Identifier: GPL-2.0
/* Rows of a sample: queues one by one, or together by what they belong to */
#include "stat/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	bool has[NR_SIDES];
} kinds[NR_BY] = {
	[BY_ALL]	= { "all",	  { true, true } },
	[BY_CONTROLLER]	= { "controller", { true, false } },
	[BY_QUEUE]	= { "queue",	  { true, true } },
	[BY_HOST]	= { "host",	  { false, true } },
	[BY_PORT]	= { "port",	  { false, true } },
	[BY_THREAD]	= { "thread",	  { false, true } },
};

enum stat_by by_named(const char *name)
{
	enum stat_by by = BY_ALL + 1;

	while (by < NR_BY && strcmp(kinds[by].name, name))
		by++;
	return by;
}

const char *by_name(enum stat_by by)
{
	return kinds[by].name;
}

bool by_has_side(enum stat_by by, enum side side)
{
	return kinds[by].has[side];
}

static struct stat_row *add_row(struct stat_rows *rows, struct stat_row row)
{
	rows->list = mem_grow(rows->list, rows->nr, sizeof(row));
	rows->list[rows->nr] = row;
	return &rows->list[rows->nr++];
}

static void add_queue(struct stat_row *row, const struct stat_queue *queue)
{
	work_add(&row->work, &queue->delta);
	row->in_flight += queue->in_flight;
	row->in_flight_exact &= queue->in_flight_exact;
	row->slots += counter(&queue->counters, "sq_slots");
	row->slots_free += counter(&queue->counters, "sq_slots_free");
}

static void add_device(struct stat_row *row, const struct stat_queue *queue)
{
	if (queue->device < 64)
		row->devices |= 1ULL << queue->device;
}

/* Each device once, however many queues of the row use it */
static void fill_retries(struct stat_row *row, const struct stat_devices *devices)
{
	size_t i;

	for (i = 0; i < devices->nr && i < 64; i++) {
		const struct stat_device *device = &devices->list[i];

		if (!(row->devices & 1ULL << i))
			continue;
		row->retries_counted |= device->counts;
		row->retries_known |= device->known;
		row->retries += device->retries;
		row->retries_delta += device->delta;
	}
}

/* Times that a host's queue came back */
static uint64_t reconnects(const struct stat_queue *queue)
{
	uint64_t connects = counter(&queue->counters, "connects");

	return connects ? connects - 1 : 0;
}

/* Of an admin queue, which has no I/O, the device alone counts */
static void add_owned(struct stat_row *rows, size_t owner, const struct stat_queue *queue)
{
	if (owner == NO_GROUP)
		return;
	add_device(&rows[owner], queue);
	if (!queue->admin)
		add_queue(&rows[owner], queue);
}

static struct stat_row *group_row(struct stat_rows *rows, enum side side, enum stat_by by,
				  const struct stat_group *group, double seconds)
{
	return add_row(rows, (struct stat_row) {
		.side = side, .by = by, .name = group->name, .state = group->state,
		.address = group->address, .nqn = group->nqn, .seconds = seconds,
		.in_flight_exact = true, .counters = &group->counters, .has_ends = true,
	});
}

/* Its admin queue reconnects whenever it does, and has errors, but no I/O */
static void add_to_ctrl(struct stat_row *row, struct counters *counters,
			const struct stat_queue *queue)
{
	row->errors += counter_errors(&queue->counters);
	add_device(row, queue);
	if (queue->admin) {
		row->ends = reconnects(queue);
		return;
	}
	add_queue(row, queue);
	counters_add(counters, &queue->counters);
}

static void ctrl_rows(struct stat_rows *rows, const struct sample *sample)
{
	struct counters *sums = mem_get((sample->ctrls.nr + 1) * sizeof(*sums));
	const struct stat_queues *queues = &sample->queues[SIDE_HOST];
	size_t i, first = rows->nr;

	for (i = 0; i < sample->ctrls.nr; i++)
		group_row(rows, SIDE_HOST, BY_CONTROLLER, &sample->ctrls.list[i],
			  sample->seconds)->counters = &sums[i];
	for (i = 0; i < queues->nr; i++) {
		size_t owner = queues->list[i].owner;

		add_to_ctrl(&rows->list[first + owner], &sums[owner], &queues->list[i]);
	}
}

/* A host's file has the counts of its queues that ended, too */
static void host_rows(struct stat_rows *rows, const struct sample *sample)
{
	const struct stat_queues *queues = &sample->queues[SIDE_TARGET];
	size_t i, first = rows->nr;

	for (i = 0; i < sample->hosts.nr; i++) {
		const struct stat_group *host = &sample->hosts.list[i];
		struct stat_row *row = group_row(rows, SIDE_TARGET, BY_HOST, host,
						 sample->seconds);

		row->errors = counter_errors(&host->counters);
		row->ends = counter(&host->counters, "queues_ended");
	}
	for (i = 0; i < queues->nr; i++)
		add_owned(rows->list + first, queues->list[i].owner, &queues->list[i]);
}

/* What is wrong with a port is connections that it did not get, or lost */
static void port_rows(struct stat_rows *rows, const struct sample *sample)
{
	const struct stat_queues *queues = &sample->queues[SIDE_TARGET];
	size_t i, first = rows->nr;

	for (i = 0; i < sample->ports.nr; i++) {
		const struct stat_group *port = &sample->ports.list[i];
		struct stat_row *row = group_row(rows, SIDE_TARGET, BY_PORT, port,
						 sample->seconds);
		uint64_t failed = counter(&port->counters, "queues_failed");

		row->errors = counter_errors(&port->counters) + failed +
			      counter_sum(&port->counters, "refused_");
		row->ends = counter(&port->counters, "queues_ended") + failed;
	}
	for (i = 0; i < queues->nr; i++)
		add_owned(rows->list + first, queues->list[i].port, &queues->list[i]);
}

static const char *queue_name(const struct stat_queue *queue, enum side side)
{
	if (side == SIDE_HOST)
		return queue->id;
	return mem_fmt("%s:c%sq%s", queue->id, counter_text(&queue->counters, "controller"),
		       counter_text(&queue->counters, "qid"));
}

static void queue_rows(struct stat_rows *rows, const struct sample *sample, enum side side)
{
	const struct stat_groups *owners = side == SIDE_HOST ? &sample->ctrls : &sample->hosts;
	size_t i;

	for (i = 0; i < sample->queues[side].nr; i++) {
		const struct stat_queue *queue = &sample->queues[side].list[i];
		struct stat_row *row = add_row(rows, (struct stat_row) {
			.side = side, .by = BY_QUEUE, .name = queue_name(queue, side),
			.state = queue->state, .address = queue->address,
			.seconds = sample->seconds, .in_flight_exact = true,
			.nqn = queue->owner == NO_GROUP ? "-" : owners->list[queue->owner].nqn,
			.errors = counter_errors(&queue->counters),
			.counters = &queue->counters,
		});

		add_queue(row, queue);
		add_device(row, queue);
		row->has_ends = side == SIDE_HOST;
		row->ends = row->has_ends ? reconnects(queue) : 0;
	}
}

static void thread_rows(struct stat_rows *rows, const struct sample *sample)
{
	size_t i;

	for (i = 0; i < sample->threads.nr; i++) {
		const struct stat_thread *thread = &sample->threads.list[i];

		add_row(rows, (struct stat_row) {
			.side = SIDE_TARGET, .by = BY_THREAD, .name = thread->name,
			.state = thread->state, .seconds = sample->seconds, .thread = thread,
			.counters = &thread->counters,
		});
	}
}

static int by_side_and_name(const void *a, const void *b)
{
	const struct stat_row *one = a, *other = b;

	if (one->side != other->side)
		return one->side < other->side ? -1 : 1;
	return strverscmp(one->name, other->name);
}

struct stat_rows stat_rows(const struct sample *sample, enum stat_by by)
{
	struct stat_rows rows = { 0 };
	size_t i;

	if (by == BY_ALL || by == BY_CONTROLLER)
		ctrl_rows(&rows, sample);
	if (by == BY_ALL || by == BY_HOST)
		host_rows(&rows, sample);
	if (by == BY_PORT)
		port_rows(&rows, sample);
	if (by == BY_QUEUE) {
		queue_rows(&rows, sample, SIDE_HOST);
		queue_rows(&rows, sample, SIDE_TARGET);
	}
	if (by == BY_THREAD)
		thread_rows(&rows, sample);
	for (i = 0; i < rows.nr; i++)
		fill_retries(&rows.list[i], &sample->devices);
	if (rows.nr)
		qsort(rows.list, rows.nr, sizeof(*rows.list), by_side_and_name);
	return rows;
}

static enum stat_column sort_column;

/* The largest first; what has no number last */
static int by_column(const void *a, const void *b)
{
	const struct stat_row *one = a, *other = b;
	double x = column_value(one, sort_column), y = column_value(other, sort_column);

	if (one->side != other->side || (isnan(x) && isnan(y)) || x == y)
		return by_side_and_name(a, b);
	if (isnan(x) || isnan(y))
		return isnan(x) ? 1 : -1;
	return x > y ? -1 : 1;
}

void stat_sort(struct stat_rows *rows, enum stat_column column)
{
	sort_column = column;
	if (rows->nr)
		qsort(rows->list, rows->nr, sizeof(*rows->list), by_column);
}
