#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   I/O that the target does not answer in time: aborted first, then recovery only if the abort does not help
# shares:  io
# check:   6.12
# timeout: 400
# cpus:    1 2
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:abort
host_load
wire_up
must "a disk" memory_disk nullb0 16
must "another" memory_disk nullb1 16
must "device mapper" modprobe dm-mod
slow_disk() {
	dmsetup create --noudevsync slow --table \
		"0 $(blockdev --getsz /dev/nullb0) linear /dev/nullb0 0"
}
must "a disk that can be held up" slow_disk
# Enough time for the steps between the first timeout and the second, even if the guest stands
# still for five seconds and soft-RoCE for four
limit=$((SLOW > 1 ? 30 : 20))
must "I/O times out after $limit s" \
	dd of=/sys/module/nvme_core/parameters/io_timeout status=none <<< $limit
must "a subsystem" subsys $N
must "a namespace that can be held up" namespace $N 1 /dev/dm-0
must "one that cannot" namespace $N 2 /dev/nullb1
must "a port" port 1 "$MY_IP4"
must "open it" expose 1 $N
must "connect" connect $N "$MY_IP4" 4420 -c 1 -i 2 --keep-alive-tmo=60

get_disk $N 1
slow=$DISK
get_disk $N 2
hold_up() { dmsetup suspend --nolockfs --noflush --noudevsync slow; }
let_go() { dmsetup resume --noudevsync slow; }
# late_write: a write to the disk that is held up, in the background
late_write() {
	dd if=/dev/urandom of="$slow" bs=4096 count=1 oflag=direct \
		status=none > /run/late 2>&1 &
	LATE=$!
}

step "a write that is late once"
must "the disk is held up" hold_up
mark
late_write
said 60 "the host asks for an Abort" "queue [12] .*no response within $limit s.*; response not received; asking the controller to abort it"
said 12 "the controller answers that" "Abort of command ID .* of queue [12]: the controller could not"
check "other I/O is not disturbed" round_trip "$DISK" 65536
must "the disk goes on" let_go
check "the write succeeds" wait $LATE
equal "the controller has been live throughout" live "$(state_of "$CTRL")"
refuse 30 "there was no recovery" bash -c "dmesg | grep 'starting error recovery' || { echo none; exit 1; }"

step "one that is late twice"
must "the disk is held up" hold_up
mark
late_write
said 60 "the host asks for an Abort" "asking the controller to abort it"
said 60 "then it recovers" "starting error recovery"
must "the disk goes on" let_go
check_await 30 "live again" state_is "$CTRL" live
check "the write succeeds" wait $LATE
check "both disks work: 1" round_trip "$slow" 65536
check "both disks work: 2" round_trip "$DISK" 65536

step "as many as the queues hold"
must "the disk is held up" hold_up
mark
fio --name=many --filename="$slow" --direct=1 --ioengine=libaio --iodepth=16 \
	--rw=randread --bs=4k --size=1M --output=/run/many.out &
many=$!
said 60 "the host asks for an Abort" "asking the controller to abort it"
nap 1
must "the disk goes on" let_go
check "no read failed" wait $many
check_await 30 "live" state_is "$CTRL" live
check "disconnect" disconnect $N
check "the target is taken down" target_teardown
check "the disk is taken down" dmsetup remove --noudevsync slow
all_down
finish
