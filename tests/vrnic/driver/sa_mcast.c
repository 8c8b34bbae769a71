// SPDX-License-Identifier: GPL-2.0
/*
 * Multicast groups, as the subnet administrator keeps them. The broadcast groups
 * of IP are there from the beginning, one for each partition, as subnet managers
 * make them for IPoIB; the first full member makes any other, the last leaves
 * none behind.
 */

#include <linux/slab.h>
#include "sa.h"

#define FIRST_MLID	0xc000
#define LAST_MLID	0xfffe

#define JOIN_STATES	0xf
#define KEEPS_GROUP	(BIT(FULLMEMBER_JOIN) | BIT(SENDONLY_FULLMEMBER_JOIN))

#define IPOIB_QKEY	0x0b1b

/* IBA 1.3, 15.2.5.17 */
struct mcmember_record {
	union ib_gid mgid;
	union ib_gid port_gid;
	__be32 qkey;
	__be16 mlid;
	u8 mtu;
	u8 tclass;
	__be16 pkey;
	u8 rate;
	u8 life;
	__be32 sl_flow_hop;
	u8 scope_join;
	u8 proxy;
	__be16 reserved;
} __packed;

static_assert(sizeof(struct mcmember_record) == 52);

struct member {
	struct list_head entry;
	union ib_gid port_gid;
	u8 join;
};

/* @stays: of IPoIB's broadcast */
struct group {
	struct list_head entry;
	struct list_head members;
	struct mcmember_record rec;
	bool stays;
};

/* Under the subnet administrator's lock */
static LIST_HEAD(groups);
static u16 next_mlid = FIRST_MLID;

static struct group *find_group(const union ib_gid *mgid)
{
	struct group *g;

	list_for_each_entry(g, &groups, entry) {
		if (!memcmp(&g->rec.mgid, mgid, sizeof(*mgid)))
			return g;
	}
	return NULL;
}

static struct member *find_member(const struct group *g, const union ib_gid *gid)
{
	struct member *m;

	list_for_each_entry(m, &g->members, entry) {
		if (!memcmp(&m->port_gid, gid, sizeof(*gid)))
			return m;
	}
	return NULL;
}

static void drop_member(struct member *m)
{
	list_del(&m->entry);
	kfree(m);
}

static void drop_group(struct group *g)
{
	struct member *m, *next;

	list_for_each_entry_safe(m, next, &g->members, entry)
		drop_member(m);
	list_del(&g->entry);
	kfree(g);
}

static struct group *new_group(const struct mcmember_record *rec)
{
	struct group *g;

	if (next_mlid > LAST_MLID)
		return NULL;
	g = kzalloc(sizeof(*g), GFP_KERNEL);
	if (!g)
		return NULL;
	INIT_LIST_HEAD(&g->members);
	g->rec = *rec;
	g->rec.mlid = cpu_to_be16(next_mlid++);
	g->rec.mtu = SA_EXACTLY(SA_MTU);
	g->rec.rate = SA_EXACTLY(SA_RATE);
	g->rec.life = SA_EXACTLY(SA_LIFE);
	list_add_tail(&g->entry, &groups);
	return g;
}

/* ff1S:401b:PPPP::ffff:ffff (RFC 4391, 4), of partition PPPP; 0 for any other */
static u16 broadcast_pkey(const union ib_gid *mgid)
{
	static const u8 end[10] = { [6] = 0xff, 0xff, 0xff, 0xff };
	const u8 *raw = mgid->raw;

	if (raw[0] != 0xff || raw[2] != 0x40 || raw[3] != 0x1b ||
	    memcmp(raw + 6, end, sizeof(end)))
		return 0;
	return raw[4] << 8 | raw[5];
}

static bool has_pkey(const struct vrnic_dev *dev, u16 pkey)
{
	unsigned int i;

	for (i = 0; i < dev->config.nr_pkeys; i++) {
		if (!((dev->config.pkeys[i] ^ pkey) & ~VRNIC_PKEY_FULL))
			return true;
	}
	return false;
}

static struct group *broadcast(const struct mcmember_record *rec,
			       struct vrnic_dev *from)
{
	u16 pkey = broadcast_pkey(&rec->mgid);
	struct mcmember_record made = { .mgid = rec->mgid };
	struct group *g;

	if (!pkey || !has_pkey(from, pkey))
		return NULL;
	made.pkey = cpu_to_be16(pkey | VRNIC_PKEY_FULL);
	made.qkey = cpu_to_be32(IPOIB_QKEY);
	made.scope_join = (rec->mgid.raw[1] & 0xf) << 4;
	g = new_group(&made);
	if (g)
		g->stays = true;
	return g;
}

/* Whether the request matches the group */
static bool fits(const struct group *g, const struct mcmember_record *rec,
		 ib_sa_comp_mask given)
{
	u16 pkeys = be16_to_cpu(rec->pkey ^ g->rec.pkey);

	return !(given & IB_SA_MCMEMBER_REC_QKEY && rec->qkey != g->rec.qkey) &&
	       !(given & IB_SA_MCMEMBER_REC_PKEY && pkeys & ~VRNIC_PKEY_FULL) &&
	       !(given & IB_SA_MCMEMBER_REC_MTU_SELECTOR &&
		 rec->mtu >> 6 == IB_SA_EQ && rec->mtu != g->rec.mtu) &&
	       !(given & IB_SA_MCMEMBER_REC_RATE_SELECTOR &&
		 rec->rate >> 6 == IB_SA_EQ && rec->rate != g->rec.rate);
}

static u16 join(struct mcmember_record *rec, ib_sa_comp_mask given,
		struct vrnic_dev *from)
{
	static const ib_sa_comp_mask who = IB_SA_MCMEMBER_REC_MGID |
		IB_SA_MCMEMBER_REC_PORT_GID | IB_SA_MCMEMBER_REC_JOIN_STATE;
	static const ib_sa_comp_mask create = IB_SA_MCMEMBER_REC_QKEY |
		IB_SA_MCMEMBER_REC_PKEY | IB_SA_MCMEMBER_REC_SL |
		IB_SA_MCMEMBER_REC_FLOW_LABEL | IB_SA_MCMEMBER_REC_TRAFFIC_CLASS;
	struct group *g = find_group(&rec->mgid);
	u8 state = rec->scope_join & JOIN_STATES;
	struct member *m;

	if ((given & who) != who)
		return SA_STATUS_INSUFFICIENT;
	if (rec->mgid.raw[0] != 0xff || !state)
		return SA_STATUS_REQ_INVALID;
	if (!g)
		g = broadcast(rec, from);
	if (!g && ((given & create) != create || !(state & KEEPS_GROUP) ||
		   !has_pkey(from, be16_to_cpu(rec->pkey))))
		return SA_STATUS_REQ_INVALID;
	if (!g)
		g = new_group(rec);
	if (!g)
		return SA_STATUS_NO_RESOURCES;
	if (!fits(g, rec, given) || !has_pkey(from, be16_to_cpu(g->rec.pkey)))
		return SA_STATUS_REQ_INVALID;
	m = find_member(g, &rec->port_gid);
	if (!m) {
		m = kzalloc(sizeof(*m), GFP_KERNEL);
		if (!m)
			return SA_STATUS_NO_RESOURCES;
		m->port_gid = rec->port_gid;
		list_add_tail(&m->entry, &g->members);
	}
	m->join |= state;
	*rec = g->rec;
	rec->port_gid = m->port_gid;
	rec->scope_join = (g->rec.scope_join & ~JOIN_STATES) | m->join;
	return SA_STATUS_OK;
}

/* Return: whether the group still has members */
static bool is_kept(const struct group *g)
{
	struct member *m;

	list_for_each_entry(m, &g->members, entry) {
		if (m->join & KEEPS_GROUP)
			return true;
	}
	return g->stays;
}

static u16 leave(struct mcmember_record *rec)
{
	struct group *g = find_group(&rec->mgid);
	struct member *m = g ? find_member(g, &rec->port_gid) : NULL;
	u8 state = rec->scope_join & JOIN_STATES;

	if (!m || !(m->join & state))
		return SA_STATUS_REQ_INVALID;
	m->join &= ~state;
	*rec = g->rec;
	rec->port_gid = m->port_gid;
	rec->scope_join = (g->rec.scope_join & ~JOIN_STATES) | m->join;
	if (!m->join)
		drop_member(m);
	if (!is_kept(g))
		drop_group(g);
	return SA_STATUS_OK;
}

/**
 * vrnic_sa_mcmember() - MCMemberRecord: look, join, leave
 * @mad: the request, and the answer
 * @from: the sender
 *
 * Context: may sleep; the subnet administrator's lock is held.
 * Return: the MAD's status
 */
u16 vrnic_sa_mcmember(struct ib_sa_mad *mad, struct vrnic_dev *from)
{
	struct mcmember_record *rec = (struct mcmember_record *)mad->data;
	struct group *g;

	switch (mad->mad_hdr.method) {
	case IB_MGMT_METHOD_GET:
		g = find_group(&rec->mgid);
		if (!g)
			g = broadcast(rec, from);
		if (!g)
			return SA_STATUS_NO_RECORDS;
		*rec = g->rec;
		return SA_STATUS_OK;
	case IB_MGMT_METHOD_SET:
		if (!vrnic_has_gid(from, &rec->port_gid))
			return SA_STATUS_INVALID_GID;
		return join(rec, mad->sa_hdr.comp_mask, from);
	case IB_SA_METHOD_DELETE:
		return leave(rec);
	default:
		return SA_STATUS_UNSUPPORTED;
	}
}

/**
 * vrnic_sa_drop_groups() - drop all groups
 *
 * Context: there are no more requests.
 */
void vrnic_sa_drop_groups(void)
{
	struct group *g, *next;

	list_for_each_entry_safe(g, next, &groups, entry)
		drop_group(g);
}
