// SPDX-License-Identifier: GPL-2.0
/*
 * fragment: memory as on a server that has run for months: some is free, in single pages.
 *
 * While it is loaded it holds all memory that it could get, but "leave_mb" megabytes.
 * Those are pages whose neighbours it holds, so that no two of them make a larger block,
 * and the kernel cannot move the neighbours.
 */
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>

static unsigned int leave_mb = 64;
module_param(leave_mb, uint, 0444);
MODULE_PARM_DESC(leave_mb, "megabytes to leave free");

static LIST_HEAD(held);

static int __init fragment_init(void)
{
	unsigned long leave = (unsigned long)leave_mb << (20 - PAGE_SHIFT);
	unsigned long taken = 0, left = 0;
	struct page *page, *next;

	while ((page = alloc_page(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN))) {
		list_add(&page->lru, &held);
		taken++;
		cond_resched();
	}
	list_for_each_entry_safe(page, next, &held, lru) {
		if (left == leave)
			break;
		if (page_to_pfn(page) & 1)
			continue;
		list_del(&page->lru);
		__free_page(page);
		left++;
	}
	pr_info("fragment: took %lu pages, left %lu of them\n", taken, left);
	return 0;
}

static void __exit fragment_exit(void)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, &held, lru)
		__free_page(page);
}

module_init(fragment_init);
module_exit(fragment_exit);
MODULE_DESCRIPTION("memory in single pages");
MODULE_LICENSE("GPL");
