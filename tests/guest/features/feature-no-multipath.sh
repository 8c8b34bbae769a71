#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   features: nvme_core.multipath=N: each controller has its own disks; resets, reconnects and fast_io_fail_tmo without another path
# append:  nvme_core.multipath=N
# check:   6.12
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:no-multipath
host_load
wire_up
must "a disk" memory_disk nullb0 64
must "a subsystem" subsys $N
must "a namespace" namespace $N 1 /dev/nullb0
must "port 1" port 1 "$MY_IP4" 4420
must "port 2" port 2 "$MY_IP4" 4421
must "open port 1" expose 1 $N
must "open port 2" expose 2 $N
equal "multipath is off" N "$(cat /sys/module/nvme_core/parameters/multipath)"

# long enough for a port that closes and opens, even if the guest stands still for some seconds
FAIL_TMO=$((20 * MACHINE_SLOW))

away() { state_is "$CTRL" connecting; }

step "two controllers, two disks"
must "connect to port 2" connect $N "$MY_IP4" 4421 -i 1
TWO=$CTRL
must "connect to port 1" fabrics "traddr=$MY_IP4,trsvcid=4420,nqn=$N,hostnqn=$HOSTNQN,hostid=$HOSTID,nr_io_queues=1,reconnect_delay=1,ctrl_loss_tmo=600,fast_io_fail_tmo=$FAIL_TMO"

# disks CTRL: block devices of a controller
disks() { (cd "/sys/class/nvme/$1" && compgen -G "nvme*n*"); }
check_await 20 "disks come" disks "$CTRL"
check_await 20 "disks come" disks "$TWO"
DISK=/dev/$(disks "$CTRL")
OTHER=/dev/$(disks "$TWO")
check "they are two" [ "$DISK" != "$OTHER" ]
must_await 20 "block devices" [ -b "$DISK" -a -b "$OTHER" ]
check "data on one" round_trip "$DISK" 65536
equal "the other has it" "$(sum_of "$DISK" 65536)" "$(sum_of "$OTHER" 65536)"
check "disconnect one" nvme disconnect -d "$TWO"
check_await 20 "its disk is gone" gone "/sys/block/${OTHER#/dev/}"

step "resets under I/O"
must "I/O" io_start "$DISK"
for _ in 1 2; do
	check "reset" nvme reset "/dev/$CTRL"
	check_await 20 "live again" state_is "$CTRL" live
	check_await 20 "I/O goes on" io_moves
done

step "the port closes and opens within fast_io_fail_tmo"
check "close" conceal 1 $N
check_await 20 "the host tries to come back" away
check_await 30 "I/O waits" not io_moves
check "open" expose 1 $N
check_await 20 "live again" state_is "$CTRL" live
check_await 20 "I/O goes on" io_moves
check "every block was verified, no error" io_stop

step "fast_io_fail_tmo"
must "I/O" io_start "$DISK"
check "close" conceal 1 $N
check "fio saw the errors" io_errors
check "the controller is still reconnecting" away
check "open" expose 1 $N
check_await 20 "live again" state_is "$CTRL" live
check "data" round_trip "$DISK" 65536

step "the controller comes back with more queues, while reads wait"
check "disconnect" disconnect $N
must "one I/O queue is granted" _put "$NVMET/subsystems/$N/attr_qid_max" 1
must "connect, asking for two" fabrics "traddr=$MY_IP4,trsvcid=4420,nqn=$N,hostnqn=$HOSTNQN,hostid=$HOSTID,nr_io_queues=2,reconnect_delay=1,ctrl_loss_tmo=600"
check "it has one" queues_are 2
check_await 20 "its disk" disks "$CTRL"
DISK=/dev/$(disks "$CTRL")
must_await 20 "block device" [ -b "$DISK" ]
must "I/O" io_start "$DISK" --iodepth=16
check "close" conceal 1 $N
check_await 20 "the host tries to come back" away
check "two are granted" _put "$NVMET/subsystems/$N/attr_qid_max" 128
check "open" expose 1 $N
check_await 20 "it has two" queues_are 3
check_await 20 "I/O goes on" io_moves
check "every block was verified, no error" io_stop

# Writes, flushes and reads wait at both queues, one of which does not reconnect
step "the controller comes back with fewer queues, then with more"
check "disconnect" disconnect $N
must "connect" fabrics "traddr=$MY_IP4,trsvcid=4420,nqn=$N,hostnqn=$HOSTNQN,hostid=$HOSTID,nr_io_queues=2,reconnect_delay=1,ctrl_loss_tmo=600"
check "it has two" queues_are 3
check_await 20 "its disk" disks "$CTRL"
DISK=/dev/$(disks "$CTRL")
must_await 20 "block device" [ -b "$DISK" ]
must "I/O" io_start "$DISK" --iodepth=16 --numjobs=2 --offset_increment=32M \
	--cpus_allowed=0,1 --cpus_allowed_policy=split --fdatasync=3
for most in 1 128 1 128; do
	check "close" conceal 1 $N
	check_await 20 "the host tries to come back" away
	check "$most may be had" _put "$NVMET/subsystems/$N/attr_qid_max" $most
	check "open" expose 1 $N
	[ $most = 1 ] || most=2
	check_await 60 "it has $most" queues_are $((most + 1))
	check_await 20 "it is live" state_is "$CTRL" live
	check_await 20 "I/O goes on" io_moves
done
check "every block was verified, no error" io_stop

step "delete while reconnecting"
must "I/O" io_start "$DISK"
check "close" conceal 1 $N
check_await 20 "the host tries to come back" away
check "disconnect" timeout 60 nvme disconnect -n $N
check "fio saw the errors" io_errors
check_await 20 "the disk is gone" gone "/sys/block/${DISK#/dev/}"
all_down
finish
