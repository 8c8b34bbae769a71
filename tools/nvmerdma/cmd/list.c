// SPDX-License-Identifier: GPL-2.0
/* nvmerdma list: what is exported, where, and to whom; as a tree or as JSON */
#include <getopt.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "config/config.h"
#include "disk/disk.h"
#include "restore/restore.h"
#include "command.h"
#include "rdma/connected-hosts.h"

#define PORTS	"/sys/kernel/debug/nvmet_rdma/ports"

static const char usage[] =
"[--json]\n"
"\n"
"Shows subsystems with their disks, the ports that offer them, the hosts that are let\n"
"in, and those that are connected.\n";

/* ---- what is known beyond the configuration ---- */

struct disk_state {
	uint64_t bytes;		/* 0: not known */
	bool there;
};

static struct disk_state disk_state(const struct node *ns)
{
	const char *path = node_get(ns, "device_path");
	struct disk_state state = { 0 };

	if (path && *path)
		state.there = file_there("%s", path);
	if (state.there)
		state.bytes = disk_bytes(path);
	return state;
}

/* What our nvmet-rdma says of a port; NULL: it is not ours, or not enabled */
static const char *port_state(const struct node *port)
{
	const char *text = file_read(PORTS "/%s", port->name);
	const char *listening = text ? text_value(text, "listening") : NULL;
	const char *waits = text ? text_value(text, "waits_for") : NULL;

	if (!port->links)
		return deferred_reason(port) ?
			       mem_fmt("offers nothing: %s", deferred_reason(port)) :
			       "offers nothing";
	if (!listening)
		return NULL;
	if (!strcmp(listening, "1"))
		return "listening";
	return mem_fmt("waiting: %s", strerror(abs(atoi(waits ?: "0"))));
}

static const char *port_address(const struct node *port)
{
	return mem_fmt("%s %s port %s", node_get(port, "addr_trtype") ?: "",
		       node_get(port, "addr_traddr") ?: "",
		       node_get(port, "addr_trsvcid") ?: "");
}

/* Whether who is not seen is not there */
static bool all_known(const struct node *root, const struct connected_hosts *peers)
{
	const struct node *port;

	for_each_node(port, root, &schema_port) {
		if (port->links && !hosts_known_at(peers, port))
			return false;
	}
	return true;
}

/* ---- the tree ---- */

struct branches {
	const char **text;
	size_t nr;
};

static void grow(struct branches *b, const char *text)
{
	mem_push(b->text, b->nr, text);
}

static void print_branches(const struct branches *b)
{
	bool utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	size_t i;

	for (i = 0; i < b->nr; i++)
		printf("%s %s\n", i + 1 < b->nr ? utf8 ? "├─" : "|-" : utf8 ? "└─" : "`-",
		       b->text[i]);
}

/* ", disabled by a restore: /dev/sdb is mounted at /mnt" */
static const char *disabled_words(const struct node *node)
{
	const char *why = deferred_reason(node);

	if (node_is(node, "enable", "1"))
		return "";
	return why ? mem_fmt(", disabled by a restore: %s", why) : ", disabled";
}

static const char *namespace_words(const struct node *ns)
{
	const struct disk_state state = disk_state(ns);
	const char *path = node_get(ns, "device_path");

	return mem_fmt("namespace %s: %s%s%s%s%s", ns->name, path && *path ? path : "no disk",
		       state.bytes ? ", " : "", state.bytes ? size_words(state.bytes) : "",
		       state.there ? "" : ", which is not there", disabled_words(ns));
}

static const char *peer_words(const struct connected_host *peer)
{
	return mem_fmt("connected: %s%s%s, controller %llu%s%s", safe_words(peer->host),
		       *peer->addr ? " from " : "", peer->addr,
		       (unsigned long long)peer->cntlid, peer->queues ? ", " : "",
		       peer->queues ? count_words(peer->queues, "queue") : "");
}

static void print_subsys(const struct node *root, const struct node *subsys,
			 const struct connected_hosts *peers)
{
	struct branches b = { 0 };
	const struct link *link;
	const struct node *node;
	size_t i;

	printf("%s  serial %s\n", subsys->name, node_get(subsys, "attr_serial") ?: "-");
	for_each_node(node, subsys, &schema_ns)
		grow(&b, namespace_words(node));
	for_each_node(node, subsys, &schema_passthru) {
		if (node_is(node, "enable", "1") || deferred_reason(node))
			grow(&b, mem_fmt("all of %s, passed through%s",
					 node_get(node, "device_path") ?: "?",
					 disabled_words(node)));
	}
	for_each_node(node, root, &schema_port) {
		const char *state = port_state(node);

		if (node_linked(node, subsys->name))
			grow(&b, mem_fmt("port %s: %s%s%s", node->name, port_address(node),
					 state ? ", " : "", state ?: ""));
	}
	if (node_is(subsys, "attr_allow_any_host", "1"))
		grow(&b, "lets in any host");
	for (link = subsys->links; link; link = link->next) {
		const struct node *host = node_find(root, &schema_host, link->name);
		const char *key = host ? node_get(host, "dhchap_key") : NULL;

		grow(&b, mem_fmt("lets in %s%s", link->name,
				 key && *key ? ", which has to prove it" : ""));
	}
	for (i = 0; i < peers->nr; i++) {
		if (peers->peer[i].subsys && !strcmp(peers->peer[i].subsys, subsys->name))
			grow(&b, peer_words(&peers->peer[i]));
	}
	for_each_node(node, root, &schema_port) {
		if (node_linked(node, subsys->name) && !hosts_known_at(peers, node))
			grow(&b, mem_fmt("connected by port %s: not known", node->name));
	}
	print_branches(&b);
}

static void print_tree(const struct node *root, const struct connected_hosts *peers)
{
	const struct node *node;
	const char *gap = "";
	size_t i;

	for_each_node(node, root, &schema_subsys) {
		fputs(gap, stdout);
		print_subsys(root, node, peers);
		gap = "\n";
	}
	for_each_node(node, root, &schema_port) {
		if (!node->links)
			printf("%sport %s: %s, %s\n", gap, node->name,
			       port_address(node), port_state(node));
	}
	for (i = 0; i < peers->nr; i++) {
		if (!peers->peer[i].subsys)
			printf("%s%s, of which it is not known what it uses\n", gap,
			       peer_words(&peers->peer[i]));
	}
	if (!node_count(root, &schema_subsys))
		puts("nothing is exported");
	else if (!all_known(root, peers))
		puts("\nWhich hosts are connected is not known of all ports: as root, with debugfs mounted, and of RDMA with our nvmet-rdma, it is.");
}

/* ---- JSON ---- */

static void put_text(struct json_object *obj, const char *key, const char *text)
{
	json_object_object_add(obj, key, text ? json_object_new_string(text) : NULL);
}

static void put_number(struct json_object *obj, const char *key, uint64_t number)
{
	json_object_object_add(obj, key, json_object_new_uint64(number));
}

static void put_bool(struct json_object *obj, const char *key, bool value)
{
	json_object_object_add(obj, key, json_object_new_boolean(value));
}

static struct json_object *put_list(struct json_object *obj, const char *key)
{
	struct json_object *list = json_object_new_array();

	json_object_object_add(obj, key, list);
	return list;
}

static struct json_object *put_object(struct json_object *list)
{
	struct json_object *obj = json_object_new_object();

	json_object_array_add(list, obj);
	return obj;
}

static void namespace_json(struct json_object *obj, const struct node *ns)
{
	const struct disk_state state = disk_state(ns);

	put_number(obj, "nsid", strtoull(ns->name, NULL, 10));
	put_text(obj, "device", node_get(ns, "device_path"));
	put_number(obj, "bytes", state.bytes);
	put_bool(obj, "present", state.there);
	put_bool(obj, "enabled", node_is(ns, "enable", "1"));
	put_text(obj, "waits_for", deferred_reason(ns));
	put_text(obj, "uuid", node_get(ns, "device_uuid"));
}

static void peer_json(struct json_object *obj, const struct connected_host *peer)
{
	put_text(obj, "host", safe_words(peer->host));
	put_text(obj, "address", peer->addr);
	put_number(obj, "controller", peer->cntlid);
	put_number(obj, "port", peer->port);
	put_number(obj, "queues", peer->queues);
}

static void subsys_json(struct json_object *obj, const struct node *root,
			const struct node *subsys, const struct connected_hosts *peers)
{
	struct json_object *list;
	const struct link *link;
	const struct node *node;
	size_t i;

	put_text(obj, "nqn", subsys->name);
	put_text(obj, "serial", node_get(subsys, "attr_serial"));
	put_bool(obj, "any_host", node_is(subsys, "attr_allow_any_host", "1"));
	list = put_list(obj, "namespaces");
	for_each_node(node, subsys, &schema_ns)
		namespace_json(put_object(list), node);
	list = put_list(obj, "ports");
	for_each_node(node, root, &schema_port) {
		if (node_linked(node, subsys->name))
			json_object_array_add(list, json_object_new_int64(atoi(node->name)));
	}
	list = put_list(obj, "allowed_hosts");
	for (link = subsys->links; link; link = link->next)
		json_object_array_add(list, json_object_new_string(link->name));
	list = put_list(obj, "connected");
	for (i = 0; i < peers->nr; i++) {
		if (peers->peer[i].subsys && !strcmp(peers->peer[i].subsys, subsys->name))
			peer_json(put_object(list), &peers->peer[i]);
	}
	put_bool(obj, "connected_known", hosts_known_of(peers, subsys));
}

static void print_json(const struct node *root, const struct connected_hosts *peers)
{
	struct json_object *all = json_object_new_object(), *list, *obj;
	const struct node *node;

	list = put_list(all, "subsystems");
	for_each_node(node, root, &schema_subsys)
		subsys_json(put_object(list), root, node, peers);
	list = put_list(all, "ports");
	for_each_node(node, root, &schema_port) {
		obj = put_object(list);
		put_number(obj, "id", strtoull(node->name, NULL, 10));
		put_text(obj, "transport", node_get(node, "addr_trtype"));
		put_text(obj, "address", node_get(node, "addr_traddr"));
		put_text(obj, "service", node_get(node, "addr_trsvcid"));
		put_text(obj, "state", port_state(node));
	}
	put_bool(all, "connected_known", all_known(root, peers));
	puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY |
					    JSON_C_TO_STRING_SPACED |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(all);
}

static int run(int argc, char **argv)
{
	int json = false, c;
	const struct option longs[] = {
		{ "json", no_argument, &json, true },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const struct node *root;
	struct connected_hosts peers;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c)
			return c == 'h' ? command_help(&cmd_list) : command_usage_hint(&cmd_list);
	}
	if (optind < argc) {
		error_msg("unexpected argument \"%s\"", argv[optind]);
		return command_usage_hint(&cmd_list);
	}
	root = configfs_read();
	if (!root)
		return STATUS_FAILED;
	peers = hosts_read("");
	if (json)
		print_json(root, &peers);
	else
		print_tree(root, &peers);
	return STATUS_OK;
}

const struct command cmd_list = {
	"list", run, "show what is exported, where, and to whom", usage,
};
