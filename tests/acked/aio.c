// SPDX-License-Identifier: GPL-2.0
/* Asynchronous I/O: the calls behind libaio, which is not needed for so few of them */
#include "acked.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const uint16_t opcode[NR_OPS] = {
	[OP_READ] = IOCB_CMD_PREAD,
	[OP_WRITE] = IOCB_CMD_PWRITE,
	[OP_FLUSH] = IOCB_CMD_FDSYNC,
};

void aio_open(struct aio *aio, unsigned int depth, bool polled)
{
	aio->context = 0;
	aio->uring = polled ? uring_open(depth) : NULL;
	if (polled)
		return;
	if (syscall(SYS_io_setup, depth, &aio->context))
		die("no context for asynchronous I/O");
}

/*
 * aio_start - begin the I/O of @slot; may block while the disk takes none
 *
 * Return: 0, or the negative errno with which it ended at once
 */
long aio_start(struct aio *aio, struct slot *slot, int fd)
{
	const unsigned int size = slot->writer->dev->sector_bytes;
	struct iocb iocb = {
		.aio_data = (uintptr_t)slot,
		.aio_lio_opcode = opcode[slot->op],
		.aio_fildes = (uint32_t)fd,
	}, *list = &iocb;

	if (aio->uring)
		return uring_start(aio->uring, slot, fd);
	if (slot->op != OP_FLUSH) {
		iocb.aio_buf = (uintptr_t)slot->buffer;
		iocb.aio_nbytes = (uint64_t)slot->count * size;
		iocb.aio_offset = (int64_t)slot->sector * size;
	}
	if (syscall(SYS_io_submit, aio->context, 1L, &list) == 1)
		return 0;
	return -errno;
}

/*
 * aio_wait - wait for at least one completion, not longer than @timeout_ms
 *
 * @done: called for each, with a count of bytes or a negative errno
 *
 * Return: how many there were
 */
unsigned int aio_wait(struct aio *aio, unsigned int timeout_ms,
		      void (*done)(struct slot *slot, long result))
{
	struct timespec timeout = {
		.tv_sec = timeout_ms / 1000,
		.tv_nsec = timeout_ms % 1000 * 1000000L,
	};
	struct io_event events[MAX_DEPTH];
	long got, i;

	if (aio->uring)
		return uring_wait(aio->uring, timeout_ms, done);
	got = syscall(SYS_io_getevents, aio->context, 1L, (long)MAX_DEPTH,
		      events, &timeout);
	if (got < 0 && errno == EINTR)
		return 0;
	if (got < 0)
		die("no completions");
	for (i = 0; i < got; i++)
		done((struct slot *)(uintptr_t)events[i].data,
		     (long)events[i].res);
	return (unsigned int)got;
}
