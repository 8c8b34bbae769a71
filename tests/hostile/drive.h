/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The other end of a hostile target: the kernel's own host, driven case by case, and
 * what becomes of it.
 */
#ifndef HOSTILE_DRIVE_H
#define HOSTILE_DRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

int drive(int argc, char **argv);

/* ---- drive_host.c: a controller by /dev/nvme-fabrics, sysfs and its disk ---- */

#define NAME_LEN	32

enum io_result { IO_OK, IO_ERROR, IO_WRONG, IO_HANGS };

/* Operations that may hang, each in a process of its own */
struct child {
	pid_t pid;
	int pipe;
};

struct child host_connect_begin(const char *options);
/* 0 and the controller's name, an errno, or -1 if it was still at it after @ms */
int host_connect_end(struct child child, char *name, int ms);
bool host_exists(const char *name);
/* "live", "connecting", ... or "" */
void host_state(const char *name, char *state);
bool host_disk(const char *name, char *disk);
/* Requests an NVM Subsystem Reset; false if that has not returned after @ms */
bool host_subsystem_reset(const char *name, int ms);
/* Controllers of transport rdma */
int host_count(void);
/* False if it is still there after @ms */
bool host_delete(const char *name, int ms);
/* Verified writes and reads by several at once */
enum io_result host_io(const char *disk, int ms);
/* So many reads by each of several, well or not; false if not all have ended after @ms */
bool host_reads(const char *disk, unsigned int at_once, unsigned int reads, int ms);
/* Few verified ones of another disk; in microseconds for each, 0 if it went wrong */
unsigned int host_beside(const char *disk, int ms);

/* ---- drive_rest.c: what a case must leave unchanged ---- */

/* The state before the first case; each may be NULL */
void rest_remember(const char *beside, const char *device);
/* NULL if all is as before; how long the other disk's I/O took, 0 if it failed */
const char *rest_wrong(unsigned int *beside_us);

/* ---- drive_log.c: the kernel's log ---- */

void log_open(void);
void log_begin(const char *words);
/* Whether the log has a match since log_begin(); @line: that line */
bool log_said(const char *regex, char *line, size_t len);
int log_count(const char *regex);

#endif /* HOSTILE_DRIVE_H */
