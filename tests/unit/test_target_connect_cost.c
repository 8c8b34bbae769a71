// SPDX-License-Identifier: GPL-2.0
/*
 * What the nth connection costs the target: how many entries of its tables and lists are
 * visited from the connection request to Connect, and until the connection ends. The files
 * under test are those of the module; see kernel.h.
 *
 * A thousand hosts have 16 connections each, one of them an admin queue, on a device of 64
 * vectors. Other hosts are measured the same way beside them.
 *
 * Also: which host a connection is charged to. One machine must not count as several by
 * inventing addresses, and hosts behind a router must not count as one. Hosts must not be able
 * to invent addresses and names that share a bucket of a table.
 */
#include "kernel.h"

#include "target/error.c"
#include "target/peer.c"
#include "target/limits.c"
#include "target/host_stats.c"
#include "target/vector.c"
#include "target/cqs.c"
#include "target/srq_post.c"
#include "target/srq_grow.c"
#include "target/srq_shrink.c"
#include "target/srq.c"
#include "target/queue_list.c"
#include "target/release.c"
#include "target/queue.c"

#include "harness.h"

#define HOSTS		1000
#define QUEUES		16
#define DEPTH		128
#define ADMIN_DEPTH	32
/* The default of srq_size */
#define SRQ_SIZE	4096
/* Hosts that are measured */
#define PROBES		250

unsigned int nvmet_rdma_host_queues = 12000;
unsigned int nvmet_rdma_host_pending = 1024;
unsigned int nvmet_rdma_max_pending = 8192;
unsigned int nvmet_rdma_host_unproved = 1024;
unsigned int nvmet_rdma_max_unproved = 16384;
unsigned int nvmet_rdma_host_pending_mb, nvmet_rdma_max_pending_mb;
unsigned int nvmet_rdma_connect_tmo = 60;
struct workqueue_struct *nvmet_rdma_wq, *nvmet_rdma_io_wq;
struct workqueue_struct *nvmet_rdma_unestablished_wq;
const struct nvmet_rdma_srq_ops nvmet_rdma_recv_srq_ops;

/* ---- functions that the files call elsewhere, which walk no list here ---- */

static struct ib_device ib = {
	.name = "unit0", .num_comp_vectors = 64, .is_iwarp = true,
	.attrs = { .max_srq_wr = 32767, .max_srq = 1024, .max_srq_sge = 2, .max_cqe = 4194303 },
};

static struct nvmet_port nport;
static struct nvmet_rdma_port port = { .nport = &nport, .icd = SZ_4K };
static struct nvmet_rdma_vector vectors[64];
static struct nvmet_rdma_device dev = { .ib = &ib, .vectors = vectors };

int nvmet_rdma_qp_create(struct nvmet_rdma_queue *queue)
{
	queue->nr_cqe = 331;
	return nvmet_rdma_cqs_get(&queue->srq->cqs, queue);
}

void nvmet_rdma_qp_destroy(struct nvmet_rdma_queue *queue)
{
	nvmet_rdma_cqs_put(queue);
}

struct nvmet_rdma_recv_block *
nvmet_rdma_recv_block_alloc(struct nvmet_rdma_device *d, u32 nr, u32 room)
{
	struct nvmet_rdma_recv_block *recvs = kzalloc(sizeof(*recvs), GFP_KERNEL);
	u32 i;

	recvs->nr = nr;
	recvs->room = room;
	recvs->cmds = kcalloc(nr, sizeof(*recvs->cmds), GFP_KERNEL);
	for (i = 0; i < nr; i++)
		recvs->cmds[i].wr.wr_cqe = &recvs->cmds[i].cqe;
	return recvs;
}

u32 nvmet_rdma_recv_nr(const struct nvmet_rdma_queue *queue)
{
	return queue->depth + NVMET_RDMA_RECV_CHAIN - 1;
}

u32 nvmet_rdma_cm_nr_rsps(const struct nvmet_rdma_cm_req *req)
{
	return req->depth + 8u;
}

bool nvmet_rdma_host_name(const char *nqn, char name[NVMET_RDMA_HOST_NAME_LEN + 1])
{
	snprintf(name, NVMET_RDMA_HOST_NAME_LEN + 1, "%s", nqn);
	return true;
}

bool nvmet_rdma_queue_may_move(enum nvmet_rdma_queue_state from, enum nvmet_rdma_queue_state to)
{
	return to > from;
}

/* As target/debugfs.c does */
void nvmet_rdma_debugfs_remove_queue(struct nvmet_rdma_queue *queue)
{
	nvmet_rdma_host_leave(queue);
}

#define NOTHING(name, ...) void name(__VA_ARGS__) { }
NOTHING(nvmet_rdma_recv_block_free, struct nvmet_rdma_device *d,
	struct nvmet_rdma_recv_block *recvs)
NOTHING(nvmet_rdma_recv_block_free_data, struct nvmet_rdma_device *d,
	struct nvmet_rdma_recv_block *recvs)
NOTHING(nvmet_rdma_recv_sync_for_device, struct ib_device *d, struct nvmet_rdma_cmd *cmd)
NOTHING(nvmet_rdma_recv_chain_init, struct nvmet_rdma_queue *queue)
NOTHING(nvmet_rdma_recv_repost, struct nvmet_rdma_cmd *cmd)
NOTHING(nvmet_rdma_srq_arm, struct nvmet_rdma_srq *srq)
NOTHING(nvmet_rdma_srq_reached, struct nvmet_rdma_srq *srq)
NOTHING(nvmet_rdma_srq_work, struct work_struct *work)
NOTHING(nvmet_rdma_srq_failed, struct nvmet_rdma_srq *srq, const char *what)
NOTHING(nvmet_rdma_srq_event, struct ib_event *event, void *context)
NOTHING(nvmet_rdma_run_stop, struct nvmet_rdma_queue *queue)
NOTHING(nvmet_rdma_io_retry_work, struct work_struct *work)
NOTHING(nvmet_rdma_drop_read, struct nvmet_rdma_rsp *rsp)
NOTHING(nvmet_rdma_send_init, struct nvmet_rdma_queue *queue)
NOTHING(nvmet_rdma_send_stop, struct nvmet_rdma_queue *queue)
NOTHING(nvmet_rdma_stall_init, struct nvmet_rdma_queue *queue)
NOTHING(nvmet_rdma_drain_init, struct nvmet_rdma_queue *queue)
NOTHING(nvmet_rdma_drain, struct nvmet_rdma_queue *queue)
NOTHING(nvmet_rdma_drain_receives, struct nvmet_rdma_queue *queue)
NOTHING(nvmet_rdma_rsp_unmap, struct nvmet_rdma_queue *queue)
NOTHING(nvmet_rdma_rsp_free, struct nvmet_rdma_queue *queue)
NOTHING(nvmet_rdma_unfinished_end, struct nvmet_rdma_queue *queue)
bool nvmet_rdma_rsp_executes(const struct nvmet_rdma_queue *queue) { return false; }
NOTHING(nvmet_rdma_queue_io, struct nvmet_rdma_queue *queue)
NOTHING(nvmet_rdma_queue_looked, struct nvmet_rdma_queue *queue)
NOTHING(nvmet_rdma_device_put, struct nvmet_rdma_device *d)
NOTHING(nvmet_rdma_show, struct seq_file *m, const char *key, u64 value)
NOTHING(nvmet_rdma_show_host, struct seq_file *m, const struct nvmet_rdma_host *host)
NOTHING(nvmet_rdma_sum, struct nvmet_rdma_sums *sums, const struct nvmet_rdma_queue *queue)
NOTHING(nvmet_rdma_show_sums, struct seq_file *m, const struct nvmet_rdma_sums *sums)
int nvmet_rdma_recv_block_alloc_data(struct nvmet_rdma_device *d,
				     struct nvmet_rdma_recv_block *r)
{
	return 0;
}

struct nvmet_rdma_run *nvmet_rdma_run_alloc(gfp_t gfp)
{
	/* None of them runs */
	static struct nvmet_rdma_run run;

	return &run;
}

int nvmet_rdma_rsp_grow(struct nvmet_rdma_queue *queue) { return 0; }
int nvmet_rdma_recv_post_all(struct nvmet_rdma_queue *queue) { return 0; }
bool nvmet_rdma_pi_capable(const struct ib_device *d) { return false; }
bool nvmet_rdma_unfinished_wait(struct nvmet_rdma_queue *queue)
{
	unsigned long since;

	return nvmet_rdma_host_unfinished(queue->nvme_sq.ctrl, &since);
}

/* ---- a host ---- */

struct a_host {
	struct rdma_cm_id id;
	char nqn[64];
	struct nvmet_ctrl ctrl;
	struct nvmet_rdma_queue *queue[QUEUES];
};

static struct nvmet_subsys subsys = { .type = NVME_NQN_NVME, .subsysnqn = "nqn.unit" };

/* From the connection request on, until commands come */
static void connect_queue(struct a_host *host, u16 qid)
{
	const struct nvmet_rdma_cm_req req = { .qid = qid, .depth = qid ? DEPTH : ADMIN_DEPTH };
	enum nvmet_rdma_refusal why;
	struct nvmet_rdma_peer *peer = nvmet_rdma_limits_enter(&host->id, qid, &why);
	struct nvmet_rdma_queue *queue;

	assert_false(IS_ERR(peer));
	queue = nvmet_rdma_queue_create(&host->id, &port, &dev, peer, &req);
	assert_false(IS_ERR(queue));
	assert_non_null(queue->srq);
	nvmet_rdma_queue_publish(queue);
	nvmet_rdma_queue_established(queue);
	queue->nvme_sq.ctrl = &host->ctrl;
	assert_int_equal(nvmet_rdma_install_queue(&queue->nvme_sq), 0);
	/* as target/io.c does with the first command */
	queue->authenticated = true;
	nvmet_rdma_limits_authenticated(queue);
	host->queue[qid] = queue;
}

static void connect_host(struct a_host *host, unsigned int n, unsigned int queues)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&host->id.route.addr.dst_addr;
	u16 qid;

	*in = (struct sockaddr_in) { .sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(0x0a000000 + n) };
	host->id.device = &ib;
	snprintf(host->nqn, sizeof(host->nqn), "nqn.2014-08.org.nvmexpress:uuid:%08x", n);
	host->ctrl = (struct nvmet_ctrl) { .subsys = &subsys, .port = &nport,
					   .hostnqn = host->nqn, .cntlid = (u16)n };
	for (qid = 0; qid < queues; qid++)
		connect_queue(host, qid);
}

static void leave(struct a_host *host)
{
	u16 qid;

	for (qid = 0; qid < QUEUES; qid++) {
		struct nvmet_rdma_queue *queue = host->queue[qid];

		if (!queue)
			continue;
		nvmet_rdma_queue_disconnect(queue);
		nvmet_rdma_release_work(&queue->release_work);
		host->queue[qid] = NULL;
	}
}

/* ---- beside many ---- */

struct cost {
	unsigned long comes, goes;	/* entries visited by all that were measured */
};

/* Hosts that no other measurement uses: they count as ended then */
static struct cost measure(void)
{
	static unsigned int number = 100000;
	struct cost cost = { 0 };
	unsigned int i;

	for (i = 0; i < PROBES; i++) {
		struct a_host *host = kzalloc(sizeof(*host), GFP_KERNEL);

		visited = 0;
		connect_host(host, number++, QUEUES);
		cost.comes += visited;
		visited = 0;
		leave(host);
		cost.goes += visited;
	}
	return cost;
}

static struct a_host *hosts_that_stay[HOSTS];

static void connections_are(unsigned int from, unsigned int to)
{
	for (; from < to; from += QUEUES) {
		unsigned int n = from / QUEUES;

		hosts_that_stay[n] = kzalloc(sizeof(*hosts_that_stay[n]), GFP_KERNEL);
		connect_host(hosts_that_stay[n], n, to - from < QUEUES ? to - from : QUEUES);
	}
}

static double each(unsigned long all)
{
	return (double)all / PROBES / QUEUES;
}

static void as_with_few(void **state)
{
	struct cost few, many;
	unsigned int i;

	(void)state;
	dev.srq_size = SRQ_SIZE;
	connections_are(0, 96);
	few = measure();
	connections_are(96, HOSTS * QUEUES);
	many = measure();
	assert_int_equal(warnings, 0);
	fprintf(stderr, "# entries visited for a connection beside 96 and beside %d others: to connect %.2f and %.2f, to end %.2f and %.2f\n",
		HOSTS * QUEUES, each(few.comes), each(many.comes), each(few.goes), each(many.goes));
	if (many.comes > few.comes * 1.1 || many.goes > few.goes * 1.1)
		fail_msg("more than a tenth more");

	for (i = 0; i < HOSTS; i++)
		leave(hosts_that_stay[i]);
	assert_int_equal(all_pending + all_unproved, 0);
	assert_int_equal(all_bytes, 0);
	assert_true(list_empty(&queues));
	for (i = 0; i < hash_size(dev.srqs); i++)
		assert_null(dev.srqs[i].first);
	assert_int_equal(unit_cqs, 0);
	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		assert_int_equal(vectors[i].queues[0] + vectors[i].queues[1], 0);
		assert_true(list_empty(&vectors[i].polled));
	}
}

/* ---- the address to which a connection is charged ---- */

static struct ib_device roce = { .name = "unit1", .num_comp_vectors = 64 };

#define OWN_MAC		"\x02\0\0\0\0\x01"
#define ITS_MAC		UNIT_HOST_MAC
#define OTHER_MAC	"\x02\0\0\0\0\x03"

/* A request that states the GID @gid, and came from @mac: not by RoCE if that is NULL */
static struct nvmet_rdma_peer *enter(struct ib_device *device, const char *gid, const char *mac)
{
	struct sa_path_rec path = { .is_roce = mac };
	struct rdma_cm_id id = { .device = device, .route.path_rec = &path };
	struct sockaddr_in6 *dst = (struct sockaddr_in6 *)&id.route.addr.dst_addr;
	enum nvmet_rdma_refusal why;

	assert_int_equal(inet_pton(AF_INET6, gid, path.dgid.raw), 1);
	/* this target's own, of the same family */
	inet_pton(AF_INET6, strchr(gid, '.') ? "::ffff:10.0.0.1" : "fd00::1", path.sgid.raw);
	memcpy(path.dmac, mac ?: "", mac ? ETH_ALEN : 0);
	memcpy(id.route.addr.dev_addr.src_dev_addr, OWN_MAC, ETH_ALEN);
	dst->sin6_family = AF_INET6;
	memcpy(&dst->sin6_addr, path.dgid.raw, 16);
	return nvmet_rdma_limits_enter(&id, 0, &why);
}

static void gone(struct nvmet_rdma_peer *peer)
{
	assert_false(IS_ERR(peer));
	nvmet_rdma_limits_leave(peer, NVMET_RDMA_PENDING, 0);
}

static void whom_a_connection_is_charged_to(void **state)
{
	static const struct a_case {
		const char *what;
		struct ib_device *device;
		const char *gid[2], *mac[2];
		bool same;
	} cases[] = {
		{ "IPv6 addresses of one machine", &roce, { "fd00::2", "fd00::3" },
		  { ITS_MAC, ITS_MAC }, true },
		{ "IPv4 addresses of one machine", &roce, { "::ffff:10.0.0.2", "::ffff:10.0.0.3" },
		  { ITS_MAC, ITS_MAC }, true },
		{ "addresses of both kinds", &roce, { "::ffff:10.0.0.2", "fe80::2" },
		  { ITS_MAC, ITS_MAC }, true },
		{ "addresses that a machine on the link has made up, of beyond the router", &roce,
		  { "2001:db8::2", "2001:db8::3" }, { ITS_MAC, ITS_MAC }, true },
		{ "the same in IPv4", &roce, { "::ffff:192.0.2.2", "::ffff:192.0.2.3" },
		  { ITS_MAC, ITS_MAC }, true },
		{ "two machines", &roce, { "fd00::2", "fd00::3" }, { ITS_MAC, OTHER_MAC }, false },
		{ "a machine that says another's address", &roce, { "fd00::2", "fd00::2" },
		  { ITS_MAC, OTHER_MAC }, false },
		{ "hosts behind a router", &roce, { "2001:db8::2", "2001:db8::3" },
		  { UNIT_ROUTER_MAC, UNIT_ROUTER_MAC }, false },
		{ "the same in IPv4", &roce, { "::ffff:192.0.2.2", "::ffff:192.0.2.3" },
		  { UNIT_ROUTER_MAC, UNIT_ROUTER_MAC }, false },
		{ "one host behind it", &roce, { "2001:db8::2", "2001:db8::2" },
		  { UNIT_ROUTER_MAC, UNIT_ROUTER_MAC }, true },
		{ "this machine's own addresses", &roce, { "fd00::1", "fd00::4" },
		  { OWN_MAC, OWN_MAC }, false },
		{ "a MAC address that is none", &roce, { "fd00::2", "fd00::3" },
		  { "\0\0\0\0\0", "\0\0\0\0\0" }, false },
		{ "ports of InfiniBand", &roce, { "fe80::2", "fe80::3" }, { NULL, NULL }, false },
		{ "one port of InfiniBand", &roce, { "fe80::2", "fe80::2" }, { NULL, NULL }, true },
		{ "addresses over iWARP", &ib, { "fd00::2", "fd00::3" }, { NULL, NULL }, false },
		{ "one address over iWARP", &ib, { "fd00::2", "fd00::2" }, { NULL, NULL }, true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct a_case *c = &cases[i];
		struct nvmet_rdma_peer *a = enter(c->device, c->gid[0], c->mac[0]);
		struct nvmet_rdma_peer *b = enter(c->device, c->gid[1], c->mac[1]);

		unit_context("%s", c->what);
		unit_equal(c->same, a == b);
		gone(a);
		gone(b);
	}
}

static void many_addresses_of_one_machine(void **state)
{
	static struct nvmet_rdma_peer *peers_of_it[4096];
	unsigned int n, had = 0;
	char gid[64];

	(void)state;
	for (n = 0; n < ARRAY_SIZE(peers_of_it); n++) {
		snprintf(gid, sizeof(gid), "%s::%x", n % 2 ? "fd00" : "2001:db8", n + 2);
		peers_of_it[n] = enter(&roce, gid, ITS_MAC);
		had += !IS_ERR(peers_of_it[n]);
	}
	assert_int_equal(had, nvmet_rdma_host_pending);
	/* and another is not any the worse for it */
	gone(enter(&roce, "fd00::2", OTHER_MAC));
	for (n = 0; n < ARRAY_SIZE(peers_of_it); n++) {
		if (!IS_ERR(peers_of_it[n]))
			gone(peers_of_it[n]);
	}
}

/* ---- chosen collisions ---- */

/* Keys that share a bucket after one load of the module, and most in one after another */
#define CHOSEN		32
#define MOST_IN_ONE	4

/* A new entry is the first of its bucket */
static size_t peer_bucket(unsigned int n)
{
	struct nvmet_rdma_peer *peer;
	char gid[64];
	size_t bucket;

	snprintf(gid, sizeof(gid), "2001:db8::%x:%x", n >> 16, n & 0xffff);
	peer = enter(&roce, gid, UNIT_ROUTER_MAC);
	bucket = (struct hlist_head *)peer->entry.pprev - peers;
	gone(peer);
	return bucket;
}

static size_t machine_bucket(unsigned int n)
{
	char mac[ETH_ALEN] = { 6, 0, n >> 24, n >> 16, n >> 8, n };
	struct nvmet_rdma_peer *peer = enter(&roce, "fd00::2", mac);
	size_t bucket = (struct hlist_head *)peer->entry.pprev - peers;

	gone(peer);
	return bucket;
}

static size_t name_bucket(unsigned int n)
{
	struct nvmet_rdma_host *host;
	size_t bucket;
	char nqn[64];

	snprintf(nqn, sizeof(nqn), "nqn.2014-08.org.nvmexpress:uuid:%08x", n);
	host = host_find(nqn);
	bucket = (struct hlist_head *)host->entry.pprev - hosts;
	host_forget(host);
	return bucket;
}

static void loaded_anew(void)
{
	nvmet_rdma_hash_init();
}

static void chosen_do_not_collide(size_t (*bucket_of)(unsigned int n))
{
	unsigned int chosen[CHOSEN], in[4096] = { 0 }, found = 0, n, most = 0;
	size_t bucket;

	nvmet_rdma_hosts_exit();
	loaded_anew();
	bucket = bucket_of(0);
	for (n = 0; found < CHOSEN; n++) {
		if (bucket_of(n) == bucket)
			chosen[found++] = n;
	}
	loaded_anew();
	for (n = 0; n < CHOSEN; n++) {
		bucket = bucket_of(chosen[n]);
		assert_in_range(bucket, 0, ARRAY_SIZE(in) - 1);
		in[bucket]++;
		most = max(most, in[bucket]);
	}
	if (most > MOST_IN_ONE)
		fail_msg("%u of %u are in one bucket again", most, CHOSEN);
}

static void chosen_addresses(void **state)
{
	(void)state;
	chosen_do_not_collide(peer_bucket);
}

static void chosen_mac_addresses(void **state)
{
	(void)state;
	chosen_do_not_collide(machine_bucket);
}

static void chosen_names(void **state)
{
	(void)state;
	chosen_do_not_collide(name_bucket);
}

static int setup(void **state)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vectors); i++)
		INIT_LIST_HEAD(&vectors[i].polled);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_with_few),
		cmocka_unit_test(whom_a_connection_is_charged_to),
		cmocka_unit_test(many_addresses_of_one_machine),
		cmocka_unit_test(chosen_addresses),
		cmocka_unit_test(chosen_mac_addresses),
		cmocka_unit_test(chosen_names),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
