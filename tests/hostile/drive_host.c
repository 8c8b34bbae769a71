// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's host, from user space. A child process with a deadline does whatever may hang;
 * a child that hangs for good is left behind.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conn.h"
#include "drive.h"

#define FABRICS		"/dev/nvme-fabrics"
#define CLASS		"/sys/class/nvme"
#define LARGE		32768
#define SMALL		4096
/* Workers, each with its own part of the disk, and their rounds */
#define WORKERS		2
#define ROUNDS		4
#define PART		1048576
#define BESIDE_ROUNDS	16
#define MAX_AT_ONCE	16	/* children that only read */

/* ---- children with a deadline ---- */

static struct child start(void)
{
	struct child child;
	int ends[2];

	fflush(stdout);
	if (pipe(ends))
		die("no pipe");
	child.pid = fork();
	if (child.pid < 0)
		die("no process");
	close(ends[child.pid ? 1 : 0]);
	child.pipe = ends[child.pid ? 0 : 1];
	return child;
}

static void __attribute__((noreturn)) tell(struct child child, const char *words)
{
	if (write(child.pipe, words, strlen(words)) < 0)
		_exit(1);
	_exit(0);
}

/* False if it printed nothing within own_ms(); it is then killed, which may not help */
static bool hear(struct child child, char *words, size_t len, uint64_t until)
{
	ssize_t n = 0;

	if (readable_until(child.pipe, until))
		n = read(child.pipe, words, len - 1);
	words[n > 0 ? n : 0] = 0;
	if (n <= 0) {
		kill(child.pid, SIGKILL);
		usleep(100000);
	}
	waitpid(child.pid, NULL, n > 0 ? 0 : WNOHANG);
	close(child.pipe);
	return n > 0;
}

/* ---- controllers ---- */

static void __attribute__((noreturn))
connect_child(struct child child, const char *options)
{
	char words[128];
	int fd = open(FABRICS, O_RDWR);
	ssize_t n;

	if (fd < 0 || write(fd, options, strlen(options)) < 0) {
		snprintf(words, sizeof(words), "errno=%d", errno);
		tell(child, words);
	}
	n = read(fd, words, sizeof(words) - 1);
	if (n < 0)
		n = snprintf(words, sizeof(words), "errno=%d", errno);
	words[n] = 0;
	tell(child, words);
}

struct child host_connect_begin(const char *options)
{
	struct child child = start();

	if (!child.pid)
		connect_child(child, options);
	return child;
}

int host_connect_end(struct child child, char *name, int ms)
{
	char words[128];
	int number;

	if (!hear(child, words, sizeof(words), own_ms() + ms))
		return -1;
	if (sscanf(words, "errno=%d", &number) == 1)
		return number;
	if (sscanf(words, "instance=%d", &number) != 1) {
		errno = EPROTO;
		die("%s says '%s'", FABRICS, words);
	}
	snprintf(name, NAME_LEN, "nvme%d", number);
	return 0;
}

static void attribute(const char *name, const char *which, char *value, size_t len)
{
	char path[256];
	int fd;
	ssize_t n = 0;

	snprintf(path, sizeof(path), CLASS "/%s/%s", name, which);
	fd = open(path, O_RDONLY);
	if (fd >= 0) {
		n = read(fd, value, len - 1);
		close(fd);
	}
	value[n > 0 ? n : 0] = 0;
	value[strcspn(value, "\n")] = 0;
}

bool host_exists(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), CLASS "/%s", name);
	return !access(path, F_OK);
}

void host_state(const char *name, char *state)
{
	attribute(name, "state", state, NAME_LEN);
}

int host_count(void)
{
	char transport[NAME_LEN];
	struct dirent *entry;
	DIR *dir = opendir(CLASS);
	int count = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		attribute(entry->d_name, "transport", transport, sizeof(transport));
		count += !strcmp(transport, "rdma");
	}
	closedir(dir);
	return count;
}

/* Its first namespace; a path of a disk that has more is named nvmeScCnN */
bool host_disk(const char *name, char *disk)
{
	int subsys, ctrl, ns;
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), CLASS "/%s", name);
	dir = opendir(path);
	*disk = 0;
	while (dir && !*disk && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "nvme%dc%dn%d", &subsys, &ctrl, &ns) == 3 ||
		    sscanf(entry->d_name, "nvme%dn%d", &subsys, &ns) == 2)
			snprintf(disk, NAME_LEN, "/dev/nvme%dn%d", subsys, ns);
	}
	if (dir)
		closedir(dir);
	return *disk && !access(disk, R_OK | W_OK);
}

bool host_delete(const char *name, int ms)
{
	uint64_t until = own_ms() + ms;
	struct child child = start();
	char path[128], words[16];
	int fd;

	if (!child.pid) {
		snprintf(path, sizeof(path), CLASS "/%s/delete_controller", name);
		fd = open(path, O_WRONLY);
		/* it may have gone by itself meanwhile */
		tell(child, fd >= 0 && write(fd, "1", 1) == 1 ? "deleted" : "gone");
	}
	if (!hear(child, words, sizeof(words), until))
		return false;
	while (host_exists(name) && own_ms() < until)
		usleep(20000);
	return !host_exists(name);
}

bool host_subsystem_reset(const char *name, int ms)
{
	struct child child = start();
	char path[64], words[16];

	if (!child.pid) {
		snprintf(path, sizeof(path), "/dev/%s", name);
		/* the state of the controller shows whether it succeeded */
		ioctl(open(path, O_RDWR), NVME_IOCTL_SUBSYS_RESET);
		tell(child, "back");
	}
	return hear(child, words, sizeof(words), own_ms() + ms);
}

/* ---- I/O ---- */

static void *buffer(size_t len)
{
	void *at;

	if (posix_memalign(&at, 4096, len))
		die("no memory");
	return at;
}

static void pattern(uint32_t *at, size_t len, uint32_t seed)
{
	size_t i;

	for (i = 0; i < len / sizeof(*at); i++) {
		seed = seed * 1664525 + 1013904223;
		at[i] = seed;
	}
}

/* One that was written, if it is read as it was */
static enum io_result check_back(int fd, const void *was, void *is, size_t len, off_t at)
{
	memset(is, 0x77, len);
	if (pread(fd, is, len, at) != (ssize_t)len)
		return IO_ERROR;
	return memcmp(was, is, len) ? IO_WRONG : IO_OK;
}

static enum io_result one_round(int fd, uint32_t seed, off_t at)
{
	static void *large, *small, *is;
	enum io_result result;

	if (!is) {
		large = buffer(LARGE);
		small = buffer(SMALL);
		is = buffer(LARGE);
	}
	pattern(large, LARGE, seed);
	pattern(small, SMALL, ~seed);
	if (pwrite(fd, large, LARGE, at) != LARGE ||
	    pwrite(fd, small, SMALL, at + LARGE) != SMALL)
		return IO_ERROR;
	result = check_back(fd, large, is, LARGE, at);
	if (result != IO_OK)
		return result;
	return check_back(fd, small, is, SMALL, at + LARGE);
}

static void __attribute__((noreturn)) io_child(struct child child, const char *disk, int part)
{
	enum io_result result = IO_ERROR;
	int fd = open(disk, O_RDWR | O_DIRECT), i;
	char words[2] = "";

	for (i = 0; fd >= 0 && i < ROUNDS; i++) {
		result = one_round(fd, (uint32_t)now_ms() + i,
				   (off_t)part * PART + (off_t)i * 2 * LARGE);
		if (result != IO_OK)
			break;
	}
	words[0] = (char)('0' + result);
	tell(child, words);
}

enum io_result host_io(const char *disk, int ms)
{
	uint64_t until = own_ms() + ms;
	struct child children[WORKERS];
	enum io_result worst = IO_OK, result;
	char words[8];
	int i;

	for (i = 0; i < WORKERS; i++) {
		children[i] = start();
		if (!children[i].pid)
			io_child(children[i], disk, i);
	}
	for (i = 0; i < WORKERS; i++) {
		result = hear(children[i], words, sizeof(words), until) ?
			 (enum io_result)(words[0] - '0') : IO_HANGS;
		if (result > worst)
			worst = result;
	}
	return worst;
}

static void __attribute__((noreturn))
reads_child(struct child child, const char *disk, unsigned int reads)
{
	int fd = open(disk, O_RDONLY | O_DIRECT);
	void *at = buffer(SMALL);
	unsigned int i, good = 0;
	char words[16];

	for (i = 0; fd >= 0 && i < reads; i++)
		good += pread(fd, at, SMALL, 0) == SMALL;
	snprintf(words, sizeof(words), "%u", good);
	tell(child, words);
}

bool host_reads(const char *disk, unsigned int at_once, unsigned int reads, int ms)
{
	struct child children[MAX_AT_ONCE];
	uint64_t until = own_ms() + ms;
	bool all = true;
	char words[16];
	unsigned int i;

	for (i = 0; i < at_once && i < MAX_AT_ONCE; i++) {
		children[i] = start();
		if (!children[i].pid)
			reads_child(children[i], disk, reads);
	}
	while (i--)
		all &= hear(children[i], words, sizeof(words), until);
	return all;
}

static void __attribute__((noreturn)) beside_child(struct child child, const char *disk)
{
	int fd = open(disk, O_RDWR | O_DIRECT), i;
	uint64_t fastest = 0, from;
	char words[32];

	for (i = 0; fd >= 0 && i < BESIDE_ROUNDS; i++) {
		from = now_us();
		if (one_round(fd, (uint32_t)from, (off_t)i * 2 * LARGE) != IO_OK)
			tell(child, "0");
		from = now_us() - from;
		if (!i || from < fastest)
			fastest = from;
	}
	/* of the four I/Os of the round that others disturbed least */
	snprintf(words, sizeof(words), "%u", fd < 0 ? 0 : (unsigned int)fastest / 4 + 1);
	tell(child, words);
}

unsigned int host_beside(const char *disk, int ms)
{
	struct child child = start();
	char words[32];

	if (!child.pid)
		beside_child(child, disk);
	if (!hear(child, words, sizeof(words), own_ms() + ms))
		return 0;
	return (unsigned int)atoi(words);
}
