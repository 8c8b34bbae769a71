// SPDX-License-Identifier: GPL-2.0
/*
 * tools/nvmerdma/doctor/verbs.c: how it interprets rejections and the answer to Connect. The
 * peer and the RDMA device are simulated: this file replaces librdmacm and libibverbs.
 */
#include "harness.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "tools/nvmerdma/doctor/verbs.h"

#define MOST_TRIES	8

/* How each connection request is rejected, 0: it is not; the asking is done by another process */
static struct script {
	int reason[MOST_TRIES];
	unsigned int nvme_status[MOST_TRIES];
	unsigned int tries;
	/* the controller's actions, and the commands that it has seen */
	unsigned int status, wrong_id;
	uint32_t connect_result;
	char subsys[256];
} *script;

static uint8_t *response;		/* where the receive has its buffer */
static unsigned int sent, received;	/* completions to come */

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)qp;
	(void)bad;
	response = (uint8_t *)(uintptr_t)wr->sg_list->addr;
	return 0;
}

static uint64_t number(const uint8_t *at, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

/* An NVMe/RDMA controller: the offsets are those of NVM Express Base and Fabrics */
static void execute(const uint8_t *capsule)
{
	uint8_t *data = (uint8_t *)(uintptr_t)number(capsule + 24, 8);

	unit_equal(0x7f, capsule[0]);
	unit_equal(0x40, capsule[1]);
	unit_equal(1, capsule[4]);		/* Connect */
	unit_equal(1024, number(capsule + 32, 3));
	unit_equal(0x40, capsule[39]);
	unit_equal(31, number(capsule + 44, 2));
	unit_equal(0xffff, number(data + 16, 2));
	memcpy(script->subsys, data + 256, sizeof(script->subsys));
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	const uint8_t *capsule = (const uint8_t *)(uintptr_t)wr->sg_list->addr;
	unsigned int i;

	(void)qp;
	(void)bad;
	unit_equal(64, wr->sg_list->length);
	execute(capsule);
	memset(response, 0, 16);
	for (i = 0; i < 4; i++)
		response[i] = script->connect_result >> 8 * i;
	response[12] = capsule[2] + script->wrong_id;
	response[13] = capsule[3];
	response[14] = script->status << 1;
	response[15] = script->status >> 7;
	sent++;
	received++;
	return 0;
}

static int poll_cq(struct ibv_cq *of, int nr, struct ibv_wc *wc)
{
	(void)of;
	(void)nr;
	*wc = (struct ibv_wc) { .opcode = sent ? IBV_WC_SEND : IBV_WC_RECV };
	if (sent)
		return sent--;
	return received ? (int)received-- : 0;
}

static struct ibv_device device;

static struct ibv_context context = {
	.device = &device,
	.ops = { .post_recv = post_recv, .post_send = post_send, .poll_cq = poll_cq },
};

static struct ibv_cq cq = { .context = &context };
static struct ibv_qp qp = { .context = &context };
static struct ibv_pd pd = { .context = &context };
static struct ibv_mr mr = { .context = &context };
static struct rdma_event_channel channel;
static struct rdma_cm_id cm_id = { .verbs = &context, .pd = &pd, .qp = &qp };
static struct rdma_cm_event event;

struct rdma_event_channel *rdma_create_event_channel(void)
{
	channel.fd = eventfd(1, 0);
	return &channel;
}

int rdma_create_id(struct rdma_event_channel *ch, struct rdma_cm_id **id, void *ctx,
		   enum rdma_port_space ps)
{
	(void)ch;
	(void)ctx;
	(void)ps;
	*id = &cm_id;
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int ms)
{
	(void)id;
	(void)from;
	(void)to;
	(void)ms;
	event = (struct rdma_cm_event) { .event = RDMA_CM_EVENT_ADDR_RESOLVED };
	return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int ms)
{
	(void)id;
	(void)ms;
	event = (struct rdma_cm_event) { .event = RDMA_CM_EVENT_ROUTE_RESOLVED };
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *of, struct ibv_qp_init_attr *attr)
{
	(void)id;
	(void)of;
	(void)attr;
	return 0;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	static uint8_t words[4];
	unsigned int n = script->tries++;

	(void)id;
	(void)param;
	assert_true(n < MOST_TRIES);
	memset(words, 0, sizeof(words));
	words[2] = script->nvme_status[n];
	event = (struct rdma_cm_event) {
		.event = script->reason[n] ? RDMA_CM_EVENT_REJECTED : RDMA_CM_EVENT_ESTABLISHED,
		.status = script->reason[n],
		.param.conn = { .private_data = words, .private_data_len = sizeof(words) },
	};
	return 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	(void)id;
	return 0;
}

int rdma_get_cm_event(struct rdma_event_channel *ch, struct rdma_cm_event **to)
{
	(void)ch;
	*to = &event;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *of)
{
	(void)of;
	return 0;
}

const char *ibv_get_device_name(struct ibv_device *of)
{
	(void)of;
	return "made0";
}

struct ibv_cq *ibv_create_cq(struct ibv_context *of, int cqe, void *ctx,
			     struct ibv_comp_channel *ch, int vector)
{
	(void)of;
	(void)cqe;
	(void)ctx;
	(void)ch;
	(void)vector;
	return &cq;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *of, void *addr, size_t length, int access)
{
	(void)of;
	(void)addr;
	(void)length;
	(void)access;
	return &mr;
}

/* A stale connection, reason 10, is tried again as the module does: three times in all */
static void stale(void **state)
{
	static const struct {
		const char *what;
		int reason[MOST_TRIES];
		unsigned int nvme_status[MOST_TRIES];
		unsigned int tries;
	} rows[] = {
		{ "refused", { 28 }, { 6 }, 1 },
		{ "nobody listens", { 8 }, { 0 }, 1 },
		{ "stale once", { 10, 8 }, { 0 }, 2 },
		{ "stale twice, then refused", { 10, 10, 28 }, { 0, 0, 6 }, 3 },
		{ "stale for ever", { 10, 10, 10, 10 }, { 0 }, 3 },
		{ "a status of the listener's", { 10, 8 }, { 5 }, 1 },
	};
	const struct verbs_question question = {
		.address = "192.0.2.9", .port = "4420", .nqn = "nqn.x:y", .hostnqn = "nqn.x:z",
		.hostid = "aaaaaaaa-0000-4000-8000-000000000001",
	};
	size_t i;

	(void)state;
	script = shared_alloc(sizeof(*script));
	for (i = 0; i < NR(rows); i++) {
		struct verbs_answer answer;
		unsigned int last = rows[i].tries - 1;

		unit_context("%s", rows[i].what);
		*script = (struct script) { 0 };
		memcpy(script->reason, rows[i].reason, sizeof(script->reason));
		memcpy(script->nvme_status, rows[i].nvme_status, sizeof(script->nvme_status));
		verbs_ask(&question, &answer);
		unit_equal(rows[i].tries, script->tries);
		unit_equal(STEP_CONNECT, answer.step);
		unit_equal(true, answer.rejected);
		unit_equal(rows[i].reason[last], answer.reason);
		unit_equal(rows[i].nvme_status[last], answer.nvme_status);
		assert_string_equal(answer.device, "made0");
	}
}

static void connects(void **state)
{
	static const struct {
		const char *what;
		struct script of;
		enum verbs_step step;
		int error;
	} rows[] = {
		{ "at once", { .status = 0 }, STEP_DONE, 0 },
		{ "a status", { .status = 0x184 }, STEP_DONE, 0 },
		{ "it wants a key", { .connect_result = 1u << 17 }, STEP_DONE, 0 },
		{ "an answer to another command", { .wrong_id = 1 }, STEP_COMMAND, EPROTO },
	};
	const struct verbs_question question = {
		.address = "192.0.2.9", .port = "4420", .nqn = "nqn.x:discovery",
		.hostnqn = "nqn.x:z", .hostid = "aaaaaaaa-0000-4000-8000-000000000001",
	};
	size_t i;

	(void)state;
	script = shared_alloc(sizeof(*script));
	for (i = 0; i < NR(rows); i++) {
		struct verbs_answer answer;

		unit_context("%s", rows[i].what);
		*script = rows[i].of;
		verbs_ask(&question, &answer);
		unit_equal(rows[i].step, answer.step);
		unit_equal(rows[i].error, answer.error);
		unit_equal(rows[i].of.status, answer.status);
		unit_equal(rows[i].of.connect_result, answer.result);
		assert_string_equal(script->subsys, "nqn.x:discovery");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stale),
		cmocka_unit_test(connects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
