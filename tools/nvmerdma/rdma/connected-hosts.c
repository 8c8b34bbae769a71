// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts that are connected to this target.
 *
 * Our nvmet-rdma tells of each queue whose it is. What comes by other transports, or by
 * the kernel's own nvmet-rdma, nvmet itself tells from 6.11 on.
 */
#include "rdma/connected-hosts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define OURS	"/sys/kernel/debug/nvmet_rdma"
#define NVMET	"/sys/kernel/debug/nvmet"

/*
 * A controller's ID is its subsystem's: one host may have the same in two. Where the
 * subsystem is known, nothing else tells them apart, for a host's name may be written in two
 * ways.
 */
static struct connected_host *find(struct connected_hosts *peers, const char *subsys,
				   const char *host, uint64_t cntlid)
{
	size_t i;

	for (i = 0; i < peers->nr; i++) {
		struct connected_host *peer = &peers->peer[i];

		if (peer->cntlid != cntlid)
			continue;
		if (peer->subsys && subsys ? !strcmp(peer->subsys, subsys) :
		    !strcmp(peer->host, host))
			return peer;
	}
	return NULL;
}

/* "192.0.2.1:4711", "[2001:db8::1]:4711": without the port */
static const char *bare_address(const char *addr)
{
	const char *end = strrchr(addr, ':');
	size_t len = end ? (size_t)(end - addr) : strlen(addr);

	if (*addr == '[' && len > 2 && addr[len - 1] == ']')
		return mem_strn(addr + 1, len - 2);
	return mem_strn(addr, len);
}

static struct connected_host *add(struct connected_hosts *peers, const char *subsys,
				  const char *host, uint64_t cntlid, const char *addr,
				  uint64_t port)
{
	peers->peer = mem_grow(peers->peer, peers->nr, sizeof(*peers->peer));
	peers->peer[peers->nr] = (struct connected_host) {
		.subsys = subsys, .host = host, .cntlid = cntlid,
		.addr = addr ? bare_address(addr) : "", .port_known = port != UINT64_MAX,
		.port = port != UINT64_MAX ? port : 0,
	};
	return &peers->peer[peers->nr++];
}

static void add_queue(struct connected_hosts *peers, const char *text)
{
	const char *host = text_value(text, "host"), *subsys = text_value(text, "subsystem");
	const char *cntlid = text_value(text, "controller"), *addr = text_value(text, "peer");
	const char *port = text_value(text, "port");
	struct connected_host *peer;

	if (!host || !strcmp(host, "-") || !cntlid)
		return;		/* it has not said yet who it is */
	if (subsys && !strcmp(subsys, "-"))
		subsys = NULL;
	peer = find(peers, subsys, host, strtoull(cntlid, NULL, 10));
	if (!peer)
		peer = add(peers, subsys, host, strtoull(cntlid, NULL, 10), addr,
			   port && isdigit((unsigned char)*port) ? strtoull(port, NULL, 10) :
			   UINT64_MAX);
	peer->queues++;
}

static void add_ctrl(struct connected_hosts *peers, const char *root, const char *subsys,
		     const char *name)
{
	const char *dir = mem_fmt("%s" NVMET "/%s/%s", root, subsys, name);
	uint64_t cntlid = strtoull(name + strlen("ctrl"), NULL, 10);
	const char *host = file_read("%s/hostnqn", dir);
	const char *addr = file_read("%s/host_traddr", dir);

	if (host && !find(peers, subsys, host, cntlid))
		add(peers, mem_str(subsys), host, cntlid, addr,
		    file_u64(UINT64_MAX, "%s/port", dir));
}

struct connected_hosts hosts_read(const char *root)
{
	struct names queues = names_in("%s" OURS "/queues", root), ctrls;
	struct names subsystems = names_in("%s" NVMET, root);
	struct connected_hosts peers = {
		.ours = file_there("%s" OURS, root), .core = file_there("%s" NVMET, root),
	};
	const char *text;
	size_t i, n;

	for (i = 0; i < queues.nr; i++) {
		text = file_read("%s" OURS "/queues/%s", root, queues.name[i]);
		if (text)
			add_queue(&peers, text);
	}
	for (i = 0; i < subsystems.nr; i++) {
		ctrls = names_in("%s" NVMET "/%s", root, subsystems.name[i]);
		for (n = 0; n < ctrls.nr; n++) {
			if (!strncmp(ctrls.name[n], "ctrl", 4))
				add_ctrl(&peers, root, subsystems.name[i], ctrls.name[n]);
		}
	}
	return peers;
}

bool hosts_known_at(const struct connected_hosts *peers, const struct node *port)
{
	return peers->core || (peers->ours && node_is(port, "addr_trtype", "rdma"));
}

bool hosts_known_of(const struct connected_hosts *peers, const struct node *subsys)
{
	const struct node *port;

	for_each_node(port, subsys->parent, &schema_port) {
		if (node_linked(port, subsys->name) && !hosts_known_at(peers, port))
			return false;
	}
	return true;
}
