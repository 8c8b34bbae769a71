// SPDX-License-Identifier: GPL-2.0
/*
 * The device's counters, in the file "counters" of its directory in debugfs: lines "KEY VALUE"
 * for the whole device, including queues that no longer exist, then a line "qp NUMBER
 * KEY=VALUE..." for each QP, CQ and SRQ. A QP's "to" is the number of its peer, its "cpu" is
 * the CPU that its receives interrupt. Receives posted to an SRQ count for the SRQ and for no
 * QP. The values are read while work continues. struct vrnic_counts and struct vrnic_cq
 * explain the others.
 */

#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "vrnic.h"

const char *const vrnic_kind_names[VRNIC_KINDS] = {
	[VRNIC_SEND] = "send",
	[VRNIC_WRITE] = "write",
	[VRNIC_READ] = "read",
	[VRNIC_REG] = "reg",
	[VRNIC_INV] = "inv",
	[VRNIC_RECV] = "recv",
	[VRNIC_OTHER] = "other",
};

/* All members are numbers of one size */
static void counts_add(struct vrnic_counts *sum, const struct vrnic_counts *of)
{
	const u64 *from = (const u64 *)of;
	u64 *to = (u64 *)sum;
	size_t i;

	for (i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += READ_ONCE(from[i]);
}

/**
 * vrnic_counters_add() - keep the counts of a QP that goes
 * @dev: the device
 * @qp: the QP
 *
 * Context: may sleep; obj_lock is held.
 */
void vrnic_counters_add(struct vrnic_dev *dev, struct vrnic_qp *qp)
{
	lockdep_assert_held(&dev->obj_lock);
	counts_add(&dev->gone, &qp->counts);
}

static void show(struct seq_file *s, const struct vrnic_counts *c, char equals,
		 char end)
{
	int i;

	seq_printf(s, "posts_send%c%llu%c", equals, c->posts_send, end);
	seq_printf(s, "posts_recv%c%llu%c", equals, c->posts_recv, end);
	for (i = 0; i < VRNIC_KINDS; i++)
		seq_printf(s, "wr_%s%c%llu%c", vrnic_kind_names[i], equals,
			   c->wr[i], end);
	for (i = 0; i < VRNIC_KINDS; i++)
		seq_printf(s, "bytes_%s%c%llu%c", vrnic_kind_names[i], equals,
			   c->bytes[i], end);
	seq_printf(s, "inline%c%llu%c", equals, c->inlined, end);
	seq_printf(s, "signaled%c%llu%c", equals, c->signaled, end);
	seq_printf(s, "cqe_send%c%llu%c", equals, c->cqe[VRNIC_SQ], end);
	seq_printf(s, "cqe_recv%c%llu%c", equals, c->cqe[VRNIC_RQ], end);
	seq_printf(s, "rnr%c%llu%c", equals, c->rnr, end);
	seq_printf(s, "lost%c%llu%c", equals, c->lost, end);
}

static int counters_show(struct seq_file *s, void *unused)
{
	struct vrnic_dev *dev = s->private;
	struct vrnic_counts sum = {};
	struct vrnic_srq *srq;
	struct vrnic_qp *qp;
	struct vrnic_cq *cq;
	u64 of_cqs[5];

	mutex_lock(&dev->obj_lock);
	sum = dev->gone;
	list_for_each_entry(qp, &dev->qps, entry)
		counts_add(&sum, &qp->counts);
	list_for_each_entry(srq, &dev->srqs, entry)
		sum.posts_recv += READ_ONCE(srq->posts);
	memcpy(of_cqs, dev->gone_cq, sizeof(of_cqs));
	list_for_each_entry(cq, &dev->cqs, entry) {
		of_cqs[0] += READ_ONCE(cq->arms);
		of_cqs[1] += READ_ONCE(cq->events);
		of_cqs[2] += READ_ONCE(cq->polls);
		of_cqs[3] += READ_ONCE(cq->cqes);
		of_cqs[4] += READ_ONCE(cq->moder.calls);
	}
	show(s, &sum, ' ', '\n');
	seq_printf(s, "arms %llu\nevents %llu\npolls %llu\ncqes %llu\nmoderations %llu\n",
		   of_cqs[0], of_cqs[1], of_cqs[2], of_cqs[3], of_cqs[4]);
	seq_printf(s, "qps %d\ncqs %d\nsrqs %d\nmrs %d\nviolations %d\nbad_pkeys %d\n",
		   atomic_read(&dev->nr_qps), atomic_read(&dev->nr_cqs),
		   atomic_read(&dev->nr_srqs), atomic_read(&dev->nr_mrs),
		   atomic_read(&dev->violations), atomic_read(&dev->bad_pkeys));
	list_for_each_entry(qp, &dev->qps, entry) {
		seq_printf(s, "qp %u owner=%s state=%d pkey=%#x to=%u cpu=%d ",
			   qp->ibqp.qp_num, vrnic_owner(qp), READ_ONCE(qp->state),
			   dev->config.pkeys[qp->attr.pkey_index],
			   qp->attr.dest_qp_num,
			   to_vcq(qp->ibqp.recv_cq)->cpu);
		show(s, &qp->counts, '=', ' ');
		seq_putc(s, '\n');
	}
	list_for_each_entry(cq, &dev->cqs, entry)
		seq_printf(s, "cq %u owner=%s arms=%llu events=%llu polls=%llu cqes=%llu moderations=%llu\n",
			   cq->ibcq.res.id, cq->owner,
			   READ_ONCE(cq->arms), READ_ONCE(cq->events),
			   READ_ONCE(cq->polls), READ_ONCE(cq->cqes),
			   READ_ONCE(cq->moder.calls));
	list_for_each_entry(srq, &dev->srqs, entry)
		seq_printf(s, "srq %u owner=%s posts_recv=%llu\n",
			   srq->ibsrq.res.id, vrnic_pd_owner(srq->ibsrq.pd),
			   READ_ONCE(srq->posts));
	mutex_unlock(&dev->obj_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

/**
 * vrnic_counters_make() - the file
 * @dev: the device
 */
void vrnic_counters_make(struct vrnic_dev *dev)
{
	debugfs_create_file("counters", 0444, dev->dir, dev, &counters_fops);
}
