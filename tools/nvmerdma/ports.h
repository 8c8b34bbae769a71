/* SPDX-License-Identifier: GPL-2.0 */
/* Ports of the target for addresses of this machine */
#ifndef NVMERDMA_PORTS_H
#define NVMERDMA_PORTS_H

#include "node.h"
#include "rdma.h"

/* What an export wants of its ports; text as the kernel takes it, NULL: not said */
struct port_wish {
	const char *service;		/* 4420 */
	const char *inline_size, *queue_size;
	bool pi;
};

/*
 * ports_choose() - the addresses to listen at
 * @asked: "192.0.2.1,2001:db8::1"; NULL: the first that RDMA can be had at
 * @chosen: one or more
 *
 * 0, or -1: an address is not this machine's, or has no RDMA: said, with those that have.
 */
int ports_choose(const char *asked, struct rdma_addrs *chosen);

/*
 * ports_offer() - have a subsystem offered at an address
 * @root: the configuration to change
 * @addr: the address
 * @wish: what the port is to be like
 * @nqn: the subsystem
 *
 * By a port that is there already, if it is as wished, or a new one. 0, or -1: said.
 */
int ports_offer(struct node *root, const struct rdma_addr *addr, const struct port_wish *wish,
		const char *nqn);

#endif
