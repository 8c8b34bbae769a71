// SPDX-License-Identifier: GPL-2.0
/*
 * Broken rules. Hardware punishes some of this and silently corrupts memory for the rest; here
 * each violation is one line of the kernel's log that starts with "DEVICE: violation:", and is
 * counted. It fails every test, except those that break rules on purpose.
 */

#include "vrnic.h"

/* Lines for one device; later violations are only counted */
#define MAX_LINES	200

/**
 * vrnic_pd_owner() - which module a protection domain is for
 * @pd: it
 *
 * Return: the name of the module that made it
 */
const char *vrnic_pd_owner(const struct ib_pd *pd)
{
	return pd->res.kern_name ?: "?";
}

/**
 * vrnic_owner() - which module a QP is for
 * @qp: it
 *
 * The QP's own name is that of the connection manager, which made it.
 *
 * Return: the name of the module that made its protection domain
 */
const char *vrnic_owner(const struct vrnic_qp *qp)
{
	return vrnic_pd_owner(qp->ibqp.pd);
}

/**
 * vrnic_violation() - report that a rule was broken
 * @dev: the device
 * @qp: the QP whose consumer or peer broke it; NULL if none
 * @fmt: the rule, the expected and the found value
 *
 * Context: any.
 */
void vrnic_violation(struct vrnic_dev *dev, const struct vrnic_qp *qp,
		     const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	if (atomic_inc_return(&dev->violations) > MAX_LINES)
		return;
	va_start(args, fmt);
	vaf.va = &args;
	if (qp)
		pr_err("%s: violation: QP %u (%s): %pV\n",
		       dev_name(&dev->ibdev.dev), qp->ibqp.qp_num,
		       vrnic_owner(qp), &vaf);
	else
		pr_err("%s: violation: %pV\n", dev_name(&dev->ibdev.dev), &vaf);
	va_end(args);
}
