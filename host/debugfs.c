// SPDX-License-Identifier: GPL-2.0
/*
 * A file for each queue in debugfs, and one for the options of its controller.
 *
 * /sys/kernel/debug/nvme_rdma/nvmeN/queueM holds lines of a key and its values.
 * The keys are stable, and nvme-rdma(4) says what each means: keep the two
 * alike. Counts go up from the controller's creation on, through all of its
 * connections. The files may be read at any time; they take no lock, so that
 * they can be read when something hangs.
 */
#include <linux/debugfs.h>

#include "control.h"
#include "ctrl.h"
#include "device.h"

static struct dentry *nvme_rdma_debugfs_dir;

/* Keys of the values of enum nvme_rdma_data */
static const char * const nvme_rdma_data_keys[NVME_RDMA_NR_DATA] = {
	[NVME_RDMA_DATA_NONE]		= "sent_without_data",
	[NVME_RDMA_DATA_IN_CAPSULE]	= "sent_in_capsule",
	[NVME_RDMA_DATA_REGISTERED]	= "sent_registered",
	[NVME_RDMA_DATA_PROTECTED]	= "sent_protected",
	[NVME_RDMA_DATA_GLOBAL]		= "sent_global_key",
};

static const char * const nvme_rdma_event_keys[NVME_RDMA_NR_EVENTS] = {
	[NVME_RDMA_EV_NO_SLOT]		= "wait_no_slot",
	[NVME_RDMA_EV_NO_MEMORY]	= "wait_no_memory",
	[NVME_RDMA_EV_NO_MR]		= "wait_no_mr",
	[NVME_RDMA_EV_CONNECT]		= "connects",
	[NVME_RDMA_EV_CONNECT_FAILED]	= "error_connect",
	[NVME_RDMA_EV_LOST]		= "error_connection_lost",
	[NVME_RDMA_EV_WC_ERROR]		= "error_work",
	[NVME_RDMA_EV_FLUSH]		= "error_flush",
	[NVME_RDMA_EV_PROTOCOL]		= "error_protocol",
	[NVME_RDMA_EV_POST]		= "error_post",
	[NVME_RDMA_EV_PI]		= "error_protection",
	[NVME_RDMA_EV_TIMEOUT]		= "error_timeout",
	[NVME_RDMA_EV_ABORT]		= "aborts",
};

static void nvme_rdma_show(struct seq_file *m, const char *key, u64 value)
{
	seq_printf(m, "%s %llu\n", key, value);
}

static void nvme_rdma_show_setup(struct seq_file *m,
				 const struct nvme_rdma_queue *queue)
{
	enum nvme_rdma_queue_state state = READ_ONCE(queue->state);

	seq_printf(m, "state %s\n", nvme_rdma_queue_state_name(state));
	seq_printf(m, "device %s\n", queue->ibdev_name[0] ?
		   queue->ibdev_name : "-");
	nvme_rdma_show(m, "vector", queue->vector);
	nvme_rdma_show(m, "completion_queue", queue->cqn);
	nvme_rdma_show(m, "polled", nvme_rdma_polled(queue));
	nvme_rdma_show(m, "depth", queue->depth);
	nvme_rdma_show(m, "in_capsule_size", queue->inline_size);
	nvme_rdma_show(m, "command_inline", queue->send_inline);
	nvme_rdma_show(m, "sq_slots", nvme_rdma_sq_slots(queue));
	nvme_rdma_show(m, "sq_slots_free", nvme_rdma_sq_slots_free(queue));
}

/* A SEND for each command, and a REG_MR for those that have a key */
static u64 nvme_rdma_sent_wrs(const struct nvme_rdma_sent *sent)
{
	u64 wrs = READ_ONCE(sent->by_data[NVME_RDMA_DATA_REGISTERED]) +
		  READ_ONCE(sent->by_data[NVME_RDMA_DATA_PROTECTED]);
	int i;

	for (i = 0; i < NVME_RDMA_NR_DATA; i++)
		wrs += READ_ONCE(sent->by_data[i]);
	return wrs;
}

static int nvme_rdma_queue_show(struct seq_file *m, void *unused)
{
	const struct nvme_rdma_queue *queue = m->private;
	const struct nvme_rdma_sent *sent = &queue->sent;
	const struct nvme_rdma_done *done = &queue->done;
	int i;

	nvme_rdma_show_setup(m, queue);
	for (i = 0; i < NVME_RDMA_NR_DATA; i++)
		nvme_rdma_show(m, nvme_rdma_data_keys[i],
			       READ_ONCE(sent->by_data[i]));
	nvme_rdma_show(m, "bytes_read", READ_ONCE(sent->bytes[READ]));
	nvme_rdma_show(m, "bytes_written", READ_ONCE(sent->bytes[WRITE]));
	nvme_rdma_show(m, "posts", READ_ONCE(sent->posts));
	nvme_rdma_show(m, "work_requests", nvme_rdma_sent_wrs(sent));
	nvme_rdma_show(m, "signaled_sends", READ_ONCE(sent->signaled));
	nvme_rdma_show(m, "polls", READ_ONCE(done->polls));
	nvme_rdma_show(m, "sends_completed", READ_ONCE(done->sends));
	nvme_rdma_show(m, "responses", nvme_rdma_hist_total(&done->latency));
	nvme_rdma_show(m, "responses_with_error", READ_ONCE(done->errors));
	nvme_rdma_show(m, "keys_invalidated_by_peer",
		       READ_ONCE(done->remote_invalidates));
	nvme_rdma_show(m, "keys_invalidated_here",
		       READ_ONCE(done->local_invalidates));
	for (i = 0; i < NVME_RDMA_NR_EVENTS; i++)
		nvme_rdma_show(m, nvme_rdma_event_keys[i],
			       atomic64_read(&queue->events[i]));
	nvme_rdma_hist_show(m, "latency_log2_us", &done->latency);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(nvme_rdma_queue);

/*
 * The options of a controller as /dev/nvme-fabrics takes them, so that user space can connect
 * it again. They are those of now, as sysfs changes some. Secrets are left to sysfs, where an
 * administrator may change them, too.
 */
static int nvme_rdma_options_show(struct seq_file *m, void *unused)
{
	const struct nvme_rdma_ctrl *ctrl = m->private;
	const struct nvmf_ctrl_options *opts = ctrl->ctrl.opts;
	int attempts = READ_ONCE(opts->max_reconnects), delay = READ_ONCE(opts->reconnect_delay);

	seq_printf(m, "transport=rdma,nqn=%s,traddr=%s,trsvcid=%s", opts->subsysnqn,
		   opts->traddr, opts->trsvcid);
	if (opts->mask & NVMF_OPT_HOST_TRADDR)
		seq_printf(m, ",host_traddr=%s", opts->host_traddr);
	if (opts->mask & NVMF_OPT_HOST_IFACE)
		seq_printf(m, ",host_iface=%s", opts->host_iface);
	seq_printf(m, ",hostnqn=%s,hostid=%pUb", opts->host->nqn, &opts->host->id);
	/* the core refuses a zero as the number of queues, and for the delay */
	if (opts->nr_io_queues)
		seq_printf(m, ",nr_io_queues=%u", opts->nr_io_queues);
	if (opts->nr_write_queues)
		seq_printf(m, ",nr_write_queues=%u", opts->nr_write_queues);
	if (opts->nr_poll_queues)
		seq_printf(m, ",nr_poll_queues=%u", opts->nr_poll_queues);
	seq_printf(m, ",queue_size=%zu,keep_alive_tmo=%u", opts->queue_size, ctrl->ctrl.kato);
	if (delay)
		seq_printf(m, ",reconnect_delay=%d", delay);
	seq_printf(m, ",ctrl_loss_tmo=%d", attempts < 0 ? -1 : attempts * delay);
	if (READ_ONCE(opts->fast_io_fail_tmo) >= 0)
		seq_printf(m, ",fast_io_fail_tmo=%d", READ_ONCE(opts->fast_io_fail_tmo));
	if (opts->tos >= 0)
		seq_printf(m, ",tos=%d", opts->tos);
	if (opts->disable_sqflow)
		seq_puts(m, ",disable_sqflow");
	/* the core sets duplicate_connect for a discovery controller */
	if (opts->discovery_nqn)
		seq_puts(m, ",discovery");
	else if (opts->duplicate_connect)
		seq_puts(m, ",duplicate_connect");
	seq_putc(m, '\n');
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(nvme_rdma_options);

/**
 * nvme_rdma_debugfs_add() - create the files of a controller
 * @ctrl: the controller; the core has given it a name
 *
 * If memory is short, files are missing, as usual for debugfs; that is no error.
 *
 * Context: process.
 */
void nvme_rdma_debugfs_add(struct nvme_rdma_ctrl *ctrl)
{
	char name[sizeof("queue65535")];
	int i;

	ctrl->debugfs = debugfs_create_dir(dev_name(ctrl->ctrl.device),
					   nvme_rdma_debugfs_dir);
	debugfs_create_file("options", 0400, ctrl->debugfs, ctrl, &nvme_rdma_options_fops);
	for (i = 0; i < ctrl->ctrl.queue_count; i++) {
		snprintf(name, sizeof(name), "queue%d", i);
		debugfs_create_file(name, 0400, ctrl->debugfs,
				    &ctrl->queues[i], &nvme_rdma_queue_fops);
	}
}

/**
 * nvme_rdma_debugfs_remove() - remove the files of a controller
 * @ctrl: the controller
 *
 * When this returns, no reader is left.
 *
 * Context: process.
 */
void nvme_rdma_debugfs_remove(struct nvme_rdma_ctrl *ctrl)
{
	debugfs_remove(ctrl->debugfs);
	ctrl->debugfs = NULL;
}

/**
 * nvme_rdma_debugfs_init() - create the directory of the module
 *
 * Context: process.
 */
void nvme_rdma_debugfs_init(void)
{
	nvme_rdma_debugfs_dir = debugfs_create_dir("nvme_rdma", NULL);
}

/**
 * nvme_rdma_debugfs_exit() - remove the directory of the module
 *
 * Context: process; there is no controller any more.
 */
void nvme_rdma_debugfs_exit(void)
{
	debugfs_remove(nvme_rdma_debugfs_dir);
}
