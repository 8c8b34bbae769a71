/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: ports and their listeners */
#ifndef NVMET_RDMA_LISTEN_H
#define NVMET_RDMA_LISTEN_H

#include "port.h"

/* listen.c */

int nvmet_rdma_listen_resolve(const struct nvmet_rdma_port *port, struct sockaddr_storage *addr);
void nvmet_rdma_listen_init(struct nvmet_rdma_port *port);
int nvmet_rdma_listen_start(struct nvmet_rdma_port *port);
void nvmet_rdma_listen_stop(struct nvmet_rdma_port *port);
void nvmet_rdma_listen_wake(void);
int nvmet_rdma_listen_register(void);
void nvmet_rdma_listen_unregister(void);

/* port.c */

int nvmet_rdma_add_port(struct nvmet_port *nport);
void nvmet_rdma_remove_port(struct nvmet_port *nport);
void nvmet_rdma_disc_traddr(struct nvmet_req *req, struct nvmet_port *nport,
			    char *traddr);

#endif /* NVMET_RDMA_LISTEN_H */
