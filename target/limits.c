// SPDX-License-Identifier: GPL-2.0
/* What a host may have, and which connections are one host's. */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <net/ipv6.h>

#include "nvmet_rdma.h"

/**
 * nvmet_rdma_same_ip() - are two IP addresses the same?
 * @a: an address, with whatever port number
 * @b: another
 *
 * Context: any.
 */
bool nvmet_rdma_same_ip(const struct sockaddr_storage *a,
			const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in *b4 = (const struct sockaddr_in *)b;
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a;
	const struct sockaddr_in6 *b6 = (const struct sockaddr_in6 *)b;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr) &&
	       a6->sin6_scope_id == b6->sin6_scope_id;
}
