// SPDX-License-Identifier: GPL-2.0
/*
 * The subnet administrator: the queries of ib_sa, rdma_cm and ib_ipoib.
 *
 * Operation: a datagram to QP 1 at the SM's LID ends here (vrnic_sa_take()); a work answers
 * it, by a datagram to QP 1 of the sender's port. It knows path records and multicast groups;
 * for anything else the status is "not supported". The file "sa" in debugfs makes it ignore or
 * refuse requests, by kind, and also counts them:
 *
 *   silent path|mcmember|info|other|any	no longer answered
 *   refuse path|mcmember|info|other|any	answered with "no records"
 *   answer					answered normally
 */

#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "sa.h"

enum sa_kind {
	SA_PATH,
	SA_MCMEMBER,
	SA_INFO,
	SA_OTHER,
	SA_KINDS
};

static const char *const kind_names[] = {
	[SA_PATH] = "path",
	[SA_MCMEMBER] = "mcmember",
	[SA_INFO] = "info",
	[SA_OTHER] = "other",
	[SA_KINDS] = "any",
};

enum sa_mood {
	SA_ANSWERS,
	SA_SILENT,
	SA_REFUSES,
};

static const char *const mood_names[] = {
	[SA_ANSWERS] = "answer",
	[SA_SILENT] = "silent",
	[SA_REFUSES] = "refuse",
};

/* Under sa_lock */
static DEFINE_MUTEX(sa_lock);
static enum sa_mood mood[SA_KINDS];
static u64 asked[SA_KINDS], answered[SA_KINDS];

/* IBA 1.3, 15.2.5.16 */
struct path_record {
	__be64 service_id;
	union ib_gid dgid;
	union ib_gid sgid;
	__be16 dlid;
	__be16 slid;
	__be32 flow_hop;
	u8 tclass;
	u8 numb_path;
	__be16 pkey;
	__be16 qos_sl;
	u8 mtu;
	u8 rate;
	u8 life;
	u8 preference;
	u8 reserved[6];
} __packed;

static_assert(sizeof(struct path_record) == 64);

#define REVERSIBLE	BIT(7)

struct request {
	struct work_struct work;
	struct vrnic_qp *qp;
	u16 pkey;
	u8 sl;
	struct ib_sa_mad mad;
};

static_assert(sizeof(struct ib_sa_mad) == IB_MGMT_MAD_SIZE);

/* A partition that both ports are in, or 0 */
static u16 common_pkey(const struct vrnic_dev *a, const struct vrnic_dev *b,
		       u16 wanted)
{
	unsigned int i, j;

	for (i = 0; i < a->config.nr_pkeys; i++) {
		u16 pkey = a->config.pkeys[i];

		if (wanted && (pkey ^ wanted) & ~VRNIC_PKEY_FULL)
			continue;
		for (j = 0; j < b->config.nr_pkeys; j++) {
			if (vrnic_pkeys_match(pkey, b->config.pkeys[j]))
				return wanted ?: pkey;
		}
	}
	return 0;
}

static struct vrnic_dev *port_of(const union ib_gid *gid)
{
	struct vrnic_dev *dev = vrnic_find_by_gid(gid);

	return dev && dev->config.link == VRNIC_IB && READ_ONCE(dev->up) ? dev :
									    NULL;
}

/* By GIDs, as all users in this kernel do */
static u16 get_path(struct ib_sa_mad *mad)
{
	struct path_record *path = (struct path_record *)mad->data;
	ib_sa_comp_mask given = mad->sa_hdr.comp_mask;
	const struct vrnic_dev *from, *to;
	u16 pkey, status = SA_STATUS_OK;

	if (!(given & IB_SA_PATH_REC_DGID) || !(given & IB_SA_PATH_REC_SGID))
		return SA_STATUS_INSUFFICIENT;
	rcu_read_lock();
	from = port_of(&path->sgid);
	to = port_of(&path->dgid);
	if (from && to)
		pkey = common_pkey(from, to, given & IB_SA_PATH_REC_PKEY ?
				   be16_to_cpu(path->pkey) : 0);
	if (!from || !to || !pkey) {
		status = SA_STATUS_NO_RECORDS;
		goto out;
	}
	path->slid = cpu_to_be16(from->lid);
	path->dlid = cpu_to_be16(to->lid);
	path->flow_hop &= cpu_to_be32(0xfffff << 8);	/* hop limit 0: no router */
	path->numb_path = REVERSIBLE | 1;
	path->pkey = cpu_to_be16(pkey);
	path->qos_sl &= cpu_to_be16(0xfff0);
	path->mtu = SA_EXACTLY(SA_MTU);
	path->rate = SA_EXACTLY(SA_RATE);
	path->life = SA_EXACTLY(SA_LIFE);
	path->preference = 0;
out:
	rcu_read_unlock();
	return status;
}

static u16 get_info(struct ib_sa_mad *mad)
{
	struct ib_class_port_info *info = (struct ib_class_port_info *)mad->data;

	memset(info, 0, sizeof(*info));
	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = mad->mad_hdr.class_version;
	info->cap_mask2_resp_time =
		cpu_to_be32(IB_SA_CAP_MASK2_SENDONLY_FULL_MEM_SUPPORT <<
			    IB_CLASS_PORT_INFO_RESP_TIME_FIELD_SIZE | SA_LIFE);
	return SA_STATUS_OK;
}

static enum sa_kind kind_of(const struct ib_sa_mad *mad)
{
	switch (be16_to_cpu(mad->mad_hdr.attr_id)) {
	case IB_SA_ATTR_PATH_REC:
		return SA_PATH;
	case IB_SA_ATTR_MC_MEMBER_REC:
		return SA_MCMEMBER;
	case IB_SA_ATTR_CLASS_PORTINFO:
		return SA_INFO;
	default:
		return SA_OTHER;
	}
}

static u16 handle(struct ib_sa_mad *mad, struct vrnic_dev *from)
{
	bool get = mad->mad_hdr.method == IB_MGMT_METHOD_GET;
	enum sa_kind kind = kind_of(mad);

	if (mood[kind] == SA_REFUSES)
		return SA_STATUS_NO_RECORDS;
	if (kind == SA_PATH && get)
		return get_path(mad);
	if (kind == SA_INFO && get)
		return get_info(mad);
	if (kind == SA_MCMEMBER)
		return vrnic_sa_mcmember(mad, from);
	return SA_STATUS_UNSUPPORTED;
}

static void answer(struct request *r, u16 status)
{
	struct vrnic_datagram d = {
		.src_qp = 1,
		.slid = VRNIC_SM_LID,
		.sl = r->sl,
		.pkey = r->pkey,
		.len = sizeof(r->mad),
	};
	struct vrnic_iter from = {
		.run = &r->mad,
		.run_len = sizeof(r->mad),
	};

	r->mad.mad_hdr.method |= IB_MGMT_METHOD_RESP;
	r->mad.mad_hdr.status = cpu_to_be16(status);
	local_irq_disable();
	vrnic_ud_deliver(r->qp, &d, &from);
	local_irq_enable();
}

static void take(struct work_struct *work)
{
	struct request *r = container_of(work, struct request, work);
	enum sa_kind kind = kind_of(&r->mad);

	mutex_lock(&sa_lock);
	asked[kind]++;
	if (mood[kind] != SA_SILENT) {
		answered[kind]++;
		answer(r, handle(&r->mad, r->qp->dev));
	}
	mutex_unlock(&sa_lock);
	vrnic_qp_put(r->qp);
	kfree(r);
}

/**
 * vrnic_sa_take() - a datagram for the subnet administrator
 * @qp: QP 1 of the port that asks; others are not heard
 * @wqe: by this work request
 * @pkey: in this partition
 *
 * Context: any; interrupts are off.
 */
void vrnic_sa_take(struct vrnic_qp *qp, const struct vrnic_swqe *wqe, u16 pkey)
{
	struct vrnic_iter from, to;
	struct request *r;

	if (qp->ibqp.qp_type != IB_QPT_GSI || wqe->len != IB_MGMT_MAD_SIZE ||
	    (pkey & ~VRNIC_PKEY_FULL) != IB_DEFAULT_PKEY_PARTIAL)
		return;
	r = kzalloc(sizeof(*r), GFP_ATOMIC);
	if (!r || !vrnic_qp_get(qp)) {
		kfree(r);
		return;
	}
	to = (struct vrnic_iter) { .run = &r->mad, .run_len = sizeof(r->mad) };
	vrnic_source(&from, qp, wqe, "MAD");
	r->qp = qp;
	r->sl = wqe->ud.ah->sl;
	r->pkey = pkey;
	INIT_WORK(&r->work, take);
	if (vrnic_copy(&to, &from, wqe->len) ||
	    r->mad.mad_hdr.mgmt_class != IB_MGMT_CLASS_SUBN_ADM ||
	    r->mad.mad_hdr.method & IB_MGMT_METHOD_RESP) {
		vrnic_qp_put(qp);
		kfree(r);
		return;
	}
	queue_work(vrnic_wq, &r->work);
}

/* ---- the file ---- */

static int set_mood(char *text)
{
	int m, kind = SA_KINDS, i;
	const char *first = strsep(&text, " ");

	m = match_string(mood_names, ARRAY_SIZE(mood_names), first);
	if (m < 0)
		return m;
	if (m != SA_ANSWERS && text)
		kind = match_string(kind_names, ARRAY_SIZE(kind_names), text);
	if (kind < 0 || (m == SA_ANSWERS ? !!text : !text))
		return -EINVAL;
	mutex_lock(&sa_lock);
	for (i = 0; i < SA_KINDS; i++) {
		if (kind == SA_KINDS || kind == i)
			mood[i] = m;
	}
	mutex_unlock(&sa_lock);
	return 0;
}

static ssize_t sa_write(struct file *file, const char __user *from, size_t len,
			loff_t *pos)
{
	char text[32], words[32], *line;
	int ret;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, len))
		return -EFAULT;
	text[len] = 0;
	line = strim(text);
	strscpy(words, line, sizeof(words));
	ret = set_mood(words);
	if (ret)
		pr_err("vrnic: sa: cannot take \"%s\": %d\n", line, ret);
	return ret ?: len;
}

static int sa_show(struct seq_file *s, void *unused)
{
	int i;

	mutex_lock(&sa_lock);
	for (i = 0; i < SA_KINDS; i++)
		seq_printf(s, "%s_asked %llu\n%s_answered %llu\n",
			   kind_names[i], asked[i], kind_names[i], answered[i]);
	mutex_unlock(&sa_lock);
	return 0;
}

static int sa_open(struct inode *inode, struct file *file)
{
	return single_open(file, sa_show, NULL);
}

static const struct file_operations sa_fops = {
	.owner = THIS_MODULE,
	.open = sa_open,
	.read = seq_read,
	.write = sa_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * vrnic_sa_make() - the subnet administrator
 */
void vrnic_sa_make(void)
{
	debugfs_create_file("sa", 0600, vrnic_debugfs, NULL, &sa_fops);
}

/**
 * vrnic_sa_free() - free the subnet administrator's state
 *
 * Context: there are no more requests.
 */
void vrnic_sa_free(void)
{
	vrnic_sa_drop_groups();
}
