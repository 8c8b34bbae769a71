// SPDX-License-Identifier: GPL-2.0
/*
 * Several processors take turns in one thread of QEMU (-icount).
 *
 * QEMU 7.2 lets a processor run until it halts, executes pause, sends an interrupt to another
 * one, or a timer expires. One that works for long would keep the others from running. So
 * whatever two machines do at the same time would be done in turns of milliseconds, and
 * batches would be as large as no machine has them. Therefore a processor's turn ends after
 * some instructions, about a tenth of what a command costs one side.
 *
 * The interface of plugins has no function for that; QEMU's cpu_exit() does it. Debian's
 * QEMU exports it for its modules.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "count.h"

#define TURN 500	/* instructions */

static void *(*get_cpu)(int index);
static void (*exit_cpu)(void *cpu);
static unsigned int whose, used;

/* False if this QEMU cannot do it. */
bool turn_init(void)
{
	/* POSIX wants a pointer to data to be stored in one to a function like this */
	*(void **)&get_cpu = dlsym(RTLD_DEFAULT, "qemu_get_cpu");
	*(void **)&exit_cpu = dlsym(RTLD_DEFAULT, "cpu_exit");
	if (get_cpu && exit_cpu)
		return true;
	complain("this QEMU exports no cpu_exit(), so that several processors cannot take turns");
	return false;
}

/**
 * turn_used() - a processor executes instructions, of its turn
 * @cpu: the processor
 * @instructions: how many
 */
void turn_used(unsigned int cpu, unsigned int instructions)
{
	if (cpu != whose)
		used = 0;
	whose = cpu;
	used += instructions;
	if (used < TURN)
		return;
	used = 0;
	exit_cpu(get_cpu(cpu));
}

/* Ends the machine if processors run at the same time; they translate what they execute. */
void turn_check_thread(void)
{
	static pthread_t first;
	static bool known;

	if (!known)
		first = pthread_self();
	known = true;
	if (pthread_equal(first, pthread_self()))
		return;
	complain("processors that run at the same time cannot be counted; give -icount or -accel tcg,thread=single");
	exit(1);
}
