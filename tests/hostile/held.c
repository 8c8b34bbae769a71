// SPDX-License-Identifier: GPL-2.0
/* See held.h. Things go by and by: by RCU, by a peer's timeouts */
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conn.h"
#include "held.h"

#define LEFT_MS		20000
/*
 * Memory differs by itself, more on a kernel that watches itself; a queue that is kept takes
 * more in a few turns
 */
#define KERNEL_KIB	8192

static unsigned int transports_cqs(const char *device)
{
	FILE *out = popen("rdma resource show cq", "r");
	char line[512], dev[64];
	unsigned int n = 0;

	if (!out)
		die("no 'rdma'");
	snprintf(dev, sizeof(dev), "dev %s ", device);
	while (fgets(line, sizeof(line), out))
		n += strstr(line, dev) &&
		     (strstr(line, "[nvme_rdma]") || strstr(line, "[nvmet_rdma]"));
	pclose(out);
	return n;
}

/*
 * "N: DEVICE: pd 1 qp 2 ...", with the completion queues of the transports only: the kernel
 * has a pool of others
 */
static void objects(const char *device, char *what, size_t len)
{
	char command[128];
	FILE *out;
	char *cq, *end, *list;

	*what = 0;
	snprintf(command, sizeof(command), "rdma resource show %s", device);
	out = popen(command, "r");
	if (!out || !fgets(what, (int)len, out))
		die("no answer of '%s'", command);
	pclose(out);
	what[strcspn(what, "\n")] = 0;
	list = strrchr(what, ':');
	if (list)
		memmove(what, list + 1, strlen(list));
	cq = strstr(what, "cq ");
	end = cq ? strchr(cq + 3, ' ') : NULL;
	if (end)
		memmove(cq, end + 1, strlen(end));
	snprintf(what + strlen(what), len - strlen(what), " cq %u", transports_cqs(device));
}

static bool named(const char *const *names, const char *word)
{
	for (; *names; names++)
		if (!strcmp(*names, word))
			return true;
	return false;
}

/* The sum of the numbers that a file of the kernel has behind the words @names */
static unsigned long long sum_of(const char *path, const char *const *names)
{
	FILE *f = fopen(path, "r");
	unsigned long long n, sum = 0;
	char line[128], word[64];

	if (!f)
		die("cannot read %s", path);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " %63[^:]: %llu", word, &n) == 2 && named(names, word))
			sum += n;
	fclose(f);
	return sum;
}

/*
 * The kernel's own memory: all memory, except free pages (also in the lists of a processor),
 * page cache, memory of programs, and what the kernel would release on demand. Pages count,
 * whatever allocated them. Tasks do not count, with about as much memory as their stacks
 * besides, because idle workers stay for minutes.
 */
static unsigned long kernel_kib(void)
{
	static const char *const all[] = { "MemTotal", NULL };
	static const char *const others[] = { "MemFree", "Buffers", "Cached", "AnonPages",
					      "KReclaimable", NULL };
	static const char *const listed[] = { "count", NULL };
	static const char *const stacks[] = { "KernelStack", NULL };

	return (unsigned long)(sum_of("/proc/meminfo", all) -
			       sum_of("/proc/meminfo", others) -
			       4 * sum_of("/proc/zoneinfo", listed) -
			       2 * sum_of("/proc/meminfo", stacks));
}

static void say_to(const char *path, const char *word)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, word, strlen(word)) < 0)
		fprintf(stderr, "hostile: %s: cannot write\n", path);
	close(fd);
}

/* Free unused memory, and memory that KASAN keeps of it, if the kernel has an interface for that */
static void drop_unused(void)
{
	glob_t found;
	size_t i;

	say_to("/proc/sys/vm/drop_caches", "3");
	if (glob("/sys/kernel/slab/*/shrink", 0, NULL, &found))
		return;
	for (i = 0; i < found.gl_pathc; i++)
		say_to(found.gl_pathv[i], "1");
	globfree(&found);
}

void held_remember(struct held *held, const char *device)
{
	char before[sizeof(held->objects)];

	memset(held, 0, sizeof(*held));
	held->device = device;
	drop_unused();
	do {
		snprintf(before, sizeof(before), "%s", held->objects);
		if (device)
			objects(device, held->objects, sizeof(held->objects));
		sleep(1);
	} while (strcmp(before, held->objects));
	held->kernel_kib = kernel_kib();
}

static bool objects_back(const struct held *held, char *now, size_t len)
{
	if (!held->device)
		return true;
	objects(held->device, now, len);
	return !strcmp(now, held->objects) || !strcmp(now, held->said);
}

static unsigned long number_of(const char *list, const char *name)
{
	char word[32];
	unsigned long n;
	int used;

	for (; sscanf(list, "%31s %lu%n", word, &n, &used) == 2; list += used)
		if (!strcmp(word, name))
			return n;
	return 0;
}

/* " qp 5, not 3 mr 7, not 6": the differences of a list from another one */
static void add_others(char *words, size_t len, const char *list, const char *before)
{
	unsigned long n, was;
	char word[32];
	int used;

	for (; sscanf(list, "%31s %lu%n", word, &n, &used) == 2; list += used) {
		was = number_of(before, word);
		if (n != was)
			snprintf(words + strlen(words), len - strlen(words),
				 " %s %lu, not %lu", word, n, was);
	}
}

static const char *what_is_left(struct held *held, const char *now, unsigned long kib)
{
	static char words[sizeof(held->objects) + 32];

	if (*now) {
		snprintf(words, sizeof(words), "objects left:");
		add_others(words, sizeof(words), now, held->objects);
		snprintf(held->said, sizeof(held->said), "%s", now);
	} else {
		snprintf(words, sizeof(words), "memory left: %lu KiB",
			 kib - held->kernel_kib);
		held->kernel_kib = kib;
	}
	return words;
}

const char *held_left(struct held *held)
{
	uint64_t until = own_ms() + slow_ms(LEFT_MS);
	char now[sizeof(held->objects)] = "";
	bool back;
	unsigned long kib;

	for (;;) {
		back = objects_back(held, now, sizeof(now));
		kib = kernel_kib();
		if (back && kib <= held->kernel_kib + (unsigned long)watched_times() * KERNEL_KIB)
			return NULL;
		if (own_ms() >= until)
			break;
		if (back)
			drop_unused();
		usleep(100000);
	}
	return what_is_left(held, back ? "" : now, kib);
}
