// SPDX-License-Identifier: GPL-2.0
/*
 * The key by which connections of a host are counted (limits.c), and the hash of the tables
 * that are keyed by data of a peer.
 *
 * Over RoCE the GID is a field of the connection request, and with IPv6 a machine can use 2^64
 * of them. The MAC address is not a field of the request: the CM resolves it for the source
 * address of the request, the connection sends to it, and a switch can bind it to a port. So
 * the MAC address is the key, and all GIDs of a machine count as one host.
 *
 * All hosts behind a router have its MAC address. For them the GID is the key. A MAC address
 * is that of a router if this machine's route to the GID leads through a gateway, and the
 * gateway has this MAC address. A host on the link that states the GID of a host behind the
 * router has another MAC address, and is counted by that.
 *
 * Requests of this machine to itself have its own MAC address. There the GID is the key, too:
 * the administrator of this machine may need several hosts.
 *
 * Over InfiniBand the GID is the key, although the request states it as well. The CM knows a
 * LID, but for hosts behind a router that is the router's, and nothing identifies a router.
 * Over iWARP the IP address of the TCP connection is the key.
 */
#include <linux/etherdevice.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_sa.h>

#include "peer.h"
#include "wq.h"

/* Chosen when the module is loaded, so that a peer cannot choose keys that share a bucket */
static siphash_key_t hash_key;

/**
 * nvmet_rdma_hash_init() - choose the hash of this load of the module
 *
 * Context: process, before there is anything in a table.
 */
void nvmet_rdma_hash_init(void)
{
	get_random_bytes(&hash_key, sizeof(hash_key));
}

/**
 * nvmet_rdma_hash() - hash data of a peer, for a table
 * @words: the data
 * @len: bytes
 *
 * Context: any.
 * Return: the hash, which a peer can neither know nor choose.
 */
u64 nvmet_rdma_hash(const void *words, size_t len)
{
	return siphash(words, len, &hash_key);
}

/**
 * nvmet_rdma_peer_addr() - get the address that a connection request states
 * @id: the request's
 *
 * Context: any.
 * Return: over InfiniBand and RoCE the GID, over iWARP the IP address.
 */
struct sockaddr_storage nvmet_rdma_peer_addr(const struct rdma_cm_id *id)
{
	struct sockaddr_storage addr = id->route.addr.dst_addr;

	if (rdma_cap_ib_cm(id->device, id->port_num)) {
		memset(&addr, 0, sizeof(addr));
		rdma_gid2ip((struct sockaddr *)&addr, &id->route.path_rec->dgid);
	}
	return addr;
}

/**
 * struct route_query - a query of the route to a GID
 * @via: the route
 * @work: ends the query
 */
struct route_query {
	struct rdma_dev_addr	via;
	struct work_struct	work;
};

static void resolved(int status, struct sockaddr *from,
		     struct rdma_dev_addr *via, void *context)
{
}

static void end_query(struct work_struct *work)
{
	struct route_query *query = container_of(work, struct route_query, work);

	/* After this, nothing accesses @via or runs resolved() */
	rdma_addr_cancel(&query->via);
	kfree(query);
}

/*
 * Does this machine send to the GID through a gateway with this MAC address?
 *
 * The CM has just resolved the MAC address of a gateway, so the neighbour table has it, and
 * rdma_resolve_ip() fills it in before it returns. Nothing waits for an address that is not
 * known then. Such an address has no gateway. If the answer comes while @via is read here, that
 * may be half of it, which is no valid MAC address of a peer.
 *
 * The caller holds handler mutexes of the CM. Works that resolve addresses take such mutexes.
 * The end of the query waits for a work of their kind, so it has a work of its own.
 */
static bool is_gateway(const struct rdma_cm_id *id, const u8 *mac)
{
	const struct sa_path_rec *path = id->route.path_rec;
	struct sockaddr_storage from = {}, to = {};
	struct route_query *query;
	bool is;

	/* Without memory there is no connection either */
	query = kzalloc(sizeof(*query), GFP_KERNEL);
	if (!query)
		return false;
	INIT_WORK(&query->work, end_query);
	query->via.net = id->route.addr.dev_addr.net;
	query->via.bound_dev_if = id->route.addr.dev_addr.bound_dev_if;
	rdma_gid2ip((struct sockaddr *)&from, &path->sgid);
	rdma_gid2ip((struct sockaddr *)&to, &path->dgid);
	if (rdma_resolve_ip((struct sockaddr *)&from, (struct sockaddr *)&to,
			    &query->via, 1, resolved, false, NULL)) {
		kfree(query);
		return false;
	}
	is = query->via.network != RDMA_NETWORK_IB &&
	     ether_addr_equal(query->via.dst_dev_addr, mac);
	queue_work(nvmet_rdma_wq, &query->work);
	return is;
}

/* Is the MAC address the key of a connection? If so, writes it to @mac */
static bool mac_to_charge(const struct rdma_cm_id *id, u8 *mac)
{
	const u8 *dmac;

	if (!rdma_cap_ib_cm(id->device, id->port_num))
		return false;
	dmac = sa_path_get_dmac(id->route.path_rec);
	if (!dmac)
		return false;
	/* which stands at an odd address there */
	memcpy(mac, dmac, ETH_ALEN);
	return is_valid_ether_addr(mac) &&
	       !ether_addr_equal(mac, id->route.addr.dev_addr.src_dev_addr) &&
	       !is_gateway(id, mac);
}

/**
 * nvmet_rdma_peer_key() - get the key by which a connection is counted
 * @id: the connection request's
 * @key: written in full, so that it can be hashed and compared as bytes
 *
 * Context: may sleep.
 */
void nvmet_rdma_peer_key(const struct rdma_cm_id *id,
			 struct nvmet_rdma_peer_key *key)
{
	struct sockaddr_storage addr = nvmet_rdma_peer_addr(id);
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&addr;
	const struct sockaddr_in *in4 = (const struct sockaddr_in *)&addr;
	u8 mac[ETH_ALEN] __aligned(2);

	memset(key, 0, sizeof(*key));
	if (mac_to_charge(id, mac)) {
		memcpy(key->mac, mac, sizeof(key->mac));
	} else if (addr.ss_family == AF_INET) {
		ipv6_addr_set_v4mapped(in4->sin_addr.s_addr, &key->ip);
	} else {
		key->ip = in6->sin6_addr;
		key->scope = in6->sin6_scope_id;
	}
}
