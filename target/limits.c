// SPDX-License-Identifier: GPL-2.0
/*
 * What a host may have, before anybody knows who it is.
 *
 * A connection costs memory, a queue pair and places in completion queues from
 * the connection request on, while NVMe learns the host's name, and
 * authenticates it, only in Connect. So connections are counted by the address
 * that they come from:
 *
 *	host_queues	all of one address
 *	host_pending	those of one address that no Connect has come by
 *	max_pending	those of all addresses
 *
 * and one that no Connect comes by within connect_tmo is closed (queue.c). A
 * request beyond a limit is refused for lack of resources, upon which a host
 * tries again later: every limit may be met by hosts that do nothing wrong, when
 * all of them come back at once. What one connection may have is bounded by
 * cm_req.c and sgl.c, and what it may hold of an SRQ by srq.c.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/slab.h>
#include <net/ipv6.h>

#include "nvmet_rdma.h"

/**
 * struct nvmet_rdma_peer - a host, as long as it has connections
 * @entry: in the list of hosts
 * @addr: its address
 * @queues: its connections
 * @pending: those of them that no Connect has come by
 */
struct nvmet_rdma_peer {
	struct list_head	entry;
	struct sockaddr_storage	addr;
	unsigned int		queues;
	unsigned int		pending;
};

/* Protects the list, all of its members, and the next; innermost */
static DEFINE_MUTEX(peers_mutex);
static LIST_HEAD(peers);
static unsigned int all_pending;

/**
 * nvmet_rdma_same_ip() - are two IP addresses the same?
 * @a: an address, with whatever port number
 * @b: another
 *
 * Context: any.
 */
bool nvmet_rdma_same_ip(const struct sockaddr_storage *a,
			const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in *b4 = (const struct sockaddr_in *)b;
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a;
	const struct sockaddr_in6 *b6 = (const struct sockaddr_in6 *)b;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr) &&
	       a6->sin6_scope_id == b6->sin6_scope_id;
}

static struct nvmet_rdma_peer *peer_find(const struct sockaddr_storage *addr)
{
	struct nvmet_rdma_peer *peer;

	lockdep_assert_held(&peers_mutex);
	list_for_each_entry(peer, &peers, entry) {
		if (nvmet_rdma_same_ip(&peer->addr, addr))
			return peer;
	}
	peer = kzalloc(sizeof(*peer), GFP_KERNEL);
	if (peer) {
		peer->addr = *addr;
		list_add_tail(&peer->entry, &peers);
	}
	return peer;
}

static void peer_forget(struct nvmet_rdma_peer *peer)
{
	lockdep_assert_held(&peers_mutex);
	if (peer->queues)
		return;
	list_del(&peer->entry);
	kfree(peer);
}

/* Returns what is exceeded, for the log, and how far it reaches; NULL if nothing */
static const char *peer_exceeds(const struct nvmet_rdma_peer *peer,
				unsigned int *limit,
				enum nvmet_rdma_refusal *why)
{
	lockdep_assert_held(&peers_mutex);
	*limit = nvmet_rdma_host_queues;
	*why = NVMET_RDMA_REFUSED_HOST_QUEUES;
	if (peer->queues >= *limit)
		return "connections of a host (host_queues)";
	*limit = nvmet_rdma_host_pending;
	*why = NVMET_RDMA_REFUSED_HOST_PENDING;
	if (peer->pending >= *limit)
		return "connections of a host that wait for Connect (host_pending)";
	*limit = nvmet_rdma_max_pending;
	*why = NVMET_RDMA_REFUSED_MAX_PENDING;
	if (all_pending >= *limit)
		return "connections that wait for Connect (max_pending)";
	return NULL;
}

/**
 * nvmet_rdma_limits_enter() - a connection request has come
 * @addr: the host's address
 * @qid: the queue that it asks for, for the log
 * @why: what is exceeded, if that is an error
 *
 * Context: may sleep.
 * Return: the host, one connection more; an ERR_PTR() if that is too many, with
 * the reason in the log.
 */
struct nvmet_rdma_peer *
nvmet_rdma_limits_enter(const struct sockaddr_storage *addr, u16 qid,
			enum nvmet_rdma_refusal *why)
{
	struct nvmet_rdma_peer *peer;
	const char *exceeded;
	unsigned int limit;

	mutex_lock(&peers_mutex);
	peer = peer_find(addr);
	if (!peer) {
		mutex_unlock(&peers_mutex);
		*why = NVMET_RDMA_REFUSED_NO_MEMORY;
		return ERR_PTR(-ENOMEM);
	}
	exceeded = peer_exceeds(peer, &limit, why);
	if (exceeded) {
		peer_forget(peer);
	} else {
		peer->queues++;
		peer->pending++;
		all_pending++;
	}
	mutex_unlock(&peers_mutex);
	if (!exceeded)
		return peer;

	pr_warn_ratelimited("host %pISpc, queue %u: refused its connection: %u is the limit of %s; it will try again\n",
			    addr, qid, limit, exceeded);
	return ERR_PTR(-EDQUOT);
}

/**
 * nvmet_rdma_limits_connected() - Connect has come by a connection
 * @peer: its host
 *
 * Context: may sleep.
 */
void nvmet_rdma_limits_connected(struct nvmet_rdma_peer *peer)
{
	mutex_lock(&peers_mutex);
	peer->pending--;
	all_pending--;
	mutex_unlock(&peers_mutex);
}

/**
 * nvmet_rdma_limits_leave() - a connection is gone
 * @peer: its host, not to be touched again
 * @connected: Connect has come by it
 *
 * Context: may sleep.
 */
void nvmet_rdma_limits_leave(struct nvmet_rdma_peer *peer, bool connected)
{
	mutex_lock(&peers_mutex);
	peer->queues--;
	if (!connected) {
		peer->pending--;
		all_pending--;
	}
	peer_forget(peer);
	mutex_unlock(&peers_mutex);
}
