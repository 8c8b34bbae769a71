/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of the life of commands and connections. nvme-rdma(4) has one
 * line and an example for each: keep the two alike.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvme_rdma

#if !defined(NVME_RDMA_HOST_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NVME_RDMA_HOST_TRACE_H

#include <linux/tracepoint.h>

#include "ctrl.h"

#ifndef NVME_RDMA_HOST_TRACE_ONCE
#define NVME_RDMA_HOST_TRACE_ONCE

/* Values in words; user space reads the list out of the event's format */
#define nvme_rdma_show_state(state)					\
	__print_symbolic(state,						\
			 { NVME_RDMA_Q_IDLE,		"idle" },	\
			 { NVME_RDMA_Q_ADDRESS,		"address" },	\
			 { NVME_RDMA_Q_ROUTE,		"route" },	\
			 { NVME_RDMA_Q_CONNECTING,	"connecting" },	\
			 { NVME_RDMA_Q_CONNECTED,	"connected" },	\
			 { NVME_RDMA_Q_LIVE,		"live" },	\
			 { NVME_RDMA_Q_FAILED,		"failed" },	\
			 { NVME_RDMA_Q_CLOSING,		"closing" })

#define nvme_rdma_show_data(data)					\
	__print_symbolic(data,						\
			 { NVME_RDMA_DATA_NONE,		"none" },	\
			 { NVME_RDMA_DATA_IN_CAPSULE,	"in-capsule" },	\
			 { NVME_RDMA_DATA_REGISTERED,	"registered" },	\
			 { NVME_RDMA_DATA_PROTECTED,	"protected" },	\
			 { NVME_RDMA_DATA_GLOBAL,	"global-key" })
#endif

TRACE_DEFINE_ENUM(NVME_RDMA_Q_IDLE);
TRACE_DEFINE_ENUM(NVME_RDMA_Q_ADDRESS);
TRACE_DEFINE_ENUM(NVME_RDMA_Q_ROUTE);
TRACE_DEFINE_ENUM(NVME_RDMA_Q_CONNECTING);
TRACE_DEFINE_ENUM(NVME_RDMA_Q_CONNECTED);
TRACE_DEFINE_ENUM(NVME_RDMA_Q_LIVE);
TRACE_DEFINE_ENUM(NVME_RDMA_Q_FAILED);
TRACE_DEFINE_ENUM(NVME_RDMA_Q_CLOSING);
TRACE_DEFINE_ENUM(NVME_RDMA_DATA_NONE);
TRACE_DEFINE_ENUM(NVME_RDMA_DATA_IN_CAPSULE);
TRACE_DEFINE_ENUM(NVME_RDMA_DATA_REGISTERED);
TRACE_DEFINE_ENUM(NVME_RDMA_DATA_PROTECTED);
TRACE_DEFINE_ENUM(NVME_RDMA_DATA_GLOBAL);

TRACE_EVENT(nvme_rdma_queue_state,
	TP_PROTO(const struct nvme_rdma_queue *queue,
		 enum nvme_rdma_queue_state to),
	TP_ARGS(queue, to),
	TP_STRUCT__entry(
		__field(int, ctrl)
		__field(u16, qid)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		__entry->ctrl = queue->ctrl->ctrl.instance;
		__entry->qid = queue->qid;
		__entry->from = queue->state;
		__entry->to = to;
	),
	TP_printk("nvme%d qid=%u %s -> %s", __entry->ctrl, __entry->qid,
		  nvme_rdma_show_state(__entry->from),
		  nvme_rdma_show_state(__entry->to))
);

TRACE_EVENT(nvme_rdma_cm_event,
	TP_PROTO(const struct nvme_rdma_queue *queue,
		 const struct rdma_cm_event *ev),
	TP_ARGS(queue, ev),
	TP_STRUCT__entry(
		__field(int, ctrl)
		__field(u16, qid)
		__field(int, event)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->ctrl = queue->ctrl->ctrl.instance;
		__entry->qid = queue->qid;
		__entry->event = ev->event;
		__entry->status = ev->status;
	),
	TP_printk("nvme%d qid=%u event=%d status=%d", __entry->ctrl,
		  __entry->qid, __entry->event, __entry->status)
);

TRACE_EVENT(nvme_rdma_send,
	TP_PROTO(const struct nvme_rdma_queue *queue,
		 const struct nvme_rdma_request *req, unsigned int bytes),
	TP_ARGS(queue, req, bytes),
	TP_STRUCT__entry(
		__field(int, ctrl)
		__field(u16, qid)
		__field(u16, cid)
		__field(u8, opcode)
		__field(u8, data)
		__field(u32, bytes)
		__field(u8, signaled)
	),
	TP_fast_assign(
		__entry->ctrl = queue->ctrl->ctrl.instance;
		__entry->qid = queue->qid;
		__entry->cid = req->cmd.common.command_id;
		__entry->opcode = req->cmd.common.opcode;
		__entry->data = req->data;
		__entry->bytes = bytes;
		__entry->signaled = !!(req->send_wr.send_flags &
				       IB_SEND_SIGNALED);
	),
	TP_printk("nvme%d qid=%u cid=%#x opcode=%#x data=%s bytes=%u signaled=%u",
		  __entry->ctrl, __entry->qid, __entry->cid, __entry->opcode,
		  nvme_rdma_show_data(__entry->data), __entry->bytes,
		  __entry->signaled)
);

TRACE_EVENT(nvme_rdma_response,
	TP_PROTO(const struct nvme_rdma_queue *queue, u16 cid, __le16 status,
		 bool invalidated, u64 ns),
	TP_ARGS(queue, cid, status, invalidated, ns),
	TP_STRUCT__entry(
		__field(int, ctrl)
		__field(u16, qid)
		__field(u16, cid)
		__field(u16, status)
		__field(u8, invalidated)
		__field(u64, ns)
	),
	TP_fast_assign(
		__entry->ctrl = queue->ctrl->ctrl.instance;
		__entry->qid = queue->qid;
		__entry->cid = cid;
		__entry->status = le16_to_cpu(status) >> 1;
		__entry->invalidated = invalidated;
		__entry->ns = ns;
	),
	TP_printk("nvme%d qid=%u cid=%#x status=%#x invalidated=%u ns=%llu",
		  __entry->ctrl, __entry->qid, __entry->cid, __entry->status,
		  __entry->invalidated, __entry->ns)
);

TRACE_EVENT(nvme_rdma_work_failed,
	TP_PROTO(const struct nvme_rdma_queue *queue, const struct ib_wc *wc),
	TP_ARGS(queue, wc),
	TP_STRUCT__entry(
		__field(int, ctrl)
		__field(u16, qid)
		__field(int, status)
		__field(u32, vendor)
	),
	TP_fast_assign(
		__entry->ctrl = queue->ctrl->ctrl.instance;
		__entry->qid = queue->qid;
		__entry->status = wc->status;
		__entry->vendor = wc->vendor_err;
	),
	TP_printk("nvme%d qid=%u status=%d vendor=%#x", __entry->ctrl,
		  __entry->qid, __entry->status, __entry->vendor)
);

TRACE_EVENT(nvme_rdma_timeout,
	TP_PROTO(const struct nvme_rdma_request *req, bool aborting),
	TP_ARGS(req, aborting),
	TP_STRUCT__entry(
		__field(int, ctrl)
		__field(u16, qid)
		__field(u16, cid)
		__field(u8, opcode)
		__field(u8, waits)
		__field(u8, aborting)
	),
	TP_fast_assign(
		__entry->ctrl = req->queue->ctrl->ctrl.instance;
		__entry->qid = req->queue->qid;
		__entry->cid = req->cmd.common.command_id;
		__entry->opcode = req->cmd.common.opcode;
		__entry->waits = atomic_read(&req->waits);
		__entry->aborting = aborting;
	),
	TP_printk("nvme%d qid=%u cid=%#x opcode=%#x waits=%s aborting=%u",
		  __entry->ctrl, __entry->qid, __entry->cid, __entry->opcode,
		  __print_flags(__entry->waits, "|",
				{ NVME_RDMA_WAIT_SEND, "SEND" },
				{ NVME_RDMA_WAIT_RESPONSE, "RESPONSE" },
				{ NVME_RDMA_WAIT_INVALIDATE, "INVALIDATE" },
				{ NVME_RDMA_WAIT_POST, "POST" }),
		  __entry->aborting)
);

TRACE_EVENT(nvme_rdma_recovery,
	TP_PROTO(const struct nvme_rdma_ctrl *ctrl, int attempts, int result),
	TP_ARGS(ctrl, attempts, result),
	TP_STRUCT__entry(
		__field(int, ctrl)
		__field(int, attempts)
		__field(int, result)
	),
	TP_fast_assign(
		__entry->ctrl = ctrl->ctrl.instance;
		__entry->attempts = attempts;
		__entry->result = result;
	),
	TP_printk("nvme%d attempts=%d result=%d", __entry->ctrl,
		  __entry->attempts, __entry->result)
);

#endif /* NVME_RDMA_HOST_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH host
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
