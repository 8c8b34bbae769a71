#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   a connection over software iWARP ends while a disk has its commands; the disk's interrupt then responds, and the device completes the response within the post
# shares:  io
# with:    siw
# check:   6.12
# timeout: 300
# cpus:    1 2
FABRIC=siw
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:lost
host_load
wire_up
# It completes commands in a timer's interrupt, all that were given it at once
must "a disk that takes its time" timer_disk nullb0 16 $((500000000 * WATCHED)) hw_queue_depth=64
simple_target $N /dev/nullb0

reads() {
	fio --name=reads --filename="$1" --direct=1 --ioengine=libaio --iodepth=32 \
		--rw=randread --bs=4k --size=16M --time_based --runtime=60 \
		--output=/dev/null > /dev/null 2>&1 &
}
disk_has() { awk -v n="$1" '{ exit !($9 >= n) }' /sys/block/nullb0/stat; }

for i in 1 2 3; do
	must "connect" connect $N "$MY_IP4" 4420 -i 1 -l 2
	get_disk $N 1
	reads "$DISK"
	reader=$!
	check_await 20 "the disk has many commands" disk_has 16
	check "the target ends the connection" rm $NVMET/ports/1/subsystems/$N
	check_await 20 "its queues go" port_queues_are 0
	check "the host gives up" disconnect $N
	kill -9 $reader 2> /dev/null
	wait $reader 2> /dev/null
	check_await 20 "no controller is left" no_controllers
	must "the subsystem is back" expose 1 $N
done
all_down
finish
