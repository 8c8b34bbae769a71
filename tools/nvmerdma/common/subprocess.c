// SPDX-License-Identifier: GPL-2.0
/* Programs and children that end in time, whatever they wait for */
#include "common/util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_ARGS	24
#define TICK_MS		20
/* A killed process may have to wait for the kernel; then it is left to it */
#define KILL_MS		2000

static FILE *start(char *const argv[], pid_t *pid)
{
	int pipefd[2], quiet;

	if (pipe2(pipefd, O_CLOEXEC))
		return NULL;
	*pid = fork();
	if (*pid == 0) {
		quiet = open("/dev/null", O_RDWR);
		dup2(quiet, STDIN_FILENO);
		dup2(pipefd[1], STDOUT_FILENO);
		dup2(quiet, STDERR_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(pipefd[1]);
	if (*pid > 0)
		return fdopen(pipefd[0], "r");
	close(pipefd[0]);
	return NULL;
}

char *program_output(unsigned int seconds, const char *program, ...)
{
	char *argv[MOST_ARGS + 6] = { "timeout", "-k", "1", mem_fmt("%u", seconds) };
	size_t n = 4;
	va_list ap;
	char *text;
	FILE *out;
	int status;
	pid_t pid;

	argv[n++] = mem_str(program);
	va_start(ap, program);
	while (n < NR(argv) - 1 && (argv[n] = va_arg(ap, char *)))
		n++;
	va_end(ap);
	argv[n] = NULL;
	out = start(argv, &pid);
	if (!out)
		return NULL;
	text = stream_text(out);
	fclose(out);
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return NULL;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : NULL;
}

void *shared_alloc(size_t size)
{
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);

	if (shared == MAP_FAILED) {
		error_msg("out of memory");
		exit(STATUS_FAILED);
	}
	return shared;
}

static bool ends_within(pid_t pid, unsigned int ms)
{
	const struct timespec tick = { .tv_nsec = TICK_MS * 1000000L };
	unsigned int waited;

	for (waited = 0; ; waited += TICK_MS) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return true;
		if (waited >= ms)
			return false;
		nanosleep(&tick, NULL);
	}
}

bool run_in_child(unsigned int seconds, void (*work)(void *shared), void *shared)
{
	pid_t pid = fork();
	int quiet;

	if (pid < 0) {
		error_msg("no other process can be started: %m");
		exit(STATUS_FAILED);
	}
	if (!pid) {
		quiet = open("/dev/null", O_RDWR);
		dup2(quiet, STDOUT_FILENO);
		dup2(quiet, STDERR_FILENO);
		work(shared);
		_exit(0);
	}
	if (ends_within(pid, seconds * 1000))
		return true;
	kill(pid, SIGKILL);
	ends_within(pid, KILL_MS);
	return false;
}
