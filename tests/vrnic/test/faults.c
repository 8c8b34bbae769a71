// SPDX-License-Identifier: GPL-2.0
/* Injected faults: each line of their grammar has its effect, once */

#include "vrnic_test.h"

struct fault {
	struct vt_pair p;
	struct vt_buf from;
	struct vt_buf to;
	struct ib_mr *all;	/* of the end b */
	struct ib_mr *mr;	/* of the end a */
	struct scatterlist sg;
};

static void fault_end(struct fault *f)
{
	if (!IS_ERR_OR_NULL(f->all))
		f->all->device->ops.dereg_mr(f->all, NULL);
	if (!IS_ERR_OR_NULL(f->mr))
		ib_dereg_mr(f->mr);
	vt_pair_free(&f->p);
	vt_buf_free(&f->from);
	vt_buf_free(&f->to);
}

static int fault_make(struct fault *f, struct vt_devs *d)
{
	memset(f, 0, sizeof(*f));
	if (vt_pair_make(&f->p, d, NULL))
		return -EINVAL;
	if (vt_buf_make(&f->from, d->a, PAGE_SIZE) ||
	    vt_buf_make(&f->to, d->b, PAGE_SIZE))
		goto err;
	f->all = d->b->ops.get_dma_mr(f->p.b.pd, IB_ACCESS_LOCAL_WRITE |
				      IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
	f->mr = ib_alloc_mr(f->p.a.pd, IB_MR_TYPE_MEM_REG, 1);
	if (!vt_ok(!IS_ERR(f->all) && !IS_ERR(f->mr), "MRs made"))
		goto err;
	memset(f->from.va, 1, PAGE_SIZE);
	sg_init_table(&f->sg, 1);
	sg_set_page(&f->sg, virt_to_page(f->from.va), PAGE_SIZE, 0);
	sg_dma_address(&f->sg) = f->from.dma;
	sg_dma_len(&f->sg) = PAGE_SIZE;
	vt_equal(1, ib_map_mr_sg(f->mr, &f->sg, 1, NULL, PAGE_SIZE), "mapped");
	return 0;
err:
	fault_end(f);
	return -ENOMEM;
}

static int post_kind(struct fault *f, const char *kind)
{
	struct ib_sge sge = vt_sge(&f->p.a, &f->from, 0, 64);
	struct vt_wr w = {
		.op = IB_WR_SEND, .flags = IB_SEND_SIGNALED, .sge = &sge,
		.num_sge = 1, .raddr = f->to.dma, .rkey = f->all->rkey,
		.mr = f->mr, .key = f->mr->rkey, .imm = f->mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE,
	};

	if (!strcmp(kind, "write"))
		w.op = IB_WR_RDMA_WRITE;
	else if (!strcmp(kind, "read"))
		w.op = IB_WR_RDMA_READ;
	else if (!strcmp(kind, "reg"))
		w.op = IB_WR_REG_MR;
	else if (!strcmp(kind, "inv"))
		w.op = IB_WR_LOCAL_INV;
	if (w.op == IB_WR_REG_MR || w.op == IB_WR_LOCAL_INV)
		w.num_sge = 0;
	return vt_post(&f->p.a, &w);
}

static void recv_one(struct fault *f)
{
	struct ib_sge sge = vt_sge(&f->p.b, &f->to, 0, PAGE_SIZE);

	vt_equal(0, vt_recv(&f->p.b, 1, &sge, 1), "receive posted");
}

/* A work request fails without any effect, the given number of times */
static void wr_kind(struct vt_devs *d, const char *kind)
{
	struct fault f;

	if (fault_make(&f, d))
		return;
	if (!strcmp(kind, "inv"))
		vt_reg(&f.p.a, f.mr, NULL, 1, IB_ACCESS_LOCAL_WRITE);
	recv_one(&f);
	vt_equal(0, vt_fault(d->a, "wr %s 1 rem-op", kind), "wr %s: taken", kind);
	vt_equal(0, post_kind(&f, kind), "wr %s: posted", kind);
	vt_expect(f.p.a.scq, IB_WC_REM_OP_ERR, NULL, "wr %s: status", kind);
	vt_equal(IB_QPS_ERR, vt_state(&f.p.a), "wr %s: in ERR", kind);
	vt_ok(vt_none(f.p.b.rcq), "wr %s: nothing arrived", kind);
	vt_ok(vt_is_all(f.to.va, PAGE_SIZE, 0) && vt_is_all(f.from.va, PAGE_SIZE, 1),
	      "wr %s: nothing was done", kind);
	vt_equal(!strcmp(kind, "inv") ? VRNIC_MR_VALID : VRNIC_MR_FREE,
		 container_of(f.mr, struct vrnic_mr, ibmr)->state,
		 "wr %s: the MR is as it was", kind);
	fault_end(&f);
}

static void test_wr(struct vt_devs *d)
{
	struct fault f;
	int i;

	wr_kind(d, "send");
	wr_kind(d, "write");
	wr_kind(d, "read");
	wr_kind(d, "reg");
	wr_kind(d, "inv");
	if (!fault_make(&f, d)) {
		vt_equal(0, vt_fault(d->a, "wr any 3 fatal"), "wr any 3: taken");
		for (i = 0; i < 3; i++)
			vt_equal(0, post_kind(&f, i == 1 ? "reg" : "write"), "posted");
		vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "wr any 3: not the first");
		vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "wr any 3: not the second");
		vt_expect(f.p.a.scq, IB_WC_FATAL_ERR, NULL, "wr any 3: the third");
		fault_end(&f);
	}
	if (!fault_make(&f, d)) {
		recv_one(&f);
		vt_equal(0, vt_fault(d->a, "wr send 1 retry after"), "after: taken");
		vt_equal(0, post_kind(&f, "send"), "after: posted");
		vt_expect(f.p.a.scq, IB_WC_RETRY_EXC_ERR, NULL, "after: status");
		vt_expect(f.p.b.rcq, IB_WC_SUCCESS, NULL, "after: it has arrived");
		fault_end(&f);
	}
	/* It is tried until there is a receive, and counts once */
	if (!fault_make(&f, d)) {
		vt_equal(0, vt_fault(d->a, "wr send 1 retry after"), "tries: taken");
		vt_equal(0, post_kind(&f, "send"), "tries: posted");
		vt_ok(vt_none(f.p.a.scq), "tries: it waits");
		recv_one(&f);
		vt_expect(f.p.a.scq, IB_WC_RETRY_EXC_ERR, NULL, "tries: status");
		vt_expect(f.p.b.rcq, IB_WC_SUCCESS, NULL, "tries: it has arrived");
		fault_end(&f);
	}
	if (!fault_make(&f, d)) {
		vt_equal(0, vt_fault(d->a, "wr send 2 rem-op"), "wr send 2: taken");
		vt_equal(0, post_kind(&f, "send"), "wr send 2: posted");
		vt_ok(vt_none(f.p.a.scq), "wr send 2: the first waits");
		recv_one(&f);
		recv_one(&f);
		vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "wr send 2: not the first");
		vt_equal(0, post_kind(&f, "send"), "wr send 2: posted");
		vt_expect(f.p.a.scq, IB_WC_REM_OP_ERR, NULL, "wr send 2: the second");
		fault_end(&f);
	}
	if (!fault_make(&f, d)) {
		recv_one(&f);
		vt_equal(0, vt_fault(d->b, "wr recv 1 loc-prot"), "wr recv: taken");
		vt_equal(0, post_kind(&f, "send"), "wr recv: posted");
		vt_expect(f.p.b.rcq, IB_WC_LOC_PROT_ERR, NULL, "wr recv: status");
		vt_expect(f.p.a.scq, IB_WC_REM_OP_ERR, NULL, "wr recv: the sender's");
		vt_ok(vt_until(vt_state(&f.p.b) == IB_QPS_ERR), "wr recv: in ERR");
		fault_end(&f);
	}
}

static void test_status(struct vt_devs *d)
{
	static const struct {
		const char *name;
		enum ib_wc_status status;
	} all[] = {
		{ "loc-len", IB_WC_LOC_LEN_ERR }, { "loc-qp-op", IB_WC_LOC_QP_OP_ERR },
		{ "loc-prot", IB_WC_LOC_PROT_ERR }, { "flush", IB_WC_WR_FLUSH_ERR },
		{ "bind", IB_WC_MW_BIND_ERR }, { "bad-resp", IB_WC_BAD_RESP_ERR },
		{ "loc-access", IB_WC_LOC_ACCESS_ERR },
		{ "rem-inv-req", IB_WC_REM_INV_REQ_ERR },
		{ "rem-access", IB_WC_REM_ACCESS_ERR }, { "rem-op", IB_WC_REM_OP_ERR },
		{ "retry", IB_WC_RETRY_EXC_ERR },
		{ "rnr-retry", IB_WC_RNR_RETRY_EXC_ERR },
		{ "rem-abort", IB_WC_REM_ABORT_ERR }, { "fatal", IB_WC_FATAL_ERR },
		{ "resp-timeout", IB_WC_RESP_TIMEOUT_ERR },
		{ "general", IB_WC_GENERAL_ERR },
	};
	static char lines[1024];
	struct fault f;
	int i, n = 0;

	/* One for each WRITE in a row: each counts those that met another fault */
	for (i = 0; i < ARRAY_SIZE(all); i++)
		n += scnprintf(lines + n, sizeof(lines) - n, "'wr write %d %s' ",
			       i + 1, all[i].name);
	vt_equal(0, vt_shell("for l in %s; do echo $l > /sys/kernel/debug/vrnic/%s/faults || break; done",
			     lines, dev_name(&d->a->dev)), "all are taken");
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (fault_make(&f, d))
			return;
		vt_equal(0, post_kind(&f, "write"), "%s: posted", all[i].name);
		vt_expect(f.p.a.scq, all[i].status, NULL, "%s: status", all[i].name);
		fault_end(&f);
	}
}

static void test_whose(struct vt_devs *d)
{
	struct fault f, g;

	if (fault_make(&f, d))
		return;
	if (fault_make(&g, d))
		goto out;
	vt_equal(0, vt_fault(d->a, "wr write 1 fatal from=vrnic_test qp=%u",
			     g.p.a.qp->qp_num), "of a QP: taken");
	vt_equal(0, vt_fault(d->a, "wr write 1 general from=another"),
		 "of another module: taken");
	vt_equal(0, vt_shell("[[ $(< /sys/kernel/debug/vrnic/%s/faults) == *'from=another (1 to go)'* ]]",
			     dev_name(&d->a->dev)), "those to come are listed");
	vt_equal(0, post_kind(&f, "write"), "posted");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "not of this QP");
	vt_equal(0, post_kind(&g, "write"), "posted");
	vt_expect(g.p.a.scq, IB_WC_FATAL_ERR, NULL, "but of that");
	vt_equal(0, vt_fault(d->a, "wr write 1 general"), "taken");
	vt_equal(0, vt_fault(d->a, "clear"), "clear: taken");
	vt_equal(0, vt_shell("[ -z \"$(< /sys/kernel/debug/vrnic/%s/faults)\" ]",
			     dev_name(&d->a->dev)), "clear: none is listed");
	vt_equal(0, post_kind(&f, "write"), "posted");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "clear: nothing more goes wrong");
	fault_end(&g);
out:
	fault_end(&f);
}

/* One bit of the given byte of the data; not of the next */
static void corrupt(struct vt_devs *d, const char *kind)
{
	bool read = !strcmp(kind, "read");
	struct fault f;
	u8 *to;

	if (fault_make(&f, d))
		return;
	/* The data read comes from the end b */
	to = read ? f.from.va : f.to.va;
	if (read)
		memset(f.to.va, 1, PAGE_SIZE);
	memset(to, 0, PAGE_SIZE);
	recv_one(&f);
	vt_equal(0, vt_fault(d->a, "corrupt %s 2 63", kind), "corrupt %s: taken", kind);
	vt_equal(0, post_kind(&f, kind), "corrupt %s: posted", kind);
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "corrupt %s: not the first", kind);
	vt_ok(vt_is_all(to, 64, 1), "corrupt %s: it is whole", kind);
	recv_one(&f);
	vt_equal(0, post_kind(&f, kind), "corrupt %s: posted", kind);
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "corrupt %s: the second", kind);
	vt_ok(vt_is_all(to, 63, 1), "corrupt %s: all but", kind);
	vt_equal(1, hweight8(to[63] ^ 1), "corrupt %s: a bit of its last byte", kind);
	fault_end(&f);
}

static void test_corrupt(struct vt_devs *d)
{
	corrupt(d, "send");
	corrupt(d, "write");
	corrupt(d, "read");
}

/* ---- completions ---- */

/* The completion of a WRITE comes late, with "again" not for the first time */
static void late(struct vt_devs *d, const char *action)
{
	struct ib_wc wc;
	struct fault f;
	ktime_t at;

	if (fault_make(&f, d))
		return;
	vt_equal(0, vt_fault(d->a, "cqe send 1 %s 20000", action), "%s: taken", action);
	at = ktime_get();
	vt_equal(0, post_kind(&f, "write"), "%s: posted", action);
	vt_equal(0, post_kind(&f, "reg"), "%s: and one behind it", action);
	if (!strcmp(action, "again")) {
		vt_expect(f.p.a.scq, IB_WC_SUCCESS, &wc, "again: the first time");
		vt_equal(IB_WC_RDMA_WRITE, wc.opcode, "again: it is that");
	}
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, &wc, "%s: it comes", action);
	vt_at_least(20000, ktime_us_delta(ktime_get(), at), "%s: not before its time", action);
	vt_equal(IB_WC_RDMA_WRITE, wc.opcode, "%s: first the one before", action);
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, &wc, "%s: and the one behind it", action);
	vt_equal(IB_WC_REG_MR, wc.opcode, "%s: it is that", action);
	vt_ok(vt_none(f.p.a.scq), "%s: that was all", action);
	fault_end(&f);
}

static void test_again(struct vt_devs *d)
{
	late(d, "again");
}

static void test_delay(struct vt_devs *d)
{
	struct fault f;
	ktime_t at;

	late(d, "delay");
	if (fault_make(&f, d))
		return;
	recv_one(&f);
	vt_equal(0, vt_fault(d->b, "cqe recv 1 delay 20000"), "delay of a receive: taken");
	at = ktime_get();
	vt_equal(0, post_kind(&f, "send"), "delay of a receive: posted");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "delay of a receive: the SEND's comes");
	vt_expect(f.p.b.rcq, IB_WC_SUCCESS, NULL, "delay of a receive: it comes");
	vt_at_least(20000, ktime_us_delta(ktime_get(), at),
		    "delay of a receive: not before its time");
	fault_end(&f);
}

/* The completion of the request comes after the answer's */
static void test_reorder(struct vt_devs *d)
{
	struct fault f;

	if (fault_make(&f, d))
		return;
	vt_equal(0, vt_recv(&f.p.a, 1, NULL, 0), "receive posted");
	recv_one(&f);
	vt_equal(0, vt_fault(d->a, "cqe send 1 reorder qp=%u", f.p.a.qp->qp_num),
		 "reorder: taken");
	vt_equal(0, post_kind(&f, "send"), "reorder: request posted");
	vt_expect(f.p.b.rcq, IB_WC_SUCCESS, NULL, "reorder: it arrives");
	vt_ok(vt_none(f.p.a.scq), "reorder: its completion is held back");
	vt_equal(0, vt_send(&f.p.b, 1, NULL), "reorder: answer posted");
	vt_expect(f.p.a.rcq, IB_WC_SUCCESS, NULL, "reorder: it arrives");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "reorder: now the request's completion");

	/* The other way round: first a received message, then a sent one */
	vt_equal(0, vt_recv(&f.p.a, 2, NULL, 0), "receive posted");
	recv_one(&f);
	vt_equal(0, vt_fault(d->a, "cqe recv 1 reorder qp=%u", f.p.a.qp->qp_num),
		 "reorder of a receive: taken");
	vt_equal(0, vt_send(&f.p.b, 1, NULL), "reorder of a receive: message posted");
	vt_expect(f.p.b.scq, IB_WC_SUCCESS, NULL, "reorder of a receive: it is there");
	vt_ok(vt_none(f.p.a.rcq), "reorder of a receive: it is held back");
	vt_equal(0, post_kind(&f, "send"), "reorder of a receive: another is sent");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "reorder of a receive: it completes");
	vt_expect(f.p.a.rcq, IB_WC_SUCCESS, NULL, "reorder of a receive: now it comes");
	fault_end(&f);
}

/*
 * A queue that is held back until the other queue has a completion, and for a time, waits for
 * both
 */
static void reorder_and_delay(struct vt_devs *d, struct fault *f, const char *first,
			      const char *second)
{
	u32 qpn = f->p.a.qp->qp_num;
	ktime_t at;

	vt_equal(0, vt_recv(&f->p.a, 1, NULL, 0), "receive posted");
	vt_equal(0, vt_fault(d->a, "cqe send %s qp=%u", first, qpn), "%s: taken", first);
	vt_equal(0, vt_fault(d->a, "cqe send %s qp=%u", second, qpn), "%s: taken",
		 second);
	at = ktime_get();
	vt_equal(0, post_kind(f, "write"), "%s: posted", first);
	vt_equal(0, post_kind(f, "write"), "%s: and the next", first);
	vt_equal(0, vt_send(&f->p.b, 1, NULL), "%s: message posted", first);
	vt_expect(f->p.a.rcq, IB_WC_SUCCESS, NULL, "%s: it arrives", first);
	vt_expect(f->p.a.scq, IB_WC_SUCCESS, NULL, "%s: the first", first);
	vt_at_least(400000, ktime_us_delta(ktime_get(), at), "%s: both over", first);
	vt_at_most(900000, ktime_us_delta(ktime_get(), at), "%s: no more than that",
		   first);
	vt_expect(f->p.a.scq, IB_WC_SUCCESS, NULL, "%s: the second", first);
	vt_expect(f->p.b.scq, IB_WC_SUCCESS, NULL, "%s: the message's", first);
}

/* A queue that is held back by two faults, and both queues of a QP */
static void test_later(struct vt_devs *d)
{
	struct ib_wc wc;
	struct fault f;
	ktime_t at;

	if (fault_make(&f, d))
		return;
	/* The shorter delay does not end the longer one */
	vt_equal(0, vt_fault(d->a, "cqe send 1 delay 200000"), "two delays: taken");
	vt_equal(0, vt_fault(d->a, "cqe send 2 delay 1000"), "two delays: taken");
	at = ktime_get();
	vt_equal(0, post_kind(&f, "write"), "two delays: posted");
	vt_equal(0, post_kind(&f, "reg"), "two delays: and the second");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, &wc, "two delays: they come");
	vt_at_least(200000, ktime_us_delta(ktime_get(), at), "two delays: after the longer");
	vt_equal(IB_WC_RDMA_WRITE, wc.opcode, "two delays: in their order");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, &wc, "two delays: both");
	vt_equal(IB_WC_REG_MR, wc.opcode, "two delays: in their order");

	/* Nor one of the other queue, whose own end is not delayed */
	vt_equal(0, vt_recv(&f.p.a, 1, NULL, 0), "receive posted");
	vt_equal(0, vt_fault(d->a, "cqe recv 1 delay 20000 qp=%u", f.p.a.qp->qp_num),
		 "both queues: taken");
	vt_equal(0, vt_fault(d->a, "cqe send 1 delay 400000 qp=%u", f.p.a.qp->qp_num),
		 "both queues: taken");
	at = ktime_get();
	vt_equal(0, vt_send(&f.p.b, 1, NULL), "both queues: message posted");
	vt_equal(0, post_kind(&f, "write"), "both queues: and a WRITE");
	vt_expect(f.p.a.rcq, IB_WC_SUCCESS, NULL, "both queues: the message");
	vt_ok(vt_none(f.p.a.scq), "both queues: the WRITE's is held back still");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "both queues: it comes");
	vt_at_least(400000, ktime_us_delta(ktime_get(), at), "both queues: after its delay");
	vt_expect(f.p.b.scq, IB_WC_SUCCESS, NULL, "both queues: the sender's");

	reorder_and_delay(d, &f, "1 reorder", "2 delay 400000");
	reorder_and_delay(d, &f, "1 delay 400000", "2 reorder");
	fault_end(&f);
}

static void test_twice(struct vt_devs *d)
{
	struct ib_wc wc;
	struct fault f;

	if (fault_make(&f, d))
		return;
	recv_one(&f);
	vt_equal(0, vt_fault(d->b, "cqe recv 1 twice"), "twice: taken");
	vt_equal(0, post_kind(&f, "send"), "twice: posted");
	vt_expect(f.p.b.rcq, IB_WC_SUCCESS, NULL, "twice: once");
	vt_expect(f.p.b.rcq, IB_WC_SUCCESS, &wc, "twice: and once more");
	vt_equal(1, wc.wr_id, "twice: the same");
	vt_ok(vt_none(f.p.b.rcq), "twice: not thrice");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "twice: the sender's once");
	vt_ok(vt_none(f.p.a.scq), "twice: the sender's once");

	vt_equal(0, vt_fault(d->a, "cqe send 1 never"), "never: taken");
	vt_equal(0, post_kind(&f, "write"), "never: posted");
	vt_equal(0, post_kind(&f, "reg"), "never: and one behind it");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, &wc, "never: the one behind it comes");
	vt_equal(IB_WC_REG_MR, wc.opcode, "never: it is that");
	vt_ok(vt_is_all(f.to.va, 64, 1), "never: the work was done");
	fault_end(&f);
}

/* As if it had been overrun: it reports that once, and has no more completions */
static void overrun(struct vt_devs *d, const char *fault, s64 after_ms)
{
	struct fault f;
	ktime_t from;

	if (fault_make(&f, d))
		return;
	vt_equal(0, vt_fault(d->a, fault), "overrun: taken");
	vt_equal(0, post_kind(&f, "write"), "overrun: posted");
	vt_equal(0, atomic_read(&f.p.a.scq->errors), "overrun: no event yet");
	from = ktime_get();
	vt_equal(0, post_kind(&f, "reg"), "overrun: and one behind it");
	vt_ok(vt_until(atomic_read(&f.p.a.scq->errors) == 1), "overrun: an event tells of it");
	vt_ok(ktime_ms_delta(ktime_get(), from) >= after_ms, "overrun: not before that");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "overrun: what had come is there");
	vt_ok(vt_none(f.p.a.scq), "overrun: what fails it is not");
	vt_equal(0, vt_to(&f.p.a, IB_QPS_ERR), "overrun: to ERR");
	vt_equal(0, post_kind(&f, "write"), "overrun: and another");
	vt_ok(vt_none(f.p.a.scq), "overrun: nothing comes after that");
	vt_equal(1, atomic_read(&f.p.a.scq->errors), "overrun: it was one event");
	vt_violations(0, "", "overrun: no rule was broken");
	fault_end(&f);
}

static void test_overrun(struct vt_devs *d)
{
	overrun(d, "cqe send 2 overrun", 0);
	overrun(d, "cqe send 2 overrun-told 50000", 50);
}

/* Behind one that is held back, both copies are; a slot returns once */
static void test_twice_held(struct vt_devs *d)
{
	struct ib_wc wc;
	struct fault f;

	if (fault_make(&f, d))
		return;
	vt_equal(0, vt_fault(d->a, "cqe send 1 twice"), "of a SEND: taken");
	vt_equal(0, post_kind(&f, "write"), "of a SEND: posted");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "of a SEND: once");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "of a SEND: and once more");
	vt_ok(vt_none(f.p.a.scq), "of a SEND: not thrice");

	vt_equal(0, vt_fault(d->a, "cqe send 1 delay 20000"), "held back: taken");
	vt_equal(0, vt_fault(d->a, "cqe send 2 twice"), "held back: taken");
	vt_equal(0, post_kind(&f, "write"), "held back: posted");
	vt_equal(0, post_kind(&f, "reg"), "held back: and one behind it");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, &wc, "held back: it comes");
	vt_equal(IB_WC_RDMA_WRITE, wc.opcode, "held back: it is that");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, &wc, "held back: the one behind it");
	vt_equal(IB_WC_REG_MR, wc.opcode, "held back: it is that");
	vt_expect(f.p.a.scq, IB_WC_SUCCESS, &wc, "held back: and once more");
	vt_equal(IB_WC_REG_MR, wc.opcode, "held back: it is that");
	vt_ok(vt_none(f.p.a.scq), "held back: not thrice");
	vt_equal(to_vqp(f.p.a.qp)->sq_head, to_vqp(f.p.a.qp)->sq_polled,
		 "held back: all places are back");

	recv_one(&f);
	recv_one(&f);
	vt_equal(0, vt_fault(d->b, "cqe recv 1 delay 20000"), "a receive: taken");
	vt_equal(0, vt_fault(d->b, "cqe recv 2 twice"), "a receive: taken");
	vt_equal(0, post_kind(&f, "send"), "a receive: message posted");
	vt_equal(0, post_kind(&f, "send"), "a receive: and the second");
	vt_expect(f.p.b.rcq, IB_WC_SUCCESS, NULL, "a receive: the first");
	vt_expect(f.p.b.rcq, IB_WC_SUCCESS, NULL, "a receive: the second");
	vt_expect(f.p.b.rcq, IB_WC_SUCCESS, NULL, "a receive: and once more");
	vt_ok(vt_none(f.p.b.rcq), "a receive: not thrice");
	vt_equal(0, atomic_read(&to_vqp(f.p.b.qp)->rq.held), "a receive: places are back");
	fault_end(&f);
}

struct shared {
	struct ib_pd *pd;
	struct ib_srq *srq;
};

static int shared_make(struct shared *s, struct ib_device *dev)
{
	struct ib_srq_init_attr attr = {
		.attr = { .max_wr = 4, .max_sge = 1 }, .srq_type = IB_SRQT_BASIC };

	s->pd = ib_alloc_pd(dev, 0);
	if (!vt_equal(0, PTR_ERR_OR_ZERO(s->pd), "PD made"))
		return -ENOMEM;
	s->srq = ib_create_srq(s->pd, &attr);
	if (vt_equal(0, PTR_ERR_OR_ZERO(s->srq), "SRQ made"))
		return 0;
	ib_dealloc_pd(s->pd);
	return -ENOMEM;
}

static void shared_free(struct shared *s)
{
	ib_destroy_srq(s->srq);
	ib_dealloc_pd(s->pd);
}

/* A held-back completion of a destroyed QP frees its slot for the others of an SRQ, once */
static void test_held_srq(struct vt_devs *d)
{
	struct vt_opt opt = {};
	struct vt_end a, b;
	struct shared s;

	if (shared_make(&s, d->b))
		return;
	opt.pd = s.pd;
	opt.srq = s.srq;
	if (!vt_equal(0, vt_end_make(&a, d->a, NULL), "end made"))
		goto out;
	if (!vt_equal(0, vt_end_make(&b, d->b, &opt), "end with SRQ made"))
		goto out_a;
	vt_equal(0, vt_connect(&a, &b), "connected");
	vt_equal(0, vt_recv(&b, 1, NULL, 0), "receive posted");
	vt_equal(0, vt_recv(&b, 2, NULL, 0), "receive posted");
	vt_equal(0, vt_recv(&b, 3, NULL, 0), "receive posted");
	vt_equal(0, vt_fault(d->b, "cqe recv 1 delay 4000000000"), "delay: taken");
	vt_equal(0, vt_fault(d->b, "cqe recv 2 twice"), "twice: taken");
	vt_equal(0, vt_send(&a, 1, NULL), "message posted");
	vt_equal(0, vt_send(&a, 2, NULL), "and the second");
	vt_expect(a.scq, IB_WC_SUCCESS, NULL, "it is there");
	vt_expect(a.scq, IB_WC_SUCCESS, NULL, "and the second");
	vt_ok(vt_none(b.rcq), "both are held back");
	vt_equal(3, atomic_read(&to_vsrq(s.srq)->rq.held), "three places are taken");
	vt_end_free(&b);
	vt_equal(1, atomic_read(&to_vsrq(s.srq)->rq.held), "the QP gone: one is");
out_a:
	vt_end_free(&a);
out:
	shared_free(&s);
}

/* ---- calls ---- */

static void test_post(struct vt_devs *d)
{
	static const char *const kinds[] = { "send", "write", "read", "reg" };
	struct fault f;
	int i;

	if (fault_make(&f, d))
		return;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		vt_equal(0, vt_fault(d->a, "post %s 1 %d", kinds[i], 5 + i),
			 "post %s: taken", kinds[i]);
		vt_equal((u64)(-5 - i), post_kind(&f, kinds[i]), "post %s: fails", kinds[i]);
		vt_ok(vt_none(f.p.a.scq), "post %s: nothing was posted", kinds[i]);
		recv_one(&f);
		vt_equal(0, post_kind(&f, kinds[i]), "post %s: and then not", kinds[i]);
		vt_expect(f.p.a.scq, IB_WC_SUCCESS, NULL, "post %s: it completes", kinds[i]);
	}
	vt_equal(0, vt_fault(d->a, "post inv 1 11"), "post inv: taken");
	vt_equal((u64)-11, post_kind(&f, "inv"), "post inv: fails");
	vt_equal(0, vt_fault(d->a, "post any 2 12"), "post any: taken");
	vt_equal(0, post_kind(&f, "write"), "post any: not the first");
	vt_equal((u64)-12, post_kind(&f, "write"), "post any: the second");
	vt_equal(0, vt_fault(d->a, "post recv 1 13 qp=%u", f.p.a.qp->qp_num),
		 "post recv: taken");
	vt_equal((u64)-13, vt_recv(&f.p.a, 1, NULL, 0), "post recv: fails");
	vt_equal(0, vt_recv(&f.p.a, 1, NULL, 0), "post recv: and then not");
	fault_end(&f);
}

static int post_srq(struct ib_srq *srq)
{
	return ib_post_srq_recv(srq, &(struct ib_recv_wr) { .wr_id = 1 }, NULL);
}

/* A receive of an SRQ is a module's, and no QP's */
static void test_post_srq(struct vt_devs *d)
{
	struct shared s;

	if (shared_make(&s, d->a))
		return;
	vt_equal(0, vt_fault(d->a, "post recv 1 13 from=another"), "of another: taken");
	vt_equal(0, vt_fault(d->a, "post recv 1 14 qp=0x100"), "of a QP: taken");
	vt_equal(0, vt_fault(d->a, "post recv 2 15 from=vrnic_test"), "of ours: taken");
	vt_equal(0, post_srq(s.srq), "not the first, of another or of a QP");
	vt_equal((u64)-15, post_srq(s.srq), "the second of ours");
	vt_equal(0, post_srq(s.srq), "and then not");
	vt_equal(2, atomic_read(&to_vsrq(s.srq)->rq.held), "what failed was not posted");
	vt_equal(0, vt_fault(d->a, "clear"), "clear: taken");
	vt_equal(0, vt_fault(d->a, "post recv 1 16"), "of anybody: taken");
	vt_equal((u64)-16, post_srq(s.srq), "of anybody: fails");
	shared_free(&s);
}

static void test_make(struct vt_devs *d)
{
	struct ib_srq_init_attr srq = {
		.attr = { .max_wr = 4, .max_sge = 1 }, .srq_type = IB_SRQT_BASIC };
	struct rdma_ah_attr ah = {};
	union ib_gid gid;
	struct vt_end e;
	struct vt_cq cq;
	void *made;
	int index;

	vt_equal(0, vt_fault(d->a, "make pd 1 3"), "make pd: taken");
	vt_equal((u64)-3, vt_end_make(&e, d->a, NULL), "make pd: fails");
	vt_equal(0, vt_fault(d->a, "make cq 1 4"), "make cq: taken");
	vt_equal((u64)-4, vt_cq_make(&cq, d->a, 4, 0), "make cq: fails");
	vt_equal(0, vt_fault(d->a, "make qp 1 5"), "make qp: taken");
	vt_equal((u64)-5, vt_end_make(&e, d->a, NULL), "make qp: fails");
	if (!vt_equal(0, vt_end_make(&e, d->a, NULL), "and then not"))
		return;
	vt_equal(0, vt_fault(d->a, "make mr 1 6"), "make mr: taken");
	made = ib_alloc_mr(e.pd, IB_MR_TYPE_MEM_REG, 1);
	vt_equal((u64)-6, PTR_ERR_OR_ZERO(made), "make mr: fails");
	vt_equal(0, vt_fault(d->a, "make srq 1 7"), "make srq: taken");
	made = ib_create_srq(e.pd, &srq);
	vt_equal((u64)-7, PTR_ERR_OR_ZERO(made), "make srq: fails");
	index = vt_gid(d->a, 0, &gid);
	ah.type = rdma_ah_find_type(d->a, VRNIC_PORT);
	rdma_ah_set_port_num(&ah, VRNIC_PORT);
	rdma_ah_set_grh(&ah, &gid, 0, index, 1, 0);
	vt_equal(0, vt_fault(d->a, "make ah 1 8"), "make ah: taken");
	made = rdma_create_ah(e.pd, &ah, 0);
	vt_equal((u64)-8, PTR_ERR_OR_ZERO(made), "make ah: fails");
	vt_end_free(&e);
}

static void test_die(struct vt_devs *d)
{
	struct fault f;

	if (fault_make(&f, d))
		return;
	recv_one(&f);
	vt_equal(0, vt_fault(d->b, "qp %u die", f.p.b.qp->qp_num), "qp die: taken");
	vt_ok(vt_until(vt_event(&f.p.b, IB_EVENT_QP_FATAL)), "qp die: the event");
	vt_equal(IB_QPS_ERR, vt_state(&f.p.b), "qp die: in ERR");
	vt_expect(f.p.b.rcq, IB_WC_WR_FLUSH_ERR, NULL, "qp die: its receive is flushed");
	vt_equal(IB_QPS_RTS, vt_state(&f.p.a), "qp die: the peer is not told");
	vt_events_were(&f.p.b, 1, IB_EVENT_QP_FATAL, "qp die: one event");
	vt_ok(vt_fault(d->a, "qp %u die", 0xfffff), "no such QP: refused");
	fault_end(&f);
}

/* The next QP has the given number, if it is free */
static void test_qpn(struct vt_devs *d)
{
	struct vt_end e, next;
	u32 qpn;

	if (!vt_equal(0, vt_end_make(&e, d->a, NULL), "QP made"))
		return;
	qpn = e.qp->qp_num;
	vt_equal(0, vt_fault(d->a, "qpn %u", qpn), "of this one: taken");
	if (vt_equal(0, vt_end_make(&next, d->a, NULL), "the next made")) {
		vt_ok(next.qp->qp_num != qpn, "it has another, as that is in use");
		vt_end_free(&next);
	}
	vt_end_free(&e);
	vt_equal(0, vt_fault(d->a, "qpn %u", qpn), "once more: taken");
	if (!vt_equal(0, vt_end_make(&next, d->a, NULL), "the next made"))
		return;
	vt_equal(qpn, next.qp->qp_num, "now it has it");
	vt_end_free(&next);
}

/* guest/feature-infiniband shows its effect over InfiniBand */
static void test_pkey(struct vt_devs *d)
{
	u16 pkey = 0, was = 0;

	vt_equal(0, ib_query_pkey(d->b, VRNIC_PORT, 0, &was), "it has a P_Key");
	vt_equal(0, vt_fault(d->b, "pkey 0 0x8001"), "taken");
	vt_equal(0, ib_query_pkey(d->b, VRNIC_PORT, 0, &pkey), "asked for");
	vt_equal(0x8001, pkey, "it is that");
	vt_equal(0, vt_fault(d->b, "pkey 0 %#x", was), "as it was");
}

const struct vt_test vt_faults[] = {
	{ "wr", test_wr },
	{ "status", test_status },
	{ "whose", test_whose },
	{ "corrupt", test_corrupt },
	{ "delay", test_delay },
	{ "again", test_again },
	{ "reorder", test_reorder },
	{ "later", test_later },
	{ "twice", test_twice },
	{ "overrun", test_overrun },
	{ "twice-held", test_twice_held },
	{ "held-srq", test_held_srq },
	{ "post", test_post },
	{ "post-srq", test_post_srq },
	{ "make", test_make },
	{ "die", test_die },
	{ "qpn", test_qpn },
	{ "pkey", test_pkey },
	{}
};
