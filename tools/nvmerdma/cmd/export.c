// SPDX-License-Identifier: GPL-2.0
/*
 * nvmerdma export: disks on the network in one command. A subsystem with a namespace for
 * each disk, and a port for each address, as far as there is none yet.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uuid/uuid.h>

#include "disk/disk.h"
#include "config/config.h"
#include "command.h"
#include "common/util.h"
#include "rdma/rdma.h"
#include "restore/restore.h"

/* What hosts ask for when they are told no port: IANA's for NVMe over RDMA */
#define SERVICE		"4420"

#define INLINE_MAX	65536
#define QUEUE_SIZE_MIN	16
#define QUEUE_SIZE_MAX	1024
#define CNTLID_MAX	65519

static const char usage[] =
"DEVICE|FILE... [OPTIONS]\n"
"\n"
"Makes disks available to hosts by NVMe over RDMA, and says what to type there.\n"
"\n"
"  --nqn NQN          the subsystem's name; default: one that stays the same for\n"
"                     these disks on this machine\n"
"  --addr A[,A...]    addresses to listen at; default: the first with RDMA\n"
"  --port P           port number, default " SERVICE "\n"
"  --host NQN         let in this host only; may be repeated\n"
"  --dhchap KEYFILE   these hosts have to prove who they are (DH-HMAC-CHAP)\n"
"  --inline-size B    bytes of a write that travel with the command, 0 to 65536\n"
"  --queue-size N     commands outstanding on a queue, 16 to 1024\n"
"  --pi               with protection information (T10)\n"
"  --serial S         serial number, up to 20 characters\n"
"  --uuid U           of the namespace, with one disk\n"
"  --cntlid MIN-MAX   controller IDs, where two machines export the same disk\n"
"  --save             and keep it: as 'nvmerdma save'\n"
"  --dry-run          print the commands that would do it, and do nothing\n";

struct options {
	const char *nqn, *addr, *serial, *uuid, *keyfile;
	const char *cntlid_min, *cntlid_max;
	const char **hosts;
	size_t nr_hosts;
	struct port_wish port;
	int dry, save;			/* flags of getopt_long() */
};

/* What is made */
struct made {
	struct disk *disks;
	size_t nr;
	const char *nqn;
	struct rdma_addrs addrs;
};

/* ---- the command line ---- */

static int number_text(const char *option, const char *text, unsigned long min,
		       unsigned long max, const char **value)
{
	unsigned long number;

	if (number_option(option, text, min, max, &number))
		return -1;
	*value = mem_fmt("%lu", number);
	return 0;
}

static int parse_cntlid(const char *text, struct options *o)
{
	const char *dash = strchr(text, '-');

	if (!dash)
		return error_msg("--cntlid: invalid value \"%s\" (expected MIN-MAX, as in 1-999)",
				 text);
	if (number_text("--cntlid", mem_strn(text, dash - text), 1, CNTLID_MAX, &o->cntlid_min) ||
	    number_text("--cntlid", dash + 1, strtoul(o->cntlid_min, NULL, 10), CNTLID_MAX,
			&o->cntlid_max))
		return -1;
	return 0;
}

static int check_nqn(const char *option, const char *nqn)
{
	if (strncmp(nqn, "nqn.", 4))
		return error_msg("%s: invalid value \"%s\" (expected an NQN, as in nqn.2026-01.org.example:disk)",
				 option, nqn);
	return validate_name(option, &schema_host, &nqn);
}

static void add_addr(struct options *o, const char *addr)
{
	o->addr = o->addr ? mem_fmt("%s,%s", o->addr, addr) : addr;
}

static int check_uuid(const char *text)
{
	uuid_t uuid;

	if (uuid_parse(text, uuid))
		return error_msg("--uuid: invalid value \"%s\" (expected a UUID, as 'uuidgen' prints)",
				 text);
	return 0;
}

/* 0; -1: it was said */
static int parse_option(struct options *o, int c, const char *arg)
{
	switch (c) {
	case 'q':
		o->nqn = arg;
		return check_nqn("--nqn", arg);
	case 'a':
		add_addr(o, arg);
		return 0;
	case 'p':
		return number_text("--port", arg, 1, UINT16_MAX, &o->port.service);
	case 'H':
		mem_push(o->hosts, o->nr_hosts, arg);
		return check_nqn("--host", arg);
	case 'k':
		o->keyfile = arg;
		return 0;
	case 'i':
		return number_text("--inline-size", arg, 0, INLINE_MAX, &o->port.inline_size);
	case 'Q':
		return number_text("--queue-size", arg, QUEUE_SIZE_MIN, QUEUE_SIZE_MAX,
				   &o->port.queue_size);
	case 's':
		o->serial = arg;
		return 0;
	case 'u':
		o->uuid = arg;
		return check_uuid(arg);
	case 'c':
		return parse_cntlid(arg, o);
	default:
		return 0;
	}
}

/* -1: to go on; else the status to end with */
static int parse(int argc, char **argv, struct options *o)
{
	const struct option longs[] = {
		{ "nqn", required_argument, NULL, 'q' },
		{ "addr", required_argument, NULL, 'a' },
		{ "port", required_argument, NULL, 'p' },
		{ "host", required_argument, NULL, 'H' },
		{ "dhchap", required_argument, NULL, 'k' },
		{ "inline-size", required_argument, NULL, 'i' },
		{ "queue-size", required_argument, NULL, 'Q' },
		{ "pi", no_argument, &o->port.pi, true },
		{ "serial", required_argument, NULL, 's' },
		{ "uuid", required_argument, NULL, 'u' },
		{ "cntlid", required_argument, NULL, 'c' },
		{ "save", no_argument, &o->save, true },
		{ "dry-run", no_argument, &o->dry, true },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == 'h')
			return command_help(&cmd_export);
		if (c == '?')
			return command_usage_hint(&cmd_export);
		if (parse_option(o, c, optarg))
			return STATUS_USAGE;
	}
	if (optind == argc) {
		error_msg("missing argument: device or file");
		return command_usage_hint(&cmd_export);
	}
	if (o->keyfile && !o->nr_hosts)
		return -usage_error("missing option: --host, whose key --dhchap gives");
	if (o->uuid && argc - optind > 1)
		return -usage_error("--uuid: not with %d disks (expected one)", argc - optind);
	return -1;
}

/* ---- what is to be ---- */

static bool has_key(const struct node *host)
{
	return *(node_get(host, "dhchap_key") ?: "");
}

/*
 * A host has one key for all that it is let in to, which it knows for that: another one
 * would lock it out there.
 */
static int give_keys(const struct node *root, struct node *host, const struct keys *keys)
{
	const char *ctrl = keys->ctrl ?: "";
	const struct node *subsys;

	if (node_is(host, "dhchap_key", keys->host) &&
	    !strcmp(node_get(host, "dhchap_ctrl_key") ?: "", ctrl))
		return 0;
	for_each_node(subsys, root, &schema_subsys) {
		if (node_linked(subsys, host->name))
			return error_msg("--dhchap: %s already has access to %s %s; use that key or omit --dhchap",
					 host->name, subsys->name,
					 has_key(host) ? "with another key" : "without a key");
	}
	node_set(host, "dhchap_key", keys->host);
	if (*ctrl || node_get(host, "dhchap_ctrl_key"))
		node_set(host, "dhchap_ctrl_key", ctrl);
	return 0;
}

static int add_hosts(struct node *root, struct node *subsys, const struct options *o)
{
	struct keys keys;
	size_t i;

	if (!o->nr_hosts) {
		node_set(subsys, "attr_allow_any_host", "1");
		return 0;
	}
	if (o->keyfile && keyfile_read(o->keyfile, &keys))
		return -1;
	for (i = 0; i < o->nr_hosts; i++) {
		struct node *host = node_add(root, &schema_host, o->hosts[i]);

		if (o->keyfile && give_keys(root, host, &keys))
			return -1;
		node_link(subsys, o->hosts[i]);
	}
	return 0;
}

/* A UUID that was given may be one that a restore would not find to be of this disk */
static void warn_of_restore(const struct disk *disk, const struct node *ns)
{
	const struct disk kept = { .path = disk->kept, .place = disk->place,
				   .identity = disk->identity, .told = disk->told };
	const char *why = identity_differs(&kept, ns);

	if (why)
		note_msg("'nvmerdma restore' will reject it: %s", why);
}

static int add_namespaces(struct node *subsys, const struct options *o, const struct made *made)
{
	const char *uuid;
	size_t i;

	for (i = 0; i < made->nr; i++) {
		const struct disk *disk = &made->disks[i];
		struct node *ns;

		uuid = o->uuid ?: identity_uuid(disk);
		if (!uuid || (!o->uuid && overlap_uuid(subsys->parent, disk, uuid)))
			return -1;
		ns = node_add(subsys, &schema_ns, mem_fmt("%zu", i + 1));
		node_set(ns, "device_path", disk->kept);
		node_set(ns, "device_uuid", uuid);
		node_set(ns, "device_nguid", uuid);
		warn_of_restore(disk, ns);
		if (disk->buffered)
			node_set(ns, "buffered_io", "1");
		node_set(ns, "enable", "1");
		standby_own_group(subsys->parent, ns);
	}
	return 0;
}

static int add_export(struct node *root, const struct options *o, struct made *made)
{
	struct identity id = { .nqn = o->nqn, .serial = o->serial };
	const struct rdma_addr *addr;
	struct node *subsys;

	if ((!o->nqn || !o->serial) && identity_of(made->disks, made->nr, &id))
		return -1;
	made->nqn = o->nqn ?: id.nqn;
	subsys = node_find(root, &schema_subsys, made->nqn);
	if (subsys)
		return overlap_name(subsys, o->nqn);
	subsys = node_add(root, &schema_subsys, made->nqn);
	node_set(subsys, "attr_serial", o->serial ?: id.serial);
	if (o->cntlid_min) {
		node_set(subsys, "attr_cntlid_min", o->cntlid_min);
		node_set(subsys, "attr_cntlid_max", o->cntlid_max);
	}
	if (o->port.pi)
		node_set(subsys, "attr_pi_enable", "1");
	if (add_hosts(root, subsys, o) || add_namespaces(subsys, o, made))
		return -1;
	for_each_addr(addr, &made->addrs) {
		if (ports_offer(root, addr, &o->port, made->nqn))
			return -1;
	}
	return validate_config("export", root);
}

/* ---- what was done ---- */

/* Whether one of the hosts has such a key, be it from before */
static bool has_any(const struct options *o, const struct node *want, const char *key)
{
	size_t i;

	for (i = 0; i < o->nr_hosts; i++) {
		if (*(node_get(node_find(want, &schema_host, o->hosts[i]), key) ?: ""))
			return true;
	}
	return false;
}

/* What stands for a key: it is not printed. Without its own the controller proves nothing. */
static void say_keys(const struct options *o, bool ctrl)
{
	if (o->keyfile)
		printf("KEY is the first key in %s%s.\n", o->keyfile,
		       ctrl ? ", CTRL_KEY the second one" : "");
	else
		printf("KEY is the one that the host has here already%s.\n",
		       ctrl ? ", CTRL_KEY the controller's for it" : "");
}

/* A link-local address goes with an interface, which has another name on the host */
static const char *address_there(const struct rdma_addr *addr)
{
	return addr->link_local ?
	       mem_fmt("%.*s%%IFACE", (int)strcspn(addr->text, "%"), addr->text) : addr->text;
}

static void say_how_to_connect(const struct options *o, const struct made *made,
			       const struct node *want)
{
	bool key = has_any(o, want, "dhchap_key"), ctrl = has_any(o, want, "dhchap_ctrl_key");
	const struct rdma_addr *addr;
	bool local = false;

	puts("\nOn a host, as root:\n\n    modprobe nvme-fabrics");
	for_each_addr(addr, &made->addrs) {
		local |= addr->link_local;
		printf("    nvme connect -t rdma -a %s -s %s -n %s%s%s\n",
		       address_there(addr), o->port.service, made->nqn,
		       key ? " --dhchap-secret=KEY" : "",
		       ctrl ? " --dhchap-ctrl-secret=CTRL_KEY" : "");
	}
	putchar('\n');
	if (local)
		puts("IFACE is the host's interface to this network.");
	if (key)
		say_keys(o, ctrl);
	if (!o->nr_hosts)
		puts("Warning: any host that can reach this address can use the disk. Use --host NQN to allow only one.");
	if (!o->save)
		puts("The export is lost at reboot; run 'nvmerdma save' to keep it.");
}

static void say_made(const struct options *o, const struct made *made,
		     const struct node *want)
{
	const struct rdma_addr *addr;
	size_t i;

	printf("%s\n", made->nqn);
	for (i = 0; i < made->nr; i++) {
		const struct disk *disk = &made->disks[i];

		printf("  %zu: %s, %s", i + 1, disk->path, size_words(disk->bytes));
		if (strcmp(disk->path, disk->kept))
			printf(", as %s", disk->kept);
		putchar('\n');
	}
	for_each_addr(addr, &made->addrs)
		printf("  at %s port %s (%s, %s)\n", addr->text, o->port.service, addr->netdev,
		       addr->link->device);
	for (i = 0; i < o->nr_hosts; i++)
		printf("  for %s\n", o->hosts[i]);
	say_how_to_connect(o, made, want);
}

/* The status to end with */
static int change(const struct options *o, char **paths, size_t nr)
{
	struct node *have, *want;
	struct made made = { 0 };
	struct plan plan;

	if (!o->dry && configfs_open())
		return STATUS_FAILED;
	have = configfs_read();
	made.nr = nr;
	if (!have || export_disks(paths, nr, o->uuid, o->save, have, &made.disks) ||
	    ports_choose(o->addr, &made.addrs))
		return STATUS_FAILED;
	want = node_copy(have);
	if (add_export(want, o, &made))
		return STATUS_FAILED;
	standby_apply(have, want);
	if (configfs_apply(have, want, o->dry, &plan))
		return STATUS_FAILED;
	if (o->dry)
		return STATUS_OK;
	say_made(o, &made, want);
	standby_report(have, want);
	if (!o->save || !save_config(CONFIG_FILE, have, want))
		return STATUS_OK;
	error_msg("exported, but saving failed: the export is lost at reboot. Run 'nvmerdma save'");
	return STATUS_NOT_KEPT;
}

static int run(int argc, char **argv)
{
	struct options o = { .port.service = SERVICE };
	int status = parse(argc, argv, &o);

	if (status >= 0)
		return status;
	return change(&o, argv + optind, argc - optind);
}

const struct command cmd_export = {
	"export", run, "put disks on the network", usage,
};
