/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of the life of commands and connections. nvmet-rdma(4) has one
 * line and an example for each: keep the two alike.
 *
 * A connection is named by its number, which is also its file's in debugfs.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvmet_rdma

#if !defined(NVMET_RDMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NVMET_RDMA_TRACE_H

#include <linux/in6.h>
#include <linux/tracepoint.h>

#include "queue.h"
#include "thread.h"

#ifndef NVMET_RDMA_TRACE_ONCE
#define NVMET_RDMA_TRACE_ONCE

/* Values in words; user space reads the list out of the event's format */
#define nvmet_rdma_show_state(state)					\
	__print_symbolic(state,						\
			 { NVMET_RDMA_Q_CONNECTING,	"connecting" },	\
			 { NVMET_RDMA_Q_LIVE,		"live" },	\
			 { NVMET_RDMA_Q_DISCONNECTING,	"disconnecting" }, \
			 { NVMET_RDMA_Q_DRAINED,	"drained" })

#define nvmet_rdma_show_data(data)					\
	__print_symbolic(data,						\
			 { NVMET_RDMA_DATA_NONE,	"none" },	\
			 { NVMET_RDMA_DATA_CAPSULE,	"in-capsule" },	\
			 { NVMET_RDMA_DATA_KEYED,	"keyed" })

#define nvmet_rdma_show_refusal(why)					\
	__print_symbolic(why,						\
			 { NVMET_RDMA_REFUSED_LEN,	"length" },	\
			 { NVMET_RDMA_REFUSED_RECFMT,	"record-format" }, \
			 { NVMET_RDMA_REFUSED_QID,	"queue-id" },	\
			 { NVMET_RDMA_REFUSED_HSQSIZE,	"hsqsize" },	\
			 { NVMET_RDMA_REFUSED_HRQSIZE,	"hrqsize" },	\
			 { NVMET_RDMA_REFUSED_NO_MEMORY, "no-memory" },	\
			 { NVMET_RDMA_REFUSED_IRD,	"ird" },	\
			 { NVMET_RDMA_REFUSED_DEVICE,	"device" },	\
			 { NVMET_RDMA_REFUSED_HOST_QUEUES, "host-queues" }, \
			 { NVMET_RDMA_REFUSED_HOST_PENDING, "host-pending" }, \
			 { NVMET_RDMA_REFUSED_MAX_PENDING, "max-pending" }, \
			 { NVMET_RDMA_REFUSED_HOST_UNPROVED, "host-unproved" }, \
			 { NVMET_RDMA_REFUSED_MAX_UNPROVED, "max-unproved" }, \
			 { NVMET_RDMA_REFUSED_UNFINISHED, "unfinished" })
#endif

TRACE_DEFINE_ENUM(NVMET_RDMA_Q_CONNECTING);
TRACE_DEFINE_ENUM(NVMET_RDMA_Q_LIVE);
TRACE_DEFINE_ENUM(NVMET_RDMA_Q_DISCONNECTING);
TRACE_DEFINE_ENUM(NVMET_RDMA_Q_DRAINED);
TRACE_DEFINE_ENUM(NVMET_RDMA_DATA_NONE);
TRACE_DEFINE_ENUM(NVMET_RDMA_DATA_CAPSULE);
TRACE_DEFINE_ENUM(NVMET_RDMA_DATA_KEYED);
TRACE_DEFINE_ENUM(NVMET_RDMA_REFUSED_LEN);
TRACE_DEFINE_ENUM(NVMET_RDMA_REFUSED_RECFMT);
TRACE_DEFINE_ENUM(NVMET_RDMA_REFUSED_QID);
TRACE_DEFINE_ENUM(NVMET_RDMA_REFUSED_HSQSIZE);
TRACE_DEFINE_ENUM(NVMET_RDMA_REFUSED_HRQSIZE);
TRACE_DEFINE_ENUM(NVMET_RDMA_REFUSED_NO_MEMORY);
TRACE_DEFINE_ENUM(NVMET_RDMA_REFUSED_IRD);
TRACE_DEFINE_ENUM(NVMET_RDMA_REFUSED_DEVICE);
TRACE_DEFINE_ENUM(NVMET_RDMA_REFUSED_HOST_QUEUES);
TRACE_DEFINE_ENUM(NVMET_RDMA_REFUSED_HOST_PENDING);
TRACE_DEFINE_ENUM(NVMET_RDMA_REFUSED_MAX_PENDING);
TRACE_DEFINE_ENUM(NVMET_RDMA_REFUSED_HOST_UNPROVED);
TRACE_DEFINE_ENUM(NVMET_RDMA_REFUSED_MAX_UNPROVED);
TRACE_DEFINE_ENUM(NVMET_RDMA_REFUSED_UNFINISHED);

TRACE_EVENT(nvmet_rdma_queue_state,
	TP_PROTO(const struct nvmet_rdma_queue *queue,
		 enum nvmet_rdma_queue_state to),
	TP_ARGS(queue, to),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(u16, port)
		__field(u16, qid)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		__entry->queue = queue->number;
		__entry->port = queue->port->portid;
		__entry->qid = queue->qid;
		__entry->from = queue->state;
		__entry->to = to;
	),
	TP_printk("queue=%u port=%u qid=%u %s -> %s", __entry->queue,
		  __entry->port, __entry->qid,
		  nvmet_rdma_show_state(__entry->from),
		  nvmet_rdma_show_state(__entry->to))
);

TRACE_EVENT(nvmet_rdma_cm_event,
	TP_PROTO(const struct nvmet_rdma_port *port,
		 const struct nvmet_rdma_queue *queue,
		 const struct rdma_cm_event *ev),
	TP_ARGS(port, queue, ev),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(u16, port)
		__field(u16, qid)
		__field(int, event)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->queue = queue ? queue->number : 0;
		__entry->port = port->portid;
		__entry->qid = queue ? queue->qid : 0;
		__entry->event = ev->event;
		__entry->status = ev->status;
	),
	TP_printk("queue=%u port=%u qid=%u event=%d status=%d",
		  __entry->queue, __entry->port, __entry->qid, __entry->event,
		  __entry->status)
);

TRACE_EVENT(nvmet_rdma_refused,
	TP_PROTO(const struct nvmet_rdma_port *port,
		 const struct sockaddr_storage *peer, u16 qid,
		 enum nvmet_rdma_refusal why),
	TP_ARGS(port, peer, qid, why),
	TP_STRUCT__entry(
		__field(u16, port)
		__field(u16, qid)
		__field(int, why)
		__array(u8, peer, sizeof(struct sockaddr_in6))
	),
	TP_fast_assign(
		__entry->port = port->portid;
		__entry->qid = qid;
		__entry->why = why;
		memcpy(__entry->peer, peer, sizeof(struct sockaddr_in6));
	),
	TP_printk("port=%u qid=%u peer=%pISpc %s", __entry->port, __entry->qid,
		  __entry->peer, nvmet_rdma_show_refusal(__entry->why))
);

TRACE_EVENT(nvmet_rdma_connect,
	TP_PROTO(const struct nvmet_rdma_queue *queue,
		 const struct nvmet_ctrl *ctrl),
	TP_ARGS(queue, ctrl),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(u16, port)
		__field(u16, qid)
		__field(u16, controller)
		__array(u8, peer, sizeof(struct sockaddr_in6))
		__array(char, host, NVMF_NQN_FIELD_LEN)
	),
	TP_fast_assign(
		__entry->queue = queue->number;
		__entry->port = queue->port->portid;
		__entry->qid = queue->qid;
		__entry->controller = ctrl->cntlid;
		memcpy(__entry->peer, &queue->peer_addr,
		       sizeof(struct sockaddr_in6));
		strscpy(__entry->host, ctrl->hostnqn, NVMF_NQN_FIELD_LEN);
	),
	TP_printk("queue=%u port=%u qid=%u controller=%u peer=%pISpc host=%s",
		  __entry->queue, __entry->port, __entry->qid,
		  __entry->controller, __entry->peer, __entry->host)
);

TRACE_EVENT(nvmet_rdma_command,
	TP_PROTO(const struct nvmet_rdma_queue *queue,
		 const struct nvmet_rdma_cmd *cmd),
	TP_ARGS(queue, cmd),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(u16, port)
		__field(u16, qid)
		__field(u16, cid)
		__field(u8, opcode)
		__field(u8, data)
		__field(u32, bytes)
		__field(u16, status)
	),
	TP_fast_assign(
		__entry->queue = queue->number;
		__entry->port = queue->port->portid;
		__entry->qid = queue->qid;
		__entry->cid = cmd->capsule->common.command_id;
		__entry->opcode = cmd->capsule->common.opcode;
		__entry->data = cmd->sgl.data;
		__entry->bytes = cmd->sgl.len;
		__entry->status = cmd->sgl.status;
	),
	TP_printk("queue=%u port=%u qid=%u cid=%#x opcode=%#x data=%s bytes=%u status=%#x",
		  __entry->queue, __entry->port, __entry->qid, __entry->cid,
		  __entry->opcode, nvmet_rdma_show_data(__entry->data),
		  __entry->bytes, __entry->status)
);

TRACE_EVENT(nvmet_rdma_response,
	TP_PROTO(const struct nvmet_rdma_rsp *rsp),
	TP_ARGS(rsp),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(u16, port)
		__field(u16, qid)
		__field(u16, cid)
		__field(u16, status)
		__field(u8, invalidate)
		__field(u64, ns)
	),
	TP_fast_assign(
		__entry->queue = rsp->queue->number;
		__entry->port = rsp->queue->port->portid;
		__entry->qid = rsp->queue->qid;
		__entry->cid = rsp->cqe->command_id;
		__entry->status = le16_to_cpu(rsp->cqe->status) >> 1;
		__entry->invalidate = rsp->sgl.invalidate;
		__entry->ns = rsp->ns;
	),
	TP_printk("queue=%u port=%u qid=%u cid=%#x status=%#x invalidate=%u ns=%llu",
		  __entry->queue, __entry->port, __entry->qid, __entry->cid,
		  __entry->status, __entry->invalidate, __entry->ns)
);

TRACE_EVENT(nvmet_rdma_thread_slept,
	TP_PROTO(const struct nvmet_rdma_thread *thread, u64 ns),
	TP_ARGS(thread, ns),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, vector)
		__field(u64, ns)
		__field(u64, spin_ns)
	),
	TP_fast_assign(
		strscpy(__entry->dev, thread->dev->ib->name, IB_DEVICE_NAME_MAX);
		__entry->vector = thread->vector;
		__entry->ns = ns;
		__entry->spin_ns = thread->spin_ns;
	),
	TP_printk("dev=%s vector=%u ns=%llu spin_ns=%llu", __entry->dev,
		  __entry->vector, __entry->ns, __entry->spin_ns)
);

TRACE_EVENT(nvmet_rdma_thread_away,
	TP_PROTO(const struct nvmet_rdma_thread *thread),
	TP_ARGS(thread),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, vector)
	),
	TP_fast_assign(
		strscpy(__entry->dev, thread->dev->ib->name, IB_DEVICE_NAME_MAX);
		__entry->vector = thread->vector;
	),
	TP_printk("dev=%s vector=%u", __entry->dev, __entry->vector)
);

TRACE_EVENT(nvmet_rdma_work_failed,
	TP_PROTO(const struct nvmet_rdma_queue *queue, const struct ib_wc *wc),
	TP_ARGS(queue, wc),
	TP_STRUCT__entry(
		__field(u32, queue)
		__field(u16, port)
		__field(u16, qid)
		__field(int, status)
		__field(u32, vendor)
	),
	TP_fast_assign(
		__entry->queue = queue->number;
		__entry->port = queue->port->portid;
		__entry->qid = queue->qid;
		__entry->status = wc->status;
		__entry->vendor = wc->vendor_err;
	),
	TP_printk("queue=%u port=%u qid=%u status=%d vendor=%#x",
		  __entry->queue, __entry->port, __entry->qid,
		  __entry->status, __entry->vendor)
);

#endif /* NVMET_RDMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH target
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
