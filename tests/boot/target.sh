#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# For tests/boot/run, in the guest "target": export the disk vda, which holds a root file system, at an
# address on each of two wires, until the test outside makes the file /vm/end.
. "$(dirname "$0")/../guest/lib.sh"

N=nqn.2026-01.org.example:root

wire() { # NUMBER ADDRESS
	ip addr add "$2/24" dev "eth$1" && ip link set "eth$1" up &&
		rdma link add "rxe$1" type rxe netdev "eth$1"
}

export_disk() {
	modprobe -a virtio_blk rdma_rxe nvmet nvmet-rdma &&
		wire 0 192.0.2.1 && wire 1 198.51.100.1 &&
		subsys $N "$(cat /vm/hostnqn)" && namespace $N 1 /dev/vda &&
		port 1 192.0.2.1 && expose 1 $N && port 2 198.51.100.1 && expose 2 $N
}

must "a root file system's disk, exported at two addresses to one host" export_disk
check_module nvmet-rdma
touch /vm/exported
until [ -e /vm/end ]; do
	nap 1
done
check "nothing is left of the export" target_teardown
finish
