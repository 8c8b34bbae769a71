// SPDX-License-Identifier: GPL-2.0
/*
 * faulty: soft-RoCE as an HCA whose work fails, that refuses work, and that has
 * a peer who breaks the rules, as often as it is told.
 *
 * Each of these parameters is how often from now on, for the module "user":
 *
 *	errors		a completion says that the work request has failed; only
 *			those of one "opcode" (enum ib_wc_opcode) unless it is -1
 *	shorts		a message that arrives is 8 bytes long
 *	sends		ib_post_send() fails, and takes none of the chain
 *	receives	ib_post_recv() or ib_post_srq_recv() fails
 */
#include "user.h"

static int opcode = -1;
module_param(opcode, int, 0644);
MODULE_PARM_DESC(opcode, "of what errors may be");

static int left_set(const char *value, const struct kernel_param *kp)
{
	int left, ret = kstrtoint(value, 0, &left);

	if (!ret)
		atomic_set(kp->arg, left);
	return ret;
}

static int left_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read((atomic_t *)kp->arg));
}

static const struct kernel_param_ops left_ops = {
	.set = left_set,
	.get = left_get,
};

static atomic_t errors = ATOMIC_INIT(0);
module_param_cb(errors, &left_ops, &errors, 0644);
MODULE_PARM_DESC(errors, "completions yet to be errors");

static atomic_t shorts = ATOMIC_INIT(0);
module_param_cb(shorts, &left_ops, &shorts, 0644);
MODULE_PARM_DESC(shorts, "messages yet to be short");

static atomic_t sends = ATOMIC_INIT(0);
module_param_cb(sends, &left_ops, &sends, 0644);
MODULE_PARM_DESC(sends, "posts to send queues yet to be refused");

static atomic_t receives = ATOMIC_INIT(0);
module_param_cb(receives, &left_ops, &receives, 0644);
MODULE_PARM_DESC(receives, "posts of receives yet to be refused");

static bool is_due(atomic_t *left)
{
	return atomic_dec_if_positive(left) >= 0;
}

/* rxe_cq_post(cq, cqe, solicited): a cqe begins with the ib_wc */
static int faulty_complete(struct kprobe *p, struct pt_regs *regs)
{
	struct ib_wc *wc = (struct ib_wc *)regs->si;
	int only = READ_ONCE(opcode);

	if ((!atomic_read(&errors) && !atomic_read(&shorts)) ||
	    wc->status != IB_WC_SUCCESS || !is_users_completion(wc))
		return 0;
	if (wc->opcode == IB_WC_RECV && is_due(&shorts))
		wc->byte_len = 8;
	else if ((only == -1 || only == wc->opcode) && is_due(&errors))
		wc->status = IB_WC_GENERAL_ERR;
	return 0;
}

/* rxe_post_...(queue, wr, bad_wr), which the verbs' inlines call */
static int faulty_post(struct pt_regs *regs, atomic_t *left)
{
	const void **bad = (const void **)regs->dx;

	if (!atomic_read(left) || !is_users(*(unsigned long *)regs->sp) ||
	    !is_due(left))
		return 0;
	*bad = (const void *)regs->si;
	return fault_instead(regs, -ENOMEM);
}

static int faulty_post_send(struct kprobe *p, struct pt_regs *regs)
{
	return faulty_post(regs, &sends);
}

static int faulty_post_receive(struct kprobe *p, struct pt_regs *regs)
{
	return faulty_post(regs, &receives);
}

static struct kprobe probes[] = {
	{ .symbol_name = "rxe_cq_post", .pre_handler = faulty_complete },
	{ .symbol_name = "rxe_post_send", .pre_handler = faulty_post_send },
	{ .symbol_name = "rxe_post_recv", .pre_handler = faulty_post_receive },
	{ .symbol_name = "rxe_post_srq_recv",
	  .pre_handler = faulty_post_receive },
};

static struct kprobe *all_probes[] = {
	&probes[0], &probes[1], &probes[2], &probes[3],
};

static int __init faulty_init(void)
{
	return register_kprobes(all_probes, ARRAY_SIZE(all_probes));
}

static void __exit faulty_exit(void)
{
	unregister_kprobes(all_probes, ARRAY_SIZE(all_probes));
}

module_init(faulty_init);
module_exit(faulty_exit);
MODULE_DESCRIPTION("soft-RoCE that makes errors");
MODULE_LICENSE("GPL");
