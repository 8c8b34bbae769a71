// SPDX-License-Identifier: GPL-2.0
/* Hosts that would lose something: the steps of a plan that take something from them */
#include "cut.h"

#include <string.h>

#include "peers.h"
#include "plan.h"

/* The subsystem that a step takes something of; NULL: of none */
static const char *taken_from(const struct step *step)
{
	const struct node *node = step->node;

	if (step->kind == STEP_UNLINK && node->shape == &shape_port)
		return step->name;
	if (step->kind == STEP_WRITE && step->old && !strcmp(step->name, "enable") &&
	    !strcmp(step->value, "0") && node->parent->shape == &shape_subsys)
		return node->parent->name;
	return NULL;
}

/* A host by a port that goes on without the others loses nothing; one of which nobody
 * knows what it uses may lose something
 */
static bool loses(const struct peer *peer, const struct step *step, const char *nqn)
{
	if (peer->subsys && strcmp(peer->subsys, nqn))
		return false;
	return step->kind != STEP_UNLINK || !strcmp(step->node->name, mem_fmt("%llu",
						(unsigned long long)peer->port));
}

/* Of some ports the kernel does not tell who comes by them */
static void say_unknown(const struct node *have, const struct peers *peers, const char *nqn)
{
	const struct node *port;

	for_each_node(port, have, &shape_port) {
		const char *trtype = node_get(port, "addr_trtype");

		const char *why = trtype && !strcmp(trtype, "rdma") ?
			"our nvmet-rdma is not loaded, or debugfs not mounted" :
			"this kernel does not tell of that transport";

		if (node_linked(port, nqn) && !peers_known(peers, trtype))
			complain("whether hosts are connected to %s by port %s is not known: %s",
				 nqn, port->name, why);
	}
}

int cut_refused(const struct node *have, const struct node *want)
{
	const struct plan plan = plan_make(have, want);
	const struct peers peers = peers_read();
	unsigned int before = complaints();
	const char *said = "";
	size_t i, p;

	for (p = 0; p < peers.nr; p++) {
		const struct peer *peer = &peers.peer[p];

		for (i = 0; i < plan.nr; i++) {
			const char *nqn = taken_from(&plan.step[i]);

			if (!nqn || !loses(peer, &plan.step[i], nqn))
				continue;
			complain("%s%s%s %s connected to %s", peer->host,
				 *peer->addr ? " at " : "", peer->addr,
				 peer->subsys ? "is" : "may be", nqn);
			break;
		}
	}
	for (i = 0; i < plan.nr; i++) {
		const char *nqn = taken_from(&plan.step[i]);

		if (nqn && strcmp(nqn, said)) {
			say_unknown(have, &peers, nqn);
			said = nqn;
		}
	}
	if (complaints() == before)
		return 0;
	return complain("nothing was changed: hosts would lose their disks, and what they have not written yet; 'nvme disconnect' there first, or --force here");
}
