# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared receive queues, as the RDMA stack shows them.

srqs() { rdma resource show srq | grep -c nvmet_rdma; }
srqs_are() { [ "$(srqs)" = "$1" ]; }

# shared_qps: QPs of the target that have an SRQ; 'lqpn' holds lists of ranges
shared_qps() {
	rdma resource show srq | grep nvmet_rdma |
		sed -n 's/.*lqpn \([^ ]*\) .*/\1/p' | tr ',' '\n' |
		awk -F- 'NF { n += $NF - $1 + 1 } END { print n + 0 }'
}

# target_qps: connections that the target has
target_qps() {
	rdma resource show cm_id |
		grep -c 'state CONNECT .*comm \[nvmet_rdma\]'
}
target_qps_are() { [ "$(target_qps)" = "$1" ]; }

# rnr: how often soft-RoCE told a sender that there was no receive
rnr() {
	cat /sys/class/infiniband/rxe0/ports/1/hw_counters/send_rnr_err
}
