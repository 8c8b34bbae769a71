/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vrnic: a virtual RDMA NIC for kernel consumers, for tests and benchmarks.
 *
 * The poster executes a work request, in post_send: a SEND is a copy into the peer's receive,
 * an RDMA WRITE one into its memory region. The peer is any QP of any vrnic in this kernel.
 * With delay_ns an interrupt does that later (wire.c). Packets are not emulated. Everything
 * that consumers can see of a device is meant to be as on hardware: verbs, ownership of queue
 * slots, order of completions, interrupts, DMA addresses, states, events, retries, and the
 * consequences of breaking the rules.
 *
 * Locks nest in this order:
 *
 *	vrnic_qp.sq_lock	send queue, and (with resp_lock) the state
 *	vrnic_dev.mcast_lock	receivers of a multicast datagram
 *	vrnic_qp.resp_lock	a peer's message is being accepted; the state
 *	vrnic_rq.lock		receives of a QP or of an SRQ
 *	vrnic_qp.hold_lock	completions that a fault holds back
 *	vrnic_cq.lock
 *
 * A QP that executes holds its own sq_lock and its peer's resp_lock, never two of a kind, so
 * that QPs may send to each other, or to themselves, at once. All are taken with interrupts
 * off: verbs may be called from any context.
 *
 * A user of a QP that may be destroyed meanwhile holds a reference (vrnic_qp_get());
 * destroy_qp waits for these. A copy that uses an MR has a user of it (vrnic_mr_get());
 * invalidation waits for these, spinning.
 */
#ifndef _VRNIC_H
#define _VRNIC_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/netdevice.h>
#include <linux/smp.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "compat.h"

#define VRNIC_GIDS	256	/* as many as the RDMA core can tell apart */
#define VRNIC_PORT	1
#define VRNIC_PKEYS	16
#define VRNIC_PKEY_FULL	0x8000

/* Where the subnet administrator is: no port's, and ports come after it */
#define VRNIC_SM_LID	1

/* Bytes of a message, as reported by the port */
#define VRNIC_MAX_MESSAGE	SZ_1G

struct seq_file;
struct vrnic_conn;
struct vrnic_cq;
struct vrnic_cqe;
struct vrnic_dev;
struct vrnic_function;
struct vrnic_iter;
struct vrnic_qp;
struct vrnic_sig;
struct vrnic_srq;
struct vrnic_swqe;

/* ---- params.c ---- */

enum vrnic_link {
	VRNIC_ROCE,
	VRNIC_IB,
	VRNIC_IWARP,
};

/**
 * struct vrnic_config - properties of a device: the module's parameters at its creation, each
 * described there
 */
struct vrnic_config {
	unsigned int link;
	unsigned int vectors;
	unsigned int first_cpu;
	unsigned int max_qp;
	unsigned int max_qp_wr;
	unsigned int max_send_sge;
	unsigned int max_recv_sge;
	unsigned int max_sge_rd;
	unsigned int max_inline;
	unsigned int max_cq;
	unsigned int max_cqe;
	unsigned int max_srq;
	unsigned int max_srq_wr;
	unsigned int max_mr;
	unsigned int max_mr_errno;
	unsigned int max_mr_pages;
	unsigned int mr_us;
	unsigned int max_rd_atom;
	unsigned int ack_lag;
	unsigned int delay_ns;
	u16 pkeys[VRNIC_PKEYS];
	unsigned int nr_pkeys;
	bool sg_gaps;
	bool remote_inv;
	bool integrity;
	bool integrity_mr;
	bool local_dma_lkey;
	bool flush_done;
	bool cq_moderation;
	bool use_cq_dim;
	bool iommu;
};

struct vrnic_config vrnic_config_now(void);

/* ---- counters.c ---- */

/**
 * struct vrnic_counts - of a QP's work
 * @posts_send: calls of post_send, which are doorbells on hardware
 * @posts_recv: calls of post_recv; of the whole device, those of post_srq_recv, too
 * @wr: work requests executed, by enum vrnic_kind
 * @inlined: work requests with inline data, counted as their post is read
 * @signaled: work requests posted that ask for a completion
 * @cqe: completions, by enum vrnic_queue
 * @bytes: payload executed, by enum vrnic_kind
 * @rnr: times that the peer had no receive
 * @lost: times that the peer did not answer
 *
 * Those of the send queue change under sq_lock, those of receives under the
 * lock of the receive queue or, for completions, resp_lock.
 */
struct vrnic_counts {
	u64 posts_send;
	u64 posts_recv;
#define VRNIC_KINDS	7
	u64 wr[VRNIC_KINDS];
	u64 bytes[VRNIC_KINDS];
	u64 inlined;
	u64 signaled;
	u64 cqe[2];
	u64 rnr;
	u64 lost;
};

/* Kinds of work requests, as counted and as faults name them */
enum vrnic_kind {
	VRNIC_SEND,
	VRNIC_WRITE,
	VRNIC_READ,
	VRNIC_REG,
	VRNIC_INV,
	VRNIC_RECV,
	VRNIC_OTHER,
};
static_assert(VRNIC_OTHER + 1 == VRNIC_KINDS);

extern const char *const vrnic_kind_names[VRNIC_KINDS];

enum vrnic_queue {
	VRNIC_SQ,
	VRNIC_RQ,
};

void vrnic_counters_add(struct vrnic_dev *dev, struct vrnic_qp *qp);
void vrnic_counters_make(struct vrnic_dev *dev);

/* ---- strict.c ---- */

void vrnic_violation(struct vrnic_dev *dev, const struct vrnic_qp *qp,
		     const char *fmt, ...) __printf(3, 4);
const char *vrnic_pd_owner(const struct ib_pd *pd);
const char *vrnic_owner(const struct vrnic_qp *qp);

/* ---- fault.c ---- */

/**
 * struct vrnic_faults - pending faults
 * @lock: protects @list
 * @list: of struct vrnic_fault
 * @armed: number of faults; read without @lock
 * @cleared: how often they were cleared; read without @lock
 * @wait: calls that hang until the faults are cleared
 */
struct vrnic_faults {
	spinlock_t lock;
	struct list_head list;
	unsigned int armed;
	unsigned int cleared;
	wait_queue_head_t wait;
};

enum vrnic_fault_point {
	VRNIC_FAULT_WR,
	VRNIC_FAULT_CQE,
	VRNIC_FAULT_POST,
	VRNIC_FAULT_MODIFY,
	VRNIC_FAULT_MAKE,
	VRNIC_FAULT_CORRUPT,
};

/* Objects whose creation a fault may prevent */
enum vrnic_object {
	VRNIC_MAKE_CQ,
	VRNIC_MAKE_SRQ,
	VRNIC_MAKE_QP,
	VRNIC_MAKE_MR,
	VRNIC_MAKE_PD,
	VRNIC_MAKE_AH,
};

enum vrnic_cqe_action {
	VRNIC_CQE_DELAY = 1,
	VRNIC_CQE_REORDER,
	VRNIC_CQE_TWICE,
	VRNIC_CQE_AGAIN,
	VRNIC_CQE_NEVER,
	VRNIC_CQE_OVERRUN,
	VRNIC_CQE_OVERRUN_TOLD,
};

/* Beside the statuses of a work request (enum ib_wc_status) */
enum vrnic_death {
	VRNIC_QP_DIES = 0x100,
	VRNIC_DEVICE_DIES,
};

/* What vrnic_fault() found; @arg is of the fault's own kind */
struct vrnic_fault_hit {
	int action;
	unsigned int arg;
	unsigned int ms;
	bool after;
};

bool __vrnic_fault(struct vrnic_dev *dev, enum vrnic_fault_point point,
		   unsigned int kind, const struct vrnic_qp *qp,
		   const struct vrnic_srq *srq, struct vrnic_fault_hit *hit);
bool vrnic_fault_deadly(struct vrnic_qp *qp, const struct vrnic_fault_hit *hit);
void vrnic_fault_hang(struct vrnic_dev *dev, u32 ms);
void vrnic_faults_init(struct vrnic_dev *dev);
void vrnic_faults_make(struct vrnic_dev *dev);
void vrnic_faults_free(struct vrnic_dev *dev);

/* ---- hold.c ---- */

void __vrnic_complete(struct vrnic_qp *qp, enum vrnic_queue queue,
		      const struct vrnic_cqe *cqe, bool solicited);
void vrnic_hold_init(struct vrnic_qp *qp);
void vrnic_hold_drop(struct vrnic_qp *qp);

/* ---- device.c ---- */

/**
 * struct vrnic_dev - a device
 * @ibdev: in the RDMA core
 * @dma: the device for which memory is mapped for DMA
 * @function: that is this PCI function, behind an IOMMU; NULL: there is none
 * @ndev: the network card that it was created on: its carrier is the port's, and
 *	over RoCE and iWARP its addresses are
 * @entry: in the list of devices
 * @config: its properties
 * @guid: the port's
 * @lid: over InfiniBand
 * @mrs: by the upper 24 bits of their keys
 * @gids: over RoCE, by index, under @gid_lock
 * @gid_lock: see @gids
 * @gsi: QP 1, under RCU
 * @mcast: QPs in multicast groups, under @mcast_lock
 * @mcast_lock: protects @mcast
 * @up: the port was up at the last check
 * @port_off: the port was set down by hand
 * @dead: by a fault: nothing is executed any more; queued work completes only
 *	when its QP goes into the error state, which the driver itself does
 * @die_work: reports it
 * @nr_qps, @nr_cqs, @nr_srqs, @nr_mrs: numbers of present objects
 * @qps, @cqs, @srqs: all, for the counters, under @obj_lock
 * @obj_lock: protects @qps, @cqs, @srqs, @gone
 * @gone: counts of QPs and SRQs that are destroyed
 * @gone_cq: arms, events, polls, completions, moderations of CQs that are destroyed
 * @violations: number of broken rules
 * @bad_pkeys: number of messages dropped for their P_Key
 * @faults: pending faults
 * @dir: in debugfs
 */
struct vrnic_dev {
	struct ib_device ibdev;
	struct device *dma;
	struct vrnic_function *function;
	struct net_device *ndev;
	netdevice_tracker ndev_tracker;
	struct list_head entry;
	struct vrnic_config config;
	u64 guid;
	u16 lid;
	struct xarray mrs;
	u32 next_mr;
	union ib_gid gids[VRNIC_GIDS];
	spinlock_t gid_lock;
	struct vrnic_qp __rcu *gsi;
	struct list_head mcast;
	spinlock_t mcast_lock;
	bool up;
	bool port_off;
	bool dead;
	struct work_struct die_work;
	atomic_t nr_qps;
	atomic_t nr_cqs;
	atomic_t nr_srqs;
	atomic_t nr_mrs;
	struct list_head qps;
	struct list_head cqs;
	struct list_head srqs;
	struct mutex obj_lock;
	struct vrnic_counts gone;
	u64 gone_cq[5];
	atomic_t violations;
	atomic_t bad_pkeys;
	struct vrnic_faults faults;
	struct dentry *dir;
};

static inline struct vrnic_dev *to_vdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct vrnic_dev, ibdev);
}

static inline bool vrnic_is_iwarp(const struct vrnic_dev *dev)
{
	return dev->config.link == VRNIC_IWARP;
}

enum rdma_driver_id vrnic_driver_id(void);
int vrnic_newlink(const char *name, struct net_device *ndev);
void vrnic_port_update(struct vrnic_dev *dev);
struct vrnic_dev *vrnic_find_by_gid(const union ib_gid *gid);
struct vrnic_dev *vrnic_find_by_lid(u16 lid);
bool vrnic_has_gid(struct vrnic_dev *dev, const union ib_gid *gid);
int vrnic_set_pkey(struct vrnic_dev *dev, u32 index, u32 pkey);
void vrnic_each_device(void (*what)(struct vrnic_dev *dev, void *arg), void *arg);
extern struct workqueue_struct *vrnic_wq;
extern struct dentry *vrnic_debugfs;

/**
 * vrnic_fault() - whether a fault happens here
 * @dev: the device
 * @point: the place of the call
 * @kind: enum vrnic_kind, enum vrnic_queue or enum vrnic_object
 * @qp: its QP, or NULL
 * @hit: the fault
 *
 * Return: whether @hit was filled in
 */
static inline bool vrnic_fault(struct vrnic_dev *dev,
			       enum vrnic_fault_point point, unsigned int kind,
			       const struct vrnic_qp *qp,
			       struct vrnic_fault_hit *hit)
{
	return unlikely(READ_ONCE(dev->faults.armed)) &&
	       __vrnic_fault(dev, point, kind, qp, NULL, hit);
}

/* The same for a call of post_srq_recv */
static inline bool vrnic_fault_srq(struct vrnic_dev *dev, const struct vrnic_srq *srq,
				   struct vrnic_fault_hit *hit)
{
	return unlikely(READ_ONCE(dev->faults.armed)) &&
	       __vrnic_fault(dev, VRNIC_FAULT_POST, VRNIC_RECV, NULL, srq, hit);
}

/* ---- event.c ---- */

void vrnic_event_qp(struct vrnic_qp *qp, enum ib_event_type type);
void vrnic_event_cq(struct vrnic_cq *cq, enum ib_event_type type, u32 after_us);
void vrnic_event_srq(struct ib_srq *srq, enum ib_event_type type);
void vrnic_event_dev(struct vrnic_dev *dev, enum ib_event_type type);

/* ---- moder.c ---- */

/* As mlx5 has it: microseconds, and completions */
#define VRNIC_MAX_CQ_PERIOD	4095
#define VRNIC_MAX_CQ_COUNT	U16_MAX

/**
 * struct vrnic_moder - moderation of a CQ's interrupts, under the CQ's lock
 * @count: completions of an interrupt; 0: no moderation
 * @period: microseconds after the first of them when it comes at the latest
 * @held: completions that have to interrupt and have not yet; only while the CQ is armed
 * @first: when the first of them came
 * @timer: for the end of the period
 * @calls: calls of modify_cq
 */
struct vrnic_moder {
	u16 count;
	u16 period;
	u32 held;
	ktime_t first;
	struct hrtimer timer;
	u64 calls;
};

extern const struct ib_device_ops vrnic_moder_ops;
void vrnic_moder_init(struct vrnic_cq *cq);
bool vrnic_moder_add(struct vrnic_cq *cq);

/* ---- cq.c ---- */

/**
 * struct vrnic_cqe - a completion in its queue
 * @wc: as the consumer gets it
 * @qp: its QP
 * @credit: slots that return to the consumer when it has seen this: of the send
 *	queue, all up to this one; of receives, a number: none with a second copy
 * @queue: which of the QP's queues
 */
struct vrnic_cqe {
	struct ib_wc wc;
	struct vrnic_qp *qp;
	u32 credit;
	u8 queue;
};

/**
 * struct vrnic_cq - a completion queue
 * @ibcq: in the RDMA core
 * @entry: among the device's
 * @lock: protects the members below
 * @ring: its length is a power of two
 * @mask: to find a slot in it
 * @limit: maximum number of completions
 * @head: of the next completion
 * @tail: of the next one to be polled
 * @armed: as req_notify_cq has it, or 0
 * @overrun: a completion was lost for lack of room
 * @moder: moderation of its interrupts
 * @due: among the queues that a CPU has to be interrupted for
 * @is_due: it is in that list
 * @calls: calls of comp_handler, pending or running
 * @cpu: that takes the interrupt
 * @owner: the module whose QP was the last to use it, under obj_lock
 * @arms, @events, @polls, @cqes: counts
 */
struct vrnic_cq {
	struct ib_cq ibcq;
	struct list_head entry;
	spinlock_t lock;
	struct vrnic_cqe *ring;
	u32 mask;
	u32 limit;
	u32 head;
	u32 tail;
	u8 armed;
	bool overrun;
	struct vrnic_moder moder;
	struct llist_node due;
	atomic_t is_due;
	atomic_t calls;
	int cpu;
	char owner[24];
	u64 arms;
	u64 events;
	u64 polls;
	u64 cqes;
};

static inline struct vrnic_cq *to_vcq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct vrnic_cq, ibcq);
}

void vrnic_cqs_init(void);
void vrnic_cqs_exit(void);
int vrnic_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct vrnic_cq_udata *udata);
int vrnic_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int vrnic_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc);
int vrnic_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
const struct cpumask *vrnic_vector_affinity(struct ib_device *ibdev, int vector);
void vrnic_cq_interrupt(struct vrnic_cq *cq);
void vrnic_cq_fail(struct vrnic_cq *cq, const struct vrnic_cqe *cqe, u32 after_us);
void vrnic_cq_add(struct vrnic_cq *cq, const struct vrnic_cqe *cqe,
		  bool solicited);
void vrnic_cq_used(struct vrnic_cq *cq, const struct vrnic_qp *qp);
void vrnic_cq_clean(struct vrnic_cq *cq, const struct vrnic_qp *qp);

/* ---- rq.c ---- */

/* A receive; @sge of as many as the queue allows */
struct vrnic_rwqe {
	u64 wr_id;
	u32 num_sge;
	struct ib_sge sge[];
};

/**
 * struct vrnic_rq - receives, of a QP or of an SRQ
 * @lock: protects all but @held
 * @ring: of a power of two, each @stride bytes
 * @mask, @stride: to find a place in it
 * @size: how many receives the consumer may have posted
 * @max_sge: of each
 * @head: of the next one to be posted
 * @tail: of the next one to be taken
 * @held: posted, and the consumer has not polled their completions
 */
struct vrnic_rq {
	spinlock_t lock;
	void *ring;
	u32 mask;
	u32 stride;
	u32 size;
	u32 max_sge;
	u32 head;
	u32 tail;
	atomic_t held;
};

/**
 * struct vrnic_srq - a shared receive queue
 * @ibsrq: in the RDMA core
 * @entry: among the device's
 * @rq: its receives
 * @limit: below this number of receives an event is raised, once; 0: none
 * @posts: calls of post_srq_recv
 *
 * @limit and @posts change under @rq's lock.
 */
struct vrnic_srq {
	struct ib_srq ibsrq;
	struct list_head entry;
	struct vrnic_rq rq;
	u32 limit;
	u64 posts;
};

static inline struct vrnic_srq *to_vsrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct vrnic_srq, ibsrq);
}

int vrnic_rq_init(struct vrnic_rq *rq, u32 size, u32 max_sge);
void vrnic_rq_free(struct vrnic_rq *rq);
const struct vrnic_rwqe *vrnic_rq_take(struct vrnic_rq *rq);
int vrnic_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad);
int vrnic_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad);
void vrnic_rq_flush(struct vrnic_qp *qp);
int vrnic_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr,
		     struct ib_udata *udata);
int vrnic_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int vrnic_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int vrnic_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
const struct vrnic_rwqe *vrnic_srq_take(struct vrnic_srq *srq);

/* ---- mr.c ---- */

enum vrnic_mr_state {
	VRNIC_MR_FREE,		/* not registered; a REG_MR may */
	VRNIC_MR_VALID,
};

/**
 * struct vrnic_mr - a memory region
 * @ibmr: in the RDMA core
 * @index: of its keys
 * @serial: which of all that there ever were, of any device
 * @state: see enum vrnic_mr_state
 * @users: copies under way
 * @key: the one that is registered; @ibmr has that of the next registration
 * @access: as registered
 * @all: all of memory: one of get_dma_mr
 * @max: entries of @page and @seg_len
 * @iova, @length: of what is registered
 * @shift: of its pages
 * @page: DMA addresses of pages as registered (or of segments, over SG_GAPS)
 * @seg_len: over SG_GAPS, how long each is
 * @map_n, @map_page, @map_len: as of map_mr_sg, for the next registration
 * @gaps: of IB_MR_TYPE_SG_GAPS
 * @sig: of IB_MR_TYPE_INTEGRITY: sig.c has it; otherwise NULL
 */
struct vrnic_mr {
	struct ib_mr ibmr;
	u32 index;
	u32 serial;
	enum vrnic_mr_state state;
	atomic_t users;
	u32 key;
	int access;
	bool all;
	bool gaps;
	u32 max;
	u64 iova;
	u64 length;
	u32 shift;
	u64 *page;
	u32 *seg_len;
	u32 map_n;
	u64 *map_page;
	u32 *map_len;
	struct vrnic_sig *sig;
};

static inline struct vrnic_mr *to_vmr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct vrnic_mr, ibmr);
}

struct ib_mr *vrnic_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_sg);
struct ib_mr *vrnic_alloc_mr_integrity(struct ib_pd *pd, u32 max_data,
				       u32 max_meta);
struct ib_mr *vrnic_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *vrnic_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				u64 virt_addr, int access, VRNIC_DMAH
				struct ib_udata *udata);
int vrnic_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
int vrnic_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
		    unsigned int *offset);
struct vrnic_mr *vrnic_mr_get(struct vrnic_qp *qp, u32 key, u64 addr, u32 len,
			      int access, const char *use);
static inline void vrnic_mr_put(struct vrnic_mr *mr)
{
	atomic_dec_return_release(&mr->users);
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_enable();
}
enum ib_wc_status vrnic_mr_register(struct vrnic_qp *qp,
				    const struct vrnic_swqe *wqe);
bool vrnic_mr_invalidate(struct vrnic_qp *qp, u32 key, bool remote);

/* ---- sig.c ---- */

struct vrnic_sig *vrnic_sig_alloc(u32 data, u32 meta);
void vrnic_sig_free(struct vrnic_sig *sig);
int vrnic_map_mr_sg_pi(struct ib_mr *ibmr, struct scatterlist *data_sg,
		       int data_nents, unsigned int *data_offset,
		       struct scatterlist *meta_sg, int meta_nents,
		       unsigned int *meta_offset);
int vrnic_check_mr_status(struct ib_mr *ibmr, u32 mask,
			  struct ib_mr_status *status);
bool vrnic_sig_post(struct vrnic_qp *qp, struct vrnic_mr *mr);
void vrnic_sig_register(struct vrnic_mr *mr);
bool vrnic_sig_begin(struct vrnic_iter *it);
bool vrnic_sig_run(struct vrnic_iter *it);
void vrnic_sig_end(struct vrnic_iter *it);

/* ---- iommu.c ---- */

int vrnic_iommu_init(void);
void vrnic_iommu_exit(void);
struct device *vrnic_iommu_claim(struct vrnic_dev *dev);
void vrnic_iommu_release(struct vrnic_dev *dev);
u64 vrnic_iommu_find(const struct vrnic_function *f, u64 addr, bool write, u64 *phys,
		     const char **why);

/* ---- mem.c ---- */

/* Whether a local key is that of all memory, if the device has one */
static inline bool vrnic_is_dma_lkey(const struct vrnic_dev *dev, u32 key)
{
	return key == dev->ibdev.local_dma_lkey && dev->config.local_dma_lkey;
}

/**
 * struct vrnic_iter - walks the memory that work requests name, by runs that are contiguous in
 * the kernel's own addresses
 * @qp: owner of the keys
 * @sge: the SGEs after @mr or @run
 * @num_sge: number of these
 * @access: the required access
 * @remote: by a peer
 * @failed: its memory is not good, or not enough
 * @again: a second walk, which signature regions do not allow
 * @use: for violations: "SEND", for example
 * @mr: being walked, or NULL; with a user of ours
 * @addr, @left: the part of @mr after the run; without @mr, of an SGE of all memory's key
 * @seg: over SG_GAPS, the segment after the one of the run
 * @seg_start, @seg_end: the run's segment, as offsets into @mr
 * @run, @run_len: the run
 * @piece: of a signature region, length of the run
 * @corrupt: flip a bit of that byte from here once it is written, counted from 1; 0: none
 */
struct vrnic_iter {
	struct vrnic_qp *qp;
	const struct ib_sge *sge;
	u32 num_sge;
	int access;
	bool remote;
	bool failed;
	bool again;
	const char *use;
	struct vrnic_mr *mr;
	u64 addr;
	u32 left;
	u32 seg;
	u64 seg_start;
	u64 seg_end;
	void *run;
	u32 run_len;
	u32 piece;
	u32 corrupt;
};

void *vrnic_mem_at(struct vrnic_iter *it, u64 addr, u32 *len);
bool vrnic_iter_next(struct vrnic_iter *it);
void vrnic_iter_end(struct vrnic_iter *it);
void vrnic_memcpy(void *to, const void *from, u32 len);
enum ib_wc_status vrnic_copy_on(struct vrnic_iter *to, struct vrnic_iter *from,
				u32 len);
enum ib_wc_status vrnic_copy(struct vrnic_iter *to, struct vrnic_iter *from,
			     u32 len);
bool vrnic_iter_hash(struct vrnic_iter *it, u32 head, u32 hash[2]);
bool vrnic_iter_peek(struct vrnic_iter *it, u32 at, void *to, u32 len);

/* ---- qp.c ---- */

/**
 * struct vrnic_swqe - a work request of the send queue
 * @wr_id: the consumer's
 * @opcode, @flags: its, too
 * @kind: of @opcode
 * @num_sge: of @sge; 0 if the data is inline
 * @len: of its data
 * @imm: immediate data, or the key to invalidate
 * @status: once executed
 * @hash: of its data when it was executed, if it is not acknowledged at once, or when
 *	it had to wait: of the first 64 bytes, and of the rest
 * @hashed: @hash is there
 * @command: of an NVMe host, whether it is answered: lag.c has it
 * @tried: there was a try to execute it, which is when it meets a fault
 * @stalled: it waits for the answer to a READ before it goes on the wire
 * @at: with a wire: when it arrives; once executed, when its acknowledgment is back
 * @fault: a status to end with when it has had its effect
 * @sge: as many as the queue allows; inline data stands in their place
 */
struct vrnic_swqe {
	u64 wr_id;
	enum ib_wr_opcode opcode;
	enum vrnic_kind kind;
	u32 flags;
	u32 num_sge;
	u32 len;
	__be32 imm;
	enum ib_wc_status status;
	u32 hash[2];
	u32 command;
	enum ib_wc_status fault;
	bool tried;
	bool hashed;
	bool inlined;
	bool stalled;
	ktime_t at;
	union {
		struct {
			u64 remote_addr;
			u32 rkey;
		} rdma;
		struct {
			u32 index;
			u32 serial;
			u32 key;
			int access;
		} reg;
		struct {
			struct vrnic_ah *ah;
			u32 qpn;
			u32 qkey;
			u16 pkey_index;
		} ud;
	};
	struct ib_sge sge[];
};

/**
 * struct vrnic_hold - completions of one queue that a fault holds back
 * @cqe: them, in order
 * @n: how many
 * @max: that there is room for
 * @until: they come then, at the latest
 * @delay: and not before
 * @reorder: after it, as soon as the other queue has one
 */
struct vrnic_hold {
	struct vrnic_cqe *cqe;
	u32 n;
	u32 max;
	ktime_t until;
	ktime_t delay;
	bool reorder;
};

/**
 * struct vrnic_wire - the wire of a QP, under its sq_lock
 * @delay: nanoseconds that a message takes; 0: there is no wire
 * @reads: READs whose answers are not back
 * @failed: a work request has failed, and the news of it is on its way back
 * @now: the time, as of the current look at the wire
 * @last: when the last acknowledgment will be back
 * @tell: when the next acknowledgment that matters will be back, or KTIME_MAX
 * @timer: for the next arrival in either direction
 */
struct vrnic_wire {
	u32 delay;
	u32 reads;
	bool failed;
	ktime_t now;
	ktime_t last;
	ktime_t tell;
	struct hrtimer timer;
};

/**
 * struct vrnic_qp - a queue pair
 * @ibqp: in the RDMA core
 * @dev: the device
 * @entry: among the device's
 * @refs: see vrnic_qp_get()
 * @freed: the last of @refs was released
 * @sq_lock: protects the members that start with sq_
 * @resp_lock: held while a peer's message is being accepted; with @sq_lock, it
 *	protects @state
 * @state: see modify_qp
 * @attr: as modified
 * @cap: as created
 * @sq_ring, @sq_mask, @sq_stride: the send queue
 * @sq_head: of the next work request to be posted
 * @sq_next: of the next one to be executed
 * @sq_acked: of the next one to be completed
 * @sq_told: of the one behind the last that had a completion
 * @sq_polled: of the first slot that has not returned to the consumer
 * @sq_all: all work requests are signaled
 * @sq_waits: nothing is executed until @timer
 * @peer, @peer_gone: see vrnic_qp_find_peer(); under @sq_lock
 * @rnr_left, @retry_left: remaining attempts
 * @good_memory: a subsection of memory that exists, see is_good()
 * @timer: for the next attempt
 * @ack_timer: acknowledges the rest
 * @wire: to the peer
 * @rq: its own receives, unless it has an SRQ
 * @resp_dead: no message is accepted any more; under @resp_lock
 * @comm_est: the event is raised
 * @die: goes into the error state as soon as it can
 * @die_event: the event for its consumer then
 * @conn: over iWARP, the connection; under vrnic_iw_lock
 * @iw_work: reports that the QP failed
 * @held: @hold may not be empty
 * @hold: completions that a fault holds back, under @hold_lock
 * @hold_timer: for the first of them
 * @lost: slots of receives whose completions were lost, see vrnic_cqe_lost()
 * @counts: see there
 */
struct vrnic_qp {
	struct ib_qp ibqp;
	struct vrnic_dev *dev;
	struct list_head entry;
	refcount_t refs;
	struct completion freed;

	spinlock_t sq_lock;
	spinlock_t resp_lock;
	enum ib_qp_state state;
	struct ib_qp_attr attr;
	struct ib_qp_cap cap;
	bool sq_all;
	bool sq_waits;
	bool resp_dead;
	bool comm_est;

	void *sq_ring;
	u32 sq_mask;
	u32 sq_stride;
	u32 sq_head;
	u32 sq_next;
	u32 sq_acked;
	u32 sq_told;
	u32 sq_polled;
	u8 rnr_left;
	u8 retry_left;
	struct vrnic_qp *peer;
	unsigned long peer_gone;
	u64 good_memory;
	struct hrtimer timer;
	struct hrtimer ack_timer;
	struct vrnic_wire wire;

	struct vrnic_rq rq;
	struct irq_work die;
	enum ib_event_type die_event;

	struct vrnic_conn *conn;
	struct work_struct iw_work;

	bool held;
	spinlock_t hold_lock;
	struct vrnic_hold hold[2];
	struct hrtimer hold_timer;
	atomic_t lost;

	struct vrnic_counts counts;
};

static inline struct vrnic_qp *to_vqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct vrnic_qp, ibqp);
}

static inline struct vrnic_swqe *vrnic_swqe(const struct vrnic_qp *qp, u32 i)
{
	return qp->sq_ring + (size_t)(i & qp->sq_mask) * qp->sq_stride;
}

/**
 * vrnic_complete() - deliver a completion of a QP
 * @qp: the QP
 * @queue: which of its queues
 * @cqe: the completion
 * @solicited: also interrupts for consumers that requested solicited completions only
 *
 * Context: any; interrupts are off. One at a time for each queue.
 */
static inline void vrnic_complete(struct vrnic_qp *qp, enum vrnic_queue queue,
				  const struct vrnic_cqe *cqe, bool solicited)
{
	struct ib_cq *cq = queue == VRNIC_SQ ? qp->ibqp.send_cq : qp->ibqp.recv_cq;

	qp->counts.cqe[queue]++;
	if (unlikely(READ_ONCE(qp->dev->faults.armed) || READ_ONCE(qp->held)))
		__vrnic_complete(qp, queue, cqe, solicited);
	else
		vrnic_cq_add(to_vcq(cq), cqe, solicited);
}

/**
 * vrnic_cqe_lost() - the consumer will never see a completion
 * @cqe: it
 *
 * A receive's place stays taken as long as the QP is there, as on hardware. An SRQ
 * outlives the QP and has it back then.
 *
 * Context: any.
 */
static inline void vrnic_cqe_lost(const struct vrnic_cqe *cqe)
{
	if (cqe->queue == VRNIC_RQ)
		atomic_add(cqe->credit, &cqe->qp->lost);
}

struct vrnic_qp *vrnic_qp_find(u32 qpn);
struct vrnic_qp *vrnic_qp_find_peer(struct vrnic_qp *qp);
int vrnic_qp_next(u32 qpn);
static inline bool vrnic_qp_get(struct vrnic_qp *qp)
{
	return refcount_inc_not_zero(&qp->refs);
}
static inline void vrnic_qp_put(struct vrnic_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs))
		complete(&qp->freed);
}
void vrnic_qp_error(struct vrnic_qp *qp);

/* Not an event: a receive's completion reports the error */
#define VRNIC_NO_EVENT	((enum ib_event_type)-1)

void vrnic_qp_die(struct vrnic_qp *qp, enum ib_event_type event);
int vrnic_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		    struct ib_udata *udata);
int vrnic_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);
int vrnic_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);
int vrnic_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);

/* ---- send.c ---- */

/* Not a status of a completion: try again later */
#define VRNIC_RETRY_RNR		((enum ib_wc_status)-1)
#define VRNIC_RETRY_LOST	((enum ib_wc_status)-2)

int vrnic_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad);
void vrnic_sq_run(struct vrnic_qp *qp);
void vrnic_sq_ack(struct vrnic_qp *qp, u32 keep);
void vrnic_source(struct vrnic_iter *it, struct vrnic_qp *qp,
		  const struct vrnic_swqe *wqe, const char *use);

/* ---- wire.c ---- */

void vrnic_wire_init(struct vrnic_qp *qp);
void vrnic_wire_posted(struct vrnic_qp *qp, u32 first);
void vrnic_wire_begin(struct vrnic_qp *qp);
bool vrnic_wire_arrived(struct vrnic_qp *qp, struct vrnic_swqe *wqe);
void vrnic_wire_executed(struct vrnic_qp *qp, struct vrnic_swqe *wqe);
bool vrnic_wire_answered(struct vrnic_qp *qp, const struct vrnic_swqe *wqe);
void vrnic_wire_next(struct vrnic_qp *qp);
void vrnic_wire_hurry(struct vrnic_qp *qp);
void vrnic_wire_reset(struct vrnic_qp *qp);

/* ---- lag.c ---- */

void vrnic_lag_begin(struct vrnic_qp *qp, struct vrnic_swqe *wqe);
void vrnic_lag_remember(struct vrnic_qp *qp, struct vrnic_swqe *wqe);
void vrnic_lag_wait(struct vrnic_qp *qp);
void vrnic_lag_check(struct vrnic_qp *qp, const struct vrnic_swqe *wqe, const char *end);
void vrnic_lag_heard(struct vrnic_qp *qp, const struct vrnic_rwqe *recv, u32 len);

/* ---- rc.c ---- */

struct vrnic_qp *vrnic_rc_peer(struct vrnic_qp *qp);
enum ib_wc_status vrnic_rc_send(struct vrnic_qp *qp, struct vrnic_qp *peer,
				struct vrnic_swqe *wqe);
enum ib_wc_status vrnic_rc_write(struct vrnic_qp *qp, struct vrnic_qp *peer,
				 struct vrnic_swqe *wqe);
enum ib_wc_status vrnic_rc_read(struct vrnic_qp *qp, struct vrnic_qp *peer,
				struct vrnic_swqe *wqe);

/* ---- iwarp.c and iw_conn.c; iwarp.h has the part shared with iw_listen.c ---- */

extern const struct ib_device_ops vrnic_iwarp_ops;
void vrnic_iw_init_qp(struct vrnic_qp *qp);
void vrnic_iw_broke(struct vrnic_qp *qp);
void vrnic_iw_end(struct vrnic_qp *qp);
bool vrnic_iw_reset(const struct vrnic_qp *qp);

/* ---- ud.c ---- */

/**
 * struct vrnic_ah - an address
 * @ibah: in the RDMA core
 * @sgid, @dgid: of the global route, if @grh
 * @dlid: over InfiniBand
 * @grh: there is a global route
 * @attr: as made, for query_ah
 */
struct vrnic_ah {
	struct ib_ah ibah;
	union ib_gid sgid;
	union ib_gid dgid;
	u16 dlid;
	u8 sl;
	u8 hop_limit;
	u8 tclass;
	u32 flow;
	bool grh;
	struct rdma_ah_attr attr;
};

static inline struct vrnic_ah *to_vah(struct ib_ah *ibah)
{
	return container_of(ibah, struct vrnic_ah, ibah);
}

/* A QP in a multicast group */
struct vrnic_member {
	struct list_head entry;
	struct vrnic_qp *qp;
	union ib_gid gid;
};

/**
 * struct vrnic_datagram - a datagram's attributes
 * @src_qp: the sender's QP
 * @slid: the sender's LID
 * @sl: service level
 * @pkey: its partition
 * @len: length of its data
 * @imm: immediate data, if @with_imm
 * @solicited: requested by its sender
 * @grh: @header holds a global route header
 * @type: type of @header, over RoCE
 * @header: the start of the received data
 */
struct vrnic_datagram {
	u32 src_qp;
	u16 slid;
	u8 sl;
	u16 pkey;
	u32 len;
	__be32 imm;
	bool with_imm;
	bool solicited;
	bool grh;
	enum rdma_network_type type;
#define VRNIC_GRH_BYTES	40
	u8 header[VRNIC_GRH_BYTES];
};

/* Of one partition, and not both only limited members of it */
static inline bool vrnic_pkeys_match(u16 a, u16 b)
{
	return !((a ^ b) & ~VRNIC_PKEY_FULL) && (a | b) & VRNIC_PKEY_FULL;
}

void vrnic_ud_send(struct vrnic_qp *qp, struct vrnic_swqe *wqe);
void vrnic_ud_deliver(struct vrnic_qp *to, const struct vrnic_datagram *d,
		      struct vrnic_iter *from);
int vrnic_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int vrnic_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *attr,
		    struct ib_udata *udata);
int vrnic_destroy_ah(struct ib_ah *ibah, u32 flags);
int vrnic_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int vrnic_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

/* ---- sa.c; sa.h has the part shared with sa_mcast.c ---- */

void vrnic_sa_make(void);
void vrnic_sa_free(void);
void vrnic_sa_take(struct vrnic_qp *qp, const struct vrnic_swqe *wqe, u16 pkey);

#endif
