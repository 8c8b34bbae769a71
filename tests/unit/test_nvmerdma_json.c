// SPDX-License-Identifier: GPL-2.0
/* tools/nvmerdma: the file of nvmetcli, read and written; errors in a file are refused */
#include "harness.h"

#include <string.h>

#include <json-c/json.h>

#include "tools/nvmerdma/config/config.h"
#include "tools/nvmerdma/config/plan.h"

static const char *written(const struct node *root)
{
	struct json_object *obj = json_of(root);
	const char *text = mem_str(json_object_to_json_string_ext(obj, JSON_C_TO_STRING_PLAIN));

	json_object_put(obj);
	return text;
}

/* As nvmetcli 0.9 wrote it on 6.12, shortened */
static const char of_nvmetcli[] =
"{\n"
"  \"discovery\": { \"nqn\": \"nqn.2014-08.org.nvmexpress.discovery\" },\n"
"  \"hosts\": [ { \"dhchap\": { \"ctrl_key\": \"\", \"dhgroup\": \"null\",\n"
"      \"hash\": \"hmac(sha256)\", \"key\": \"\" }, \"nqn\": \"nqn.2026-01.test:host\" } ],\n"
"  \"ports\": [ {\n"
"    \"addr\": { \"adrfam\": \"ipv4\", \"traddr\": \"192.0.2.1\", \"treq\": \"not specified\",\n"
"      \"trsvcid\": \"4420\", \"trtype\": \"rdma\", \"tsas\": \"connected\" },\n"
"    \"ana_groups\": [ { \"ana\": { \"state\": \"optimized\" }, \"grpid\": 1 } ],\n"
"    \"param\": { \"inline_data_size\": \"4096\", \"max_queue_size\": \"128\", \"pi_enable\": \"0\" },\n"
"    \"portid\": 1, \"referrals\": [],\n"
"    \"subsystems\": [ \"nqn.2026-01.test:a\" ] } ],\n"
"  \"subsystems\": [ {\n"
"    \"allowed_hosts\": [ \"nqn.2026-01.test:host\" ],\n"
"    \"attr\": { \"allow_any_host\": \"0\", \"serial\": \"ONE\" },\n"
"    \"namespaces\": [ { \"ana\": { \"grpid\": \"1\" }, \"ana_grpid\": 1,\n"
"      \"device\": { \"nguid\": \"00000000-0000-0000-0000-000000000000\", \"path\": \"/dev/sdb\",\n"
"        \"uuid\": \"568329b9-ca04-57e6-a714-6c3c9ef5d012\" }, \"enable\": 1, \"nsid\": 1,\n"
"      \"resv\": {} } ],\n"
"    \"nqn\": \"nqn.2026-01.test:a\",\n"
"    \"passthru\": [ { \"admin_timeout\": 0, \"clear_ids\": 0, \"device\": { \"path\": \"(null)\" },\n"
"      \"io_timeout\": 0 } ] } ]\n"
"}\n";

static void reads_nvmetcli(void **state)
{
	struct node *root = json_parse(of_nvmetcli, "nvmetcli.json"), *subsys, *ns, *port;

	(void)state;
	assert_non_null(root);
	unit_equal(0, error_count());
	subsys = node_find(root, &schema_subsys, "nqn.2026-01.test:a");
	assert_non_null(subsys);
	assert_true(node_linked(subsys, "nqn.2026-01.test:host"));
	assert_true(node_is(subsys, "attr_serial", "ONE"));
	ns = node_find(subsys, &schema_ns, "1");
	assert_non_null(ns);
	assert_true(node_is(ns, "device_path", "/dev/sdb"));
	assert_true(node_is(ns, "enable", "1"));
	assert_true(node_is(ns, "ana_grpid", "1"));
	/* nvmet's word for a path that was never set is no path */
	assert_true(node_is(node_find(subsys, &schema_passthru, ""), "device_path", ""));
	port = node_find(root, &schema_port, "1");
	assert_non_null(port);
	assert_true(node_linked(port, "nqn.2026-01.test:a"));
	assert_true(node_is(port, "addr_tsas", "connected"));
	assert_true(node_is(node_find(port, &schema_ana, "1"), "ana_state", "optimized"));
}

static void reads_what_it_writes(void **state)
{
	struct node *root = json_parse(of_nvmetcli, "nvmetcli.json"), *again, *ns;
	const char *text;

	(void)state;
	ns = node_find(node_find(root, &schema_subsys, "nqn.2026-01.test:a"), &schema_ns, "1");
	node_set(ns, "buffered_io", "1");
	text = written(root);
	again = json_parse(text, "ours.json");
	assert_non_null(again);
	assert_string_equal(text, written(again));
	unit_equal(0, plan_make(root, again).nr);
	/* A passthru is written if it is used, in a word that nvmetcli does not fall over */
	assert_null(strstr(text, "passthru"));
	node_set(ns, "enable", "0");
	node_set(node_add(ns->parent, &schema_passthru, ""), "device_path", "/dev/nvme0");
	node_set(node_add(ns->parent, &schema_passthru, ""), "enable", "1");
	text = written(root);
	assert_non_null(strstr(text, "\"enabled\":1"));
	again = json_parse(text, "ours.json");
	assert_non_null(again);
	assert_true(node_is(node_find(node_find(again, &schema_subsys, "nqn.2026-01.test:a"),
				      &schema_passthru, ""), "enable", "1"));
}

/* Numbers may be text, true and false are numbers, a host need not be in the list of hosts */
static void is_lenient(void **state)
{
	static const char lenient[] =
	"{ \"subsystems\": [ { \"nqn\": \"nqn.a\", \"attr\": { \"cntlid_min\": 7 },\n"
	"  \"allowed_hosts\": [ \"nqn.h\" ],\n"
	"  \"namespaces\": [ { \"nsid\": \"0010\", \"enable\": false } ] } ],\n"
	"  \"ports\": [ { \"portid\": \"2\", \"addr\": { \"trtype\": \"tcp\" },\n"
	"  \"future\": [ 1, {} ] } ] }\n";
	const struct node *root = json_parse(lenient, "lenient.json");
	const struct node *subsys;

	(void)state;
	assert_non_null(root);
	subsys = node_find(root, &schema_subsys, "nqn.a");
	assert_true(node_is(subsys, "attr_cntlid_min", "7"));
	assert_true(node_is(node_find(subsys, &schema_ns, "10"), "enable", "0"));
	assert_non_null(node_find(root, &schema_host, "nqn.h"));
	assert_non_null(node_find(root, &schema_port, "2"));
}

/* A value with several spellings: the kernel prints one of them, which must compare equal */
static void in_one_spelling(void **state)
{
	static const char text[] =
	"{ \"subsystems\": [ { \"nqn\": \"nqn.a\", \"attr\": { \"allow_any_host\": \"Yes\",\n"
	"  \"version\": \"1.3.0\", \"serial\": \"ONE  \", \"model\": \"a b \",\n"
	"  \"pi_enable\": \"off\" }, \"namespaces\": [ { \"nsid\": 1, \"enable\": \"on\",\n"
	"  \"buffered_io\": true, \"device\": { \"path\": \"/dev/a\" } } ] } ],\n"
	"  \"ports\": [ { \"portid\": 1, \"param\": { \"pi_enable\": \"true\" },\n"
	"  \"referrals\": [ { \"name\": \"r\", \"enable\": \"N\" } ] } ] }\n";
	static const struct {
		const char *version, *spelt;
	} versions[] = {
		{ "1.3", "1.3" }, { "2.0", "2.0" }, { "1.2.1", "1.2.1" }, { "2.1.0", "2.1" },
	};
	const struct node *root = json_parse(text, "spellings.json"), *subsys, *ns, *port;
	struct node *other = node_root();
	size_t i;

	(void)state;
	assert_non_null(root);
	subsys = node_find(root, &schema_subsys, "nqn.a");
	assert_true(node_is(subsys, "attr_allow_any_host", "1"));
	assert_true(node_is(subsys, "attr_pi_enable", "0"));
	assert_true(node_is(subsys, "attr_serial", "ONE"));
	assert_true(node_is(subsys, "attr_model", "a b"));
	ns = node_find(subsys, &schema_ns, "1");
	assert_true(node_is(ns, "enable", "1"));
	assert_true(node_is(ns, "buffered_io", "1"));
	port = node_find(root, &schema_port, "1");
	assert_true(node_is(port, "param_pi_enable", "1"));
	assert_true(node_is(node_find(port, &schema_referral, "r"), "enable", "0"));
	assert_true(node_is(subsys, "attr_version", "1.3"));
	for (i = 0; i < NR(versions); i++) {
		node_set(node_add(other, &schema_subsys, "nqn.a"), "attr_version",
			 versions[i].version);
		unit_context("%s", versions[i].version);
		unit_equal(0, validate_config("other", other));
		assert_true(node_is(node_find(other, &schema_subsys, "nqn.a"), "attr_version",
				    versions[i].spelt));
	}
}

static void refuses(void **state)
{
	static const char * const wrong[] = {
		"", "{", "[]", "7", "{\"ports\":[{\"portid\":1}]} x", "{\"subsystems\":{}}",
		"{\"subsystems\":[7]}", "{\"subsystems\":[{\"nqn\":7.5}]}",
		"{\"subsystems\":[{\"nqn\":\"\"}]}", "{\"subsystems\":[{\"nqn\":\"..\"}]}",
		"{\"subsystems\":[{\"nqn\":\"a/b\"}]}", "{\"subsystems\":[{\"nqn\":\"a b\"}]}",
		"{\"subsystems\":[{\"nqn\":\"a\\u0000b\"}]}",
		"{\"subsystems\":[{\"nqn\":\"a\\nb\"}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"attr\":[]}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"attr\":{\"\":\"1\"}}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"attr\":{\"x/y\":\"1\"}}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"attr\":{\"serial\":null}}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"attr\":{\"serial\":\"123456789012345678901\"}}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"attr\":{\"cntlid_min\":9,\"cntlid_max\":8}}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"namespaces\":[{\"nsid\":0}]}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"namespaces\":[{\"nsid\":4294967295}]}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"namespaces\":[{\"nsid\":\"1x\"}]}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"namespaces\":[{\"nsid\":1,\"enable\":1}]}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"allowed_hosts\":[7]}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"allowed_hosts\":[\"h\",\"h\"]}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"allowed_hosts\":[\"../x\"]}]}",
		"{\"ports\":[{\"portid\":-1}]}", "{\"ports\":[{\"portid\":1},{\"portid\":\"01\"}]}",
		"{\"ports\":[{\"portid\":1,\"subsystems\":[\"nqn.x\"]}]}",
		"{\"ports\":[{\"portid\":1,\"ana_groups\":[{\"grpid\":129}]}]}",
		"{\"ports\":[{\"portid\":1,\"referrals\":[{}]}]}",
		"{\"ports\":[{\"portid\":1,\"param\":{\"pi_enable\":\"maybe\"}}]}",
		"{\"ports\":[{\"portid\":1,\"addr\":{\"trtype\":\"tcp\",\"tsas\":\"tls1.3\",\"treq\":\"not specified\"}}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"attr\":{\"serial\":\"\"}}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"attr\":{\"serial\":\"  \"}}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"attr\":{\"allow_any_host\":\"\"}}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"namespaces\":[{\"nsid\":1,\"enable\":2}]}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"namespaces\":[{\"nsid\":1,\"device\":{\"path\":\"/srv/a \"}}]}]}",
		"{\"subsystems\":[{\"nqn\":\"a\",\"namespaces\":[{\"nsid\":1,\"enable\":1,\"device\":{\"path\":\"/dev/a\"}}],\"passthru\":[{\"enabled\":1,\"device\":{\"path\":\"/dev/nvme0\"}}]}]}",
	};
	char *deep = mem_get(3 * 4096);
	unsigned int i, before;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		before = error_count();
		unit_context("%s", wrong[i]);
		unit_equal(0, (unsigned long)json_parse(wrong[i], "wrong.json"));
		unit_equal(1, error_count() > before);
	}
	memset(deep, '[', 4096);
	unit_context("4096 lists in each other");
	unit_equal(0, (unsigned long)json_parse(deep, "wrong.json"));
}

/* Any end of a file, and any byte of it that is another one, is read or refused */
static void damaged(void **state)
{
	struct mem_mark mark = mem_mark();
	u64 seed = 7;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(of_nvmetcli); i++) {
		char *copy = mem_strn(of_nvmetcli, i);

		json_parse(copy, "cut.json");
		copy = mem_str(of_nvmetcli);
		copy[i < sizeof(of_nvmetcli) - 1 ? i : 0] = unit_random(&seed) % 127 + 1;
		json_parse(copy, "damaged.json");
		mem_release(mark);
	}
}

static void keys(void **state)
{
	static const char k32[] = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTKk2cOU";

	(void)state;
	assert_true(keyfile_is_key(mem_fmt("DHHC-1:00:%s:", k32)));
	assert_true(keyfile_is_key(mem_fmt("DHHC-1:01:%s:", k32)));
	assert_false(keyfile_is_key(mem_fmt("DHHC-1:04:%s:", k32)));
	assert_false(keyfile_is_key(mem_fmt("DHHC-1:00:%s", k32)));
	assert_false(keyfile_is_key(mem_fmt("DHHC-1:00:%s:x", k32)));
	assert_false(keyfile_is_key(mem_fmt("DHHC-1:00:%s:", k32 + 1)));
	assert_false(keyfile_is_key("DHHC-1:0"));
	assert_false(keyfile_is_key(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_nvmetcli),
		cmocka_unit_test(reads_what_it_writes),
		cmocka_unit_test(is_lenient),
		cmocka_unit_test(in_one_spelling),
		cmocka_unit_test(refuses),
		cmocka_unit_test(damaged),
		cmocka_unit_test(keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
