// SPDX-License-Identifier: GPL-2.0
/*
 * Files in debugfs.
 *
 * Below /sys/kernel/debug/nvmet_rdma there are
 *
 *	queues/N	a connection, from its request to the end of its drain
 *	hosts/NQN	a host; see host_stats.c
 *	ports/ID	a port, while it is enabled
 *	threads/DEVICE-VECTOR	a thread that polls; see thread.c
 *
 * with lines of a key and its values. The keys are stable and described in nvmet-rdma(4): keep
 * the two alike. The files may be read at any time. Those of queues and ports take no lock, so
 * that they can be read when something hangs. Those of threads take the device's srq_lock.
 *
 * Removing a file waits for its readers. A queue's file is removed before its QP, its CM ID
 * and its share of an SRQ, and a port's file before the core's port.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/debugfs.h>

#include "debugfs.h"
#include "thread.h"

static struct dentry *top_dir;
static struct dentry *queues_dir;
static struct dentry *ports_dir;
static struct dentry *threads_dir;

static const char * const port_event_keys[NVMET_RDMA_NR_PORT_EVENTS] = {
	[NVMET_RDMA_PORT_ACCEPTED]	= "queues_accepted",
	[NVMET_RDMA_PORT_CONNECTED]	= "queues_connected",
	[NVMET_RDMA_PORT_ENDED]		= "queues_ended",
	[NVMET_RDMA_PORT_FAILED]	= "queues_failed",
	[NVMET_RDMA_PORT_NOT_ESTABLISHED] = "error_not_established",
	[NVMET_RDMA_PORT_NO_CONNECT]	= "error_no_connect",
	[NVMET_RDMA_PORT_DRAIN]		= "error_drain",
	[NVMET_RDMA_PORT_HELD]		= "connects_held",
};

/* There is no reason with the value 0 */
static const char * const refusal_keys[NVMET_RDMA_NR_REFUSALS] = {
	[NVMET_RDMA_REFUSED_LEN]	= "refused_length",
	[NVMET_RDMA_REFUSED_RECFMT]	= "refused_record_format",
	[NVMET_RDMA_REFUSED_QID]	= "refused_queue_id",
	[NVMET_RDMA_REFUSED_HSQSIZE]	= "refused_hsqsize",
	[NVMET_RDMA_REFUSED_HRQSIZE]	= "refused_hrqsize",
	[NVMET_RDMA_REFUSED_NO_MEMORY]	= "refused_no_memory",
	[NVMET_RDMA_REFUSED_IRD]	= "refused_ird",
	[NVMET_RDMA_REFUSED_DEVICE]	= "refused_device",
	[NVMET_RDMA_REFUSED_HOST_QUEUES] = "refused_host_queues",
	[NVMET_RDMA_REFUSED_HOST_PENDING] = "refused_host_pending",
	[NVMET_RDMA_REFUSED_MAX_PENDING] = "refused_max_pending",
	[NVMET_RDMA_REFUSED_HOST_UNPROVED] = "refused_host_unproved",
	[NVMET_RDMA_REFUSED_MAX_UNPROVED] = "refused_max_unproved",
	[NVMET_RDMA_REFUSED_UNFINISHED]	= "refused_unfinished",
};

static void show_identity(struct seq_file *m, const struct nvmet_rdma_queue *queue)
{
	/* Pairs with nvmet_rdma_host_join() */
	const struct nvmet_rdma_host *host = smp_load_acquire(&queue->host_stats);

	nvmet_rdma_show_host(m, host);
	if (host)
		nvmet_rdma_show(m, "controller", queue->cntlid);
	else
		seq_puts(m, "controller -\n");
	nvmet_rdma_show_nqn(m, "subsystem", host ? queue->subsysnqn : NULL);
	nvmet_rdma_show(m, "qid", queue->qid);
	nvmet_rdma_show(m, "port", queue->port->portid);
	seq_printf(m, "peer %pISpc\n", &queue->peer_addr);
	seq_printf(m, "local %pISpc\n", &queue->cm_id->route.addr.src_addr);
}

static void show_setup(struct seq_file *m, const struct nvmet_rdma_queue *queue)
{
	const struct nvmet_rdma_srq *srq = queue->srq;

	seq_printf(m, "state %s\n",
		   nvmet_rdma_queue_state_name(READ_ONCE(queue->state)));
	seq_printf(m, "device %s\n", queue->dev->ib->name);
	nvmet_rdma_show(m, "vector", queue->vector);
	nvmet_rdma_show(m, "completion_queue", queue->cq->ib->res.id);
	nvmet_rdma_show(m, "depth", queue->depth);
	nvmet_rdma_show(m, "in_capsule_size", queue->limits.capsule_room);
	nvmet_rdma_show(m, "response_inline", queue->inline_rsp);
	nvmet_rdma_show(m, "rdma_rw", queue->use_rw);
	nvmet_rdma_show(m, "protection", queue->pi);
	nvmet_rdma_show(m, "p2p", queue->p2p);
	nvmet_rdma_show(m, "srq", !!srq);
	nvmet_rdma_show(m, "receives", srq ? READ_ONCE(srq->nr) : queue->depth);
	nvmet_rdma_show(m, "receives_low", srq && nvmet_rdma_srq_is_low(srq));
	nvmet_rdma_show(m, "sq_slots", queue->nr_credits);
	nvmet_rdma_show(m, "sq_slots_free", READ_ONCE(queue->credits));
	nvmet_rdma_show(m, "responses_allocated", READ_ONCE(queue->allocated_rsps));
	nvmet_rdma_show(m, "waiting", READ_ONCE(queue->nr_waiting));
	nvmet_rdma_show(m, "outstanding", nvmet_rdma_outstanding(queue));
}

static int nvmet_rdma_queue_show(struct seq_file *m, void *unused)
{
	const struct nvmet_rdma_queue *queue = m->private;
	struct nvmet_rdma_sums sums = {};

	show_identity(m, queue);
	show_setup(m, queue);
	nvmet_rdma_sum(&sums, queue);
	nvmet_rdma_show_sums(m, &sums);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(nvmet_rdma_queue);

static int nvmet_rdma_port_show(struct seq_file *m, void *unused)
{
	struct nvmet_rdma_port *port = m->private;
	const struct nvmf_disc_rsp_page_entry *addr = &port->nport->disc_addr;
	int i;

	seq_printf(m, "traddr %.*s\n", NVMF_TRADDR_SIZE, addr->traddr);
	seq_printf(m, "trsvcid %.*s\n", NVMF_TRSVCID_SIZE, addr->trsvcid);
	nvmet_rdma_show(m, "listening", !!READ_ONCE(port->listener));
	seq_printf(m, "waits_for %d\n", READ_ONCE(port->waits_for));
	nvmet_rdma_show(m, "in_capsule_size", port->icd);
	nvmet_rdma_show(m, "depth", port->depth);
	nvmet_rdma_show(m, "protection", READ_ONCE(port->nport->pi_enable));
	nvmet_rdma_show(m, "queues", atomic_read(&port->queues));
	for (i = 0; i < NVMET_RDMA_NR_PORT_EVENTS; i++)
		nvmet_rdma_show(m, port_event_keys[i],
				atomic64_read(&port->events[i]));
	for (i = 1; i < NVMET_RDMA_NR_REFUSALS; i++)
		nvmet_rdma_show(m, refusal_keys[i],
				atomic64_read(&port->refused[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(nvmet_rdma_port);

static int nvmet_rdma_thread_show(struct seq_file *m, void *unused)
{
	const struct nvmet_rdma_thread *thread = m->private;
	u64 interrupts;
	int ret = nvmet_rdma_device_interrupts(thread->dev, thread->vector, &interrupts);

	if (ret)
		return ret;
	seq_printf(m, "state %s\n", READ_ONCE(thread->away) ? "away" :
				    READ_ONCE(thread->awake) ? "awake" : "asleep");
	seq_printf(m, "pid %d\n", task_pid_nr(thread->task));
	seq_printf(m, "cpu %u\n", task_cpu(thread->task));
	nvmet_rdma_show(m, "cpu_ns", READ_ONCE(thread->task->se.sum_exec_runtime));
	nvmet_rdma_show(m, "spin_ns", READ_ONCE(thread->spin_ns));
	nvmet_rdma_show(m, "spun_ns", READ_ONCE(thread->spun_ns));
	nvmet_rdma_show(m, "completions", READ_ONCE(thread->completions));
	nvmet_rdma_show(m, "disk_completions", READ_ONCE(thread->disk_completions));
	nvmet_rdma_show(m, "away_completions", READ_ONCE(thread->away_completions));
	nvmet_rdma_show(m, "rounds", READ_ONCE(thread->rounds));
	nvmet_rdma_show(m, "rounds_in_vain", READ_ONCE(thread->vain));
	nvmet_rdma_show(m, "sleeps", READ_ONCE(thread->sleeps));
	nvmet_rdma_show(m, "interrupts", interrupts - thread->interrupts_before);
	nvmet_rdma_show(m, "absences", READ_ONCE(thread->absences));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(nvmet_rdma_thread);

/**
 * nvmet_rdma_debugfs_add_queue() - create a queue's file
 * @queue: the queue, completely set up and not published
 *
 * Without memory there is no file, as usual with debugfs, and nothing else fails.
 *
 * Context: may sleep.
 */
void nvmet_rdma_debugfs_add_queue(struct nvmet_rdma_queue *queue)
{
	char name[sizeof("4294967295")];

	snprintf(name, sizeof(name), "%u", queue->number);
	queue->file = debugfs_create_file(name, 0400, queues_dir, queue,
					  &nvmet_rdma_queue_fops);
}

/**
 * nvmet_rdma_debugfs_remove_queue() - remove a queue's file
 * @queue: the queue; after this nothing reads it, and its counts are added to its host's
 *
 * Context: may sleep.
 */
void nvmet_rdma_debugfs_remove_queue(struct nvmet_rdma_queue *queue)
{
	debugfs_remove(queue->file);
	nvmet_rdma_host_leave(queue);
}

/**
 * nvmet_rdma_debugfs_add_port() - create a port's file
 * @port: the port, which listens or waits for its address
 *
 * Context: may sleep.
 */
void nvmet_rdma_debugfs_add_port(struct nvmet_rdma_port *port)
{
	char name[sizeof("65535")];

	snprintf(name, sizeof(name), "%u", port->portid);
	port->file = debugfs_create_file(name, 0400, ports_dir, port,
					 &nvmet_rdma_port_fops);
}

/**
 * nvmet_rdma_debugfs_remove_port() - remove a port's file
 * @port: the port; after this nothing reads it
 *
 * Context: may sleep.
 */
void nvmet_rdma_debugfs_remove_port(struct nvmet_rdma_port *port)
{
	debugfs_remove(port->file);
}

/**
 * nvmet_rdma_debugfs_add_thread() - create a thread's file
 * @thread: the thread
 *
 * Context: may sleep.
 */
void nvmet_rdma_debugfs_add_thread(struct nvmet_rdma_thread *thread)
{
	char name[IB_DEVICE_NAME_MAX + sizeof("-4294967295")];

	snprintf(name, sizeof(name), "%s-%u", thread->dev->ib->name, thread->vector);
	thread->file = debugfs_create_file(name, 0400, threads_dir, thread,
					   &nvmet_rdma_thread_fops);
}

/**
 * nvmet_rdma_debugfs_remove_thread() - remove a thread's file
 * @thread: the thread, which still runs; after this nothing reads it
 *
 * Context: may sleep.
 */
void nvmet_rdma_debugfs_remove_thread(struct nvmet_rdma_thread *thread)
{
	debugfs_remove(thread->file);
}

/**
 * nvmet_rdma_debugfs_init() - create the directories
 *
 * Context: process.
 */
void nvmet_rdma_debugfs_init(void)
{
	top_dir = debugfs_create_dir("nvmet_rdma", NULL);
	queues_dir = debugfs_create_dir("queues", top_dir);
	ports_dir = debugfs_create_dir("ports", top_dir);
	threads_dir = debugfs_create_dir("threads", top_dir);
	nvmet_rdma_hosts_init(top_dir);
}

/**
 * nvmet_rdma_debugfs_exit() - remove the directories
 *
 * Context: process; all ports and queues are gone.
 */
void nvmet_rdma_debugfs_exit(void)
{
	nvmet_rdma_hosts_exit();
	debugfs_remove(top_dir);
}
