// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics of hosts, by their NQN.
 *
 * A host has an entry and a file in debugfs from the first successful Connect of one of its
 * queues. The counts of its ended queues are kept with it. Hosts without queues are kept, too:
 * an error ends all queues of most hosts, and an administrator looks for the reason later. At
 * most HOSTS_GONE of them are kept, and the one that has been gone longest is dropped first. So
 * what a peer can take here is bounded by its queues (limits.c), whatever NQN it uses.
 *
 * Locks: hosts_mutex protects the table, and creating and removing files, which waits for
 * readers. Readers take only the host's lock, as do queues that are added and removed.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/debugfs.h>
#include <linux/hashtable.h>
#include <linux/slab.h>

#include "debugfs.h"
#include "error.h"
#include "host_name.h"
#include "peer.h"

/* Suffix of a name that is not the NQN: "~" and a number */
#define NAME_SUFFIX	sizeof("~4294967295")

/* The most hosts without queues that are kept */
#define HOSTS_GONE	64

/* Protects the hosts below, and their files; host->lock nests inside */
static DEFINE_MUTEX(hosts_mutex);
static DEFINE_HASHTABLE(hosts, 12);
/* Hosts without queues; the one that has been gone longest comes first */
static LIST_HEAD(hosts_gone);
static unsigned int nr_gone;
static u32 host_number;
static struct dentry *hosts_dir;

static int nvmet_rdma_host_show(struct seq_file *m, void *unused)
{
	struct nvmet_rdma_host *host = m->private;
	const struct nvmet_rdma_queue *queue;
	unsigned int controllers = 0, queues = 0;
	struct nvmet_rdma_sums sums;
	u64 ended;

	mutex_lock(&host->lock);
	sums = host->ended;
	ended = host->nr_ended;
	list_for_each_entry(queue, &host->queues, host_entry) {
		nvmet_rdma_sum(&sums, queue);
		controllers += !queue->qid;
		queues++;
	}
	mutex_unlock(&host->lock);

	nvmet_rdma_show_host(m, host);
	nvmet_rdma_show(m, "controllers", controllers);
	nvmet_rdma_show(m, "queues", queues);
	nvmet_rdma_show(m, "queues_ended", ended);
	nvmet_rdma_show_sums(m, &sums);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(nvmet_rdma_host);

static void host_make_file(struct nvmet_rdma_host *host)
{
	char name[NVMET_RDMA_HOST_NAME_LEN + NAME_SUFFIX];
	size_t len;

	lockdep_assert_held(&hosts_mutex);
	if (!nvmet_rdma_host_name(host->nqn, name)) {
		len = strlen(name);
		snprintf(name + len, sizeof(name) - len, "~%u", ++host_number);
	}
	host->file = debugfs_create_file(name, 0400, hosts_dir, host,
					 &nvmet_rdma_host_fops);
}

static void host_forget(struct nvmet_rdma_host *host)
{
	hash_del(&host->entry);
	list_del(&host->gone_entry);
	debugfs_remove(host->file);
	kfree(host);
}

static void host_gone(struct nvmet_rdma_host *host)
{
	lockdep_assert_held(&hosts_mutex);
	list_add_tail(&host->gone_entry, &hosts_gone);
	if (nr_gone++ < HOSTS_GONE)
		return;
	nr_gone--;
	host_forget(list_first_entry(&hosts_gone, struct nvmet_rdma_host,
				     gone_entry));
}

static void host_back(struct nvmet_rdma_host *host)
{
	lockdep_assert_held(&hosts_mutex);
	if (list_empty(&host->gone_entry))
		return;
	list_del_init(&host->gone_entry);
	nr_gone--;
}

static struct nvmet_rdma_host *host_known(const char *nqn, u64 key)
{
	struct nvmet_rdma_host *host;

	lockdep_assert_held(&hosts_mutex);
	hash_for_each_possible(hosts, host, entry, key) {
		if (!strcmp(host->nqn, nqn))
			return host;
	}
	return NULL;
}

static struct nvmet_rdma_host *host_find(const char *nqn)
{
	u64 key = nvmet_rdma_hash(nqn, strlen(nqn));
	struct nvmet_rdma_host *host = host_known(nqn, key);

	if (host)
		return host;
	host = kzalloc(sizeof(*host), GFP_KERNEL);
	if (!host)
		return NULL;
	strscpy(host->nqn, nqn, sizeof(host->nqn));
	mutex_init(&host->lock);
	INIT_LIST_HEAD(&host->queues);
	INIT_LIST_HEAD(&host->gone_entry);
	hash_add(hosts, &host->entry, key);
	host_make_file(host);
	return host;
}

/*
 * The core may free the name of the discovery subsystem while it is read: discovery_nqn in
 * configfs replaces it, under a lock of the core. So this is its well-known name, which hosts
 * may always use. Other names stay as long as their subsystem, which the controller holds.
 */
static const char *subsys_name(const struct nvmet_subsys *subsys)
{
	if (subsys->type != NVME_NQN_NVME)
		return NVME_DISC_SUBSYS_NAME;
	return subsys->subsysnqn;
}

/**
 * nvmet_rdma_host_join() - add a queue to its host after Connect
 * @queue: the queue; its controller is known
 *
 * Without memory the host or the subsystem's name is missing, and nothing else fails.
 *
 * Context: may sleep; before the queue is released.
 */
void nvmet_rdma_host_join(struct nvmet_rdma_queue *queue)
{
	const struct nvmet_ctrl *ctrl = queue->nvme_sq.ctrl;
	struct nvmet_rdma_host *host;

	mutex_lock(&hosts_mutex);
	host = host_find(ctrl->hostnqn);
	if (host) {
		host_back(host);
		mutex_lock(&host->lock);
		list_add_tail(&queue->host_entry, &host->queues);
		mutex_unlock(&host->lock);
		queue->cntlid = ctrl->cntlid;
		queue->subsysnqn = kstrdup(subsys_name(ctrl->subsys),
					   GFP_KERNEL);
		/* Pairs with show_identity() */
		smp_store_release(&queue->host_stats, host);
	}
	mutex_unlock(&hosts_mutex);
}

/**
 * nvmet_rdma_host_leave() - remove a queue from its host
 * @queue: the queue, with Connect or without; nothing counts any more, and it has no file
 *
 * Context: may sleep.
 */
void nvmet_rdma_host_leave(struct nvmet_rdma_queue *queue)
{
	struct nvmet_rdma_host *host = queue->host_stats;
	bool last;

	if (!host)
		return;
	mutex_lock(&hosts_mutex);
	mutex_lock(&host->lock);
	list_del(&queue->host_entry);
	nvmet_rdma_sum(&host->ended, queue);
	host->nr_ended++;
	last = list_empty(&host->queues);
	mutex_unlock(&host->lock);
	if (last)
		host_gone(host);
	mutex_unlock(&hosts_mutex);
}

/**
 * nvmet_rdma_host_unfinished() - may a subsystem's disks have commands of a host's ended queues?
 * @ctrl: a new controller of the host and the subsystem
 * @since: when the first of those queues ended, in jiffies
 *
 * A queue for whose host there was no memory is not found.
 *
 * Context: may sleep. Return: whether there is such a queue.
 */
bool nvmet_rdma_host_unfinished(const struct nvmet_ctrl *ctrl, unsigned long *since)
{
	const char *subsys = ctrl->subsys->subsysnqn, *nqn = ctrl->hostnqn;
	const struct nvmet_rdma_queue *queue;
	struct nvmet_rdma_host *host;
	bool found = false;

	/* Usually there is none */
	if (!atomic_read(&nvmet_rdma_nr_unfinished) || ctrl->subsys->type != NVME_NQN_NVME)
		return false;
	mutex_lock(&hosts_mutex);
	host = host_known(nqn, nvmet_rdma_hash(nqn, strlen(nqn)));
	if (host) {
		mutex_lock(&host->lock);
		list_for_each_entry(queue, &host->queues, host_entry) {
			/* Pairs with nvmet_rdma_mark_unfinished() */
			if (!smp_load_acquire(&queue->unfinished) ||
			    (queue->subsysnqn && strcmp(queue->subsysnqn, subsys)))
				continue;
			if (!found || time_before(queue->ended_at, *since))
				*since = queue->ended_at;
			found = true;
		}
		mutex_unlock(&host->lock);
	}
	mutex_unlock(&hosts_mutex);
	return found;
}

/**
 * nvmet_rdma_hosts_init() - create the directory of hosts
 * @parent: the module's directory
 *
 * Context: process.
 */
void nvmet_rdma_hosts_init(struct dentry *parent)
{
	hosts_dir = debugfs_create_dir("hosts", parent);
}

/**
 * nvmet_rdma_hosts_exit() - free the hosts
 *
 * Context: process; there is no queue any more.
 */
void nvmet_rdma_hosts_exit(void)
{
	struct nvmet_rdma_host *host, *next;

	list_for_each_entry_safe(host, next, &hosts_gone, gone_entry)
		host_forget(host);
	nr_gone = 0;
}
