// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts that would lose something: the steps of a plan that take something from them. A
 * host that is no longer let in, or of which another key is expected, goes on until its
 * connection breaks, and does not come back.
 */
#include "rdma/connected-hosts.h"

#include <string.h>

#include "config/plan.h"

/* Some host at some port; NULL is one of which that is not known */
struct guest {
	const char *host, *port;
};

static bool is_or_may_be(const char *known, const char *name)
{
	return !known || !strcmp(known, name);
}

/* Whether a host is let in to what becomes of a subsystem; of an unknown one: any host */
static bool let_in(const struct node *want, const char *nqn, const char *host)
{
	const struct node *subsys = node_find(want, &schema_subsys, nqn);

	return subsys && (node_is(subsys, "attr_allow_any_host", "1") ||
			  (host && node_linked(subsys, host)));
}

/* A key that was not asked for before, or another one */
static bool locks_out(const struct step *step)
{
	if (!strcmp(step->name, "dhchap_key"))
		return *step->value;
	return !strcmp(step->name, "dhchap_ctrl_key") && *step->old;
}

static bool write_takes(const struct step *step, const struct node *subsys,
			const struct node *want, const struct guest *guest)
{
	const struct node *node = step->node;

	if (!step->old)
		return false;
	if (node->shape == &schema_host)
		return locks_out(step) && is_or_may_be(guest->host, node->name) &&
		       node_linked(subsys, node->name);
	if (node->shape == &schema_subsys)
		return !strcmp(step->name, "attr_allow_any_host") &&
		       !strcmp(node->name, subsys->name) &&
		       !let_in(want, subsys->name, guest->host);
	return !strcmp(step->name, "enable") && !strcmp(step->value, "0") &&
	       node->parent->shape == &schema_subsys && !strcmp(node->parent->name, subsys->name);
}

/* Whether a step takes something from a host that uses a subsystem */
static bool takes(const struct step *step, const struct node *subsys, const struct node *want,
		  const struct guest *guest)
{
	switch (step->kind) {
	case STEP_UNLINK:
		if (step->node->shape == &schema_port)
			return !strcmp(step->name, subsys->name) &&
			       is_or_may_be(guest->port, step->node->name);
		return !strcmp(step->node->name, subsys->name) &&
		       is_or_may_be(guest->host, step->name) &&
		       !let_in(want, subsys->name, step->name);
	case STEP_WRITE:
		return write_takes(step, subsys, want, guest);
	default:
		return false;
	}
}

static bool any_takes(const struct plan *plan, const struct node *subsys,
		      const struct node *want, const struct guest *guest)
{
	size_t i;

	for (i = 0; i < plan->nr; i++) {
		if (takes(&plan->step[i], subsys, want, guest))
			return true;
	}
	return false;
}

/* The ports of a subsystem of which the kernel does not tell who comes by them */
static const char *unknown_words(const struct node *port, const char *nqn)
{
	return mem_fmt("whether hosts are connected to %s by port %s is not known: %s", nqn,
		       port->name, node_is(port, "addr_trtype", "rdma") ?
		       "our nvmet-rdma is not loaded, or debugfs not mounted" :
		       "this kernel does not tell of that transport");
}

/* How many hosts of a subsystem would lose something, or may */
static unsigned int losers(const struct plan *plan, const struct node *subsys,
			   const struct node *want, const struct connected_hosts *peers)
{
	unsigned int nr = 0;
	const struct node *port;
	struct guest guest;
	size_t i;

	for (i = 0; i < peers->nr; i++) {
		const struct connected_host *peer = &peers->peer[i];

		if (peer->subsys && strcmp(peer->subsys, subsys->name))
			continue;
		guest.host = peer->host;
		guest.port = peer->port_known ?
			     mem_fmt("%llu", (unsigned long long)peer->port) : NULL;
		if (!any_takes(plan, subsys, want, &guest))
			continue;
		error_msg("%s%s%s %s connected to %s", safe_words(peer->host),
			  *peer->addr ? " at " : "", peer->addr, peer->subsys ? "is" : "may be",
			  subsys->name);
		nr++;
	}
	for_each_node(port, subsys->parent, &schema_port) {
		guest = (struct guest) { .port = port->name };
		if (!node_linked(port, subsys->name) || hosts_known_at(peers, port) ||
		    !any_takes(plan, subsys, want, &guest))
			continue;
		error_msg("%s", unknown_words(port, subsys->name));
		nr++;
	}
	return nr;
}

int check_no_disconnect(const struct node *have, const struct node *want)
{
	const struct plan plan = plan_make(have, want);
	const struct connected_hosts peers = hosts_read("");
	const struct node *subsys;
	unsigned int nr = 0;

	for_each_node(subsys, have, &schema_subsys)
		nr += losers(&plan, subsys, want, &peers);
	if (!nr)
		return 0;
	return error_msg("nothing was changed: hosts would lose their disks, and what they have not written yet; 'nvme disconnect' there first, or --force here");
}
