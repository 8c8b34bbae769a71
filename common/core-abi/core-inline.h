/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What BTF does not say about the NVMe core: the values of its macros, and the
 * conventions that it keeps in inline functions of its own.  Each was checked
 * against the sources of 6.1.192, 6.12.117 and 7.2.12.
 *
 * Do not include this file: include core-abi/core.h.
 */
#ifndef NVME_RDMA_CORE_INLINE_H
#define NVME_RDMA_CORE_INLINE_H

/* nvme_ctrl_ops.flags; compat.h holds them against the in-tree nvme-rdma. */
#define NVME_F_FABRICS			BIT(0)
#define NVME_F_METADATA_SUPPORTED	BIT(1)

/* nvmet_fabrics_ops.flags; likewise against the in-tree nvmet-rdma. */
#define NVMF_KEYED_SGLS			BIT(0)
#define NVMF_METADATA_SUPPORTED		BIT(1)

/* The parameter nvme_core.io_timeout, in jiffies. */
#define NVME_IO_TIMEOUT			(nvme_io_timeout * HZ)

/* A request that came through a multipath node. */
#define REQ_NVME_MPATH			REQ_DRV

/*
 * A command id is the tag in its low 12 bits and, above them, the low 4 bits of
 * a generation that the core counts up with each completion: a completion that
 * arrives twice, or late, does not match the tag's next request.
 */
#define NVME_CID_TAG_BITS		12
#define NVME_CID_TAG_MASK		GENMASK(NVME_CID_TAG_BITS - 1, 0)
#define NVME_CID_GEN_MASK		GENMASK(3, 0)

/**
 * nvme_req() - the part of a request's private data that the core owns
 * @rq: a request of a tag set that nvme_alloc_*_tag_set() made
 *
 * It is the first thing in the private data, so ours begins with it.
 */
static inline struct nvme_request *nvme_req(struct request *rq)
{
	return blk_mq_rq_to_pdu(rq);
}

/**
 * nvme_req_qid() - the NVMe queue that a request goes to
 * @rq: a started request
 *
 * Return: 0 for the admin queue, or the number of the I/O queue.  A queue
 * without a namespace (admin, fabrics, connect) counts as the admin queue, so
 * this is not for the Connect command of an I/O queue.
 */
static inline u16 nvme_req_qid(struct request *rq)
{
	return rq->q->queuedata ? rq->mq_hctx->queue_num + 1 : 0;
}

/**
 * nvme_cid() - the command id that stands in a request's command
 * @rq: a request after nvme_setup_cmd()
 */
static inline u16 nvme_cid(struct request *rq)
{
	u16 gen = nvme_req(rq)->genctr & NVME_CID_GEN_MASK;

	return gen << NVME_CID_TAG_BITS | rq->tag;
}

/**
 * nvme_tag_from_cid() - the tag in a command id
 * @cid: as it stands in a command or completion, in the CPU's byte order
 */
static inline u16 nvme_tag_from_cid(u16 cid)
{
	return cid & NVME_CID_TAG_MASK;
}

/**
 * nvme_is_aen_req() - is this command id one of an asynchronous event request?
 * @qid: the queue
 * @cid: the command id, in the CPU's byte order
 *
 * Those have no struct request; their ids lie above the admin queue's tags.
 */
static inline bool nvme_is_aen_req(u16 qid, u16 cid)
{
	return !qid && nvme_tag_from_cid(cid) >= NVME_AQ_BLK_MQ_DEPTH;
}

/**
 * nvme_ctrl_state() - the state of a controller, read once
 * @ctrl: the controller
 *
 * Context: any; it may have changed by the time that the caller looks.
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
 * nvmf_ctrl_subsysnqn() - the NQN to show for a controller
 * @ctrl: the controller
 *
 * A discovery controller is shown under the well-known name that the user gave,
 * not under the unique one that its Identify data may hold.
 */
static inline char *nvmf_ctrl_subsysnqn(struct nvme_ctrl *ctrl)
{
	if (ctrl->subsys &&
	    strcmp(ctrl->opts->subsysnqn, NVME_DISC_SUBSYS_NAME))
		return ctrl->subsys->subnqn;
	return ctrl->opts->subsysnqn;
}

/**
 * nvmf_nr_io_queues() - how many I/O queues the user's options ask for
 * @opts: the options
 *
 * Of each kind no more than there are CPUs.
 */
static inline unsigned int nvmf_nr_io_queues(struct nvmf_ctrl_options *opts)
{
	unsigned int cpus = num_online_cpus();

	return min(opts->nr_io_queues, cpus) +
	       min(opts->nr_write_queues, cpus) +
	       min(opts->nr_poll_queues, cpus);
}

/**
 * nvmf_complete_timed_out_request() - end a request that nobody will answer
 * @rq: the request
 *
 * Does nothing if the request has been completed. The state is read once, as
 * the end of that completion, on another CPU perhaps, changes it once more.
 *
 * Context: may sleep, with the queue torn down, so that no completion can arrive
 * for it any more.
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
 * @fn: undoes what the transport did for one request (unmap)
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
 * nvmet_data_dir() - direction of a command's data, for the DMA API
 * @req: the request
 *
 * The target's view: what the host writes arrives from the device.
 */
static inline enum dma_data_direction nvmet_data_dir(struct nvmet_req *req)
{
	return nvme_is_write(req->cmd) ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

#endif
