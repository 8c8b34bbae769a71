// SPDX-License-Identifier: GPL-2.0
/*
 * Memory, as work requests name it: DMA addresses under keys. The device has a struct device
 * of its own, for which consumers map memory as for hardware.
 *
 * By default there is no IOMMU: a DMA address is a physical one (or one of swiotlb's, which is
 * memory as well). So an address is known to be wrong only if there is no memory at all. As
 * with hardware in such a machine, memory that is not mapped, or no longer, goes unnoticed.
 * Memory that was not synced shows only if swiotlb bounces everything (swiotlb=force).
 *
 * With the parameter iommu each access passes the IOMMU (iommu.c), and a run ends where a
 * mapped page does. Memory that is not mapped, or no longer, or not for this direction, is then
 * a violation. A device's accesses are reads, of what is sent or of what a peer reads, or
 * writes, by the access that the walk requires of its keys.
 *
 * All copies are made here, so that a profile attributes them to the device.
 */

#include <linux/crc32.h>
#include <linux/mm.h>
#include "vrnic.h"

/* Instructions, but for the last few bytes, are one for eight bytes */
void vrnic_memcpy(void *to, const void *from, u32 len)
{
	unsigned long n = len / 8;

	asm volatile("rep movsq" : "+c" (n), "+D" (to), "+S" (from) :: "memory");
	n = len % 8;
	asm volatile("rep movsb" : "+c" (n), "+D" (to), "+S" (from) :: "memory");
}

/*
 * @addr as a pointer, or NULL and a violation was reported. With an IOMMU @len becomes
 * shorter where the page ends.
 */
static noinline void *look_at(struct vrnic_iter *it, u64 addr, u32 *len)
{
	const struct vrnic_function *f = it->qp->dev->function;
	bool write = it->access & (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	const char *why = "";
	u64 phys = addr;
	u64 n = *len;

	if (f && n)
		n = min(n, vrnic_iommu_find(f, addr, write, &phys, &why));
	if (n && pfn_valid(PHYS_PFN(phys)) && pfn_valid(PHYS_PFN(phys + n - 1))) {
		if (!f)
			WRITE_ONCE(it->qp->good_memory, addr >> SUBSECTION_SHIFT);
		*len = n;
		return __va(phys);
	}
	it->failed = true;
	vrnic_violation(it->qp->dev, it->qp, "%s: there is no memory of %u bytes at the DMA address %#llx%s",
			it->use, *len, addr, why);
	return NULL;
}

/*
 * A subsection has memory in all of it or in none (mmzone.h), and work mostly is where it was
 * before. With an IOMMU, nothing is good without a look.
 */
static __always_inline bool is_good(const struct vrnic_iter *it, u64 addr, u32 len)
{
	u64 good = READ_ONCE(it->qp->good_memory);

	return likely(len && addr >> SUBSECTION_SHIFT == good &&
		      (addr + len - 1) >> SUBSECTION_SHIFT == good);
}

/**
 * vrnic_mem_at() - memory at a DMA address
 * @it: the walk
 * @addr: the address
 * @len: bytes; with an IOMMU it becomes shorter where the page ends
 *
 * Context: any.
 * Return: a pointer, or NULL if that is no memory, and a violation was reported
 */
void *vrnic_mem_at(struct vrnic_iter *it, u64 addr, u32 *len)
{
	if (is_good(it, addr, *len))
		return __va(addr);
	return look_at(it, addr, len);
}

static noinline bool look_run(struct vrnic_iter *it, u64 addr, u32 len)
{
	it->run = look_at(it, addr, &len);
	it->run_len = it->run ? len : 0;
	return it->run;
}

/* The same under the key of all memory, where there is no region to continue with */
static noinline bool look_run_all(struct vrnic_iter *it, u64 addr, u32 len)
{
	bool good = look_run(it, addr, len);

	it->addr = addr + it->run_len;
	it->left = good ? len - it->run_len : 0;
	return good;
}

static __always_inline bool run_all(struct vrnic_iter *it, u64 addr, u32 len)
{
	if (!is_good(it, addr, len))
		return look_run_all(it, addr, len);
	it->run = __va(addr);
	it->run_len = len;
	return true;
}

/* The next run of the region that is being walked */
static bool iter_mr(struct vrnic_iter *it)
{
	const struct vrnic_mr *mr = it->mr;
	u64 at, offset;
	u32 len;

	if (mr->all) {
		at = it->addr;
		len = it->left;
	} else if (mr->gaps) {
		/* from the segment where the last run ended */
		offset = it->addr - mr->iova;
		while (offset >= it->seg_end) {
			it->seg_start = it->seg_end;
			it->seg_end += mr->seg_len[it->seg++];
		}
		at = mr->page[it->seg - 1] + (offset - it->seg_start);
		len = min_t(u64, it->left, it->seg_end - offset);
	} else {
		u64 in_page = (1ULL << mr->shift) - 1;

		offset = it->addr - (mr->iova & ~in_page);
		at = mr->page[offset >> mr->shift] + (offset & in_page);
		len = min_t(u64, it->left, in_page + 1 - (offset & in_page));
	}
	if (is_good(it, at, len)) {
		it->run = __va(at);
		it->run_len = len;
	} else if (!look_run(it, at, len)) {
		return false;
	}
	it->addr += it->run_len;
	it->left -= it->run_len;
	return true;
}

/**
 * vrnic_iter_next() - the next run of contiguous memory
 * @it: a walk whose run_len has reached 0
 *
 * Context: any; interrupts are off.
 * Return: whether there is one; false at the end, or after a violation
 */
bool vrnic_iter_next(struct vrnic_iter *it)
{
	const struct ib_sge *sge;

	while (!it->left) {
		vrnic_iter_end(it);
		while (it->num_sge && !it->sge->length) {
			it->sge++;
			it->num_sge--;
		}
		if (!it->num_sge)
			return false;
		sge = it->sge++;
		it->num_sge--;
		if (!it->remote && vrnic_is_dma_lkey(it->qp->dev, sge->lkey) &&
		    !(it->access & IB_ACCESS_REMOTE_WRITE))
			return run_all(it, sge->addr, sge->length);
		it->mr = vrnic_mr_get(it->qp, sge->lkey, sge->addr, sge->length,
				      it->access, it->use);
		if (!it->mr)
			return false;
		it->addr = sge->addr;
		it->left = sge->length;
		it->seg = 0;
		it->seg_start = 0;
		it->seg_end = 0;
		if (unlikely(it->mr->sig) &&
		    (it->again || !vrnic_sig_begin(it))) {
			vrnic_mr_put(it->mr);
			it->mr = NULL;
			it->left = 0;
			it->failed = true;
			return false;
		}
	}
	if (unlikely(!it->mr))
		return look_run_all(it, it->addr, it->left);
	if (unlikely(it->mr->sig))
		return vrnic_sig_run(it);
	return iter_mr(it);
}

/**
 * vrnic_iter_end() - end a walk
 * @it: the walk, complete or not
 */
void vrnic_iter_end(struct vrnic_iter *it)
{
	if (!it->mr)
		return;
	if (unlikely(it->mr->sig))
		vrnic_sig_end(it);
	vrnic_mr_put(it->mr);
	it->mr = NULL;
}

static enum ib_wc_status iter_error(struct vrnic_iter *it)
{
	it->failed = true;
	return it->remote ? IB_WC_REM_ACCESS_ERR : IB_WC_LOC_PROT_ERR;
}

/* A byte that a fault was to meet is among the @n written last */
static void flip(struct vrnic_iter *to, u32 n)
{
	u8 *at = to->run;

	if (to->corrupt <= n)
		at[to->corrupt - 1] ^= 0x10;
	to->corrupt -= min(to->corrupt, n);
}

/* vrnic_iter_next(), with a fast path for most walks: one SGE of all memory's key */
static __always_inline bool iter_next(struct vrnic_iter *it)
{
	const struct ib_sge *sge = it->sge;

	if (unlikely(it->left || it->mr || it->remote || !it->num_sge ||
		     it->access & IB_ACCESS_REMOTE_WRITE || !sge->length ||
		     !vrnic_is_dma_lkey(it->qp->dev, sge->lkey)))
		return vrnic_iter_next(it);
	it->sge++;
	it->num_sge--;
	return run_all(it, sge->addr, sge->length);
}

static __always_inline enum ib_wc_status
copy(struct vrnic_iter *to, struct vrnic_iter *from, u32 len)
{
	while (len) {
		u32 n;

		if (!to->run_len && !iter_next(to))
			return iter_error(to);
		if (!from->run_len && !iter_next(from))
			return iter_error(from);
		n = min3(len, to->run_len, from->run_len);
		vrnic_memcpy(to->run, from->run, n);
		if (unlikely(to->corrupt))
			flip(to, n);
		to->run += n;
		to->run_len -= n;
		from->run += n;
		from->run_len -= n;
		len -= n;
	}
	return IB_WC_SUCCESS;
}

/**
 * vrnic_copy_on() - copy between two walks that continue after it
 * @to: the destination
 * @from: the source
 * @len: bytes; both have as many, if their memory is good
 *
 * Context: any; interrupts are off.
 * Return: success, or the error of the one whose memory is not good
 */
enum ib_wc_status vrnic_copy_on(struct vrnic_iter *to, struct vrnic_iter *from,
				u32 len)
{
	return copy(to, from, len);
}

/**
 * vrnic_copy() - copy between two walks, and end them
 * @to: the destination
 * @from: the source
 * @len: bytes; both have as many, if their memory is good
 *
 * Context: any; interrupts are off.
 * Return: success, or the error of the one whose memory is not good
 */
enum ib_wc_status vrnic_copy(struct vrnic_iter *to, struct vrnic_iter *from,
			     u32 len)
{
	enum ib_wc_status status = copy(to, from, len);

	vrnic_iter_end(to);
	vrnic_iter_end(from);
	return status;
}

/**
 * vrnic_iter_hash() - two checksums of memory
 * @it: that is walked to its end
 * @head: bytes that the first is of
 * @hash: the checksums: of those, and of the rest
 *
 * A signature region is not looked at a second time.
 *
 * Context: any; interrupts are off.
 * Return: whether all of it was good
 */
bool vrnic_iter_hash(struct vrnic_iter *it, u32 head, u32 hash[2])
{
	bool good = true;
	u32 n;

	hash[0] = ~0;
	hash[1] = ~0;
	it->again = true;
	while (it->num_sge || it->left || it->run_len) {
		if (!it->run_len && !vrnic_iter_next(it)) {
			good = !it->num_sge && !it->left && !it->failed;
			break;
		}
		n = min(head, it->run_len);
		hash[0] = crc32_le(hash[0], it->run, n);
		hash[1] = crc32_le(hash[1], it->run + n, it->run_len - n);
		head -= n;
		it->run_len = 0;
	}
	vrnic_iter_end(it);
	return good;
}

/**
 * vrnic_iter_peek() - a few bytes of memory
 * @it: the memory; the walk ends there
 * @at: from this byte on
 * @to: where they go
 * @len: how many
 *
 * A signature region is not looked at a second time.
 *
 * Context: any; interrupts are off.
 * Return: whether there were as many
 */
bool vrnic_iter_peek(struct vrnic_iter *it, u32 at, void *to, u32 len)
{
	u32 n;

	it->again = true;
	while (len && (it->run_len || vrnic_iter_next(it))) {
		n = min(at, it->run_len);
		at -= n;
		it->run += n;
		it->run_len -= n;
		n = min(len, it->run_len);
		memcpy(to, it->run, n);
		to += n;
		len -= n;
		it->run += n;
		it->run_len -= n;
	}
	vrnic_iter_end(it);
	return !len;
}
