// SPDX-License-Identifier: GPL-2.0
/*
 * deaf: soft-RoCE as an HCA that does not answer one of its users any more.
 *
 * While the parameter "deaf" is Y, no completion that is for the module "user"
 * reaches its completion queue: not those of its work requests, not those of
 * what arrives, not the flush of a queue pair in error. Other users of the
 * device notice nothing.
 */
#include "user.h"

static bool deaf;
module_param(deaf, bool, 0644);
MODULE_PARM_DESC(deaf, "whether the user's completions vanish");

static atomic_t vanished = ATOMIC_INIT(0);

static int vanished_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&vanished));
}

static const struct kernel_param_ops vanished_ops = {
	.get = vanished_get,
};

module_param_cb(vanished, &vanished_ops, NULL, 0444);
MODULE_PARM_DESC(vanished, "completions that vanished");

/* rxe_cq_post(cq, cqe, solicited): a cqe begins with the ib_wc */
static int deaf_pre(struct kprobe *p, struct pt_regs *regs)
{
	if (!READ_ONCE(deaf) ||
	    !is_users_completion((const struct ib_wc *)regs->si))
		return 0;
	atomic_inc(&vanished);
	return fault_instead(regs, 0);
}

static struct kprobe deaf_probe = {
	.symbol_name	= "rxe_cq_post",
	.pre_handler	= deaf_pre,
};

static int __init deaf_init(void)
{
	return register_kprobe(&deaf_probe);
}

static void __exit deaf_exit(void)
{
	unregister_kprobe(&deaf_probe);
}

module_init(deaf_init);
module_exit(deaf_exit);
MODULE_DESCRIPTION("soft-RoCE that does not answer");
MODULE_LICENSE("GPL");
