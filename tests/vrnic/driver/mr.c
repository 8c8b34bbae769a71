// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: fast registration, and all of memory.
 *
 * Operation: map_mr_sg writes a list of pages beside the one in use. REG_MR, in the order of
 * the send queue, activates it with a key and an access; LOCAL_INV or a peer's SEND with
 * invalidate ends that. So a list may be written while work requests with the old one are
 * still queued, as on hardware, which reads the list when it reaches the work request. A
 * waiting work request identifies its region by index and serial number; if the region is gone
 * by then, that is an error.
 *
 * A copy holds a user of each region that it touches, taken before it checks the state. An
 * invalidation changes the state first, and then waits until no user is left. Once an
 * invalidation has completed, nothing accesses the memory.
 */

#include <linux/delay.h>
#include <linux/slab.h>
#include "vrnic.h"

static atomic_t mrs_made = ATOMIC_INIT(0);

static struct vrnic_mr *mr_new(struct ib_pd *pd, u32 max, bool gaps)
{
	struct vrnic_dev *dev = to_vdev(pd->device);
	struct vrnic_fault_hit hit;
	struct vrnic_mr *mr;
	int ret = -ENOMEM;

	if (vrnic_fault(dev, VRNIC_FAULT_MAKE, VRNIC_MAKE_MR, NULL, &hit)) {
		vrnic_fault_hang(dev, hit.ms);
		return ERR_PTR(-(int)hit.arg);
	}
	if (!atomic_add_unless(&dev->nr_mrs, 1, dev->config.max_mr))
		return ERR_PTR(-(int)dev->config.max_mr_errno);
	if (dev->config.mr_us)
		fsleep(dev->config.mr_us);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		goto err_count;
	mr->serial = atomic_inc_return(&mrs_made);
	mr->max = max;
	mr->gaps = gaps;
	if (max) {
		mr->page = kvcalloc(max, 2 * sizeof(*mr->page), GFP_KERNEL);
		if (!mr->page)
			goto err_free;
		mr->map_page = mr->page + max;
	}
	if (gaps) {
		mr->seg_len = kvcalloc(max, 2 * sizeof(*mr->seg_len), GFP_KERNEL);
		if (!mr->seg_len)
			goto err_free;
		mr->map_len = mr->seg_len + max;
	}
	ret = xa_alloc_cyclic(&dev->mrs, &mr->index, mr,
			      XA_LIMIT(1, (1 << 24) - 2), &dev->next_mr,
			      GFP_KERNEL);
	if (ret < 0)
		goto err_free;
	mr->ibmr.lkey = mr->index << 8;
	mr->ibmr.rkey = mr->ibmr.lkey;
	mr->ibmr.page_size = PAGE_SIZE;
	/* As the core sets them, for users that find the region before that */
	mr->ibmr.device = pd->device;
	mr->ibmr.pd = pd;
	return mr;

err_free:
	kvfree(mr->seg_len);
	kvfree(mr->page);
	kfree(mr);
err_count:
	atomic_dec(&dev->nr_mrs);
	return ERR_PTR(ret);
}

struct ib_mr *vrnic_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_sg)
{
	struct vrnic_dev *dev = to_vdev(pd->device);
	struct vrnic_mr *mr;

	if (type != IB_MR_TYPE_MEM_REG &&
	    !(type == IB_MR_TYPE_SG_GAPS && dev->config.sg_gaps))
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_sg || max_sg > dev->config.max_mr_pages)
		return ERR_PTR(-EINVAL);
	mr = mr_new(pd, max_sg, type == IB_MR_TYPE_SG_GAPS);
	return IS_ERR(mr) ? ERR_CAST(mr) : &mr->ibmr;
}

struct ib_mr *vrnic_alloc_mr_integrity(struct ib_pd *pd, u32 max_data,
				       u32 max_meta)
{
	struct vrnic_dev *dev = to_vdev(pd->device);
	struct vrnic_sig *sig;
	struct vrnic_mr *mr;

	if (!max_data || (u64)max_data + max_meta > dev->config.max_mr_pages)
		return ERR_PTR(-EINVAL);
	if (!dev->config.integrity_mr)
		return ERR_PTR(-EINVAL);
	sig = vrnic_sig_alloc(max_data, max_meta);
	if (!sig)
		return ERR_PTR(-ENOMEM);
	mr = mr_new(pd, 0, false);
	if (IS_ERR(mr)) {
		vrnic_sig_free(sig);
		return ERR_CAST(mr);
	}
	mr->sig = sig;
	return &mr->ibmr;
}

struct ib_mr *vrnic_get_dma_mr(struct ib_pd *pd, int access)
{
	struct vrnic_mr *mr = mr_new(pd, 0, false);

	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->all = true;
	mr->length = U64_MAX;
	mr->access = access;
	mr->key = mr->ibmr.lkey;
	smp_store_release(&mr->state, VRNIC_MR_VALID);	/* for mr_refuses() */
	return &mr->ibmr;
}

/* Kernel consumers only */
struct ib_mr *vrnic_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				u64 virt_addr, int access, VRNIC_DMAH
				struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static void mr_stop(struct vrnic_mr *mr)
{
	WRITE_ONCE(mr->state, VRNIC_MR_FREE);
	smp_mb();	/* pairs with atomic_inc() in vrnic_mr_get() */
	while (atomic_read_acquire(&mr->users))
		cpu_relax();
}

int vrnic_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct vrnic_dev *dev = to_vdev(ibmr->device);
	struct vrnic_mr *mr = to_vmr(ibmr);

	xa_erase(&dev->mrs, mr->index);
	mr_stop(mr);
	/* A lookup may have found it and be about to take a user */
	synchronize_rcu_expedited();
	mr_stop(mr);
	vrnic_sig_free(mr->sig);
	kvfree(mr->seg_len);
	kvfree(mr->page);
	kfree(mr);
	atomic_dec(&dev->nr_mrs);
	return 0;
}

static int mr_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct vrnic_mr *mr = to_vmr(ibmr);

	if (mr->map_n == mr->max)
		return -ENOMEM;
	mr->map_page[mr->map_n++] = addr;
	return 0;
}

/* Over SG_GAPS, segments of any address and length */
static int mr_map_segments(struct vrnic_mr *mr, struct scatterlist *sgl,
			   int nents, unsigned int *offset_p)
{
	unsigned int offset = offset_p ? *offset_p : 0;
	struct scatterlist *sg;
	int i;

	mr->ibmr.iova = sg_dma_address(sgl) + offset;
	mr->ibmr.length = 0;
	for_each_sg(sgl, sg, nents, i) {
		if (i == mr->max)
			break;
		mr->map_page[i] = sg_dma_address(sg) + offset;
		mr->map_len[i] = sg_dma_len(sg) - offset;
		mr->ibmr.length += mr->map_len[i];
		offset = 0;
	}
	mr->map_n = i;
	if (offset_p)
		*offset_p = offset;
	return i;
}

int vrnic_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
		    unsigned int *offset)
{
	struct vrnic_mr *mr = to_vmr(ibmr);

	mr->map_n = 0;
	if (mr->gaps)
		return mr_map_segments(mr, sg, nents, offset);
	return ib_sg_to_pages(ibmr, sg, nents, offset, mr_set_page);
}

/* Why a key may not be used so, or NULL */
static const char *mr_refuses(const struct vrnic_mr *mr, const struct ib_pd *pd,
			      u32 key, u64 addr, u32 len, int access)
{
	if (mr->ibmr.pd != pd)
		return "of another protection domain";
	/* pairs with the registration */
	if (smp_load_acquire(&mr->state) != VRNIC_MR_VALID)
		return "not valid: invalidated, or not registered yet";
	if (mr->key != key)
		return "of an earlier registration";
	if (access & ~mr->access)
		return "without the access";
	if (mr->all)
		return NULL;
	if (addr < mr->iova || addr - mr->iova > mr->length ||
	    len > mr->length - (addr - mr->iova))
		return "out of bounds";
	return NULL;
}

/**
 * vrnic_mr_get() - use a memory region
 * @qp: owner of the key: the local QP for an lkey, the responder for an rkey
 * @key: the key
 * @addr: address of the memory
 * @len: length of the memory in bytes
 * @access: the required access; 0 for local reads
 * @use: the purpose, as text
 *
 * Context: any; interrupts are off.
 * Return: the region with a user, to be released by vrnic_mr_put(), or NULL,
 * and a violation was reported
 */
struct vrnic_mr *vrnic_mr_get(struct vrnic_qp *qp, u32 key, u64 addr, u32 len,
			      int access, const char *use)
{
	const char *why = "unknown";
	struct vrnic_mr *mr;

	rcu_read_lock();
	mr = xa_load(&qp->dev->mrs, key >> 8);
	if (mr) {
		/* mr_stop() spins until the user is released; PREEMPT_RT keeps interrupts on */
		if (IS_ENABLED(CONFIG_PREEMPT_RT))
			preempt_disable();
		atomic_inc(&mr->users);
		smp_mb__after_atomic();	/* pairs with mr_stop() */
		why = mr_refuses(mr, qp->ibqp.pd, key, addr, len, access);
		if (why)
			vrnic_mr_put(mr);
	}
	rcu_read_unlock();
	if (likely(!why))
		return mr;
	vrnic_violation(qp->dev, qp, "%s: key %#x for %u bytes at %#llx, access %#x: %s",
			use, key, len, addr, access, why);
	return NULL;
}

/* With an MR that stays as long as it takes */
static enum ib_wc_status mr_register(struct vrnic_qp *qp, struct vrnic_mr *mr,
				     u32 key, int access)
{
	if (mr->ibmr.pd != qp->ibqp.pd || mr->all || key >> 8 != mr->index) {
		vrnic_violation(qp->dev, qp, "REG_MR: key %#x of MR %#x: of another protection domain, or not its index",
				key, mr->index << 8);
		return IB_WC_MW_BIND_ERR;
	}
	if (READ_ONCE(mr->state) == VRNIC_MR_VALID) {
		vrnic_violation(qp->dev, qp, "REG_MR: MR %#x is registered already, with key %#x",
				mr->index << 8, mr->key);
		return IB_WC_MW_BIND_ERR;
	}
	if (access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IB_ACCESS_LOCAL_WRITE)) {
		vrnic_violation(qp->dev, qp, "REG_MR: MR %#x: remote write without local write",
				mr->index << 8);
		return IB_WC_MW_BIND_ERR;
	}
	if (mr->sig) {
		vrnic_sig_register(mr);
		goto valid;
	}
	if (!mr->map_n) {
		vrnic_violation(qp->dev, qp, "REG_MR: MR %#x has no memory",
				mr->index << 8);
		return IB_WC_MW_BIND_ERR;
	}
	memcpy(mr->page, mr->map_page, mr->map_n * sizeof(*mr->page));
	if (mr->gaps)
		memcpy(mr->seg_len, mr->map_len, mr->map_n * sizeof(*mr->seg_len));
	mr->iova = mr->ibmr.iova;
	mr->length = mr->ibmr.length;
	mr->shift = ilog2(mr->ibmr.page_size);
valid:
	mr->key = key;
	mr->access = access;
	smp_store_release(&mr->state, VRNIC_MR_VALID);	/* for mr_refuses() */
	return IB_WC_SUCCESS;
}

/**
 * vrnic_mr_register() - execute REG_MR or REG_MR_INTEGRITY
 * @qp: on this QP
 * @wqe: the work request
 *
 * Its MR may have gone since it was posted, and another one have come in its place.
 *
 * Context: any; interrupts are off.
 * Return: the status of the work request
 */
enum ib_wc_status vrnic_mr_register(struct vrnic_qp *qp,
				    const struct vrnic_swqe *wqe)
{
	enum ib_wc_status status = IB_WC_MW_BIND_ERR;
	struct vrnic_mr *mr;

	/* As with an invalidation: no user, but RCU throughout */
	rcu_read_lock();
	mr = xa_load(&qp->dev->mrs, wqe->reg.index);
	if (likely(mr && mr->serial == wqe->reg.serial))
		status = mr_register(qp, mr, wqe->reg.key, wqe->reg.access);
	else
		vrnic_violation(qp->dev, qp, "REG_MR: key %#x: the MR is gone, or another device's",
				wqe->reg.key);
	rcu_read_unlock();
	return status;
}

/**
 * vrnic_mr_invalidate() - execute LOCAL_INV, or a peer's SEND with invalidate
 * @qp: owner of the key
 * @key: the key
 * @remote: by the peer
 *
 * Context: any; interrupts are off. May spin while others copy.
 * Return: whether it was valid; if not, a violation was reported
 */
bool vrnic_mr_invalidate(struct vrnic_qp *qp, u32 key, bool remote)
{
	struct vrnic_mr *mr;
	const char *why;

	/* Its memory is not used, only its state: no user, but RCU throughout */
	rcu_read_lock();
	mr = xa_load(&qp->dev->mrs, key >> 8);
	why = mr ? mr_refuses(mr, qp->ibqp.pd, key, mr->iova, 0, 0) : "unknown";
	if (!why && mr->all)
		why = "all of memory";
	if (!why)
		mr_stop(mr);
	rcu_read_unlock();
	if (!why)
		return true;
	vrnic_violation(qp->dev, qp, "%s of key %#x: %s",
			remote ? "a peer's invalidation" : "LOCAL_INV", key, why);
	return false;
}
