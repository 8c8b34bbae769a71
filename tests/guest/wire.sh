#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   target in one guest, host in another, with a real wire between them
# guests:  target host
# timeout: 200
. "$(dirname "$0")/lib.sh"

N=nqn.2026-01.test:wire

target() {
	wire_up
	must "an NVMe SSD" ssd 0
	must "a subsystem" subsys $N
	must "a namespace on the SSD" namespace $N 1 "$SSD"
	must "a port" port 1 "$MY_IP4"
	must "the port listens" expose 1 $N
	check_module nvmet-rdma
	signal_peers ready "$MY_IP4"
	wait_for done 150
	all_down
	finish
}

host() {
	host_load
	wire_up
	wait_for ready 60
	must "connect" connect $N "$VALUE"
	check_module nvme-rdma
	get_disk $N 1
	for size in 512 4096 65536 1048576; do
		check "$size bytes, direct" round_trip "$DISK" $size
	done
	check "fio with verification" fio_verify "$DISK" 8M
	grep -E 'IOPS|bw=' /run/fio.out
	all_down
	signal_peers done
	finish
}

"$VM_NAME"
