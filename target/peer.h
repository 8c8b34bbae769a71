/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: the key by which connections of a host are counted, and the hash of data of a peer */
#ifndef NVMET_RDMA_PEER_H
#define NVMET_RDMA_PEER_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/socket.h>
#include <rdma/rdma_cm.h>

/**
 * struct nvmet_rdma_peer_key - the host that a connection counts for
 * @ip: its address, IPv4 as a mapped address; zero if @mac is the key
 * @scope: the interface of @ip, if the address needs one
 * @mac: its MAC address; zero if @ip is the key
 * @unused: 0, so that the key has no padding
 */
struct nvmet_rdma_peer_key {
	struct in6_addr	ip;
	u32		scope;
	u8		mac[ETH_ALEN];
	u8		unused[2];
};

void nvmet_rdma_hash_init(void);
u64 nvmet_rdma_hash(const void *words, size_t len);
struct sockaddr_storage nvmet_rdma_peer_addr(const struct rdma_cm_id *id);
void nvmet_rdma_peer_key(const struct rdma_cm_id *id,
			 struct nvmet_rdma_peer_key *key);

#endif /* NVMET_RDMA_PEER_H */
