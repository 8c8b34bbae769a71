// SPDX-License-Identifier: GPL-2.0
/*
 * Memory in single pages for many small elements that an RDMA device accesses: the
 * commands and completion entries of a queue. pages.h has the reason.
 */
#include <linux/slab.h>

#include "dma.h"
#include "pages.h"

/* The last page may be shorter: most queues need less than one page of 4 or 64 KiB */
static size_t page_bytes(const struct nvme_rdma_pages *pages, unsigned int i)
{
	return min_t(size_t, pages->bytes - ((size_t)i << PAGE_SHIFT),
		     PAGE_SIZE);
}

/**
 * nvme_rdma_pages_free() - undo nvme_rdma_pages_alloc()
 * @ibdev: the device, which no longer accesses the memory
 * @pages: the memory, or NULL
 *
 * Context: any.
 */
void nvme_rdma_pages_free(struct ib_device *ibdev,
			  struct nvme_rdma_pages *pages)
{
	unsigned int i;

	if (!pages)
		return;
	for (i = 0; i < PFN_UP(pages->bytes) && pages->page[i].at; i++) {
		ib_dma_unmap_single(ibdev, pages->page[i].dma,
				    page_bytes(pages, i), pages->dir);
		kfree(pages->page[i].at);
	}
	kfree(pages);
}

/**
 * nvme_rdma_pages_alloc() - allocate and map memory for small elements
 * @ibdev: the device
 * @bytes: size of all elements together, at least 1
 * @dir: direction of the device's accesses
 *
 * The memory is zeroed and on the NUMA node of the device. It shares no cache line with
 * other data, as kmalloc() guarantees for DMA.
 *
 * Context: process. Return: the memory, or NULL.
 */
struct nvme_rdma_pages *nvme_rdma_pages_alloc(struct ib_device *ibdev,
					      size_t bytes,
					      enum dma_data_direction dir)
{
	unsigned int i, nr = PFN_UP(bytes);
	struct nvme_rdma_pages *pages;
	void *at;

	pages = kzalloc(struct_size(pages, page, nr), GFP_KERNEL);
	if (!pages)
		return NULL;
	pages->bytes = bytes;
	pages->dir = dir;
	for (i = 0; i < nr; i++) {
		at = kzalloc_node(page_bytes(pages, i), GFP_KERNEL,
				  ibdev_to_node(ibdev));
		if (!at)
			goto err_free;
		pages->page[i].dma = ib_dma_map_single(ibdev, at,
						       page_bytes(pages, i),
						       dir);
		if (ib_dma_mapping_error(ibdev, pages->page[i].dma)) {
			kfree(at);
			goto err_free;
		}
		pages->page[i].at = at;
		pages->sync |= nvme_rdma_needs_sync(ibdev, pages->page[i].dma);
	}
	return pages;

err_free:
	nvme_rdma_pages_free(ibdev, pages);
	return NULL;
}
