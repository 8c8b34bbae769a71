// SPDX-License-Identifier: GPL-2.0
/*
 * Retries, as RDMA devices count them.
 *
 * The modules do not see what a device sends again, and a device does not say for which
 * queue it was. So a row has what the devices of its queues have sent again, whoever
 * used them. Of a device that was not in the sample before, nothing is known of the time
 * between.
 */
#include "stat/stat.h"

#include <string.h>

#include "rdma/rdma.h"

static size_t device_named(const struct stat_devices *devices, const char *name)
{
	size_t i;

	for (i = 0; i < devices->nr; i++) {
		if (!strcmp(devices->list[i].name, name))
			return i;
	}
	return NO_GROUP;
}

static void compare(struct stat_device *device, const struct stat_devices *before)
{
	size_t i = device_named(before, device->name);
	const struct stat_device *old;

	if (i == NO_GROUP)
		return;
	old = &before->list[i];
	device->known = device->counts;
	/* one that was made again begins at 0 */
	device->delta = device->retries < old->retries ? device->retries :
			device->retries - old->retries;
}

static size_t add_device(struct sample *sample, const char *name, const char *sysfs,
			 const struct history *history)
{
	struct stat_devices *devices = &sample->devices;
	struct stat_device device = { .name = name };

	device.counts = rdma_retries(sysfs, name, &device.retries);
	compare(&device, &history->before.devices);
	devices->list = mem_grow(devices->list, devices->nr, sizeof(device));
	devices->list[devices->nr] = device;
	return devices->nr++;
}

void devices_read(struct sample *sample, const char *sysfs, const struct history *history)
{
	enum side side;
	size_t i;

	for (side = 0; side < NR_SIDES; side++) {
		for (i = 0; i < sample->queues[side].nr; i++) {
			struct stat_queue *queue = &sample->queues[side].list[i];
			const char *name = counter_text(&queue->counters, "device");

			queue->device = device_named(&sample->devices, name);
			if (queue->device == NO_GROUP && *name != '-' && !strchr(name, '/'))
				queue->device = add_device(sample, name, sysfs, history);
		}
	}
}
