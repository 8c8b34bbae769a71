// SPDX-License-Identifier: GPL-2.0
/* PDs, CQs and QPs: made, connected without a connection manager, and gone */

#include <linux/in6.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "vrnic_test.h"

static void cq_called(struct ib_cq *ibcq, void *context)
{
	struct vt_cq *cq = context;

	WRITE_ONCE(cq->cpu, raw_smp_processor_id());
	WRITE_ONCE(cq->hard, vt_in_interrupt());
	atomic_inc(&cq->called);
}

static void cq_broken(struct ib_event *event, void *context)
{
	struct vt_cq *cq = context;

	atomic_inc(&cq->errors);
}

/**
 * vt_cq_make() - a completion queue
 * @cq: it
 * @dev: its device
 * @cqe: how many completions it has room for
 * @vector: which interrupt
 *
 * Return: 0 or an error
 */
int vt_cq_make(struct vt_cq *cq, struct ib_device *dev, int cqe, int vector)
{
	struct ib_cq_init_attr attr = { .cqe = cqe, .comp_vector = vector };
	struct ib_cq *ibcq;

	memset(cq, 0, sizeof(*cq));
	ibcq = ib_create_cq(dev, cq_called, cq_broken, cq, &attr);
	if (IS_ERR(ibcq))
		return PTR_ERR(ibcq);
	cq->cq = ibcq;
	return 0;
}

/**
 * vt_cq_free() - a completion queue goes
 * @cq: it, or one that was not made
 */
void vt_cq_free(struct vt_cq *cq)
{
	if (cq->cq)
		ib_destroy_cq(cq->cq);
	cq->cq = NULL;
}

static void qp_event(struct ib_event *event, void *context)
{
	struct vt_end *e = context;

	if (event->event < VT_EVENTS)
		atomic_inc(&e->events[event->event]);
}

static void set_defaults(struct vt_opt *o, struct ib_device *dev)
{
	o->send_wr = o->send_wr ?: 32;
	o->recv_wr = o->recv_wr ?: 32;
	o->send_sge = o->send_sge ?: 4;
	o->recv_sge = o->recv_sge ?: 4;
	o->cqe = o->cqe ?: o->send_wr + o->recv_wr;
	o->type = o->type ?: IB_QPT_RC;
	o->min_rnr_timer = o->min_rnr_timer ?: 1;
	o->timeout = o->timeout ?: 14;
	o->access = o->access ?: IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |
				 IB_ACCESS_REMOTE_WRITE;
	if (o->no_retry)
		return;
	o->rnr_retry = o->rnr_retry ?: 7;
	o->retry_cnt = o->retry_cnt ?: 7;
}

static int make_qp(struct vt_end *e)
{
	const struct vt_opt *o = &e->opt;
	struct ib_qp_init_attr attr = {
		.event_handler = qp_event,
		.qp_context = e,
		.send_cq = e->scq->cq,
		.recv_cq = e->rcq->cq,
		.srq = o->srq,
		.cap = {
			.max_send_wr = o->send_wr,
			.max_recv_wr = o->srq ? 0 : o->recv_wr,
			.max_send_sge = o->send_sge,
			.max_recv_sge = o->srq ? 0 : o->recv_sge,
			.max_inline_data = o->inlined,
		},
		.sq_sig_type = o->sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR,
		.qp_type = o->type,
		.create_flags = o->integrity ? IB_QP_CREATE_INTEGRITY_EN : 0,
	};
	struct ib_qp *qp = ib_create_qp(e->pd, &attr);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	e->qp = qp;
	return 0;
}

/**
 * vt_end_make() - create one end, with its QP in the state RESET
 * @e: the end
 * @dev: its device
 * @opt: its options, or NULL
 *
 * Return: 0 or an error
 */
int vt_end_make(struct vt_end *e, struct ib_device *dev, const struct vt_opt *opt)
{
	int ret = 0;

	memset(e, 0, sizeof(*e));
	e->dev = dev;
	if (opt)
		e->opt = *opt;
	set_defaults(&e->opt, dev);
	e->pd = e->opt.pd;
	if (!e->pd) {
		e->pd = ib_alloc_pd(dev, 0);
		if (IS_ERR(e->pd))
			return PTR_ERR(e->pd);
		e->own.pd = e->pd;
	}
	e->scq = e->opt.scq ?: &e->own.scq;
	e->rcq = e->opt.rcq ?: &e->own.rcq;
	if (!e->opt.scq)
		ret = vt_cq_make(e->scq, dev, e->opt.cqe, e->opt.vector);
	if (!ret && !e->opt.rcq)
		ret = vt_cq_make(e->rcq, dev, e->opt.cqe, e->opt.vector);
	if (!ret)
		ret = make_qp(e);
	if (ret)
		vt_end_free(e);
	return ret;
}

/**
 * vt_end_free() - destroy an end, with all that it created
 * @e: the end, or one that was not created
 */
void vt_end_free(struct vt_end *e)
{
	if (e->qp)
		ib_destroy_qp(e->qp);
	e->qp = NULL;
	vt_cq_free(&e->own.scq);
	vt_cq_free(&e->own.rcq);
	if (e->own.pd)
		ib_dealloc_pd(e->own.pd);
	e->own.pd = NULL;
}

/**
 * vt_events_were() - check the total number of events of a kind for a QP
 * @e: its end; the QP is destroyed for it, because then no more events arrive
 * @n: expected number
 * @type: the kind
 * @fmt: the check's name
 */
void vt_events_were(struct vt_end *e, int n, enum ib_event_type type,
		    const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	if (e->qp)
		ib_destroy_qp(e->qp);
	e->qp = NULL;
	va_start(args, fmt);
	vaf.va = &args;
	vt_equal(n, vt_event(e, type), "%pV", &vaf);
	va_end(args);
}

/**
 * vt_gid() - one of a device's addresses
 * @dev: the device
 * @family: AF_INET or AF_INET6, or 0 for any; over InfiniBand there is one
 * @gid: the address
 *
 * Return: its index, or -ENOENT
 */
int vt_gid(struct ib_device *dev, int family, union ib_gid *gid)
{
	bool roce = rdma_protocol_roce(dev, VRNIC_PORT);
	const struct ib_gid_attr *attr;
	int i, found = -ENOENT;

	for (i = 0; i < VRNIC_GIDS && found < 0; i++) {
		bool fits = true;

		attr = rdma_get_gid_attr(dev, VRNIC_PORT, i);
		if (IS_ERR(attr))
			continue;
		if (roce) {
			const struct in6_addr *a = (void *)&attr->gid;
			int is = ipv6_addr_v4mapped(a) ? AF_INET : AF_INET6;

			fits = attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
			       !rdma_link_local_addr((struct in6_addr *)a) &&
			       (!family || family == is);
		}
		if (fits) {
			*gid = attr->gid;
			found = i;
		}
		rdma_put_gid_attr(attr);
	}
	return found;
}

/**
 * vt_to_init() - move a QP into the state INIT
 * @e: its end
 *
 * Return: 0 or an error
 */
int vt_to_init(struct vt_end *e)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = VRNIC_PORT,
		.qp_access_flags = e->opt.access,
		.qkey = 0x1234,
	};
	int mask = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT;

	mask |= e->opt.type == IB_QPT_UD ? IB_QP_QKEY : IB_QP_ACCESS_FLAGS;
	return ib_modify_qp(e->qp, &attr, mask);
}

static int set_path(struct rdma_ah_attr *ah, struct vt_end *e, struct vt_end *peer)
{
	struct ib_port_attr port;
	union ib_gid own, dgid;
	int index, ret;

	ret = vt_gid(peer->dev, 0, &dgid);
	if (ret < 0)
		return ret;
	index = vt_gid(e->dev, ipv6_addr_v4mapped((void *)&dgid) ? AF_INET :
								 AF_INET6, &own);
	if (index < 0)
		return index;
	ah->type = rdma_ah_find_type(e->dev, VRNIC_PORT);
	rdma_ah_set_port_num(ah, VRNIC_PORT);
	rdma_ah_set_grh(ah, &dgid, 0, index, 64, 0);
	if (ah->type == RDMA_AH_ATTR_TYPE_IB) {
		ret = ib_query_port(peer->dev, VRNIC_PORT, &port);
		if (ret)
			return ret;
		rdma_ah_set_dlid(ah, port.lid);
	}
	return 0;
}

/**
 * vt_to_rtr() - move a QP into the state RTR
 * @e: its end
 * @peer: the other end; it may be the same. A datagram's QP has none
 *
 * Return: 0 or an error
 */
int vt_to_rtr(struct vt_end *e, struct vt_end *peer)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.max_dest_rd_atomic = e->opt.no_answers ? 0 : 2,
		.min_rnr_timer = e->opt.min_rnr_timer,
	};
	int mask = IB_QP_STATE, ret;

	if (peer) {
		attr.dest_qp_num = peer->qp->qp_num;
		ret = set_path(&attr.ah_attr, e, peer);
		if (ret)
			return ret;
		mask |= IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
			IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
			IB_QP_MIN_RNR_TIMER;
	}
	return ib_modify_qp(e->qp, &attr, mask);
}

/**
 * vt_to_rts() - move a QP into the state RTS
 * @e: its end
 *
 * Return: 0 or an error
 */
int vt_to_rts(struct vt_end *e)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = e->opt.timeout,
		.retry_cnt = e->opt.retry_cnt,
		.rnr_retry = e->opt.rnr_retry,
		.max_rd_atomic = e->opt.no_reads ? 0 : 2,
	};
	int mask = IB_QP_STATE | IB_QP_SQ_PSN;

	if (e->opt.type == IB_QPT_RC)
		mask |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			IB_QP_MAX_QP_RD_ATOMIC;
	return ib_modify_qp(e->qp, &attr, mask);
}

/**
 * vt_to() - move a QP into a state that needs no other attributes
 * @e: its end
 * @state: the state
 *
 * Return: 0 or an error
 */
int vt_to(struct vt_end *e, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return ib_modify_qp(e->qp, &attr, IB_QP_STATE);
}

/**
 * vt_connect() - connect two QPs in RESET, and move them into the state RTS
 * @a: end of the first
 * @b: end of the second; it may be the same
 *
 * Return: 0 or an error
 */
int vt_connect(struct vt_end *a, struct vt_end *b)
{
	int ret = vt_to_init(a);

	if (!ret && a != b)
		ret = vt_to_init(b);
	if (!ret)
		ret = vt_to_rtr(a, b);
	if (!ret && a != b)
		ret = vt_to_rtr(b, a);
	if (!ret)
		ret = vt_to_rts(a);
	if (!ret && a != b)
		ret = vt_to_rts(b);
	return ret;
}

/**
 * vt_pair_make() - create two ends, connected
 * @p: the ends
 * @d: their devices
 * @opt: options of both, or NULL
 *
 * Return: 0 or an error, which a check reports
 */
int vt_pair_make(struct vt_pair *p, struct vt_devs *d, const struct vt_opt *opt)
{
	int ret;

	memset(p, 0, sizeof(*p));
	ret = vt_end_make(&p->a, d->a, opt);
	if (!ret)
		ret = vt_end_make(&p->b, d->b, opt);
	if (!ret)
		ret = vt_connect(&p->a, &p->b);
	if (!ret)
		return 0;
	vt_equal(0, ret, "two QPs are connected");
	vt_pair_free(p);
	return ret;
}

/**
 * vt_pair_free() - two ends go
 * @p: them
 */
void vt_pair_free(struct vt_pair *p)
{
	vt_end_free(&p->a);
	vt_end_free(&p->b);
}

/**
 * vt_state() - the state of a QP
 * @e: its end
 *
 * Return: the state
 */
enum ib_qp_state vt_state(struct vt_end *e)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	int ret = ib_query_qp(e->qp, &attr, IB_QP_STATE, &init);

	return ret ? (enum ib_qp_state)ret : attr.qp_state;
}
