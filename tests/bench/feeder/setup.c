// SPDX-License-Identifier: GPL-2.0
/*
 * The commands that make a controller ready, and that shut it down: one at a time, and each
 * waits for its response. There is no Keep Alive: the controller is told to expect none.
 */
#define pr_fmt(fmt) "feeder: " fmt

#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uuid.h>
#include "feeder.h"

#define REPLY_MS	30000
#define ANY_CONTROLLER	0xffff
#define CC_ENABLED	(NVME_CC_ENABLE | NVME_CC_IOSQES | NVME_CC_IOCQES)

/* The response to the only command in flight */
static int await(struct feeder_queue *queue, union nvme_result *result)
{
	unsigned long end = jiffies + msecs_to_jiffies(REPLY_MS);
	struct feeder_slot *slot;
	struct feeder_recv *recv;
	struct ib_wc wc;
	u16 status;
	int ret;

	for (;;) {
		if (ib_poll_cq(queue->host->cq, 1, &wc) == 1) {
			recv = (struct feeder_recv *)(uintptr_t)wc.wr_id;
			if (recv || wc.status)
				break;
		} else if (time_after(jiffies, end)) {
			return -ETIMEDOUT;
		} else {
			usleep_range(100, 200);
		}
	}
	if (wc.status)
		return -ECONNRESET;
	/* The next command's response may use the memory again from here on */
	*result = recv->cqe->result;
	status = le16_to_cpu(recv->cqe->status) >> 1;
	ret = feeder_reply(recv, &wc, &slot);
	if (!ret && status) {
		pr_err("queue %u: opcode %#x: status %#x\n", queue->qid,
		       slot->sqe->common.opcode, status);
		ret = -EPROTO;
	}
	return ret;
}

static int command(struct feeder_queue *queue, const struct nvme_command *sqe,
		   union nvme_result *result)
{
	struct feeder_slot *slot = queue->free;

	*slot->sqe = *sqe;
	slot->sqe->common.flags = NVME_CMD_SGL_METABUF;
	if (!sqe->common.dptr.ksgl.type)	/* no data: a keyed SGL of no bytes */
		feeder_sgl(slot->sqe, 0, 0, 0);
	slot->sqe->common.command_id = slot - queue->slots;
	slot->wr.num_sge = 1;
	queue->free = slot->next;
	return feeder_send(slot) ?: await(queue, result);
}

static int property_set(struct feeder_queue *queue, u32 offset, u32 value)
{
	struct nvme_command sqe = { .prop_set = {
		.opcode = nvme_fabrics_command,
		.fctype = nvme_fabrics_type_property_set,
		.offset = cpu_to_le32(offset),
		.value = cpu_to_le64(value),
	} };
	union nvme_result unused;

	return command(queue, &sqe, &unused);
}

static int property_get(struct feeder_queue *queue, u32 offset, u32 *value)
{
	struct nvme_command sqe = { .prop_get = {
		.opcode = nvme_fabrics_command,
		.fctype = nvme_fabrics_type_property_get,
		.offset = cpu_to_le32(offset),
	} };
	union nvme_result result;
	int ret = command(queue, &sqe, &result);

	*value = le64_to_cpu(result.u64);
	return ret;
}

/* Gives @data the number of the controller */
static int nvme_connect(struct feeder_queue *queue, struct nvmf_connect_data *data)
{
	struct feeder_slot *slot = queue->free;
	struct nvme_command sqe = { .connect = {
		.opcode = nvme_fabrics_command,
		.fctype = nvme_fabrics_type_connect,
		.qid = cpu_to_le16(queue->qid),
		.sqsize = cpu_to_le16((queue->qid ? FEEDER_QUEUE_SIZE : NVME_AQ_DEPTH) - 1),
	} };
	union nvme_result result;
	int ret;

	memcpy(slot->data, data, sizeof(*data));
	feeder_sgl(&sqe, slot->dma, sizeof(*data), queue->host->pd->unsafe_global_rkey);
	ret = command(queue, &sqe, &result);
	if (!ret)
		data->cntlid = cpu_to_le16(le32_to_cpu(result.u32));
	return ret;
}

static int enable(struct feeder_queue *admin)
{
	unsigned long end = jiffies + msecs_to_jiffies(REPLY_MS);
	int ret = property_set(admin, NVME_REG_CC, CC_ENABLED);
	u32 csts = 0;

	while (!ret && !(csts & NVME_CSTS_RDY)) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		ret = property_get(admin, NVME_REG_CSTS, &csts);
	}
	return ret;
}

/* NVMe base, Set Features, Number of Queues: both numbers are less one */
static int ask_for_queues(struct feeder_queue *admin, unsigned int nr)
{
	struct nvme_command sqe = { .features = {
		.opcode = nvme_admin_set_features,
		.fid = cpu_to_le32(NVME_FEAT_NUM_QUEUES),
		.dword11 = cpu_to_le32((nr - 1) | (nr - 1) << 16),
	} };
	union nvme_result result;
	int ret = command(admin, &sqe, &result);

	if (ret)
		return ret;
	if ((le32_to_cpu(result.u32) & 0xffff) + 1 >= nr)
		return 0;
	pr_err("the target gives %u I/O queues, expected %u\n",
	       (le32_to_cpu(result.u32) & 0xffff) + 1, nr);
	return -ENOSPC;
}

/* Connects the @n-th I/O queue, or the admin queue of it. For the rest see feeder_connect() */
static int connect_from(struct feeder *host, struct feeder_queue *queue, u16 qid,
			const struct sockaddr_storage *to,
			const struct sockaddr_storage *from, unsigned int addresses,
			unsigned int n)
{
	struct sockaddr_in src;

	if (!addresses)
		return feeder_queue_connect(host, queue, qid, to, NULL);
	memcpy(&src, from, sizeof(src));
	be32_add_cpu(&src.sin_addr.s_addr, n % addresses);
	return feeder_queue_connect(host, queue, qid, to, &src);
}

/*
 * The controller that has the I/O queues from the @first-th on. @from and @addresses: see
 * feeder_connect()
 */
static int connect_ctrl(struct feeder *host, unsigned int first,
			const struct sockaddr_storage *to,
			const struct sockaddr_storage *from, unsigned int addresses,
			struct nvmf_connect_data *data)
{
	unsigned int i, nr = min_t(unsigned int, host->nr - first, FEEDER_CTRL_QUEUES);
	struct feeder_queue *admin = &host->admins[first / FEEDER_CTRL_QUEUES];
	int ret;

	data->cntlid = cpu_to_le16(ANY_CONTROLLER);
	ret = connect_from(host, admin, 0, to, from, addresses, first) ?:
	      nvme_connect(admin, data) ?: enable(admin) ?: ask_for_queues(admin, nr);
	for (i = 0; i < nr && !ret; i++) {
		struct feeder_queue *queue = &host->queues[first + i];

		ret = connect_from(host, queue, 1 + i, to, from, addresses, first + i) ?:
		      nvme_connect(queue, data);
	}
	return ret;
}

static int connect_all(struct feeder *host, const struct sockaddr_storage *to,
		       const struct sockaddr_storage *from, unsigned int addresses,
		       struct nvmf_connect_data *data)
{
	unsigned int first;
	int ret = 0;

	for (first = 0; first < host->nr && !ret; first += FEEDER_CTRL_QUEUES)
		ret = connect_ctrl(host, first, to, from, addresses, data);
	return ret;
}

/**
 * feeder_connect() - connect a host's queues
 * @to: the target's address
 * @from: the IPv4 address that the first I/O queue comes from, each other from the next one; an
 *	admin queue from that of its controller's first
 * @addresses: how many of these there are, in turn, as if they were of as many hosts; 0 if all
 *	come from where the route leads
 * @subnqn: the subsystem
 * @hostnqn: the host's name
 * @queues: I/O queues, at most FEEDER_IO_QUEUES
 *
 * Context: may sleep.
 *
 * Return: the host or an ERR_PTR().
 */
struct feeder *feeder_connect(const struct sockaddr_storage *to,
			      const struct sockaddr_storage *from, unsigned int addresses,
			      const char *subnqn, const char *hostnqn, unsigned int queues)
{
	struct nvmf_connect_data *data = kzalloc(sizeof(*data), GFP_KERNEL);
	struct feeder *host = kvzalloc(sizeof(*host), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!data || !host) {
		kvfree(host);
		goto out;
	}
	host->nr = queues;
	uuid_gen(&data->hostid);
	strscpy(data->subsysnqn, subnqn, sizeof(data->subsysnqn));
	strscpy(data->hostnqn, hostnqn, sizeof(data->hostnqn));
	ret = connect_all(host, to, from, addresses, data);
	if (ret)
		feeder_free(host);
out:
	kfree(data);
	return ret ? ERR_PTR(ret) : host;
}

/**
 * feeder_disconnect() - shut the controllers down, disconnect, and free the host
 * @host: the host
 *
 * Context: may sleep.
 */
void feeder_disconnect(struct feeder *host)
{
	unsigned int i;

	for (i = 0; i < feeder_ctrls(host); i++) {
		if (property_set(&host->admins[i], NVME_REG_CC,
				 CC_ENABLED | NVME_CC_SHN_NORMAL))
			pr_err("controller %u of the host is not shut down\n", i);
	}
	for (i = 0; i < host->nr; i++)
		feeder_queue_disconnect(&host->queues[i]);
	for (i = 0; i < feeder_ctrls(host); i++)
		feeder_queue_disconnect(&host->admins[i]);
	feeder_free(host);
}
