// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of many small elements that an RDMA device accesses, in single pages: commands
 * and completion entries of a queue. See pages.h for why.
 */
#include <linux/slab.h>

#include "dma.h"
#include "pages.h"

/* The last page may be shorter: most queues need less than a page, of 4 or of 64 KiB */
static size_t page_bytes(const struct nvme_rdma_pages *pages, unsigned int i)
{
	return min_t(size_t, pages->bytes - ((size_t)i << PAGE_SHIFT),
		     PAGE_SIZE);
}

/**
 * nvme_rdma_pages_free() - undo nvme_rdma_pages_alloc()
 * @ibdev: the device, which does not access the memory any more
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
 * @bytes: of all elements, 1 or more
 * @dir: how the device accesses them
 *
 * The memory is zeroed, on the device's node, and shares no cache line with anything
 * else, as all of kmalloc()'s.
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
