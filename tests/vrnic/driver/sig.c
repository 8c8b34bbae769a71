// SPDX-License-Identifier: GPL-2.0
/*
 * Signature regions: data in memory, with or without T10 protection information beside it,
 * which the wire sees as one stream, with or without it.
 *
 * Operation: map_mr_sg_pi stores the places of data and metadata. REG_MR_INTEGRITY activates
 * that, with the attributes at the time of its post. A walk of the region (mem.c) then gets
 * the wire's view of it, in runs that never cross the end of a block's data or of its
 * protection information. Data runs are the memory itself. Protection information is 8 bytes
 * in the region, which is generated, or from which it is stored, when the walk reaches a
 * block's end:
 *
 *	memory	wire	walked to read		walked to be written
 *	-	DIF	made for the wire	checked and dropped
 *	DIF	-	checked and dropped	made for the memory
 *	DIF	DIF	checked and passed	checked and passed
 *
 * It is checked in the domain that it comes from. When it is passed, fields that are the same
 * in both domains are copied, and the others are generated.
 *
 * Errors do not fail the work request, which moves the data nevertheless: the region keeps the
 * first error for check_mr_status. As with hardware, the status of each registration has to be
 * read before the next one is posted.
 *
 * A registration is walked once, from its start, in any number of parts, by one user at a
 * time.
 *
 * An error's offset counts as if each block were followed by its protection information, which
 * is how consumers in the kernel interpret it (iSER).
 */

#include <linux/crc-t10dif.h>
#include <linux/slab.h>
#include <linux/t10-pi.h>
#include <net/checksum.h>
#include "vrnic.h"

#define PI_SIZE	sizeof(struct t10_pi_tuple)

/* A piece of memory, by its DMA address */
struct sig_seg {
	u64 addr;
	u32 len;
};

/* Where a list of these is being read: @off bytes into number @i */
struct sig_at {
	u32 i;
	u32 off;
};

/**
 * struct sig_list - memory as a list of pieces
 * @max: pieces that there is room for
 * @n: how many there are
 * @len: bytes, all together
 * @seg: the pieces
 */
struct sig_list {
	u32 max;
	u32 n;
	u64 len;
	struct sig_seg *seg;
};

/* The layout of a region: mapped for the next registration, or registered */
struct sig_map {
	struct sig_list data;
	struct sig_list meta;
	struct ib_sig_attrs attrs;
};

/**
 * struct vrnic_sig - the additional state of a signature region
 * @next: mapped, and the attributes as posted
 * @now: as registered
 * @checked: the status does not have to be read
 * @failed: there is an error that has not been reported
 * @error: the error
 * @walked: the region is being walked
 * @interval: bytes of data in a block; all of them if there is no DIF
 * @mem_pi: there is protection information in memory
 * @wire_pi: there is protection information on the wire
 * @block: number of the current block
 * @at: offset in the block, as the wire has it
 * @data: offset in the data in memory
 * @meta: offset in the metadata in memory
 * @begin: start of the block's data in memory
 * @pi: the block's protection information on the wire
 */
struct vrnic_sig {
	struct sig_map next;
	struct sig_map now;
	bool checked;
	bool failed;
	struct ib_sig_err error;
	atomic_t walked;
	u32 interval;
	bool mem_pi;
	bool wire_pi;
	u32 block;
	u32 at;
	struct sig_at data;
	struct sig_at meta;
	struct sig_at begin;
	struct t10_pi_tuple pi;
};

/* ---- made, mapped, gone ---- */

/**
 * vrnic_sig_alloc() - allocate the additional state of a signature region
 * @data: pieces of data
 * @meta: pieces of metadata
 *
 * Context: may sleep.
 * Return: the state, or NULL
 */
struct vrnic_sig *vrnic_sig_alloc(u32 data, u32 meta)
{
	struct vrnic_sig *sig = kzalloc(sizeof(*sig), GFP_KERNEL);
	struct sig_seg *seg = kvcalloc(data + meta, 2 * sizeof(*seg), GFP_KERNEL);

	if (!sig || !seg) {
		kfree(sig);
		kvfree(seg);
		return NULL;
	}
	sig->checked = true;
	sig->next.data = (struct sig_list){ .max = data, .seg = seg };
	sig->next.meta = (struct sig_list){ .max = meta, .seg = seg + data };
	seg += data + meta;
	sig->now.data = (struct sig_list){ .max = data, .seg = seg };
	sig->now.meta = (struct sig_list){ .max = meta, .seg = seg + data };
	return sig;
}

/**
 * vrnic_sig_free() - free it
 * @sig: it, or NULL
 *
 * Context: may sleep.
 */
void vrnic_sig_free(struct vrnic_sig *sig)
{
	if (!sig)
		return;
	kvfree(sig->next.data.seg);
	kfree(sig);
}

static bool list_map(struct sig_list *list, struct scatterlist *sgl, int nents,
		     unsigned int *offset_p)
{
	unsigned int offset = offset_p ? *offset_p : 0;
	struct scatterlist *sg;
	int i;

	list->n = 0;
	list->len = 0;
	if (nents > list->max)
		return false;
	for_each_sg(sgl, sg, nents, i) {
		list->seg[i].addr = sg_dma_address(sg) + offset;
		list->seg[i].len = sg_dma_len(sg) - offset;
		list->len += list->seg[i].len;
		offset = 0;
	}
	list->n = nents;
	return true;
}

int vrnic_map_mr_sg_pi(struct ib_mr *ibmr, struct scatterlist *data_sg,
		       int data_nents, unsigned int *data_offset,
		       struct scatterlist *meta_sg, int meta_nents,
		       unsigned int *meta_offset)
{
	struct sig_map *map = &to_vmr(ibmr)->sig->next;

	if (!list_map(&map->data, data_sg, data_nents, data_offset) ||
	    !list_map(&map->meta, meta_sg, meta_nents, meta_offset))
		return -ENOMEM;
	ibmr->iova = 0;
	ibmr->length = map->data.len + map->meta.len;
	ibmr->sig_attrs->meta_length = map->meta.len;
	return 0;
}

int vrnic_check_mr_status(struct ib_mr *ibmr, u32 mask, struct ib_mr_status *status)
{
	struct vrnic_sig *sig = to_vmr(ibmr)->sig;

	status->fail_status = 0;
	if (!sig || (mask & ~IB_MR_CHECK_SIG_STATUS))
		return -EINVAL;
	if (!mask)
		return 0;
	sig->checked = true;
	if (!sig->failed)
		return 0;
	sig->failed = false;
	status->fail_status = IB_MR_CHECK_SIG_STATUS;
	status->sig_err = sig->error;
	/* Of an earlier registration: the only thing known is that there was an error */
	if (ibmr->lkey != sig->error.key)
		status->sig_err = (struct ib_sig_err){
			.err_type = IB_SIG_BAD_GUARD,
			.key = sig->error.key,
		};
	return 0;
}

/* ---- registration ---- */

/**
 * vrnic_sig_post() - a REG_MR_INTEGRITY is posted
 * @qp: on this QP
 * @mr: of this region
 *
 * Context: any; interrupts are off.
 * Return: whether it may be; if not, a violation was reported
 */
bool vrnic_sig_post(struct vrnic_qp *qp, struct vrnic_mr *mr)
{
	const char *why = NULL;

	if (qp->ibqp.qp_type != IB_QPT_RC)
		why = "the QP is none of a reliable connection";
	else if (!qp->ibqp.integrity_en)
		why = "the QP was made without IB_QP_CREATE_INTEGRITY_EN";
	else if (!mr->sig)
		why = "the region is none for signatures";
	else if (!mr->sig->checked)
		why = "nobody has asked for the status of the last registration";
	if (why) {
		vrnic_violation(qp->dev, qp, "REG_MR_INTEGRITY of MR %#x: %s",
				mr->index << 8, why);
		return false;
	}
	mr->sig->next.attrs = *mr->ibmr.sig_attrs;
	mr->sig->checked = false;
	return true;
}

static bool has_pi(const struct ib_sig_domain *domain)
{
	return domain->sig_type == IB_SIG_TYPE_T10_DIF;
}

static void list_take(struct sig_list *now, const struct sig_list *next)
{
	now->n = next->n;
	now->len = next->len;
	memcpy(now->seg, next->seg, next->n * sizeof(*next->seg));
}

/**
 * vrnic_sig_register() - activate the mapping
 * @mr: its region, which is not registered
 *
 * Sets iova and length, as the wire has it. Whether data, metadata and blocks match is checked
 * when the region is used.
 *
 * Context: any; interrupts are off.
 */
void vrnic_sig_register(struct vrnic_mr *mr)
{
	struct vrnic_sig *sig = mr->sig;
	struct sig_map *map = &sig->now;

	map->attrs = sig->next.attrs;
	list_take(&map->data, &sig->next.data);
	list_take(&map->meta, &sig->next.meta);
	sig->mem_pi = has_pi(&map->attrs.mem);
	sig->wire_pi = has_pi(&map->attrs.wire);
	if (sig->mem_pi)
		sig->interval = map->attrs.mem.sig.dif.pi_interval;
	else if (sig->wire_pi)
		sig->interval = map->attrs.wire.sig.dif.pi_interval;
	else
		sig->interval = map->data.len;
	sig->block = 0;
	sig->at = 0;
	sig->data = (struct sig_at){};
	sig->meta = (struct sig_at){};
	sig->begin = (struct sig_at){};
	mr->iova = 0;
	mr->length = map->data.len;
	if (sig->wire_pi && sig->interval)
		mr->length += map->data.len / sig->interval * PI_SIZE;
}

/* The error of the registered layout, or NULL */
static const char *sig_refuses(const struct vrnic_sig *sig)
{
	const struct sig_map *map = &sig->now;

	if (sig->mem_pi && sig->wire_pi &&
	    map->attrs.mem.sig.dif.pi_interval !=
	    map->attrs.wire.sig.dif.pi_interval)
		return "blocks of two sizes";
	if (!sig->interval || map->data.len % sig->interval)
		return "its data is not whole blocks";
	if (sig->mem_pi &&
	    map->meta.len != map->data.len / sig->interval * PI_SIZE)
		return "its metadata is not 8 bytes for each block";
	return NULL;
}

/* ---- memory ---- */

/* The contiguous memory at @at, @want bytes at most; advances behind it */
static void *list_run(struct vrnic_iter *it, const struct sig_list *list,
		      struct sig_at *at, u32 want, u32 *len)
{
	const struct sig_seg *seg;
	void *run;

	while (at->i < list->n && at->off == list->seg[at->i].len)
		*at = (struct sig_at){ .i = at->i + 1 };
	if (WARN_ON_ONCE(at->i >= list->n))
		return NULL;
	seg = &list->seg[at->i];
	*len = min(want, seg->len - at->off);
	run = vrnic_mem_at(it, seg->addr + at->off, len);
	at->off += *len;
	return run;
}

static bool meta_copy(struct vrnic_iter *it, struct t10_pi_tuple *pi, bool write)
{
	struct vrnic_sig *sig = it->mr->sig;
	void *at = pi, *run;
	u32 left, len;

	for (left = sizeof(*pi); left; left -= len, at += len) {
		run = list_run(it, &sig->now.meta, &sig->meta, left, &len);
		if (!run)
			return false;
		if (write)
			memcpy(run, at, len);
		else
			memcpy(at, run, len);
	}
	return true;
}

/* The guard of the current block's data, whole in memory */
static bool guard_of(struct vrnic_iter *it, const struct ib_t10_dif_domain *dif,
		     __be16 *guard)
{
	struct vrnic_sig *sig = it->mr->sig;
	struct sig_at at = sig->begin;
	u16 crc = dif->bg;
	__wsum sum = (__force __wsum)dif->bg;
	u32 done, len;
	void *run;

	for (done = 0; done < sig->interval; done += len) {
		run = list_run(it, &sig->now.data, &at, sig->interval - done, &len);
		if (!run)
			return false;
		if (dif->bg_type == IB_T10DIF_CRC)
			crc = crc_t10dif_update(crc, run, len);
		else
			sum = csum_block_add(sum, csum_partial(run, len, 0), done);
	}
	if (dif->bg_type == IB_T10DIF_CRC)
		*guard = cpu_to_be16(crc);
	else
		*guard = (__force __be16)csum_fold(sum);
	return true;
}

/* ---- protection information ---- */

static u32 ref_of(const struct vrnic_sig *sig, const struct ib_t10_dif_domain *dif)
{
	return dif->ref_tag + (dif->ref_remap ? sig->block : 0);
}

static void keep_error(struct vrnic_mr *mr, enum ib_sig_err_type type,
		       u32 expected, u32 actual)
{
	struct vrnic_sig *sig = mr->sig;

	if (sig->failed)
		return;
	sig->error = (struct ib_sig_err){
		.err_type = type,
		.expected = expected,
		.actual = actual,
		.sig_err_offset = (u64)sig->block * (sig->interval + PI_SIZE) +
				  sig->interval,
		.key = mr->key,
	};
	sig->failed = true;
}

static bool is_escaped(const struct ib_t10_dif_domain *dif,
		       const struct t10_pi_tuple *pi)
{
	return dif->app_escape && pi->app_tag == T10_PI_APP_ESCAPE &&
	       (!dif->ref_escape || pi->ref_tag == T10_PI_REF_ESCAPE);
}

/* Compare the received value with the expected one; false if there is no memory */
static bool check_pi(struct vrnic_iter *it, const struct ib_t10_dif_domain *dif,
		     const struct t10_pi_tuple *pi)
{
	struct vrnic_sig *sig = it->mr->sig;
	u8 mask = sig->now.attrs.check_mask;
	u16 app = be16_to_cpu(pi->app_tag);
	u32 ref = be32_to_cpu(pi->ref_tag);
	__be16 guard;

	if (is_escaped(dif, pi))
		return true;
	if (mask & IB_SIG_CHECK_GUARD) {
		if (!guard_of(it, dif, &guard))
			return false;
		if (pi->guard_tag != guard) {
			keep_error(it->mr, IB_SIG_BAD_GUARD, be16_to_cpu(guard),
				   be16_to_cpu(pi->guard_tag));
			return true;
		}
	}
	if (mask & IB_SIG_CHECK_REFTAG && ref != ref_of(sig, dif))
		keep_error(it->mr, IB_SIG_BAD_REFTAG, ref_of(sig, dif), ref);
	else if (mask & IB_SIG_CHECK_APPTAG &&
		 (app ^ dif->app_tag) & dif->apptag_check_mask)
		keep_error(it->mr, IB_SIG_BAD_APPTAG, dif->app_tag, app);
	return true;
}

/* Generate it for domain @to, from that of domain @from if @from is not NULL */
static bool make_pi(struct vrnic_iter *it, const struct ib_t10_dif_domain *to,
		    const struct ib_t10_dif_domain *from, struct t10_pi_tuple *pi)
{
	struct vrnic_sig *sig = it->mr->sig;

	if (!from || from->bg_type != to->bg_type || from->bg != to->bg) {
		if (!guard_of(it, to, &pi->guard_tag))
			return false;
	}
	if (!from || from->app_tag != to->app_tag)
		pi->app_tag = cpu_to_be16(to->app_tag);
	if (!from || ref_of(sig, from) != ref_of(sig, to))
		pi->ref_tag = cpu_to_be32(ref_of(sig, to));
	return true;
}

static void next_block(struct vrnic_sig *sig)
{
	sig->block++;
	sig->at = 0;
	sig->begin = sig->data;
}

/* A block that is read has come to the end of its data */
static bool block_leaves(struct vrnic_iter *it)
{
	struct vrnic_sig *sig = it->mr->sig;
	struct ib_sig_attrs *attrs = &sig->now.attrs;

	if (sig->mem_pi && (!meta_copy(it, &sig->pi, false) ||
			    !check_pi(it, &attrs->mem.sig.dif, &sig->pi)))
		return false;
	if (sig->wire_pi)
		return make_pi(it, &attrs->wire.sig.dif,
			       sig->mem_pi ? &attrs->mem.sig.dif : NULL,
			       &sig->pi);
	next_block(sig);
	return true;
}

/* A block that is written is there, with the wire's protection information */
static bool block_arrived(struct vrnic_iter *it)
{
	struct vrnic_sig *sig = it->mr->sig;
	struct ib_sig_attrs *attrs = &sig->now.attrs;

	if (sig->wire_pi && !check_pi(it, &attrs->wire.sig.dif, &sig->pi))
		return false;
	if (sig->mem_pi && (!make_pi(it, &attrs->mem.sig.dif, sig->wire_pi ?
				     &attrs->wire.sig.dif : NULL, &sig->pi) ||
			    !meta_copy(it, &sig->pi, true)))
		return false;
	next_block(sig);
	return true;
}

/* ---- the walk ---- */

/* The last run has been used up */
static bool run_done(struct vrnic_iter *it)
{
	struct vrnic_sig *sig = it->mr->sig;
	bool written = it->access & (IB_ACCESS_LOCAL_WRITE |
				     IB_ACCESS_REMOTE_WRITE);

	sig->at += it->piece;
	it->piece = 0;
	if (sig->at < sig->interval)
		return true;
	if (sig->at == sig->interval) {
		if (!written)
			return block_leaves(it);
		return sig->wire_pi || block_arrived(it);
	}
	if (sig->at < sig->interval + PI_SIZE)
		return true;
	if (written)
		return block_arrived(it);
	next_block(sig);
	return true;
}

/**
 * vrnic_sig_begin() - start, or continue, to walk a region
 * @it: the walk, its mr and addr set
 *
 * Context: any; interrupts are off.
 * Return: whether that is possible; if not, a violation was reported
 */
bool vrnic_sig_begin(struct vrnic_iter *it)
{
	struct vrnic_sig *sig = it->mr->sig;
	const char *why = sig_refuses(sig);
	u64 at;

	if (why) {
		vrnic_violation(it->qp->dev, it->qp, "%s: signature region %#x: %s: %llu bytes in blocks of %u, metadata %llu",
				it->use, it->mr->key, why, sig->now.data.len,
				sig->interval, sig->now.meta.len);
		return false;
	}
	if (atomic_cmpxchg(&sig->walked, 0, 1)) {
		vrnic_violation(it->qp->dev, it->qp, "%s: signature region %#x is used by two at once",
				it->use, it->mr->key);
		return false;
	}
	at = (u64)sig->block * (sig->interval + (sig->wire_pi ? PI_SIZE : 0)) +
	     sig->at;
	if (it->addr - it->mr->iova != at) {
		vrnic_violation(it->qp->dev, it->qp, "%s: signature region %#x is used from byte %llu, it was up to byte %llu",
				it->use, it->mr->key, it->addr - it->mr->iova, at);
		atomic_set_release(&sig->walked, 0);
		return false;
	}
	it->piece = 0;
	return true;
}

/**
 * vrnic_sig_run() - the next run of the wire's view
 * @it: the walk, with more to come in this region
 *
 * Context: any; interrupts are off.
 * Return: whether there is one; if not, a violation was reported
 */
bool vrnic_sig_run(struct vrnic_iter *it)
{
	struct vrnic_sig *sig = it->mr->sig;
	u32 in_pi;

	if (it->piece && !run_done(it))
		return false;
	if (sig->at < sig->interval) {
		it->run = list_run(it, &sig->now.data, &sig->data,
				   min(it->left, sig->interval - sig->at),
				   &it->run_len);
		if (!it->run)
			return false;
	} else {
		in_pi = sig->at - sig->interval;
		it->run = (void *)&sig->pi + in_pi;
		it->run_len = min_t(u32, it->left, PI_SIZE - in_pi);
	}
	it->piece = it->run_len;
	it->addr += it->run_len;
	it->left -= it->run_len;
	return true;
}

/**
 * vrnic_sig_end() - end the walk of a region for now
 * @it: the walk
 *
 * Context: any; interrupts are off.
 */
void vrnic_sig_end(struct vrnic_iter *it)
{
	if (it->piece && !it->run_len)
		run_done(it);
	it->piece = 0;
	atomic_set_release(&it->mr->sig->walked, 0);
}
