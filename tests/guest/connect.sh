#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   discover, connect, data of every size, disconnect; host and target in one guest
# guests:  guest
# timeout: 180
. "$(dirname "$0")/lib.sh"

N=nqn.2026-01.test:one
host_load
wire_up
step "target"
must "a disk" null_disk nullb0 64
must "a subsystem" subsys $N
must "a namespace" namespace $N 1 /dev/nullb0
must "a port" port 1 "$MY_IP4"
must "the port listens" expose 1 $N
check_module nvmet-rdma

step "discover"
check "discovery" discover "$MY_IP4"
equal "the log names the subsystem" 1 "$(grep -c "subnqn: *$N" "$CHECK_OUT")"

step "connect"
must "connect" connect $N "$MY_IP4"
check_module nvme-rdma
get_disk $N 1
for size in 512 4096 8192 16384 65536 131072 1048576 4194304; do
	check "$size bytes, direct" round_trip "$DISK" $size
done
check "fio with verification" fio_verify "$DISK" 16M
check "disconnect" disconnect $N
all_down
finish
