// SPDX-License-Identifier: GPL-2.0
/*
 * deaf: soft-RoCE as an HCA that does not answer one of its users any more.
 *
 * While the parameter "deaf" is Y, no completion that is for the module "user"
 * reaches its completion queue: not those of its work requests, not those of
 * what arrives, not the flush of a queue pair in error. Other users of the
 * device notice nothing.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>

#include <rdma/ib_verbs.h>

static char *user = "nvmet_rdma";
module_param(user, charp, 0444);
MODULE_PARM_DESC(user, "module whose completions vanish");

static bool deaf;
module_param(deaf, bool, 0644);
MODULE_PARM_DESC(deaf, "whether they do");

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

/* What the probed function is made to be; the stack is that of its entry */
void deaf_return(void);
asm(".text\n"
	".type deaf_return, @function\n"
	".globl deaf_return\n"
	"deaf_return:\n"
	ASM_ENDBR
	ASM_RET
	".size deaf_return, .-deaf_return\n");

/* rxe_cq_post(cq, cqe, solicited): a cqe begins with the ib_wc */
static int deaf_pre(struct kprobe *p, struct pt_regs *regs)
{
	const struct ib_wc *wc = (const struct ib_wc *)regs->si;
	char name[KSYM_SYMBOL_LEN], module[MODULE_NAME_LEN + 2];

	if (!READ_ONCE(deaf))
		return 0;
	snprintf(module, sizeof(module), "[%s]", user);
	sprint_symbol(name, (unsigned long)wc->wr_cqe->done);
	if (!strstr(name, module))
		return 0;

	/* The function returns 0 to its caller, having done nothing */
	atomic_inc(&vanished);
	regs->ax = 0;
	regs->ip = (unsigned long)deaf_return;
	return 1;
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
