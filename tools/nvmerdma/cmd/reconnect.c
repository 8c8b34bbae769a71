// SPDX-License-Identifier: GPL-2.0
/* nvmerdma reconnect: connect again what ended with a removed RDMA device */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "reconnect/reconnect.h"

static const char usage[] =
"[--list|--forget NQN|--forget-all]\n"
"\n"
"Connects the controllers again that the kernel deleted because their RDMA device was\n"
"removed: each when its device and its address are back. Ends when none waits any more.\n"
"nvmerdma-reconnect.path starts it.\n"
"\n"
"  --list         show what waits, and for what\n"
"  --forget NQN   do not connect this subsystem again\n"
"  --forget-all   do not connect anything again\n"
"\n"
"For udev's rule:\n"
"  --connected CTRL       CTRL, nvme0, is connected: keep its options\n"
"  --device-removed CTRL  its RDMA device was removed: it waits\n"
"  --deleted CTRL         it was deleted: drop its options\n";

enum wish { WISH_CONNECT, WISH_HELP, WISH_LIST, WISH_FORGET, WISH_FORGET_ALL, WISH_CONNECTED,
	    WISH_DEVICE_REMOVED, WISH_DELETED };

static int list(void)
{
	struct records records = records_waiting();
	struct rdma_links links = rdma_links();
	struct rdma_addrs addrs = rdma_addrs(&links);
	const struct record *record;

	for_each_record(record, &records)
		printf("%s: %s\n", record_words(record),
		       not_reachable_reason(record, &addrs, &links) ?: "can be reached");
	return 0;
}

/* @nqn: NULL: all */
static int forget(const char *nqn)
{
	struct records records = records_waiting();
	const struct record *record;
	size_t forgotten = 0;

	for_each_record(record, &records) {
		if (nqn && strcmp(nqn, record->nqn))
			continue;
		record_remove(record->id, &record->stamp);
		printf("%s is not connected again\n", record_words(record));
		forgotten++;
	}
	if (nqn && !forgotten)
		return error_msg("nothing of \"%s\" waits; 'nvmerdma reconnect --list' shows what does",
				 safe_words(nqn));
	return 0;
}

static int fulfil(enum wish wish, const char *value)
{
	switch (wish) {
	case WISH_LIST:
		return list();
	case WISH_FORGET:
		return forget(value);
	case WISH_FORGET_ALL:
		return forget(NULL);
	case WISH_CONNECTED:
		return record_connected(value);
	case WISH_DEVICE_REMOVED:
		return record_device_removed(value);
	case WISH_DELETED:
		return record_deleted(value);
	default:
		return reconnect_all();
	}
}

static int run(int argc, char **argv)
{
	const struct option longs[] = {
		{ "list", no_argument, NULL, WISH_LIST },
		{ "forget", required_argument, NULL, WISH_FORGET },
		{ "forget-all", no_argument, NULL, WISH_FORGET_ALL },
		{ "connected", required_argument, NULL, WISH_CONNECTED },
		{ "device-removed", required_argument, NULL, WISH_DEVICE_REMOVED },
		{ "deleted", required_argument, NULL, WISH_DELETED },
		{ "help", no_argument, NULL, WISH_HELP },
		{ 0 },
	};
	enum wish wish = WISH_CONNECT;
	const char *value = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == '?')
			return command_usage_hint(&cmd_reconnect);
		if (c == 'h' || c == WISH_HELP)
			return command_help(&cmd_reconnect);
		if (wish != WISH_CONNECT) {
			error_msg("more than one option (expected one of them)");
			return command_usage_hint(&cmd_reconnect);
		}
		wish = c;
		value = optarg;
	}
	if (argc > optind) {
		error_msg("unexpected argument \"%s\"", argv[optind]);
		return command_usage_hint(&cmd_reconnect);
	}
	return fulfil(wish, value) ? STATUS_FAILED : STATUS_OK;
}

const struct command cmd_reconnect = {
	"reconnect", run, "connect again what ended with its RDMA device", usage,
};
