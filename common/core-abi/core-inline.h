/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of the NVMe core that BTF does not describe: the values of macros, and
 * inline functions.  Each was checked against the sources of 6.1.192, 6.12.117
 * and 7.2.12.
 *
 * Do not include this file: include core-abi/core.h.
 */
#ifndef NVME_RDMA_CORE_INLINE_H
#define NVME_RDMA_CORE_INLINE_H

/* nvme_ctrl_ops.flags; compat.h compares them with the in-tree nvme-rdma. */
#define NVME_F_FABRICS			BIT(0)
#define NVME_F_METADATA_SUPPORTED	BIT(1)

/* nvmet_fabrics_ops.flags; compat.h compares them with the in-tree nvmet-rdma. */
#define NVMF_KEYED_SGLS			BIT(0)
#define NVMF_METADATA_SUPPORTED		BIT(1)

/* The parameter nvme_core.io_timeout, in jiffies. */
#define NVME_IO_TIMEOUT			(nvme_io_timeout * HZ)

/* A request that was submitted to a multipath disk. */
#define REQ_NVME_MPATH			REQ_DRV

/*
 * A command ID has the tag in its low 12 bits.  Its high 4 bits are the low bits
 * of a generation, which the core increments with each completion.  So a duplicate
 * or late completion does not match the tag's next request.
 */
#define NVME_CID_TAG_BITS		12
#define NVME_CID_TAG_MASK		GENMASK(NVME_CID_TAG_BITS - 1, 0)
#define NVME_CID_GEN_MASK		GENMASK(3, 0)

/**
 * nvme_req() - the part of a request's private data that the core owns
 * @rq: a request of a tag set that nvme_alloc_*_tag_set() made
 *
 * It is the first member of the private data, so our struct begins with it.
 */
static inline struct nvme_request *nvme_req(struct request *rq)
{
	return blk_mq_rq_to_pdu(rq);
}

/**
 * nvme_req_qid() - the NVMe queue of a request
 * @rq: a started request
 *
 * Do not use it for the Connect command of an I/O queue: a request queue without
 * a namespace (admin, fabrics, connect) counts as the admin queue.
 *
 * Return: 0 for the admin queue, or the number of the I/O queue.
 */
static inline u16 nvme_req_qid(struct request *rq)
{
	return rq->q->queuedata ? rq->mq_hctx->queue_num + 1 : 0;
}

/**
 * nvme_cid() - the command ID of a request
 * @rq: a request after nvme_setup_cmd()
 */
static inline u16 nvme_cid(struct request *rq)
{
	u16 gen = nvme_req(rq)->genctr & NVME_CID_GEN_MASK;

	return gen << NVME_CID_TAG_BITS | rq->tag;
}

/**
 * nvme_tag_from_cid() - the tag in a command ID
 * @cid: the command ID of a command or completion, in the CPU's byte order
 */
static inline u16 nvme_tag_from_cid(u16 cid)
{
	return cid & NVME_CID_TAG_MASK;
}

/**
 * nvme_is_aen_req() - does a command ID belong to an asynchronous event request?
 * @qid: the queue
 * @cid: the command ID, in the CPU's byte order
 *
 * Asynchronous event requests have no struct request. Their command IDs are above
 * the tags of the admin queue.
 */
static inline bool nvme_is_aen_req(u16 qid, u16 cid)
{
	return !qid && nvme_tag_from_cid(cid) >= NVME_AQ_BLK_MQ_DEPTH;
}

/**
 * nvme_ctrl_state() - read the state of a controller once
 * @ctrl: the controller
 *
 * Context: any. Return: the state, which may change at any time.
 */
static inline enum nvme_ctrl_state nvme_ctrl_state(struct nvme_ctrl *ctrl)
{
	return READ_ONCE(ctrl->state);
}

static inline void nvme_get_ctrl(struct nvme_ctrl *ctrl)
{
	get_device(ctrl->device);
}

static inline void nvme_put_ctrl(struct nvme_ctrl *ctrl)
{
	put_device(ctrl->device);
}

/**
 * nvmf_ctrl_subsysnqn() - the NQN of a controller for the user
 * @ctrl: the controller
 *
 * For a discovery controller this is the well-known NQN that the user gave, not the
 * unique NQN that its Identify data may have.
 */
static inline char *nvmf_ctrl_subsysnqn(struct nvme_ctrl *ctrl)
{
	if (ctrl->subsys &&
	    strcmp(ctrl->opts->subsysnqn, NVME_DISC_SUBSYS_NAME))
		return ctrl->subsys->subnqn;
	return ctrl->opts->subsysnqn;
}

/**
 * nvmf_nr_io_queues() - number of I/O queues in the user's options
 * @opts: the options
 *
 * Return: the sum of the three types, each limited to the number of CPUs.
 */
static inline unsigned int nvmf_nr_io_queues(struct nvmf_ctrl_options *opts)
{
	unsigned int cpus = num_online_cpus();

	return min(opts->nr_io_queues, cpus) +
	       min(opts->nr_write_queues, cpus) +
	       min(opts->nr_poll_queues, cpus);
}

/**
 * nvmf_complete_timed_out_request() - complete a request that gets no response
 * @rq: the request
 *
 * Does nothing if the request has been completed. The state is read only once,
 * because the end of that completion, possibly on another CPU, changes it again.
 *
 * Context: may sleep. The queue has been torn down, so that no completion for the
 * request can arrive.
 */
static inline void nvmf_complete_timed_out_request(struct request *rq)
{
	if (blk_mq_rq_state(rq) != MQ_RQ_IN_FLIGHT)
		return;
	nvme_req(rq)->status = NVME_SC_HOST_ABORTED_CMD;
	blk_mq_complete_request(rq);
}

/**
 * nvme_complete_batch() - end all requests of a batch
 * @iob: the batch
 * @fn: releases the transport's resources of a request, such as its mapping
 *
 * Context: that of the completion handler.
 */
static __always_inline void nvme_complete_batch(struct io_comp_batch *iob,
						void (*fn)(struct request *rq))
{
	struct request *rq;

	rq_list_for_each(&iob->req_list, rq) {
		fn(rq);
		nvme_complete_batch_req(rq);
	}
	blk_mq_end_request_batch(iob);
}

/**
 * nvmet_data_dir() - DMA direction of a command's data on the target
 * @req: the request
 *
 * Return: DMA_FROM_DEVICE for a write, whose data arrives from the RDMA device.
 */
static inline enum dma_data_direction nvmet_data_dir(struct nvmet_req *req)
{
	return nvme_is_write(req->cmd) ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

#endif
