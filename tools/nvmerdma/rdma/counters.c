// SPDX-License-Identifier: GPL-2.0
/* What RDMA devices count of packets that went wrong */
#include "rdma/rdma.h"

/*
 * Of soft-RoCE, mlx5, bnxt_re, irdma, iw_cxgb4, ionic, hns. Where a driver counts both why
 * it sent again and that it did, only one of the two is a retry: soft-RoCE's
 * rcvd_seq_err is in its completer_retry_err.
 */
static const struct rdma_counter counters[] = {
	{ "completer_retry_err", TROUBLE_RETRY, true },
	{ "local_ack_timeout_err", TROUBLE_RETRY, true },
	{ "packet_seq_err", TROUBLE_RETRY, true },
	{ "implied_nak_seq_err", TROUBLE_RETRY, true },
	{ "to_retransmits", TROUBLE_RETRY, true },
	{ "seq_err_naks_rcvd", TROUBLE_RETRY, true },
	{ "tx_rdma_retx_pkts", TROUBLE_RETRY, true },
	{ "tcpRetransSegs", TROUBLE_RETRY, true },
	{ "ip4RetransSegs", TROUBLE_RETRY, true },
	{ "ip6RetransSegs", TROUBLE_RETRY, true },
	{ "rcvd_rnr_err", TROUBLE_RNR_THERE, true },
	{ "rnr_nak_retry_err", TROUBLE_RNR_THERE, true },
	{ "rnr_naks_rcvd", TROUBLE_RNR_THERE, true },
	{ "out_of_sequence", TROUBLE_RETRY, false },
	{ "max_retry_exceeded", TROUBLE_RETRY, false },
	{ "retry_exceeded_err", TROUBLE_RETRY, false },
	{ "RxOosPsn", TROUBLE_RETRY, false },
	{ "out_of_seq_request", TROUBLE_RETRY, false },
	{ "duplicate_request", TROUBLE_RETRY, false },
	{ "rcvd_seq_err", TROUBLE_RETRY, false },
	{ "rnr_naks_retry_exc_err", TROUBLE_RNR_THERE, false },
	{ "retry_rnr_exceeded_err", TROUBLE_RNR_THERE, false },
	{ "send_rnr_err", TROUBLE_RNR_HERE, false },
	{ "rnr_nak_sent", TROUBLE_RNR_HERE, false },
	{ "out_of_buffer", TROUBLE_RNR_HERE, false },
	{ "rcvd_pkts_discards", TROUBLE_LOST, false },
	{ "send_err", TROUBLE_LOST, false },
	{ "rx_icrc_encapsulated", TROUBLE_LOST, false },
	{ "req_remote_access_errors", TROUBLE_REFUSED, false },
	{ "resp_remote_access_errors", TROUBLE_REFUSED, false },
};

const struct rdma_counter *rdma_counter_at(size_t i)
{
	return i < NR(counters) ? &counters[i] : NULL;
}

static bool add_retries(const char *dir, uint64_t *retries)
{
	bool known = false;
	size_t i;

	for (i = 0; i < NR(counters); i++) {
		const char *path = mem_fmt("%s/%s", dir, counters[i].name);

		if (!counters[i].retries || !file_there("%s", path))
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
