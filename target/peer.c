// SPDX-License-Identifier: GPL-2.0
/*
 * The key that a connection is charged to (limits.c), and the hash of tables that
 * are keyed by a peer's words.
 *
 * Over RoCE the GID is a word of the connection request, and any machine can have as many as
 * it likes: IPv6 gives it 2^64. The MAC address is not a word of the request. The CM resolves
 * it for the address that the request came from, the connection sends to it, and a switch can
 * bind it to a port. So the MAC address is the key, and all GIDs of a machine are one host.
 *
 * A router's MAC address stands for all hosts behind it. There the GID is the key. This
 * machine's own routes tell a router: they lead to the GID by a gateway, and the gateway has
 * this MAC address. Both have to be true. A host on the link that writes the GID of a host
 * behind the router into its request has another MAC address, and is charged by that.
 *
 * Requests of this machine to itself come by its own MAC address. There the GID is the key,
 * too: that host is this machine's administrator, who may need several.
 *
 * Over InfiniBand the GID is the key, although the request says it there, too. The CM has a
 * LID, but behind a router that is the router's, and nothing tells that it is one. Over iWARP
 * the IP address of the TCP connection is the key.
 */
#include <linux/etherdevice.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_sa.h>

#include "peer.h"

/* Of this load of the module: nobody can say which keys share a bucket */
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
 * nvmet_rdma_hash() - the hash of a peer's words, for a table
 * @words: the words
 * @len: bytes
 *
 * Context: any.
 * Return: a number that a peer can neither know nor choose.
 */
u64 nvmet_rdma_hash(const void *words, size_t len)
{
	return siphash(words, len, &hash_key);
}

/**
 * nvmet_rdma_peer_addr() - the address that a connection request says
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

static void resolved(int status, struct sockaddr *from,
		     struct rdma_dev_addr *via, void *context)
{
}

/*
 * Is it by a gateway with this MAC address that this machine sends to the GID?
 *
 * rdma_resolve_ip() fills in what is known before it returns. The CM has just resolved the
 * MAC address of a gateway, so the neighbour table has it. What is not known then is not
 * waited for: the listener's handler mutex is held here, and works of other users of the CM
 * may hold up its workqueue. Such an address has no gateway, and @via no MAC address.
 */
static bool is_gateway(const struct rdma_cm_id *id, const u8 *mac)
{
	const struct sa_path_rec *path = id->route.path_rec;
	struct rdma_dev_addr via = {
		.net		= id->route.addr.dev_addr.net,
		.bound_dev_if	= id->route.addr.dev_addr.bound_dev_if,
	};
	struct sockaddr_storage from = {}, to = {};

	rdma_gid2ip((struct sockaddr *)&from, &path->sgid);
	rdma_gid2ip((struct sockaddr *)&to, &path->dgid);
	if (rdma_resolve_ip((struct sockaddr *)&from, (struct sockaddr *)&to,
			    &via, 1, resolved, false, NULL))
		return false;
	/* Nobody uses @via, nor runs resolved(), behind this */
	rdma_addr_cancel(&via);
	return via.network != RDMA_NETWORK_IB &&
	       ether_addr_equal(via.dst_dev_addr, mac);
}

/* Is a connection charged to a MAC address? Then that is written to @mac */
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
 * nvmet_rdma_peer_key() - whom is a connection charged to?
 * @id: the connection request's
 * @key: filled in, all of it: it may be hashed and compared as bytes
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
