// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices.
 *
 * A device is known from the moment it appears. It holds resources only while it has queues:
 * the protection domain and the buffers. Devices are compared by pointer, because a GUID made
 * of a MAC address may belong to two.
 *
 * Removal: the device leaves the list first, so that no connection request finds it. The queue
 * of a request that has found it before is ended by nvmet_rdma_queue_publish(). Then its queues
 * are disconnected and waited for. The HCA has deadlines (drain.c), so it may be dead. There is
 * no deadline for commands that a disk has not completed: their buffers are mapped for the
 * device that is about to be removed.
 *
 * The CM registers its client first, and so learns of a removal after this module. The IDs of
 * the queues are gone when it looks for them.
 */
#define pr_fmt(fmt) "nvmet_rdma: " fmt

#include <linux/slab.h>

#include "common/cq.h"
#include "common/device_limit.h"
#include "cqs.h"
#include "device.h"
#include "params.h"

/* Interval of the messages while a removal waits */
#define REMOVE_LOG_SECS	60

/*
 * Protects the list, and @users of all devices, including those that left the list. A device
 * is not accessed after the unlock that follows its last put. No device's driver is called
 * under it: one whose firmware hangs would keep hosts from all other devices.
 */
static DEFINE_MUTEX(devices_mutex);
static LIST_HEAD(devices);
static DECLARE_WAIT_QUEUE_HEAD(device_unused);
/* Set by nvmet_rdma_devices_register() */
static const struct nvmet_rdma_device_ops *device_ops;

/*
 * The most commands that a queue on this device may have outstanding. A receive queue needs
 * some more work requests, for the drain and for chains. A send queue needs up to about twice
 * as many. The completion queue has room for both; see qp.c.
 */
static u32 nvmet_rdma_device_depth_limit(const struct ib_device *ib)
{
	u32 limit = NVMET_RDMA_MAX_DEPTH;

	limit = min(limit, nvme_rdma_limit_less(ib->attrs.max_qp_wr / 2, NVMET_RDMA_RECV_CHAIN));
	limit = min(limit, nvme_rdma_limit_less(ib->attrs.max_cqe / 4, NVMET_RDMA_RECV_CHAIN));
	return max(limit, 2u);
}

/**
 * nvmet_rdma_devices_depth_limit() - the queue depth that every device supports
 *
 * A controller gets its queue size before its I/O queues have a device, so it is the
 * smallest of all.
 *
 * Context: may sleep. Return: commands outstanding on a queue.
 */
u32 nvmet_rdma_devices_depth_limit(void)
{
	struct nvmet_rdma_device *dev;
	u32 limit = NVMET_RDMA_MAX_DEPTH;

	mutex_lock(&devices_mutex);
	list_for_each_entry(dev, &devices, entry)
		limit = min(limit, dev->depth_limit);
	mutex_unlock(&devices_mutex);
	return limit;
}

static void device_threads_work(struct work_struct *work)
{
	struct nvmet_rdma_device *dev =
		container_of(work, struct nvmet_rdma_device, threads_work);

	device_ops->threads(dev, READ_ONCE(nvmet_rdma_io_threads));
}

/**
 * nvmet_rdma_device_update_threads() - have threads started or ended, as io_threads says
 * @dev: the device
 *
 * Context: any.
 */
void nvmet_rdma_device_update_threads(struct nvmet_rdma_device *dev)
{
	/* The end of a thread may wait for a disk, as releases do */
	queue_work(dev->release_wq, &dev->threads_work);
}

/**
 * nvmet_rdma_devices_update_threads() - the same for all devices
 *
 * Context: may sleep.
 */
void nvmet_rdma_devices_update_threads(void)
{
	struct nvmet_rdma_device *dev;

	mutex_lock(&devices_mutex);
	list_for_each_entry(dev, &devices, entry)
		nvmet_rdma_device_update_threads(dev);
	mutex_unlock(&devices_mutex);
}

/* Pages of the largest transfer, each a scatter element of its own */
#define PI_MAX_PAGES	(NVMET_RDMA_PI_MAX_DATA / SZ_4K)

/**
 * nvmet_rdma_pi_capable() - can a device check protection information?
 * @ib: the device
 *
 * Context: any.
 */
bool nvmet_rdma_pi_capable(const struct ib_device *ib)
{
	return ib->attrs.kernel_cap_flags & IBK_INTEGRITY_HANDOVER &&
	       ib->attrs.max_pi_fast_reg_page_list_len >= PI_MAX_PAGES;
}

/**
 * nvmet_rdma_devices_have_pi() - can every device check protection information?
 *
 * Context: may sleep. Return: false if one cannot, or if there is none.
 */
bool nvmet_rdma_devices_have_pi(void)
{
	struct nvmet_rdma_device *dev;
	bool have;

	mutex_lock(&devices_mutex);
	have = !list_empty(&devices);
	list_for_each_entry(dev, &devices, entry)
		have = have && nvmet_rdma_pi_capable(dev->ib);
	mutex_unlock(&devices_mutex);
	return have;
}

static struct nvmet_rdma_device *find_device(const struct ib_device *ib)
{
	struct nvmet_rdma_device *dev;

	lockdep_assert_held(&devices_mutex);
	list_for_each_entry(dev, &devices, entry) {
		if (dev->ib == ib)
			return dev;
	}
	return NULL;
}

/* With the first user a device has its protection domain and its buffers */
static int device_begin(struct nvmet_rdma_device *dev)
{
	struct ib_pd *pd;
	int ret = 0;

	mutex_lock(&dev->pd_lock);
	if (dev->pd_users) {
		dev->pd_users++;
		goto out;
	}
	pd = ib_alloc_pd(dev->ib, 0);
	if (IS_ERR(pd)) {
		ret = PTR_ERR(pd);
		goto out;
	}
	ret = nvmet_rdma_buffers_init(&dev->bufs, dev->ib);
	if (ret) {
		ib_dealloc_pd(pd);
		goto out;
	}
	dev->pd = pd;
	dev->pd_users = 1;
out:
	mutex_unlock(&dev->pd_lock);
	return ret;
}

static void device_end(struct nvmet_rdma_device *dev)
{
	mutex_lock(&dev->pd_lock);
	if (!--dev->pd_users) {
		nvmet_rdma_buffers_exit(&dev->bufs);
		ib_dealloc_pd(dev->pd);
		dev->pd = NULL;
	}
	mutex_unlock(&dev->pd_lock);
}

static void device_forget(struct nvmet_rdma_device *dev)
{
	mutex_lock(&devices_mutex);
	WRITE_ONCE(dev->users, dev->users - 1);
	if (!dev->users)
		wake_up_all(&device_unused);
	mutex_unlock(&devices_mutex);
}

/**
 * nvmet_rdma_device_get() - find a device for a new queue
 * @ib: the device that a connection request came by
 *
 * Context: may sleep.
 * Return: the device with its protection domain and buffers, to be put with
 * nvmet_rdma_device_put(); an ERR_PTR() if it is being removed or has no
 * resources.
 */
struct nvmet_rdma_device *nvmet_rdma_device_get(struct ib_device *ib)
{
	struct nvmet_rdma_device *dev;
	int ret;

	mutex_lock(&devices_mutex);
	dev = find_device(ib);
	if (dev)
		WRITE_ONCE(dev->users, dev->users + 1);
	mutex_unlock(&devices_mutex);
	if (!dev)
		return ERR_PTR(-ENODEV);
	ret = device_begin(dev);
	if (ret) {
		device_forget(dev);
		return ERR_PTR(ret);
	}
	return dev;
}

/**
 * nvmet_rdma_device_put() - drop a queue's reference of its device
 * @dev: from nvmet_rdma_device_get(); the caller does not access it again
 *
 * Context: may sleep.
 */
void nvmet_rdma_device_put(struct nvmet_rdma_device *dev)
{
	device_end(dev);
	device_forget(dev);
}

/* It completes nothing any more, so nothing shall wait for that */
static void device_failed(struct nvmet_rdma_device *dev)
{
	dev_err(&dev->ib->dev,
		"nvmet_rdma: the device has failed; closing its connections, see its driver's messages\n");
	WRITE_ONCE(dev->dead, true);
	device_ops->disconnect(dev, false);
}

/* Called in a work of the RDMA core */
static void nvmet_rdma_device_event(struct ib_event_handler *handler,
				    struct ib_event *event)
{
	switch (event->event) {
	case IB_EVENT_GID_CHANGE:
		/* a port may be waiting for the address of the GID */
		device_ops->appeared();
		break;
	case IB_EVENT_DEVICE_FATAL:
		device_failed(container_of(handler, struct nvmet_rdma_device,
					   events));
		break;
	default:
		break;
	}
}

/* The most receives of an SRQ on a device, 0 if there shall be no SRQ */
static u32 nvmet_rdma_srq_size_limit(const struct ib_device *ib)
{
	const struct ib_device_attr *attrs = &ib->attrs;
	u32 most = nvme_rdma_limit_less(attrs->max_srq_wr, NVMET_RDMA_SRQ_SPARE);

	/*
	 * A sender that finds no receive retries, but over iWARP it loses its connection. So hosts
	 * must not take receives from each other there.
	 */
	if (rdma_protocol_iwarp(ib, rdma_start_port(ib)))
		return 0;
	/* qedr (6.12) reports an SRQ without receives as one that has failed */
	if (ib->ops.driver_id == RDMA_DRIVER_QEDR)
		return 0;
	/* The command and its in-capsule data */
	if (!nvmet_rdma_use_srq || attrs->max_srq <= 0 || !most ||
	    attrs->max_srq_sge < 2)
		return 0;
	/* At most half of a completion queue, with room for replacements */
	return min3(nvmet_rdma_srq_size,
		    most - most / (NVMET_RDMA_SRQ_REPLACEABLE + 1),
		    (u32)attrs->max_cqe / 2);
}

static int device_alloc_vectors(struct nvmet_rdma_device *dev)
{
	u32 nr = dev->ib->num_comp_vectors, i;

	dev->vectors = kvzalloc_node(array_size(nr, sizeof(*dev->vectors)), GFP_KERNEL,
				     ibdev_to_node(dev->ib));
	if (!dev->vectors)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		nvmet_rdma_cqs_init(&dev->vectors[i].cqs, dev, i);
		INIT_LIST_HEAD(&dev->vectors[i].polled);
	}
	spin_lock_init(&dev->vector_lock);
	return 0;
}

static int nvmet_rdma_device_add(struct ib_device *ib)
{
	struct nvmet_rdma_device *dev;

	dev = kzalloc_node(sizeof(*dev), GFP_KERNEL, ibdev_to_node(ib));
	if (!dev)
		return -ENOMEM;
	dev->ib = ib;
	if (device_alloc_vectors(dev))
		goto err_free;
	dev->release_wq = alloc_workqueue("nvmet-rel-%s", WQ_UNBOUND,
					  WQ_UNBOUND_MAX_ACTIVE, ib->name);
	if (!dev->release_wq)
		goto err_free_vectors;
	dev->depth_limit = nvmet_rdma_device_depth_limit(ib);
	dev->srq_size = nvmet_rdma_srq_size_limit(ib);
	dev->rnr_harms = ib->ops.driver_id == RDMA_DRIVER_RXE;
	mutex_init(&dev->pd_lock);
	mutex_init(&dev->srq_lock);
	INIT_WORK(&dev->threads_work, device_threads_work);
	hash_init(dev->srqs);

	mutex_lock(&devices_mutex);
	list_add_tail(&dev->entry, &devices);
	mutex_unlock(&devices_mutex);

	INIT_IB_EVENT_HANDLER(&dev->events, ib, nvmet_rdma_device_event);
	ib_register_event_handler(&dev->events);
	device_ops->appeared();
	return 0;

err_free_vectors:
	kvfree(dev->vectors);
err_free:
	kfree(dev);
	return -ENOMEM;
}

static void nvmet_rdma_device_remove(struct ib_device *ib, void *client_data)
{
	struct nvmet_rdma_device *dev;

	mutex_lock(&devices_mutex);
	dev = find_device(ib);
	if (dev)
		list_del(&dev->entry);
	mutex_unlock(&devices_mutex);
	if (!dev)
		return;

	ib_unregister_event_handler(&dev->events);
	device_ops->disconnect(dev, true);
	while (!wait_event_timeout(device_unused, !READ_ONCE(dev->users),
				   REMOVE_LOG_SECS * HZ))
		pr_warn("%s: removal is waiting for %u connections whose commands the disks have not completed\n",
			ib->name, READ_ONCE(dev->users));
	/* The last put may still hold the mutex; then it has returned */
	mutex_lock(&devices_mutex);
	mutex_unlock(&devices_mutex);
	cancel_work_sync(&dev->threads_work);
	device_ops->threads(dev, false);
	/* Likewise the release that put it: this waits for its last steps */
	destroy_workqueue(dev->release_wq);
	kvfree(dev->vectors);
	kfree(dev);
}

static struct ib_client nvmet_rdma_client = {
	.name	= "nvmet_rdma",
	.add	= nvmet_rdma_device_add,
	.remove	= nvmet_rdma_device_remove,
};

/**
 * nvmet_rdma_devices_register() - register for devices
 * @ops: called for their events
 *
 * Context: may sleep. Return: 0 or a negative errno.
 */
int nvmet_rdma_devices_register(const struct nvmet_rdma_device_ops *ops)
{
	device_ops = ops;
	return ib_register_client(&nvmet_rdma_client);
}

/**
 * nvmet_rdma_devices_unregister() - remove all devices, and end their queues
 *
 * Context: may sleep.
 */
void nvmet_rdma_devices_unregister(void)
{
	ib_unregister_client(&nvmet_rdma_client);
}

/**
 * nvmet_rdma_device_interrupts() - count the interrupts of a vector's completion queues
 * @dev: the device
 * @vector: the completion vector
 * @interrupts: set to their number, with those of completion queues that are gone
 *
 * Context: may sleep. Return: 0, or -EINTR if a signal came while another task had the lock.
 */
int nvmet_rdma_device_interrupts(struct nvmet_rdma_device *dev, u32 vector, u64 *interrupts)
{
	struct nvmet_rdma_polled *polled;
	u64 sum;
	int ret;

	ret = mutex_lock_interruptible(&dev->srq_lock);
	if (ret)
		return ret;
	sum = dev->vectors[vector].interrupts;
	list_for_each_entry(polled, &dev->vectors[vector].polled, entry)
		sum += READ_ONCE(polled->cq->interrupts);
	mutex_unlock(&dev->srq_lock);
	*interrupts = sum;
	return 0;
}
