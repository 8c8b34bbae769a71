// SPDX-License-Identifier: GPL-2.0
/* What ip(8) says of the way to the peer */
#include "doctor/peer.h"

#include <json-c/json.h>

bool ip_find_route(struct doctor *d)
{
	struct ip_route route;

	if (!ip_route(d->address, NULL, d->host_iface, &route))
		return false;
	d->iface = route.netdev;
	d->source = route.source;
	d->gateway = route.gateway;
	return true;
}

struct neighbour ip_neighbour(const struct doctor *d)
{
	struct neighbour neighbour = {
		.address = d->gateway ? d->gateway : ip_bare(d->address), .state = "NONE",
	};
	const char *text = program_output(PROGRAM_S, "ip", "-j", "neigh", "show", "to",
					  neighbour.address, "dev", d->iface, NULL);
	struct json_object *all = text ? json_tokener_parse(text) : NULL;
	struct json_object *first = json_first(all), *states;

	if (first) {
		neighbour.lladdr = json_member_text(first, "lladdr");
		if (json_object_object_get_ex(first, "state", &states) && json_first(states))
			neighbour.state = mem_str(json_object_get_string(json_first(states)));
	}
	json_object_put(all);
	return neighbour;
}
