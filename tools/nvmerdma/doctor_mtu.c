// SPDX-License-Identifier: GPL-2.0
/* How large a packet may be: of the interface, of its RDMA port, and of the whole way */
#include "doctor.h"
#include "doctor_verbs.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* What the kernel leaves room for beside the data of a RoCE packet: IP or GRH 40, UDP 8,
 * BTH 12, the largest extended headers 28 + 28, ICRC 4
 */
#define ROCE_HEADERS	120
#define LEAST_MTU	256
#define MOST_MTU	4096
#define JUMBO		9000

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

/* The largest of 256, 512, ... 4096 that fits */
static unsigned int best_mtu(unsigned int mtu)
{
	unsigned int best = MOST_MTU;

	while (best >= LEAST_MTU && best + ROCE_HEADERS > mtu)
		best /= 2;
	return best < LEAST_MTU ? 0 : best;
}

void check_mtu(struct doctor *d)
{
	unsigned int mtu, best, active;

	if (!d->iface || !is_roce(d)) {
		found(d, FOUND_SKIPPED, d->iface ? "the way leads over no RoCE device" :
		      "there is no route");
		return;
	}
	mtu = iface_mtu(d);
	best = best_mtu(mtu);
	active = verbs_mtu(d->link->device, d->link->port);
	if (!best) {
		found(d, FOUND_ERROR, "the MTU of %s is %u", d->iface, mtu);
		because(d, "the smallest packets of RoCE need %u", LEAST_MTU + ROCE_HEADERS);
		mend(d, HERE, "ip link set %s mtu 1500", d->iface);
	} else if (active && active < best) {
		found(d, FOUND_WARNING, "the MTU of %s is %u, and %s has taken %u for RDMA of %u that would fit",
		      d->iface, mtu, d->link->device, active, best);
		because(d, "data takes more packets than need be; both sides have to use the same");
		mend(d, HERE, "ip link set %s down && ip link set %s up", d->iface, d->iface);
	} else if (best < MOST_MTU) {
		found(d, FOUND_NOTE, "the MTU of %s is %u, so that RDMA has %u", d->iface, mtu,
		      best);
		because(d, "4096 take a quarter of the packets of 1024, with an MTU of 4200 or more on both sides and each switch between");
		mend(d, HERE, "ip link set %s mtu %u", d->iface, JUMBO);
	} else {
		found(d, FOUND_OK, "the MTU of %s is %u, so that RDMA has %u", d->iface, mtu, best);
	}
	if (!active)
		detail(d, "what the RDMA port itself has taken could not be asked for");
}

static bool passes(struct doctor *d, unsigned int mtu)
{
	/* IP and ICMP headers, beside what ping -s counts */
	const char *bytes = mem_fmt("%u", mtu - (d->family == AF_INET ? 28 : 48));
	const char *to = mem_strn(d->address, strcspn(d->address, "%"));

	return output(4, "ping", "-n", "-q", "-M", "do", "-c", "2", "-i", "0.2", "-W", "1", "-s",
		      bytes, "-I", d->iface, to, NULL);
}

void check_mtu_path(struct doctor *d)
{
	unsigned int mtu, largest = 0, need;
	size_t i;

	if (!d->pings || d->is_self) {
		found(d, FOUND_SKIPPED, "%s", d->is_self ? "the peer is this machine" :
		      "the peer does not answer pings");
		return;
	}
	mtu = iface_mtu(d);
	if (passes(d, mtu)) {
		found(d, FOUND_OK, "packets of %u bytes get to %s and back", mtu, d->address);
		return;
	}
	for (i = 0; i < NR(usual) && !largest; i++) {
		if (usual[i] < mtu && passes(d, usual[i]))
			largest = usual[i];
	}
	if (!largest) {
		found(d, FOUND_NOTE, "pings of %u bytes are not answered, nor smaller ones that must not be cut",
		      mtu);
		because(d, "something may drop them alone; RDMA does not need them");
		mend(d, HERE, "tracepath -n %s", d->address);
		return;
	}
	/* one more than the headers need fits the largest packet of RDMA */
	need = is_roce(d) ? best_mtu(mtu) + ROCE_HEADERS : mtu;
	found(d, largest < need ? FOUND_ERROR : FOUND_WARNING, "packets of %u bytes get to %s and back, and those of %u, the MTU of %s, do not",
	      largest, d->address, mtu, d->iface);
	if (largest < need)
		because(d, "connecting works, and large transfers are lost, until the connection breaks: the peer or a switch has a smaller MTU");
	else
		because(d, "the packets of RDMA still fit; others may not");
	mend(d, HERE, "ip link set %s mtu %u", d->iface, largest);
	mend(d, TARGET, "ip link set IFACE mtu %u", mtu);
	detail(d, "either of them, and the switches between have to take it");
}
