// SPDX-License-Identifier: GPL-2.0
/*
 * One round of what a host does: connect, write, flush, read and compare,
 * disconnect. One process does it all, because a program takes a tenth of a second
 * to start in a guest, and stepping through faults takes hundreds of rounds.
 *
 *	round OPTIONS [SEED]
 *
 * OPTIONS are those of /dev/nvme-fabrics. Connecting is tried twice: the fault that
 * the round is about may fail it once. Prints "connect tries=N errno=E", the errno
 * of the first try or 0, and "ok"; or says what failed. Exit status: 0 all of it
 * worked, 1 it did not, 2 wrong use, 14 (by SIGALRM) it hangs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
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

static void write_and_read(const char *disk, int fd, uint64_t seed)
{
	uint8_t *out = buffer(), *in = buffer();
	off_t at = 0;
	size_t i;

	for (i = 0; i < NR_LENS; i++, at += MAX_LEN) {
		fill(out, lens[i], seed);
		if (pwrite(fd, out, lens[i], at) != (ssize_t)lens[i])
			die("%s: cannot write %zu bytes", disk, lens[i]);
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
	int fd;

	if (argc < 2 || argc > 3) {
		fputs("usage: round OPTIONS [SEED]\n", stderr);
		return 2;
	}
	alarm(HANG_SECS);
	connect_it(argv[1], ctrl, sizeof(ctrl));
	fd = open_disk(ctrl, disk, sizeof(disk));
	write_and_read(disk, fd, argc > 2 ? strtoull(argv[2], NULL, 0) : 1);
	close(fd);
	disconnect_it(ctrl);
	puts("ok");
	return 0;
}
