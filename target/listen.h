/* SPDX-License-Identifier: GPL-2.0 */
/* nvmet-rdma: ports, for the core and for main.c */
#ifndef NVMET_RDMA_LISTEN_H
#define NVMET_RDMA_LISTEN_H

#include "port.h"

int nvmet_rdma_add_port(struct nvmet_port *nport);
void nvmet_rdma_remove_port(struct nvmet_port *nport);
void nvmet_rdma_disc_traddr(struct nvmet_req *req, struct nvmet_port *nport,
			    char *traddr);
int nvmet_rdma_listen_register(void);
void nvmet_rdma_listen_unregister(void);
void nvmet_rdma_listen_wake(void);

#endif /* NVMET_RDMA_LISTEN_H */
