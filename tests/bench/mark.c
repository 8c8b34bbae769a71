// SPDX-License-Identifier: GPL-2.0
/*
 * mark WORD...: runs in a guest and gives the counting plugin (plugin/count.c)
 * a command, by nops that the plugin knows. To any other machine they are nops.
 *
 * mark --clock NAME: a tenth of a second's work between "begin NAME" and "end"; prints
 * how many nanoseconds the guest's clock took it for, which under -icount
 * shift=0 is the number of instructions.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "plugin/count.h"

static inline __attribute__((always_inline)) void mark(unsigned int n)
{
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c0"
			 : : "i"(MARK_BASE + n));
}

/* A mark's number is in its code: each has its own. */
static void half(unsigned int n)
{
	switch (n) {
	case 0: mark(0); break;
	case 1: mark(1); break;
	case 2: mark(2); break;
	case 3: mark(3); break;
	case 4: mark(4); break;
	case 5: mark(5); break;
	case 6: mark(6); break;
	case 7: mark(7); break;
	case 8: mark(8); break;
	case 9: mark(9); break;
	case 10: mark(10); break;
	case 11: mark(11); break;
	case 12: mark(12); break;
	case 13: mark(13); break;
	case 14: mark(14); break;
	case 15: mark(15); break;
	}
}

static void say(const char *words)
{
	for (; *words; words++) {
		half((unsigned char)*words >> 4);
		half((unsigned char)*words & 15);
	}
}

static void go(void)
{
	mark(MARK_GO);
}

static uint64_t now(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_MONOTONIC_RAW, &t)) {
		perror("mark: the clock");
		return 0;
	}
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Some of each: loops, system calls, page faults, and copies by string moves. */
static int clock_and_count(const char *name)
{
	static char page[64][4096], copy[64][4096];
	uint64_t from, to;

	say("begin ");
	say(name);
	go();
	from = now();
	do {
		for (unsigned int i = 0; i < 64; i++) {
			memcpy(copy[i], page[i], sizeof(page[i]));
			page[i][getppid() & 4095]++;
		}
		to = now();
	} while (to - from < 100000000);
	say("end");
	go();
	printf("%llu\n", (unsigned long long)(to - from));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--clock"))
		return clock_and_count(argv[2]);
	if (argc < 2) {
		fputs("usage: mark WORD... or mark --clock NAME\n", stderr);
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		if (i > 1)
			say(" ");
		say(argv[i]);
	}
	go();
	return 0;
}
