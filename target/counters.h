/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nvmet-rdma: what is counted, for counters.c, host_stats.c and debugfs.c.
 *
 * Counts of every command have one writer at a time and are plain. The writer is the handler
 * of the queue's completion queue, or for posts the holder of the send queue's lock. What other
 * contexts know of a command stays with it until its response has completed. Rare events may
 * be counted in any context, and are atomic.
 */
#ifndef NVMET_RDMA_COUNTERS_H
#define NVMET_RDMA_COUNTERS_H

#include <linux/atomic.h>
#include <linux/nvme.h>
#include <linux/types.h>

#include "cm_req.h"
#include "hist.h"

/* What each command counts. The first three are those of enum nvmet_rdma_data */
enum nvmet_rdma_count {
	NVMET_RDMA_N_WITHOUT_DATA,	/* received commands, by their data */
	NVMET_RDMA_N_IN_CAPSULE,
	NVMET_RDMA_N_KEYED,
	NVMET_RDMA_N_RECEIVES,		/* completions of receives */
	NVMET_RDMA_N_SENDS,		/* and of the send queue */
	NVMET_RDMA_N_ERRORS,		/* responses with an NVMe status but success */
	NVMET_RDMA_N_INVALIDATES,	/* those that invalidated the host's key */
	/* What posters count, see NVMET_RDMA_NR_POST_COUNTS */
	NVMET_RDMA_N_POSTS,		/* calls of the provider for all of them */
	NVMET_RDMA_N_WRS,		/* work requests in these */
	NVMET_RDMA_N_SWEEPS,		/* posts of one WR that moves nothing */
	/* and completion handlers again */
	NVMET_RDMA_N_BY_CHUNKS,		/* transfers in the device's cache */
	NVMET_RDMA_N_BY_RW,		/* by rdma_rw */
	NVMET_RDMA_N_BY_PI,		/* with protection information */
	NVMET_RDMA_N_BYTES_READ,	/* sent to hosts */
	NVMET_RDMA_N_BYTES_WRITTEN,	/* read from hosts */
	NVMET_RDMA_NR_COUNTS,
};

/* A queue has these apart: their writers are on other CPUs than completions */
#define NVMET_RDMA_NR_POST_COUNTS	(NVMET_RDMA_N_SWEEPS - NVMET_RDMA_N_POSTS + 1)

/* What happens seldom */
enum nvmet_rdma_event {
	NVMET_RDMA_EV_NOT_LIVE,		/* a command arrived before the CM's event */
	NVMET_RDMA_EV_NO_CREDIT,	/* it waits for send credit */
	NVMET_RDMA_EV_NO_RESPONSE,	/* or for a response */
	NVMET_RDMA_EV_NO_MEMORY,	/* or for memory, or for a place in the device */
	NVMET_RDMA_EV_NO_TAG,		/* for a tag of the disk, which a thread does not */
	NVMET_RDMA_EV_NO_CHUNK,		/* there was no large chunk: several smaller ones */
	NVMET_RDMA_EV_NO_RECEIVE,	/* the SRQ was low: moved out of it */
	NVMET_RDMA_EV_SGL,		/* rejected for its SGL */
	NVMET_RDMA_EV_PROTOCOL,		/* the host violated the protocol */
	NVMET_RDMA_EV_WC_ERROR,		/* a work request failed */
	NVMET_RDMA_EV_FLUSH,		/* or was flushed after another failed */
	NVMET_RDMA_EV_POST,		/* the device took no more work */
	NVMET_RDMA_EV_TRANSFER,		/* the device cannot move the data */
	NVMET_RDMA_EV_PI,		/* protection information was wrong */
	NVMET_RDMA_EV_QP,		/* the device reports an error of the QP */
	NVMET_RDMA_EV_DRAIN,		/* the device did not flush its work requests */
	NVMET_RDMA_NR_EVENTS,
};

/**
 * struct nvmet_rdma_counts - counts of the commands of a queue
 * @n: by enum nvmet_rdma_count; for a single queue, without the counts of posts
 * @latency: from the arrival of a command to the post of its response
 */
struct nvmet_rdma_counts {
	u64			n[NVMET_RDMA_NR_COUNTS];
	struct nvme_rdma_hist	latency;
};

/**
 * struct nvmet_rdma_sums - sums of the counts of several queues
 * @counts: of commands
 * @events: by enum nvmet_rdma_event
 */
struct nvmet_rdma_sums {
	struct nvmet_rdma_counts	counts;
	u64				events[NVMET_RDMA_NR_EVENTS];
};

/* Why a connection was rejected. The first are those of enum nvmet_rdma_cm_sts */
enum nvmet_rdma_refusal {
	NVMET_RDMA_REFUSED_LEN		= NVMET_RDMA_CM_BAD_LEN,
	NVMET_RDMA_REFUSED_RECFMT	= NVMET_RDMA_CM_BAD_RECFMT,
	NVMET_RDMA_REFUSED_QID		= NVMET_RDMA_CM_BAD_QID,
	NVMET_RDMA_REFUSED_HSQSIZE	= NVMET_RDMA_CM_BAD_HSQSIZE,
	NVMET_RDMA_REFUSED_HRQSIZE	= NVMET_RDMA_CM_BAD_HRQSIZE,
	NVMET_RDMA_REFUSED_NO_MEMORY	= NVMET_RDMA_CM_NO_RESOURCES,
	NVMET_RDMA_REFUSED_IRD		= NVMET_RDMA_CM_BAD_IRD,
	NVMET_RDMA_REFUSED_DEVICE,		/* being removed, or no resources */
	NVMET_RDMA_REFUSED_HOST_QUEUES,		/* limits.c */
	NVMET_RDMA_REFUSED_HOST_PENDING,
	NVMET_RDMA_REFUSED_MAX_PENDING,
	NVMET_RDMA_REFUSED_HOST_UNPROVED,
	NVMET_RDMA_REFUSED_MAX_UNPROVED,
	NVMET_RDMA_REFUSED_UNFINISHED,		/* unfinished.c */
	NVMET_RDMA_NR_REFUSALS,
};

/* What happens to the connections of a port */
enum nvmet_rdma_port_event {
	NVMET_RDMA_PORT_ACCEPTED,	/* they were accepted */
	NVMET_RDMA_PORT_CONNECTED,	/* Connect was accepted */
	NVMET_RDMA_PORT_ENDED,		/* they have ended */
	NVMET_RDMA_PORT_FAILED,		/* and ended their controller */
	NVMET_RDMA_PORT_NOT_ESTABLISHED, /* accepted, but not established */
	NVMET_RDMA_PORT_NO_CONNECT,	/* closed without Connect */
	NVMET_RDMA_PORT_DRAIN,		/* the device did not flush their work */
	NVMET_RDMA_PORT_HELD,		/* Connect waited for a disk (unfinished.c) */
	NVMET_RDMA_NR_PORT_EVENTS,
};

/**
 * struct nvmet_rdma_host - a host by its NQN; see host_stats.c
 * @entry: in the table of hosts
 * @gone_entry: in the list of hosts without queues
 * @nqn: its NQN
 * @file: in debugfs
 * @lock: protects the members below; its holder does not wait
 * @queues: its queues, from Connect on
 * @nr_ended: number of its queues that have ended
 * @ended: sums of their counts
 */
struct nvmet_rdma_host {
	struct hlist_node	entry;
	struct list_head	gone_entry;
	char			nqn[NVMF_NQN_FIELD_LEN];
	struct dentry		*file;
	struct mutex		lock; /* see above */
	struct list_head	queues;
	u64			nr_ended;
	struct nvmet_rdma_sums	ended;
};

#endif /* NVMET_RDMA_COUNTERS_H */
