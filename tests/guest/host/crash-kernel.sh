#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    a crash kernel, whose block layer may serve only one queue of one kind: no other queues are created, and a dump can be written
# check:   none
# append:   elfcorehdr=0x1000
# timeout:  240
#
# By elfcorehdr= a kernel knows that kexec started it to write a dump. On 6.1 blk-mq then
# creates one hardware queue, whatever the driver requests.
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:crash
host_load
wire_up
must "a disk" memory_disk nullb0 64
simple_target $N /dev/nullb0
case $VM_KVER in
6.1.*) ONE=1 ;;
*) ONE= ;;
esac

# trial QUEUES OPTIONS: connects, writes, reads, resets; with so many I/O queues
trial() {
	local queues=${ONE:-$1}
	shift
	step "connect $*"
	mark
	must "connect" connect $N "$MY_IP4" 4420 -k 5 "$@"
	check_module nvme-rdma
	check "it has $queues" queues_are $((queues + 1))
	[ -z "$ONE" ] || said 5 "why" "this kernel supports one I/O queue"
	get_disk $N 1
	check "a dump" timeout 60 dd if=/dev/urandom of="$DISK" bs=1M count=8 oflag=direct status=none
	check "what is written is read" round_trip "$DISK" 1048576
	check "data by all processors" fio_verify "$DISK" 2M --numjobs=2 --offset_increment=4M
	check "reset" timeout 60 nvme reset "/dev/$CTRL"
	check_await 20 "it is back" queues_are $((queues + 1))
	check "what is written is read" round_trip "$DISK" 65536
	# longer than the target waits for a sign of life
	nap $((8 * MACHINE_SLOW))
	equal "it was never lost" 0 "$(dmesg | grep -c "nvme $CTRL: starting error recovery")"
	check "disconnect" disconnect $N
}

trial 2 -i 3
trial 4 -i 3 -W 2
trial 3 -i 3 -P 1
trial 5 -i 3 -W 2 -P 1
all_down
finish
