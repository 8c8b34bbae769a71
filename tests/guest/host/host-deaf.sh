#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   an HCA stops answering the host: its queues are torn down and reconnect
# check:   none
# with:    deaf
# timeout: 500
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/deaf.sh"

N=nqn.2026-01.test:deaf
host_load
wire_up
must "a disk" memory_disk nullb0 64
deaf_load nvme_rdma
must "I/O times out after 4 s" dd of=/sys/module/nvme_core/parameters/io_timeout status=none <<< 4
simple_target $N /dev/nullb0

step "deaf under I/O"
must "connect" connect $N "$MY_IP4" 4420 -i 1 -P 1 -c 1 -l 600
get_disk $N 1
must "I/O" io_start "$DISK" --iodepth=16
before=$(vanished)
mark
deaf Y
check_await 20 "completions vanish" some_vanished $((before + 8))
said 60 "the host recovers" "starting error recovery"
said 60 "it gives up waiting for the device" \
	"queue 1 to .*: rxe0 does not flush its work requests \(error -110\)"
deaf N
check_await 60 "the host is back" state_is "$CTRL" live
check_await 20 "I/O goes on" io_moves
check "every block was verified, no error" io_stop

step "deaf while it disconnects"
before=$(vanished)
deaf Y
check "it goes" timeout 240 nvme disconnect -n $N
check_await 5 "no controller is left" no_controllers
check "completions vanished" some_vanished "$before"
deaf N
must "connect" connect $N "$MY_IP4" 4420 -i 1 -P 1
get_disk $N 1
check "data" fio_verify "$DISK" 2M
check "disconnect" disconnect $N
deaf_unload

step "deaf while firmware is activated"
# Then the core, not us, has the controller leave its state, whatever became of it
hostile=$VM_REPO/build/tools/hostile-target
must "Admin commands time out after 4 s" \
	dd of=/sys/module/nvme_core/parameters/admin_timeout status=none <<< 4
"$hostile" "$MY_IP4" 4430 cancelled-other-queue > /run/hostile.out 2>&1 &
hostile_pid=$!
must_await 30 "a target that has firmware" grep -q ready /run/hostile.out
deaf_load nvme_rdma
must "connect" connect nqn.2026-01.test:hostile "$MY_IP4" 4430 -i 1 -c 1 -l 600
get_disk nqn.2026-01.test:hostile 1
dd if=/dev/zero of="$DISK" bs=32k count=1 oflag=direct status=none
{
	dd if="$DISK" of=/dev/null bs=32k count=1 iflag=direct status=none
	dd if="$DISK" of=/dev/null bs=32k count=1 iflag=direct status=none
} &
reader=$!
check_await 20 "the host waits for the firmware" state_is "$CTRL" resetting
before=$(vanished)
mark
deaf Y
check_await 60 "completions vanish" some_vanished "$before"
said 60 "the admin queue is given up" \
	"queue 0 to .*: rxe0 does not flush its work requests \(error -110\)"
said 60 "the host recovers" "starting error recovery"
deaf N
check_await 60 "the host is back" state_is "$CTRL" live
check "the read that waited is done" wait "$reader"
check "disconnect" disconnect nqn.2026-01.test:hostile
kill "$hostile_pid"
wait "$hostile_pid"
deaf_unload
all_down
finish
