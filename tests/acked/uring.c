// SPDX-License-Identifier: GPL-2.0
/*
 * Polled I/O: nothing interrupts when it is done, whoever waits for it looks. Of
 * asynchronous I/O only io_uring does that.
 */
#include "acked.h"

#include <errno.h>
#include <liburing.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

struct uring {
	struct io_uring ring;
	unsigned int outstanding;
};

/* uring_open - for up to @depth I/Os at a time */
struct uring *uring_open(unsigned int depth)
{
	struct uring *u = calloc(1, sizeof(*u));

	if (!u)
		die("no memory");
	errno = -io_uring_queue_init(depth, &u->ring, IORING_SETUP_IOPOLL);
	if (errno)
		die("no polled I/O");
	return u;
}

/* uring_start - as aio_start(); of reads and writes only */
long uring_start(struct uring *u, struct slot *slot, int fd)
{
	const unsigned int size = slot->writer->dev->sector_bytes;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
	uint64_t at = (uint64_t)slot->sector * size;
	int taken;

	/* what was not taken before is still there */
	if (!sqe)
		return -EAGAIN;
	if (slot->op == OP_READ)
		io_uring_prep_read(sqe, fd, slot->buffer, slot->count * size, at);
	else
		io_uring_prep_write(sqe, fd, slot->buffer, slot->count * size, at);
	io_uring_sqe_set_data(sqe, slot);
	do {
		taken = io_uring_submit(&u->ring);
	} while (taken == -EAGAIN || taken == -EBUSY || taken == -EINTR);
	if (taken != 1) {
		errno = -taken;
		die("polled I/O is not taken");
	}
	u->outstanding++;
	return 0;
}

static unsigned int reap(struct uring *u,
			 void (*done)(struct slot *slot, long result))
{
	struct io_uring_cqe *cqe;
	unsigned int got = 0;
	struct slot *slot;
	long result;

	while (!io_uring_peek_cqe(&u->ring, &cqe)) {
		slot = io_uring_cqe_get_data(cqe);
		result = cqe->res;
		io_uring_cqe_seen(&u->ring, cqe);
		u->outstanding--;
		got++;
		done(slot, result);
	}
	return got;
}

/* uring_wait - as aio_wait(): looks until there is one */
unsigned int uring_wait(struct uring *u, unsigned int timeout_ms,
			void (*done)(struct slot *slot, long result))
{
	const struct timespec pause = {
		.tv_sec = timeout_ms / 1000,
		.tv_nsec = timeout_ms % 1000 * 1000000L,
	};
	uint64_t end = now_ms() + timeout_ms;
	unsigned int got;
	int error;

	if (!u->outstanding) {
		nanosleep(&pause, NULL);
		return 0;
	}
	do {
		error = -io_uring_get_events(&u->ring);
		if (error > 0 && error != EINTR && error != EAGAIN && error != EBUSY) {
			errno = error;
			die("no completions");
		}
		got = reap(u, done);
		if (!got)
			sched_yield();
	} while (!got && now_ms() < end);
	return got;
}
