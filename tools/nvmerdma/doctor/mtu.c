// SPDX-License-Identifier: GPL-2.0
/* How large a packet may be: of the interface, of its RDMA port, and of the whole way */
#include "doctor/doctor.h"
#include "doctor/parse.h"
#include "doctor/peer.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define JUMBO		9000
#define ENOUGH		4200	/* a round number with room for 4096 */
#define NUDGE		4

/* MTUs that networks have; the largest that gets through is looked for among them */
static const unsigned int usual[] = { 9000, 4200, 2300, 1500, 1280 };

static unsigned int iface_mtu(struct doctor *d)
{
	return file_u64(0, "%s/sys/class/net/%s/mtu", d->root, d->iface);
}

static bool is_roce(struct doctor *d)
{
	return d->link && !strcmp(d->link->kind, "RoCE");
}

static void say_mtu(struct doctor *d, unsigned int mtu, unsigned int data,
		    const struct verbs_mtu *port)
{
	bool most = port->most && data >= port->most;

	if (data >= ROCE_MOST_MTU || most) {
		report(d, FOUND_OK, "the MTU of %s is %u, so that RDMA has %u%s", d->iface, mtu,
		       data, most ? mem_fmt(", the most of %s", d->link->device) : "");
		return;
	}
	report(d, FOUND_NOTE, "the MTU of %s is %u, so that RDMA has %u", d->iface, mtu, data);
	report_reason(d, "with %u or more it has %u, and fewer packets; but both sides and each switch between have to take that, or large transfers are lost",
		      ENOUGH, ROCE_MOST_MTU);
	report_fix(d, HERE, "ip link set %s mtu %u", d->iface, JUMBO);
	report_fix(d, TARGET, "ip link set IFACE mtu %u", JUMBO);
}

void check_mtu(struct doctor *d)
{
	unsigned int mtu, data;
	struct verbs_mtu port;

	if (report_skipped(d, !d->iface ? "there is no route" : is_roce(d) ? NULL :
			   "the way leads over no RoCE device"))
		return;
	mtu = iface_mtu(d);
	data = roce_mtu(mtu);
	port = verbs_mtu(d->link->device, d->link->port);
	if (port.most && data > port.most)
		data = port.most;
	if (!data) {
		report(d, FOUND_ERROR, "the MTU of %s is %u", d->iface, mtu);
		report_reason(d, "the smallest packets of RoCE need %u", roce_least_mtu());
		report_fix(d, HERE, "ip link set %s mtu 1500", d->iface);
	} else if (port.active && port.active < data) {
		report(d, FOUND_WARNING, "the MTU of %s is %u, and %s has taken %u for RDMA of %u that would fit",
		       d->iface, mtu, d->link->device, port.active, data);
		report_reason(d, "data takes more packets than necessary; the device may update when the MTU is set again, for which some cards stop for a moment");
		report_fix(d, HERE, "ip link set %s mtu %u && ip link set %s mtu %u", d->iface,
			   mtu - NUDGE, d->iface, mtu);
	} else {
		say_mtu(d, mtu, data, &port);
	}
	if (!port.active)
		report_detail(d, "what the RDMA port itself has taken could not be asked for");
}

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
	mtu = iface_mtu(d);
	if (passes(d, mtu)) {
		report(d, FOUND_OK, "packets of %u bytes get to %s and back", mtu, d->address);
		return;
	}
	if (is_roce(d))
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
