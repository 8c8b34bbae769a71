// SPDX-License-Identifier: GPL-2.0
/* Why something cannot be enabled now: one question for all who ask */
#include "restore/restore.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "disk/disk.h"
#include "rdma/rdma.h"

/* ---- a disk ---- */

/* What is to be enabled on it; NULL: nothing */
static const char *device_of(const struct node *node)
{
	const char *path = node_get(node, "device_path");

	return node_is(node, "enable", "1") && path && *path ? path : NULL;
}

static const char *device_yet(const struct node *node)
{
	const char *path = device_of(node);
	struct disk disk;

	if (!path)
		return NULL;
	if (!file_there("%s", path))
		return mem_fmt("there is no %s", path);
	if (node->shape == &schema_passthru || disk_bytes(path))
		return NULL;
	return disk_look(path, &disk);
}

static const char *used(const struct disk *disk, const struct node *node)
{
	const char *why = disk_user(disk);
	struct overlap clash;

	if (why)
		return why;
	clash = overlap_find(disk, node->parent->parent, node, true);
	return clash.with ? mem_fmt("%s to be %s as well", clash.how, node_words(clash.with)) :
	       NULL;
}

static const char *why_namespace(const struct node *ns)
{
	const char *path = device_of(ns), *why;
	struct disk disk;

	if (!path)
		return NULL;
	why = disk_look(path, &disk);
	if (!why)
		why = used(&disk, ns);
	return why ?: identity_differs(&disk, ns);
}

static const char *why_passthru(const struct node *passthru)
{
	const char *path = device_of(passthru), *why = NULL;
	struct disks disks = { 0 };
	size_t i;

	if (path)
		disks = passthru_disks(path);
	for (i = 0; i < disks.nr && !why; i++)
		why = used(&disks.disk[i], passthru);
	return why;
}

/* ---- an address ---- */

/* The address is one to listen at: this machine's, or that which stands for all */
static bool can_bind(int family, const char *text)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in in4 = { .sin_family = AF_INET };
	const char *bare = mem_strn(text, strcspn(text, "%"));
	bool v4 = family == AF_INET, can;
	int fd;

	if (family < 0 ||
	    inet_pton(family, bare, v4 ? (void *)&in4.sin_addr : (void *)&in6.sin6_addr) != 1)
		return true;		/* the kernel has to say what is wrong with it */
	if (!v4 && IN6_IS_ADDR_LINKLOCAL(&in6.sin6_addr))
		return true;		/* it is found by its interface */
	fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return true;
	can = !bind(fd, v4 ? (void *)&in4 : (void *)&in6, v4 ? sizeof(in4) : sizeof(in6));
	close(fd);
	return can;
}

static const char *why_address(const struct node *port)
{
	const char *text = node_get(port, "addr_traddr");
	bool rdma = node_is(port, "addr_trtype", "rdma");
	const struct rdma_addr *addr;
	struct rdma_links links;
	struct rdma_addrs addrs;

	if (!port->links || !text || !(rdma || node_is(port, "addr_trtype", "tcp")))
		return NULL;
	if (rdma && module_target_is_ours())
		return NULL;
	if (!can_bind(rdma_addr_family(text), text))
		return mem_fmt("this machine does not have the address %s", text);
	if (!rdma)
		return NULL;
	links = rdma_links();
	addrs = rdma_addrs(&links);
	addr = rdma_addr_find(&addrs, text);
	/* 0.0.0.0 is no interface's: it does with any device */
	if (addr ? !!addr->link : links.nr > 0)
		return NULL;
	return mem_fmt("no RDMA device has the address %s", text);
}

/* ---- any of them ---- */

const char *not_present_reason(const struct node *node)
{
	return node->shape == &schema_port ? why_address(node) : device_yet(node);
}

const char *not_ready_reason(const struct node *node)
{
	const char *why = not_present_reason(node);

	if (why || node->shape == &schema_port)
		return why;
	return node->shape == &schema_passthru ? why_passthru(node) : why_namespace(node);
}
