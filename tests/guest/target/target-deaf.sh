#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   an HCA stops answering the target: queues, ports and the device are torn down
# check:   none
# with:    deaf
# timeout: 600
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/srq.sh"
. "$GUEST_DIR/lib/deaf.sh"

N=nqn.2026-01.test:deaf
host_load
wire_up
must "a disk" memory_disk nullb0 64
deaf_load nvmet_rdma

for srq in Y N; do
	step "use_srq=$srq: the HCA goes deaf under I/O, and the port is closed"
	must "load" modprobe nvmet-rdma use_srq=$srq
	simple_disk $N /dev/nullb0 -i 2 -c 1 -l 600
	# writes beyond a capsule: RDMA READs are under way when it happens
	must "I/O" io_start "$DISK" --bs=32k --iodepth=16
	before=$(vanished)
	mark
	deaf Y
	check_await 20 "completions vanish" some_vanished $((before + 8))
	check "the port is closed in a moment" timeout 20 rm "$NVMET/ports/1/subsystems/$N"
	equal "meanwhile the queues can be seen" "state disconnecting" \
		"$(sed -n '/^state/p' $SHOWN/queues/* | sort -u)"
	said 60 "the kernel gives up" \
		"rxe0 did not flush its work requests in time"
	check_await 20 "all queues are gone" target_qps_are 0
	check_await 5 "so are the SRQs" srqs_are 0
	deaf N
	check "the port opens" expose 1 $N
	check_await 90 "the host is back" state_is "$CTRL" live
	check_await 20 "I/O goes on" io_moves
	check "every block was verified, no error" io_stop
	begin_anew
done

step "the device is taken away while it is deaf"
simple_disk $N /dev/nullb0 -i 2 -c 1 -l 600
must "I/O" io_start "$DISK" --bs=32k --iodepth=16
before=$(vanished)
deaf Y
check_await 20 "completions vanish" some_vanished $((before + 8))
check "it goes" timeout 120 rdma link delete rxe0
check "the port has counted the queues" \
	at_least 1 "$(key_sum error_drain $SHOWN/ports/1)"
deaf N
check "and the host's controller with it: I/O fails" io_errors
check "no controller is left" no_controllers
rxe0_back 1
must "connect" connect $N "$MY_IP4" 4420 -i 2
get_disk $N 1
check "data" fio_verify "$DISK" 2M
check "disconnect" disconnect $N
deaf_unload
all_down
finish
