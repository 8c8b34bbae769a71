/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel holds: RDMA objects of a device, and memory. It has to be as it was
 * before the first case, when a case is over.
 */
#ifndef HOSTILE_HELD_H
#define HOSTILE_HELD_H

struct held {
	const char *device;	/* NULL: objects are not looked at */
	char objects[256];
	char said[256];		/* those that have been said to be left */
	unsigned long kernel_kib;
};

/* As it is, once it does not change any more */
void held_remember(struct held *held, const char *device);
/* NULL, or what is more than before, or other, after 20 s, in words. It is said once */
const char *held_left(struct held *held);

#endif /* HOSTILE_HELD_H */
