// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams: of the connection manager's QP (GSI, number 1 of each port) and of UD QPs. A
 * datagram without a receiver, or without a posted receive, is lost, and the sender's
 * completion reports success, as on hardware. A receive that is too small ends with an error,
 * and its QP fails, as on cards.
 *
 * A receive starts with 40 bytes for the global route header, or over RoCE v2 for the IP
 * header in its place.
 */

#include <linux/ip.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include "vrnic.h"

#define NEXT_HDR_IBA	0x1b

static void make_ip4(struct iphdr *ip, const struct vrnic_ah *ah, u32 len)
{
	ip->version = 4;
	ip->ihl = 5;
	ip->ttl = ah->hop_limit;
	ip->tos = ah->tclass;
	ip->protocol = IPPROTO_UDP;
	ip->tot_len = htons(sizeof(*ip) + len);
	memcpy(&ip->saddr, ah->sgid.raw + 12, 4);
	memcpy(&ip->daddr, ah->dgid.raw + 12, 4);
	ip->check = ip_fast_csum(ip, ip->ihl);
}

static void make_header(struct vrnic_datagram *d, const struct vrnic_dev *dev,
			const struct vrnic_ah *ah)
{
	struct ib_grh *grh = (struct ib_grh *)d->header;

	d->grh = ah->grh;
	if (!ah->grh)
		return;
	if (dev->config.link == VRNIC_ROCE &&
	    ipv6_addr_v4mapped((struct in6_addr *)&ah->dgid)) {
		d->type = RDMA_NETWORK_IPV4;
		make_ip4((struct iphdr *)(d->header + VRNIC_GRH_BYTES -
					  sizeof(struct iphdr)), ah, d->len);
		return;
	}
	d->type = dev->config.link == VRNIC_ROCE ? RDMA_NETWORK_IPV6 :
						   RDMA_NETWORK_IB;
	grh->version_tclass_flow = cpu_to_be32(6 << 28 | ah->tclass << 20 |
					       (ah->flow & 0xfffff));
	grh->paylen = cpu_to_be16(d->len);
	grh->next_hdr = dev->config.link == VRNIC_ROCE ? IPPROTO_UDP :
							 NEXT_HDR_IBA;
	grh->hop_limit = ah->hop_limit;
	grh->sgid = ah->sgid;
	grh->dgid = ah->dgid;
}

/* Return: the index of the P_Key by which a QP may accept it, or -1 */
static int find_pkey(const struct vrnic_qp *to, u16 pkey)
{
	const struct vrnic_config *config = &to->dev->config;
	unsigned int i;

	if (to->ibqp.qp_type != IB_QPT_GSI)
		return vrnic_pkeys_match(config->pkeys[to->attr.pkey_index],
					 pkey) ? to->attr.pkey_index : -1;
	for (i = 0; i < config->nr_pkeys; i++) {
		if (vrnic_pkeys_match(config->pkeys[i], pkey))
			return i;
	}
	return -1;
}

static void fill_recv(struct vrnic_qp *to, const struct vrnic_rwqe *recv,
		      const struct vrnic_datagram *d, struct vrnic_iter *from,
		      struct vrnic_cqe *cqe)
{
	struct vrnic_iter it = {
		.qp = to,
		.sge = recv->sge,
		.num_sge = recv->num_sge,
		.access = IB_ACCESS_LOCAL_WRITE,
		.use = "receive of a datagram",
	};
	struct vrnic_iter top = {
		.run = (void *)d->header,
		.run_len = VRNIC_GRH_BYTES,
	};
	u32 i, room = 0;

	for (i = 0; i < recv->num_sge; i++)
		room += recv->sge[i].length;
	if (room < cqe->wc.byte_len) {
		vrnic_violation(to->dev, to, "a datagram of %u bytes, with its header, for a receive of %u",
				cqe->wc.byte_len, room);
		cqe->wc.status = IB_WC_LOC_LEN_ERR;
		return;
	}
	cqe->wc.status = vrnic_copy_on(&it, &top, VRNIC_GRH_BYTES);
	if (!cqe->wc.status)
		cqe->wc.status = vrnic_copy(&it, from, d->len);
	vrnic_iter_end(&it);
}

/**
 * vrnic_ud_deliver() - deliver a datagram to a QP
 * @to: the QP
 * @d: the datagram's attributes
 * @from: its data
 *
 * Context: any; interrupts are off, @to's resp_lock is not held.
 */
void vrnic_ud_deliver(struct vrnic_qp *to, const struct vrnic_datagram *d,
		      struct vrnic_iter *from)
{
	struct vrnic_cqe cqe = {
		.wc = {
			.opcode = IB_WC_RECV,
			.byte_len = d->len + VRNIC_GRH_BYTES,
			.qp = &to->ibqp,
			.src_qp = d->src_qp,
			.slid = d->slid,
			.sl = d->sl,
			.port_num = VRNIC_PORT,
			.wc_flags = d->grh ? IB_WC_GRH : 0,
		},
		.qp = to,
		.credit = 1,
		.queue = VRNIC_RQ,
	};
	int pkey_index = find_pkey(to, d->pkey);
	const struct vrnic_rwqe *recv;

	if (pkey_index < 0) {
		atomic_inc(&to->dev->bad_pkeys);
		return;
	}
	if (!READ_ONCE(to->dev->up) || READ_ONCE(to->dev->dead))
		return;
	cqe.wc.pkey_index = pkey_index;
	spin_lock(&to->resp_lock);
	if ((to->state != IB_QPS_RTR && to->state != IB_QPS_RTS) || to->resp_dead)
		goto out;
	recv = to->ibqp.srq ? vrnic_srq_take(to_vsrq(to->ibqp.srq)) :
			      vrnic_rq_take(&to->rq);
	if (!recv)
		goto out;
	cqe.wc.wr_id = recv->wr_id;
	fill_recv(to, recv, d, from, &cqe);
	if (to->dev->config.link == VRNIC_ROCE) {
		cqe.wc.wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
		cqe.wc.network_hdr_type = d->type;
	}
	if (d->with_imm) {
		cqe.wc.wc_flags |= IB_WC_WITH_IMM;
		cqe.wc.ex.imm_data = d->imm;
	}
	to->counts.wr[VRNIC_RECV]++;
	to->counts.bytes[VRNIC_RECV] += d->len;
	vrnic_complete(to, VRNIC_RQ, &cqe, d->solicited);
	if (cqe.wc.status)
		vrnic_qp_die(to, VRNIC_NO_EVENT);
out:
	spin_unlock(&to->resp_lock);
}

/* A Q_Key with its upper bit set means the sender's own (IBA 1.3, 10.2.5) */
static u32 qkey_of(const struct vrnic_qp *qp, const struct vrnic_swqe *wqe)
{
	return wqe->ud.qkey & IB_QP_SET_QKEY ? qp->attr.qkey : wqe->ud.qkey;
}

/* The receiver, with a reference */
static struct vrnic_qp *find_unicast(const struct vrnic_qp *from,
				     const struct vrnic_swqe *wqe)
{
	const struct vrnic_ah *ah = wqe->ud.ah;
	struct vrnic_qp *qp = NULL;
	struct vrnic_dev *to;

	rcu_read_lock();
	to = from->dev->config.link == VRNIC_IB ? vrnic_find_by_lid(ah->dlid) :
						  vrnic_find_by_gid(&ah->dgid);
	if (!to || to->config.link != from->dev->config.link)
		goto out;
	if (wqe->ud.qpn == 1) {
		qp = rcu_dereference(to->gsi);
		if (qp && !vrnic_qp_get(qp))
			qp = NULL;
		goto out;
	}
	qp = vrnic_qp_find(wqe->ud.qpn);
	if (qp && (qp->dev != to || qp->ibqp.qp_type != IB_QPT_UD ||
		   qp->attr.qkey != qkey_of(from, wqe))) {
		vrnic_qp_put(qp);
		qp = NULL;
	}
out:
	rcu_read_unlock();
	return qp;
}

struct to_all {
	struct vrnic_qp *qp;
	struct vrnic_swqe *wqe;
	const struct vrnic_datagram *d;
};

static void deliver_group(struct vrnic_dev *dev, void *arg)
{
	struct to_all *all = arg;
	struct vrnic_iter from;
	struct vrnic_member *m;

	spin_lock(&dev->mcast_lock);
	list_for_each_entry(m, &dev->mcast, entry) {
		if (m->qp == all->qp ||
		    m->qp->attr.qkey != qkey_of(all->qp, all->wqe) ||
		    memcmp(&m->gid, &all->wqe->ud.ah->dgid, sizeof(m->gid)))
			continue;
		vrnic_source(&from, all->qp, all->wqe, "datagram");
		vrnic_ud_deliver(m->qp, all->d, &from);
	}
	spin_unlock(&dev->mcast_lock);
}

/**
 * vrnic_ud_send() - execute a SEND of a datagram
 * @qp: by
 * @wqe: the work request
 *
 * Context: any; interrupts are off, @qp's sq_lock is held.
 */
void vrnic_ud_send(struct vrnic_qp *qp, struct vrnic_swqe *wqe)
{
	const struct vrnic_config *config = &qp->dev->config;
	const struct vrnic_ah *ah = wqe->ud.ah;
	struct vrnic_datagram d = {
		.src_qp = qp->ibqp.qp_num,
		.slid = qp->dev->lid,
		.sl = ah->sl,
		.len = wqe->len,
		.imm = wqe->imm,
		.with_imm = wqe->opcode == IB_WR_SEND_WITH_IMM,
		.solicited = wqe->flags & IB_SEND_SOLICITED,
	};
	u16 index = qp->ibqp.qp_type == IB_QPT_GSI ? wqe->ud.pkey_index :
						     qp->attr.pkey_index;
	struct vrnic_iter from;
	struct vrnic_qp *to;

	if (!READ_ONCE(qp->dev->up))
		return;
	if (index >= config->nr_pkeys) {
		vrnic_violation(qp->dev, qp, "a datagram with the P_Key of index %u, there are %u",
				index, config->nr_pkeys);
		return;
	}
	d.pkey = config->pkeys[index];
	make_header(&d, qp->dev, ah);
	if (rdma_is_multicast_addr((struct in6_addr *)&ah->dgid)) {
		struct to_all all = { qp, wqe, &d };

		vrnic_each_device(deliver_group, &all);
		return;
	}
	if (config->link == VRNIC_IB && ah->dlid == VRNIC_SM_LID) {
		if (wqe->ud.qpn == 1)
			vrnic_sa_take(qp, wqe, d.pkey);
		return;
	}
	to = find_unicast(qp, wqe);
	if (!to)
		return;
	vrnic_source(&from, qp, wqe, "datagram");
	vrnic_ud_deliver(to, &d, &from);
	vrnic_qp_put(to);
}

/* ---- addresses ---- */

int vrnic_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata)
{
	const struct rdma_ah_attr *attr = init->ah_attr;
	struct vrnic_ah *ah = to_vah(ibah);
	struct vrnic_fault_hit hit;

	if (vrnic_fault(to_vdev(ibah->device), VRNIC_FAULT_MAKE, VRNIC_MAKE_AH,
			NULL, &hit))
		return -hit.arg;
	ah->attr = *attr;
	ah->attr.grh.sgid_attr = NULL;
	ah->sl = rdma_ah_get_sl(attr);
	if (attr->type == RDMA_AH_ATTR_TYPE_IB)
		ah->dlid = rdma_ah_get_dlid(attr);
	if (rdma_ah_get_ah_flags(attr) & IB_AH_GRH) {
		const struct ib_global_route *grh = rdma_ah_read_grh(attr);

		ah->grh = true;
		ah->dgid = grh->dgid;
		ah->hop_limit = grh->hop_limit;
		ah->tclass = grh->traffic_class;
		ah->flow = grh->flow_label;
		if (grh->sgid_attr)
			ah->sgid = grh->sgid_attr->gid;
	}
	return 0;
}

int vrnic_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_vah(ibah)->attr;
	return 0;
}

int vrnic_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}

/* ---- multicast ---- */

int vrnic_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct vrnic_dev *dev = to_vdev(ibqp->device);
	struct vrnic_member *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return -ENOMEM;
	m->qp = to_vqp(ibqp);
	m->gid = *gid;
	spin_lock_irq(&dev->mcast_lock);
	list_add_tail(&m->entry, &dev->mcast);
	spin_unlock_irq(&dev->mcast_lock);
	return 0;
}

int vrnic_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct vrnic_dev *dev = to_vdev(ibqp->device);
	struct vrnic_member *m, *found = NULL;

	spin_lock_irq(&dev->mcast_lock);
	list_for_each_entry(m, &dev->mcast, entry) {
		if (m->qp == to_vqp(ibqp) && !memcmp(&m->gid, gid, sizeof(*gid))) {
			list_del(&m->entry);
			found = m;
			break;
		}
	}
	spin_unlock_irq(&dev->mcast_lock);
	kfree(found);
	return found ? 0 : -EINVAL;
}
