// SPDX-License-Identifier: GPL-2.0
/* After the run, by whoever has its log: reads every sector that it was about */
#include "acked.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

struct verification {
	struct device dev;
	struct log_head head;
	struct known *known;
	struct replay replay;
	uint64_t verdicts[NR_VERDICTS];
	uint64_t errors, unread;
	int first_errno;
};

/* The whole file, with a head that is right */
static void *read_log(const char *path, size_t *bytes)
{
	struct log_head head;
	struct stat st;
	char *log;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		die("the log %s cannot be opened", path);
	*bytes = (size_t)st.st_size;
	log = device_buffer((*bytes / SECTOR_MAX + 1) * SECTOR_MAX);
	errno = 0;
	if (read(fd, log, *bytes) != st.st_size)
		die("the log %s cannot be read", path);
	close(fd);
	memcpy(&head, log, sizeof(head));
	if (*bytes < sizeof(head) || log_head_check(&head))
		die("%s is no log of acknowledged writes", path);
	return log;
}

static void load(struct verification *v, const char *path)
{
	size_t bytes;
	void *log = read_log(path, &bytes);

	memcpy(&v->head, log, sizeof(v->head));
	v->known = calloc(v->head.sectors, sizeof(*v->known));
	if (!v->known)
		die("no memory");
	errno = 0;
	if (log_replay(log, bytes, v->known, &v->replay))
		die("the log %s is damaged behind its batch %" PRIu64, path,
		    v->replay.batches);
	free(log);
	if (v->head.sector_bytes % v->dev.sector_bytes ||
	    (v->head.first + v->head.sectors) * v->head.sector_bytes >
	    v->dev.bytes) {
		errno = 0;
		die("%s is not a disk that the log %s is of", v->dev.name, path);
	}
}

static void look(struct verification *v, const char *data, uint32_t sector)
{
	const uint64_t lba = v->head.first + sector;
	const struct known *known = &v->known[sector];
	struct sector_id found;
	enum sector_kind kind;
	enum verdict verdict;

	kind = sector_look(data, v->head.sector_bytes, &found);
	verdict = judge(kind, &found, v->head.run, lba, known, false);
	v->verdicts[verdict]++;
	if (verdict_bad(verdict))
		say_violation(v->dev.name, "at the end", verdict, kind, &found,
			      lba, known);
}

/* As much as one I/O reads; if that fails, sector by sector */
static void look_at(struct verification *v, char *buffer, uint32_t sector,
		    uint32_t count)
{
	const uint32_t size = v->head.sector_bytes;
	ssize_t want = (ssize_t)count * size;
	uint32_t i;

	errno = ENODATA;
	if (pread(v->dev.fd, buffer, (size_t)want,
		  (off_t)((v->head.first + sector) * size)) == want) {
		for (i = 0; i < count; i++)
			look(v, buffer + i * size, sector + i);
		return;
	}
	v->errors++;
	if (!v->first_errno)
		v->first_errno = errno;
	if (count == 1) {
		printf("violation: %s sector %" PRIu64 ": cannot be read: %s\n",
		       v->dev.name, v->head.first + sector, strerror(errno));
		v->unread++;
		return;
	}
	/* One that cannot be read at all is not worth thousands of tries */
	if (v->errors > 100) {
		v->unread += count;
		return;
	}
	for (i = 0; i < count; i++)
		look_at(v, buffer, sector + i, 1);
}

static int tell(const struct verification *v)
{
	const char *word = "good";
	int i, status = EXIT_GOOD;

	if (v->unread) {
		word = "unread";
		status = EXIT_HANGS;
	}
	printf("run %016" PRIx64 "\n", v->head.run);
	printf("sectors %" PRIu32 "\n", v->head.sectors);
	printf("bytes_verified %" PRIu64 "\n",
	       v->verdicts[FINE] * v->head.sector_bytes);
	printf("io_errors %" PRIu64 "\n", v->errors);
	printf("first_error %s\n",
	       v->first_errno ? strerrorname_np(v->first_errno) : "none");
	printf("unread %" PRIu64 "\n", v->unread);
	for (i = 0; i < NR_VERDICTS; i++) {
		printf("%s %" PRIu64 "\n", verdict_name((enum verdict)i),
		       v->verdicts[i]);
		if (v->verdicts[i] && verdict_bad((enum verdict)i)) {
			word = "bad";
			status = EXIT_BAD;
		}
	}
	printf("log_batches %" PRIu64 "\n", v->replay.batches);
	printf("log_records %" PRIu64 "\n", v->replay.records);
	printf("log_ignored_bytes %zu\n", v->replay.ignored);
	printf("log_ended %s\n", v->replay.issued == GEN_MAX ? "no" : "yes");
	printf("verdict %s\n", word);
	return status;
}

/* verify - whether @device holds what @log says; the status of the program */
int verify(const char *device, const char *log)
{
	static struct verification v;
	char *buffer = device_buffer(MAX_BLOCK);
	uint32_t sector, count, most;

	device_open(&v.dev, device, false);
	load(&v, log);
	most = MAX_BLOCK / v.head.sector_bytes;
	for (sector = 0; sector < v.head.sectors; sector += count) {
		count = v.head.sectors - sector;
		if (count > most)
			count = most;
		look_at(&v, buffer, sector, count);
	}
	return tell(&v);
}
