/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resources of the kernel: RDMA objects of a device, and memory. After a case they have to be
 * the same as before the first case.
 */
#ifndef HOSTILE_HELD_H
#define HOSTILE_HELD_H

struct held {
	const char *device;	/* NULL: objects are not looked at */
	char objects[256];
	char said[256];		/* objects that were already reported as left over */
	unsigned long kernel_kib;
};

/* The state, once it no longer changes */
void held_remember(struct held *held, const char *device);
/* NULL, or after 20 s a description of what differs or has grown. It is reported once */
const char *held_left(struct held *held);

#endif /* HOSTILE_HELD_H */
