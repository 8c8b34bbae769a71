#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    the basics across a real wire, with any kernel and either module on each side
# guests:   target host
# disks:    target=64M
# variants: sides cross
# check:    sides:6.12
# timeout:  400
# cpus:     1 2
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:interop

target() {
	wire_up
	must "an NVMe SSD" ssd 0
	simple_target $N "$SSD"
	check_module nvmet-rdma
	must "another disk" memory_disk nullb0 16
	signal_peers ready "$MY_IP4"
	wait_for events 240
	check "namespace 2" namespace $N 2 /dev/nullb0
	signal_peers added
	wait_for added-seen 60
	check "namespace 2 goes" namespace_remove $N 2
	wait_for end 200
	all_down
	finish
}

host() {
	host_load
	wire_up
	wait_for ready 100
	check "discovery" discover "$VALUE"
	equal "the log names the subsystem" 1 \
		"$(grep -c "subnqn: *$N" "$CHECK_OUT")"
	must "connect" connect $N "$VALUE" 4420 -c 1
	check_module nvme-rdma
	signal_peers events
	wait_for added 60
	check_await 20 "a namespace comes" has_disk $N 2
	signal_peers added-seen
	check_await 20 "and goes" not has_disk $N 2
	get_disk $N 1
	check_sizes "$DISK" 512 4096 16384 131072 1048576
	check "fio with verification" fio_verify "$DISK" 4M
	check "flush" nvme flush "$DISK" -n 1
	check "discard" blkdiscard -l 65536 "$DISK"
	check "write zeroes" blkdiscard -z -l 65536 "$DISK"
	must "I/O" io_start "$DISK"
	check "reset" nvme reset "/dev/$CTRL"
	check_await 20 "live again" state_is "$CTRL" live
	check_await 20 "I/O goes on" io_moves
	check "every block was verified, no error" io_stop
	check "disconnect" disconnect $N
	all_down
	signal_peers end
	finish
}

"$VM_NAME"
