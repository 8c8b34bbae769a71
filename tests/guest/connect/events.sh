#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   keep-alive, asynchronous events, resets under I/O
# shares:  io
# check:   6.12
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:events
host_load
wire_up
must "a disk" memory_disk nullb0 64
must "another disk" memory_disk nullb1 32
simple_target $N /dev/nullb0

# A shorter period ends a connection when soft-RoCE or the guest is slow
step "keep-alive: three times its period without I/O"
PERIOD=$((10 * MACHINE_SLOW))
must "connect, keep-alive of $PERIOD s" connect $N "$MY_IP4" 4420 -k $PERIOD
get_disk $N 1
equal "the period" $PERIOD "$(cat "/sys/class/nvme/$CTRL/kato")"
mark
nap $((3 * PERIOD))
equal "the controller is live" live "$(state_of "$CTRL")"
equal "the kernel did not complain" 0 \
	"$(_log_since_mark | grep -Ec 'keep-alive|reconnect|error recovery|I/O')"

disk_size_is() { [ "$(blockdev --getsize64 "$1")" = "$2" ]; }

step "a namespace comes and goes on the target"
must "namespace 2 on the target" namespace $N 2 /dev/nullb1
get_disk $N 2
check "data on it" round_trip "$DISK" 65536
check "namespace 2 goes" namespace_remove $N 2
check_await 30 "the host has noticed" not has_disk $N 2
must "namespace 2 again" namespace $N 2 /dev/nullb1
check_await 30 "the host has noticed" has_disk $N 2

step "reset under I/O"
get_disk $N 1
must "I/O" io_start "$DISK"
for _ in 1 2 3; do
	check "reset" nvme reset "/dev/$CTRL"
	check_await 30 "live again" state_is "$CTRL" live
	check_await 30 "I/O goes on" io_moves
done
check "reset by sysfs" dd of="/sys/class/nvme/$CTRL/reset_controller" \
	status=none <<< 1
check_await 30 "live again" state_is "$CTRL" live
check_await 30 "I/O goes on" io_moves
check "every block was verified, no error" io_stop

step "rescan"
check "rescan" nvme ns-rescan "/dev/$CTRL"
check "both disks are there" has_disk $N 2

step "delete while I/O runs"
must "I/O" io_start "$DISK"
check "disconnect" timeout 60 nvme disconnect -n $N
check "fio saw the errors" io_errors
check_await 30 "the disks are gone" not has_disk $N 1

step "unload with controllers connected and I/O running"
must "connect" connect $N "$MY_IP4"
get_disk $N 1
must "I/O" io_start "$DISK"
check "nvme-rdma is unloaded" timeout 60 rmmod nvme_rdma
check "fio saw the errors" io_errors
check "no controller is left" no_controllers
all_down
finish
