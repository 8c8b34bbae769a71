// SPDX-License-Identifier: GPL-2.0
/*
 * forger: a host that says another address than its own in its connection requests.
 *
 * Over InfiniBand and RoCE the address that the RDMA connection manager names as a
 * host's is what the host has written into the request's private data. While the
 * parameter "address" is one (IPv4), it stands there in all requests of this machine.
 */
#include <linux/inet.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <rdma/ib_cm.h>

static char address[INET_ADDRSTRLEN];
module_param_string(address, address, sizeof(address), 0644);
MODULE_PARM_DESC(address, "what requests say; empty: what is true");

/* Of the header of IP addresses (InfiniBand, annex A11): the last 4 bytes of the source */
#define HDR_SOURCE	16

/* ib_send_cm_req(id, param) */
static int forge_pre(struct kprobe *p, struct pt_regs *regs)
{
	const struct ib_cm_req_param *param = (const void *)regs->si;
	u8 ip[4];

	if (in4_pton(address, -1, ip, '\n', NULL) &&
	    param->private_data_len >= HDR_SOURCE + sizeof(ip))
		memcpy((u8 *)param->private_data + HDR_SOURCE, ip, sizeof(ip));
	return 0;
}

static struct kprobe forge_probe = {
	.symbol_name	= "ib_send_cm_req",
	.pre_handler	= forge_pre,
};

static int __init forger_init(void)
{
	return register_kprobe(&forge_probe);
}

static void __exit forger_exit(void)
{
	unregister_kprobe(&forge_probe);
}

module_init(forger_init);
module_exit(forger_exit);
MODULE_DESCRIPTION("requests that say another address");
MODULE_LICENSE("GPL");
