/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of completion queues, in the system of the module that compiles cq.c. Each
 * module's page, nvme-rdma(4) and nvmet-rdma(4), has a line for each: keep them alike.
 *
 * A queue is named by its device and its number there, which "rdma resource show cq" has, too.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM NVME_RDMA_CQ_TRACE_SYSTEM

#if !defined(NVME_RDMA_CQ_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NVME_RDMA_CQ_TRACE_H

#include <linux/tracepoint.h>

#include "cq.h"

#ifndef NVME_RDMA_CQ_TRACE_ONCE
#define NVME_RDMA_CQ_TRACE_ONCE

/* Values in words; user space reads the list out of the event's format */
#define nvme_rdma_show_poller(poller)					\
	__print_symbolic(poller,					\
			 { NVME_RDMA_CQ_BY_INTERRUPT,	"interrupt" },	\
			 { NVME_RDMA_CQ_BY_SOFTIRQ,	"softirq" },	\
			 { NVME_RDMA_CQ_BY_WORK,	"work" },	\
			 { NVME_RDMA_CQ_BY_THREAD,	"thread" },	\
			 { NVME_RDMA_CQ_BY_STOP,	"stop" },	\
			 { NVME_RDMA_CQ_BY_OWNER,	"owner" })
#endif

TRACE_DEFINE_ENUM(NVME_RDMA_CQ_BY_INTERRUPT);
TRACE_DEFINE_ENUM(NVME_RDMA_CQ_BY_SOFTIRQ);
TRACE_DEFINE_ENUM(NVME_RDMA_CQ_BY_WORK);
TRACE_DEFINE_ENUM(NVME_RDMA_CQ_BY_THREAD);
TRACE_DEFINE_ENUM(NVME_RDMA_CQ_BY_STOP);
TRACE_DEFINE_ENUM(NVME_RDMA_CQ_BY_OWNER);

TRACE_EVENT(nvme_rdma_cq_poll,
	TP_PROTO(const struct nvme_rdma_cq *cq, enum nvme_rdma_cq_poller poller,
		 int found),
	TP_ARGS(cq, poller, found),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, cqn)
		__field(u32, vector)
		__field(int, poller)
		__field(int, found)
	),
	TP_fast_assign(
		strscpy(__entry->dev, cq->ib->device->name, IB_DEVICE_NAME_MAX);
		__entry->cqn = cq->ib->res.id;
		__entry->vector = cq->vector;
		__entry->poller = poller;
		__entry->found = found;
	),
	TP_printk("dev=%s cqn=%u vector=%u by=%s found=%d", __entry->dev,
		  __entry->cqn, __entry->vector,
		  nvme_rdma_show_poller(__entry->poller), __entry->found)
);

TRACE_EVENT(nvme_rdma_cq_arm,
	TP_PROTO(const struct nvme_rdma_cq *cq, bool missed),
	TP_ARGS(cq, missed),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, cqn)
		__field(u32, vector)
		__field(bool, missed)
	),
	TP_fast_assign(
		strscpy(__entry->dev, cq->ib->device->name, IB_DEVICE_NAME_MAX);
		__entry->cqn = cq->ib->res.id;
		__entry->vector = cq->vector;
		__entry->missed = missed;
	),
	TP_printk("dev=%s cqn=%u vector=%u missed=%d", __entry->dev,
		  __entry->cqn, __entry->vector, __entry->missed)
);

TRACE_EVENT(nvme_rdma_cq_moderate,
	TP_PROTO(const struct ib_cq *ib, unsigned int completions,
		 unsigned int us, int error),
	TP_ARGS(ib, completions, us, error),
	TP_STRUCT__entry(
		__array(char, dev, IB_DEVICE_NAME_MAX)
		__field(u32, cqn)
		__field(u32, completions)
		__field(u32, us)
		__field(int, error)
	),
	TP_fast_assign(
		strscpy(__entry->dev, ib->device->name, IB_DEVICE_NAME_MAX);
		__entry->cqn = ib->res.id;
		__entry->completions = completions;
		__entry->us = us;
		__entry->error = error;
	),
	TP_printk("dev=%s cqn=%u completions=%u us=%u error=%d", __entry->dev,
		  __entry->cqn, __entry->completions, __entry->us,
		  __entry->error)
);

#endif /* NVME_RDMA_CQ_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE cq_trace
#include <trace/define_trace.h>
