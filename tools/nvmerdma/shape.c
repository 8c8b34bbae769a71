// SPDX-License-Identifier: GPL-2.0
/*
 * What kinds of objects nvmet has in configfs, and what is known of them.
 *
 * Attributes are found where the kernel has them: this list is not what there is, but
 * what is special about some. Checked on 6.1, 6.12 and 7.2 (drivers/nvme/target/configfs.c).
 */
#include "node.h"

#include <string.h>

/* NVMET_MAX_ANAGRPS */
#define ANA_GROUPS	128

#define LIST(...)	((const char * const []) { __VA_ARGS__, NULL })
#define PARTS(...)	((const struct shape * const []) { __VA_ARGS__, NULL })
#define NONE		((const char * const []) { NULL })
#define NO_PARTS	((const struct shape * const []) { NULL })

const struct shape shape_host = {
	.noun = "host", .dir = "hosts", .key = "nqn",
	.parts = NO_PARTS, .groups = LIST("dhchap"), .bare = NONE,
	.first = NONE, .live = NONE, .fixed = NONE,
};

const struct shape shape_ns = {
	.noun = "namespace", .dir = "namespaces", .key = "nsid", .min = 1, .max = UINT32_MAX - 1,
	.parts = NO_PARTS, .groups = LIST("device", "ana", "resv"),
	.bare = LIST("buffered_io", "p2pmem"),
	.first = LIST("device_path"), .live = LIST("ana_grpid"), .fixed = NONE,
};

const struct shape shape_passthru = {
	.noun = "passthru", .dir = "passthru",
	.parts = NO_PARTS, .groups = LIST("device"),
	.bare = LIST("admin_timeout", "clear_ids", "io_timeout"),
	.first = LIST("device_path"), .live = LIST("admin_timeout", "clear_ids", "io_timeout"),
	.fixed = NONE,
};

/* A host takes its controllers' subsystem for another one if one of the fixed changes,
 * and nvmet lets nobody change them once a host has seen them.
 */
const struct shape shape_subsys = {
	.noun = "subsystem", .dir = "subsystems", .key = "nqn",
	.links = "allowed_hosts", .linked = &shape_host,
	.parts = PARTS(&shape_ns, &shape_passthru),
	.groups = LIST("attr"), .bare = NONE, .first = NONE, .live = NONE,
	.fixed = LIST("attr_version", "attr_serial", "attr_model", "attr_ieee_oui",
		      "attr_firmware"),
};

const struct shape shape_ana = {
	.noun = "ANA group", .dir = "ana_groups", .key = "grpid", .min = 1, .max = ANA_GROUPS,
	.made = "1",
	.parts = NO_PARTS, .groups = LIST("ana"), .bare = NONE, .first = NONE, .live = NONE,
	.fixed = NONE,
};

const struct shape shape_referral = {
	.noun = "referral", .dir = "referrals", .key = "name",
	.parts = NO_PARTS, .groups = LIST("addr"), .bare = NONE,
	.first = LIST("addr_trtype", "addr_adrfam"), .live = NONE, .fixed = NONE,
};

const struct shape shape_port = {
	.noun = "port", .dir = "ports", .key = "portid", .min = 0, .max = UINT16_MAX,
	.links = "subsystems", .linked = &shape_subsys,
	.parts = PARTS(&shape_ana, &shape_referral),
	.groups = LIST("addr", "param"), .bare = NONE,
	.first = LIST("addr_trtype", "addr_adrfam", "addr_traddr", "addr_trsvcid", "addr_tsas",
		      "addr_treq"),
	.live = NONE, .fixed = NONE,
};

const struct shape shape_root = {
	.noun = "target", .dir = "",
	.parts = PARTS(&shape_host, &shape_subsys, &shape_port),
	.groups = LIST("discovery"), .bare = NONE, .first = NONE, .live = NONE, .fixed = NONE,
};

bool word_in(const char * const *list, const char *word)
{
	for (; *list; list++) {
		if (!strcmp(*list, word))
			return true;
	}
	return false;
}

const char *shape_default(const struct shape *shape, const char *attr)
{
	static const struct {
		const struct shape *shape;
		const char *attr, *value;
	} known[] = {
		{ &shape_root, "discovery_nqn", "nqn.2014-08.org.nvmexpress.discovery" },
		{ &shape_host, "dhchap_key", "" },
		{ &shape_host, "dhchap_ctrl_key", "" },
		{ &shape_host, "dhchap_hash", "hmac(sha256)" },
		{ &shape_host, "dhchap_dhgroup", "null" },
		{ &shape_ns, "resv_enable", "0" },
		{ &shape_ns, "ana_grpid", "1" },
		{ &shape_ns, "buffered_io", "0" },
		{ &shape_ns, "p2pmem", "0" },
		{ &shape_ns, "enable", "0" },
		{ &shape_passthru, "device_path", "" },
		{ &shape_passthru, "admin_timeout", "0" },
		{ &shape_passthru, "io_timeout", "0" },
		{ &shape_passthru, "clear_ids", "0" },
		{ &shape_passthru, "enable", "0" },
		{ &shape_subsys, "attr_allow_any_host", "0" },
		{ &shape_subsys, "attr_cntlid_min", "1" },
		{ &shape_subsys, "attr_cntlid_max", "65519" },
		{ &shape_subsys, "attr_ieee_oui", "0x000000" },
		{ &shape_subsys, "attr_pi_enable", "0" },
		{ &shape_subsys, "attr_vendor_id", "0x0" },
		{ &shape_subsys, "attr_subsys_vendor_id", "0x0" },
		{ &shape_port, "addr_treq", "not specified" },
		{ &shape_port, "param_inline_data_size", "-1" },
		{ &shape_port, "param_max_queue_size", "-1" },
		{ &shape_port, "param_mdts", "-1" },
		{ &shape_port, "param_pi_enable", "0" },
		{ &shape_referral, "enable", "0" },
		{ &shape_referral, "addr_treq", "not specified" },
	};
	size_t i;

	for (i = 0; i < NR(known); i++) {
		if (known[i].shape == shape && !strcmp(known[i].attr, attr))
			return known[i].value;
	}
	return NULL;
}

bool shape_secret(const char *attr)
{
	return !strcmp(attr, "dhchap_key") || !strcmp(attr, "dhchap_ctrl_key");
}
