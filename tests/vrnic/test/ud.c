// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams: their receivers, their headers, and their loss. The sender's completion reports
 * success in any case.
 */

#include <linux/ip.h>
#include <linux/in6.h>
#include <net/ip.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include "vrnic_test.h"

#define GRH	40
#define QKEY	0x1234		/* of vt_to_init() */

struct ud {
	struct vt_end a;
	struct vt_end b;
	struct vt_buf from;
	struct vt_buf to;
	struct ib_ah *ah;
	union ib_gid sgid;
	union ib_gid dgid;
};

static int ud_up(struct vt_end *e, struct ib_device *dev)
{
	struct vt_opt opt = { .type = IB_QPT_UD };

	return vt_end_make(e, dev, &opt) ?: vt_to_init(e) ?: vt_to_rtr(e, NULL) ?:
	       vt_to_rts(e);
}

static struct ib_ah *make_ah(struct ud *u, struct ib_device *to, int family)
{
	struct rdma_ah_attr attr = {};
	struct ib_port_attr port;
	int index;

	index = vt_gid(u->a.dev, family, &u->sgid);
	if (index < 0 || vt_gid(to, family, &u->dgid) < 0)
		return ERR_PTR(-ENOENT);
	attr.type = rdma_ah_find_type(u->a.dev, VRNIC_PORT);
	rdma_ah_set_port_num(&attr, VRNIC_PORT);
	rdma_ah_set_grh(&attr, &u->dgid, 0x12345, index, 33, 0x28);
	if (attr.type == RDMA_AH_ATTR_TYPE_IB) {
		if (ib_query_port(to, VRNIC_PORT, &port))
			return ERR_PTR(-EINVAL);
		rdma_ah_set_dlid(&attr, port.lid);
	}
	return rdma_create_ah(u->a.pd, &attr, 0);
}

static void ud_end(struct ud *u)
{
	if (!IS_ERR_OR_NULL(u->ah))
		rdma_destroy_ah(u->ah, 0);
	vt_end_free(&u->a);
	vt_end_free(&u->b);
	vt_buf_free(&u->from);
	vt_buf_free(&u->to);
}

static int ud_make(struct ud *u, struct vt_devs *d, int family)
{
	memset(u, 0, sizeof(*u));
	if (!vt_equal(0, ud_up(&u->a, d->a), "UD QP in RTS") ||
	    !vt_equal(0, ud_up(&u->b, d->b), "UD QP in RTS") ||
	    vt_buf_make(&u->from, d->a, PAGE_SIZE) ||
	    vt_buf_make(&u->to, d->b, PAGE_SIZE))
		goto err;
	u->ah = make_ah(u, d->b, family);
	if (vt_ok(!IS_ERR(u->ah), "AH made"))
		return 0;
err:
	ud_end(u);
	return -EINVAL;
}

static void post_recv(struct ud *u, u64 id, u32 len)
{
	struct ib_sge sge = vt_sge(&u->b, &u->to, 0, len);

	vt_equal(0, vt_recv(&u->b, id, &sge, 1), "receive posted");
}

/* A datagram of @len bytes: posted, and its own completion */
static void post(struct ud *u, const char *what, u32 len, u32 qpn, u32 qkey)
{
	struct ib_sge sge = vt_sge(&u->a, &u->from, 0, len);

	vt_fill(u->from.va, PAGE_SIZE, 4);
	vt_equal(0, vt_post(&u->a, &(struct vt_wr) {
		.op = IB_WR_SEND_WITH_IMM, .flags = IB_SEND_SIGNALED, .sge = &sge,
		.num_sge = 1, .imm = 55, .ah = u->ah, .qpn = qpn, .qkey = qkey }),
		"%s: posted", what);
	vt_expect(u->a.scq, IB_WC_SUCCESS, NULL, "%s: the sender's completion", what);
}

static void check_ip4(struct ud *u)
{
	struct iphdr *ip = (struct iphdr *)(u->to.va + GRH - sizeof(*ip));

	vt_ok(vt_is_all(u->to.va, GRH - sizeof(*ip), 0), "IPv4: nothing before it");
	vt_equal(4, ip->version, "IPv4: version");
	vt_equal(5, ip->ihl, "IPv4: ihl");
	vt_equal(33, ip->ttl, "IPv4: ttl is the hop limit");
	vt_equal(0x28, ip->tos, "IPv4: tos is the traffic class");
	vt_equal(IPPROTO_UDP, ip->protocol, "IPv4: protocol");
	vt_ok(!memcmp(&ip->saddr, u->sgid.raw + 12, 4), "IPv4: source");
	vt_ok(!memcmp(&ip->daddr, u->dgid.raw + 12, 4), "IPv4: destination");
	vt_equal(0, (__force u16)ip_fast_csum(ip, ip->ihl), "IPv4: checksum");
}

static void check_ip6(struct ud *u)
{
	struct ib_grh *grh = (struct ib_grh *)u->to.va;

	vt_equal(6U << 28 | 0x28 << 20 | 0x12345,
		 be32_to_cpu(grh->version_tclass_flow), "GRH: version, class, flow");
	vt_equal(33, grh->hop_limit, "GRH: hop limit");
	vt_equal(100, be16_to_cpu(grh->paylen), "GRH: payload length");
	vt_ok(!memcmp(&grh->sgid, &u->sgid, 16), "GRH: source");
	vt_ok(!memcmp(&grh->dgid, &u->dgid, 16), "GRH: destination");
}

static void arrives(struct vt_devs *d, int family)
{
	union rdma_network_hdr *hdr;
	union ib_gid sgid, dgid;
	struct ib_wc wc;
	struct ud u;

	if (ud_make(&u, d, family))
		return;
	memset(u.to.va, 0xcc, PAGE_SIZE);
	post_recv(&u, 1, GRH + 100);
	post(&u, "datagram", 100, u.b.qp->qp_num, QKEY);
	vt_expect(u.b.rcq, IB_WC_SUCCESS, &wc, "it arrives");
	vt_equal(1, wc.wr_id, "wr_id");
	vt_equal(GRH + 100, wc.byte_len, "byte_len counts the header");
	vt_equal(IB_WC_RECV, wc.opcode, "opcode");
	vt_equal(u.a.qp->qp_num, wc.src_qp, "src_qp");
	vt_equal(VRNIC_PORT, wc.port_num, "port_num");
	vt_ok(wc.wc_flags & IB_WC_GRH, "it says that there is a header");
	vt_ok(wc.wc_flags & IB_WC_WITH_IMM, "and immediate data");
	vt_equal(55, be32_to_cpu(wc.ex.imm_data), "immediate data");
	vt_ok(vt_is_filled(u.to.va + GRH, 100, 4), "the data");
	vt_ok(vt_is_all(u.to.va + GRH + 100, 1000, 0xcc), "nothing behind it");
	if (family == AF_INET)
		check_ip4(&u);
	else
		check_ip6(&u);
	/* The sender of a datagram, as the core reads it */
	hdr = (union rdma_network_hdr *)u.to.va;
	vt_equal(family == AF_INET ? RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6,
		 wc.network_hdr_type, "the header's type");
	vt_equal(0, ib_get_gids_from_rdma_hdr(hdr, wc.network_hdr_type, &sgid, &dgid),
		 "the core can read it");
	vt_ok(!memcmp(&sgid, &u.sgid, 16) && !memcmp(&dgid, &u.dgid, 16),
	      "and finds the addresses");
	ud_end(&u);
}

static void test_ip4(struct vt_devs *d)
{
	arrives(d, AF_INET);
}

static void test_ip6(struct vt_devs *d)
{
	arrives(d, AF_INET6);
}

/* Lost datagrams: the next one that is not lost takes the receive */
static void test_lost(struct vt_devs *d)
{
	struct ib_wc wc;
	struct ud u;

	if (ud_make(&u, d, AF_INET))
		return;
	post(&u, "no receive", 100, u.b.qp->qp_num, QKEY);
	post_recv(&u, 1, GRH + 100);
	post(&u, "wrong Q_Key", 100, u.b.qp->qp_num, QKEY + 1);
	post(&u, "nobody there", 100, 0x77777, QKEY);
	vt_equal(0, vt_fault(d->b, "port down"), "port down");
	post(&u, "port down", 100, u.b.qp->qp_num, QKEY);
	vt_equal(0, vt_fault(d->b, "port up"), "port up");
	vt_ok(vt_none(u.b.rcq), "all were lost");
	post(&u, "one that is good", 99, u.b.qp->qp_num, QKEY);
	vt_expect(u.b.rcq, IB_WC_SUCCESS, &wc, "it arrives");
	vt_equal(GRH + 99, wc.byte_len, "it is that one");
	ud_end(&u);
}

/* For a receive that is too small, as cards do: it ends, and so does its QP */
static void test_long(struct vt_devs *d)
{
	struct ib_wc wc;
	struct ud u;

	if (ud_make(&u, d, AF_INET))
		return;
	post_recv(&u, 1, 100);
	post_recv(&u, 2, PAGE_SIZE);
	post(&u, "too long, with its header", 61, u.b.qp->qp_num, QKEY);
	vt_expect(u.b.rcq, IB_WC_LOC_LEN_ERR, &wc, "the receive");
	vt_equal(1, wc.wr_id, "the receive: wr_id");
	vt_violations(1, "a datagram of", "too long: reported");
	vt_ok(vt_until(vt_state(&u.b) == IB_QPS_ERR), "its QP is in ERR");
	vt_expect(u.b.rcq, IB_WC_WR_FLUSH_ERR, &wc, "the next receive is flushed");
	vt_equal(IB_QPS_RTS, vt_state(&u.a), "the sender's QP is not");
	ud_end(&u);
}

/* ---- the connection manager's QP, through the core's MAD layer ---- */

struct mads {
	atomic_t sent;
	atomic_t received;
	enum ib_wc_status status;
	u8 data;
};

static void mad_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct mads *m = agent->context;

	WRITE_ONCE(m->status, wc->status);
	ib_free_send_mad(wc->send_buf);
	atomic_inc(&m->sent);
}

static void mad_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
			 struct ib_mad_recv_wc *wc)
{
	struct mads *m = agent->context;

	m->data = ((struct ib_vendor_mad *)wc->recv_buf.mad)->data[7];
	ib_free_recv_mad(wc);
	atomic_inc(&m->received);
}

static struct ib_mad_agent *make_agent(struct ib_device *dev, struct mads *m)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = 0x33,
		.mgmt_class_version = 1,
		.oui = { 0x00, 0x11, 0x22 },
	};

	set_bit(IB_MGMT_METHOD_SET, req.method_mask);
	return ib_register_mad_agent(dev, VRNIC_PORT, IB_QPT_GSI, &req, 0, mad_sent,
				     mad_received, m, 0);
}

/* Two agents and an address, by which one reaches the other */
struct gsi {
	struct ud u;
	struct mads sender;
	struct mads receiver;
	struct ib_mad_agent *from;
	struct ib_mad_agent *to;
};

static void gsi_end(struct gsi *g)
{
	if (!IS_ERR_OR_NULL(g->from))
		ib_unregister_mad_agent(g->from);
	if (!IS_ERR_OR_NULL(g->to) && g->to != g->from)
		ib_unregister_mad_agent(g->to);
	ud_end(&g->u);
}

static int gsi_make(struct gsi *g, struct vt_devs *d)
{
	memset(g, 0, sizeof(*g));
	if (ud_make(&g->u, d, AF_INET))
		return -EINVAL;
	rdma_destroy_ah(g->u.ah, 0);
	g->u.ah = NULL;
	g->to = make_agent(d->b, &g->receiver);
	g->from = d->a == d->b ? g->to : make_agent(d->a, &g->sender);
	if (!vt_ok(!IS_ERR(g->to) && !IS_ERR(g->from), "agents made"))
		goto err;
	/* An address of the agent's own PD */
	swap(g->u.a.pd, g->from->qp->pd);
	g->u.ah = make_ah(&g->u, d->b, AF_INET);
	swap(g->u.a.pd, g->from->qp->pd);
	if (vt_ok(!IS_ERR(g->u.ah), "AH made"))
		return 0;
err:
	gsi_end(g);
	return -EINVAL;
}

/* A MAD with the P_Key of an index; Return: whether it was sent, all checked */
static bool send_mad(struct gsi *g, u16 pkey_index)
{
	struct mads *sender = g->from == g->to ? &g->receiver : &g->sender;
	struct ib_mad_send_buf *buf;
	struct ib_vendor_mad *mad;

	buf = ib_create_send_mad(g->from, 1, pkey_index, 0, IB_MGMT_VENDOR_HDR,
				 IB_MGMT_VENDOR_DATA, GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (!vt_ok(!IS_ERR(buf), "MAD made"))
		return false;
	mad = buf->mad;
	mad->mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad->mad_hdr.mgmt_class = 0x33;
	mad->mad_hdr.class_version = 1;
	mad->mad_hdr.method = IB_MGMT_METHOD_SET;
	mad->oui[1] = 0x11;
	mad->oui[2] = 0x22;
	mad->data[7] = 0x5c;
	buf->ah = g->u.ah;
	if (!vt_equal(0, ib_post_send_mad(buf, NULL), "MAD posted")) {
		ib_free_send_mad(buf);
		return false;
	}
	if (!vt_ok(vt_until(atomic_read(&sender->sent)), "it was sent"))
		return false;
	atomic_set(&sender->sent, 0);
	return vt_is_status(IB_WC_SUCCESS, sender->status, "the sender's status");
}

static void test_gsi(struct vt_devs *d)
{
	struct gsi g;

	if (gsi_make(&g, d))
		return;
	if (send_mad(&g, 0)) {
		vt_ok(vt_until(atomic_read(&g.receiver.received)), "it was received");
		vt_equal(0x5c, g.receiver.data, "its data");
	}
	gsi_end(&g);
}

/* With a P_Key that there is not: it is lost, and the next is not */
static void test_pkey(struct vt_devs *d)
{
	struct gsi g;

	if (gsi_make(&g, d))
		return;
	if (send_mad(&g, 1))
		vt_violations(1, "a datagram with the P_Key of index 1, there are 1",
			      "no such P_Key: reported");
	if (send_mad(&g, 0))
		vt_ok(vt_until(atomic_read(&g.receiver.received)), "one was received");
	gsi_end(&g);	/* and pending messages have arrived */
	vt_equal(1, atomic_read(&g.receiver.received), "one alone");
}

const struct vt_test vt_ud[] = {
	{ "ip4", test_ip4 },
	{ "ip6", test_ip6 },
	{ "lost", test_lost },
	{ "long", test_long },
	{ "gsi", test_gsi },
	{ "pkey", test_pkey },
	{}
};
