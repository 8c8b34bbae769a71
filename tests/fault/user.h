/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whom of the users of soft-RoCE a fault is for, and how a probed function is
 * left without having run.
 */
#ifndef FAULT_USER_H
#define FAULT_USER_H

#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include <rdma/ib_verbs.h>

static char *user = "nvmet_rdma";
module_param(user, charp, 0444);
MODULE_PARM_DESC(user, "module that the faults are for");

/* Whether an address is of the user's code */
static bool is_users(unsigned long address)
{
	char name[KSYM_SYMBOL_LEN], module[MODULE_NAME_LEN + 2];

	snprintf(module, sizeof(module), "[%s]", user);
	sprint_symbol(name, address);
	return strstr(name, module);
}

/* Whether a completion is; a user in user space has a number for the pointer */
static bool is_users_completion(const struct ib_wc *wc)
{
	void *done;

	return !get_kernel_nofault(done, (void **)&wc->wr_cqe->done) &&
	       is_users((unsigned long)done);
}

/* What the probed function is made to be; the stack is that of its entry */
void fault_return(void);
asm(".text\n"
	".type fault_return, @function\n"
	"fault_return:\n"
	ASM_ENDBR
	ASM_RET
	".size fault_return, .-fault_return\n");

/* For a probe at a function's entry: the function returns @result, having done
 * nothing.
 */
static int fault_instead(struct pt_regs *regs, long result)
{
	regs->ax = result;
	regs->ip = (unsigned long)fault_return;
	return 1;
}

#endif
