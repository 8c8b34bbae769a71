// SPDX-License-Identifier: GPL-2.0
/*
 * Limits for hosts that have not authenticated.
 *
 * A connection costs memory, a queue pair and places in completion queues from the connection
 * request on. NVMe learns the name of the host, and authenticates it, only in Connect. So
 * connections are counted by their source: over RoCE the MAC address, or the GID of a host
 * behind a router, over InfiniBand the GID, over iWARP the IP address (peer.c). Where there is
 * a GID, the IP address of rdma_cm is a claim of the host, and is used in messages only.
 *
 *	host_queues	all connections of one address
 *	host_pending	those of one address without Connect
 *	max_pending	those of all addresses
 *	host_unproved	those of one address with Connect, and without a proof
 *	max_unproved	those of all addresses
 *
 * The memory of the latter four, responses and receives, is limited in bytes:
 *
 *	host_pending_mb	of one address
 *	max_pending_mb	of all addresses
 *
 * Shared receives count as if they were the connection's own, because an SRQ may grow by as many
 * for it, and keeps them for later connections. So all that SRQs grow by for
 * unauthenticated hosts is within these limits. They do not count for an address that has an
 * authenticated connection: a host with many I/O queues connects all of them at once.
 *
 * An address that has some already may take a quarter of what is left of a limit for all
 * addresses. If it is alone, that is a fifth of the limit. So an address that takes all it
 * can leaves four fifths to others, and it takes dozens of addresses, not a few, to keep out
 * the next one.
 *
 * Commands of unauthenticated hosts have data, too: those of admin queues, because the
 * discovery controller accepts every host, and on I/O queues Connect and authentication
 * messages. Their data in flight counts against the same two limits, separately from the
 * above. A command beyond a limit waits until others have completed. One that exceeds a limit
 * alone fails.
 *
 * A connection without Connect is closed after connect_tmo (queue.c). A request beyond a limit
 * is rejected for lack of resources, and the host retries later. Every limit may be reached by
 * hosts that do nothing wrong, when all of them reconnect at once. What one connection may
 * have is bounded by cm_req.c and sgl.c, its share of an SRQ by srq.c, and an SRQ by srq_size.
 *
 * Connect contains the name of a host that is allowed, but it does not authenticate the host.
 * The core tells a transport of Connect and not of the authentication, but until that it
 * accepts only fabrics commands. So the proof is the first other command that the core accepts
 * (io.c). Of a host that need not be authenticated, that is the Identify after Connect. An I/O
 * queue may be idle for as long as its host likes. It needs no command of its own if the admin
 * queue of its controller has the proof, and has the same address.
 *
 * The discovery controller accepts every host, so nothing is a proof there. The core has one
 * range of 65,519 controller IDs for the controllers of all subsystems. A host that had all of
 * them, by discovery or by Connect without authentication, would keep out all others.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "limits.h"
#include "params.h"
#include "peer.h"

/*
 * Part of all memory, where the administrator says nothing: a host's is the fifth of all
 * that one address can have.
 */
#define HOST_PENDING_PART	20
#define MAX_PENDING_PART	4

/**
 * struct nvmet_rdma_peer - a host, as long as it has connections
 * @entry: in the table of hosts
 * @key: what its connections are known by
 * @queues: its connections
 * @pending: those of them that no Connect has come by
 * @unproved: those that Connect has come by, and no proof
 * @bytes: memory of both
 * @data: bytes that commands of its admin queues have under way
 */
struct nvmet_rdma_peer {
	struct hlist_node	entry;
	struct nvmet_rdma_peer_key key;
	unsigned int		queues;
	unsigned int		pending;
	unsigned int		unproved;
	u64			bytes;
	atomic64_t		data;
};

/*
 * Protects the table, all of its members but data, the standing and the charge of queues, and
 * the next; innermost. run_work takes it, and may be what frees memory.
 */
static DEFINE_MUTEX(peers_mutex);
static DEFINE_HASHTABLE(peers, 12);
static unsigned int all_pending;
static unsigned int all_unproved;
static u64 all_bytes;

/* Bytes of data in flight of all hosts' admin queues */
static atomic64_t all_data;

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

static struct nvmet_rdma_peer *peer_find(const struct nvmet_rdma_peer_key *key)
{
	u64 hash = nvmet_rdma_hash(key, sizeof(*key));
	struct nvmet_rdma_peer *peer;

	lockdep_assert_held(&peers_mutex);
	hash_for_each_possible(peers, peer, entry, hash) {
		if (!memcmp(&peer->key, key, sizeof(*key)))
			return peer;
	}
	peer = kzalloc(sizeof(*peer), GFP_NOIO);
	if (peer) {
		peer->key = *key;
		hash_add(peers, &peer->entry, hash);
	}
	return peer;
}

static void peer_forget(struct nvmet_rdma_peer *peer)
{
	lockdep_assert_held(&peers_mutex);
	if (peer->queues)
		return;
	hash_del(&peer->entry);
	kfree(peer);
}

/*
 * An address without any may have all that is left. Otherwise large queues could never be made
 * where the limit is low.
 */
static bool leaves_too_little(u64 has, u64 more, u64 taken, u64 limit)
{
	u64 left = limit - min(taken, limit);

	return more > left || (has && has + more > (left + 3) / 4);
}

/* Returns what is exceeded, for the log; NULL if nothing is */
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
	if (leaves_too_little(peer->pending, 1, all_pending, *limit))
		return "connections that wait for Connect (max_pending), or a quarter of the rest";
	return NULL;
}

/**
 * nvmet_rdma_limits_enter() - check and count a connection request
 * @id: the request's
 * @qid: the queue that it asks for, for the log
 * @why: what is exceeded, if that is an error
 *
 * Context: may sleep.
 * Return: the host, one connection more; an ERR_PTR() if that is too many, with
 * the reason in the log.
 */
struct nvmet_rdma_peer *
nvmet_rdma_limits_enter(const struct rdma_cm_id *id, u16 qid,
			enum nvmet_rdma_refusal *why)
{
	struct sockaddr_storage addr = nvmet_rdma_peer_addr(id);
	struct nvmet_rdma_peer_key key;
	struct nvmet_rdma_peer *peer;
	const char *exceeded;
	unsigned int limit;

	nvmet_rdma_peer_key(id, &key);
	mutex_lock(&peers_mutex);
	peer = peer_find(&key);
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

	pr_warn_ratelimited("host %pISpc at %pISc, queue %u: connection rejected: limit of %u %s reached; the host will retry\n",
			    &id->route.addr.dst_addr, &addr, qid, limit,
			    exceeded);
	return ERR_PTR(-EDQUOT);
}

static u64 bytes_limit(unsigned int mb, u32 part)
{
	return mb ? (u64)mb << 20 : ((u64)totalram_pages() << PAGE_SHIFT) / part;
}

/**
 * nvmet_rdma_limits_charge() - charge the memory of a pending connection
 * @queue: the connection; its peer is known
 * @bytes: how much
 *
 * Adds to queue->charge.
 *
 * Context: may sleep.
 * Return: 0; -EDQUOT if that is too much for the host and -EUSERS if for all,
 * with the reason in the log.
 */
int nvmet_rdma_limits_charge(struct nvmet_rdma_queue *queue, u64 bytes)
{
	u64 of_host = bytes_limit(nvmet_rdma_host_pending_mb,
				  HOST_PENDING_PART);
	u64 of_all = bytes_limit(nvmet_rdma_max_pending_mb, MAX_PENDING_PART);
	struct nvmet_rdma_peer *peer = queue->quota;
	const char *exceeded = NULL;
	u64 limit = of_host;
	int ret = 0;

	mutex_lock(&peers_mutex);
	if (bytes > of_host || peer->bytes > of_host - bytes) {
		exceeded = "a host (host_pending_mb)";
		ret = -EDQUOT;
	} else if (leaves_too_little(peer->bytes - queue->charge,
				     queue->charge + bytes,
				     all_bytes - queue->charge, of_all)) {
		/* in several steps as in one: a host without another connection may have all */
		exceeded = "all hosts (max_pending_mb), or a quarter of the rest";
		limit = of_all;
		ret = -EUSERS;
	} else {
		queue->charge += bytes;
		peer->bytes += bytes;
		all_bytes += bytes;
	}
	mutex_unlock(&peers_mutex);
	if (!ret)
		return 0;

	nvmet_rdma_queue_warn(queue,
			      "connection of %u commands rejected: %llu KiB exceeds the limit of %llu KiB for connections that wait for Connect or authentication, of %s; the host will retry\n",
			      queue->depth, (queue->charge + bytes) >> 10,
			      limit >> 10, exceeded);
	return ret;
}

/**
 * nvmet_rdma_limits_knows_host() - has a host an authenticated connection?
 * @peer: the host
 *
 * Context: may sleep. Return: what was true a moment ago.
 */
bool nvmet_rdma_limits_knows_host(const struct nvmet_rdma_peer *peer)
{
	bool has;

	mutex_lock(&peers_mutex);
	has = peer->queues > peer->pending + peer->unproved;
	mutex_unlock(&peers_mutex);
	return has;
}

static void uncharge(struct nvmet_rdma_peer *peer, u64 bytes)
{
	lockdep_assert_held(&peers_mutex);
	peer->bytes -= bytes;
	all_bytes -= bytes;
}

/**
 * nvmet_rdma_limits_uncharge() - undo nvmet_rdma_limits_charge()
 * @queue: the connection, which could not be made
 *
 * Context: may sleep.
 */
void nvmet_rdma_limits_uncharge(struct nvmet_rdma_queue *queue)
{
	mutex_lock(&peers_mutex);
	uncharge(queue->quota, queue->charge);
	mutex_unlock(&peers_mutex);
}

/**
 * nvmet_rdma_limits_take_data() - charge the data of a command
 * @queue: the queue: an admin queue, or one of an unauthenticated host
 * @bytes: how much
 *
 * Context: any.
 * Return: 0, and nvmet_rdma_limits_give_data() has to follow; -EAGAIN if it has to
 * wait for other commands; -EDQUOT if it exceeds a limit alone. The reason is in the log.
 */
int nvmet_rdma_limits_take_data(struct nvmet_rdma_queue *queue, u32 bytes)
{
	u64 of_host = bytes_limit(nvmet_rdma_host_pending_mb,
				  HOST_PENDING_PART);
	u64 of_all = bytes_limit(nvmet_rdma_max_pending_mb, MAX_PENDING_PART);
	u64 host = atomic64_add_return(bytes, &queue->quota->data);
	u64 all = atomic64_add_return(bytes, &all_data);
	bool never = bytes > min(of_host, of_all);

	if (likely(host <= of_host &&
		   !leaves_too_little(host - bytes, bytes, all - bytes, of_all)))
		return 0;
	nvmet_rdma_limits_give_data(queue, bytes);
	nvmet_rdma_queue_warn(queue,
			      "a command of %u bytes %s: limit of %llu KiB for the data of admin and authentication commands reached, of %s\n",
			      bytes, never ? "fails" : "waits",
			      (host > of_host ? of_host : of_all) >> 10,
			      host > of_host ? "a host (host_pending_mb)" :
					       "all hosts (max_pending_mb), or a quarter of the rest");
	return never ? -EDQUOT : -EAGAIN;
}

/**
 * nvmet_rdma_limits_give_data() - undo nvmet_rdma_limits_take_data()
 * @queue: the queue
 * @bytes: as before
 *
 * Context: any.
 */
void nvmet_rdma_limits_give_data(struct nvmet_rdma_queue *queue, u32 bytes)
{
	atomic64_sub(bytes, &queue->quota->data);
	atomic64_sub(bytes, &all_data);
}

/* As peer_exceeds(), for Connect without a proof */
static const char *unproved_exceeds(const struct nvmet_rdma_peer *peer,
				    unsigned int *limit,
				    enum nvmet_rdma_refusal *why)
{
	lockdep_assert_held(&peers_mutex);
	*limit = nvmet_rdma_host_unproved;
	*why = NVMET_RDMA_REFUSED_HOST_UNPROVED;
	if (peer->unproved >= *limit)
		return "unauthenticated and discovery connections of a host (host_unproved)";
	*limit = nvmet_rdma_max_unproved;
	*why = NVMET_RDMA_REFUSED_MAX_UNPROVED;
	if (!leaves_too_little(peer->unproved, 1, all_unproved, *limit))
		return NULL;
	return "unauthenticated and discovery connections (max_unproved), or a quarter of the rest";
}

/* Stops counting a connection by its standing */
static void leave_standing(struct nvmet_rdma_peer *peer,
			   enum nvmet_rdma_standing standing)
{
	lockdep_assert_held(&peers_mutex);
	switch (standing) {
	case NVMET_RDMA_PENDING:
		peer->pending--;
		all_pending--;
		break;
	case NVMET_RDMA_UNPROVED:
		peer->unproved--;
		all_unproved--;
		break;
	case NVMET_RDMA_PROVED:
		break;
	}
}

static void become_proved(struct nvmet_rdma_queue *queue)
{
	lockdep_assert_held(&peers_mutex);
	uncharge(queue->quota, queue->charge);
	queue->charge = 0;
	queue->standing = NVMET_RDMA_PROVED;
}

/**
 * nvmet_rdma_limits_connected() - check and count a connection at Connect
 * @queue: the connection
 * @proved: its controller's admin queue has a proof, which is good for this one
 * @why: what is exceeded, if that is an error
 *
 * Context: may sleep.
 * Return: 0; -EDQUOT if that is one too many without proof, with the reason in the log: it
 * stays one that waits for Connect then.
 */
int nvmet_rdma_limits_connected(struct nvmet_rdma_queue *queue, bool proved,
				enum nvmet_rdma_refusal *why)
{
	struct nvmet_rdma_peer *peer = queue->quota;
	const char *exceeded = NULL;
	unsigned int limit;

	mutex_lock(&peers_mutex);
	if (!proved)
		exceeded = unproved_exceeds(peer, &limit, why);
	if (!exceeded) {
		leave_standing(peer, queue->standing);
		if (proved) {
			become_proved(queue);
		} else {
			queue->standing = NVMET_RDMA_UNPROVED;
			peer->unproved++;
			all_unproved++;
		}
	}
	mutex_unlock(&peers_mutex);
	if (!exceeded)
		return 0;

	nvmet_rdma_queue_warn(queue,
			      "Connect rejected: limit of %u %s reached; the host may retry\n",
			      limit, exceeded);
	return -EDQUOT;
}

/**
 * nvmet_rdma_limits_authenticated() - count a connection as authenticated
 * @queue: the connection, which keeps its controller as long as this runs
 *
 * Context: may sleep.
 */
void nvmet_rdma_limits_authenticated(struct nvmet_rdma_queue *queue)
{
	if (queue->nvme_sq.ctrl->subsys->type != NVME_NQN_NVME)
		return;
	mutex_lock(&peers_mutex);
	if (queue->standing == NVMET_RDMA_UNPROVED) {
		leave_standing(queue->quota, queue->standing);
		become_proved(queue);
	}
	mutex_unlock(&peers_mutex);
}

/**
 * nvmet_rdma_limits_leave() - remove a connection
 * @peer: its host; the caller does not access it again
 * @standing: what it counts as
 * @charge: what it is charged with
 *
 * Context: may sleep.
 */
void nvmet_rdma_limits_leave(struct nvmet_rdma_peer *peer,
			     enum nvmet_rdma_standing standing, u64 charge)
{
	mutex_lock(&peers_mutex);
	peer->queues--;
	uncharge(peer, charge);
	leave_standing(peer, standing);
	peer_forget(peer);
	mutex_unlock(&peers_mutex);
}
