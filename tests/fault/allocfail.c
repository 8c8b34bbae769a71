// SPDX-License-Identifier: GPL-2.0
/*
 * allocfail: memory that is not there, once for each place that asks for it.
 *
 * While the parameter "armed" is Y, the first allocation that the module "user" makes,
 * itself or by what it calls, from a place that has not failed yet, fails; then it is
 * N. A place is the way from the outermost function of the user's that is under way to
 * the allocation: the same allocation in another caller's hands is another place. So
 * rounds of the same work, armed each time, come to every place once; when a round
 * leaves it armed, there is none left.
 *
 * It has to be loaded before the user is, which it hears of.
 *
 * Slab objects and pages may fail, by the kernel's own fault injection, which decides
 * in two functions; those that must not fail (__GFP_NOFAIL) do not.
 */
#include <linux/jhash.h>
#include <linux/kallsyms.h>
#include <linux/lockdep.h>
#include <linux/stacktrace.h>

#include "user.h"

#define DEPTH		48
#define MAX_PLACES	4096

static bool armed;
module_param(armed, bool, 0644);
MODULE_PARM_DESC(armed, "whether the next place is to fail");

static unsigned int places;
module_param(places, uint, 0444);
MODULE_PARM_DESC(places, "how many have failed");

static u32 seen[MAX_PLACES];
/* Protects seen, places, armed's fall, and the name of a frame */
static DEFINE_RAW_SPINLOCK(lock);
/* The user; NULL while it is not loaded. Probes run with preemption disabled. */
static const struct module *user_module;

static int heard(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct module *mod = data;

	if (strcmp(mod->name, user))
		return NOTIFY_DONE;
	if (action == MODULE_STATE_COMING)
		WRITE_ONCE(user_module, mod);
	if (action == MODULE_STATE_GOING) {
		WRITE_ONCE(user_module, NULL);
		synchronize_rcu();
	}
	return NOTIFY_OK;
}

static struct notifier_block hears = { .notifier_call = heard };

/* Frames from the allocation to the user's outermost, or 0 if none is the user's */
static unsigned int users_frames(const unsigned long *stack, unsigned int n)
{
	const struct module *mod = READ_ONCE(user_module);

	while (mod && n && !within_module(stack[n - 1], mod))
		n--;
	return mod ? n : 0;
}

/*
 * Not a place of its own: pages for a slab, whose objects fail themselves, and what a kernel
 * that watches itself does besides, which may not be able to watch any more without. Nor
 * where nvme-core, whatever the transport is, waits for itself for ever: without its
 * subsystem's link it takes nvme_subsystems_lock, which it holds (6.12).
 */
static bool is_beside(const unsigned long *stack, unsigned int n)
{
	static const char *const beside[] = {
		"allocate_slab", "kmemleak_alloc", "alloc_slab_obj_exts",
		"nvme_fault_inject_init",
	};
	static char name[KSYM_SYMBOL_LEN];
	bool link = false;
	unsigned int i;

	lockdep_assert_held(&lock);
	for (i = 0; i < n; i++) {
		sprint_symbol_no_offset(name, stack[i]);
		/* behind a name there may be its module's */
		*strchrnul(name, ' ') = 0;
		if (match_string(beside, ARRAY_SIZE(beside), name) >= 0 ||
		    (link && !strcmp(name, "nvme_init_identify")))
			return true;
		link = !strcmp(name, "sysfs_create_link");
	}
	return false;
}

/* Whether the place is new; it is noted then */
static bool take(const unsigned long *stack, unsigned int n)
{
	u32 place = jhash(stack, n * sizeof(*stack), 0);
	unsigned long flags;
	bool taken = false;
	unsigned int i;

	raw_spin_lock_irqsave(&lock, flags);
	for (i = 0; i < places && seen[i] != place; i++)
		;
	if (armed && i == places && places < MAX_PLACES && !is_beside(stack, n)) {
		seen[places++] = place;
		armed = false;
		taken = true;
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	return taken;
}

static bool shall_fail(gfp_t gfp, const char *what)
{
	unsigned long stack[DEPTH];
	unsigned int n, i;

	if (!READ_ONCE(armed) || !READ_ONCE(user_module) || gfp & __GFP_NOFAIL)
		return false;
	/* without this function and the probe's own */
	n = stack_trace_save(stack, DEPTH, 2);
	n = users_frames(stack, n);
	if (!n || !take(stack, n))
		return false;
	pr_info("allocfail: %s for %s:\n", what, user);
	for (i = 0; i < n; i++)
		pr_info("allocfail:   %pS\n", (void *)stack[i]);
	return true;
}

/* should_failslab(cache, gfp): 0 or an errno */
static int slab_pre(struct kprobe *p, struct pt_regs *regs)
{
	return shall_fail((__force gfp_t)regs->si, "an object") ?
	       fault_instead(regs, -ENOMEM) : 0;
}

/* should_fail_alloc_page(gfp, order): bool */
static int page_pre(struct kprobe *p, struct pt_regs *regs)
{
	return shall_fail((__force gfp_t)regs->di, "pages") ?
	       fault_instead(regs, true) : 0;
}

static struct kprobe slab_probe = {
	.symbol_name	= "should_failslab",
	.pre_handler	= slab_pre,
};

static struct kprobe page_probe = {
	.symbol_name	= "should_fail_alloc_page",
	.pre_handler	= page_pre,
};

static int __init allocfail_init(void)
{
	int ret = register_module_notifier(&hears);

	if (ret)
		return ret;
	ret = register_kprobe(&slab_probe);
	if (ret)
		goto err_hears;
	ret = register_kprobe(&page_probe);
	if (ret)
		goto err_slab;
	return 0;

err_slab:
	unregister_kprobe(&slab_probe);
err_hears:
	unregister_module_notifier(&hears);
	return ret;
}

static void __exit allocfail_exit(void)
{
	unregister_kprobe(&page_probe);
	unregister_kprobe(&slab_probe);
	unregister_module_notifier(&hears);
}

module_init(allocfail_init);
module_exit(allocfail_exit);
MODULE_DESCRIPTION("memory that is not there");
MODULE_LICENSE("GPL");
