#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    connect, I/O and disconnect, with the RDMA device of either side dead at each work request, then taken away and made anew
# with:     vrnic
# variants: ours
# check:    none
# append:   init_on_free=1
# timeout:  3000
. "$(dirname "$0")/lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"
. "$GUEST_DIR/lib/vrnic-faults.sh"
. "$GUEST_DIR/lib/steps.sh"

N=nqn.2026-01.test:steps
host_load
vrnic_wire roce ack_lag=8
must "a disk" null_disk nullb0 64
soon_noticed
simple_target $N /dev/nullb0 $TARGET_IP
steps_begin "nqn=$N,traddr=$TARGET_IP,trsvcid=4420,host_traddr=$HOST_IP,nr_io_queues=1"
for what in "wr any NTH device-dies" "wr recv NTH device-dies"; do
	deaths "${STEPS_EVERY:-1}" $HOST_DEV eth1 "$what from=nvme_rdma"
	deaths "${STEPS_EVERY:-1}" $TARGET_DEV eth0 "$what from=nvmet_rdma"
done
vrnic_down
finish
