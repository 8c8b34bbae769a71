// SPDX-License-Identifier: GPL-2.0
/*
 * Completions: which work has one, their order and content, and their interrupts.
 *
 * The absence of an interrupt can be seen only on the CPU where it would have occurred: there
 * it occurs before post_send returns.
 */

#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/version.h>
#include "vrnic_test.h"

/* @n messages of @len bytes each, whose receives have wr_ids from 100 */
static void send_many(struct vt_pair *p, const struct vt_buf *from,
		      const struct vt_buf *to, int n, int flags, u32 len)
{
	struct ib_sge sge;
	int i;

	for (i = 0; i < n; i++) {
		sge = vt_sge(&p->b, to, 0, 64);
		vt_equal(0, vt_recv(&p->b, 100 + i, &sge, 1), "receive posted");
		sge = vt_sge(&p->a, from, 0, len);
		vt_equal(0, vt_post(&p->a, &(struct vt_wr) {
			.op = IB_WR_SEND, .id = i, .flags = flags, .sge = &sge,
			.num_sge = 1 }), "SEND posted");
	}
}

static void test_selective(struct vt_devs *d)
{
	struct ib_sge sge;
	struct ib_wc wc;
	struct vt_ends t;
	int i;

	if (vt_ends_make(&t, d, NULL, PAGE_SIZE))
		goto out;
	for (i = 0; i < 5; i++) {
		sge = vt_sge(&t.p.b, &t.to, 0, 64);
		vt_equal(0, vt_recv(&t.p.b, 100 + i, &sge, 1), "receive posted");
	}
	for (i = 0; i < 5; i++) {
		sge = vt_sge(&t.p.a, &t.from, 0, 10 + i);
		vt_equal(0, vt_post(&t.p.a, &(struct vt_wr) {
			.op = IB_WR_SEND, .id = i, .sge = &sge, .num_sge = 1,
			.flags = i == 2 || i == 4 ? IB_SEND_SIGNALED : 0 }),
			"SEND posted");
	}
	for (i = 2; i < 6; i += 2) {
		vt_expect(t.p.a.scq, IB_WC_SUCCESS, &wc, "signaled SEND %d", i);
		vt_equal(i, wc.wr_id, "signaled SEND %d: wr_id", i);
		vt_equal(IB_WC_SEND, wc.opcode, "signaled SEND %d: opcode", i);
		vt_ok(wc.qp == t.p.a.qp, "signaled SEND %d: qp", i);
	}
	vt_ok(vt_none(t.p.a.scq), "the others have no completion");
	for (i = 0; i < 5; i++) {
		vt_expect(t.p.b.rcq, IB_WC_SUCCESS, &wc, "receive %d", i);
		vt_equal(100 + i, wc.wr_id, "receive %d: wr_id", i);
		vt_equal(IB_WC_RECV, wc.opcode, "receive %d: opcode", i);
		vt_equal(10 + i, wc.byte_len, "receive %d: byte_len", i);
		vt_equal(0, wc.wc_flags, "receive %d: flags", i);
		vt_equal(t.p.a.qp->qp_num, wc.src_qp, "receive %d: src_qp", i);
		vt_ok(wc.qp == t.p.b.qp, "receive %d: qp", i);
	}
	vt_ok(vt_none(t.p.b.rcq), "no more receives");
	vt_ok(vt_none(t.p.a.rcq) && vt_none(t.p.b.scq), "and none elsewhere");
out:
	vt_ends_free(&t);
}

static void test_sig_all(struct vt_devs *d)
{
	struct ib_wc wc[4];
	struct vt_ends t;

	if (vt_ends_make(&t, d, &(struct vt_opt) { .sig_all = true }, PAGE_SIZE))
		goto out;
	send_many(&t.p, &t.from, &t.to, 5, 0, 8);
	vt_equal(3, ib_poll_cq(t.p.a.scq->cq, 3, wc), "three at once");
	vt_ok(wc[0].wr_id == 0 && wc[1].wr_id == 1 && wc[2].wr_id == 2,
	      "in their order");
	vt_equal(2, ib_poll_cq(t.p.a.scq->cq, 4, wc), "two are left");
	vt_ok(wc[0].wr_id == 3 && wc[1].wr_id == 4, "in their order");
	vt_equal(0, ib_poll_cq(t.p.a.scq->cq, 4, wc), "then none");
	vt_equal(0, ib_poll_cq(t.p.b.rcq->cq, 0, wc), "poll of none");
	vt_equal(4, ib_poll_cq(t.p.b.rcq->cq, 4, wc), "four receives at once");
	vt_equal(1, ib_poll_cq(t.p.b.rcq->cq, 4, wc), "one is left");
out:
	vt_ends_free(&t);
}

/* Several work requests by one call */
static void test_chain(struct vt_devs *d)
{
	struct ib_recv_wr recv[3] = {};
	struct ib_send_wr send[3] = {};
	const struct ib_send_wr *bad;
	struct ib_wc wc;
	struct vt_ends t;
	u64 posts;
	int i;

	if (vt_ends_make(&t, d, NULL, PAGE_SIZE))
		goto out;
	for (i = 0; i < 3; i++) {
		recv[i].wr_id = i;
		recv[i].next = i < 2 ? &recv[i + 1] : NULL;
		send[i].wr_id = i;
		send[i].opcode = IB_WR_SEND;
		send[i].send_flags = i == 2 ? IB_SEND_SIGNALED : 0;
		send[i].next = i < 2 ? &send[i + 1] : NULL;
	}
	posts = to_vqp(t.p.a.qp)->counts.posts_send;
	vt_equal(0, ib_post_recv(t.p.b.qp, recv, NULL), "three receives by one call");
	vt_equal(0, ib_post_send(t.p.a.qp, send, &bad), "three SENDs by one call");
	vt_equal(posts + 1, to_vqp(t.p.a.qp)->counts.posts_send,
		 "it is counted as one");
	for (i = 0; i < 3; i++) {
		vt_expect(t.p.b.rcq, IB_WC_SUCCESS, &wc, "receive %d", i);
		vt_equal(i, wc.wr_id, "receive %d: wr_id", i);
	}
	vt_expect(t.p.a.scq, IB_WC_SUCCESS, &wc, "the last SEND");
	vt_equal(2, wc.wr_id, "the last SEND: wr_id");
out:
	vt_ends_free(&t);
}

static int run_on(int cpu)
{
	return set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

static int cpu_of(int vector)
{
	return cpumask_nth(vector % num_online_cpus(), cpu_online_mask);
}

static int called(struct vt_cq *cq)
{
	return atomic_read(&cq->called);
}

static void test_notify(struct vt_devs *d)
{
	struct vt_cq *cq;
	struct vt_ends t;

	vt_equal(0, run_on(cpu_of(0)), "where the interrupt comes");
	if (vt_ends_make(&t, d, NULL, PAGE_SIZE))
		goto out;
	cq = t.p.b.rcq;
	send_many(&t.p, &t.from, &t.to, 1, IB_SEND_SIGNALED, 8);
	vt_equal(0, called(cq), "no interrupt that was not asked for");
	vt_equal(1, ib_req_notify_cq(cq->cq, IB_CQ_NEXT_COMP |
				     IB_CQ_REPORT_MISSED_EVENTS) > 0,
		 "what came before is reported as missed");
	vt_equal(0, called(cq), "and interrupts not");
	vt_expect(cq, IB_WC_SUCCESS, NULL, "it");
	vt_equal(0, ib_req_notify_cq(cq->cq, IB_CQ_NEXT_COMP |
				     IB_CQ_REPORT_MISSED_EVENTS),
		 "nothing is missed of an empty CQ");
	send_many(&t.p, &t.from, &t.to, 1, IB_SEND_SIGNALED, 8);
	vt_equal(1, vt_called(cq, 1), "the next completion interrupts");
	vt_ok(READ_ONCE(cq->hard), "and that is a hard interrupt");
	send_many(&t.p, &t.from, &t.to, 2, IB_SEND_SIGNALED, 8);
	vt_equal(1, vt_called(cq, 1), "those after it do not");
	vt_equal(0, ib_req_notify_cq(cq->cq, IB_CQ_NEXT_COMP),
		 "without being asked, nothing is said of what is missed");
	vt_equal(0, called(t.p.a.scq), "nobody has asked for the sender's");
out:
	vt_ends_free(&t);
	run_on(cpu_of(1));
	set_cpus_allowed_ptr(current, cpu_online_mask);
}

static void test_solicited(struct vt_devs *d)
{
	struct vt_cq *cq;
	struct vt_ends t;

	vt_equal(0, run_on(cpu_of(0)), "where the interrupt comes");
	if (vt_ends_make(&t, d, NULL, PAGE_SIZE))
		goto out;
	cq = t.p.b.rcq;
	ib_req_notify_cq(cq->cq, IB_CQ_SOLICITED);
	send_many(&t.p, &t.from, &t.to, 1, IB_SEND_SIGNALED, 8);
	vt_equal(0, called(cq), "one that is not solicited does not interrupt");
	send_many(&t.p, &t.from, &t.to, 1, IB_SEND_SIGNALED | IB_SEND_SOLICITED, 8);
	vt_equal(1, vt_called(cq, 1), "one that is solicited does");
	ib_req_notify_cq(cq->cq, IB_CQ_NEXT_COMP);
	ib_req_notify_cq(cq->cq, IB_CQ_SOLICITED);
	send_many(&t.p, &t.from, &t.to, 1, IB_SEND_SIGNALED, 8);
	vt_equal(2, vt_called(cq, 2), "who asked for any is not undone by asking for less");
	ib_req_notify_cq(cq->cq, IB_CQ_SOLICITED);
	ib_req_notify_cq(cq->cq, IB_CQ_NEXT_COMP);
	send_many(&t.p, &t.from, &t.to, 1, IB_SEND_SIGNALED, 8);
	vt_equal(3, vt_called(cq, 3), "asking for more is");
	ib_req_notify_cq(cq->cq, IB_CQ_SOLICITED);
	vt_equal(0, vt_recv(&t.p.b, 1, NULL, 0), "a receive to be flushed");
	vt_equal(0, vt_to(&t.p.b, IB_QPS_ERR), "to ERR");
	vt_equal(4, vt_called(cq, 4), "an error counts as solicited");
out:
	vt_ends_free(&t);
	set_cpus_allowed_ptr(current, cpu_online_mask);
}

/* One CQ for sends and receives of two QPs */
static void test_shared(struct vt_devs *d)
{
	struct vt_opt opt = { .cqe = 8 };
	struct vt_pair p[2] = {};
	int i, j, seen[2] = {};
	struct vt_cq cq = {};
	struct ib_wc wc;

	if (!vt_equal(0, vt_cq_make(&cq, d->b, 8, 0), "CQ made"))
		return;
	for (i = 0; i < 2; i++) {
		if (!vt_equal(0, vt_end_make(&p[i].a, d->a, NULL), "end made"))
			goto out;
		opt.scq = &cq;
		opt.rcq = &cq;
		if (!vt_equal(0, vt_end_make(&p[i].b, d->b, &opt), "end made") ||
		    !vt_equal(0, vt_connect(&p[i].a, &p[i].b), "connected"))
			goto out;
	}
	for (i = 0; i < 2; i++) {
		vt_equal(0, vt_recv(&p[i].b, 10 + i, NULL, 0), "receive posted");
		vt_equal(0, vt_send(&p[i].a, 0, NULL), "SEND posted");
		vt_equal(0, vt_recv(&p[i].a, 0, NULL, 0), "receive posted");
		vt_equal(0, vt_send(&p[i].b, 20 + i, NULL), "SEND back posted");
	}
	for (j = 0; j < 4; j++) {
		vt_expect(&cq, IB_WC_SUCCESS, &wc, "completion %d of the shared CQ", j);
		i = wc.qp == p[1].b.qp;
		vt_ok(wc.qp == p[i].b.qp, "completion %d: qp", j);
		vt_equal((seen[i] ? 20 : 10) + i, wc.wr_id, "completion %d: wr_id", j);
		vt_equal(seen[i] ? IB_WC_SEND : IB_WC_RECV, wc.opcode,
			 "completion %d: opcode", j);
		seen[i]++;
	}
	/* A QP that goes takes its completions with it, and no others */
	for (i = 0; i < 2; i++) {
		vt_equal(0, vt_recv(&p[i].b, 30 + i, NULL, 0), "receive posted");
		vt_equal(0, vt_send(&p[i].a, 0, NULL), "SEND posted");
	}
	vt_end_free(&p[0].b);
	vt_expect(&cq, IB_WC_SUCCESS, &wc, "the other QP's");
	vt_equal(31, wc.wr_id, "the other QP's: wr_id");
	vt_ok(vt_none(&cq), "none of the QP that is gone");
out:
	for (i = 0; i < 2; i++)
		vt_pair_free(&p[i]);
	vt_cq_free(&cq);
}

static int post_one(void *arg)
{
	return vt_send(arg, 1, NULL);
}

/* @first: which of the CPUs vector 0 interrupts */
static void vector_from(struct vt_devs *d, int first, int vector, int cpu)
{
	struct vt_opt opt = { .vector = vector };
	struct vt_thread thread = {};
	struct vt_pair p;

	if (vt_pair_make(&p, d, &opt))
		return;
	vt_equal(0, vt_recv(&p.b, 1, NULL, 0), "receive posted");
	ib_req_notify_cq(p.b.rcq->cq, IB_CQ_NEXT_COMP);
	if (vt_thread_start(&thread, cpu, post_one, &p.a))
		goto out;
	vt_ok(vt_until(called(p.b.rcq)), "vector %d, posted on CPU %d: interrupts",
	      vector, cpu);
	vt_equal(0, vt_thread_stop(&thread), "it was posted");
	vt_equal(cpu_of(first + vector), READ_ONCE(p.b.rcq->cpu),
		 "vector %d, posted on CPU %d: the vector's CPU", vector, cpu);
	vt_ok(READ_ONCE(p.b.rcq->hard), "vector %d, posted on CPU %d: in a hard interrupt",
	      vector, cpu);
out:
	vt_pair_free(&p);
}

/* The device's own value; newer kernels do not use it */
static void vector_says(struct vt_devs *d, int first, int vector)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	const struct cpumask *mask = ib_get_vector_affinity(d->b, vector);

	vt_ok(mask && cpumask_equal(mask, cpumask_of(cpu_of(first + vector))),
	      "vector %d: the device says which CPU", vector);
#endif
}

static void vectors_from(struct vt_devs *d, int first)
{
	int vector, cpu;

	vt_at_least(2, d->b->num_comp_vectors, "more than one vector");
	for (vector = 0; vector < d->b->num_comp_vectors; vector++) {
		vector_says(d, first, vector);
		for (cpu = 0; cpu < num_online_cpus(); cpu++)
			vector_from(d, first, vector, cpu);
	}
}

static void test_vectors(struct vt_devs *d)
{
	struct vt_cq cq;

	vectors_from(d, 0);
	vt_equal((u64)-EINVAL, vt_cq_make(&cq, d->b, 8, d->b->num_comp_vectors),
		 "a vector that is not there");
}

const struct vt_test vt_completion[] = {
	{ "selective", test_selective },
	{ "sig-all", test_sig_all },
	{ "chain", test_chain },
	{ "notify", test_notify },
	{ "solicited", test_solicited },
	{ "shared", test_shared },
	{ "vectors", test_vectors },
	{}
};

/* Of devices that are made with first_cpu=1 */
static void test_first_cpu(struct vt_devs *d)
{
	vectors_from(d, 1);
}

const struct vt_test vt_first_cpu[] = {
	{ "vectors", test_first_cpu },
	{}
};
