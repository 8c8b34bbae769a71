#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   discover, connect, data of every size, disconnect, in one guest
# shares:  io
# check:   6.1
# timeout: 400
# cpus:    1 2
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:one
host_load
wire_up
must "a disk" memory_disk nullb0 64
simple_target $N /dev/nullb0
check_module nvmet-rdma

step "discover"
check "discovery" discover "$MY_IP4"
equal "the log names the subsystem" 1 "$(grep -c "subnqn: *$N" "$CHECK_OUT")"
check "no discovery controller stays" no_controllers

step "connect"
must "connect" connect $N "$MY_IP4"
check_module nvme-rdma
equal "the controller is live" live "$(state_of "$CTRL")"
equal "its transport" rdma "$(cat "/sys/class/nvme/$CTRL/transport")"
get_disk $N 1
for size in 512 1024 4096 8192 16384 65536 131072 1048576 4194304; do
	check "$size bytes in one piece, direct" round_trip "$DISK" $size
done
check "fio with verification, 4 to 64 KiB" fio_verify "$DISK" 6M

step "disconnect, connect: the data is there"
want=$(sum_of "$DISK" 1048576)
check "disconnect" disconnect $N
check_await 30 "its disk is gone" not has_disk $N 1
check "no controller is left" no_controllers
must "connect again" connect $N "$MY_IP4"
get_disk $N 1
equal "the same data" "$want" "$(sum_of "$DISK" 1048576)"

step "one queue, short queues, more queues than processors"
for options in "-i 1" "-i 1 -Q 16" "-i 4 -Q 64"; do
	check "disconnect" disconnect $N
	# shellcheck disable=SC2086
	must "connect $options" connect $N "$MY_IP4" 4420 $options
	get_disk $N 1
	check "64 KiB with $options" round_trip "$DISK" 65536
done
all_down
finish
