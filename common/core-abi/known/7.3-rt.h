/* SPDX-License-Identifier: GPL-2.0 */
/* Written by core-abi from the BTF of this kernel: do not edit. */
#ifndef CORE_ABI_GEN_H
#define CORE_ABI_GEN_H

#define CORE_ABI_KVER "7.3.4+deb13-rt-amd64"

#include <linux/types.h>
#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/uuid.h>
#include <linux/mutex.h>
#include <linux/device.h>
#include <linux/workqueue.h>
#include <linux/percpu-refcount.h>
#include <linux/completion.h>
#include <linux/scatterlist.h>
#include <linux/srcu.h>
#include <linux/blk-mq.h>
#include <linux/nvme.h>

/* sparse lays some bit-fields out in another way than compilers do */
#ifdef __CHECKER__
#define core_abi_assert(expr) static_assert(1)
#else
#define core_abi_assert(expr) static_assert(expr)
#endif

struct nvme_ctrl;
struct nvme_request;
struct nvme_ctrl_ops;
struct nvme_subsystem;
struct nvme_ns;
struct nvme_ns_head;
struct nvmf_host;
struct nvmf_ctrl_options;
struct nvmf_transport_ops;
struct nvmet_req;
struct nvmet_ns;
struct nvmet_sq;
struct nvmet_cq;
struct nvmet_port;
struct nvmet_ctrl;
struct nvmet_subsys;
struct nvmet_fabrics_ops;
struct request_queue;
struct device;
struct blk_mq_tag_set;
struct nvme_command;
struct module;
struct attribute_group;
struct gendisk;
struct nvme_completion;
struct scatterlist;
struct pci_dev;
struct block_device;
struct blk_mq_ops;
struct request;
union nvme_result;

/* Public types as the core was compiled with them. */
core_abi_assert(sizeof(spinlock_t) == 32);
core_abi_assert(sizeof(struct device) == 912);
core_abi_assert(sizeof(struct work_struct) == 32);
core_abi_assert(sizeof(wait_queue_head_t) == 48);
core_abi_assert(sizeof(atomic_t) == 4);
core_abi_assert(sizeof(struct timer_list) == 40);
core_abi_assert(sizeof(atomic_long_t) == 8);
core_abi_assert(sizeof(union nvme_result) == 8);
core_abi_assert(sizeof(struct list_head) == 16);
core_abi_assert(sizeof(struct srcu_struct) == 32);
core_abi_assert(sizeof(uuid_t) == 16);
core_abi_assert(sizeof(struct bio_vec) == 16);
core_abi_assert(sizeof(struct nvmf_disc_rsp_page_entry) == 1024);
core_abi_assert(sizeof(struct blk_mq_tag_set) == 240);
core_abi_assert(sizeof(struct blk_mq_ops) == 144);
core_abi_assert(sizeof(struct request) == 272);
core_abi_assert(sizeof(struct request_queue) == 1112);
core_abi_assert(sizeof(struct nvme_command) == 64);
core_abi_assert(sizeof(struct nvme_completion) == 16);
core_abi_assert(sizeof(struct scatterlist) == 32);
core_abi_assert(sizeof(struct rq_list) == 16);

/* nvme-core.ko */
enum nvme_ctrl_state {
	NVME_CTRL_NEW = 0,
	NVME_CTRL_LIVE = 1,
	NVME_CTRL_RESETTING = 2,
	NVME_CTRL_CONNECTING = 3,
	NVME_CTRL_DELETING = 4,
	NVME_CTRL_DELETING_NOIO = 5,
	NVME_CTRL_DEAD = 6,
};

/* nvme-core.ko */
enum nvme_ctrl_flags {
	NVME_CTRL_FAILFAST_EXPIRED = 0,
	NVME_CTRL_ADMIN_Q_STOPPED = 1,
	NVME_CTRL_STARTED_ONCE = 2,
	NVME_CTRL_STOPPED = 3,
	NVME_CTRL_SKIP_ID_CNS_CS = 4,
	NVME_CTRL_DIRTY_CAPABILITY = 5,
	NVME_CTRL_FROZEN = 6,
};
#define HAVE_NVME_CTRL_FROZEN 1

/* nvme-core.ko */
enum {
	NVME_REQ_CANCELLED = 1,
	NVME_REQ_USERCMD = 2,
	NVME_MPATH_IO_STATS = 4,
	NVME_MPATH_CNT_ACTIVE = 8,
};

/* nvme-fabrics.ko */
enum {
	NVMF_OPT_ERR = 0,
	NVMF_OPT_TRANSPORT = 1,
	NVMF_OPT_NQN = 2,
	NVMF_OPT_TRADDR = 4,
	NVMF_OPT_TRSVCID = 8,
	NVMF_OPT_QUEUE_SIZE = 16,
	NVMF_OPT_NR_IO_QUEUES = 32,
	NVMF_OPT_TL_RETRY_COUNT = 64,
	NVMF_OPT_KATO = 128,
	NVMF_OPT_HOSTNQN = 256,
	NVMF_OPT_RECONNECT_DELAY = 512,
	NVMF_OPT_HOST_TRADDR = 1024,
	NVMF_OPT_CTRL_LOSS_TMO = 2048,
	NVMF_OPT_HOST_ID = 4096,
	NVMF_OPT_DUP_CONNECT = 8192,
	NVMF_OPT_DISABLE_SQFLOW = 16384,
	NVMF_OPT_HDR_DIGEST = 32768,
	NVMF_OPT_DATA_DIGEST = 65536,
	NVMF_OPT_NR_WRITE_QUEUES = 131072,
	NVMF_OPT_NR_POLL_QUEUES = 262144,
	NVMF_OPT_TOS = 524288,
	NVMF_OPT_FAIL_FAST_TMO = 1048576,
	NVMF_OPT_HOST_IFACE = 2097152,
	NVMF_OPT_DISCOVERY = 4194304,
	NVMF_OPT_DHCHAP_SECRET = 8388608,
	NVMF_OPT_DHCHAP_CTRL_SECRET = 16777216,
	NVMF_OPT_TLS = 33554432,
	NVMF_OPT_KEYRING = 67108864,
	NVMF_OPT_TLS_KEY = 134217728,
	NVMF_OPT_CONCAT = 268435456,
};

/* nvme-core.ko */
struct nvme_ctrl {
	u8 core_abi_pad0[4];
	enum nvme_ctrl_state state;
	spinlock_t lock;
	u8 core_abi_pad1[32];
	const struct nvme_ctrl_ops *ops;
	struct request_queue *admin_q;
	struct request_queue *connect_q;
	struct request_queue *fabrics_q;
	struct device *dev;
	int instance;
	int numa_node;
	struct blk_mq_tag_set *tagset;
	struct blk_mq_tag_set *admin_tagset;
	u8 core_abi_pad2[80];
	struct device ctrl_device;
	struct device *device;
	u8 core_abi_pad3[112];
	struct work_struct reset_work;
	struct work_struct delete_work;
	wait_queue_head_t state_wq;
	struct nvme_subsystem *subsys;
	u8 core_abi_pad4[24];
	u16 cntlid;
	u8 core_abi_pad5[2];
	u32 ctrl_config;
	u32 queue_count;
	u8 core_abi_pad6[4];
	u32 io_timeout;
	u8 core_abi_pad7[4];
	u64 cap;
	u32 max_hw_sectors;
	u32 max_segments;
	u32 max_integrity_segments;
	u8 core_abi_pad8[26];
	u16 sqsize;
	u8 core_abi_pad9[4];
	atomic_t abort_limit;
	u8 core_abi_pad10[8];
	u32 sgls;
	u8 core_abi_pad11[24];
	unsigned int kato;
	u8 core_abi_pad12[1080];
	struct work_struct async_event_work;
	u8 core_abi_pad13[368];
	struct timer_list anatt_timer;
	struct work_struct ana_work;
	u8 core_abi_pad14[128];
	u32 ioccsz;
	u8 core_abi_pad15[4];
	u16 icdoff;
	u16 maxcmd;
	int nr_reconnects;
	atomic_long_t acc_reconnects;
	long unsigned int flags;
	struct nvmf_ctrl_options *opts;
	u8 core_abi_pad16[32];
} __aligned(8);
core_abi_assert(sizeof(struct nvme_ctrl) == 3264);
core_abi_assert(offsetof(struct nvme_ctrl, state) == 4);
core_abi_assert(sizeof_field(struct nvme_ctrl, state) == 4);
core_abi_assert(offsetof(struct nvme_ctrl, lock) == 8);
core_abi_assert(sizeof_field(struct nvme_ctrl, lock) == 32);
core_abi_assert(offsetof(struct nvme_ctrl, ops) == 72);
core_abi_assert(sizeof_field(struct nvme_ctrl, ops) == 8);
core_abi_assert(offsetof(struct nvme_ctrl, admin_q) == 80);
core_abi_assert(sizeof_field(struct nvme_ctrl, admin_q) == 8);
core_abi_assert(offsetof(struct nvme_ctrl, connect_q) == 88);
core_abi_assert(sizeof_field(struct nvme_ctrl, connect_q) == 8);
core_abi_assert(offsetof(struct nvme_ctrl, fabrics_q) == 96);
core_abi_assert(sizeof_field(struct nvme_ctrl, fabrics_q) == 8);
core_abi_assert(offsetof(struct nvme_ctrl, dev) == 104);
core_abi_assert(sizeof_field(struct nvme_ctrl, dev) == 8);
core_abi_assert(offsetof(struct nvme_ctrl, instance) == 112);
core_abi_assert(sizeof_field(struct nvme_ctrl, instance) == 4);
core_abi_assert(offsetof(struct nvme_ctrl, numa_node) == 116);
core_abi_assert(sizeof_field(struct nvme_ctrl, numa_node) == 4);
core_abi_assert(offsetof(struct nvme_ctrl, tagset) == 120);
core_abi_assert(sizeof_field(struct nvme_ctrl, tagset) == 8);
core_abi_assert(offsetof(struct nvme_ctrl, admin_tagset) == 128);
core_abi_assert(sizeof_field(struct nvme_ctrl, admin_tagset) == 8);
core_abi_assert(offsetof(struct nvme_ctrl, ctrl_device) == 216);
core_abi_assert(sizeof_field(struct nvme_ctrl, ctrl_device) == 912);
core_abi_assert(offsetof(struct nvme_ctrl, device) == 1128);
core_abi_assert(sizeof_field(struct nvme_ctrl, device) == 8);
core_abi_assert(offsetof(struct nvme_ctrl, reset_work) == 1248);
core_abi_assert(sizeof_field(struct nvme_ctrl, reset_work) == 32);
core_abi_assert(offsetof(struct nvme_ctrl, delete_work) == 1280);
core_abi_assert(sizeof_field(struct nvme_ctrl, delete_work) == 32);
core_abi_assert(offsetof(struct nvme_ctrl, state_wq) == 1312);
core_abi_assert(sizeof_field(struct nvme_ctrl, state_wq) == 48);
core_abi_assert(offsetof(struct nvme_ctrl, subsys) == 1360);
core_abi_assert(sizeof_field(struct nvme_ctrl, subsys) == 8);
core_abi_assert(offsetof(struct nvme_ctrl, cntlid) == 1392);
core_abi_assert(sizeof_field(struct nvme_ctrl, cntlid) == 2);
core_abi_assert(offsetof(struct nvme_ctrl, ctrl_config) == 1396);
core_abi_assert(sizeof_field(struct nvme_ctrl, ctrl_config) == 4);
core_abi_assert(offsetof(struct nvme_ctrl, queue_count) == 1400);
core_abi_assert(sizeof_field(struct nvme_ctrl, queue_count) == 4);
core_abi_assert(offsetof(struct nvme_ctrl, io_timeout) == 1408);
core_abi_assert(sizeof_field(struct nvme_ctrl, io_timeout) == 4);
core_abi_assert(offsetof(struct nvme_ctrl, cap) == 1416);
core_abi_assert(sizeof_field(struct nvme_ctrl, cap) == 8);
core_abi_assert(offsetof(struct nvme_ctrl, max_hw_sectors) == 1424);
core_abi_assert(sizeof_field(struct nvme_ctrl, max_hw_sectors) == 4);
core_abi_assert(offsetof(struct nvme_ctrl, max_segments) == 1428);
core_abi_assert(sizeof_field(struct nvme_ctrl, max_segments) == 4);
core_abi_assert(offsetof(struct nvme_ctrl, max_integrity_segments) == 1432);
core_abi_assert(sizeof_field(struct nvme_ctrl, max_integrity_segments) == 4);
core_abi_assert(offsetof(struct nvme_ctrl, sqsize) == 1462);
core_abi_assert(sizeof_field(struct nvme_ctrl, sqsize) == 2);
core_abi_assert(offsetof(struct nvme_ctrl, abort_limit) == 1468);
core_abi_assert(sizeof_field(struct nvme_ctrl, abort_limit) == 4);
core_abi_assert(offsetof(struct nvme_ctrl, sgls) == 1480);
core_abi_assert(sizeof_field(struct nvme_ctrl, sgls) == 4);
core_abi_assert(offsetof(struct nvme_ctrl, kato) == 1508);
core_abi_assert(sizeof_field(struct nvme_ctrl, kato) == 4);
core_abi_assert(offsetof(struct nvme_ctrl, async_event_work) == 2592);
core_abi_assert(sizeof_field(struct nvme_ctrl, async_event_work) == 32);
core_abi_assert(offsetof(struct nvme_ctrl, anatt_timer) == 2992);
core_abi_assert(sizeof_field(struct nvme_ctrl, anatt_timer) == 40);
core_abi_assert(offsetof(struct nvme_ctrl, ana_work) == 3032);
core_abi_assert(sizeof_field(struct nvme_ctrl, ana_work) == 32);
core_abi_assert(offsetof(struct nvme_ctrl, ioccsz) == 3192);
core_abi_assert(sizeof_field(struct nvme_ctrl, ioccsz) == 4);
core_abi_assert(offsetof(struct nvme_ctrl, icdoff) == 3200);
core_abi_assert(sizeof_field(struct nvme_ctrl, icdoff) == 2);
core_abi_assert(offsetof(struct nvme_ctrl, maxcmd) == 3202);
core_abi_assert(sizeof_field(struct nvme_ctrl, maxcmd) == 2);
core_abi_assert(offsetof(struct nvme_ctrl, nr_reconnects) == 3204);
core_abi_assert(sizeof_field(struct nvme_ctrl, nr_reconnects) == 4);
core_abi_assert(offsetof(struct nvme_ctrl, acc_reconnects) == 3208);
core_abi_assert(sizeof_field(struct nvme_ctrl, acc_reconnects) == 8);
core_abi_assert(offsetof(struct nvme_ctrl, flags) == 3216);
core_abi_assert(sizeof_field(struct nvme_ctrl, flags) == 8);
core_abi_assert(offsetof(struct nvme_ctrl, opts) == 3224);
core_abi_assert(sizeof_field(struct nvme_ctrl, opts) == 8);
#define HAVE_NVME_CTRL_ANA_WORK 1
#define HAVE_NVME_CTRL_ANATT_TIMER 1
#define HAVE_NVME_CTRL_IO_TIMEOUT 1
#define HAVE_NVME_CTRL_ACC_RECONNECTS 1

/* nvme-core.ko */
struct nvme_request {
	struct nvme_command *cmd;
	union nvme_result result;
	u8 genctr;
	u8 retries;
	u8 flags;
	u8 core_abi_pad0[1];
	u16 status;
	u8 core_abi_pad1[2];
	long unsigned int start_time;
	struct nvme_ctrl *ctrl;
} __aligned(8);
core_abi_assert(sizeof(struct nvme_request) == 40);
core_abi_assert(offsetof(struct nvme_request, cmd) == 0);
core_abi_assert(sizeof_field(struct nvme_request, cmd) == 8);
core_abi_assert(offsetof(struct nvme_request, result) == 8);
core_abi_assert(sizeof_field(struct nvme_request, result) == 8);
core_abi_assert(offsetof(struct nvme_request, genctr) == 16);
core_abi_assert(sizeof_field(struct nvme_request, genctr) == 1);
core_abi_assert(offsetof(struct nvme_request, retries) == 17);
core_abi_assert(sizeof_field(struct nvme_request, retries) == 1);
core_abi_assert(offsetof(struct nvme_request, flags) == 18);
core_abi_assert(sizeof_field(struct nvme_request, flags) == 1);
core_abi_assert(offsetof(struct nvme_request, status) == 20);
core_abi_assert(sizeof_field(struct nvme_request, status) == 2);
core_abi_assert(offsetof(struct nvme_request, start_time) == 24);
core_abi_assert(sizeof_field(struct nvme_request, start_time) == 8);
core_abi_assert(offsetof(struct nvme_request, ctrl) == 32);
core_abi_assert(sizeof_field(struct nvme_request, ctrl) == 8);
#define HAVE_NVME_REQUEST_START_TIME 1

/* nvme-core.ko */
struct nvme_ctrl_ops {
	const char *name;
	struct module *module;
	unsigned int flags;
	u8 core_abi_pad0[4];
	const struct attribute_group **dev_attr_groups;
	int (*reg_read32)(struct nvme_ctrl *, u32, u32 *);
	int (*reg_write32)(struct nvme_ctrl *, u32, u32);
	int (*reg_read64)(struct nvme_ctrl *, u32, u64 *);
	void (*free_ctrl)(struct nvme_ctrl *);
	void (*submit_async_event)(struct nvme_ctrl *);
	int (*subsystem_reset)(struct nvme_ctrl *);
	void (*delete_ctrl)(struct nvme_ctrl *);
	void (*stop_ctrl)(struct nvme_ctrl *);
	int (*get_address)(struct nvme_ctrl *, char *, int);
	void (*print_device_info)(struct nvme_ctrl *);
	bool (*supports_pci_p2pdma)(struct nvme_ctrl *);
	long unsigned int (*get_virt_boundary)(struct nvme_ctrl *, bool);
} __aligned(8);
core_abi_assert(sizeof(struct nvme_ctrl_ops) == 128);
core_abi_assert(offsetof(struct nvme_ctrl_ops, name) == 0);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, name) == 8);
core_abi_assert(offsetof(struct nvme_ctrl_ops, module) == 8);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, module) == 8);
core_abi_assert(offsetof(struct nvme_ctrl_ops, flags) == 16);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, flags) == 4);
core_abi_assert(offsetof(struct nvme_ctrl_ops, dev_attr_groups) == 24);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, dev_attr_groups) == 8);
core_abi_assert(offsetof(struct nvme_ctrl_ops, reg_read32) == 32);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, reg_read32) == 8);
core_abi_assert(offsetof(struct nvme_ctrl_ops, reg_write32) == 40);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, reg_write32) == 8);
core_abi_assert(offsetof(struct nvme_ctrl_ops, reg_read64) == 48);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, reg_read64) == 8);
core_abi_assert(offsetof(struct nvme_ctrl_ops, free_ctrl) == 56);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, free_ctrl) == 8);
core_abi_assert(offsetof(struct nvme_ctrl_ops, submit_async_event) == 64);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, submit_async_event) == 8);
core_abi_assert(offsetof(struct nvme_ctrl_ops, subsystem_reset) == 72);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, subsystem_reset) == 8);
core_abi_assert(offsetof(struct nvme_ctrl_ops, delete_ctrl) == 80);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, delete_ctrl) == 8);
core_abi_assert(offsetof(struct nvme_ctrl_ops, stop_ctrl) == 88);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, stop_ctrl) == 8);
core_abi_assert(offsetof(struct nvme_ctrl_ops, get_address) == 96);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, get_address) == 8);
core_abi_assert(offsetof(struct nvme_ctrl_ops, print_device_info) == 104);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, print_device_info) == 8);
core_abi_assert(offsetof(struct nvme_ctrl_ops, supports_pci_p2pdma) == 112);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, supports_pci_p2pdma) == 8);
core_abi_assert(offsetof(struct nvme_ctrl_ops, get_virt_boundary) == 120);
core_abi_assert(sizeof_field(struct nvme_ctrl_ops, get_virt_boundary) == 8);
#define HAVE_NVME_CTRL_OPS_PRINT_DEVICE_INFO 1
#define HAVE_NVME_CTRL_OPS_SUPPORTS_PCI_P2PDMA 1
#define HAVE_NVME_CTRL_OPS_GET_VIRT_BOUNDARY 1

/* nvme-core.ko */
struct nvme_subsystem {
	int instance;
	u8 core_abi_pad0[1052];
	char subnqn[223];
	u8 core_abi_pad1[137];
} __aligned(8);
core_abi_assert(sizeof(struct nvme_subsystem) == 1416);
core_abi_assert(offsetof(struct nvme_subsystem, instance) == 0);
core_abi_assert(sizeof_field(struct nvme_subsystem, instance) == 4);
core_abi_assert(offsetof(struct nvme_subsystem, subnqn) == 1056);
core_abi_assert(sizeof_field(struct nvme_subsystem, subnqn) == 223);

/* nvme-core.ko */
struct nvme_ns {
	u8 core_abi_pad0[16];
	struct nvme_ctrl *ctrl;
	struct request_queue *queue;
	struct gendisk *disk;
	enum nvme_ana_state ana_state;
	u8 core_abi_pad1[28];
	struct list_head siblings;
	u8 core_abi_pad2[8];
	struct nvme_ns_head *head;
	u8 core_abi_pad3[1024];
} __aligned(8);
core_abi_assert(sizeof(struct nvme_ns) == 1128);
core_abi_assert(offsetof(struct nvme_ns, ctrl) == 16);
core_abi_assert(sizeof_field(struct nvme_ns, ctrl) == 8);
core_abi_assert(offsetof(struct nvme_ns, queue) == 24);
core_abi_assert(sizeof_field(struct nvme_ns, queue) == 8);
core_abi_assert(offsetof(struct nvme_ns, disk) == 32);
core_abi_assert(sizeof_field(struct nvme_ns, disk) == 8);
core_abi_assert(offsetof(struct nvme_ns, ana_state) == 40);
core_abi_assert(sizeof_field(struct nvme_ns, ana_state) == 4);
core_abi_assert(offsetof(struct nvme_ns, siblings) == 72);
core_abi_assert(sizeof_field(struct nvme_ns, siblings) == 16);
core_abi_assert(offsetof(struct nvme_ns, head) == 96);
core_abi_assert(sizeof_field(struct nvme_ns, head) == 8);
#define HAVE_NVME_NS_ANA_STATE 1
#define HAVE_NVME_NS_SIBLINGS 1

/* nvme-core.ko */
struct nvme_ns_head {
	struct list_head list;
	struct srcu_struct srcu;
	u8 core_abi_pad0[49];
	u8 lba_shift;
	u16 ms;
	u16 pi_size;
	u8 pi_type;
	u8 core_abi_pad1[41];
	unsigned int ns_id;
	u8 core_abi_pad2[1364];
} __aligned(8);
core_abi_assert(sizeof(struct nvme_ns_head) == 1512);
core_abi_assert(offsetof(struct nvme_ns_head, list) == 0);
core_abi_assert(sizeof_field(struct nvme_ns_head, list) == 16);
core_abi_assert(offsetof(struct nvme_ns_head, srcu) == 16);
core_abi_assert(sizeof_field(struct nvme_ns_head, srcu) == 32);
core_abi_assert(offsetof(struct nvme_ns_head, lba_shift) == 97);
core_abi_assert(sizeof_field(struct nvme_ns_head, lba_shift) == 1);
core_abi_assert(offsetof(struct nvme_ns_head, ms) == 98);
core_abi_assert(sizeof_field(struct nvme_ns_head, ms) == 2);
core_abi_assert(offsetof(struct nvme_ns_head, pi_size) == 100);
core_abi_assert(sizeof_field(struct nvme_ns_head, pi_size) == 2);
core_abi_assert(offsetof(struct nvme_ns_head, pi_type) == 102);
core_abi_assert(sizeof_field(struct nvme_ns_head, pi_type) == 1);
core_abi_assert(offsetof(struct nvme_ns_head, ns_id) == 144);
core_abi_assert(sizeof_field(struct nvme_ns_head, ns_id) == 4);
#define HAVE_NVME_NS_HEAD_LIST 1
#define HAVE_NVME_NS_HEAD_SRCU 1
#define HAVE_NVME_NS_HEAD_LBA_SHIFT 1
#define HAVE_NVME_NS_HEAD_MS 1
#define HAVE_NVME_NS_HEAD_PI_SIZE 1
#define HAVE_NVME_NS_HEAD_PI_TYPE 1

/* nvme-fabrics.ko */
struct nvmf_host {
	u8 core_abi_pad0[24];
	char nqn[223];
	uuid_t id;
	u8 core_abi_pad1[1];
} __aligned(8);
core_abi_assert(sizeof(struct nvmf_host) == 264);
core_abi_assert(offsetof(struct nvmf_host, nqn) == 24);
core_abi_assert(sizeof_field(struct nvmf_host, nqn) == 223);
core_abi_assert(offsetof(struct nvmf_host, id) == 247);
core_abi_assert(sizeof_field(struct nvmf_host, id) == 16);

/* nvme-fabrics.ko */
struct nvmf_ctrl_options {
	unsigned int mask;
	int max_reconnects;
	char *transport;
	char *subsysnqn;
	char *traddr;
	char *trsvcid;
	char *host_traddr;
	char *host_iface;
	size_t queue_size;
	unsigned int nr_io_queues;
	unsigned int reconnect_delay;
	bool discovery_nqn;
	bool duplicate_connect;
	u8 core_abi_pad0[2];
	unsigned int kato;
	struct nvmf_host *host;
	u8 core_abi_pad1[34];
	bool disable_sqflow;
	u8 core_abi_pad2[5];
	unsigned int nr_write_queues;
	unsigned int nr_poll_queues;
	int tos;
	int fast_io_fail_tmo;
} __aligned(8);
core_abi_assert(sizeof(struct nvmf_ctrl_options) == 144);
core_abi_assert(offsetof(struct nvmf_ctrl_options, mask) == 0);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, mask) == 4);
core_abi_assert(offsetof(struct nvmf_ctrl_options, max_reconnects) == 4);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, max_reconnects) == 4);
core_abi_assert(offsetof(struct nvmf_ctrl_options, transport) == 8);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, transport) == 8);
core_abi_assert(offsetof(struct nvmf_ctrl_options, subsysnqn) == 16);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, subsysnqn) == 8);
core_abi_assert(offsetof(struct nvmf_ctrl_options, traddr) == 24);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, traddr) == 8);
core_abi_assert(offsetof(struct nvmf_ctrl_options, trsvcid) == 32);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, trsvcid) == 8);
core_abi_assert(offsetof(struct nvmf_ctrl_options, host_traddr) == 40);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, host_traddr) == 8);
core_abi_assert(offsetof(struct nvmf_ctrl_options, host_iface) == 48);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, host_iface) == 8);
core_abi_assert(offsetof(struct nvmf_ctrl_options, queue_size) == 56);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, queue_size) == 8);
core_abi_assert(offsetof(struct nvmf_ctrl_options, nr_io_queues) == 64);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, nr_io_queues) == 4);
core_abi_assert(offsetof(struct nvmf_ctrl_options, reconnect_delay) == 68);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, reconnect_delay) == 4);
core_abi_assert(offsetof(struct nvmf_ctrl_options, discovery_nqn) == 72);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, discovery_nqn) == 1);
core_abi_assert(offsetof(struct nvmf_ctrl_options, duplicate_connect) == 73);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, duplicate_connect) == 1);
core_abi_assert(offsetof(struct nvmf_ctrl_options, kato) == 76);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, kato) == 4);
core_abi_assert(offsetof(struct nvmf_ctrl_options, host) == 80);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, host) == 8);
core_abi_assert(offsetof(struct nvmf_ctrl_options, disable_sqflow) == 122);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, disable_sqflow) == 1);
core_abi_assert(offsetof(struct nvmf_ctrl_options, nr_write_queues) == 128);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, nr_write_queues) == 4);
core_abi_assert(offsetof(struct nvmf_ctrl_options, nr_poll_queues) == 132);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, nr_poll_queues) == 4);
core_abi_assert(offsetof(struct nvmf_ctrl_options, tos) == 136);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, tos) == 4);
core_abi_assert(offsetof(struct nvmf_ctrl_options, fast_io_fail_tmo) == 140);
core_abi_assert(sizeof_field(struct nvmf_ctrl_options, fast_io_fail_tmo) == 4);

/* nvme-fabrics.ko */
struct nvmf_transport_ops {
	struct list_head entry;
	struct module *module;
	const char *name;
	int required_opts;
	int allowed_opts;
	struct nvme_ctrl *(*create_ctrl)(struct device *, struct nvmf_ctrl_options *);
} __aligned(8);
core_abi_assert(sizeof(struct nvmf_transport_ops) == 48);
core_abi_assert(offsetof(struct nvmf_transport_ops, entry) == 0);
core_abi_assert(sizeof_field(struct nvmf_transport_ops, entry) == 16);
core_abi_assert(offsetof(struct nvmf_transport_ops, module) == 16);
core_abi_assert(sizeof_field(struct nvmf_transport_ops, module) == 8);
core_abi_assert(offsetof(struct nvmf_transport_ops, name) == 24);
core_abi_assert(sizeof_field(struct nvmf_transport_ops, name) == 8);
core_abi_assert(offsetof(struct nvmf_transport_ops, required_opts) == 32);
core_abi_assert(sizeof_field(struct nvmf_transport_ops, required_opts) == 4);
core_abi_assert(offsetof(struct nvmf_transport_ops, allowed_opts) == 36);
core_abi_assert(sizeof_field(struct nvmf_transport_ops, allowed_opts) == 4);
core_abi_assert(offsetof(struct nvmf_transport_ops, create_ctrl) == 40);
core_abi_assert(sizeof_field(struct nvmf_transport_ops, create_ctrl) == 8);

/* nvmet.ko */
struct nvmet_req {
	struct nvme_command *cmd;
	struct nvme_completion *cqe;
	struct nvmet_sq *sq;
	struct nvmet_cq *cq;
	struct nvmet_ns *ns;
	struct scatterlist *sg;
	struct scatterlist *metadata_sg;
	struct bio_vec inline_bvec[8];
	u8 b[136];
	u8 core_abi_pad0[48];
	int sg_cnt;
	int metadata_sg_cnt;
	size_t transfer_len;
	size_t metadata_len;
	struct nvmet_port *port;
	void (*execute)(struct nvmet_req *);
	const struct nvmet_fabrics_ops *ops;
	struct pci_dev *p2p_dev;
	struct device *p2p_client;
	u16 error_loc;
	u8 core_abi_pad1[6];
	u64 error_slba;
	u8 core_abi_pad2[8];
} __aligned(8);
core_abi_assert(sizeof(struct nvmet_req) == 456);
core_abi_assert(offsetof(struct nvmet_req, cmd) == 0);
core_abi_assert(sizeof_field(struct nvmet_req, cmd) == 8);
core_abi_assert(offsetof(struct nvmet_req, cqe) == 8);
core_abi_assert(sizeof_field(struct nvmet_req, cqe) == 8);
core_abi_assert(offsetof(struct nvmet_req, sq) == 16);
core_abi_assert(sizeof_field(struct nvmet_req, sq) == 8);
core_abi_assert(offsetof(struct nvmet_req, cq) == 24);
core_abi_assert(sizeof_field(struct nvmet_req, cq) == 8);
core_abi_assert(offsetof(struct nvmet_req, ns) == 32);
core_abi_assert(sizeof_field(struct nvmet_req, ns) == 8);
core_abi_assert(offsetof(struct nvmet_req, sg) == 40);
core_abi_assert(sizeof_field(struct nvmet_req, sg) == 8);
core_abi_assert(offsetof(struct nvmet_req, metadata_sg) == 48);
core_abi_assert(sizeof_field(struct nvmet_req, metadata_sg) == 8);
core_abi_assert(offsetof(struct nvmet_req, inline_bvec) == 56);
core_abi_assert(sizeof_field(struct nvmet_req, inline_bvec) == 128);
core_abi_assert(offsetof(struct nvmet_req, b) == 184);
core_abi_assert(sizeof_field(struct nvmet_req, b) == 136);
core_abi_assert(offsetof(struct nvmet_req, sg_cnt) == 368);
core_abi_assert(sizeof_field(struct nvmet_req, sg_cnt) == 4);
core_abi_assert(offsetof(struct nvmet_req, metadata_sg_cnt) == 372);
core_abi_assert(sizeof_field(struct nvmet_req, metadata_sg_cnt) == 4);
core_abi_assert(offsetof(struct nvmet_req, transfer_len) == 376);
core_abi_assert(sizeof_field(struct nvmet_req, transfer_len) == 8);
core_abi_assert(offsetof(struct nvmet_req, metadata_len) == 384);
core_abi_assert(sizeof_field(struct nvmet_req, metadata_len) == 8);
core_abi_assert(offsetof(struct nvmet_req, port) == 392);
core_abi_assert(sizeof_field(struct nvmet_req, port) == 8);
core_abi_assert(offsetof(struct nvmet_req, execute) == 400);
core_abi_assert(sizeof_field(struct nvmet_req, execute) == 8);
core_abi_assert(offsetof(struct nvmet_req, ops) == 408);
core_abi_assert(sizeof_field(struct nvmet_req, ops) == 8);
core_abi_assert(offsetof(struct nvmet_req, p2p_dev) == 416);
core_abi_assert(sizeof_field(struct nvmet_req, p2p_dev) == 8);
core_abi_assert(offsetof(struct nvmet_req, p2p_client) == 424);
core_abi_assert(sizeof_field(struct nvmet_req, p2p_client) == 8);
core_abi_assert(offsetof(struct nvmet_req, error_loc) == 432);
core_abi_assert(sizeof_field(struct nvmet_req, error_loc) == 2);
core_abi_assert(offsetof(struct nvmet_req, error_slba) == 440);
core_abi_assert(sizeof_field(struct nvmet_req, error_slba) == 8);

/* nvmet.ko */
struct nvmet_ns {
	u8 core_abi_pad0[24];
	struct block_device *bdev;
	u8 core_abi_pad1[16];
	u32 blksize_shift;
	u8 core_abi_pad2[396];
	int use_p2pmem;
	int pi_type;
	int metadata_size;
	u8 core_abi_pad3[116];
} __aligned(8);
core_abi_assert(sizeof(struct nvmet_ns) == 576);
core_abi_assert(offsetof(struct nvmet_ns, bdev) == 24);
core_abi_assert(sizeof_field(struct nvmet_ns, bdev) == 8);
core_abi_assert(offsetof(struct nvmet_ns, blksize_shift) == 48);
core_abi_assert(sizeof_field(struct nvmet_ns, blksize_shift) == 4);
core_abi_assert(offsetof(struct nvmet_ns, use_p2pmem) == 448);
core_abi_assert(sizeof_field(struct nvmet_ns, use_p2pmem) == 4);
core_abi_assert(offsetof(struct nvmet_ns, pi_type) == 452);
core_abi_assert(sizeof_field(struct nvmet_ns, pi_type) == 4);
core_abi_assert(offsetof(struct nvmet_ns, metadata_size) == 456);
core_abi_assert(sizeof_field(struct nvmet_ns, metadata_size) == 4);

/* nvmet.ko */
struct nvmet_sq {
	struct nvmet_ctrl *ctrl;
	u8 core_abi_pad0[24];
	u16 qid;
	u16 size;
	u8 core_abi_pad1[260];
} __aligned(8);
core_abi_assert(sizeof(struct nvmet_sq) == 296);
core_abi_assert(offsetof(struct nvmet_sq, ctrl) == 0);
core_abi_assert(sizeof_field(struct nvmet_sq, ctrl) == 8);
core_abi_assert(offsetof(struct nvmet_sq, qid) == 32);
core_abi_assert(sizeof_field(struct nvmet_sq, qid) == 2);
core_abi_assert(offsetof(struct nvmet_sq, size) == 34);
core_abi_assert(sizeof_field(struct nvmet_sq, size) == 2);

/* nvmet.ko */
struct nvmet_cq {
	u8 core_abi_pad0[8];
	u16 qid;
	u16 size;
	u8 core_abi_pad1[4];
} __aligned(8);
core_abi_assert(sizeof(struct nvmet_cq) == 16);
core_abi_assert(offsetof(struct nvmet_cq, qid) == 8);
core_abi_assert(sizeof_field(struct nvmet_cq, qid) == 2);
core_abi_assert(offsetof(struct nvmet_cq, size) == 10);
core_abi_assert(sizeof_field(struct nvmet_cq, size) == 2);

/* nvmet.ko */
struct nvmet_port {
	u8 core_abi_pad0[16];
	struct nvmf_disc_rsp_page_entry disc_addr;
	u8 core_abi_pad1[752];
	void *priv;
	bool enabled;
	u8 core_abi_pad2[3];
	int inline_data_size;
	int max_queue_size;
	u8 core_abi_pad3[12];
	bool pi_enable;
	u8 core_abi_pad4[7];
} __aligned(8);
core_abi_assert(sizeof(struct nvmet_port) == 1832);
core_abi_assert(offsetof(struct nvmet_port, disc_addr) == 16);
core_abi_assert(sizeof_field(struct nvmet_port, disc_addr) == 1024);
core_abi_assert(offsetof(struct nvmet_port, priv) == 1792);
core_abi_assert(sizeof_field(struct nvmet_port, priv) == 8);
core_abi_assert(offsetof(struct nvmet_port, enabled) == 1800);
core_abi_assert(sizeof_field(struct nvmet_port, enabled) == 1);
core_abi_assert(offsetof(struct nvmet_port, inline_data_size) == 1804);
core_abi_assert(sizeof_field(struct nvmet_port, inline_data_size) == 4);
core_abi_assert(offsetof(struct nvmet_port, max_queue_size) == 1808);
core_abi_assert(sizeof_field(struct nvmet_port, max_queue_size) == 4);
core_abi_assert(offsetof(struct nvmet_port, pi_enable) == 1824);
core_abi_assert(sizeof_field(struct nvmet_port, pi_enable) == 1);
#define HAVE_NVMET_PORT_MAX_QUEUE_SIZE 1

/* nvmet.ko */
struct nvmet_ctrl {
	struct nvmet_subsys *subsys;
	struct nvmet_sq **sqs;
	u8 core_abi_pad0[88];
	u16 cntlid;
	u8 core_abi_pad1[6];
	struct nvmet_port *port;
	u8 core_abi_pad2[248];
	const struct nvmet_fabrics_ops *ops;
	u8 core_abi_pad3[12];
	char hostnqn[256];
	u8 core_abi_pad4[8292];
	bool pi_support;
	u8 core_abi_pad5[4239];
} __aligned(8);
core_abi_assert(sizeof(struct nvmet_ctrl) == 13176);
core_abi_assert(offsetof(struct nvmet_ctrl, subsys) == 0);
core_abi_assert(sizeof_field(struct nvmet_ctrl, subsys) == 8);
core_abi_assert(offsetof(struct nvmet_ctrl, sqs) == 8);
core_abi_assert(sizeof_field(struct nvmet_ctrl, sqs) == 8);
core_abi_assert(offsetof(struct nvmet_ctrl, cntlid) == 104);
core_abi_assert(sizeof_field(struct nvmet_ctrl, cntlid) == 2);
core_abi_assert(offsetof(struct nvmet_ctrl, port) == 112);
core_abi_assert(sizeof_field(struct nvmet_ctrl, port) == 8);
core_abi_assert(offsetof(struct nvmet_ctrl, ops) == 368);
core_abi_assert(sizeof_field(struct nvmet_ctrl, ops) == 8);
core_abi_assert(offsetof(struct nvmet_ctrl, hostnqn) == 388);
core_abi_assert(sizeof_field(struct nvmet_ctrl, hostnqn) == 256);
core_abi_assert(offsetof(struct nvmet_ctrl, pi_support) == 8936);
core_abi_assert(sizeof_field(struct nvmet_ctrl, pi_support) == 1);

/* nvmet.ko */
struct nvmet_subsys {
	enum nvme_subsys_type type;
	u8 core_abi_pad0[180];
	char *subsysnqn;
	u8 core_abi_pad1[616];
} __aligned(8);
core_abi_assert(sizeof(struct nvmet_subsys) == 808);
core_abi_assert(offsetof(struct nvmet_subsys, type) == 0);
core_abi_assert(sizeof_field(struct nvmet_subsys, type) == 4);
core_abi_assert(offsetof(struct nvmet_subsys, subsysnqn) == 184);
core_abi_assert(sizeof_field(struct nvmet_subsys, subsysnqn) == 8);

/* nvmet.ko */
struct nvmet_fabrics_ops {
	struct module *owner;
	unsigned int type;
	unsigned int msdbd;
	unsigned int flags;
	u8 core_abi_pad0[4];
	void (*queue_response)(struct nvmet_req *);
	int (*add_port)(struct nvmet_port *);
	void (*remove_port)(struct nvmet_port *);
	void (*delete_ctrl)(struct nvmet_ctrl *);
	void (*disc_traddr)(struct nvmet_req *, struct nvmet_port *, char *);
	ssize_t (*host_traddr)(struct nvmet_ctrl *, char *, size_t);
	u16 (*install_queue)(struct nvmet_sq *);
	void (*discovery_chg)(struct nvmet_port *);
	u8 (*get_mdts)(const struct nvmet_ctrl *);
	u16 (*get_max_queue_size)(const struct nvmet_ctrl *);
	u8 core_abi_pad1[48];
} __aligned(8);
core_abi_assert(sizeof(struct nvmet_fabrics_ops) == 152);
core_abi_assert(offsetof(struct nvmet_fabrics_ops, owner) == 0);
core_abi_assert(sizeof_field(struct nvmet_fabrics_ops, owner) == 8);
core_abi_assert(offsetof(struct nvmet_fabrics_ops, type) == 8);
core_abi_assert(sizeof_field(struct nvmet_fabrics_ops, type) == 4);
core_abi_assert(offsetof(struct nvmet_fabrics_ops, msdbd) == 12);
core_abi_assert(sizeof_field(struct nvmet_fabrics_ops, msdbd) == 4);
core_abi_assert(offsetof(struct nvmet_fabrics_ops, flags) == 16);
core_abi_assert(sizeof_field(struct nvmet_fabrics_ops, flags) == 4);
core_abi_assert(offsetof(struct nvmet_fabrics_ops, queue_response) == 24);
core_abi_assert(sizeof_field(struct nvmet_fabrics_ops, queue_response) == 8);
core_abi_assert(offsetof(struct nvmet_fabrics_ops, add_port) == 32);
core_abi_assert(sizeof_field(struct nvmet_fabrics_ops, add_port) == 8);
core_abi_assert(offsetof(struct nvmet_fabrics_ops, remove_port) == 40);
core_abi_assert(sizeof_field(struct nvmet_fabrics_ops, remove_port) == 8);
core_abi_assert(offsetof(struct nvmet_fabrics_ops, delete_ctrl) == 48);
core_abi_assert(sizeof_field(struct nvmet_fabrics_ops, delete_ctrl) == 8);
core_abi_assert(offsetof(struct nvmet_fabrics_ops, disc_traddr) == 56);
core_abi_assert(sizeof_field(struct nvmet_fabrics_ops, disc_traddr) == 8);
core_abi_assert(offsetof(struct nvmet_fabrics_ops, host_traddr) == 64);
core_abi_assert(sizeof_field(struct nvmet_fabrics_ops, host_traddr) == 8);
core_abi_assert(offsetof(struct nvmet_fabrics_ops, install_queue) == 72);
core_abi_assert(sizeof_field(struct nvmet_fabrics_ops, install_queue) == 8);
core_abi_assert(offsetof(struct nvmet_fabrics_ops, discovery_chg) == 80);
core_abi_assert(sizeof_field(struct nvmet_fabrics_ops, discovery_chg) == 8);
core_abi_assert(offsetof(struct nvmet_fabrics_ops, get_mdts) == 88);
core_abi_assert(sizeof_field(struct nvmet_fabrics_ops, get_mdts) == 8);
core_abi_assert(offsetof(struct nvmet_fabrics_ops, get_max_queue_size) == 96);
core_abi_assert(sizeof_field(struct nvmet_fabrics_ops, get_max_queue_size) == 8);
#define HAVE_NVMET_FABRICS_OPS_HOST_TRADDR 1

int nvme_init_ctrl(struct nvme_ctrl *, struct device *, const struct nvme_ctrl_ops *, long unsigned int);
#define NVME_INIT_CTRL_NARGS 4
int nvme_add_ctrl(struct nvme_ctrl *);
#define NVME_ADD_CTRL_NARGS 1
#define HAVE_NVME_ADD_CTRL 1
int nvme_init_ctrl_finish(struct nvme_ctrl *, bool);
#define NVME_INIT_CTRL_FINISH_NARGS 2
void nvme_uninit_ctrl(struct nvme_ctrl *);
#define NVME_UNINIT_CTRL_NARGS 1
void nvme_start_ctrl(struct nvme_ctrl *);
#define NVME_START_CTRL_NARGS 1
void nvme_stop_ctrl(struct nvme_ctrl *);
#define NVME_STOP_CTRL_NARGS 1
int nvme_enable_ctrl(struct nvme_ctrl *);
#define NVME_ENABLE_CTRL_NARGS 1
int nvme_disable_ctrl(struct nvme_ctrl *, bool);
#define NVME_DISABLE_CTRL_NARGS 2
int nvme_delete_ctrl(struct nvme_ctrl *);
#define NVME_DELETE_CTRL_NARGS 1
int nvme_reset_ctrl(struct nvme_ctrl *);
#define NVME_RESET_CTRL_NARGS 1
bool nvme_change_ctrl_state(struct nvme_ctrl *, enum nvme_ctrl_state);
#define NVME_CHANGE_CTRL_STATE_NARGS 2
int nvme_set_queue_count(struct nvme_ctrl *, int *);
#define NVME_SET_QUEUE_COUNT_NARGS 2
void nvme_stop_keep_alive(struct nvme_ctrl *);
#define NVME_STOP_KEEP_ALIVE_NARGS 1
int nvme_alloc_admin_tag_set(struct nvme_ctrl *, struct blk_mq_tag_set *, const struct blk_mq_ops *, unsigned int);
#define NVME_ALLOC_ADMIN_TAG_SET_NARGS 4
void nvme_remove_admin_tag_set(struct nvme_ctrl *);
#define NVME_REMOVE_ADMIN_TAG_SET_NARGS 1
int nvme_alloc_io_tag_set(struct nvme_ctrl *, struct blk_mq_tag_set *, const struct blk_mq_ops *, unsigned int, unsigned int);
#define NVME_ALLOC_IO_TAG_SET_NARGS 5
void nvme_remove_io_tag_set(struct nvme_ctrl *);
#define NVME_REMOVE_IO_TAG_SET_NARGS 1
void nvme_cancel_tagset(struct nvme_ctrl *);
#define NVME_CANCEL_TAGSET_NARGS 1
void nvme_cancel_admin_tagset(struct nvme_ctrl *);
#define NVME_CANCEL_ADMIN_TAGSET_NARGS 1
bool nvme_cancel_request(struct request *, void *);
#define NVME_CANCEL_REQUEST_NARGS 2
void nvme_unquiesce_io_queues(struct nvme_ctrl *);
#define NVME_UNQUIESCE_IO_QUEUES_NARGS 1
#define HAVE_NVME_UNQUIESCE_IO_QUEUES 1
void nvme_quiesce_admin_queue(struct nvme_ctrl *);
#define NVME_QUIESCE_ADMIN_QUEUE_NARGS 1
#define HAVE_NVME_QUIESCE_ADMIN_QUEUE 1
void nvme_unquiesce_admin_queue(struct nvme_ctrl *);
#define NVME_UNQUIESCE_ADMIN_QUEUE_NARGS 1
#define HAVE_NVME_UNQUIESCE_ADMIN_QUEUE 1
void nvme_sync_io_queues(struct nvme_ctrl *);
#define NVME_SYNC_IO_QUEUES_NARGS 1
void nvme_sync_queues(struct nvme_ctrl *);
#define NVME_SYNC_QUEUES_NARGS 1
void nvme_init_request(struct request *, struct nvme_command *);
#define NVME_INIT_REQUEST_NARGS 2
blk_status_t nvme_setup_cmd(struct nvme_ns *, struct request *);
#define NVME_SETUP_CMD_NARGS 2
int nvme_submit_sync_cmd(struct request_queue *, struct nvme_command *, void *, unsigned int);
#define NVME_SUBMIT_SYNC_CMD_NARGS 4
void nvme_cleanup_cmd(struct request *);
#define NVME_CLEANUP_CMD_NARGS 1
void nvme_complete_rq(struct request *);
#define NVME_COMPLETE_RQ_NARGS 1
void nvme_complete_batch_req(struct request *);
#define NVME_COMPLETE_BATCH_REQ_NARGS 1
void nvme_complete_async_event(struct nvme_ctrl *, __le16, volatile union nvme_result *);
#define NVME_COMPLETE_ASYNC_EVENT_NARGS 3
blk_status_t nvme_fail_nonready_command(struct nvme_ctrl *, struct request *);
#define NVME_FAIL_NONREADY_COMMAND_NARGS 2
bool __nvme_check_ready(struct nvme_ctrl *, struct request *, bool, enum nvme_ctrl_state);
#define __NVME_CHECK_READY_NARGS 4
void nvme_mpath_start_request(struct request *);
#define NVME_MPATH_START_REQUEST_NARGS 1
#define HAVE_NVME_MPATH_START_REQUEST 1
void nvme_auth_stop(struct nvme_ctrl *);
#define NVME_AUTH_STOP_NARGS 1
#define HAVE_NVME_AUTH_STOP 1
int nvmf_register_transport(struct nvmf_transport_ops *);
#define NVMF_REGISTER_TRANSPORT_NARGS 1
void nvmf_unregister_transport(struct nvmf_transport_ops *);
#define NVMF_UNREGISTER_TRANSPORT_NARGS 1
void nvmf_free_options(struct nvmf_ctrl_options *);
#define NVMF_FREE_OPTIONS_NARGS 1
int nvmf_reg_read32(struct nvme_ctrl *, u32, u32 *);
#define NVMF_REG_READ32_NARGS 3
int nvmf_reg_read64(struct nvme_ctrl *, u32, u64 *);
#define NVMF_REG_READ64_NARGS 3
int nvmf_reg_write32(struct nvme_ctrl *, u32, u32);
#define NVMF_REG_WRITE32_NARGS 3
int nvmf_subsystem_reset(struct nvme_ctrl *);
#define NVMF_SUBSYSTEM_RESET_NARGS 1
#define HAVE_NVMF_SUBSYSTEM_RESET 1
int nvmf_get_address(struct nvme_ctrl *, char *, int);
#define NVMF_GET_ADDRESS_NARGS 3
int nvmf_connect_admin_queue(struct nvme_ctrl *);
#define NVMF_CONNECT_ADMIN_QUEUE_NARGS 1
int nvmf_connect_io_queue(struct nvme_ctrl *, u16);
#define NVMF_CONNECT_IO_QUEUE_NARGS 2
bool nvmf_should_reconnect(struct nvme_ctrl *, int);
#define NVMF_SHOULD_RECONNECT_NARGS 2
bool nvmf_ip_options_match(struct nvme_ctrl *, struct nvmf_ctrl_options *);
#define NVMF_IP_OPTIONS_MATCH_NARGS 2
void nvmf_set_io_queues(struct nvmf_ctrl_options *, u32, u32 *);
#define NVMF_SET_IO_QUEUES_NARGS 3
#define HAVE_NVMF_SET_IO_QUEUES 1
void nvmf_map_queues(struct blk_mq_tag_set *, struct nvme_ctrl *, u32 *);
#define NVMF_MAP_QUEUES_NARGS 3
#define HAVE_NVMF_MAP_QUEUES 1
int nvmet_register_transport(const struct nvmet_fabrics_ops *);
#define NVMET_REGISTER_TRANSPORT_NARGS 1
void nvmet_unregister_transport(const struct nvmet_fabrics_ops *);
#define NVMET_UNREGISTER_TRANSPORT_NARGS 1
bool nvmet_req_init(struct nvmet_req *, struct nvmet_sq *, const struct nvmet_fabrics_ops *);
#define NVMET_REQ_INIT_NARGS 3
void nvmet_req_uninit(struct nvmet_req *);
#define NVMET_REQ_UNINIT_NARGS 1
void nvmet_req_complete(struct nvmet_req *, u16);
#define NVMET_REQ_COMPLETE_NARGS 2
int nvmet_req_alloc_sgls(struct nvmet_req *);
#define NVMET_REQ_ALLOC_SGLS_NARGS 1
void nvmet_req_free_sgls(struct nvmet_req *);
#define NVMET_REQ_FREE_SGLS_NARGS 1
size_t nvmet_req_transfer_len(struct nvmet_req *);
#define NVMET_REQ_TRANSFER_LEN_NARGS 1
bool nvmet_check_transfer_len(struct nvmet_req *, size_t);
#define NVMET_CHECK_TRANSFER_LEN_NARGS 2
int nvmet_sq_init(struct nvmet_sq *, struct nvmet_cq *);
#define NVMET_SQ_INIT_NARGS 2
void nvmet_sq_destroy(struct nvmet_sq *);
#define NVMET_SQ_DESTROY_NARGS 1
void nvmet_cq_init(struct nvmet_cq *);
#define NVMET_CQ_INIT_NARGS 1
#define HAVE_NVMET_CQ_INIT 1
bool nvmet_cq_get(struct nvmet_cq *);
#define NVMET_CQ_GET_NARGS 1
#define HAVE_NVMET_CQ_GET 1
void nvmet_cq_put(struct nvmet_cq *);
#define NVMET_CQ_PUT_NARGS 1
#define HAVE_NVMET_CQ_PUT 1
void nvmet_ctrl_fatal_error(struct nvmet_ctrl *);
#define NVMET_CTRL_FATAL_ERROR_NARGS 1
extern struct workqueue_struct *nvme_wq;
extern struct workqueue_struct *nvme_reset_wq;
extern struct workqueue_struct *nvme_delete_wq;
extern unsigned int nvme_io_timeout;
extern struct workqueue_struct *nvmet_wq;
extern struct workqueue_struct *nvmet_aen_wq;
#define HAVE_NVMET_AEN_WQ 1
/* as nvme-rdma.ko initializes it */
#define CORE_ABI_NVME_RDMA_CTRL_OPS_FLAGS 0x3
/* as nvmet-rdma.ko initializes it */
#define CORE_ABI_NVMET_RDMA_OPS_FLAGS 0x3
#define HAVE_STRUCT_RQ_LIST 1
/* int __blk_rq_map_sg(struct request *, struct scatterlist *, struct scatterlist **); */
#define __BLK_RQ_MAP_SG_NARGS 3
#define HAVE___BLK_RQ_MAP_SG 1
/* int blk_rq_map_integrity_sg(struct request *, struct scatterlist *); */
#define BLK_RQ_MAP_INTEGRITY_SG_NARGS 2
#define HAVE_BLK_RQ_MAP_INTEGRITY_SG 1
/* enum rq_end_io_ret blk_end_sync_rq(struct request *, blk_status_t, const struct io_comp_batch *); */
#define BLK_END_SYNC_RQ_NARGS 3
#define HAVE_BLK_END_SYNC_RQ 1
/* void blk_mq_unfreeze_queue_non_owner(struct request_queue *); */
#define BLK_MQ_UNFREEZE_QUEUE_NON_OWNER_NARGS 1
#define HAVE_BLK_MQ_UNFREEZE_QUEUE_NON_OWNER 1
/* struct shrinker *shrinker_alloc(unsigned int, const char *, ...); */
#define SHRINKER_ALLOC_NARGS 3
#define HAVE_SHRINKER_ALLOC 1
/* struct ib_pd *__ib_alloc_pd(struct ib_device *, unsigned int, const char *); */
#define __IB_ALLOC_PD_NARGS 3
#define HAVE___IB_ALLOC_PD 1
/* struct ib_cq *__ib_create_cq(struct ib_device *, ib_comp_handler, void (*)(struct ib_event *, void *), void *, const struct ib_cq_init_attr *, const char *); */
#define __IB_CREATE_CQ_NARGS 6
#define HAVE___IB_CREATE_CQ 1
/* struct ib_mr *ib_alloc_mr(struct ib_pd *, enum ib_mr_type, u32); */
#define IB_ALLOC_MR_NARGS 3
#define HAVE_IB_ALLOC_MR 1
/* struct ib_mr *ib_alloc_mr_integrity(struct ib_pd *, u32, u32); */
#define IB_ALLOC_MR_INTEGRITY_NARGS 3
#define HAVE_IB_ALLOC_MR_INTEGRITY 1
/* int ib_check_mr_status(struct ib_mr *, u32, struct ib_mr_status *); */
#define IB_CHECK_MR_STATUS_NARGS 3
#define HAVE_IB_CHECK_MR_STATUS 1
/* struct ib_srq *ib_create_srq_user(struct ib_pd *, struct ib_srq_init_attr *, struct ib_usrq_object *, struct ib_udata *); */
#define IB_CREATE_SRQ_USER_NARGS 4
#define HAVE_IB_CREATE_SRQ_USER 1
/* int ib_dealloc_pd_user(struct ib_pd *, struct ib_udata *); */
#define IB_DEALLOC_PD_USER_NARGS 2
#define HAVE_IB_DEALLOC_PD_USER 1
/* int ib_dereg_mr_user(struct ib_mr *, struct ib_udata *); */
#define IB_DEREG_MR_USER_NARGS 2
#define HAVE_IB_DEREG_MR_USER 1
/* int ib_destroy_cq_user(struct ib_cq *, struct ib_udata *); */
#define IB_DESTROY_CQ_USER_NARGS 2
#define HAVE_IB_DESTROY_CQ_USER 1
/* int ib_destroy_qp_user(struct ib_qp *, struct ib_udata *); */
#define IB_DESTROY_QP_USER_NARGS 2
#define HAVE_IB_DESTROY_QP_USER 1
/* int ib_destroy_srq_user(struct ib_srq *, struct ib_udata *); */
#define IB_DESTROY_SRQ_USER_NARGS 2
#define HAVE_IB_DESTROY_SRQ_USER 1
/* int ib_dma_virt_map_sg(struct ib_device *, struct scatterlist *, int); */
#define IB_DMA_VIRT_MAP_SG_NARGS 3
#define HAVE_IB_DMA_VIRT_MAP_SG 1
/* const char *ib_event_msg(enum ib_event_type); */
#define IB_EVENT_MSG_NARGS 1
#define HAVE_IB_EVENT_MSG 1
/* int ib_map_mr_sg(struct ib_mr *, struct scatterlist *, int, unsigned int *, unsigned int); */
#define IB_MAP_MR_SG_NARGS 5
#define HAVE_IB_MAP_MR_SG 1
/* int ib_map_mr_sg_pi(struct ib_mr *, struct scatterlist *, int, unsigned int *, struct scatterlist *, int, unsigned int *, unsigned int); */
#define IB_MAP_MR_SG_PI_NARGS 8
#define HAVE_IB_MAP_MR_SG_PI 1
/* int ib_modify_qp(struct ib_qp *, struct ib_qp_attr *, int); */
#define IB_MODIFY_QP_NARGS 3
#define HAVE_IB_MODIFY_QP 1
/* int ib_modify_srq(struct ib_srq *, struct ib_srq_attr *, enum ib_srq_attr_mask); */
#define IB_MODIFY_SRQ_NARGS 3
#define HAVE_IB_MODIFY_SRQ 1
/* int ib_register_client(struct ib_client *); */
#define IB_REGISTER_CLIENT_NARGS 1
#define HAVE_IB_REGISTER_CLIENT 1
/* void ib_register_event_handler(struct ib_event_handler *); */
#define IB_REGISTER_EVENT_HANDLER_NARGS 1
#define HAVE_IB_REGISTER_EVENT_HANDLER 1
/* void ib_unregister_client(struct ib_client *); */
#define IB_UNREGISTER_CLIENT_NARGS 1
#define HAVE_IB_UNREGISTER_CLIENT 1
/* void ib_unregister_event_handler(struct ib_event_handler *); */
#define IB_UNREGISTER_EVENT_HANDLER_NARGS 1
#define HAVE_IB_UNREGISTER_EVENT_HANDLER 1
/* const char *ib_wc_status_msg(enum ib_wc_status); */
#define IB_WC_STATUS_MSG_NARGS 1
#define HAVE_IB_WC_STATUS_MSG 1
/* void rdma_addr_cancel(struct rdma_dev_addr *); */
#define RDMA_ADDR_CANCEL_NARGS 1
#define HAVE_RDMA_ADDR_CANCEL 1
/* int rdma_resolve_ip(struct sockaddr *, const struct sockaddr *, struct rdma_dev_addr *, long unsigned int, void (*)(int, struct sockaddr *, struct rdma_dev_addr *, void *), bool, void *); */
#define RDMA_RESOLVE_IP_NARGS 7
#define HAVE_RDMA_RESOLVE_IP 1
/* void rdma_rw_ctx_destroy(struct rdma_rw_ctx *, struct ib_qp *, u32, struct scatterlist *, u32, enum dma_data_direction); */
#define RDMA_RW_CTX_DESTROY_NARGS 6
#define HAVE_RDMA_RW_CTX_DESTROY 1
/* void rdma_rw_ctx_destroy_signature(struct rdma_rw_ctx *, struct ib_qp *, u32, struct scatterlist *, u32, struct scatterlist *, u32, enum dma_data_direction); */
#define RDMA_RW_CTX_DESTROY_SIGNATURE_NARGS 8
#define HAVE_RDMA_RW_CTX_DESTROY_SIGNATURE 1
/* int rdma_rw_ctx_init(struct rdma_rw_ctx *, struct ib_qp *, u32, struct scatterlist *, u32, u32, u64, u32, enum dma_data_direction); */
#define RDMA_RW_CTX_INIT_NARGS 9
#define HAVE_RDMA_RW_CTX_INIT 1
/* int rdma_rw_ctx_signature_init(struct rdma_rw_ctx *, struct ib_qp *, u32, struct scatterlist *, u32, struct scatterlist *, u32, struct ib_sig_attrs *, u64, u32, enum dma_data_direction); */
#define RDMA_RW_CTX_SIGNATURE_INIT_NARGS 11
#define HAVE_RDMA_RW_CTX_SIGNATURE_INIT 1
/* struct ib_send_wr *rdma_rw_ctx_wrs(struct rdma_rw_ctx *, struct ib_qp *, u32, struct ib_cqe *, struct ib_send_wr *); */
#define RDMA_RW_CTX_WRS_NARGS 5
#define HAVE_RDMA_RW_CTX_WRS 1
/* int rdma_set_cq_moderation(struct ib_cq *, u16, u16); */
#define RDMA_SET_CQ_MODERATION_NARGS 3
#define HAVE_RDMA_SET_CQ_MODERATION 1
/* struct rdma_cm_id *__rdma_create_kernel_id(struct net *, rdma_cm_event_handler, void *, enum rdma_ucm_port_space, enum ib_qp_type, const char *); */
#define __RDMA_CREATE_KERNEL_ID_NARGS 6
#define HAVE___RDMA_CREATE_KERNEL_ID 1
/* int rdma_accept(struct rdma_cm_id *, struct rdma_conn_param *); */
#define RDMA_ACCEPT_NARGS 2
#define HAVE_RDMA_ACCEPT 1
/* int rdma_bind_addr(struct rdma_cm_id *, struct sockaddr *); */
#define RDMA_BIND_ADDR_NARGS 2
#define HAVE_RDMA_BIND_ADDR 1
/* int rdma_connect(struct rdma_cm_id *, struct rdma_conn_param *); */
#define RDMA_CONNECT_NARGS 2
#define HAVE_RDMA_CONNECT 1
/* const void *rdma_consumer_reject_data(struct rdma_cm_id *, struct rdma_cm_event *, u8 *); */
#define RDMA_CONSUMER_REJECT_DATA_NARGS 3
#define HAVE_RDMA_CONSUMER_REJECT_DATA 1
/* int rdma_create_qp(struct rdma_cm_id *, struct ib_pd *, struct ib_qp_init_attr *); */
#define RDMA_CREATE_QP_NARGS 3
#define HAVE_RDMA_CREATE_QP 1
/* void rdma_destroy_id(struct rdma_cm_id *); */
#define RDMA_DESTROY_ID_NARGS 1
#define HAVE_RDMA_DESTROY_ID 1
/* void rdma_destroy_qp(struct rdma_cm_id *); */
#define RDMA_DESTROY_QP_NARGS 1
#define HAVE_RDMA_DESTROY_QP 1
/* int rdma_disconnect(struct rdma_cm_id *); */
#define RDMA_DISCONNECT_NARGS 1
#define HAVE_RDMA_DISCONNECT 1
/* const char *rdma_event_msg(enum rdma_cm_event_type); */
#define RDMA_EVENT_MSG_NARGS 1
#define HAVE_RDMA_EVENT_MSG 1
/* int rdma_listen(struct rdma_cm_id *, int); */
#define RDMA_LISTEN_NARGS 2
#define HAVE_RDMA_LISTEN 1
/* void rdma_lock_handler(struct rdma_cm_id *); */
#define RDMA_LOCK_HANDLER_NARGS 1
#define HAVE_RDMA_LOCK_HANDLER 1
/* int rdma_notify(struct rdma_cm_id *, enum ib_event_type); */
#define RDMA_NOTIFY_NARGS 2
#define HAVE_RDMA_NOTIFY 1
/* int rdma_reject(struct rdma_cm_id *, const void *, u8, u8); */
#define RDMA_REJECT_NARGS 4
#define HAVE_RDMA_REJECT 1
/* const char *rdma_reject_msg(struct rdma_cm_id *, int); */
#define RDMA_REJECT_MSG_NARGS 2
#define HAVE_RDMA_REJECT_MSG 1
/* int rdma_resolve_addr(struct rdma_cm_id *, struct sockaddr *, const struct sockaddr *, long unsigned int); */
#define RDMA_RESOLVE_ADDR_NARGS 4
#define HAVE_RDMA_RESOLVE_ADDR 1
/* int rdma_resolve_route(struct rdma_cm_id *, long unsigned int); */
#define RDMA_RESOLVE_ROUTE_NARGS 2
#define HAVE_RDMA_RESOLVE_ROUTE 1
/* int rdma_set_ack_timeout(struct rdma_cm_id *, u8); */
#define RDMA_SET_ACK_TIMEOUT_NARGS 2
#define HAVE_RDMA_SET_ACK_TIMEOUT 1
/* int rdma_set_afonly(struct rdma_cm_id *, int); */
#define RDMA_SET_AFONLY_NARGS 2
#define HAVE_RDMA_SET_AFONLY 1
/* int rdma_set_min_rnr_timer(struct rdma_cm_id *, u8); */
#define RDMA_SET_MIN_RNR_TIMER_NARGS 2
#define HAVE_RDMA_SET_MIN_RNR_TIMER 1
/* void rdma_set_service_type(struct rdma_cm_id *, int); */
#define RDMA_SET_SERVICE_TYPE_NARGS 2
#define HAVE_RDMA_SET_SERVICE_TYPE 1
/* void rdma_unlock_handler(struct rdma_cm_id *); */
#define RDMA_UNLOCK_HANDLER_NARGS 1
#define HAVE_RDMA_UNLOCK_HANDLER 1
/* struct nvme_rw_command: __le16 lbat; */
#define HAVE_NVME_RW_COMMAND_LBAT 1
/* struct blk_plug: short unsigned int nr_ios; */
#define HAVE_BLK_PLUG_NR_IOS 1
/* struct blk_mq_tag_set: struct rw_semaphore update_nr_hwq_lock; */
#define HAVE_BLK_MQ_TAG_SET_UPDATE_NR_HWQ_LOCK 1
/* struct blk_plug: u64 cur_ktime; */
#define HAVE_BLK_PLUG_CUR_KTIME 1
/* struct ib_device_attr: u64 device_cap_flags; */
#define HAVE_IB_DEVICE_ATTR_DEVICE_CAP_FLAGS 1
/* struct ib_device_attr: u64 kernel_cap_flags; */
#define HAVE_IB_DEVICE_ATTR_KERNEL_CAP_FLAGS 1
/* struct ib_device_attr: u32 max_cqe; */
#define HAVE_IB_DEVICE_ATTR_MAX_CQE 1
/* struct ib_device_attr: unsigned int max_fast_reg_page_list_len; */
#define HAVE_IB_DEVICE_ATTR_MAX_FAST_REG_PAGE_LIST_LEN 1
/* struct ib_device_attr: u32 max_mr; */
#define HAVE_IB_DEVICE_ATTR_MAX_MR 1
/* struct ib_device_attr: unsigned int max_pi_fast_reg_page_list_len; */
#define HAVE_IB_DEVICE_ATTR_MAX_PI_FAST_REG_PAGE_LIST_LEN 1
/* struct ib_device_attr: u32 max_qp_init_rd_atom; */
#define HAVE_IB_DEVICE_ATTR_MAX_QP_INIT_RD_ATOM 1
/* struct ib_device_attr: u32 max_qp_rd_atom; */
#define HAVE_IB_DEVICE_ATTR_MAX_QP_RD_ATOM 1
/* struct ib_device_attr: u32 max_qp_wr; */
#define HAVE_IB_DEVICE_ATTR_MAX_QP_WR 1
/* struct ib_device_attr: u32 max_send_sge; */
#define HAVE_IB_DEVICE_ATTR_MAX_SEND_SGE 1
/* struct ib_device_attr: u32 max_sge_rd; */
#define HAVE_IB_DEVICE_ATTR_MAX_SGE_RD 1
/* struct ib_device_attr: u32 max_srq; */
#define HAVE_IB_DEVICE_ATTR_MAX_SRQ 1
/* struct ib_device_attr: u32 max_srq_sge; */
#define HAVE_IB_DEVICE_ATTR_MAX_SRQ_SGE 1
/* struct ib_device_attr: u32 max_srq_wr; */
#define HAVE_IB_DEVICE_ATTR_MAX_SRQ_WR 1

#endif
