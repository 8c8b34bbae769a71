// SPDX-License-Identifier: GPL-2.0
/* How large RoCE packets are */
#include "doctor/parse.h"

/* InfiniBand Architecture Specification, volume 1, "Packet formats"; RoCE v2 has IP and UDP
 * in place of the GRH
 */
#define IP4_BYTES	20
#define IP6_BYTES	40	/* a GRH has as many */
#define UDP_BYTES	8
#define BTH_BYTES	12
#define RETH_BYTES	16	/* an RDMA WRITE's first packet is the largest of NVMe */
#define XRCETH_BYTES	4
#define ATOMICETH_BYTES	28
#define ICRC_BYTES	4

/* What the kernel leaves room for, whatever a packet really has (iboe_get_mtu()) */
#define ROOM_BYTES	(IP6_BYTES + UDP_BYTES + BTH_BYTES + XRCETH_BYTES + ATOMICETH_BYTES + \
			 ICRC_BYTES)

unsigned int roce_mtu(unsigned int mtu)
{
	unsigned int best = ROCE_MOST_MTU;

	while (best >= ROCE_LEAST_MTU && best + ROOM_BYTES > mtu)
		best /= 2;
	return best < ROCE_LEAST_MTU ? 0 : best;
}

unsigned int roce_least_mtu(void)
{
	return ROCE_LEAST_MTU + ROOM_BYTES;
}

unsigned int roce_packet(unsigned int data, bool ip6)
{
	return (ip6 ? IP6_BYTES : IP4_BYTES) + UDP_BYTES + BTH_BYTES + RETH_BYTES + data +
	       ICRC_BYTES;
}
