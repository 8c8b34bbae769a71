/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: limits, and the module's parameters */
#ifndef NVMET_RDMA_PARAMS_H
#define NVMET_RDMA_PARAMS_H

#include <linux/sizes.h>
#include <linux/types.h>

/* Limits; each is checked where a peer or an administrator could exceed it */

/* The core has no more I/O queues than this (its NVMET_NR_QUEUES) */
#define NVMET_RDMA_MAX_QID		128
/* The core raises a smaller param_max_queue_size to this */
#define NVMET_RDMA_MIN_DEPTH		16
/* Unless set in configfs: twice what Linux hosts ask for by default */
#define NVMET_RDMA_DEFAULT_DEPTH	256
/*
 * Commands of an admin queue. Linux hosts ask for 32; those in user space that abort 64 or 128
 * commands at once ask for some more than that. It takes no more memory than an I/O queue.
 */
#define NVMET_RDMA_ADMIN_DEPTH		256
/* In-capsule data of an I/O queue, unless set in configfs: for writes of 4 KiB */
#define NVMET_RDMA_DEFAULT_ICD		SZ_4K
#define NVMET_RDMA_MAX_ICD		SZ_64K
/* For Connect, 1 KiB, and authentication, up to 4 KiB, of hosts that send them in-capsule */
#define NVMET_RDMA_ADMIN_ICD		SZ_4K

/* MDTS is a power of two of CAP.MPSMIN, which the core sets to 4 KiB */
#define NVMET_RDMA_MDTS			8
#define NVMET_RDMA_MAX_LEN		(SZ_4K << NVMET_RDMA_MDTS)
/* The core clamps a port's max_queue_size to 1024, too */
#define NVMET_RDMA_MAX_DEPTH		1024

/* The largest registration with a signature, on any device */
#define NVMET_RDMA_PI_MDTS		5
#define NVMET_RDMA_PI_MAX_DATA		(SZ_4K << NVMET_RDMA_PI_MDTS)
/* With metadata: 8 bytes for each block of 512 bytes or more */
#define NVMET_RDMA_PI_MAX_LEN		\
	(NVMET_RDMA_PI_MAX_DATA + NVMET_RDMA_PI_MAX_DATA / 512 * 8)
/* Send work requests of such a transfer: invalidate, register, move */
#define NVMET_RDMA_PI_WRS		3

/*
 * Receives are posted as chains of this many. There are one less than that more receives
 * than commands, so that those that wait for a full chain are not missing.
 */
#define NVMET_RDMA_RECV_CHAIN		8
/* Additional receives of an SRQ, because some wait for a full chain */
#define NVMET_RDMA_SRQ_SPARE		(NVMET_RDMA_RECV_CHAIN - 1)
/* Lost receives may be replaced up to this part of all */
#define NVMET_RDMA_SRQ_REPLACEABLE	4

extern bool nvmet_rdma_use_rw_api;
extern bool nvmet_rdma_use_srq;
extern bool nvmet_rdma_refuse_unfinished;
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
extern bool nvmet_rdma_io_threads;
extern unsigned int nvmet_rdma_poll_us;
extern unsigned int nvmet_rdma_poll_percent;

#endif /* NVMET_RDMA_PARAMS_H */
