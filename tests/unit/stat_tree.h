/* SPDX-License-Identifier: GPL-2.0 */
/* Trees of files as the modules show them; after harness.h, shell.h and stat/stat.h */
#ifndef NVME_RDMA_UNIT_STAT_TREE_H
#define NVME_RDMA_UNIT_STAT_TREE_H

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "histogram.h"

#define NQN	"nqn.2026-01.test:disk"
#define HOST_A	"nqn.2014-08.org.nvmexpress:uuid:00000000-0000-0000-0000-00000000000a"
#define HOST_B	"nqn.2026-01.test:b"

/* mkdtemp() fills it in */
static char top[sizeof("/tmp/nvmerdma-stat.XXXXXX")] = "/tmp/nvmerdma-stat.XXXXXX";
static struct stat_dirs dirs;
static struct history history;

/* A file below @top; its directories are made as well */
static inline void put(const char *path, const char *fmt, ...)
{
	char name[512], *slash;
	va_list ap;
	FILE *f;

	snprintf(name, sizeof(name), "%s/%s", top, path);
	for (slash = name + strlen(top); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		assert_true(!mkdir(name, 0755) || errno == EEXIST);
		*slash = '/';
	}
	f = fopen(name, "w");
	assert_non_null(f);
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fclose(f);
}

struct host_queue {
	const char *state;
	unsigned int sent, answered, read, waits, connects, errors, polled;
};

static inline void put_host_queue(const char *name, struct host_queue q)
{
	put(name, "state %s\ndevice rxe0\nvector 1\npolled %u\ndepth 128\nsq_slots 400\n"
	    "sq_slots_free 300\n"
	    "sent_without_data 0\nsent_in_capsule %u\nsent_registered 0\nbytes_read %u\n"
	    "bytes_written 512\nresponses %u\nwait_no_slot %u\nwait_no_mr 1\nconnects %u\n"
	    "error_connect 0\nerror_connection_lost %u\nerror_flush 77\n%s\n",
	    q.state ?: "live", q.polled, q.sent, q.read, q.answered, q.waits, q.connects, q.errors,
	    hist_line(4, q.answered, 0));
}

static inline void put_ctrl(const char *name)
{
	put(mem_fmt("nvme/%s/subsysnqn", name), NQN "\n");
	put(mem_fmt("nvme/%s/state", name), "live\n");
	put(mem_fmt("nvme/%s/address", name), "traddr=10.0.0.1,trsvcid=4420\n");
}

static inline void put_target_queue(const char *number, const char *host, unsigned int qid,
				    unsigned int come, unsigned int answered)
{
	put(mem_fmt("nvmet_rdma/queues/%s", number),
	    "host %s\ncontroller 1\nqid %u\nport 2\npeer 10.0.0.9:5000%s\nstate live\ndepth 128\n"
	    "sq_slots 600\nsq_slots_free 590\nwaiting 0\nreceives_completed %u\nbytes_read %u\n"
	    "bytes_written 0\nwait_no_credit 0\nerror_sgl 1\nerror_flush 9\nresponses %u\n%s\n",
	    host, qid, number, come, answered * 4096, answered, hist_line(10, answered, 0));
}

static inline void put_target_host(const char *file, const char *nqn, unsigned int queues,
				   unsigned int ended)
{
	put(mem_fmt("nvmet_rdma/hosts/%s", file),
	    "host %s\ncontrollers 1\nqueues %u\nqueues_ended %u\nbytes_read 5\nerror_sgl 3\n"
	    "error_flush 100\nresponses 7\n%s\n", nqn, queues, ended, hist_line(3, 7, 0));
}

static inline void put_thread(const char *name, unsigned int pid, unsigned int times)
{
	put(mem_fmt("nvmet_rdma/threads/%s", name),
	    "state awake\npid %u\ncpu 1\ncpu_ns %u00000000\nspin_ns 50000\nspun_ns %u0000000\n"
	    "rounds %u000\nsleeps %u0\ninterrupts %u00\nabsences %u\n", pid, times, times, times,
	    times, times, times);
}

static inline void put_retries(const char *device, const char *key, unsigned int n)
{
	put(mem_fmt("infiniband/%s/ports/1/hw_counters/%s", device, key), "%u\n", n);
}

static inline int setup(void **state)
{
	(void)state;
	strcpy(strrchr(top, '.'), ".XXXXXX");
	assert_non_null(mkdtemp(top));
	dirs.mount = top;
	dirs.debugfs[SIDE_HOST] = mem_fmt("%s/nvme_rdma", top);
	dirs.debugfs[SIDE_TARGET] = mem_fmt("%s/nvmet_rdma", top);
	dirs.ctrls = mem_fmt("%s/nvme", top);
	dirs.devices = mem_fmt("%s/infiniband", top);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	sh("rm -rf %s", top);
	history_free(&history);
	mem_release((struct mem_mark) { 0 });
	return 0;
}

#endif
