// SPDX-License-Identifier: GPL-2.0
/* What RDMA devices had to send again */
#include "rdma/rdma.h"

/*
 * Of soft-RoCE, mlx5, bnxt_re, irdma, iw_cxgb4, ionic, hns. Where a driver counts both why
 * it sent again and that it did, only one of the two is a retry: soft-RoCE's
 * rcvd_seq_err is in its completer_retry_err.
 */
static const char * const retry_counters[] = {
	"completer_retry_err", "local_ack_timeout_err", "packet_seq_err", "implied_nak_seq_err",
	"to_retransmits", "seq_err_naks_rcvd", "tx_rdma_retx_pkts", "tcpRetransSegs",
	"ip4RetransSegs", "ip6RetransSegs", "rcvd_rnr_err", "rnr_nak_retry_err", "rnr_naks_rcvd",
};

static bool add_retries(const char *dir, uint64_t *retries)
{
	bool known = false;
	size_t i;

	for (i = 0; i < NR(retry_counters); i++) {
		const char *path = mem_fmt("%s/%s", dir, retry_counters[i]);

		if (!file_there("%s", path))
			continue;
		*retries += file_u64(0, "%s", path);
		known = true;
	}
	return known;
}

bool rdma_retries(const char *sysfs, const char *device, uint64_t *retries)
{
	struct names ports = names_in("%s/%s/ports", sysfs, device);
	bool known;
	size_t i;

	*retries = 0;
	known = add_retries(mem_fmt("%s/%s/hw_counters", sysfs, device), retries);
	for (i = 0; i < ports.nr; i++)
		known |= add_retries(mem_fmt("%s/%s/ports/%s/hw_counters", sysfs, device,
					     ports.name[i]), retries);
	return known;
}
