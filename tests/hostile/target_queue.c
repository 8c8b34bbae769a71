// SPDX-License-Identifier: GPL-2.0
/*
 * A queue of the hostile target: its posted work requests and their completions.
 *
 * Nothing here waits, or ends the program because of the host: a refused post and a completion
 * in error leave the queue dead. It is closed when the host has disconnected or no longer
 * exists.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

/* The kind of a completion: the upper half of wr_id */
enum wr_kind { WR_RECV, WR_SEND, WR_MOVE, WR_FETCH, WR_PROBE };

#define WR_ID(kind, index)	((uint64_t)(kind) << 32 | (uint32_t)(index))

/* Receives beyond the depth, so that one command too many is noticed */
#define SPARE_RECEIVES		8

static void post_receive(struct queue *queue, unsigned int slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)queue->capsules.at + (size_t)slot * CAPSULE_LEN,
		.length = CAPSULE_LEN,
		.lkey = queue->capsules.mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = WR_ID(WR_RECV, slot), .sg_list = &sge,
				  .num_sge = 1 }, *bad;

	if (ibv_post_recv(queue->c.qp, &wr, &bad))
		queue->dead = true;
}

static unsigned int receives(const struct queue *queue)
{
	return queue->depth + SPARE_RECEIVES;
}

/* Its QP and memory; false if the host asks for more than there is, or has gone */
bool queue_open(struct queue *queue)
{
	unsigned int i;

	if (queue->depth > MAX_DEPTH || !conn_try_qp(&queue->c))
		return false;
	queue->capsules = mem_make(&queue->c, (size_t)receives(queue) * CAPSULE_LEN,
				   IBV_ACCESS_LOCAL_WRITE);
	queue->responses = mem_make(&queue->c, RING * MAX_RESPONSE, 0);
	queue->pages = mem_make(&queue->c, PAGES * PAGE_LEN, IBV_ACCESS_LOCAL_WRITE);
	queue->disk = ibv_reg_mr(queue->c.pd, target_disk, DISK_LEN,
				 IBV_ACCESS_LOCAL_WRITE);
	if (!queue->disk)
		die("cannot register the disk");
	for (i = 0; i < receives(queue); i++)
		if (!queue->withhold || i < queue->receives)
			post_receive(queue, i);
	return true;
}

/* The QP goes first: nothing is on its way into memory any more */
void queue_close(struct queue *queue)
{
	if (queue->c.qp) {
		conn_drop_qp(&queue->c);
		mem_free(&queue->capsules);
		mem_free(&queue->responses);
		mem_free(&queue->pages);
		if (ibv_dereg_mr(queue->disk))
			die("cannot take the disk's registration back");
	}
	conn_close(&queue->c);
}

void queue_disconnect(struct queue *queue)
{
	queue->leaving = true;
	if (rdma_disconnect(queue->c.id))
		queue->dead = true;
}

static bool post(struct queue *queue, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	if (queue->dead || !queue->c.qp)
		return false;
	return !ibv_post_send(queue->c.qp, wr, &bad);
}

/* False if the send queue is full, or the queue dead */
bool queue_send(struct queue *queue, const struct answer *answer)
{
	unsigned int slot = queue->response_at++ % RING;
	uint8_t *at = queue->responses.at + (size_t)slot * MAX_RESPONSE;
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = answer->len,
			       .lkey = queue->responses.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = WR_ID(WR_SEND, slot), .sg_list = &sge,
				  .num_sge = answer->len ? 1 : 0,
				  .opcode = answer->opcode };

	memcpy(at, answer->bytes, answer->len);
	if (answer->opcode == IBV_WR_SEND_WITH_INV)
		wr.invalidate_rkey = answer->key;
	if (answer->opcode == IBV_WR_SEND_WITH_IMM)
		wr.imm_data = answer->key;
	return post(queue, &wr);
}

static uint8_t *next_page(struct queue *queue)
{
	return queue->pages.at + (size_t)(queue->page_at++ % PAGES) * PAGE_LEN;
}

bool queue_give(struct queue *queue, const uint8_t *from, uint32_t len,
		uint64_t addr, uint32_t key)
{
	uint8_t *page = next_page(queue);
	struct ibv_sge sge = { .addr = (uintptr_t)page,
			       .length = len > PAGE_LEN ? PAGE_LEN : len,
			       .lkey = queue->pages.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = WR_ID(WR_MOVE, 0), .sg_list = &sge,
				  .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE };

	memcpy(page, from, sge.length);
	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = key;
	return post(queue, &wr);
}

bool queue_move(struct queue *queue, enum ibv_wr_opcode opcode, uint64_t lba_byte,
		uint32_t len, uint64_t addr, uint32_t key, struct command *cmd)
{
	struct ibv_sge sge = { .addr = (uintptr_t)target_disk + lba_byte,
			       .length = len, .lkey = queue->disk->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = opcode };

	if (lba_byte > DISK_LEN || len > DISK_LEN - lba_byte)
		return false;
	wr.wr_id = cmd ? WR_ID(WR_FETCH, cmd - queue->cmds) : WR_ID(WR_MOVE, 0);
	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = key;
	return post(queue, &wr);
}

bool queue_probe(struct queue *queue, enum ibv_wr_opcode opcode, uint32_t len,
		 uint64_t addr, uint32_t key)
{
	struct ibv_sge sge = { .addr = (uintptr_t)next_page(queue), .length = len,
			       .lkey = queue->pages.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = WR_ID(WR_PROBE, opcode), .sg_list = &sge,
				  .num_sge = 1, .opcode = opcode };

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = key;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = key;
	}
	return post(queue, &wr);
}

bool queue_immediate(struct queue *queue, uint32_t len, uint64_t addr, uint32_t key)
{
	struct ibv_sge sge = { .addr = (uintptr_t)next_page(queue),
			       .length = len > PAGE_LEN ? PAGE_LEN : len,
			       .lkey = queue->pages.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = WR_ID(WR_MOVE, 0), .sg_list = &sge,
				  .num_sge = len ? 1 : 0,
				  .opcode = IBV_WR_RDMA_WRITE_WITH_IMM };

	if (len) {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = key;
	}
	return post(queue, &wr);
}

static void probe_ended(const struct queue *queue, const struct ibv_wc *wc)
{
	uint32_t opcode = (uint32_t)wc->wr_id;
	const char *what = opcode == IBV_WR_RDMA_READ ? "RDMA READ" :
			   opcode == IBV_WR_RDMA_WRITE ? "RDMA WRITE" : "atomic";

	if (wc->status == IBV_WC_SUCCESS)
		alarm_say("%s on queue %u, which nobody allowed, went through",
			  what, queue->qid);
	else
		say("%s on queue %u, which nobody allowed: %s", what, queue->qid,
		    ibv_wc_status_str(wc->status));
}

static void ended(struct queue *queue, const struct ibv_wc *wc)
{
	uint32_t index = (uint32_t)wc->wr_id;
	enum wr_kind kind = wc->wr_id >> 32;

	if (kind == WR_PROBE)
		probe_ended(queue, wc);
	if (wc->status != IBV_WC_SUCCESS) {
		/* it is over once the host has disconnected; be sure that it does */
		if (!queue->dead && wc->status != IBV_WC_WR_FLUSH_ERR)
			say("queue %u: %s", queue->qid, ibv_wc_status_str(wc->status));
		if (!queue->dead && !queue->leaving)
			queue_disconnect(queue);
		queue->dead = true;
		return;
	}
	if (kind == WR_RECV) {
		command_arrived(queue, queue->capsules.at +
				(size_t)index * CAPSULE_LEN, wc->byte_len);
		if (!queue->withhold)
			post_receive(queue, index);
	} else if (kind == WR_FETCH) {
		command_data_here(&queue->cmds[index]);
	}
}

/* Whether there was anything */
bool queue_poll(struct queue *queue)
{
	struct ibv_wc wc[16];
	int n, i;

	if (!queue->c.cq)
		return false;
	n = ibv_poll_cq(queue->c.cq, 16, wc);
	if (n < 0)
		die("cannot poll a completion queue");
	for (i = 0; i < n; i++)
		ended(queue, &wc[i]);
	return n > 0;
}
