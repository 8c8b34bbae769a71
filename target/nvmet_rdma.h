/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nvmet-rdma: what its files know of each other, grouped by file.
 *
 * The life of a command: recv.c -> sgl.c -> io.c -> xfer.c -> the core -> rsp.c
 * -> send.c.
 * The life of a connection: port.c -> listen.c -> cm.c -> cm_req.c -> queue.c ->
 * qp.c. What can be seen of both: observe.c, host.c, trace.h.
 */
#ifndef NVMET_RDMA_H
#define NVMET_RDMA_H

#include <linux/atomic.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/hashtable.h>
#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/nvme.h>
#include <linux/nvme-rdma.h>
#include <linux/scatterlist.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <rdma/rdma_cm.h>
#include <rdma/rw.h>

#include "core-abi/core.h"
#include "cm_req.h"
#include "cq.h"
#include "device.h"
#include "dma.h"
#include "observe.h"
#include "pages.h"
#include "sgl.h"
#include "state.h"

struct nvmet_rdma_queue;
struct nvmet_rdma_rsp;

/* Limits; each is checked where a peer or an administrator could exceed it */

/* The core has no more I/O queues than this (its NVMET_NR_QUEUES) */
#define NVMET_RDMA_MAX_QID		128
/* The core raises a smaller param_max_queue_size to this */
#define NVMET_RDMA_MIN_DEPTH		16
/* Without a word in configfs: twice what Linux hosts ask for by default */
#define NVMET_RDMA_DEFAULT_DEPTH	256
/*
 * Commands of an admin queue. Linux hosts ask for 32; those in user space that abort 64 or 128
 * commands at once, for some more than that. It takes no more than the I/O queue that the same
 * host could have asked for.
 */
#define NVMET_RDMA_ADMIN_DEPTH		256
/* In-capsule data of an I/O queue: what 4 KiB writes need, unless told */
#define NVMET_RDMA_DEFAULT_ICD		SZ_4K
#define NVMET_RDMA_MAX_ICD		SZ_64K
/* Connect sends 1 KiB, authentication up to 4 KiB; some peers in-capsule */
#define NVMET_RDMA_ADMIN_ICD		SZ_4K

/* port.c - what configfs says of a port */

/**
 * struct nvmet_rdma_port - an address that hosts connect to
 * @ref: held by configfs' port and by each queue
 * @nport: the core's port; valid while a queue of the port exists, because the
 *	   core waits for reap_work before it frees it
 * @family: AF_INET or AF_INET6
 * @addr: where to listen, as far as that is known
 * @portid: the number of the port in configfs, for the log
 * @icd: bytes of in-capsule data that I/O queues take
 * @depth: most commands that a host may have outstanding on an I/O queue
 * @pi_wanted: configfs asks for T10 protection information; whether it is there
 *	       is in @nport
 * @entry: in the list of ports, from start to stop of listening
 * @listen_lock: one makes a listener or destroys it at a time; never taken by
 *		 the handler, for which destroying waits
 * @listener: the CM's ID, NULL while there is none
 * @waits_for: why there is none, as an errno; 0 if there is one
 * @tries: tries to listen since something has changed
 * @listen_work: listens, again if need be
 * @reap_work: on the core's workqueue, waits for the queues of the port
 * @queues: number of queues
 * @gone: woken when @queues becomes 0
 * @file: in debugfs
 * @events: counts by enum nvmet_rdma_port_event
 * @refused: counts by enum nvmet_rdma_refusal
 */
struct nvmet_rdma_port {
	struct kref		ref;
	struct nvmet_port	*nport;
	__kernel_sa_family_t	family;
	struct sockaddr_storage	addr;
	u16			portid;
	u32			icd;
	u32			depth;
	bool			pi_wanted;
	struct list_head	entry;
	struct mutex		listen_lock; /* see above */
	struct rdma_cm_id	*listener;
	int			waits_for;
	unsigned int		tries;
	struct delayed_work	listen_work;
	struct work_struct	reap_work;
	atomic_t		queues;
	wait_queue_head_t	gone;
	struct dentry		*file;
	atomic64_t		events[NVMET_RDMA_NR_PORT_EVENTS];
	atomic64_t		refused[NVMET_RDMA_NR_REFUSALS];
};

/* Context: any. */
static inline void nvmet_rdma_port_event(struct nvmet_rdma_port *port,
					 enum nvmet_rdma_port_event event)
{
	atomic64_inc(&port->events[event]);
}

int nvmet_rdma_add_port(struct nvmet_port *nport);
void nvmet_rdma_remove_port(struct nvmet_port *nport);
void nvmet_rdma_disc_traddr(struct nvmet_req *req, struct nvmet_port *nport,
			    char *traddr);
void nvmet_rdma_port_add_queue(struct nvmet_rdma_port *port);
void nvmet_rdma_port_del_queue(struct nvmet_rdma_port *port);
int nvmet_rdma_port_resolve(const struct nvmet_rdma_port *port,
			    struct sockaddr_storage *addr);
bool nvmet_rdma_is_any_addr(const struct sockaddr_storage *addr);

/* listen.c - a port's listener, which comes and goes with its address */

int nvmet_rdma_listen_register(void);
void nvmet_rdma_listen_unregister(void);
void nvmet_rdma_listen_init(struct nvmet_rdma_port *port);
int nvmet_rdma_listen_start(struct nvmet_rdma_port *port);
void nvmet_rdma_listen_stop(struct nvmet_rdma_port *port);
void nvmet_rdma_listen_again(struct nvmet_rdma_port *port);
void nvmet_rdma_listen_lost(struct nvmet_rdma_port *port,
			    struct rdma_cm_id *id);
void nvmet_rdma_listen_wake(void);

/* limits.c - what a host may have */

/**
 * enum nvmet_rdma_standing - what is known of a connection's host
 * @NVMET_RDMA_PENDING: nothing, no Connect has come
 * @NVMET_RDMA_UNPROVED: what it says in Connect; discovery stays so
 * @NVMET_RDMA_PROVED: the core takes its commands
 */
enum nvmet_rdma_standing {
	NVMET_RDMA_PENDING,
	NVMET_RDMA_UNPROVED,
	NVMET_RDMA_PROVED,
};

struct nvmet_rdma_peer;

struct nvmet_rdma_peer *
nvmet_rdma_limits_enter(const struct rdma_cm_id *id, u16 qid,
			enum nvmet_rdma_refusal *why);
bool nvmet_rdma_limits_has_proof(const struct nvmet_rdma_peer *peer);
int nvmet_rdma_limits_charge(struct nvmet_rdma_queue *queue, u64 bytes);
void nvmet_rdma_limits_uncharge(struct nvmet_rdma_queue *queue);
int nvmet_rdma_limits_take_data(struct nvmet_rdma_queue *queue, u32 bytes);
void nvmet_rdma_limits_give_data(struct nvmet_rdma_queue *queue, u32 bytes);
int nvmet_rdma_limits_connected(struct nvmet_rdma_queue *queue, bool proved,
				enum nvmet_rdma_refusal *why);
void nvmet_rdma_limits_proved(struct nvmet_rdma_queue *queue);
void nvmet_rdma_limits_leave(struct nvmet_rdma_peer *peer,
			     enum nvmet_rdma_standing standing, u64 charge);
bool nvmet_rdma_same_ip(const struct sockaddr_storage *a,
			const struct sockaddr_storage *b);

/* peer.c - the key that a connection is charged to */

/**
 * struct nvmet_rdma_peer_key - whom a connection is charged to
 * @ip: the address, IPv4 as IPv6 has it; none if it is by the MAC address
 * @scope: the interface that @ip is of, if it needs one
 * @mac: the MAC address; none if it is by the address
 * @unused: 0, in place of what a compiler would leave undefined
 */
struct nvmet_rdma_peer_key {
	struct in6_addr	ip;
	u32		scope;
	u8		mac[ETH_ALEN];
	u8		unused[2];
};

void nvmet_rdma_hash_init(void);
u64 nvmet_rdma_hash(const void *words, size_t len);
struct sockaddr_storage nvmet_rdma_peer_addr(const struct rdma_cm_id *id);
void nvmet_rdma_peer_key(const struct rdma_cm_id *id,
			 struct nvmet_rdma_peer_key *key);

/* cm.c - the connection manager's events */

int nvmet_rdma_listen_event(struct rdma_cm_id *id,
			    struct rdma_cm_event *event);

/* recv.c, io.c, send.c, rsp.c - commands */

/*
 * Receives are posted so many at a time, as one chain. There are as many more
 * than commands, less one, so that those that wait for a chain to be full are
 * not missed.
 */
#define NVMET_RDMA_RECV_CHAIN		8

/**
 * struct nvmet_rdma_recv_chain - receives to be posted next
 * @lock: protects the members; taken in any context
 * @first: the first of them, linked by their work requests; NULL if there is none
 * @last: the last one
 * @nr: how many
 */
struct nvmet_rdma_recv_chain {
	spinlock_t		lock; /* see above */
	struct ib_recv_wr	*first;
	struct ib_recv_wr	*last;
	unsigned int		nr;
};

/**
 * struct nvmet_rdma_cmd - a receive: room for one capsule
 * @copied: not a receive, but a command that was moved out of one; see recv.c
 * @sync: its memory is to be synced
 * @cqe: completion of the receive
 * @sge: the command, and the in-capsule data behind it
 * @wr: the receive
 * @srq: the SRQ that it belongs to, NULL if it is a queue's own
 * @block: its block, if there is an @srq
 * @posted_in: the SRQ's epoch in which it was posted, 0 if it has completed since
 * @queue: the queue that the command came by
 * @capsule: the command, in the block's memory
 * @icd: in-capsule data, physically contiguous; NULL if there is no room
 * @sgl: where the command's data is
 * @number: of the command, by its arrival
 * @need: send work requests that the command takes
 * @delayed: it was counted as one that waits
 * @arrived_at: when the capsule was found, in ktime's nanoseconds
 * @next: the one that came next, in the queue's list of waiting commands
 * @entry: in the SRQ's list of spare receives, or its block's of those that are back
 *
 * Belongs to the HCA from ib_post_recv() to the completion, then to whoever
 * works on the command, until its response is about to be posted.
 */
struct nvmet_rdma_cmd {
	bool			copied;
	bool			sync;
	struct ib_cqe		cqe;
	struct ib_sge		sge[2];
	struct ib_recv_wr	wr;
	struct nvmet_rdma_srq	*srq;
	struct nvmet_rdma_recvs	*block;
	u32			posted_in;
	struct nvmet_rdma_queue	*queue;
	struct nvme_command	*capsule;
	void			*icd;
	struct nvmet_rdma_sgl	sgl;
	u32			number;
	u32			need;
	bool			delayed;
	u64			arrived_at;
	struct nvmet_rdma_cmd	*next;
	struct list_head	entry;
};

/**
 * struct nvmet_rdma_recvs - a block of receives
 * @entry: in an SRQ's list of blocks
 * @nr: receives
 * @room: bytes of in-capsule data of each
 * @cmds: receives
 * @capsules: their commands
 * @stays: never retires; see srq_shrink.c for this and the next
 * @retiring: its receives are not posted again; with the SRQ's lock held, as the next two
 * @nr_back: how many of them have come back
 * @back: those
 * @empty: all have, and have no in-capsule data any more
 */
struct nvmet_rdma_recvs {
	struct list_head	entry;
	u32			nr;
	u32			room;
	bool			stays;
	bool			retiring;
	bool			empty;
	u32			nr_back;
	struct list_head	back;
	struct nvmet_rdma_cmd	*cmds;
	struct nvme_rdma_pages	*capsules;
};

struct nvmet_rdma_recvs *nvmet_rdma_recvs_alloc(struct nvmet_rdma_device *dev,
						u32 nr, u32 room);
void nvmet_rdma_recvs_free(struct nvmet_rdma_device *dev,
			   struct nvmet_rdma_recvs *recvs);
void nvmet_rdma_recvs_empty(struct nvmet_rdma_device *dev,
			    struct nvmet_rdma_recvs *recvs);
int nvmet_rdma_recvs_fill(struct nvmet_rdma_device *dev,
			  struct nvmet_rdma_recvs *recvs);
void nvmet_rdma_recv_done(struct ib_cq *cq, struct ib_wc *wc);
void nvmet_rdma_recv_sync_for_device(struct ib_device *ib,
				     struct nvmet_rdma_cmd *cmd);

/**
 * nvmet_rdma_recv_chain_add() - a receive that may be posted
 * @chain: the chain
 * @cmd: the receive, synced for the device; NULL for what there is
 * @full: how many make the chain full
 *
 * Whoever gets a chain posts it before releasing the lock: receives that are not
 * posted are never more than a chain may hold, and there are that many to spare.
 * Only now may they complete: until then a completion is one too many.
 *
 * Context: any; @chain's lock is held. Return: a full chain, or NULL.
 */
static inline struct ib_recv_wr *
nvmet_rdma_recv_chain_add(struct nvmet_rdma_recv_chain *chain,
			  struct nvmet_rdma_cmd *cmd, unsigned int full)
{
	struct ib_recv_wr *first, *wr;

	lockdep_assert_held(&chain->lock);
	if (cmd) {
		cmd->wr.next = NULL;
		if (chain->first)
			chain->last->next = &cmd->wr;
		else
			chain->first = &cmd->wr;
		chain->last = &cmd->wr;
		chain->nr++;
	}
	if (chain->nr < full)
		return NULL;
	first = chain->first;
	chain->first = NULL;
	chain->nr = 0;
	for (wr = first; wr; wr = wr->next)
		wr->wr_cqe->done = nvmet_rdma_recv_done;
	return first;
}

u32 nvmet_rdma_recv_nr(const struct nvmet_rdma_queue *queue);
int nvmet_rdma_recv_post_all(struct nvmet_rdma_queue *queue);
void nvmet_rdma_recv_repost(struct nvmet_rdma_cmd *cmd);
struct nvmet_rdma_cmd *nvmet_rdma_recv_copy(const struct nvmet_rdma_cmd *cmd,
					    gfp_t gfp);
struct nvmet_rdma_cmd *nvmet_rdma_recv_vacate(struct nvmet_rdma_cmd *cmd,
					      gfp_t gfp);

/* srq.c - receives that queues share */

/* 64 vectors have those of some thousand hosts: each SRQ has a few hundred of them */
#define NVMET_RDMA_SRQ_SHARES_BITS	10

/**
 * struct nvmet_rdma_srq_share - what a host's queues have of an SRQ
 * @entry: in the SRQ's table
 * @peer: the host
 * @depth: commands that it may have outstanding on them
 */
struct nvmet_rdma_srq_share {
	struct hlist_node	entry;
	struct nvmet_rdma_peer	*peer;
	u32			depth;
};

/**
 * struct nvmet_rdma_srq - a shared receive queue
 * @entry: in the device's table
 * @dev: the device, which its queues hold references of
 * @ib: the verbs' part
 * @vector: completion vector of its QPs
 * @room: bytes of in-capsule data of a receive
 * @nr: receives that there are, without lost and retiring ones
 * @replaced: more of them, in place of lost ones
 * @worn: more were lost than may be replaced: no queue joins any more
 * @wanted: commands that hosts may have outstanding on its queues
 * @queues: its queues
 * @shares: what each host has of it, by the host
 * @blocks: its receives
 * @cqs: the completion queues of its QPs
 * @epoch: counts how often a low-water mark was set; never 0
 * @mark: the last one
 * @reached: the HCA said that fewer receives than that are left
 * @low: so did it, and hosts may send more commands: move them out of theirs
 * @relieved: those that were waiting have been
 * @broken: the HCA said that it, or one of @cqs, does not work any more
 * @chain: receives to be posted next
 * @lock: protects @spare and @closing; taken in any context
 * @spare: receives that the HCA did not take
 * @closing: do not queue @work and @shrink_work
 * @work: what @reached, @broken and @spare ask for
 * @shrink_at: when receives may retire, in jiffies
 * @shrink_work: has them do so, and frees their memory
 */
struct nvmet_rdma_srq {
	struct hlist_node		entry;
	struct nvmet_rdma_device	*dev;
	struct ib_srq			*ib;
	u32				vector;
	u32				room;
	u32				nr;
	u32				replaced;
	bool				worn;
	u32				wanted;
	struct list_head		queues;
	DECLARE_HASHTABLE(shares, NVMET_RDMA_SRQ_SHARES_BITS);
	struct list_head		blocks;
	struct list_head		cqs;
	u32				epoch;
	u32				mark;
	bool				reached;
	bool				low;
	bool				relieved;
	bool				broken;
	struct nvmet_rdma_recv_chain	chain;
	spinlock_t			lock; /* see above */
	struct list_head		spare;
	bool				closing;
	struct delayed_work		work;
	unsigned long			shrink_at;
	struct delayed_work		shrink_work;
};

/* When the HCA says that few are left, and when it took none: look again after */
#define NVMET_RDMA_SRQ_LOW_SECS		1
/* Part of the receives by which lost ones may be replaced */
#define NVMET_RDMA_SRQ_REPLACEABLE	4

u32 nvmet_rdma_srq_size_limit(const struct ib_device *ib);
void nvmet_rdma_srq_join(struct nvmet_rdma_queue *queue);
void nvmet_rdma_srq_leave(struct nvmet_rdma_queue *queue);
struct nvme_rdma_cq *nvmet_rdma_srq_get_cq(struct nvmet_rdma_srq *srq,
					   u32 sends);
void nvmet_rdma_srq_put_cq(struct nvme_rdma_cq *of, u32 sends);
int nvmet_rdma_srq_post(struct nvmet_rdma_srq *srq,
			struct nvmet_rdma_cmd *cmd);
void nvmet_rdma_srq_post_chain(struct nvmet_rdma_srq *srq);
int nvmet_rdma_srq_add(struct nvmet_rdma_srq *srq, u32 nr, bool stays);

/* srq_shrink.c - when shared receives are too many */

bool nvmet_rdma_srq_take_back(struct nvmet_rdma_srq *srq,
			      struct nvmet_rdma_cmd *cmd);
int nvmet_rdma_srq_recall(struct nvmet_rdma_srq *srq, u32 nr);
void nvmet_rdma_srq_shrink_later(struct nvmet_rdma_srq *srq);
void nvmet_rdma_srq_shrink_work(struct work_struct *work);

/* srq_low.c - when shared receives run low */

void nvmet_rdma_srq_arm(struct nvmet_rdma_srq *srq);
void nvmet_rdma_srq_work(struct work_struct *work);
void nvmet_rdma_srq_failed(struct nvmet_rdma_srq *srq, const char *what);
void nvmet_rdma_srq_event(struct ib_event *event, void *context);

/* xfer.c - data between the host's memory and buffers here */

/**
 * enum nvmet_rdma_xfer_how - what a command has for its keyed data
 * @NVMET_RDMA_XFER_NONE: nothing
 * @NVMET_RDMA_XFER_CHUNKS: chunks of the device's cache
 * @NVMET_RDMA_XFER_RW: the core's pages, mapped by rdma_rw
 * @NVMET_RDMA_XFER_PI: the core's pages and metadata, mapped by rdma_rw; see pi.c
 * @NVMET_RDMA_XFER_UNMAPPED: the core's pages, after rdma_rw is done with them
 */
enum nvmet_rdma_xfer_how {
	NVMET_RDMA_XFER_NONE,
	NVMET_RDMA_XFER_CHUNKS,
	NVMET_RDMA_XFER_RW,
	NVMET_RDMA_XFER_PI,
	NVMET_RDMA_XFER_UNMAPPED,
};

/* Chunks of a work request: a transfer of the largest size has as many, if they are large */
#define NVMET_RDMA_PART_CHUNKS	(NVMET_RDMA_MAX_LEN / NVMET_RDMA_CHUNK_MAX)

/**
 * struct nvmet_rdma_xfer_part - what one work request moves of a transfer of several chunks
 * @next: the next part, or NULL
 * @nr: chunks
 * @wr: RDMA READ or WRITE
 * @sge: the chunks, for the HCA
 * @chunk: the chunks
 * @sg: the chunks, for the core, and behind them a link to those of the next part
 */
struct nvmet_rdma_xfer_part {
	struct nvmet_rdma_xfer_part	*next;
	u32				nr;
	struct ib_rdma_wr		wr;
	struct ib_sge			sge[NVMET_RDMA_PART_CHUNKS];
	struct nvmet_rdma_chunk		*chunk[NVMET_RDMA_PART_CHUNKS];
	struct scatterlist		sg[NVMET_RDMA_PART_CHUNKS + 1];
};

/**
 * struct nvmet_rdma_xfer - a transfer of keyed data
 * @how: what moves it
 * @cores: the memory is the core's, not chunks
 * @charged: bytes that count against the limits of limits.c, or 0
 * @parts: the chunks, if there are several; NULL if there is one
 * @nr_parts: work requests that chunks take
 * @chunk: the memory, if that is a single chunk, which is the usual case
 * @sg: the same, for the core
 * @sge: the same, for the HCA, with %NVMET_RDMA_XFER_CHUNKS
 * @wr: RDMA READ or WRITE of it
 * @rw: the transfer of rdma_rw, with %NVMET_RDMA_XFER_RW or %NVMET_RDMA_XFER_PI
 */
struct nvmet_rdma_xfer {
	enum nvmet_rdma_xfer_how	how;
	bool				cores;
	u32				charged;
	struct nvmet_rdma_xfer_part	*parts;
	u32				nr_parts;
	struct nvmet_rdma_chunk		*chunk;
	struct scatterlist		sg;
	union {
		struct {
			struct ib_sge		sge;
			struct ib_rdma_wr	wr;
		};
		struct rdma_rw_ctx		rw;
	};
};

/**
 * struct nvmet_rdma_rsp - a command at work, and its response
 * @req: the core's request
 * @queue: the queue
 * @cmd: the command's receive; NULL once it is posted again
 * @reading: RDMA READs are under way, or have ended and the command waits to be
 *	     executed: the core's reference is theirs
 * @capsule: the command, if it was moved out of its receive: the core may look at it
 *	     after it has responded (a passthru admin command's effects)
 * @cqe: the completion entry, in its block
 * @sgl: where the data is; a copy, as the receive goes back before the end
 * @capsule_sg: in-capsule data, for the core
 * @xfer: the transfer of keyed data
 * @pi_slba: the first block of a command with protection information
 * @pi_interval: bytes from one block's such information to the next
 * @read_cqe: completion of the last RDMA READ
 * @write_cqe: completion of the RDMA WRITE, where the response waits for it
 * @data_cqe: completion of the other reads and of the writes, which is only
 *	      there when they fail
 * @send_cqe: completion of the response, which ends it all
 * @send_sge: the completion entry, for the HCA
 * @send_wr: the response
 * @first: the first of a chain of work requests to be posted; see send.c
 * @last: the last one
 * @sent: number of the last response that was posted before it, or with it
 * @credit: send work requests reserved
 * @arrived_at: when the command came
 * @ns: what passed from then until the response was posted
 * @next: in one of the queue's lists: of free responses, of commands to be
 *	  executed, of responses that were posted
 */
struct nvmet_rdma_rsp {
	struct nvmet_req	req;
	struct nvmet_rdma_queue	*queue;
	struct nvmet_rdma_cmd	*cmd;
	bool			reading;
	struct nvme_command	capsule;
	struct nvme_completion	*cqe;
	struct nvmet_rdma_sgl	sgl;
	struct scatterlist	capsule_sg;
	struct nvmet_rdma_xfer	xfer;
	u64			pi_slba;
	u32			pi_interval;
	struct ib_cqe		read_cqe;
	struct ib_cqe		write_cqe;
	struct ib_cqe		data_cqe;
	struct ib_cqe		send_cqe;
	struct ib_sge		send_sge;
	struct ib_send_wr	send_wr;
	struct ib_send_wr	*first;
	struct ib_send_wr	*last;
	u64			sent;
	u32			credit;
	u64			arrived_at;
	u64			ns;
	struct nvmet_rdma_rsp	*next;
};

/* Responses that are allocated at once: 16 KiB */
#define NVMET_RDMA_RSP_BLOCK		16

/**
 * struct nvmet_rdma_rsp_block - responses of a queue
 * @next: another block of the queue
 * @nr: responses in it
 * @cqes_dma: the device's address of @cqes, which are mapped unless the QP copies
 *	      them
 * @cqes: their completion entries
 * @rsps: the responses
 */
struct nvmet_rdma_rsp_block {
	struct nvmet_rdma_rsp_block	*next;
	u32				nr;
	u64				cqes_dma;
	struct nvme_completion		cqes[NVMET_RDMA_RSP_BLOCK]
						____cacheline_aligned;
	struct nvmet_rdma_rsp		rsps[];
};

/* The first in, the first out; @last counts if there is a @first */
struct nvmet_rdma_rsps {
	struct nvmet_rdma_rsp	*first;
	struct nvmet_rdma_rsp	*last;
};

/* Context: with whatever protects the list. */
static inline void nvmet_rdma_rsps_add(struct nvmet_rdma_rsps *rsps,
				       struct nvmet_rdma_rsp *rsp)
{
	rsp->next = NULL;
	if (rsps->first)
		rsps->last->next = rsp;
	else
		rsps->first = rsp;
	rsps->last = rsp;
}

/* Chains that are posted together, and commands started at once, at most */
#define NVMET_RDMA_BATCH		16

/* Jiffies after which a command is tried again that finds no memory, the first time */
#define NVMET_RDMA_LEAST_RETRY		1

/* Send work requests of a response itself */
#define NVMET_RDMA_RSP_WRS		1

enum dma_data_direction nvmet_rdma_xfer_dir(const struct nvmet_rdma_rsp *rsp);
u32 nvmet_rdma_xfer_max_mrs(const struct nvmet_rdma_queue *queue);
u32 nvmet_rdma_xfer_nr_wrs(const struct nvmet_rdma_queue *queue, u32 len,
			   bool to_target);
u32 nvmet_rdma_xfer_expect_wrs(const struct nvmet_rdma_queue *queue, u32 len,
			       bool to_target);
u32 nvmet_rdma_xfer_most_wrs(const struct nvmet_rdma_queue *queue);
int nvmet_rdma_xfer_alloc_list(struct nvmet_rdma_rsp *rsp);
int nvmet_rdma_xfer_init(struct nvmet_rdma_rsp *rsp);
struct ib_send_wr *nvmet_rdma_xfer_wrs(struct nvmet_rdma_rsp *rsp,
				       struct ib_send_wr *then);
void nvmet_rdma_xfer_send(struct nvmet_rdma_rsp *rsp);
void nvmet_rdma_xfer_sync_for_cpu(struct nvmet_rdma_rsp *rsp);
void nvmet_rdma_xfer_unmap(struct nvmet_rdma_rsp *rsp);
void nvmet_rdma_xfer_destroy(struct nvmet_rdma_rsp *rsp);

void nvmet_rdma_io_arrived(struct nvmet_rdma_cmd *cmd);
void nvmet_rdma_io_vacate_waiting(struct nvmet_rdma_queue *queue);
void nvmet_rdma_io_work(struct work_struct *work);
void nvmet_rdma_io_retry_work(struct work_struct *work);
bool nvmet_rdma_io_take_credit(struct nvmet_rdma_rsp *rsp, u32 more);
void nvmet_rdma_io_forget_read(struct nvmet_rdma_rsp *rsp);
void nvmet_rdma_io_read_done(struct ib_cq *cq, struct ib_wc *wc);

void nvmet_rdma_send(struct nvmet_rdma_rsp *rsp, struct ib_send_wr *first,
		     struct ib_send_wr *last);
void nvmet_rdma_send_batch_begin(struct nvmet_rdma_queue *queue,
				 struct blk_plug *plug);
void nvmet_rdma_send_batch_end(struct nvmet_rdma_queue *queue,
			       struct blk_plug *plug);
void nvmet_rdma_retire(struct nvmet_rdma_queue *queue, u64 sent, bool good,
		       bool signaled);
void nvmet_rdma_sweep(struct nvmet_rdma_queue *queue);
void nvmet_rdma_send_init(struct nvmet_rdma_queue *queue);

int nvmet_rdma_rsp_grow(struct nvmet_rdma_queue *queue);
void nvmet_rdma_rsp_shrink(struct nvmet_rdma_queue *queue);
void nvmet_rdma_rsp_unmap(struct nvmet_rdma_queue *queue);
void nvmet_rdma_rsp_free(struct nvmet_rdma_queue *queue);
void nvmet_rdma_rsp_done(struct nvmet_rdma_rsp *rsp, bool good);
void nvmet_rdma_queue_response(struct nvmet_req *req);
void nvmet_rdma_send_done(struct ib_cq *cq, struct ib_wc *wc);
void nvmet_rdma_rsp_send(struct nvmet_rdma_rsp *rsp, struct ib_send_wr *first);

/* pi.c - T10 protection information */

/* What a registration with a signature holds, whatever the device */
#define NVMET_RDMA_PI_MDTS		5
#define NVMET_RDMA_PI_MAX_DATA		(SZ_4K << NVMET_RDMA_PI_MDTS)
/* And its metadata: 8 bytes for each block, the least of which has 512 */
#define NVMET_RDMA_PI_MAX_LEN		\
	(NVMET_RDMA_PI_MAX_DATA + NVMET_RDMA_PI_MAX_DATA / 512 * 8)
/* Send work requests of such a transfer: invalidate, register, move */
#define NVMET_RDMA_PI_WRS		3

bool nvmet_rdma_pi_capable(const struct ib_device *ib);
void nvmet_rdma_pi_enable_port(struct nvmet_rdma_port *port,
			       const struct ib_device *ib);
bool nvmet_rdma_pi_allows(const struct nvmet_req *req, u16 *error_loc);
size_t nvmet_rdma_pi_len_on_wire(const struct nvmet_req *req, size_t len);
int nvmet_rdma_pi_init(struct nvmet_rdma_rsp *rsp);
u16 nvmet_rdma_pi_check(struct nvmet_rdma_rsp *rsp);
void nvmet_rdma_pi_write_done(struct ib_cq *cq, struct ib_wc *wc);
void nvmet_rdma_pi_destroy(struct nvmet_rdma_rsp *rsp);

/* drain.c - the end of what was posted */

/**
 * struct nvmet_rdma_marker - a work request that is waited for
 * @cqe: its completion
 * @done: it has completed
 */
struct nvmet_rdma_marker {
	struct ib_cqe		cqe;
	struct completion	done;
};

/**
 * struct nvmet_rdma_drain - the drain of a queue's QP
 * @send: behind all of the send queue
 * @recv: behind all of the QP's own receive queue
 * @last_wqe: the QP has taken its last shared receive
 * @forced: the HCA did not answer; see nvmet_rdma_too_late()
 */
struct nvmet_rdma_drain {
	struct nvmet_rdma_marker	send;
	struct nvmet_rdma_marker	recv;
	struct completion		last_wqe;
	bool				forced;
};

void nvmet_rdma_drain_init(struct nvmet_rdma_queue *queue);
void nvmet_rdma_drain(struct nvmet_rdma_queue *queue);
void nvmet_rdma_drain_last_wqe(struct nvmet_rdma_queue *queue);
void nvmet_rdma_drain_receives(struct nvmet_rdma_queue *queue);

/* queue.c - a connection */

/**
 * struct nvmet_rdma_queue - a connection, which is an NVMe queue pair
 * @nvme_sq: the core's submission queue
 * @nvme_cq: the core's completion queue
 * @cm_id: the CM's ID; its context is this queue
 * @qp: the queue pair
 * @cq: completions of all that is posted, shared with other queues
 * @nr_cqe: completions that the queue may have outstanding
 * @dev: the device
 * @port: the port that the host connected to
 * @peer: the host's address
 * @peer_host: what the host has, see limits.c
 * @connected: Connect has come by the queue
 * @proved: so has a command that the core takes of an authenticated host only
 * @number: of the connection, to tell it from all others
 * @standing: what limits.c counts it as
 * @charge: bytes that it counts with against limits until it is proved
 * @qid: the queue ID that the connection request named
 * @depth: commands that the host may have outstanding
 * @vector: completion vector
 * @limits: what the parser of capsules has to know
 * @max_read_sge: scatter elements of an RDMA READ
 * @max_write_sge: gather elements of an RDMA WRITE
 * @nr_credits: send work requests that may be outstanding
 * @use_rw: every transfer goes through rdma_rw
 * @pi: commands may have protection information
 * @p2p: the device reaches memory of other PCI devices
 * @inline_rsp: the QP copies a completion entry when it is posted
 * @srq: where its receives come from; NULL if they are its own
 * @srq_entry: in the SRQ's list of queues
 * @srq_share: what its host has there
 * @recvs: receives of its own, if there is no @srq
 * @nr_rsps: responses that it may have
 * @outstanding: commands that have come and not been answered; see io.c
 * @recv_chain: receives of its own to be posted next
 * @lock: protects the members from @state to @published; taken in any context
 * @state: see state.c; moved by nvmet_rdma_queue_move()
 * @waiting: commands that have come and not been started: for @io_work, for the
 *	     queue to be live, for a response, for send credit or memory; the oldest
 *	     first, and nobody overtakes but as io.c says
 * @waiting_end: where the next one is linked
 * @nr_waiting: their number
 * @arrivals: commands that have come, to tell which one came first
 * @stuck: the oldest of them waits for a response, credit or memory; read by send.c, and
 *	   when a command comes
 * @ready: commands whose data was read
 * @blocks: its responses
 * @has_rsps: their number
 * @free_rsps: responses that nobody uses
 * @credits: send work requests that nobody has reserved
 * @piece: bytes of the smallest chunk that the last transfer of several had, while memory
 *	   is short; of @io_work alone
 * @published: others may find the queue, and release_work may end it
 * @failed: the host or the fabric broke the rules: end the controller, too; set by
 *	    whoever sees it, without the lock
 * @io_work: starts and executes commands
 * @retry_work: queues it again if the oldest command waits for memory
 * @retry_delay: of that, in jiffies; of @io_work alone
 * @batcher: the task that does, while it collects @batch; others only compare it
 * @batch: chains that are posted together; of @batcher alone
 * @nr_batch: their number
 * @plug: has @batch posted before @batcher sleeps
 * @sq_lock: orders posts to the send queue; protects the members from @sent to
 *	     @post_counts; taken in any context, innermost
 * @sent: number of the last response that was posted
 * @unretired: responses that were posted and of whose end nothing is known yet,
 *	       in the order of the send queue
 * @lingering: how many of them have been posted since the last signaled one
 * @lingering_bytes: of their buffers
 * @signaled: signaled work requests that have not completed
 * @progress: when one did last, or the first was posted, in jiffies
 * @sweep_cqe: completion of an empty RDMA WRITE, of which one is under way at
 *	       most
 * @sweep_sent: what @sent was when it was posted
 * @post_counts: counts of posts, by enum nvmet_rdma_count from %NVMET_RDMA_N_POSTS on
 * @looked_at: what @sent was when stall.c last looked
 * @judge_work: ends it if its host takes nothing, see stall.c
 * @release_work: takes the queue down
 * @deadline: ends a queue that no Connect comes by
 * @drain: of the QP, when the queue ends
 * @entry: in the list of queues
 * @visited: number of the last visit that has come to it
 * @ctrl: the core's controller that it belongs to, from Connect on
 * @ctrl_entry: in the table of queues by controller
 * @file: in debugfs
 * @host: the host by its NQN, from Connect on; see host.c
 * @host_entry: in the host's list of queues
 * @cntlid: its controller, if there is a @host
 * @subsysnqn: the subsystem of that, NULL if there was no memory
 * @events: counts by enum nvmet_rdma_event
 * @counts: counts of what every command does, see observe.h
 */
struct nvmet_rdma_queue {
	struct nvmet_sq			nvme_sq;
	struct nvmet_cq			nvme_cq;
	struct rdma_cm_id		*cm_id;
	struct ib_qp			*qp;
	struct nvme_rdma_cq		*cq;
	u32				nr_cqe;
	struct nvmet_rdma_device	*dev;
	struct nvmet_rdma_port		*port;
	struct sockaddr_storage		peer;
	struct nvmet_rdma_peer		*peer_host;
	bool				connected;
	bool				proved;
	u32				number;
	enum nvmet_rdma_standing	standing;
	u64				charge;
	u16				qid;
	u32				depth;
	u32				vector;
	struct nvmet_rdma_sgl_limits	limits;
	u32				max_read_sge;
	u32				max_write_sge;
	u32				nr_credits;
	bool				use_rw;
	bool				pi;
	bool				p2p;
	bool				inline_rsp;

	struct nvmet_rdma_srq		*srq;
	struct list_head		srq_entry;
	struct nvmet_rdma_srq_share	*srq_share;
	struct nvmet_rdma_recvs		*recvs;
	u32				nr_rsps;

	/* Written for each command, on the CPUs of completions and of disks */
	atomic_t			outstanding ____cacheline_aligned_in_smp;
	struct nvmet_rdma_recv_chain	recv_chain;

	spinlock_t			lock ____cacheline_aligned_in_smp; /* see above */
	enum nvmet_rdma_queue_state	state;
	struct nvmet_rdma_cmd		*waiting;
	struct nvmet_rdma_cmd		**waiting_end;
	u32				nr_waiting;
	u32				arrivals;
	bool				stuck;
	struct nvmet_rdma_rsps		ready;
	struct nvmet_rdma_rsp_block	*blocks;
	u32				has_rsps;
	struct nvmet_rdma_rsp		*free_rsps;
	u32				credits;
	u32				piece;
	bool				published;
	bool				failed;

	struct work_struct		io_work;
	struct delayed_work		retry_work;
	unsigned long			retry_delay;
	struct task_struct		*batcher;
	struct nvmet_rdma_rsp		*batch[NVMET_RDMA_BATCH];
	u32				nr_batch;
	struct blk_plug_cb		plug;

	spinlock_t			sq_lock ____cacheline_aligned_in_smp; /* see above */
	u64				sent;
	struct nvmet_rdma_rsps		unretired;
	u32				lingering;
	u32				lingering_bytes;
	u32				signaled;
	unsigned long			progress;
	struct ib_cqe			sweep_cqe;
	u64				sweep_sent;
	u64				post_counts[NVMET_RDMA_NR_POST_COUNTS];

	u64				looked_at;
	struct work_struct		judge_work;
	struct work_struct		release_work;
	struct delayed_work		deadline;
	struct nvmet_rdma_drain		drain;
	struct list_head		entry;
	u32				visited;
	const struct nvmet_ctrl		*ctrl;
	struct hlist_node		ctrl_entry;

	struct dentry			*file;
	struct nvmet_rdma_host		*host;
	struct list_head		host_entry;
	u16				cntlid;
	const char			*subsysnqn;
	atomic64_t			events[NVMET_RDMA_NR_EVENTS];
	struct nvmet_rdma_counts	counts;
};

/* Context: any. */
static inline void nvmet_rdma_event(struct nvmet_rdma_queue *queue,
				    enum nvmet_rdma_event event)
{
	atomic64_inc(&queue->events[event]);
}

/* Context: a completion handler of the queue. */
static inline void nvmet_rdma_count(struct nvmet_rdma_queue *queue,
				    enum nvmet_rdma_count what)
{
	if (NVME_RDMA_COUNTS)
		queue->counts.n[what]++;
}

/* Context: any, with sq_lock. */
static inline void nvmet_rdma_count_post(struct nvmet_rdma_queue *queue,
					 enum nvmet_rdma_count what)
{
	if (NVME_RDMA_COUNTS)
		queue->post_counts[what - NVMET_RDMA_N_POSTS]++;
}

/*
 * Context: a completion handler of the queue. Return: true if the queue is being taken
 * down without its HCA, so that what has completed is the release's already.
 */
static inline bool nvmet_rdma_too_late(const struct nvmet_rdma_queue *queue)
{
	return unlikely(READ_ONCE(queue->drain.forced));
}

/* Says which host and which queue; a peer may cause it, so it is limited */
#define nvmet_rdma_queue_warn(queue, fmt, ...)				\
do {									\
	const struct nvmet_rdma_queue *_queue = (queue);		\
									\
	pr_warn_ratelimited("host %pISpc, queue %u: " fmt,		\
			    &_queue->peer, _queue->qid, ##__VA_ARGS__);	\
} while (0)

extern struct workqueue_struct *nvmet_rdma_wq;
extern struct workqueue_struct *nvmet_rdma_io_wq;

int nvmet_rdma_queues_register(void);
void nvmet_rdma_queues_unregister(void);
struct nvmet_rdma_queue *
nvmet_rdma_queue_create(struct rdma_cm_id *id, struct nvmet_rdma_port *port,
			struct nvmet_rdma_device *dev,
			struct nvmet_rdma_peer *peer_host,
			const struct nvmet_rdma_cm_req *req);
void nvmet_rdma_queue_publish(struct nvmet_rdma_queue *queue);
void nvmet_rdma_queue_unpublish(struct nvmet_rdma_queue *queue);
void nvmet_rdma_queue_established(struct nvmet_rdma_queue *queue);
u16 nvmet_rdma_install_queue(struct nvmet_sq *sq);
void nvmet_rdma_queue_disconnect(struct nvmet_rdma_queue *queue);
void nvmet_rdma_queue_io(struct nvmet_rdma_queue *queue);
void nvmet_rdma_queue_fail(struct nvmet_rdma_queue *queue);
bool nvmet_rdma_queue_move(struct nvmet_rdma_queue *queue,
			   enum nvmet_rdma_queue_state to);
bool nvmet_rdma_queue_is_live(struct nvmet_rdma_queue *queue);
void nvmet_rdma_disconnect_device(struct nvmet_rdma_device *dev, bool removing);
void nvmet_rdma_disconnect_port(struct nvmet_rdma_port *port);
void nvmet_rdma_visit_queues(void (*visit)(struct nvmet_rdma_queue *queue));
void nvmet_rdma_delete_ctrl(struct nvmet_ctrl *ctrl);
ssize_t nvmet_rdma_ctrl_peer(const struct nvmet_ctrl *ctrl, char *buf,
			     size_t len);
void nvmet_rdma_wc_failed(struct nvmet_rdma_queue *queue,
			  const struct ib_wc *wc, const char *what);
void nvmet_rdma_completed_twice(struct ib_cq *cq, struct ib_wc *wc);

/* stall.c - hosts that take nothing */

void nvmet_rdma_stall_init(struct nvmet_rdma_queue *queue);
void nvmet_rdma_stall_register(void);
void nvmet_rdma_stall_unregister(void);

/* release.c - the end of a queue */

void nvmet_rdma_release_work(struct work_struct *work);
void nvmet_rdma_queue_free_recvs(struct nvmet_rdma_queue *queue);

/* qp.c - a queue's queue pair */

int nvmet_rdma_qp_create(struct nvmet_rdma_queue *queue);
void nvmet_rdma_qp_destroy(struct nvmet_rdma_queue *queue);

/* observe.c - what an operator can see */

struct seq_file;

void nvmet_rdma_show(struct seq_file *m, const char *key, u64 value);
void nvmet_rdma_show_host(struct seq_file *m,
			  const struct nvmet_rdma_host *host);
void nvmet_rdma_sum(struct nvmet_rdma_sums *sums,
		    const struct nvmet_rdma_queue *queue);
void nvmet_rdma_show_sums(struct seq_file *m,
			  const struct nvmet_rdma_sums *sums);
void nvmet_rdma_refused(struct nvmet_rdma_port *port,
			const struct sockaddr_storage *peer, u16 qid,
			enum nvmet_rdma_refusal why);
void nvmet_rdma_observe_queue(struct nvmet_rdma_queue *queue);
void nvmet_rdma_unobserve_queue(struct nvmet_rdma_queue *queue);
void nvmet_rdma_observe_port(struct nvmet_rdma_port *port);
void nvmet_rdma_unobserve_port(struct nvmet_rdma_port *port);
void nvmet_rdma_observe_init(void);
void nvmet_rdma_observe_exit(void);

/* host.c - hosts, by their NQN */

void nvmet_rdma_host_join(struct nvmet_rdma_queue *queue);
void nvmet_rdma_host_leave(struct nvmet_rdma_queue *queue);
void nvmet_rdma_hosts_init(struct dentry *parent);
void nvmet_rdma_hosts_exit(void);

/* main.c */

extern bool nvmet_rdma_use_rw_api;
extern bool nvmet_rdma_use_srq;
extern unsigned int nvmet_rdma_srq_size;
extern unsigned int nvmet_rdma_connect_tmo;
extern unsigned int nvmet_rdma_host_queues;
extern unsigned int nvmet_rdma_host_pending;
extern unsigned int nvmet_rdma_max_pending;
extern unsigned int nvmet_rdma_host_unproved;
extern unsigned int nvmet_rdma_max_unproved;
extern unsigned int nvmet_rdma_host_pending_mb;
extern unsigned int nvmet_rdma_max_pending_mb;
extern unsigned int nvmet_rdma_min_rnr_timer;
extern unsigned int nvmet_rdma_ack_timeout;
extern unsigned int nvmet_rdma_response_tmo;
extern unsigned int nvmet_rdma_buffer_cache_mb;
extern const struct nvmet_fabrics_ops nvmet_rdma_ops;

#endif /* NVMET_RDMA_H */
