// SPDX-License-Identifier: GPL-2.0
/*
 * Module parameters.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/module.h>

#include "number.h"
#include "params.h"

bool nvme_rdma_register_always = true;
module_param_named(register_always, nvme_rdma_register_always, bool, 0444);
MODULE_PARM_DESC(register_always,
		 "register memory for every transfer; N lets every connected controller access all of memory, for faster contiguous transfers (default Y)");

bool nvme_rdma_remote_invalidate = true;
module_param_named(remote_invalidate, nvme_rdma_remote_invalidate, bool, 0444);
MODULE_PARM_DESC(remote_invalidate,
		 "ask controllers to invalidate the key of a transfer with their response; N takes another work request for each transfer (default Y)");

bool nvme_rdma_t10_pi = true;
module_param_named(t10_pi, nvme_rdma_t10_pi, bool, 0444);
MODULE_PARM_DESC(t10_pi,
		 "let the RDMA device check and generate T10 protection information, if it can; N leaves that to the disk, and takes half as many memory regions (default Y)");

unsigned int nvme_rdma_resolve_tmo = 3;
nvme_rdma_number_param(resolve_tmo, nvme_rdma_resolve_tmo, 1, 60);
MODULE_PARM_DESC(resolve_tmo,
		 "seconds until the resolution of an address, or of a route, times out (default 3, 1 to 60)");

unsigned int nvme_rdma_connect_tmo = 10;
nvme_rdma_number_param(connect_tmo, nvme_rdma_connect_tmo, 1, 60);
MODULE_PARM_DESC(connect_tmo,
		 "seconds until the request for a queue's RDMA connection times out (default 10, 1 to 60)");

unsigned int nvme_rdma_fabrics_tmo = 15;
nvme_rdma_number_param(fabrics_tmo, nvme_rdma_fabrics_tmo, 1, 60);
MODULE_PARM_DESC(fabrics_tmo,
		 "seconds until Connect, a command before the controller is live, or a command that shuts it down times out (default 15, 1 to 60)");

/* A five-bit code; see the InfiniBand specification, "RNR NAK timer field" */
unsigned int nvme_rdma_min_rnr_timer = 12;
nvme_rdma_number_param(min_rnr_timer, nvme_rdma_min_rnr_timer, 0, 31);
MODULE_PARM_DESC(min_rnr_timer,
		 "time until a controller that found no receive sends again, in InfiniBand's code: 1 is 0.01 ms, 12 is 0.64 ms, 31 is 491.52 ms, 0 is 655.36 ms (default 12, 0 to 31)");

/* A five-bit exponent */
unsigned int nvme_rdma_ack_timeout;
nvme_rdma_number_param(ack_timeout, nvme_rdma_ack_timeout, 0, 31);
MODULE_PARM_DESC(ack_timeout,
		 "time until a packet without an acknowledgment is retransmitted, up to 7 times: 4.096 us * 2^N; 0 is 17 (0.54 s) on Ethernet, and the subnet manager's value on InfiniBand (default 0, 0 to 31)");
