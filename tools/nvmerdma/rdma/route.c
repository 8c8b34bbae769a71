// SPDX-License-Identifier: GPL-2.0
/* The route to an address, as ip(8) says it */
#include "rdma/rdma.h"

#include <string.h>

#include <json-c/json.h>

const char *ip_bare(const char *address)
{
	return mem_strn(address, strcspn(address, "%"));
}

bool ip_route(const char *address, const char *from, const char *iface, struct ip_route *route)
{
	const char *words[4] = { NULL };
	struct json_object *all, *first;
	const char *text;
	size_t n = 0;

	if (from) {
		words[n++] = "from";
		words[n++] = ip_bare(from);
	}
	if (iface) {
		words[n++] = "oif";
		words[n++] = iface;
	}
	text = program_output(PROGRAM_S, "ip", "-j", "route", "get", ip_bare(address), words[0],
			      words[1], words[2], words[3], NULL);
	all = text ? json_tokener_parse(text) : NULL;
	first = json_first(all);
	*route = (struct ip_route) { 0 };
	if (first) {
		route->netdev = json_member_text(first, "dev");
		route->source = json_member_text(first, "prefsrc");
		route->gateway = json_member_text(first, "gateway");
	}
	json_object_put(all);
	return route->netdev;
}
