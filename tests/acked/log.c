// SPDX-License-Identifier: GPL-2.0
/*
 * The log of a run: writers add records, and the main thread appends them to the file
 * several times a second, each time by one write(). What is not in the file is not
 * known to verify, which then expects less; it never expects what was not there.
 */
#include "acked.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct batch {
	struct log_batch head;
	struct log_record records[BATCH_RECORDS];
};

static struct batch batches[2];
/* Which of them is being filled, how far, and the number it will have */
static unsigned int filling, filled;
static uint64_t number;
/* Protects them */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Only one thread writes into the file, batch after batch */
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static int fd = -1;

static void append(const void *data, size_t bytes)
{
	ssize_t done = write(fd, data, bytes);

	if (done >= 0 && (size_t)done != bytes)
		errno = ENOSPC;
	if (done < 0 || (size_t)done != bytes)
		die("the log cannot be written");
}

/* log_open - begin a log anew */
void log_open(const char *path, struct log_head *head)
{
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
		  0644);
	if (fd < 0)
		die("the log %s cannot be written", path);
	log_head_make(head);
	append(head, sizeof(*head));
}

/* log_flush - append what has been added; back when the file has it */
void log_flush(void)
{
	struct batch *batch;
	unsigned int count;
	uint64_t n;

	pthread_mutex_lock(&writing);
	pthread_mutex_lock(&lock);
	batch = &batches[filling];
	count = filled;
	n = number;
	if (count) {
		filling = !filling;
		filled = 0;
		number++;
	}
	pthread_mutex_unlock(&lock);
	if (count)
		append(batch, log_batch_make(batch, n, count));
	pthread_mutex_unlock(&writing);
}

/* log_add - that much is known of @count sectors from @sector on */
void log_add(enum record_kind kind, uint32_t sector, unsigned int count,
	     uint64_t gen)
{
	pthread_mutex_lock(&lock);
	while (filled == BATCH_RECORDS) {
		pthread_mutex_unlock(&lock);
		log_flush();
		pthread_mutex_lock(&lock);
	}
	batches[filling].records[filled++] = (struct log_record) {
		.gen = gen,
		.sector = sector,
		.count = (uint16_t)count,
		.kind = (uint16_t)kind,
	};
	pthread_mutex_unlock(&lock);
}
