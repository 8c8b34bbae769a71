// SPDX-License-Identifier: GPL-2.0
/*
 * tools/nvmerdma: from any configuration to any other one, or back to where it was.
 *
 * What does the steps here has the rules of nvmet's configfs, as read in
 * drivers/nvme/target/configfs.c of 6.1, 6.12 and 7.2, and refuses what that refuses.
 */
#include "harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/nvmerdma/plan.h"
#include "tools/nvmerdma/valid.h"

/* ---- nvmet ---- */

struct nvmet {
	struct node *root;
	/* The step that fails, counted down; <0: none */
	int fails_at;
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The object that a path names; NULL: there is none. What is left of it goes to @rest */
static struct node *walk(struct node *root, const char *path, const char **rest)
{
	const struct shape * const *part;
	struct node *node = root, *next;
	char *copy = mem_str(path), *word, *name;

	*rest = "";
	while ((word = strsep(&copy, "/"))) {
		next = NULL;
		for (part = node->shape->parts; *part; part++) {
			if (strcmp((*part)->dir, word))
				continue;
			name = (*part)->key ? strsep(&copy, "/") : "";
			if (!name)
				return NULL;
			next = node_find(node, *part, name);
			if (!next) {
				*rest = name;
				return node;
			}
		}
		if (!next) {
			*rest = copy ? mem_fmt("%s/%s", word, copy) : word;
			return node;
		}
		node = next;
	}
	return node;
}

static int fails(struct nvmet *nvmet)
{
	return nvmet->fails_at >= 0 && nvmet->fails_at-- == 0 ? -EIO : 0;
}

static void give_defaults(struct node *node)
{
	static const struct {
		const struct shape *shape;
		const char *attr, *value;
	} attrs[] = {
		{ &shape_host, "dhchap_key", "" }, { &shape_host, "dhchap_hash", "hmac(sha256)" },
		{ &shape_subsys, "attr_allow_any_host", "0" },
		{ &shape_subsys, "attr_cntlid_min", "1" },
		{ &shape_subsys, "attr_cntlid_max", "65519" },
		{ &shape_subsys, "attr_serial", "0123456789abcdef" },
		{ &shape_ns, "device_path", "" }, { &shape_ns, "device_uuid", "0000" },
		{ &shape_ns, "ana_grpid", "1" }, { &shape_ns, "buffered_io", "0" },
		{ &shape_ns, "enable", "0" },
		{ &shape_passthru, "device_path", "" }, { &shape_passthru, "enable", "0" },
		{ &shape_passthru, "io_timeout", "0" },
		{ &shape_port, "addr_trtype", "" }, { &shape_port, "addr_traddr", "" },
		{ &shape_port, "param_inline_data_size", "-1" },
		{ &shape_ana, "ana_state", "inaccessible" },
		{ &shape_referral, "addr_traddr", "" }, { &shape_referral, "enable", "0" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(attrs); i++) {
		if (attrs[i].shape == node->shape)
			node_set(node, attrs[i].attr, attrs[i].value);
	}
	if (node->shape == &shape_subsys)
		give_defaults(node_add(node, &shape_passthru, ""));
	if (node->shape == &shape_port) {
		struct node *group = node_add(node, &shape_ana, "1");

		give_defaults(group);
		node_set(group, "ana_state", "optimized");
	}
}

static int nvmet_make(void *to, const char *path)
{
	struct nvmet *nvmet = to;
	const struct shape * const *part;
	const char *rest, *dir;
	struct node *parent;

	if (fails(nvmet))
		return -EIO;
	parent = walk(nvmet->root, path, &rest);
	if (!parent || !*rest || strchr(rest, '/'))
		return -EEXIST;
	dir = mem_strn(path, strlen(path) - strlen(rest) - 1);
	for (part = parent->shape->parts; *part; part++) {
		if (!strcmp((*part)->dir, last_part(dir))) {
			give_defaults(node_add(parent, *part, rest));
			return 0;
		}
	}
	return -ENOENT;
}

static bool linked_from(const struct node *root, const struct node *to)
{
	const struct shape *from = to->shape == &shape_host ? &shape_subsys : &shape_port;
	const struct node *node;

	if (to->shape != &shape_host && to->shape != &shape_subsys)
		return false;
	for_each_node(node, root, from) {
		if (node_linked(node, to->name))
			return true;
	}
	return false;
}

static int nvmet_remove(void *to, const char *path)
{
	struct nvmet *nvmet = to;
	const char *rest;
	struct node *node, *below;

	if (fails(nvmet))
		return -EIO;
	node = walk(nvmet->root, path, &rest);
	if (!node || *rest)
		return -ENOENT;
	if (node->links)
		return -ENOTEMPTY;
	for (below = node->below; below; below = below->next) {
		if (!node_made(below))
			return -ENOTEMPTY;
	}
	if (linked_from(nvmet->root, node))
		return -EBUSY;
	node_remove(node);
	return 0;
}

static int check_cntlid(const struct node *subsys, const char *attr, const char *value)
{
	unsigned long v = strtoul(value, NULL, 0);
	bool is_min = !strcmp(attr, "attr_cntlid_min");
	unsigned long other = strtoul(node_get(subsys, is_min ? "attr_cntlid_max" :
					       "attr_cntlid_min"), NULL, 0);

	/* 6.1 takes no two that are the same */
	return v && (is_min ? v < other : v > other) ? 0 : -EINVAL;
}

static int check_write(const struct node *node, const char *attr, const char *value)
{
	const struct shape *shape = node->shape;
	bool enabled = node_is(node, "enable", "1");

	if (shape == &shape_port && node->links)
		return -EACCES;
	if (enabled && strcmp(attr, "enable") && !word_in(shape->live, attr))
		return -EBUSY;
	if (!strcmp(attr, "enable") && !strcmp(value, "1") && shape != &shape_referral &&
	    !*node_get(node, "device_path"))
		return -ENOENT;
	if (!strcmp(attr, "attr_allow_any_host") && !strcmp(value, "1") && node->links)
		return -EINVAL;
	if (!strncmp(attr, "attr_cntlid", 11))
		return check_cntlid(node, attr, value);
	/* A host has seen it: what is fixed changes no more */
	if (word_in(shape->fixed, attr) && node_get(node, "seen"))
		return -EINVAL;
	return *value || !strcmp(attr, "dhchap_key") ? 0 : -EINVAL;
}

static int nvmet_write(void *to, const char *path, const char *value)
{
	struct nvmet *nvmet = to;
	const char *attr;
	struct node *node;
	int err;

	if (fails(nvmet))
		return -EIO;
	node = walk(nvmet->root, path, &attr);
	if (!node || !*attr || !node_get(node, attr))
		return -ENOENT;
	err = check_write(node, attr, value);
	if (!err)
		node_set(node, attr, value);
	return err;
}

static int nvmet_link(void *to, const char *path, const char *target)
{
	struct nvmet *nvmet = to;
	const char *rest;
	struct node *node, *other;

	if (fails(nvmet))
		return -EIO;
	other = walk(nvmet->root, target, &rest);
	if (!other || *rest)
		return -ENOENT;
	node = walk(nvmet->root, path, &rest);
	if (!node || !*rest || node_linked(node, last_part(path)))
		return -EEXIST;
	if (node->shape == &shape_subsys && node_is(node, "attr_allow_any_host", "1"))
		return -EINVAL;
	if (node->shape == &shape_port && !*node_get(node, "addr_trtype"))
		return -EINVAL;
	node_link(node, last_part(path));
	return 0;
}

static int nvmet_unlink(void *to, const char *path)
{
	struct nvmet *nvmet = to;
	const char *rest;
	struct node *node;

	if (fails(nvmet))
		return -EIO;
	node = walk(nvmet->root, path, &rest);
	if (!node || !node_linked(node, last_part(path)))
		return -ENOENT;
	node_unlink(node, last_part(path));
	return 0;
}

static struct plan_doer doer_of(struct nvmet *nvmet)
{
	return (struct plan_doer) {
		.make = nvmet_make, .remove = nvmet_remove, .write = nvmet_write,
		.link = nvmet_link, .unlink = nvmet_unlink, .to = nvmet,
	};
}

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

static void some_namespaces(struct node *subsys)
{
	unsigned int i;

	for (i = 1; i <= 3; i++) {
		struct node *ns;

		if (pick(2))
			continue;
		ns = node_add(subsys, &shape_ns, mem_fmt("%u", i));
		give_defaults(ns);
		node_set(ns, "device_path", one_of("/dev/a", "/dev/b", "/dev/c"));
		node_set(ns, "device_uuid", one_of("0000", "1111", "2222"));
		node_set(ns, "ana_grpid", one_of("1", "2", "3"));
		node_set(ns, "buffered_io", pick(2) ? "1" : "0");
		node_set(ns, "enable", pick(4) ? "1" : "0");
	}
}

static void some_subsys(struct node *root, const char *nqn)
{
	struct node *subsys = node_add(root, &shape_subsys, nqn), *passthru, *host;
	bool any = pick(2);

	give_defaults(subsys);
	node_set(subsys, "attr_serial", one_of("s0", "s1", "s1"));
	node_set(subsys, "attr_allow_any_host", any ? "1" : "0");
	node_set(subsys, "attr_cntlid_min", one_of("1", "501", "5000"));
	node_set(subsys, "attr_cntlid_max",
		 mem_fmt("%ld", strtol(node_get(subsys, "attr_cntlid_min"), NULL, 0) + 500));
	passthru = node_find(subsys, &shape_passthru, "");
	node_set(passthru, "device_path", one_of("/dev/nvme0", "/dev/nvme1", "/dev/nvme0"));
	node_set(passthru, "enable", pick(3) ? "0" : "1");
	node_set(passthru, "io_timeout", pick(2) ? "30" : "0");
	some_namespaces(subsys);
	for_each_node(host, root, &shape_host) {
		if (!any && pick(2))
			node_link(subsys, host->name);
	}
}

static void some_port(struct node *root, const char *id)
{
	struct node *port = node_add(root, &shape_port, id), *subsys, *node;

	give_defaults(port);
	node_set(port, "addr_trtype", "rdma");
	node_set(port, "addr_traddr", one_of("192.0.2.1", "192.0.2.2", "192.0.2.1"));
	node_set(port, "param_inline_data_size", one_of("4096", "8192", "4096"));
	node_set(node_find(port, &shape_ana, "1"), "ana_state",
		 one_of("optimized", "inaccessible", "optimized"));
	if (pick(2)) {
		node = node_add(port, &shape_ana, "2");
		give_defaults(node);
		node_set(node, "ana_state", one_of("optimized", "change", "inaccessible"));
	}
	if (pick(2)) {
		node = node_add(port, &shape_referral, one_of("r1", "r2", "r1"));
		give_defaults(node);
		node_set(node, "addr_traddr", pick(2) ? "198.51.100.1" : "198.51.100.2");
		node_set(node, "enable", pick(2) ? "1" : "0");
	}
	for_each_node(subsys, root, &shape_subsys) {
		if (pick(2))
			node_link(port, subsys->name);
	}
}

static struct node *some_config(void)
{
	static const char * const names[] = { "nqn.a", "nqn.b", "nqn.c" };
	struct node *root = node_root();
	unsigned int i;

	for (i = 0; i < 3; i++) {
		if (pick(3)) {
			const char *name = mem_fmt("%s.host", names[i]);
			struct node *host = node_add(root, &shape_host, name);

			give_defaults(host);
			node_set(host, "dhchap_key", pick(2) ? "DHHC-1:00:x:" : "");
		}
	}
	for (i = 0; i < 3; i++) {
		if (pick(3))
			some_subsys(root, names[i]);
	}
	for (i = 1; i <= 2; i++) {
		if (pick(3))
			some_port(root, mem_fmt("%u", i));
	}
	return root;
}

/* All that a configuration is, as text */
static const char *dump(const struct node *node)
{
	const char *text = "", *path = node_path(node);
	const struct attr *attr;
	const struct link *link;
	const struct node *below;

	for (attr = node->attrs; attr; attr = attr->next) {
		if (strcmp(attr->name, "seen"))
			text = mem_fmt("%s%s/%s=%s\n", text, path, attr->name, attr->value);
	}
	for (link = node->links; link; link = link->next)
		text = mem_fmt("%s%s -> %s\n", text, path, link->name);
	for (below = node->below; below; below = below->next)
		text = mem_fmt("%s[%s]\n%s", text, node_path(below), dump(below));
	return text;
}

/* The first line that differs, for a person to see */
static void same_config(const struct node *want, const struct node *got)
{
	char *a = mem_str(dump(want)), *b = mem_str(dump(got)), *linea, *lineb;

	while (a || b) {
		linea = strsep(&a, "\n");
		lineb = strsep(&b, "\n");
		if (!linea || !lineb || strcmp(linea, lineb))
			fail_msg("%s: \"%s\" was expected, and \"%s\" is there", unit_where,
				 linea ? linea : "the end", lineb ? lineb : "the end");
	}
}

static struct nvmet nvmet_with(const struct node *config)
{
	struct nvmet nvmet = { .root = node_copy(config), .fails_at = -1 };
	struct node *subsys;

	for_each_node(subsys, nvmet.root, &shape_subsys)
		node_set(subsys, "seen", "1");
	return nvmet;
}

/* ---- tests ---- */

#define ROUNDS	400

static void any_to_any(void **state)
{
	struct mem_mark mark = mem_mark();
	unsigned int round;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		const struct node *have, *want;
		struct plan_doer doer;
		struct nvmet nvmet;
		struct plan plan;

		seed = round;
		have = some_config();
		want = some_config();
		nvmet = nvmet_with(have);
		doer = doer_of(&nvmet);
		plan = plan_make(have, want);
		unit_context("from one to another, seed %u", round);
		unit_equal(0, plan_run(&plan, &doer));
		same_config(want, nvmet.root);
		/* And what is there needs nothing */
		unit_equal(0, plan_make(nvmet.root, want).nr);
		mem_release(mark);
	}
}

/* Each step of each plan fails once, and what was before is there again */
static void or_nothing(void **state)
{
	struct mem_mark mark = mem_mark();
	unsigned int round, nr;
	int at;

	(void)state;
	for (round = 0; round < ROUNDS / 10; round++) {
		nr = 1;
		for (at = 0; at < (int)nr; at++) {
			const struct node *have, *want;
			struct plan_doer doer;
			struct nvmet nvmet;
			struct plan plan;

			seed = round;
			have = some_config();
			want = some_config();
			nvmet = nvmet_with(have);
			nvmet.fails_at = at;
			doer = doer_of(&nvmet);
			plan = plan_make(have, want);
			nr = plan.nr;
			if (!nr)
				break;
			unit_context("seed %u, step %d of %u fails", round, at, nr);
			unit_equal(-1, plan_run(&plan, &doer));
			same_config(have, nvmet.root);
			mem_release(mark);
		}
	}
}

/* Hosts of a subsystem that stays as it is notice nothing of what happens beside it */
static void others_undisturbed(void **state)
{
	struct node *have = node_root(), *want, *port;
	struct plan plan;
	size_t i;

	(void)state;
	seed = 1;
	some_subsys(have, "nqn.a");
	some_subsys(have, "nqn.b");
	port = node_add(have, &shape_port, "1");
	give_defaults(port);
	node_set(port, "addr_trtype", "rdma");
	node_link(port, "nqn.a");
	node_link(port, "nqn.b");
	want = node_copy(have);
	node_unlink(node_find(want, &shape_port, "1"), "nqn.b");
	node_remove(node_find(want, &shape_subsys, "nqn.b"));
	plan = plan_make(have, want);
	assert_true(plan.nr > 1);
	for (i = 0; i < plan.nr; i++)
		assert_null(strstr(step_path(&plan.step[i]), "nqn.a"));
}

/* What may change while it is in use changes in one step */
static void changes_in_use(void **state)
{
	struct node *have = node_root(), *want, *subsys, *ns;
	struct plan plan;

	(void)state;
	subsys = node_add(have, &shape_subsys, "nqn.a");
	give_defaults(subsys);
	ns = node_add(subsys, &shape_ns, "1");
	give_defaults(ns);
	node_set(ns, "device_path", "/dev/a");
	node_set(ns, "enable", "1");
	want = node_copy(have);
	ns = node_find(node_find(want, &shape_subsys, "nqn.a"), &shape_ns, "1");
	node_set(ns, "ana_grpid", "5");
	plan = plan_make(have, want);
	unit_equal(1, plan.nr);
	assert_string_equal("echo 5 > subsystems/nqn.a/namespaces/1/ana_grpid",
			    step_shell(&plan.step[0]));
}

static struct node *one_port(const char *inline_size)
{
	struct node *root = node_root(), *port = node_add(root, &shape_port, "1");

	node_add(root, &shape_subsys, "nqn.a");
	node_set(port, "addr_trtype", "rdma");
	node_set(port, "param_inline_data_size", inline_size);
	node_link(port, "nqn.a");
	return root;
}

/* What the transport has chosen is what "let it choose" wanted */
static void chosen_by_transport(void **state)
{
	(void)state;
	unit_equal(0, plan_make(one_port("4096"), one_port("-1")).nr);
	unit_equal(0, plan_make(one_port("16"), one_port("0x10")).nr);
	/* The link goes, the value comes, the link comes */
	unit_equal(3, plan_make(one_port("-1"), one_port("4096")).nr);
}

/* "enable" that is not named stays, also over a change that needs it to be off */
static void enable_not_named(void **state)
{
	struct node *have = node_root(), *want = node_root(), *ns;
	struct nvmet nvmet;
	struct plan_doer doer;
	struct plan plan;

	(void)state;
	ns = node_add(node_add(have, &shape_subsys, "nqn.a"), &shape_ns, "1");
	give_defaults(ns);
	node_set(ns, "device_path", "/dev/a");
	node_set(ns, "enable", "1");
	ns = node_add(node_add(want, &shape_subsys, "nqn.a"), &shape_ns, "1");
	node_set(ns, "device_path", "/dev/b");
	nvmet = nvmet_with(have);
	doer = doer_of(&nvmet);
	plan = plan_make(have, want);
	unit_equal(0, plan_run(&plan, &doer));
	ns = node_find(node_find(nvmet.root, &shape_subsys, "nqn.a"), &shape_ns, "1");
	assert_true(node_is(ns, "device_path", "/dev/b"));
	assert_true(node_is(ns, "enable", "1"));
}

/* A kernel that lacks an attribute does not stop what the attribute only names */
static void kernel_lacks(void **state)
{
	struct node *have = node_root(), *want = node_root(), *subsys;
	struct nvmet nvmet = nvmet_with(have);
	struct plan_doer doer = doer_of(&nvmet);
	struct plan plan;

	(void)state;
	subsys = node_add(want, &shape_subsys, "nqn.a");
	node_set(subsys, "attr_firmware", "6.12.117");
	node_set(subsys, "attr_ieee_oui", "0x000000");
	plan = plan_make(have, want);
	unit_equal(0, plan_run(&plan, &doer));
	unit_equal(0, plan_make(nvmet.root, want).nr);
	node_set(want, "discovery_nqn", "nqn.2014-08.org.nvmexpress.discovery");
	unit_equal(0, plan_make(nvmet.root, want).nr);
	/* ... and one that matters does */
	node_set(subsys, "attr_pi_enable", "1");
	plan = plan_make(nvmet.root, want);
	unit_equal(-1, plan_run(&plan, &doer));
}

static void in_words(void **state)
{
	const struct node *root = one_port("4096");
	struct node *host = node_add(node_root(), &shape_host, "nqn.h");
	struct step step = {
		.kind = STEP_LINK, .node = root->below->next, .name = "nqn.a",
	};

	(void)state;
	assert_string_equal("+ port 1 offers nqn.a", step_words(&step));
	assert_string_equal("ln -s /sys/kernel/config/nvmet/subsystems/nqn.a ports/1/subsystems/nqn.a",
			    step_shell(&step));
	step = (struct step) { .kind = STEP_WRITE, .node = host, .name = "dhchap_key",
			       .value = "DHHC-1:00:secret:", .old = "" };
	assert_null(strstr(step_words(&step), "secret"));
	assert_null(strstr(step_shell(&step), "secret"));
	step.value = "";
	assert_string_equal("printf '\\0' > hosts/nqn.h/dhchap_key", step_shell(&step));
	step = (struct step) { .kind = STEP_WRITE, .node = root->below->next,
			       .name = "addr_treq", .value = "not required" };
	assert_string_equal("echo 'not required' > ports/1/addr_treq", step_shell(&step));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_to_any),
		cmocka_unit_test(or_nothing),
		cmocka_unit_test(others_undisturbed),
		cmocka_unit_test(changes_in_use),
		cmocka_unit_test(chosen_by_transport),
		cmocka_unit_test(enable_not_named),
		cmocka_unit_test(kernel_lacks),
		cmocka_unit_test(in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
