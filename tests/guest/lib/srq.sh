# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared receive queues, as the RDMA stack shows them.

# both_subsystems: $N with nullb0, and $S with nullb1, on one port
both_subsystems() {
	must "the subsystem $N" subsys "$N"
	must "its namespace" namespace "$N" 1 /dev/nullb0
	must "the subsystem $S" subsys "$S"
	must "its namespace" namespace "$S" 1 /dev/nullb1
	must "a port" port 1 "$MY_IP4"
	must "for one" expose 1 "$N"
	must "and the other" expose 1 "$S"
}

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
