// SPDX-License-Identifier: GPL-2.0
/*
 * Polled I/O: nothing interrupts when it is done, whoever waits for it looks. Of
 * asynchronous I/O only io_uring does that; its calls, without liburing.
 */
#include "acked.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct uring {
	int fd;
	unsigned int outstanding;
	/* What is shared with the kernel */
	unsigned int *sq_tail, *sq_array, sq_mask;
	struct io_uring_sqe *sqes;
	unsigned int *cq_head, *cq_tail, cq_mask;
	struct io_uring_cqe *cqes;
};

static void *map(const struct uring *u, size_t bytes, off_t what)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_POPULATE, u->fd, what);

	if (at == MAP_FAILED)
		die("no ring for polled I/O");
	return at;
}

/* uring_open - for up to @depth I/Os at a time */
struct uring *uring_open(unsigned int depth)
{
	struct io_uring_params p = { .flags = IORING_SETUP_IOPOLL };
	struct uring *u = calloc(1, sizeof(*u));
	char *sq, *cq;

	if (!u)
		die("no memory");
	u->fd = (int)syscall(SYS_io_uring_setup, depth, &p);
	if (u->fd < 0)
		die("no polled I/O");
	sq = map(u, p.sq_off.array + p.sq_entries * sizeof(*u->sq_array),
		 IORING_OFF_SQ_RING);
	cq = map(u, p.cq_off.cqes + p.cq_entries * sizeof(*u->cqes),
		 IORING_OFF_CQ_RING);
	u->sqes = map(u, p.sq_entries * sizeof(*u->sqes), IORING_OFF_SQES);
	u->sq_tail = (unsigned int *)(sq + p.sq_off.tail);
	u->sq_array = (unsigned int *)(sq + p.sq_off.array);
	u->sq_mask = p.sq_entries - 1;
	u->cq_head = (unsigned int *)(cq + p.cq_off.head);
	u->cq_tail = (unsigned int *)(cq + p.cq_off.tail);
	u->cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
	u->cq_mask = p.cq_entries - 1;
	return u;
}

/* uring_start - as aio_start(); of reads and writes only */
long uring_start(struct uring *u, struct slot *slot, int fd)
{
	const unsigned int size = slot->writer->dev->sector_bytes;
	unsigned int tail = *u->sq_tail;
	struct io_uring_sqe *sqe = &u->sqes[tail & u->sq_mask];

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = slot->op == OP_READ ? IORING_OP_READ : IORING_OP_WRITE;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)slot->buffer;
	sqe->len = slot->count * size;
	sqe->off = (uint64_t)slot->sector * size;
	sqe->user_data = (uintptr_t)slot;
	u->sq_array[tail & u->sq_mask] = tail & u->sq_mask;
	__atomic_store_n(u->sq_tail, tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, u->fd, 1, 0, 0, NULL, 0) == 1) {
		u->outstanding++;
		return 0;
	}
	/* The kernel has not taken it */
	__atomic_store_n(u->sq_tail, tail, __ATOMIC_RELEASE);
	return -errno;
}

static unsigned int reap(struct uring *u,
			 void (*done)(struct slot *slot, long result))
{
	unsigned int head = *u->cq_head, got = 0;
	struct io_uring_cqe cqe;

	while (head != __atomic_load_n(u->cq_tail, __ATOMIC_ACQUIRE)) {
		cqe = u->cqes[head++ & u->cq_mask];
		__atomic_store_n(u->cq_head, head, __ATOMIC_RELEASE);
		u->outstanding--;
		got++;
		done((struct slot *)(uintptr_t)cqe.user_data, cqe.res);
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

	if (!u->outstanding) {
		nanosleep(&pause, NULL);
		return 0;
	}
	do {
		if (syscall(SYS_io_uring_enter, u->fd, 0, 0,
			    IORING_ENTER_GETEVENTS, NULL, 0) < 0 &&
		    errno != EINTR && errno != EAGAIN && errno != EBUSY)
			die("no completions");
		got = reap(u, done);
		if (!got)
			sched_yield();
	} while (!got && now_ms() < end);
	return got;
}
