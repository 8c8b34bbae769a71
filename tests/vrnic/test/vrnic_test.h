/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vrnic_test: the virtual RNIC's own tests, a consumer of verbs that follows the rules, and
 * breaks them in certain tests.
 *
 * Writing "GROUP DEVICE [DEVICE]" to the file "run" of the directory vrnic_test in debugfs
 * runs a group of tests. The results are then in "results": a line for each check, "ok - NAME"
 * or "not ok - NAME: expected ..., came ...", and a last one, "N passed, N failed".
 *
 * After each test the kernel's log is read: a violation that the device reported and that no
 * check expected is a failure, and so is an expected violation that was not reported
 * (vt_violations()).
 *
 * One group runs at a time, in the context of the writer; checks are made there. A shell reads
 * the commands that a test requests from the file "command", and writes their status to
 * "answer".
 */
#ifndef _VRNIC_TEST_H
#define _VRNIC_TEST_H

#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <linux/hardirq.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#include "vrnic.h"

/* ---- main.c ---- */

/**
 * struct vt_dev - a device, as the RDMA core has reported it
 * @ibdev: the device
 * @entry: in the list of devices
 * @users: running tests; the device may be removed when there are none
 * @unused: there are no @users
 * @going: the core is removing it
 */
struct vt_dev {
	struct ib_device *ibdev;
	struct list_head entry;
	refcount_t users;
	struct completion unused;
	struct completion going;
};

/**
 * struct vt_devs - the devices of a group of tests
 * @a, @b: the devices of the two ends; the same, if the run names only one
 * @dev: the same, as the core has reported them
 */
struct vt_devs {
	struct ib_device *a;
	struct ib_device *b;
	struct vt_dev *dev[2];
};

/**
 * struct vt_test - a test
 * @name: its name
 * @run: runs it, and makes its checks
 */
struct vt_test {
	const char *name;
	void (*run)(struct vt_devs *d);
};

/* The groups: each ends with an empty test */
extern const struct vt_test vt_data[], vt_data_mr[], vt_load[], vt_completion[],
	vt_first_cpu[], vt_slots[], vt_states[], vt_rnr[], vt_keys[],
	vt_reg_rules[], vt_inval[], vt_srq[], vt_ud[], vt_lag[], vt_faults[],
	vt_limits[], vt_limits_none[], vt_events[], vt_die[], vt_removal_link[],
	vt_removal_card[], vt_counters[], vt_cost[], vt_sig[], vt_sig_err[],
	vt_sig_rules[], vt_iwarp[], vt_refuse[], vt_flush_done[],
	vt_at_once[], vt_wire[], vt_wire_fail[], vt_wire_lag[], vt_moderation[],
	vt_moderation_none[], vt_dim[], vt_iommu[], vt_iommu_leave[],
	vt_iommu_clear[];

/* ---- report.c ---- */

bool vt_report(bool good, const char *result, const char *fmt, ...) __printf(3, 4);
bool vt_equal(u64 want, u64 got, const char *fmt, ...) __printf(3, 4);
bool vt_is_status(enum ib_wc_status want, enum ib_wc_status got,
		  const char *fmt, ...) __printf(3, 4);
bool vt_at_least(u64 least, u64 got, const char *fmt, ...) __printf(3, 4);
bool vt_at_most(u64 most, u64 got, const char *fmt, ...) __printf(3, 4);
void vt_violations(unsigned int n, const char *pattern, const char *fmt, ...)
	__printf(3, 4);
void vt_tell(const char *fmt, ...) __printf(1, 2);
void vt_report_begin(void);
void vt_report_end(void);
void vt_report_test_end(const char *name);
struct seq_file;
void vt_report_show(struct seq_file *s);

/* Whether @cond holds */
#define vt_ok(cond, ...)	vt_equal(true, !!(cond), __VA_ARGS__)

/* Wait until @cond holds, ten seconds at most; whether it does */
#define vt_until(cond) ({						\
	ktime_t _end = ktime_add_ms(ktime_get(), 10000);		\
	bool _good;							\
	while (!(_good = (cond)) && ktime_before(ktime_get(), _end))	\
		usleep_range(50, 200);					\
	_good; })

/*
 * vt_timers_off() - keep timers and interrupts from this CPU. With PREEMPT_RT posting takes locks
 * that sleep, and timers are softirqs; interrupts go on there.
 */
#ifdef CONFIG_PREEMPT_RT
#define vt_timers_off(flags)	do { (flags) = 0; local_bh_disable(); } while (0)
#define vt_timers_on(flags)	do { (void)(flags); local_bh_enable(); } while (0)
#else
#define vt_timers_off(flags)	local_irq_save(flags)
#define vt_timers_on(flags)	local_irq_restore(flags)
#endif

/* Is this an interrupt of the device, a thread with PREEMPT_RT? */
static inline bool vt_in_interrupt(void)
{
	return IS_ENABLED(CONFIG_PREEMPT_RT) ? !strncmp(current->comm, "irq_work/", 9) :
	       in_hardirq();
}

/* ---- verbs.c ---- */

/**
 * struct vt_cq - a completion queue
 * @cq: the queue
 * @called: number of its interrupts
 * @errors: number of reported errors
 * @cpu: CPU of the last interrupt
 * @hard: that was a hard interrupt
 */
struct vt_cq {
	struct ib_cq *cq;
	atomic_t called;
	atomic_t errors;
	int cpu;
	bool hard;
};

/*
 * Interrupts of @cq so far; waits for @n of them where they are a thread's, which a busy machine
 * delays
 */
static inline int vt_called(struct vt_cq *cq, int n)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		(void)vt_until(atomic_read(&cq->called) >= n);
	return atomic_read(&cq->called);
}

/**
 * struct vt_opt - options of an end; 0 means a default
 * @send_wr, @recv_wr, @send_sge, @recv_sge, @inlined: as in ib_qp_cap
 * @cqe: completions of each CQ
 * @sig_all: all work requests are signaled
 * @integrity: the QP supports signature regions
 * @vector: of its CQs
 * @min_rnr_timer, @rnr_retry, @retry_cnt, @timeout: as in ib_qp_attr
 * @no_retry: @rnr_retry and @retry_cnt are 0, not their defaults
 * @no_reads, @no_answers: RDMA READs that it starts, or answers, at once are 0,
 *	not 2
 * @access: of the QP; the default is all
 * @type: of the QP; the default is RC
 * @pd: instead of one of its own
 * @scq, @rcq: instead of its own
 * @srq: source of its receives
 */
struct vt_opt {
	u32 send_wr;
	u32 recv_wr;
	u32 send_sge;
	u32 recv_sge;
	u32 inlined;
	u32 cqe;
	bool sig_all;
	bool integrity;
	int vector;
	u8 min_rnr_timer;
	u8 rnr_retry;
	u8 retry_cnt;
	u8 timeout;
	bool no_retry;
	bool no_reads;
	bool no_answers;
	int access;
	enum ib_qp_type type;
	struct ib_pd *pd;
	struct vt_cq *scq;
	struct vt_cq *rcq;
	struct ib_srq *srq;
};

#define VT_EVENTS	32

/**
 * struct vt_end - one end of a connection
 * @opt: as requested, with the defaults filled in
 * @dev: its device
 * @pd, @scq, @rcq, @qp: its objects
 * @own: which of these it created itself
 * @events: number of the QP's events of each kind
 */
struct vt_end {
	struct vt_opt opt;
	struct ib_device *dev;
	struct ib_pd *pd;
	struct vt_cq *scq;
	struct vt_cq *rcq;
	struct ib_qp *qp;
	struct {
		struct ib_pd *pd;
		struct vt_cq scq;
		struct vt_cq rcq;
	} own;
	atomic_t events[VT_EVENTS];
};

/**
 * struct vt_pair - two ends, connected
 * @a: one, which does most of the sending
 * @b: the other
 */
struct vt_pair {
	struct vt_end a;
	struct vt_end b;
};

int vt_cq_make(struct vt_cq *cq, struct ib_device *dev, int cqe, int vector);
void vt_cq_free(struct vt_cq *cq);
int vt_end_make(struct vt_end *e, struct ib_device *dev, const struct vt_opt *opt);
void vt_end_free(struct vt_end *e);
void vt_events_were(struct vt_end *e, int n, enum ib_event_type type,
		    const char *fmt, ...) __printf(4, 5);
int vt_gid(struct ib_device *dev, int family, union ib_gid *gid);
int vt_to_init(struct vt_end *e);
int vt_to_rtr(struct vt_end *e, struct vt_end *peer);
int vt_to_rts(struct vt_end *e);
int vt_to(struct vt_end *e, enum ib_qp_state state);
int vt_connect(struct vt_end *a, struct vt_end *b);
int vt_pair_make(struct vt_pair *p, struct vt_devs *d, const struct vt_opt *opt);
void vt_pair_free(struct vt_pair *p);
enum ib_qp_state vt_state(struct vt_end *e);

static inline int vt_event(struct vt_end *e, enum ib_event_type type)
{
	return atomic_read(&e->events[type]);
}

/* ---- work.c ---- */

/**
 * struct vt_buf - memory in one piece, mapped for a device
 * @dev: it
 * @va: the memory
 * @len: its length
 * @dma: its address for the device
 */
struct vt_buf {
	struct ib_device *dev;
	u8 *va;
	u32 len;
	u64 dma;
};

/**
 * struct vt_mem - memory of single pages, mapped for a device
 * @dev: it
 * @va: the memory in one piece
 * @page: the pages
 * @n: how many
 * @sg: the pages, in the order of @va
 */
struct vt_mem {
	struct ib_device *dev;
	u8 *va;
	struct page **page;
	u32 n;
	struct scatterlist *sg;
};

/**
 * struct vt_wr - a work request of any kind
 * @op: its opcode
 * @id: its wr_id
 * @flags: its send_flags
 * @sge, @num_sge: its data
 * @imm: immediate data, or the key to be invalidated
 * @raddr, @rkey: the peer's memory
 * @mr, @key, @access: to be registered
 * @ah, @qpn, @qkey: the receiver of a datagram
 */
struct vt_wr {
	enum ib_wr_opcode op;
	u64 id;
	int flags;
	struct ib_sge *sge;
	int num_sge;
	u32 imm;
	u64 raddr;
	u32 rkey;
	struct ib_mr *mr;
	u32 key;
	int access;
	struct ib_ah *ah;
	u32 qpn;
	u32 qkey;
};

/**
 * struct vt_ends - a pair, and a buffer of each end
 * @p: the pair
 * @from: memory of the end a
 * @to: memory of the end b
 */
struct vt_ends {
	struct vt_pair p;
	struct vt_buf from;
	struct vt_buf to;
};

int vt_buf_make(struct vt_buf *b, struct ib_device *dev, u32 len);
void vt_buf_free(struct vt_buf *b);
int vt_ends_make(struct vt_ends *t, struct vt_devs *d, const struct vt_opt *opt, u32 len);
void vt_ends_free(struct vt_ends *t);
int vt_mem_make(struct vt_mem *m, struct ib_device *dev, u32 pages);
void vt_mem_free(struct vt_mem *m);
void vt_fill(u8 *va, u32 len, u32 seed);
bool vt_is_filled(const u8 *va, u32 len, u32 seed);
bool vt_is_all(const u8 *va, u32 len, u8 byte);
struct ib_sge vt_sge(struct vt_end *e, const struct vt_buf *b, u32 at, u32 len);
int vt_split(struct ib_sge *sge, int n, struct vt_end *e, const struct vt_buf *b,
	     u32 at, u32 len);
int vt_post(struct vt_end *e, const struct vt_wr *w);
int vt_recv(struct vt_end *e, u64 id, struct ib_sge *sge, int n);
bool vt_poll(struct vt_cq *cq, struct ib_wc *wc);
bool vt_none(struct vt_cq *cq);
bool vt_expect(struct vt_cq *cq, enum ib_wc_status status, struct ib_wc *wc,
	       const char *fmt, ...) __printf(4, 5);
int vt_reg(struct vt_end *e, struct ib_mr *mr, struct scatterlist *sg, int n,
	   int access);
int vt_inv(struct vt_end *e, u32 key);

/* A SEND of one SGE, signaled */
static inline int vt_send(struct vt_end *e, u64 id, struct ib_sge *sge)
{
	return vt_post(e, &(struct vt_wr) {
		.op = IB_WR_SEND, .id = id, .flags = IB_SEND_SIGNALED,
		.sge = sge, .num_sge = !!sge,
	});
}

/* ---- threads.c ---- */

/**
 * struct vt_thread - a kernel thread
 * @task: the thread
 * @fn: its function, until kthread_should_stop()
 * @arg: for @fn
 */
struct vt_thread {
	struct task_struct *task;
	int (*fn)(void *arg);
	void *arg;
};

int vt_thread_start(struct vt_thread *t, int cpu, int (*fn)(void *arg), void *arg);
int vt_thread_stop(struct vt_thread *t);
struct dentry;
void vt_shell_init(struct dentry *dir);
int vt_shell(const char *fmt, ...) __printf(1, 2);
int vt_fault(struct ib_device *dev, const char *fmt, ...) __printf(2, 3);

#endif
