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
		 "Register memory for every transfer (default: Y). N exposes all of memory to every connected controller for the sake of contiguous transfers");

bool nvme_rdma_remote_invalidate = true;
module_param_named(remote_invalidate, nvme_rdma_remote_invalidate, bool, 0444);
MODULE_PARM_DESC(remote_invalidate,
		 "Ask controllers to invalidate the key of a transfer with their response (default: Y). N does it here, at the cost of one more work request for each transfer");

bool nvme_rdma_t10_pi = true;
module_param_named(t10_pi, nvme_rdma_t10_pi, bool, 0444);
MODULE_PARM_DESC(t10_pi,
		 "Have the RDMA device check and make T10 protection information, where it can (default: Y). N leaves that to the disk, and makes half as many memory regions");

unsigned int nvme_rdma_resolve_tmo = 3;
nvme_rdma_number_param(resolve_tmo, nvme_rdma_resolve_tmo, 1, 60);
MODULE_PARM_DESC(resolve_tmo,
		 "Seconds that the resolution of an address may take, and again that of a route, 1 to 60 (default: 3)");

unsigned int nvme_rdma_connect_tmo = 10;
nvme_rdma_number_param(connect_tmo, nvme_rdma_connect_tmo, 1, 60);
MODULE_PARM_DESC(connect_tmo,
		 "Seconds from the request for a queue's RDMA connection to its answer, 1 to 60 (default: 10)");

unsigned int nvme_rdma_fabrics_tmo = 15;
nvme_rdma_number_param(fabrics_tmo, nvme_rdma_fabrics_tmo, 1, 60);
MODULE_PARM_DESC(fabrics_tmo,
		 "Seconds that Connect, each command before a controller is live and each to shut it down may take, 1 to 60 (default: 15)");

/* A five-bit code; see the InfiniBand specification, "RNR NAK timer field" */
unsigned int nvme_rdma_min_rnr_timer = 12;
nvme_rdma_number_param(min_rnr_timer, nvme_rdma_min_rnr_timer, 0, 31);
MODULE_PARM_DESC(min_rnr_timer,
		 "Time that a controller waits when it found no receive here, in InfiniBand's code: 1 is 0.01 ms, 12 is 0.64 ms, 31 is 491.52 ms, 0 is 655.36 ms (default: 12)");

/* A five-bit exponent */
unsigned int nvme_rdma_ack_timeout;
nvme_rdma_number_param(ack_timeout, nvme_rdma_ack_timeout, 0, 31);
MODULE_PARM_DESC(ack_timeout,
		 "Time until a packet that is not acknowledged is sent again, 7 times: 4.096 us * 2^N, 1 to 31; 0 (default) is what the subnet manager says, and 17, 0.54 s, on Ethernet");
