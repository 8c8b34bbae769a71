// SPDX-License-Identifier: GPL-2.0
/*
 * One round of what a host does: connect, write, flush, read and compare,
 * disconnect. One process does it all, because a program takes a tenth of a second
 * to start in a guest, and stepping through faults takes hundreds of rounds.
 *
 *	round OPTIONS [SEED [LOG [look]]]
 *
 * OPTIONS are those of /dev/nvme-fabrics. Connecting is tried twice: the fault that
 * the round is about may fail it once. Prints "connect tries=N errno=E", the errno
 * of the first try or 0, and "ok"; or says what failed. Exit status: 0 all of it
 * worked, 1 it did not, 2 wrong use, 14 (by SIGALRM) it hangs.
 *
 * LOG gets a line "issued PLACE SEED" before each write, and "acked PLACE SEED" when it
 * is acknowledged. With "look", what the rounds in LOG wrote is read before anything is
 * written: each place has to hold what was acknowledged there last, or, of what was
 * issued there later and came to no end, any part. Then prints "looked places=N
 * unanswered=N of_last=N": places that were looked at, those of them with a write that
 * was not acknowledged, and those whose last write was acknowledged to the last round.
 * Rounds with the same LOG have SEEDs that go up.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* No step may take longer, whatever the fault was */
#define HANG_SECS	120
#define DISK_SECS	30
#define MAX_LEN		(1 << 20)
/* What is written as a whole */
#define BLOCK		512

/* In-capsule or not; one element or several; larger than a chunk of the target's */
static const size_t lens[] = { 4096, 16384, 131072, MAX_LEN };
#define NR_LENS		(sizeof(lens) / sizeof(lens[0]))

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *fmt, ...)
{
	int error = errno;
	va_list args;

	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf(": %s\n", strerror(error));
	exit(1);
}

/* Returns 0, or the errno */
static int try_connect(const char *options, char *name, size_t len)
{
	char answer[256] = "";
	int fd = open("/dev/nvme-fabrics", O_RDWR);
	ssize_t n;
	int instance;

	if (fd < 0)
		die("cannot open /dev/nvme-fabrics");
	if (write(fd, options, strlen(options)) < 0) {
		n = errno;
		close(fd);
		return (int)n;
	}
	n = read(fd, answer, sizeof(answer) - 1);
	close(fd);
	if (n < 0 || sscanf(answer, "instance=%d", &instance) != 1)
		die("/dev/nvme-fabrics answered \"%s\"", answer);
	snprintf(name, len, "nvme%d", instance);
	return 0;
}

static void connect_it(const char *options, char *name, size_t len)
{
	int first = try_connect(options, name, len);
	int again = first ? try_connect(options, name, len) : 0;

	printf("connect tries=%d errno=%d\n", first ? 2 : 1, first);
	fflush(stdout);
	errno = again;
	if (again)
		die("a second attempt to connect failed");
}

/* nvme0c1n1, a path, is shown as the disk nvme0n1 */
static void path_to_disk(char *name)
{
	char *c = strchr(name + strlen("nvme"), 'c');

	if (c)
		memmove(c, strrchr(name, 'n'), strlen(strrchr(name, 'n')) + 1);
}

static int find_disk(const char *ctrl, char *disk, size_t len)
{
	char path[300], name[256] = "";
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/class/nvme/%s", ctrl);
	dir = opendir(path);
	if (!dir)
		die("controller %s is gone", ctrl);
	while ((e = readdir(dir))) {
		if (!strncmp(e->d_name, "nvme", 4) && strrchr(e->d_name + 4, 'n'))
			snprintf(name, sizeof(name), "%s", e->d_name);
	}
	closedir(dir);
	if (!*name)
		return -1;
	path_to_disk(name);
	snprintf(disk, len, "/dev/%s", name);
	return open(disk, O_RDWR | O_DIRECT | O_EXCL);
}

static int open_disk(const char *ctrl, char *disk, size_t len)
{
	int i, fd = -1;

	for (i = 0; i < DISK_SECS * 50 && fd < 0; i++) {
		fd = find_disk(ctrl, disk, len);
		if (fd < 0)
			nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	}
	if (fd < 0)
		die("no disk of %s within %d s", ctrl, DISK_SECS);
	return fd;
}

static uint8_t *buffer(void)
{
	void *at;

	if (posix_memalign(&at, 4096, MAX_LEN))
		die("no memory");
	return at;
}

static void fill(uint8_t *at, size_t len, uint64_t seed)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15u + len;
	size_t i;

	for (i = 0; i < len; i += sizeof(x)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(at + i, &x, sizeof(x));
	}
}

/* The seeds of the last write that was acknowledged, and of the last issued; 0: none */
struct place {
	uint64_t acked, issued;
};

static int open_log(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	if (fd < 0)
		die("cannot write the log %s", path);
	return fd;
}

static void note(int log, const char *what, size_t place, uint64_t seed)
{
	if (log >= 0 && dprintf(log, "%s %zu %" PRIu64 "\n", what, place, seed) < 0)
		die("cannot write the log");
}

/* Return: the seed of the last round in the log */
static uint64_t read_log(const char *path, struct place *places)
{
	FILE *f = fopen(path, "r");
	uint64_t seed, last = 0;
	char what[8];
	size_t i;

	if (!f)
		die("cannot read the log %s", path);
	while (fscanf(f, "%7s %zu %" SCNu64, what, &i, &seed) == 3) {
		errno = EINVAL;
		if (i >= NR_LENS || seed < last)
			die("the log %s has place %zu, seed %" PRIu64, path, i, seed);
		*(strcmp(what, "acked") ? &places[i].issued : &places[i].acked) = seed;
		last = seed;
	}
	fclose(f);
	return last;
}

/* How many of the bytes at @in are of none of the writes that may be there */
static size_t wrong_bytes(const uint8_t *in, uint8_t *out, size_t len,
			  const struct place *place)
{
	static bool right[MAX_LEN / BLOCK];
	size_t at, wrong = 0;
	uint64_t seed;

	memset(right, 0, sizeof(right));
	for (seed = place->acked; seed <= place->issued; seed++) {
		fill(out, len, seed);
		for (at = 0; at < len; at += BLOCK)
			right[at / BLOCK] |= !memcmp(in + at, out + at, BLOCK);
	}
	for (at = 0; at < len; at += BLOCK)
		wrong += right[at / BLOCK] ? 0 : BLOCK;
	return wrong;
}

static void look(const char *disk, int fd, const char *log)
{
	size_t i, wrong, looked = 0, unanswered = 0, of_last = 0;
	struct place places[NR_LENS] = { };
	uint64_t last = read_log(log, places);
	uint8_t *out = buffer(), *in = buffer();

	for (i = 0; i < NR_LENS; i++) {
		if (!places[i].acked)
			continue;
		if (pread(fd, in, lens[i], (off_t)i * MAX_LEN) != (ssize_t)lens[i])
			die("%s: cannot read %zu bytes of before", disk, lens[i]);
		wrong = wrong_bytes(in, out, lens[i], &places[i]);
		errno = EILSEQ;
		if (wrong)
			die("%s: %zu of %zu bytes are not what was acknowledged to round %"
			    PRIu64 ", nor issued up to %" PRIu64, disk, wrong, lens[i],
			    places[i].acked, places[i].issued);
		looked++;
		unanswered += places[i].issued > places[i].acked;
		of_last += places[i].acked == last;
	}
	printf("looked places=%zu unanswered=%zu of_last=%zu\n", looked, unanswered,
	       of_last);
	free(out);
	free(in);
}

static void write_and_read(const char *disk, int fd, uint64_t seed, int log)
{
	uint8_t *out = buffer(), *in = buffer();
	off_t at = 0;
	size_t i;

	for (i = 0; i < NR_LENS; i++, at += MAX_LEN) {
		fill(out, lens[i], seed);
		note(log, "issued", i, seed);
		if (pwrite(fd, out, lens[i], at) != (ssize_t)lens[i])
			die("%s: cannot write %zu bytes", disk, lens[i]);
		note(log, "acked", i, seed);
	}
	if (fdatasync(fd))
		die("%s: cannot flush", disk);
	for (i = 0, at = 0; i < NR_LENS; i++, at += MAX_LEN) {
		fill(out, lens[i], seed);
		if (pread(fd, in, lens[i], at) != (ssize_t)lens[i])
			die("%s: cannot read %zu bytes", disk, lens[i]);
		errno = EILSEQ;
		if (memcmp(in, out, lens[i]))
			die("%s: %zu bytes are not what was written", disk, lens[i]);
	}
	free(out);
	free(in);
}

static void disconnect_it(const char *ctrl)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "/sys/class/nvme/%s/delete_controller", ctrl);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, "1", 1) != 1)
		die("cannot disconnect %s", ctrl);
	close(fd);
}

int main(int argc, char **argv)
{
	char ctrl[32], disk[64];
	int fd, log = -1;

	if (argc < 2 || argc > 5 || (argc == 5 && strcmp(argv[4], "look"))) {
		fputs("usage: round OPTIONS [SEED [LOG [look]]]\n", stderr);
		return 2;
	}
	alarm(HANG_SECS);
	connect_it(argv[1], ctrl, sizeof(ctrl));
	fd = open_disk(ctrl, disk, sizeof(disk));
	if (argc > 4)
		look(disk, fd, argv[3]);
	if (argc > 3)
		log = open_log(argv[3]);
	write_and_read(disk, fd, argc > 2 ? strtoull(argv[2], NULL, 0) : 1, log);
	close(fd);
	disconnect_it(ctrl);
	puts("ok");
	return 0;
}
