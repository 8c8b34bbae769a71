/* SPDX-License-Identifier: GPL-2.0 */
/* Memory for many small elements that an RDMA device accesses. */
#ifndef NVME_RDMA_PAGES_H
#define NVME_RDMA_PAGES_H

#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <rdma/ib_verbs.h>

/**
 * struct nvme_rdma_pages - memory in single pages, mapped from allocation to free
 * @bytes: size of all pages together
 * @dir: direction of the device's accesses
 * @sync: accesses need ib_dma_sync_single_for_cpu() and ..._for_device()
 * @page: the pages
 * @page.at: the page; NULL if it is not allocated
 * @page.dma: DMA address of the page
 *
 * The commands of a queue of depth 1,024 take 64 KiB. A machine that has run for months
 * may not have that much contiguous memory. A reconnect must not wait until the kernel
 * has compacted memory: file systems may need the connection to write back pages.
 */
struct nvme_rdma_pages {
	size_t				bytes;
	enum dma_data_direction		dir;
	bool				sync;
	struct {
		void			*at;
		u64			dma;
	} page[];
};

struct nvme_rdma_pages *nvme_rdma_pages_alloc(struct ib_device *ibdev,
					      size_t bytes,
					      enum dma_data_direction dir);
void nvme_rdma_pages_free(struct ib_device *ibdev,
			  struct nvme_rdma_pages *pages);

/**
 * nvme_rdma_pages_at() - address of an element
 * @pages: the memory
 * @offset: offset of the element, a multiple of its size, which is a power of two
 *
 * An element therefore never crosses pages. Context: any. Return: the address.
 */
static inline void *nvme_rdma_pages_at(const struct nvme_rdma_pages *pages,
				       size_t offset)
{
	return pages->page[offset >> PAGE_SHIFT].at + offset_in_page(offset);
}

/**
 * nvme_rdma_pages_dma() - DMA address of an element
 * @pages: the memory
 * @offset: as for nvme_rdma_pages_at()
 *
 * Context: any. Return: the DMA address.
 */
static inline u64 nvme_rdma_pages_dma(const struct nvme_rdma_pages *pages,
				      size_t offset)
{
	return pages->page[offset >> PAGE_SHIFT].dma + offset_in_page(offset);
}

#endif /* NVME_RDMA_PAGES_H */
