// SPDX-License-Identifier: GPL-2.0
/*
 * Adaptive moderation of the interrupts of completion queues; each module compiles this
 * file.
 *
 * Operation: a device that moderates delays an interrupt until some completions have
 * arrived, or some time has passed since the first. The kernel's library (lib/dim) decides
 * how much, by the completions of each interrupt: it raises the level as long as that brings
 * more of them, and goes back to level 0 when an interrupt brings few. A work tells the
 * device, since drivers may sleep for that.
 *
 * One command at a time: the library stays at level 1 then, and raises the level when the rate
 * of completions varies. Each command would wait for nothing. So a queue whose interrupts bring
 * one completion although they were delayed goes back to level 0, and stays there for a while.
 *
 * The device decides at its start whether its queues are moderated (mlx5 does), and
 * "rdma dev set DEV adaptive-moderation on|off" changes it for queues that are created
 * later. "rdma resource show cq" shows it for each queue: it looks at ib_cq.dim. All this is
 * the same for the RDMA core's own queues.
 *
 * A kernel without the library (CONFIG_DIMLIB) has no moderation.
 */
#include "moderate.h"

/* Defines the tracepoints of cq.c, too: cq.c calls this file, which may not depend on it */
#define CREATE_TRACE_POINTS
#include "cq_trace.h"

#ifdef CONFIG_DIMLIB
#include <linux/dim.h>
#include <linux/slab.h>

/*
 * The levels: an interrupt waits for so many completions, or so long after the first. Level 0
 * is without moderation, for a command alone. The longest time is about what a fast disk takes
 * for a read. Twice the completions of one batch (cq.h) are as many as an interrupt handles.
 */
static const struct {
	u16 completions;
	u16 us;
} levels[RDMA_DIM_PARAMS_NUM_PROFILES] = {
	{ 1, 0 },
	{ 2, 1 },
	{ 4, 2 },
	{ 4, 4 },
	{ 8, 4 },
	{ 8, 8 },
	{ 16, 8 },
	{ 16, 16 },
	{ 32, 32 },
};

/*
 * So many delayed interrupts with one completion show that the delay brings nothing. One with
 * more takes away twice as many as it has: now and then a command alone brings two, since the
 * device reports one SEND of several.
 */
#define ALONE	16u
/* Interrupts until the library is asked again. Its trials delay about one in a hundred. */
#define REST	4096u

/**
 * struct moderation - of a completion queue
 * @dim: the library's
 * @alone: delayed interrupts with one completion
 * @rest: interrupts for which the level is to stay 0
 *
 * Only the queue's poller changes it, but for the state of @dim (set_level()).
 */
struct moderation {
	struct dim dim;
	unsigned int alone;
	unsigned int rest;
};

static struct moderation *moderation_of(struct dim *dim)
{
	return container_of(dim, struct moderation, dim);
}

static void set_level(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);
	u8 level = dim->profile_ix;
	int error;

	/* The next measurement begins with the new level, or a little before */
	dim->state = DIM_START_MEASURE;
	/* A device that fails keeps its level */
	error = rdma_set_cq_moderation(dim->priv, levels[level].completions,
				       levels[level].us);
	trace_nvme_rdma_cq_moderate(dim->priv, levels[level].completions,
				    levels[level].us, error);
}

/**
 * nvme_rdma_moderate_init() - moderate a new queue, if its device does
 * @ib: the queue, which has interrupts and is not armed yet
 *
 * Without memory it is not moderated.
 *
 * Context: process.
 */
void nvme_rdma_moderate_init(struct ib_cq *ib)
{
	struct moderation *m;
	struct dim *dim;

	if (!ib->device->ops.modify_cq || !ib->device->use_cq_dim)
		return;
	m = kzalloc_node(sizeof(*m), GFP_KERNEL, ibdev_to_node(ib->device));
	if (!m)
		return;
	dim = &m->dim;
	dim->state = DIM_START_MEASURE;
	dim->tune_state = DIM_GOING_RIGHT;
	dim->profile_ix = RDMA_DIM_START_PROFILE;
	dim->priv = ib;
	INIT_WORK(&dim->work, set_level);
	ib->dim = dim;
}

/**
 * nvme_rdma_moderate() - count an interrupt of a queue
 * @ib: the queue, which is moderated
 * @completions: completions since the one before
 *
 * Context: any; one at a time for a queue.
 */
void nvme_rdma_moderate(struct ib_cq *ib, unsigned int completions)
{
	struct moderation *m = moderation_of(ib->dim);
	struct dim *dim = &m->dim;

	if (m->rest) {
		m->rest--;
		return;
	}
	rdma_dim(dim, completions);
	if (!dim->profile_ix || dim->state == DIM_APPLY_NEW_PROFILE)
		m->alone = 0;
	else if (completions > 1)
		m->alone -= min(m->alone, 2 * completions);
	else
		m->alone++;
	if (m->alone < ALONE)
		return;
	m->alone = 0;
	m->rest = REST;
	dim->profile_ix = 0;
	dim->state = DIM_APPLY_NEW_PROFILE;
	schedule_work(&dim->work);
}

/**
 * nvme_rdma_moderate_stop() - leave the level of a queue as it is
 * @dim: of the queue, which is not polled any more; NULL if it is not moderated
 *
 * Context: process; waits for the driver.
 */
void nvme_rdma_moderate_stop(struct dim *dim)
{
	if (dim)
		cancel_work_sync(&dim->work);
}

/**
 * nvme_rdma_moderate_free() - undo nvme_rdma_moderate_init()
 * @dim: of a queue that is destroyed; NULL if it was not moderated
 *
 * Context: process.
 */
void nvme_rdma_moderate_free(struct dim *dim)
{
	if (dim)
		kfree(moderation_of(dim));
}
#endif
