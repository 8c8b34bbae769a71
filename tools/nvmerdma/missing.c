// SPDX-License-Identifier: GPL-2.0
/* What a configuration enables and this machine does not have, or not yet */
#include "missing.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "rdma.h"

#define TRY_MS		200

/* ---- is it there? ---- */

static const char *why_device(const struct node *node)
{
	const char *path = node_get(node, "device_path");

	if (!node_is(node, "enable", "1") || !path || !*path || file_there("%s", path))
		return NULL;
	return mem_fmt("there is no %s", path);
}

/* Ours has a version, whether it is loaded or will be; the kernel's own has none */
static bool waits_by_itself(void)
{
	char *const argv[] = { "modinfo", "-F", "version", "nvmet-rdma", NULL };
	const char *version;

	if (file_there("/sys/module/nvmet_rdma"))
		return file_there("/sys/module/nvmet_rdma/version");
	version = command_output(argv);
	return version && *version;
}

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
	if (rdma && waits_by_itself())
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

const char *missing_why(const struct node *node)
{
	return node->shape == &shape_port ? why_address(node) : why_device(node);
}

/* ---- of a configuration ---- */

/* The object of that name and place in another configuration */
static struct node *same_in(const struct node *root, const struct node *node)
{
	const struct node *parent = root;

	if (node->shape != &shape_port)
		parent = node_find(root, &shape_subsys, node->parent->name);
	return parent ? node_find(parent, node->shape, node->name) : NULL;
}

static bool same_device(const struct node *a, const struct node *b)
{
	return !strcmp(node_get(a, "device_path") ?: "", node_get(b, "device_path") ?: "");
}

static bool goes_on(const struct node *have, const struct node *node)
{
	const struct node *same = same_in(have, node);

	if (!same)
		return false;
	if (node->shape == &shape_port)
		return !!same->links;
	return node_is(same, "enable", "1") && same_device(same, node);
}

static void look(struct missing *missing, const struct node *have, const struct node *node)
{
	if (goes_on(have, node) || !missing_why(node))
		return;
	missing->node = mem_grow(missing->node, missing->nr, sizeof(*missing->node));
	missing->node[missing->nr++] = node;
}

struct missing missing_in(const struct node *have, const struct node *want)
{
	struct missing missing = { 0 };
	const struct node *subsys, *node;

	for_each_node(subsys, want, &shape_subsys) {
		for_each_node(node, subsys, &shape_ns)
			look(&missing, have, node);
		for_each_node(node, subsys, &shape_passthru)
			look(&missing, have, node);
	}
	for_each_node(node, want, &shape_port)
		look(&missing, have, node);
	return missing;
}

void missing_wait(const struct node *have, const struct node *want, unsigned long seconds)
{
	const struct timespec pause = { .tv_nsec = TRY_MS * 1000 * 1000 };
	struct timespec now, end;
	struct mem_mark mark;
	size_t nr;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	for (;;) {
		mark = mem_mark();
		nr = missing_in(have, want).nr;
		mem_release(mark);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (!nr || now.tv_sec > end.tv_sec ||
		    (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec))
			return;
		nanosleep(&pause, NULL);
	}
}

void missing_disable(struct node *root, const struct node *node)
{
	struct node *same = same_in(root, node);

	if (node->shape != &shape_port)
		node_set(same, "enable", "0");
	while (node->shape == &shape_port && same->links)
		node_unlink(same, same->links->name);
}

bool missing_enable(struct node *root, const struct node *node)
{
	struct node *same = same_in(root, node);
	const struct link *link;
	bool any = false;

	if (!same)
		return false;
	if (node->shape != &shape_port) {
		if (node_is(same, "enable", "1") || !same_device(same, node))
			return false;
		node_set(same, "enable", "1");
		return true;
	}
	if (same->links)
		return false;
	for (link = node->links; link; link = link->next) {
		if (!node_find(root, &shape_subsys, link->name))
			continue;
		node_link(same, link->name);
		any = true;
	}
	return any;
}
