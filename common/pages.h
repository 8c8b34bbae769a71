/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of many small elements that an RDMA device accesses. */
#ifndef NVME_RDMA_PAGES_H
#define NVME_RDMA_PAGES_H

#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <rdma/ib_verbs.h>

/**
 * struct nvme_rdma_pages - memory in single pages, mapped for as long as it is there
 * @bytes: of all pages
 * @dir: how the device accesses it
 * @sync: it is to be synced
 * @page: the pages, with the device's address of each
 *
 * A queue of 1,024 commands has 64 KiB of them. In one piece there may be no such memory
 * on a machine that has run for months, and a connection that is made again cannot wait
 * until the kernel has moved pages: file systems may need it to write those.
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
 * nvme_rdma_pages_at() - where an element is
 * @pages: the memory
 * @offset: of the element, whose size is a power of two and divides it
 *
 * Context: any.
 */
static inline void *nvme_rdma_pages_at(const struct nvme_rdma_pages *pages,
				       size_t offset)
{
	return pages->page[offset >> PAGE_SHIFT].at + offset_in_page(offset);
}

/**
 * nvme_rdma_pages_dma() - the device's address of an element
 * @pages: the memory
 * @offset: as for nvme_rdma_pages_at()
 *
 * Context: any.
 */
static inline u64 nvme_rdma_pages_dma(const struct nvme_rdma_pages *pages,
				      size_t offset)
{
	return pages->page[offset >> PAGE_SHIFT].dma + offset_in_page(offset);
}

#endif /* NVME_RDMA_PAGES_H */
