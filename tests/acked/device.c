// SPDX-License-Identifier: GPL-2.0
/* The disk, or for trying things a file, and memory that it can be read into */
#include "acked.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

/* device_open - open it for direct I/O, or say why not and end the program */
void device_open(struct device *dev, const char *name, bool write)
{
	struct stat st;
	int size = 0;

	dev->name = name;
	dev->fd = open(name, (write ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC);
	if (dev->fd < 0 || fstat(dev->fd, &st))
		die("%s cannot be opened", name);
	if (S_ISBLK(st.st_mode)) {
		if (ioctl(dev->fd, BLKGETSIZE64, &dev->bytes) ||
		    ioctl(dev->fd, BLKSSZGET, &size))
			die("%s does not tell its size", name);
		dev->sector_bytes = (unsigned int)size;
	} else {
		dev->bytes = (uint64_t)st.st_size;
		dev->sector_bytes = SECTOR_MAX;
	}
	errno = 0;
	if (dev->sector_bytes < SECTOR_MIN || dev->sector_bytes > SECTOR_MAX)
		die("%s has logical blocks of %u bytes", name, dev->sector_bytes);
}

/* device_buffer - memory for direct I/O */
void *device_buffer(size_t bytes)
{
	void *buffer = aligned_alloc(SECTOR_MAX, bytes);

	if (!buffer)
		die("no memory");
	memset(buffer, 0, bytes);
	return buffer;
}
