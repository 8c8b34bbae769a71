// SPDX-License-Identifier: GPL-2.0
/*
 * tools/nvmerdma: from any configuration to any other one, or back to where it was, on
 * kernels that differ. Single cases are in test_nvmerdma_plan_cases.c.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvmerdma_kernel.h"
#include "tools/nvmerdma/config/config.h"

/* ---- configurations ---- */

static unsigned int seed;

static unsigned int pick(unsigned int n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % n;
}

static const char *one_of(const char *a, const char *b, const char *c)
{
	unsigned int i = pick(3);

	return i == 0 ? a : i == 1 ? b : c;
}

/* An object as a file of a kernel has it */
static struct node *some(struct node *parent, const struct schema *shape, const char *name,
			 unsigned int version)
{
	struct node *node = node_add(parent, shape, name);

	kernel_defaults(node, version);
	return node;
}

static void set(struct node *node, unsigned int version, const char *attr, const char *value)
{
	if (kernel_has(version, node->shape, attr))
		node_set(node, attr, value);
}

static void some_namespaces(struct node *subsys, unsigned int version, bool may_be_on)
{
	unsigned int i;

	for (i = 1; i <= 3; i++) {
		struct node *ns;

		if (pick(2))
			continue;
		ns = some(subsys, &schema_ns, mem_fmt("%u", i), version);
		node_set(ns, "device_path", one_of("/dev/a", "/dev/b", "/dev/c"));
		node_set(ns, "device_uuid", one_of("0000", "1111", "2222"));
		node_set(ns, "ana_grpid", one_of("1", "2", "3"));
		node_set(ns, "buffered_io", pick(2) ? "1" : "0");
		node_set(ns, "enable", pick(4) && may_be_on ? "1" : "0");
	}
}

static void some_subsys(struct node *root, const char *nqn, unsigned int version)
{
	struct node *subsys = some(root, &schema_subsys, nqn, version), *passthru, *host;
	bool any = pick(2), passes = !pick(3);

	node_set(subsys, "attr_serial", one_of("s0", "s1", "s1"));
	node_set(subsys, "attr_allow_any_host", any ? "1" : "0");
	node_set(subsys, "attr_pi_enable", one_of("0", "0", "1"));
	set(subsys, version, "attr_firmware", one_of("6.12", "7.2", "7.2"));
	node_set(subsys, "attr_cntlid_min", one_of("100", "200", "300"));
	node_set(subsys, "attr_cntlid_max",
		 mem_fmt("%ld", strtol(node_get(subsys, "attr_cntlid_min"), NULL, 0) + 100));
	passthru = node_find(subsys, &schema_passthru, "");
	node_set(passthru, "device_path", one_of("/dev/nvme0", "/dev/nvme1", "/dev/nvme0"));
	node_set(passthru, "enable", passes ? "1" : "0");
	node_set(passthru, "io_timeout", pick(2) ? "30" : "0");
	some_namespaces(subsys, version, !passes);
	for_each_node(host, root, &schema_host) {
		if (!any && pick(2))
			node_link(subsys, host->name);
	}
}

/* @tls: both kernels that the configuration is meant for support it */
static void some_address(struct node *port, unsigned int version, bool tls)
{
	bool rdma = pick(3), secure = !rdma && tls && pick(2);

	node_set(port, "addr_trtype", rdma ? "rdma" : "tcp");
	node_set(port, "addr_traddr", one_of("192.0.2.1", "192.0.2.2", "192.0.2.1"));
	set(port, version, "addr_tsas", rdma ? "connected" : secure ? "tls1.3" : "none");
	node_set(port, "addr_treq", secure ? one_of("required", "not required", "required") :
		 one_of("not specified", "not specified", "required"));
}

static void some_port(struct node *root, const char *id, unsigned int version, bool tls)
{
	struct node *port = some(root, &schema_port, id, version), *subsys, *node;

	some_address(port, version, tls);
	node_set(port, "param_inline_data_size", one_of("-1", "8192", "65536"));
	set(port, version, "param_max_queue_size", one_of("-1", "8", "1024"));
	set(port, version, "param_mdts", one_of("-1", "5", "6"));
	node_set(port, "param_pi_enable", pick(2) ? "1" : "0");
	node_set(node_find(port, &schema_ana, "1"), "ana_state",
		 one_of("optimized", "inaccessible", "optimized"));
	if (pick(2)) {
		node = some(port, &schema_ana, "2", version);
		node_set(node, "ana_state", one_of("optimized", "change", "inaccessible"));
	}
	if (pick(2)) {
		node = some(port, &schema_referral, one_of("r1", "r2", "r1"), version);
		node_set(node, "addr_traddr", pick(2) ? "198.51.100.1" : "198.51.100.2");
		node_set(node, "enable", pick(2) ? "1" : "0");
	}
	for_each_node(subsys, root, &schema_subsys) {
		if (pick(2))
			node_link(port, subsys->name);
	}
}

static struct node *some_config(unsigned int version, bool tls)
{
	static const char * const names[] = { "nqn.a", "nqn.b", "nqn.c" };
	struct node *root = node_root();
	unsigned int i;

	kernel_defaults(root, version);
	if (pick(2))
		set(root, version, "discovery_nqn", "nqn.disc");
	for (i = 0; i < 3; i++) {
		if (pick(3))
			node_set(some(root, &schema_host, mem_fmt("%s.host", names[i]), version),
				 "dhchap_key", pick(2) ? "DHHC-1:00:x:" : "");
	}
	for (i = 0; i < 3; i++) {
		if (pick(3))
			some_subsys(root, names[i], version);
	}
	for (i = 1; i <= 2; i++) {
		if (pick(3))
			some_port(root, mem_fmt("%u", i), version, tls);
	}
	return root;
}

/* ---- values that are left out ---- */

static void unset(struct node *node, const char *name)
{
	struct attr **at = &node->attrs;

	while (*at && strcmp((*at)->name, name))
		at = &(*at)->next;
	if (*at)
		*at = (*at)->next;
}

/* Those which only make sense together are left out together */
static void leave_out_some(struct node *node)
{
	struct attr *attr, *next;
	unsigned int unsaid;

	for (attr = node->attrs; attr; attr = next) {
		next = attr->next;
		if (!pick(3) && strncmp(attr->name, "attr_cntlid", 11) &&
		    strncmp(attr->name, "addr_t", 6) && strcmp(attr->name, "enable"))
			unset(node, attr->name);
	}
	if (!pick(3) && node->shape != &schema_passthru &&
	    !(node->shape == &schema_ns &&
	      node_is(node_find(node->parent, &schema_passthru, ""), "enable", "1")))
		unset(node, "enable");
	if (!pick(3)) {
		unset(node, "attr_cntlid_min");
		unset(node, "attr_cntlid_max");
	}
	unsaid = pick(6);
	if (unsaid < 1)
		unset(node, "addr_trtype");
	if (unsaid < 2)
		unset(node, "addr_tsas");
	if (unsaid < 3)
		unset(node, "addr_treq");
}

/* Of objects that are there: new ones are described in full, as they have to be */
static void leave_out(struct node *want, const struct node *have)
{
	const struct node *below;

	for (below = have->below; below; below = below->next) {
		struct node *same = node_find(want, below->shape, below->name);

		if (same)
			leave_out(same, below);
	}
	leave_out_some(want);
}

/* ---- the expected result ---- */

/*
 * What is on one side only: an attribute that the kernel lacks is absent, and an attribute
 * that the file lacks stays. "?" matches anything: the file left it to the transport, or the
 * kernel resets it when something else is written.
 */
static void expect_attrs(struct node *expect, const struct node *want, const struct node *have,
			 unsigned int version)
{
	const struct attr *attr;
	bool moves = have && node_get(want, "addr_trtype") &&
		     !node_is(have, "addr_trtype", node_get(want, "addr_trtype"));

	kernel_defaults(expect, version);
	for (attr = have ? have->attrs : NULL; attr; attr = attr->next)
		node_set(expect, attr->name, attr->value);
	for (attr = want->attrs; attr; attr = attr->next)
		set(expect, version, attr->name, attr->value);
	if (want->shape == &schema_subsys && want->links && !node_get(want, "attr_allow_any_host"))
		node_set(expect, "attr_allow_any_host", "0");
	if (want->shape != &schema_port)
		return;
	if (!node_get(want, "addr_treq"))
		node_set(expect, "addr_treq", "?");
	if (!node_get(want, "addr_tsas") && (moves || !have))
		set(expect, version, "addr_tsas", "?");
}

static void expect_node(struct node *expect, const struct node *want, const struct node *have,
			const struct nvmet *nvmet)
{
	const struct node *below, *had;
	const struct attr *attr;
	const struct link *link;

	expect_attrs(expect, want, have, nvmet->version);
	for (link = want->links; link; link = link->next)
		node_link(expect, link->name);
	for (below = want->below; below; below = below->next) {
		had = have ? node_find(have, below->shape, below->name) : NULL;
		expect_node(node_add(expect, below->shape, below->name), below, had, nvmet);
	}
	if (want->shape != &schema_port)
		return;
	if (want->links)
		kernel_lower(nvmet, expect);
	for (attr = want->attrs; attr; attr = attr->next) {
		if (have && !strncmp(attr->name, "param_", 6) && !strcmp(attr->value, "-1"))
			set(expect, nvmet->version, attr->name, "?");
	}
}

/* All that a configuration is, as text */
static const char *dump(const struct node *node)
{
	const char *text = "", *path = node_path(node);
	const struct attr *attr;
	const struct link *link;
	const struct node *below;

	for (attr = node->attrs; attr; attr = attr->next)
		text = mem_fmt("%s%s/%s=%s\n", text, path, attr->name, attr->value);
	for (link = node->links; link; link = link->next)
		text = mem_fmt("%s%s -> %s\n", text, path, link->name);
	for (below = node->below; below; below = below->next)
		text = mem_fmt("%s[%s]\n%s", text, node_path(below), dump(below));
	return text;
}

static bool same_line(const char *expect, const char *got)
{
	size_t len = strlen(expect);

	if (len > 1 && !strcmp(expect + len - 2, "=?"))
		return !strncmp(expect, got, len - 1);
	return !strcmp(expect, got);
}

/* The first line that differs, for a person to see */
static void same_config(const struct node *expect, const struct node *got)
{
	char *a = mem_str(dump(expect)), *b = mem_str(dump(got)), *linea, *lineb;

	while (a || b) {
		linea = strsep(&a, "\n");
		lineb = strsep(&b, "\n");
		if (!linea || !lineb || !same_line(linea, lineb))
			fail_msg("%s: \"%s\" was expected, and \"%s\" is there", unit_where,
				 linea ? linea : "the end", lineb ? lineb : "the end");
	}
}

/* ---- tests ---- */

#define ROUNDS	2000

/* A kernel, its features, and a file that may be of another kernel; as text */
static const char *begin(unsigned int round, struct nvmet *nvmet, struct node **have,
			 struct node **want)
{
	static const unsigned int versions[] = { K6_1, K6_12, K7_2 };
	unsigned int version, of_file;
	bool tls;

	seed = round;
	version = versions[pick(3)];
	of_file = versions[pick(3)];
	tls = version >= K6_12 && of_file >= K6_12;
	*nvmet = kernel_with(some_config(version, tls), version, pick(2));
	*have = node_copy(nvmet->root);
	*want = some_config(of_file, tls);
	if (pick(2))
		leave_out(*want, *have);
	nvmet->busy = pick(2) ? pick(5) : 0;
	return mem_fmt("seed %u: file of %u on %u%s", round, of_file, version,
		       nvmet->in_tree ? ", in-tree" : "");
}

static void any_to_any(void **state)
{
	struct mem_mark mark = mem_mark();
	unsigned int round;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		struct node *have, *want, *expect = node_root();
		struct plan_doer doer;
		struct nvmet nvmet;
		struct plan plan;

		unit_context("%s", begin(round, &nvmet, &have, &want));
		doer = kernel_doer(&nvmet);
		plan = plan_make(have, want);
		unit_equal(0, plan_run(&plan, &doer));
		expect_node(expect, want, have, &nvmet);
		same_config(expect, nvmet.root);
		/* And an equal configuration needs no step */
		unit_equal(0, plan_make(nvmet.root, want).nr);
		mem_release(mark);
	}
}

/* Each step of each plan fails once, and the previous state is restored */
static void or_nothing(void **state)
{
	struct mem_mark mark = mem_mark();
	unsigned int round, nr;
	int at;

	(void)state;
	for (round = 0; round < ROUNDS / 20; round++) {
		nr = 1;
		for (at = 0; at < (int)nr; at++) {
			struct node *have, *want;
			struct plan_doer doer;
			const char *where;
			struct nvmet nvmet;
			struct plan plan;

			where = begin(round, &nvmet, &have, &want);
			nvmet.fails_at = at;
			doer = kernel_doer(&nvmet);
			plan = plan_make(have, want);
			nr = plan.nr;
			if (!nr)
				break;
			unit_context("%s, step %d of %u fails", where, at, nr);
			unit_equal(-1, plan_run(&plan, &doer));
			same_config(have, nvmet.root);
			mem_release(mark);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_to_any),
		cmocka_unit_test(or_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
