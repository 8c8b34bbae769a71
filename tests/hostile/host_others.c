// SPDX-License-Identifier: GPL-2.0
/*
 * The others: what a case must leave unharmed. A well-behaved host connects, writes, reads and
 * compares, as fast as before the first case; the kernel's host continues; and the kernel has
 * released the resources of the case's queues.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "held.h"
#include "host.h"

/* For the others to get on, and for queues to go */
#define MOVES_MS	15000
#define QUEUES_MS	40000
/* A witness's round trips: before the first case, and after each */
#define ROUNDS_BEFORE	32
#define ROUNDS		8
/* So many times as slow as before is too slow, if it is at each try */
#define SLOWER		3
#define TRIES		12
#define FIRST_WAIT_US	200000
#define LONGEST_WAIT_US	1600000

static struct {
	const char *moves, *queues;
	struct held held;
	uint64_t us;		/* the fastest round trip before the first case */
	uint64_t seed;
	unsigned int rounds;
	uint64_t *fastest;	/* of the witness's process; 0: it failed */
} rest;

static void witness(void)
{
	const char *wrong;

	look_ms = 0;
	wrong = ctrl_witness_rounds(rest.seed, rest.rounds, rest.fastest);
	if (!wrong)
		return;
	printf("beside: %s\n", wrong);
	*rest.fastest = 0;
}

/* Its fastest round trip is in rest.fastest */
static const char *run_witness(unsigned int rounds)
{
	const char *wrong;
	int status = 0;

	rest.seed++;
	rest.rounds = rounds;
	*rest.fastest = 0;
	wrong = in_process(witness, CASE_SECONDS, &status);
	return wrong || *rest.fastest ? wrong : "the minimal host failed";
}

/* Reads and writes that have completed */
static unsigned long long moved(void)
{
	unsigned long long reads, writes;
	FILE *f = fopen(rest.moves, "r");

	if (!f || fscanf(f, "%llu %*u %*u %*u %llu", &reads, &writes) != 2)
		die("cannot read %s", rest.moves);
	fclose(f);
	return reads + writes;
}

int others_queues(void)
{
	DIR *dir = rest.queues ? opendir(rest.queues) : NULL;
	struct dirent *entry;
	int n = 0;

	if (!rest.queues)
		return 0;
	if (!dir)
		die("cannot read %s", rest.queues);
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

static const char *wait_moves(unsigned long long before)
{
	uint64_t end = own_ms() + slow_ms(MOVES_MS);

	while (rest.moves && moved() == before) {
		if (own_ms() >= end)
			return "the kernel's host is stuck";
		usleep(10000);
	}
	return NULL;
}

static const char *wait_queues(int before)
{
	uint64_t end = own_ms() + slow_ms(QUEUES_MS);
	static char words[64];
	int n;

	for (;;) {
		n = others_queues();
		if (n <= before)
			return NULL;
		if (own_ms() >= end)
			break;
		usleep(10000);
	}
	snprintf(words, sizeof(words), "%d queues left over", n - before);
	return words;
}

/* The machine below is shared: a permanent slowdown still shows after 16 s */
static const char *wait_speed(void)
{
	useconds_t wait = FIRST_WAIT_US;
	const char *wrong;
	int i;

	for (i = 0; *rest.fastest > SLOWER * rest.us; i++) {
		if (i == TRIES) {
			printf("beside: %llu us, %llu before\n",
			       (unsigned long long)*rest.fastest,
			       (unsigned long long)rest.us);
			return "slow";
		}
		usleep(wait);
		if (wait < LONGEST_WAIT_US)
			wait *= 2;
		wrong = run_witness(ROUNDS);
		if (wrong)
			return wrong;
	}
	return NULL;
}

const char *others(int queues_before)
{
	unsigned long long before = rest.moves ? moved() : 0;
	const char *wrong = run_witness(ROUNDS);

	if (!wrong)
		wrong = wait_moves(before);
	if (!wrong)
		wrong = wait_queues(queues_before);
	if (!wrong)
		wrong = wait_speed();
	if (!wrong)
		wrong = held_left(&rest.held);
	return wrong ? wrong : "unharmed";
}

void others_remember(const char *moves, const char *queues, const char *device)
{
	const char *wrong;
	int before;

	rest.moves = moves;
	rest.queues = queues;
	before = others_queues();
	rest.fastest = mmap(NULL, sizeof(*rest.fastest), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rest.fastest == MAP_FAILED)
		die("no memory");
	wrong = run_witness(ROUNDS_BEFORE);
	if (wrong) {
		fprintf(stderr, "hostile-host: before the first case: %s\n", wrong);
		exit(2);
	}
	rest.us = *rest.fastest;
	wait_queues(before);
	held_remember(&rest.held, device);
}
