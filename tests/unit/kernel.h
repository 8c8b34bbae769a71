/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of the kernel as files of the target need to run in user space, where they are no
 * pure ones. One thread: locks are nothing, and a work runs when a test calls it.
 *
 * Counts each entry that a walk of a list or of a bucket visits: visited.
 *
 * tests/unit/run makes the headers that the files include, empty ones: this one comes first.
 */
#ifndef NVME_RDMA_UNIT_KERNEL_H
#define NVME_RDMA_UNIT_KERNEL_H

#include <errno.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "common/pure.h"

static unsigned long visited __attribute__((unused));

/* ---- words of the language ---- */

typedef unsigned short __kernel_sa_family_t;
typedef unsigned int gfp_t;

#define GFP_KERNEL		0u
#define GFP_NOIO		0u
#define __percpu
#define ____cacheline_aligned
#define ____cacheline_aligned_in_smp
#define likely(x)		(x)
#define unlikely(x)		(x)
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, v)	((x) = (v))
#define smp_load_acquire(p)	(*(p))
#define smp_store_release(p, v)	(*(p) = (v))
#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define min3(a, b, c)		min(min(a, b), c)
#define roundup(x, n)		(((x) + (n) - 1) / (n) * (n))
#define clamp(v, a, b)		min(max(v, a), b)
#define PAGE_SHIFT		12
#define PAGE_SIZE		(1ul << PAGE_SHIFT)
#define PAGE_ALIGN(x)		(((x) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1))
#define SZ_4K			4096
#define SZ_64K			(64 * 1024)
#define SZ_128K			(128 * 1024)
#define HZ			250
#define ERR_PTR(e)		((void *)(intptr_t)(e))
#define ERR_CAST(p)		((void *)(p))
#define IS_ERR(p)		((uintptr_t)(p) >= (uintptr_t)-4095)
#define PTR_ERR(p)		((long)(intptr_t)(p))
#define PTR_ERR_OR_ZERO(p)	(IS_ERR(p) ? (int)PTR_ERR(p) : 0)
#define lockdep_assert_held(l)	((void)(l))
#define init_completion(c)	((void)(c))
#define complete(c)		((void)(c))
#define wait_for_completion(c)	((void)(c))
#define cond_resched()		((void)0)
#define pr_debug(...)		((void)0)
#define pr_err(...)		((void)0)
#define pr_warn(...)		((void)0)
#define pr_warn_ratelimited(...) unit_warned(__VA_ARGS__)

/* Number of messages that a peer may cause; their text is ignored */
static unsigned int warnings;

static inline void unit_warned(const char *fmt, ...)
{
	(void)fmt;
	warnings++;
}

/*
 * At the same addresses in each run, because hashes of pointers select buckets. No address is
 * used again.
 */
#if UINTPTR_MAX > 0xffffffff
#define ARENA		((void *)0x200000000000)
#else
#define ARENA		((void *)0x60000000)
#endif
#define ARENA_BYTES	(1ul << 30)

static inline void *kzalloc(size_t size, gfp_t gfp)
{
	static char *arena;
	static size_t used;
	void *at;

	(void)gfp;
	if (!arena)
		arena = mmap(ARENA, ARENA_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	at = arena + used;
	used += (size + 63) & ~63ul;
	if (arena == MAP_FAILED || used > ARENA_BYTES)
		abort();
	return at;
}

#define kcalloc(n, size, gfp)	kzalloc((n) * (size), gfp)
#define kzalloc_node(size, gfp, node)	kzalloc(size, gfp)
#define kmalloc_node(size, gfp, node)	kmalloc(size, gfp)
#define kvzalloc_node(size, gfp, node)	kzalloc(size, gfp)
#define kfree(p)		((void)(p))
#define kvfree(p)		((void)(p))

static inline char *kstrdup(const char *s, gfp_t gfp)
{
	return strcpy(kzalloc(strlen(s) + 1, gfp), s);
}

#define strscpy(to, from, n)	snprintf(to, n, "%s", from)

#define memalloc_noio_save()	0
#define memalloc_noio_restore(flags) ((void)(flags))

/* ---- lists ---- */

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name)	{ &(name), &(name) }
#define LIST_HEAD(name)		struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *l)
{
	l->next = l;
	l->prev = l;
}

static inline void list_add_tail(struct list_head *e, struct list_head *l)
{
	e->next = l;
	e->prev = l->prev;
	l->prev->next = e;
	l->prev = e;
}

static inline void list_del_init(struct list_head *e)
{
	e->next->prev = e->prev;
	e->prev->next = e->next;
	INIT_LIST_HEAD(e);
}

#define list_del(e)		list_del_init(e)
#define list_add_tail_rcu(e, l)	list_add_tail(e, l)
#define list_del_rcu(e)		list_del_init(e)
#define list_empty(l)		((l)->next == (l))

static inline void list_move_tail(struct list_head *e, struct list_head *l)
{
	list_del_init(e);
	list_add_tail(e, l);
}

static inline void list_splice_init(struct list_head *from, struct list_head *to)
{
	while (!list_empty(from))
		list_move_tail(from->next, to);
}

#define list_entry(e, type, member)		container_of(e, type, member)
#define list_first_entry(l, type, member)	list_entry((l)->next, type, member)
#define list_last_entry(l, type, member)	list_entry((l)->prev, type, member)
#define list_first_entry_or_null(l, type, member) \
	(list_empty(l) ? NULL : list_first_entry(l, type, member))

#define list_walk(p, l, member, way)					\
	for (p = list_entry((l)->way, __typeof__(*p), member);		\
	     &p->member != (l) && ++visited;				\
	     p = list_entry(p->member.way, __typeof__(*p), member))
#define list_for_each_entry(p, l, member)	list_walk(p, l, member, next)
#define list_for_each_entry_reverse(p, l, member) list_walk(p, l, member, prev)
#define list_for_each_entry_safe(p, n, l, member)			\
	for (p = list_entry((l)->next, __typeof__(*p), member),		\
	     n = list_entry(p->member.next, __typeof__(*p), member);	\
	     &p->member != (l) && ++visited;				\
	     p = n, n = list_entry(n->member.next, __typeof__(*p), member))

/* ---- hash tables: by the high bits of a product, as the kernel's ---- */

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#define DECLARE_HASHTABLE(name, bits)	struct hlist_head name[1 << (bits)]
#define DEFINE_HASHTABLE(name, bits)	DECLARE_HASHTABLE(name, bits)
#define hash_init(table)		memset(table, 0, sizeof(table))

static inline size_t hash_bucket(u64 key, size_t buckets)
{
	return key * 0x61c8864680b583ebull >> (64 - __builtin_ctzll(buckets));
}

static inline void hlist_add(struct hlist_node *e, struct hlist_head *l)
{
	e->next = l->first;
	if (e->next)
		e->next->pprev = &e->next;
	l->first = e;
	e->pprev = &l->first;
}

static inline void hash_del(struct hlist_node *e)
{
	if (!e->pprev)
		return;
	*e->pprev = e->next;
	if (e->next)
		e->next->pprev = e->pprev;
	e->pprev = NULL;
}

#define hash_size(table)	(sizeof(table) / sizeof((table)[0]))
#define hash_add(table, e, key)	\
	hlist_add(e, &(table)[hash_bucket(key, hash_size(table))])
#define hlist_entry_or_null(e, type, member) \
	((e) ? container_of(e, type, member) : NULL)
#define hash_for_each_possible(table, p, member, key)			\
	for (p = hlist_entry_or_null((table)[hash_bucket(key,		\
					hash_size(table))].first,	\
				     __typeof__(*p), member);		\
	     p && ++visited;						\
	     p = hlist_entry_or_null(p->member.next, __typeof__(*p), member))

/* SipHash-2-4, of the paper by Aumasson and Bernstein */
typedef struct { u64 key[2]; } siphash_key_t;

static inline u64 sip_left(u64 v, int bits)
{
	return v << bits | v >> (64 - bits);
}

static inline void sip_round(u64 v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = sip_left(v[1], 13) ^ v[0];
	v[3] = sip_left(v[3], 16) ^ v[2];
	v[0] = sip_left(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = sip_left(v[1], 17) ^ v[2];
	v[3] = sip_left(v[3], 21) ^ v[0];
	v[2] = sip_left(v[2], 32);
}

static inline void sip_rounds(u64 v[4], int n)
{
	while (n--)
		sip_round(v);
}

static inline u64 siphash(const void *data, size_t len, const siphash_key_t *key)
{
	u64 v[4] = { key->key[0] ^ 0x736f6d6570736575ull, key->key[1] ^ 0x646f72616e646f6dull,
		     key->key[0] ^ 0x6c7967656e657261ull, key->key[1] ^ 0x7465646279746573ull };
	const u8 *at = data;
	u64 word = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		word |= (u64)at[i] << i % 8 * 8;
		if (i % 8 != 7)
			continue;
		v[3] ^= word;
		sip_rounds(v, 2);
		v[0] ^= word;
		word = 0;
	}
	word |= (u64)len << 56;
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Others each time, and the same in each run of a test */
static inline void get_random_bytes(void *to, size_t len)
{
	static u64 x = 0x9e3779b97f4a7c15ull;
	u8 *at = to;

	while (len--) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		*at++ = x >> 56;
	}
}

/* ---- locks, works, counts ---- */

struct mutex { int none; };
typedef struct { int none; } spinlock_t;
typedef struct { int v; } atomic_t;
typedef struct { int64_t v; } atomic64_t;
typedef struct { int none; } wait_queue_head_t;
struct kref { int none; };

#define kref_get(ref)			((void)(ref))
#define kref_put(ref, release)		((void)(ref), (void)(release))
#define wake_up_all(head)		((void)(head))
struct completion { int none; };
struct llist_node { struct llist_node *next; };
struct llist_head { struct llist_node *first; };
struct tasklet_struct { int none; };
struct work_struct { void (*fn)(struct work_struct *work); };
struct delayed_work { struct work_struct work; };
struct workqueue_struct;

#define DEFINE_MUTEX(name)	struct mutex name
#define mutex_init(m)		((void)(m))
#define mutex_lock(m)		((void)(m))
#define mutex_unlock(m)		((void)(m))
#define spin_lock_init(l)	((void)(l))
#define spin_lock(l)		((void)(l))
#define spin_unlock(l)		((void)(l))
#define spin_lock_irq(l)	((void)(l))
#define spin_unlock_irq(l)	((void)(l))
#define spin_lock_irqsave(l, f)	((void)(l), (f) = 0)
#define spin_unlock_irqrestore(l, f) ((void)(l), (void)(f))
#define atomic_inc_return(a)	(++(a)->v)
#define atomic_inc(a)		((void)(++(a)->v))
#define atomic_read(a)		((a)->v)
#define atomic_read_acquire(a)	READ_ONCE((a)->v)
#define atomic_cmpxchg(a, old, new)					\
({									\
	int _was = (a)->v;						\
									\
	if (_was == (old))						\
		(a)->v = (new);						\
	_was;								\
})
#define atomic_fetch_or(b, a)	(((a)->v |= (b)) & ~(b))
#define atomic_dec_and_test(a)	(!--(a)->v)
#define atomic64_inc(a)		((a)->v++)
#define atomic64_add_return(n, a) ((a)->v += (n))
#define atomic64_sub(n, a)	((a)->v -= (n))
#define init_completion(c)	((void)(c))
#define DEFINE_PER_CPU(type, name) type name
#define raw_cpu_ptr(p)		(p)
#define llist_add(node, list)	((void)(node), (void)(list), true)
#define INIT_WORK(w, f)		((w)->fn = (f))
#define INIT_DELAYED_WORK(w, f)	((w)->work.fn = (f))
#define to_delayed_work(w)	container_of(w, struct delayed_work, work)
/* When each test likes */
static unsigned long jiffies __attribute__((unused)) = 1000000;
#define time_before(a, b)	((long)((a) - (b)) < 0)
#define queue_work(q, w)	({ (void)(q), (void)(w); true; })
#define queue_delayed_work(q, w, t) ((void)(q), (void)(w))
#define mod_delayed_work(q, w, t) ((void)(q), (void)(w), (void)(t))
#define cancel_work_sync(w)	((void)(w))
#define cancel_delayed_work(w)	((void)(w))
#define cancel_delayed_work_sync(w) ((void)(w))
#define WQ_UNBOUND		0
#define WQ_HIGHPRI		0
#define WQ_MEM_RECLAIM		0
#define WQ_MAX_ACTIVE		0
#define WQ_UNBOUND_MAX_ACTIVE	0
#define NVMET_RDMA_WQ_PERCPU	0
#define alloc_workqueue(...)	((struct workqueue_struct *)1)
#define destroy_workqueue(q)	((void)(q))

/* ---- exported values ---- */

struct dentry;
struct seq_file { void *private; };
struct file_operations { int none; };

#define DEFINE_SHOW_ATTRIBUTE(name)					\
static const struct file_operations name##_fops __attribute__((unused));	\
static int (*const name##_shows)(struct seq_file *m, void *unused)	\
	__attribute__((unused)) = name##_show
#define debugfs_create_file(...)	NULL
#define debugfs_create_dir(name, parent) ((void)(parent), NULL)
#define debugfs_remove(d)		((void)(d))

#define NVME_RDMA_COUNTS	0
struct nvme_rdma_hist { int none; };

/* ---- verbs, as far as structures hold them ---- */

enum dma_data_direction { DMA_BIDIRECTIONAL, DMA_TO_DEVICE, DMA_FROM_DEVICE };
enum { IB_WC_SUCCESS, IB_WC_WR_FLUSH_ERR };
enum { IB_SRQT_BASIC };
enum { IB_SRQ_LIMIT = 1 };
enum { IB_EVENT_SRQ_LIMIT_REACHED, IB_EVENT_SRQ_ERR };

struct ib_cq;
struct ib_qp { void *qp_context; };
struct ib_pd;
struct ib_wc { struct ib_qp *qp; int status; unsigned int vendor_err; };
struct ib_event { int event; };
struct ib_event_handler { int none; };
struct ib_cqe { void (*done)(struct ib_cq *cq, struct ib_wc *wc); };
struct ib_sge { u64 addr; u32 length, lkey; };
struct ib_recv_wr { struct ib_recv_wr *next; struct ib_cqe *wr_cqe; };
struct ib_send_wr { struct ib_send_wr *next; };
struct ib_rdma_wr { struct ib_send_wr wr; };
struct rdma_rw_ctx { int none; };
struct scatterlist { int none; };
struct ib_device_attr { int max_srq_wr, max_srq, max_srq_sge, max_cqe; };
struct ib_device {
	const char *name;
	unsigned int num_comp_vectors;
	struct ib_device_attr attrs;
	bool is_iwarp;
	bool use_cq_dim;
	struct { int (*modify_cq)(struct ib_cq *cq, u16 count, u16 us); } ops;
};
struct ib_srq { int none; };
struct ib_srq_attr { u32 max_wr, max_sge, srq_limit; };
struct ib_srq_init_attr {
	void (*event_handler)(struct ib_event *event, void *context);
	void *srq_context;
	struct ib_srq_attr attr;
	int srq_type;
};
struct rdma_cm_event;
union ib_gid { u8 raw[16]; };
enum rdma_network_type { RDMA_NETWORK_IB, RDMA_NETWORK_IPV4, RDMA_NETWORK_IPV6 };
struct net;
struct rdma_dev_addr {
	unsigned char src_dev_addr[32], dst_dev_addr[32];
	int bound_dev_if;
	struct net *net;
	enum rdma_network_type network;
};
struct sa_path_rec {
	union ib_gid dgid, sgid;
	bool is_roce;
	u8 dmac[6];
};
struct rdma_conn_param;
struct rdma_cm_id {
	struct ib_device *device;
	u32 port_num;
	struct {
		struct {
			struct sockaddr_storage dst_addr;
			struct rdma_dev_addr dev_addr;
		} addr;
		struct sa_path_rec *path_rec;
	} route;
};

#define ib_wc_status_msg(s)		""
#define ib_post_srq_recv(srq, wr, bad)	((void)(srq), (void)(wr), (void)(bad), 0)
#define ib_destroy_srq(srq)		((void)(srq))
#define rdma_protocol_iwarp(ib, port)	((void)(ib), false)
#define rdma_start_port(ib)		1
#define rdma_cap_ib_cm(ib, port)	(!(ib)->is_iwarp)
#define rdma_lock_handler(id)		((void)(id))
#define rdma_unlock_handler(id)		((void)(id))
#define rdma_disconnect(id)		((void)(id))
#define rdma_destroy_id(id)		((void)(id))

#define ETH_ALEN			6
#define __aligned(bytes)	__attribute__((aligned(bytes)))
#define ether_addr_equal(a, b)		(!memcmp(a, b, ETH_ALEN))
#define is_valid_ether_addr(mac)	(!((mac)[0] & 1) && memcmp(mac, "\0\0\0\0\0", ETH_ALEN))
#define sa_path_get_dmac(path)		((path)->is_roce ? (path)->dmac : NULL)
#define ipv6_addr_set_v4mapped(ip, to)	unit_v4mapped(ip, to)

static inline void unit_v4mapped(u32 ip, struct in6_addr *to)
{
	memset(to, 0, sizeof(*to));
	memset(&to->s6_addr[10], 0xff, 2);
	memcpy(&to->s6_addr[12], &ip, 4);
}

static inline void rdma_gid2ip(struct sockaddr *to, const union ib_gid *gid)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in in = { .sin_family = AF_INET };

	memcpy(&in6.sin6_addr, gid->raw, 16);
	memcpy(&in.sin_addr, &gid->raw[12], 4);
	if (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr))
		memcpy(to, &in, sizeof(in));
	else
		memcpy(to, &in6, sizeof(in6));
}

/* The way to all that is not in 10.0.0.0/8, fe80::/16 and fd00::/16, where one host has all */
#define UNIT_ROUTER_MAC	"\x02\0\0\0\0\xfe"
#define UNIT_HOST_MAC	"\x02\0\0\0\0\x02"

static inline int rdma_resolve_ip(struct sockaddr *from, const struct sockaddr *to,
				  struct rdma_dev_addr *addr, unsigned long ms,
				  void (*done)(int status, struct sockaddr *from,
					       struct rdma_dev_addr *addr, void *context),
				  bool by_gid, void *context)
{
	const u8 *ip4 = (const u8 *)&((const struct sockaddr_in *)to)->sin_addr;
	const u8 *ip6 = (const u8 *)&((const struct sockaddr_in6 *)to)->sin6_addr;

	(void)ms;
	(void)by_gid;
	if (from->sa_family != to->sa_family)
		return -EINVAL;
	if (to->sa_family == AF_INET)
		addr->network = ip4[0] == 10 ? RDMA_NETWORK_IB : RDMA_NETWORK_IPV4;
	else
		addr->network = ip6[0] == 0xfe || ip6[0] == 0xfd ? RDMA_NETWORK_IB :
								   RDMA_NETWORK_IPV6;
	memcpy(addr->dst_dev_addr, addr->network == RDMA_NETWORK_IB ? UNIT_HOST_MAC :
								      UNIT_ROUTER_MAC, ETH_ALEN);
	done(0, from, addr, context);
	return 0;
}

static inline void rdma_addr_cancel(struct rdma_dev_addr *addr)
{
	(void)addr;
}

static inline struct ib_srq *ib_create_srq(struct ib_pd *pd, struct ib_srq_init_attr *attr)
{
	(void)pd;
	(void)attr;
	return kzalloc(sizeof(struct ib_srq), GFP_KERNEL);
}

struct nvme_rdma_cq {
	void *context;
	const struct nvme_rdma_cq_ops *ops;
	unsigned long interrupts;
	unsigned int size;
	bool broken;
};
struct nvme_rdma_cq_ops {
	void (*after_batch)(struct nvme_rdma_cq *cq);
	void (*failed)(struct nvme_rdma_cq *cq);
};

struct nvme_rdma_pages;

/* Completion queues that there are, and the most entries that there is memory for in one */
static unsigned int unit_cqs;
static unsigned int unit_cq_most = ~0u;

static inline struct nvme_rdma_cq *
nvme_rdma_cq_alloc(struct ib_device *ib, unsigned int size, unsigned int vector, bool polled,
		   const struct nvme_rdma_cq_ops *ops, void *context)
{
	struct nvme_rdma_cq *cq = kzalloc(sizeof(*cq), GFP_KERNEL);

	(void)ib, (void)vector, (void)polled;
	if (size > unit_cq_most)
		return ERR_PTR(-ENOMEM);
	cq->context = context;
	cq->ops = ops;
	cq->size = size;
	unit_cqs++;
	return cq;
}

#define nvme_rdma_cq_free(cq)		((void)(cq), unit_cqs--)
#define nvme_rdma_cq_expect(cq)		((void)(cq))
#define nvme_rdma_cq_looked(cq)		((void)(cq))
#define nvme_rdma_cq_is_busy(cq)	((void)(cq), false)

/* ---- the core ---- */

#define NVMF_NQN_FIELD_LEN		256
#define NVME_DISC_SUBSYS_NAME		"discovery"
#define NVME_SC_CONNECT_INVALID_PARAM	0x182
#define NVME_SC_CONNECT_CTRL_BUSY	0x181
#define NVME_STATUS_DNR			0x4000

enum { NVME_NQN_DISC, NVME_NQN_NVME };

struct nvme_command { u8 bytes[64]; };
struct nvme_completion { u8 bytes[16]; };
struct nvmet_port { bool pi_enable; };
struct nvmet_subsys { int type; const char *subsysnqn; };
struct nvmet_ctrl {
	struct nvmet_subsys *subsys;
	struct nvmet_port *port;
	const char *hostnqn;
	u16 cntlid;
};
struct nvmet_sq { struct nvmet_ctrl *ctrl; };
struct nvmet_cq { int none; };
struct nvmet_req { int none; };
struct nvmet_fabrics_ops { int none; };
struct blk_plug;
struct blk_plug_cb { int none; };

#define nvmet_rdma_cq_init(cq)		((void)(cq))
#define nvmet_rdma_cq_put(cq)		((void)(cq))
#define nvmet_rdma_sq_init(sq, cq)	((void)(sq), (void)(cq), 0)
#define nvmet_sq_destroy(sq)		((void)(sq))
#define nvmet_ctrl_fatal_error(ctrl)	((void)(ctrl))

/* ---- and what files of the target take of it ---- */

#define totalram_pages()		(1ul << (36 - PAGE_SHIFT))
#define ipv6_addr_equal(a, b)		(!memcmp(a, b, sizeof(*(a))))

/* In place of target/trace.h */
#define NVMET_RDMA_TRACE_H
#define trace_nvmet_rdma_queue_state(...)	((void)0)
#define trace_nvmet_rdma_connect(...)		((void)0)
#define trace_nvmet_rdma_work_failed(...)	((void)0)
#define trace_nvmet_rdma_refused(...)		((void)0)

#endif /* NVME_RDMA_UNIT_KERNEL_H */
