/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: transfers of keyed data */
#ifndef NVMET_RDMA_XFER_H
#define NVMET_RDMA_XFER_H

#include "queue.h"

/* pi.c */

void nvmet_rdma_pi_enable_port(struct nvmet_rdma_port *port,
			       const struct ib_device *ib);
bool nvmet_rdma_pi_allows(const struct nvmet_req *req, u16 *error_loc);
size_t nvmet_rdma_pi_len_on_wire(const struct nvmet_req *req, size_t len);
void nvmet_rdma_pi_set_len(struct nvmet_rdma_rsp *rsp);
int nvmet_rdma_pi_init(struct nvmet_rdma_rsp *rsp);
u16 nvmet_rdma_pi_check(struct nvmet_rdma_rsp *rsp);
void nvmet_rdma_pi_destroy(struct nvmet_rdma_rsp *rsp);

/* rw.c */

/*
 * Context: any. Return: shall the core's buffers for a command, which it has parsed, be in the
 * memory of a disk?
 */
static inline bool nvmet_rdma_rw_wants_p2p(const struct nvmet_rdma_rsp *rsp)
{
	return rsp->queue->p2p && rsp->req.ns && rsp->req.ns->use_p2pmem;
}

u32 nvmet_rdma_rw_nr_wrs(const struct nvmet_rdma_queue *queue, u32 len, bool to_target);
u32 nvmet_rdma_rw_max_mrs(const struct nvmet_rdma_queue *queue);
int nvmet_rdma_rw_alloc_list(struct nvmet_rdma_rsp *rsp);
int nvmet_rdma_rw_init(struct nvmet_rdma_rsp *rsp);
void nvmet_rdma_rw_destroy(struct nvmet_rdma_rsp *rsp);
struct ib_send_wr *nvmet_rdma_rw_wrs(struct nvmet_rdma_rsp *rsp, struct ib_send_wr *then);

/* xfer.c */

/* Context: any. Return: the most elements of a work request of rdma_rw or of chunks. */
static inline u32 nvmet_rdma_xfer_max_sge(const struct nvmet_rdma_queue *queue, bool to_target)
{
	return to_target ? queue->max_read_sge : queue->max_write_sge;
}

u32 nvmet_rdma_xfer_nr_wrs(const struct nvmet_rdma_queue *queue, u32 len,
			   bool to_target);
u32 nvmet_rdma_xfer_expect_wrs(const struct nvmet_rdma_queue *queue, u32 len,
			       bool to_target);
u32 nvmet_rdma_xfer_max_wrs(const struct nvmet_rdma_queue *queue);
int nvmet_rdma_xfer_init(struct nvmet_rdma_rsp *rsp);
struct ib_send_wr *nvmet_rdma_xfer_wrs(struct nvmet_rdma_rsp *rsp,
				       struct ib_send_wr *then);
void nvmet_rdma_xfer_sync_for_cpu(struct nvmet_rdma_rsp *rsp);
void nvmet_rdma_xfer_unmap(struct nvmet_rdma_rsp *rsp);
void nvmet_rdma_xfer_destroy(struct nvmet_rdma_rsp *rsp);
void nvmet_rdma_xfer_destroy_list(struct nvmet_rdma_rsp *first);

#endif /* NVMET_RDMA_XFER_H */
