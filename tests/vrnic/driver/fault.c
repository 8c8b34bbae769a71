// SPDX-License-Identifier: GPL-2.0
/*
 * Faults on demand: lines written to the file "faults" of the device's directory in debugfs.
 * Reading it lists the pending faults.
 *
 *   wr KIND NTH STATUS [after] [WHOSE]
 *	the NTH work request of KIND (from now, from 1) of a reliable connection
 *	ends with STATUS, one of status_names below; it has no effect, or with
 *	"after" it has its effect and fails nevertheless (a receive has only one)
 *   wr KIND NTH qp-dies|device-dies [WHOSE]
 *	it is executed, and its QP or the device dies at that moment
 *   cqe send|recv NTH delay MICROSECONDS [WHOSE]
 *	that completion, and all later ones in its queue, are held back
 *   cqe send|recv NTH reorder [WHOSE]
 *	the same, until the QP's other queue has a completion (or a second passes)
 *   cqe send|recv NTH twice|never [WHOSE]
 *	the second copy returns no slot of the queue; with "never" a receive's
 *	slot returns when the QP is destroyed, a send's with the next completion
 *   cqe send|recv NTH again MICROSECONDS [WHOSE]
 *	like twice, the second time that much later, and then before all later
 *	ones in its queue
 *   cqe send|recv NTH overrun [WHOSE]
 *	like never, and its CQ fails like one that was overrun: it reports that,
 *	and completes nothing more
 *   cqe send|recv NTH overrun-told MICROSECONDS [WHOSE]
 *	the same, but it reports that so much later
 *
 *	A queue that meets a delay or a reorder while it is held back stays held
 *	back until all of them are over. The two queues of a QP are held back
 *	independently.
 *
 *   corrupt send|write|read NTH BYTE [WHOSE]
 *	a bit of that byte, counted from 0, of the data of that work request of a
 *	reliable connection changes on the way
 *   post KIND NTH ERRNO [WHOSE]
 *	the call of post_send (by the kind of its first work request) or of
 *	post_recv fails, before anything of it is posted
 *   modify reset|init|rtr|rts|err NTH ERRNO [WHOSE]
 *	the call of modify_qp to that state fails, and the QP's state stays
 *   make cq|srq|qp|mr|pd|ah NTH ERRNO
 *	the object is not created
 *   make mr NTH ERRNO MILLISECONDS
 *	the same, and the call returns that much later, or at "clear", as with a
 *	firmware that hangs
 *   qp NUMBER die, device die, port down|up
 *   qpn NUMBER
 *	the next QP has this number if no other has, as after a restart of the
 *	machine
 *   pkey INDEX VALUE
 *	the subnet manager sets this entry of the P_Key table
 *   clear
 *	drop all pending faults; calls that hang return
 *
 * KIND is send, write, read, reg, inv, recv, other (none of these) or any; WHOSE is
 * from=MODULE, qp=NUMBER or both. A receive posted to an SRQ belongs to no QP: only from=
 * matches it, by the module of the SRQ's protection domain.
 */

#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "vrnic.h"

#define ANY_KIND	U32_MAX

struct vrnic_fault {
	struct list_head entry;
	enum vrnic_fault_point point;
	u32 kind;
	u32 left;
	struct vrnic_fault_hit hit;
	u32 qpn;
	char from[32];
	char text[96];
};

/**
 * __vrnic_fault() - see vrnic_fault()
 * @dev: the device
 * @point: where a fault may happen
 * @kind: the kind of object
 * @qp: its QP, or NULL
 * @srq: its SRQ, or NULL
 * @hit: the fault
 *
 * Context: any.
 * Return: whether there is a fault
 */
bool __vrnic_fault(struct vrnic_dev *dev, enum vrnic_fault_point point,
		   unsigned int kind, const struct vrnic_qp *qp,
		   const struct vrnic_srq *srq, struct vrnic_fault_hit *hit)
{
	const char *owner = qp ? vrnic_owner(qp) :
			    srq ? vrnic_pd_owner(srq->ibsrq.pd) : NULL;
	struct vrnic_faults *faults = &dev->faults;
	struct vrnic_fault *f, *next, *found = NULL;
	unsigned long flags;

	spin_lock_irqsave(&faults->lock, flags);
	/* An object that has met a fault still counts for pending faults */
	list_for_each_entry_safe(f, next, &faults->list, entry) {
		if (f->point != point ||
		    (f->kind != ANY_KIND && f->kind != kind) ||
		    (f->qpn && (!qp || qp->ibqp.qp_num != f->qpn)) ||
		    (f->from[0] && (!owner || strcmp(owner, f->from))))
			continue;
		if (f->left > 1) {
			f->left--;
		} else if (!found) {
			found = f;
			list_del(&f->entry);
			faults->armed--;
		}
	}
	spin_unlock_irqrestore(&faults->lock, flags);
	if (!found)
		return false;
	if (qp)
		pr_info("%s: fault: QP %u (%s): %s\n",
			dev_name(&dev->ibdev.dev), qp->ibqp.qp_num, owner,
			found->text);
	else if (srq)
		pr_info("%s: fault: SRQ %u (%s): %s\n",
			dev_name(&dev->ibdev.dev), srq->ibsrq.res.id, owner,
			found->text);
	else
		pr_info("%s: fault: %s\n", dev_name(&dev->ibdev.dev),
			found->text);
	*hit = found->hit;
	kfree(found);
	return true;
}

/* ---- the file ---- */

static const char *const status_names[] = {
	[IB_WC_LOC_LEN_ERR] = "loc-len",
	[IB_WC_LOC_QP_OP_ERR] = "loc-qp-op",
	[IB_WC_LOC_PROT_ERR] = "loc-prot",
	[IB_WC_WR_FLUSH_ERR] = "flush",
	[IB_WC_MW_BIND_ERR] = "bind",
	[IB_WC_BAD_RESP_ERR] = "bad-resp",
	[IB_WC_LOC_ACCESS_ERR] = "loc-access",
	[IB_WC_REM_INV_REQ_ERR] = "rem-inv-req",
	[IB_WC_REM_ACCESS_ERR] = "rem-access",
	[IB_WC_REM_OP_ERR] = "rem-op",
	[IB_WC_RETRY_EXC_ERR] = "retry",
	[IB_WC_RNR_RETRY_EXC_ERR] = "rnr-retry",
	[IB_WC_REM_ABORT_ERR] = "rem-abort",
	[IB_WC_FATAL_ERR] = "fatal",
	[IB_WC_RESP_TIMEOUT_ERR] = "resp-timeout",
	[IB_WC_GENERAL_ERR] = "general",
};

static const char *const death_names[] = {
	[VRNIC_QP_DIES - VRNIC_QP_DIES] = "qp-dies",
	[VRNIC_DEVICE_DIES - VRNIC_QP_DIES] = "device-dies",
};

static const char *const queue_names[] = {
	[VRNIC_SQ] = "send",
	[VRNIC_RQ] = "recv",
};

static const char *const action_names[] = {
	[VRNIC_CQE_DELAY] = "delay",
	[VRNIC_CQE_REORDER] = "reorder",
	[VRNIC_CQE_TWICE] = "twice",
	[VRNIC_CQE_AGAIN] = "again",
	[VRNIC_CQE_NEVER] = "never",
	[VRNIC_CQE_OVERRUN] = "overrun",
	[VRNIC_CQE_OVERRUN_TOLD] = "overrun-told",
};

static const char *const object_names[] = {
	[VRNIC_MAKE_CQ] = "cq",
	[VRNIC_MAKE_SRQ] = "srq",
	[VRNIC_MAKE_QP] = "qp",
	[VRNIC_MAKE_MR] = "mr",
	[VRNIC_MAKE_PD] = "pd",
	[VRNIC_MAKE_AH] = "ah",
};

static const char *const state_names[] = {
	[IB_QPS_RESET] = "reset",
	[IB_QPS_INIT] = "init",
	[IB_QPS_RTR] = "rtr",
	[IB_QPS_RTS] = "rts",
	[IB_QPS_ERR] = "err",
};

static const char *const point_names[] = {
	[VRNIC_FAULT_WR] = "wr",
	[VRNIC_FAULT_CQE] = "cqe",
	[VRNIC_FAULT_POST] = "post",
	[VRNIC_FAULT_MODIFY] = "modify",
	[VRNIC_FAULT_MAKE] = "make",
	[VRNIC_FAULT_CORRUPT] = "corrupt",
};

/* Index of @word among @names, the first of which may be missing */
static int find(const char *word, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; word && i < n; i++) {
		if (names[i] && !strcmp(word, names[i]))
			return i;
	}
	return -EINVAL;
}
#define FIND(word, names) find(word, names, ARRAY_SIZE(names))

static int number(const char *word, u32 *to)
{
	return word ? kstrtou32(word, 0, to) : -EINVAL;
}

static char *word(char **text)
{
	char *w;

	do
		w = strsep(text, " ");
	while (w && !*w);
	return w;
}

static int parse_kind(struct vrnic_fault *f, const char *w)
{
	int i = -EINVAL;

	switch (f->point) {
	case VRNIC_FAULT_WR:
	case VRNIC_FAULT_POST:
		if (w && !strcmp(w, "any")) {
			f->kind = ANY_KIND;
			return 0;
		}
		i = FIND(w, vrnic_kind_names);
		break;
	case VRNIC_FAULT_CORRUPT:
		i = FIND(w, vrnic_kind_names);
		if (i > VRNIC_READ)
			i = -EINVAL;
		break;
	case VRNIC_FAULT_CQE:
		i = FIND(w, queue_names);
		break;
	case VRNIC_FAULT_MODIFY:
		i = FIND(w, state_names);
		break;
	case VRNIC_FAULT_MAKE:
		i = FIND(w, object_names);
		break;
	}
	f->kind = i;
	return min(i, 0);
}

static int parse_what(struct vrnic_fault *f, char **text)
{
	const char *w = word(text);

	switch (f->point) {
	case VRNIC_FAULT_WR:
		f->hit.action = FIND(w, status_names);
		if (f->hit.action < 0 && FIND(w, death_names) >= 0)
			f->hit.action = VRNIC_QP_DIES + FIND(w, death_names);
		return min(f->hit.action, 0);
	case VRNIC_FAULT_CQE:
		f->hit.action = FIND(w, action_names);
		if (f->hit.action == VRNIC_CQE_DELAY ||
		    f->hit.action == VRNIC_CQE_AGAIN ||
		    f->hit.action == VRNIC_CQE_OVERRUN_TOLD)
			return number(word(text), &f->hit.arg);
		return min(f->hit.action, 0);
	case VRNIC_FAULT_CORRUPT:
		return number(w, &f->hit.arg);
	default:
		if (number(w, &f->hit.arg) || !f->hit.arg || f->hit.arg > MAX_ERRNO)
			return -EINVAL;
		if (f->point != VRNIC_FAULT_MAKE || f->kind != VRNIC_MAKE_MR)
			return 0;
		w = word(text);
		return w ? number(w, &f->hit.ms) : 0;
	}
}

static int parse_whose(struct vrnic_fault *f, char **text)
{
	const char *w;

	while ((w = word(text))) {
		/* The module that creates the object is not known yet */
		if (f->point == VRNIC_FAULT_MAKE)
			return -EINVAL;
		if (!strcmp(w, "after") && f->point == VRNIC_FAULT_WR &&
		    f->kind != VRNIC_RECV)
			f->hit.after = true;
		else if (str_has_prefix(w, "from="))
			strscpy(f->from, w + strlen("from="), sizeof(f->from));
		else if (!str_has_prefix(w, "qp=") ||
			 number(w + strlen("qp="), &f->qpn))
			return -EINVAL;
	}
	return 0;
}

static int add_fault(struct vrnic_dev *dev, int point, char *text,
		     const char *whole)
{
	struct vrnic_fault *f = kzalloc(sizeof(*f), GFP_KERNEL);
	int ret;

	if (!f)
		return -ENOMEM;
	f->point = point;
	strscpy(f->text, whole, sizeof(f->text));
	ret = parse_kind(f, word(&text));
	if (!ret)
		ret = number(word(&text), &f->left);
	if (!ret && !f->left)
		ret = -EINVAL;
	if (!ret)
		ret = parse_what(f, &text);
	if (!ret)
		ret = parse_whose(f, &text);
	if (ret) {
		kfree(f);
		return ret;
	}
	spin_lock_irq(&dev->faults.lock);
	list_add_tail(&f->entry, &dev->faults.list);
	dev->faults.armed++;
	spin_unlock_irq(&dev->faults.lock);
	return 0;
}

static void clear_faults(struct vrnic_dev *dev)
{
	struct vrnic_fault *f, *next;

	spin_lock_irq(&dev->faults.lock);
	list_for_each_entry_safe(f, next, &dev->faults.list, entry)
		kfree(f);
	INIT_LIST_HEAD(&dev->faults.list);
	dev->faults.armed = 0;
	dev->faults.cleared++;
	spin_unlock_irq(&dev->faults.lock);
	wake_up_all(&dev->faults.wait);
}

/**
 * vrnic_fault_hang() - return later, or when the faults are cleared
 * @dev: the device
 * @ms: milliseconds
 */
void vrnic_fault_hang(struct vrnic_dev *dev, u32 ms)
{
	unsigned int cleared = READ_ONCE(dev->faults.cleared);

	wait_event_idle_timeout(dev->faults.wait, READ_ONCE(dev->faults.cleared) != cleared,
				msecs_to_jiffies(ms));
}

static void kill_qp(struct vrnic_qp *qp, enum ib_event_type event)
{
	spin_lock_irq(&qp->resp_lock);
	vrnic_qp_die(qp, event);
	spin_unlock_irq(&qp->resp_lock);
}

static int kill_number(struct vrnic_dev *dev, u32 qpn)
{
	struct vrnic_qp *qp = vrnic_qp_find(qpn);

	if (!qp || qp->dev != dev) {
		if (qp)
			vrnic_qp_put(qp);
		return -ENOENT;
	}
	kill_qp(qp, IB_EVENT_QP_FATAL);
	vrnic_qp_put(qp);
	return 0;
}

/*
 * No posted work completes any more, until a consumer moves its QP to ERR. Nothing does that
 * to the GSI QP: the driver flushes its work, as drivers of hardware do. Otherwise the
 * connection manager would wait for it for ever.
 */
static void die_now(struct work_struct *work)
{
	struct vrnic_dev *dev = container_of(work, struct vrnic_dev, die_work);
	struct vrnic_qp *qp;

	pr_info("%s: fault: device die\n", dev_name(&dev->ibdev.dev));
	rcu_read_lock();
	qp = rcu_dereference(dev->gsi);
	if (qp)
		kill_qp(qp, VRNIC_NO_EVENT);
	rcu_read_unlock();
	vrnic_event_dev(dev, IB_EVENT_DEVICE_FATAL);
}

/* At once; other users are notified later */
static void die(struct vrnic_dev *dev)
{
	WRITE_ONCE(dev->dead, true);
	schedule_work(&dev->die_work);
}

/**
 * vrnic_fault_deadly() - let a QP or a device die of a fault
 * @qp: the QP whose work request has met the fault
 * @hit: the fault
 *
 * Context: any; interrupts are off. Any lock but a CQ's may be held.
 * Return: whether one dies of it
 */
bool vrnic_fault_deadly(struct vrnic_qp *qp, const struct vrnic_fault_hit *hit)
{
	switch (hit->action) {
	case VRNIC_QP_DIES:
		vrnic_qp_die(qp, IB_EVENT_QP_FATAL);
		return true;
	case VRNIC_DEVICE_DIES:
		die(qp->dev);
		return true;
	default:
		return false;
	}
}

/* What happens at once */
static int do_now(struct vrnic_dev *dev, const char *first, char *text)
{
	const char *w = word(&text);
	u32 qpn, index, pkey;

	if (!w) {
		if (strcmp(first, "clear"))
			return -EINVAL;
		clear_faults(dev);
		return 0;
	}
	if (!strcmp(first, "qp") && !number(w, &qpn)) {
		w = word(&text);
		if (w && !strcmp(w, "die") && !word(&text))
			return kill_number(dev, qpn);
	}
	if (!strcmp(first, "pkey") && !number(w, &index) &&
	    !number(word(&text), &pkey) && !word(&text))
		return vrnic_set_pkey(dev, index, pkey);
	if (word(&text))
		return -EINVAL;
	if (!strcmp(first, "qpn") && !number(w, &qpn))
		return vrnic_qp_next(qpn);
	if (!strcmp(first, "device") && !strcmp(w, "die")) {
		die(dev);
		flush_work(&dev->die_work);
		return 0;
	}
	if (!strcmp(first, "port") && (!strcmp(w, "up") || !strcmp(w, "down"))) {
		WRITE_ONCE(dev->port_off, !strcmp(w, "down"));
		vrnic_port_update(dev);
		return 0;
	}
	return -EINVAL;
}

static ssize_t faults_write(struct file *file, const char __user *from,
			    size_t len, loff_t *pos)
{
	struct vrnic_dev *dev = file_inode(file)->i_private;
	char *copy, *whole, *text;
	const char *first;
	int point, ret;

	if (len >= PAGE_SIZE)
		return -EINVAL;
	copy = memdup_user_nul(from, len);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	text = strim(copy);
	whole = kstrdup(text, GFP_KERNEL);
	first = word(&text);
	ret = -EINVAL;
	if (whole && first) {
		point = FIND(first, point_names);
		ret = point < 0 ? do_now(dev, first, text) :
				  add_fault(dev, point, text, whole);
	}
	if (ret)
		pr_err("%s: faults: cannot take \"%s\": %d\n",
		       dev_name(&dev->ibdev.dev), whole ?: "", ret);
	kfree(whole);
	kfree(copy);
	return ret ?: len;
}

static int faults_show(struct seq_file *s, void *unused)
{
	struct vrnic_dev *dev = s->private;
	struct vrnic_fault *f;

	spin_lock_irq(&dev->faults.lock);
	list_for_each_entry(f, &dev->faults.list, entry)
		seq_printf(s, "%s (%u to go)\n", f->text, f->left);
	spin_unlock_irq(&dev->faults.lock);
	return 0;
}

static int faults_open(struct inode *inode, struct file *file)
{
	return single_open(file, faults_show, inode->i_private);
}

static const struct file_operations faults_fops = {
	.owner = THIS_MODULE,
	.open = faults_open,
	.read = seq_read,
	.write = faults_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * vrnic_faults_init() - of a new device
 * @dev: it
 */
void vrnic_faults_init(struct vrnic_dev *dev)
{
	spin_lock_init(&dev->faults.lock);
	INIT_LIST_HEAD(&dev->faults.list);
	init_waitqueue_head(&dev->faults.wait);
	INIT_WORK(&dev->die_work, die_now);
}

/**
 * vrnic_faults_make() - the file, with nothing in it
 * @dev: the device
 */
void vrnic_faults_make(struct vrnic_dev *dev)
{
	debugfs_create_file("faults", 0600, dev->dir, dev, &faults_fops);
}

/**
 * vrnic_faults_free() - of a device that goes
 * @dev: it
 */
void vrnic_faults_free(struct vrnic_dev *dev)
{
	cancel_work_sync(&dev->die_work);
	clear_faults(dev);
}
