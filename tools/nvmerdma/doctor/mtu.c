// SPDX-License-Identifier: GPL-2.0
/* How large a packet may be on the way to the peer */
#include "doctor/doctor.h"
#include "doctor/peer.h"

#include <string.h>

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

#define LEAST_MTU	256
#define MOST_MTU	4096

unsigned int roce_mtu(unsigned int mtu)
{
	unsigned int best = MOST_MTU;

	while (best >= LEAST_MTU && best + ROOM_BYTES > mtu)
		best /= 2;
	return best < LEAST_MTU ? 0 : best;
}

unsigned int roce_packet(unsigned int data, bool ip6)
{
	return (ip6 ? IP6_BYTES : IP4_BYTES) + UDP_BYTES + BTH_BYTES + RETH_BYTES + data +
	       ICRC_BYTES;
}

/* MTUs that networks have; the largest that gets through is looked for among them */
static const unsigned int usual[] = { 9000, 4200, 2300, 1500, 1280 };

static bool passes(struct doctor *d, unsigned int mtu)
{
	/* IP and ICMP headers, beside what ping -s counts */
	const char *bytes = mem_fmt("%u", mtu - (d->family == AF_INET ? 28 : 48));
	const char *to = mem_strn(d->address, strcspn(d->address, "%"));

	return program_output(4, "ping", "-n", "-q", "-M", "do", "-c", "2", "-i", "0.2", "-W", "1", "-s",
			      bytes, "-I", d->iface, to, NULL);
}

/* Why it is of no use to look; NULL: it is */
static const char *why_not(struct doctor *d)
{
	if (!d->link)
		return "the way leads over no RDMA device";
	if (!strcmp(d->link->kind, "InfiniBand"))
		return "over InfiniBand the subnet manager knows a path's MTU";
	if (d->is_self)
		return "the peer is this machine";
	return d->pings ? NULL : "the peer does not answer pings";
}

static unsigned int largest_below(struct doctor *d, unsigned int mtu)
{
	size_t i;

	for (i = 0; i < NR(usual); i++) {
		if (usual[i] < mtu && passes(d, usual[i]))
			return usual[i];
	}
	return 0;
}

void check_mtu_path(struct doctor *d)
{
	unsigned int mtu, largest, need = 0;
	bool lost;

	if (report_skipped(d, why_not(d)))
		return;
	mtu = file_u64(0, "%s/sys/class/net/%s/mtu", d->root, d->iface);
	if (passes(d, mtu)) {
		report(d, FOUND_OK, "packets of %u bytes get to %s and back", mtu, d->address);
		return;
	}
	if (!strcmp(d->link->kind, "RoCE"))
		need = roce_packet(roce_mtu(mtu), d->family == AF_INET6);
	/* what RDMA needs may lie between two of the usual ones */
	largest = largest_below(d, mtu);
	if (largest && largest < need && passes(d, need))
		largest = need;
	if (!largest) {
		report(d, FOUND_NOTE, "pings of %u bytes are not answered, nor smaller ones that must not be cut",
		       mtu);
		report_reason(d, "something may drop them alone; RDMA does not need them");
		report_fix(d, HERE, "tracepath -n %s", d->address);
		return;
	}
	lost = largest < need;
	report(d, lost ? FOUND_ERROR : FOUND_WARNING, "packets of %u bytes get to %s and back, and those of %u, the MTU of %s, do not",
	       largest, d->address, mtu, d->iface);
	if (lost)
		report_reason(d, "connecting works, and large transfers are lost, until the connection breaks: the peer or a switch has a smaller MTU");
	else if (need)
		report_reason(d, "the packets of RDMA still fit; others may not");
	else
		report_reason(d, "TCP, on which iWARP is, finds that out by itself if it is told (ICMP), and hangs if not");
	/* less here, where RDMA's packets fit, would make those smaller */
	if (lost || !need)
		report_fix(d, HERE, "ip link set %s mtu %u", d->iface, largest);
	report_fix(d, TARGET, "ip link set IFACE mtu %u", mtu);
	report_detail(d, "either of them, and the switches between have to take it");
}
