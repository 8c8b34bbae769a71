// SPDX-License-Identifier: GPL-2.0
/* Module parameters. nvmet-rdma(4) describes them: keep the two alike. */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/module.h>

#include "number.h"
#include "params.h"

/* Limits the cache, and keeps bytes in a size_t */
#define MAX_BUFFER_CACHE_MB	2047
/* A few queues of usual depth, and what most devices can do */
#define MIN_SRQ_SIZE		256
#define MAX_SRQ_SIZE		32767
/* Ten minutes: no host connects for longer */
#define MAX_CONNECT_TMO		600
/* More queue pairs than RDMA devices have */
#define MAX_QUEUES		1048576
/* More memory than machines have: a TiB */
#define MAX_PENDING_MB		1048576
/* Five bits (InfiniBand, Encoding for RNR NAK Timer Field) */
#define MAX_RNR_TIMER		31
/* Ten minutes: hosts have shorter timeouts for commands */
#define MAX_RESPONSE_TMO	600
/* Five bits, an exponent (InfiniBand, Local ACK Timeout) */
#define MAX_ACK_TIMEOUT		31

/* More than a fast disk takes, and less than a task notices */
#define MAX_POLL_US		1000

bool nvmet_rdma_use_rw_api;
module_param_named(use_rw_api, nvmet_rdma_use_rw_api, bool, 0444);
MODULE_PARM_DESC(use_rw_api,
		 "move all data by the kernel's rdma_rw, as always on iWARP; for unusual devices and tests (default N)");

unsigned int nvmet_rdma_buffer_cache_mb = 64;
nvme_rdma_number_param(buffer_cache_mb, nvmet_rdma_buffer_cache_mb, 0,
		       MAX_BUFFER_CACHE_MB);
MODULE_PARM_DESC(buffer_cache_mb,
		 "megabytes of unused data buffers to keep for each device (default 64, 0 to 2047)");

bool nvmet_rdma_use_srq = true;
module_param_named(use_srq, nvmet_rdma_use_srq, bool, 0444);
MODULE_PARM_DESC(use_srq,
		 "let connections share receives, if the device can; N gives each connection its own (default Y)");

unsigned int nvmet_rdma_srq_size = 4096;
nvme_rdma_number_param(srq_size, nvmet_rdma_srq_size, MIN_SRQ_SIZE,
		       MAX_SRQ_SIZE);
MODULE_PARM_DESC(srq_size,
		 "maximum number of receives that connections share, for each device, completion vector and in-capsule size (default 4096, 256 to 32767)");

/* Connecting 128 queues one after another is known to take up to 32 s */
unsigned int nvmet_rdma_connect_tmo = 60;
nvme_rdma_number_param(connect_tmo, nvmet_rdma_connect_tmo, 1, MAX_CONNECT_TMO);
MODULE_PARM_DESC(connect_tmo,
		 "seconds until a connection without Connect is closed (default 60, 1 to 600)");

/*
 * A hundred controllers of 120 queues. If each connection is a controller, that is less than a
 * fifth of the 65,519 controller IDs that the core has for all hosts.
 */
unsigned int nvmet_rdma_host_queues = 12000;
nvme_rdma_number_param(host_queues, nvmet_rdma_host_queues, 2, MAX_QUEUES);
MODULE_PARM_DESC(host_queues,
		 "maximum number of connections from one address (default 12000, 2 to 1048576)");

/* Below a fifth of max_pending, which one address may have at most: see limits.c */
unsigned int nvmet_rdma_host_pending = 1024;
nvme_rdma_number_param(host_pending, nvmet_rdma_host_pending, 1, MAX_QUEUES);
MODULE_PARM_DESC(host_pending,
		 "maximum number of connections before Connect from one address (default 1024, 1 to 1048576)");

unsigned int nvmet_rdma_max_pending = 8192;
nvme_rdma_number_param(max_pending, nvmet_rdma_max_pending, 1, MAX_QUEUES);
MODULE_PARM_DESC(max_pending,
		 "maximum number of connections before Connect from all addresses (default 8192, 1 to 1048576)");

/* At least the controllers that a Linux host connects at the same time */
unsigned int nvmet_rdma_host_unproved = 1024;
nvme_rdma_number_param(host_unproved, nvmet_rdma_host_unproved, 1, MAX_QUEUES);
MODULE_PARM_DESC(host_unproved,
		 "maximum number of connections from one address that belong to discovery controllers, or have sent Connect and not authenticated (default 1024, 1 to 1048576)");

/* A quarter of the controller IDs */
unsigned int nvmet_rdma_max_unproved = 16384;
nvme_rdma_number_param(max_unproved, nvmet_rdma_max_unproved, 1, MAX_QUEUES);
MODULE_PARM_DESC(max_unproved,
		 "maximum number of the connections of host_unproved from all addresses (default 16384, 1 to 1048576)");

unsigned int nvmet_rdma_host_pending_mb;
nvme_rdma_number_param(host_pending_mb, nvmet_rdma_host_pending_mb, 0,
		       MAX_PENDING_MB);
MODULE_PARM_DESC(host_pending_mb,
		 "maximum megabytes for connections from one address before Connect and proof, and the same again for the data of admin and authentication commands; 0 is 5 % of RAM (default 0, 0 to 1048576)");

unsigned int nvmet_rdma_max_pending_mb;
nvme_rdma_number_param(max_pending_mb, nvmet_rdma_max_pending_mb, 0,
		       MAX_PENDING_MB);
MODULE_PARM_DESC(max_pending_mb,
		 "maximum megabytes for connections from all addresses before Connect and proof, and the same again for the data of admin and authentication commands; 0 is 25 % of RAM (default 0, 0 to 1048576)");

/*
 * With 0, a host that finds no receive would wait for 655 ms, and with 1, 0.01 ms, it would
 * retry in a storm. 13 is 0.96 ms, in which an SRQ gets hundreds of receives back.
 */
unsigned int nvmet_rdma_min_rnr_timer = 13;
nvme_rdma_number_param(min_rnr_timer, nvmet_rdma_min_rnr_timer, 0,
		       MAX_RNR_TIMER);
MODULE_PARM_DESC(min_rnr_timer,
		 "time until a host that found no receive sends again, in InfiniBand's code: 1 is 0.01 ms, 13 is 0.96 ms, 31 is 491.52 ms, 0 is 655.36 ms (default 13, 0 to 31)");

unsigned int nvmet_rdma_ack_timeout;
nvme_rdma_number_param(ack_timeout, nvmet_rdma_ack_timeout, 0, MAX_ACK_TIMEOUT);
MODULE_PARM_DESC(ack_timeout,
		 "time until a packet without an acknowledgment is retransmitted: 4.096 us * 2^N; 0 is 17 (0.54 s) on Ethernet, and the value that the host has from its subnet manager on InfiniBand (default 0, 0 to 31)");

bool nvmet_rdma_refuse_unfinished = true;
module_param_named(refuse_unfinished, nvmet_rdma_refuse_unfinished, bool, 0644);
MODULE_PARM_DESC(refuse_unfinished,
		 "refuse a host's Connect while a disk still has commands of its ended connections, which could overwrite newer data (default Y)");

unsigned int nvmet_rdma_response_tmo = 60;
nvme_rdma_number_param(response_tmo, nvmet_rdma_response_tmo, 1,
		       MAX_RESPONSE_TMO);
MODULE_PARM_DESC(response_tmo,
		 "seconds until a host that takes no response and gives no data is disconnected (default 60, 1 to 600)");

/* thread.c has the parameter: it starts threads when this is set */
bool nvmet_rdma_io_threads;

unsigned int nvmet_rdma_poll_us = 50;
nvme_rdma_number_param_mode(poll_us, nvmet_rdma_poll_us, 0, MAX_POLL_US, 0644);
MODULE_PARM_DESC(poll_us,
		 "microseconds for which a thread (io_threads) looks for commands at most before it sleeps; 0 is never (default 50, 0 to 1000)");

unsigned int nvmet_rdma_poll_percent = 100;
nvme_rdma_number_param_mode(poll_percent, nvmet_rdma_poll_percent, 0, 100, 0644);
MODULE_PARM_DESC(poll_percent,
		 "percent of a CPU that a thread (io_threads) uses at most to look for commands in vain (default 100, 0 to 100)");
