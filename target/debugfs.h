/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: counters, and their files in debugfs */
#ifndef NVMET_RDMA_DEBUGFS_H
#define NVMET_RDMA_DEBUGFS_H

#include "queue.h"

struct dentry;
struct nvmet_rdma_thread;
struct seq_file;

/* counters.c */

void nvmet_rdma_show(struct seq_file *m, const char *key, u64 value);
void nvmet_rdma_show_nqn(struct seq_file *m, const char *key, const char *nqn);
void nvmet_rdma_show_host(struct seq_file *m,
			  const struct nvmet_rdma_host *host);
void nvmet_rdma_sum(struct nvmet_rdma_sums *sums,
		    const struct nvmet_rdma_queue *queue);
void nvmet_rdma_show_sums(struct seq_file *m,
			  const struct nvmet_rdma_sums *sums);

/* host_stats.c */

void nvmet_rdma_host_join(struct nvmet_rdma_queue *queue);
void nvmet_rdma_host_leave(struct nvmet_rdma_queue *queue);
bool nvmet_rdma_host_unfinished(const struct nvmet_ctrl *ctrl, unsigned long *since);
void nvmet_rdma_hosts_init(struct dentry *parent);
void nvmet_rdma_hosts_exit(void);

/* debugfs.c */

void nvmet_rdma_debugfs_add_queue(struct nvmet_rdma_queue *queue);
void nvmet_rdma_debugfs_remove_queue(struct nvmet_rdma_queue *queue);
void nvmet_rdma_debugfs_add_port(struct nvmet_rdma_port *port);
void nvmet_rdma_debugfs_remove_port(struct nvmet_rdma_port *port);
void nvmet_rdma_debugfs_add_thread(struct nvmet_rdma_thread *thread);
void nvmet_rdma_debugfs_remove_thread(struct nvmet_rdma_thread *thread);
void nvmet_rdma_debugfs_init(void);
void nvmet_rdma_debugfs_exit(void);

#endif /* NVMET_RDMA_DEBUGFS_H */
