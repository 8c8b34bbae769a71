// SPDX-License-Identifier: GPL-2.0
/*
 * What kinds of objects nvmet has in configfs, and what is known of them.
 *
 * Attributes are found where the kernel has them: this list is not what there is, but
 * what is special about some. Checked on 6.1, 6.12 and 7.2 (drivers/nvme/target/configfs.c).
 */
#include "config/tree.h"

#include <string.h>

/* NVMET_MAX_ANAGRPS */
#define ANA_GROUPS	128

#define LIST(...)	((const char * const []) { __VA_ARGS__, NULL })
#define PARTS(...)	((const struct schema * const []) { __VA_ARGS__, NULL })
#define NONE		((const char * const []) { NULL })
#define NO_PARTS	((const struct schema * const []) { NULL })

const struct schema schema_host = {
	.noun = "host", .dir = "hosts", .key = "nqn",
	.parts = NO_PARTS, .groups = LIST("dhchap"), .bare = NONE,
	.first = NONE, .live = NONE, .fixed = NONE,
};

const struct schema schema_ns = {
	.noun = "namespace", .dir = "namespaces", .key = "nsid", .min = 1, .max = UINT32_MAX - 1,
	.parts = NO_PARTS, .groups = LIST("device", "ana", "resv"),
	.bare = LIST("buffered_io", "p2pmem"),
	.first = LIST("device_path"), .live = LIST("ana_grpid"), .fixed = NONE,
};

const struct schema schema_passthru = {
	.noun = "passthru", .dir = "passthru",
	.parts = NO_PARTS, .groups = LIST("device"),
	.bare = LIST("admin_timeout", "clear_ids", "io_timeout"),
	.first = LIST("device_path"), .live = LIST("admin_timeout", "clear_ids", "io_timeout"),
	.fixed = NONE,
};

/* A host takes its controllers' subsystem for another one if one of the fixed changes,
 * and nvmet lets nobody change them once a host has seen them.
 */
const struct schema schema_subsys = {
	.noun = "subsystem", .dir = "subsystems", .key = "nqn",
	.links = "allowed_hosts", .linked = &schema_host,
	.parts = PARTS(&schema_ns, &schema_passthru),
	.groups = LIST("attr"), .bare = NONE, .first = NONE, .live = NONE,
	.fixed = LIST("attr_version", "attr_serial", "attr_model", "attr_ieee_oui",
		      "attr_firmware"),
};

const struct schema schema_ana = {
	.noun = "ANA group", .dir = "ana_groups", .key = "grpid", .min = 1, .max = ANA_GROUPS,
	.made = "1",
	.parts = NO_PARTS, .groups = LIST("ana"), .bare = NONE, .first = NONE, .live = NONE,
	.fixed = NONE,
};

const struct schema schema_referral = {
	.noun = "referral", .dir = "referrals", .key = "name",
	.parts = NO_PARTS, .groups = LIST("addr"), .bare = NONE,
	.first = LIST("addr_trtype", "addr_adrfam"), .live = NONE, .fixed = NONE,
};

const struct schema schema_port = {
	.noun = "port", .dir = "ports", .key = "portid", .min = 0, .max = UINT16_MAX,
	.links = "subsystems", .linked = &schema_subsys,
	.parts = PARTS(&schema_ana, &schema_referral),
	.groups = LIST("addr", "param"), .bare = NONE,
	.first = LIST("addr_trtype", "addr_adrfam", "addr_traddr", "addr_trsvcid", "addr_tsas",
		      "addr_treq"),
	.live = NONE, .fixed = NONE,
};

const struct schema schema_root = {
	.noun = "target", .dir = "",
	.parts = PARTS(&schema_host, &schema_subsys, &schema_port),
	.groups = LIST("discovery"), .bare = NONE, .first = NONE, .live = NONE, .fixed = NONE,
};

const char *schema_default(const struct schema *shape, const char *attr)
{
	static const struct {
		const struct schema *shape;
		const char *attr, *value;
	} known[] = {
		{ &schema_root, "discovery_nqn", "nqn.2014-08.org.nvmexpress.discovery" },
		{ &schema_host, "dhchap_key", "" },
		{ &schema_host, "dhchap_ctrl_key", "" },
		{ &schema_host, "dhchap_hash", "hmac(sha256)" },
		{ &schema_host, "dhchap_dhgroup", "null" },
		{ &schema_ns, "resv_enable", "0" },
		{ &schema_ns, "ana_grpid", "1" },
		{ &schema_ns, "buffered_io", "0" },
		{ &schema_ns, "p2pmem", "0" },
		{ &schema_ns, "enable", "0" },
		{ &schema_passthru, "device_path", "" },
		{ &schema_passthru, "admin_timeout", "0" },
		{ &schema_passthru, "io_timeout", "0" },
		{ &schema_passthru, "clear_ids", "0" },
		{ &schema_passthru, "enable", "0" },
		{ &schema_subsys, "attr_allow_any_host", "0" },
		{ &schema_subsys, "attr_cntlid_min", "1" },
		{ &schema_subsys, "attr_cntlid_max", "65519" },
		{ &schema_subsys, "attr_ieee_oui", "0x000000" },
		{ &schema_subsys, "attr_pi_enable", "0" },
		{ &schema_subsys, "attr_vendor_id", "0x0" },
		{ &schema_subsys, "attr_subsys_vendor_id", "0x0" },
		{ &schema_port, "addr_treq", "not specified" },
		{ &schema_port, "param_inline_data_size", "-1" },
		{ &schema_port, "param_max_queue_size", "-1" },
		{ &schema_port, "param_mdts", "-1" },
		{ &schema_port, "param_pi_enable", "0" },
		{ &schema_referral, "enable", "0" },
		{ &schema_referral, "addr_treq", "not specified" },
	};
	size_t i;

	for (i = 0; i < NR(known); i++) {
		if (known[i].shape == shape && !strcmp(known[i].attr, attr))
			return known[i].value;
	}
	return NULL;
}

bool schema_secret(const char *attr)
{
	return !strcmp(attr, "dhchap_key") || !strcmp(attr, "dhchap_ctrl_key");
}
