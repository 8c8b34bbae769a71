#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   threads that poll disks (io_threads, poll_queues of nvme): data, resets, a thread that another disk keeps, threads that end
# disks:   64M:ms=4
# check:   none
# timeout: 500
# allow:   DMA-API: nvme [0-9a-f:.]+: cacheline tracking EEXIST|WARNING: .* at add_dma_entry\+|^Call Trace:$
#
# The warning is the nvme driver's, of the metadata of the disk.
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:polled
O=nqn.2026-01.test:slow
PARAMS=/sys/module/nvmet_rdma/parameters
THREADS=/sys/kernel/debug/nvmet_rdma/threads

found() { key_sum disk_completions $THREADS/*; }
any_away() { grep -qx "state away" $THREADS/*; }
disk_waited() { _log_since_mark | grep -v 'test: ' | grep -E "timeout|timed out"; }

# Two jobs on different queues, and so on different threads
load() {
	io_start "$1" --numjobs=2 --cpus_allowed=0,1 --cpus_allowed_policy=split \
		--offset_increment=8M --iodepth=16
}

host_load
wire_up
must "an SSD with queues to be polled" modprobe nvme poll_queues=2
must "it is there" ssd 0
# It keeps who reads 64 KiB of it for a second, as it takes 4 KiB and two commands at a time
must "a slow disk" timer_disk nullb5 64 125000000 hw_queue_depth=2 max_sectors=8
must "load" modprobe nvmet-rdma io_threads=Y
simple_target $N "$SSD"
must "another subsystem" subsys $O
must "its namespace" namespace $O 1 /dev/nullb5
must "on the same port" expose 1 $O
must "connect" connect $N "$MY_IP4" 4420 -i 2
check_module nvmet-rdma
get_disk $N 1
mark

step "data"
interrupts() { awk '/ nvme[0-9]+q[1-9]/ { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' /proc/interrupts; }
before=$(found) interrupted=$(interrupts)
for size in 512 4096 20480 131072 1048576; do
	check "$size bytes" round_trip "$DISK" $size
done
check "fio with verification" fio_verify "$DISK" 4M --iodepth=32
check "sequential writes, which nothing merges" fio_verify "$DISK" 4M --rw=write --bs=4k --bsrange=4k-4k
polled=$(($(found) - before)) interrupted=$(($(interrupts) - interrupted))
check "threads have polled for it" at_least 500 $polled
check "and the SSD has not interrupted: $interrupted times, $polled commands" at_most $((polled / 10)) $interrupted
_put $PARAMS/poll_us 0
before=$(found)
check "fio with verification, threads that do not spin" fio_verify "$DISK" 2M --iodepth=4
check "they have polled for it" at_least $((before + 50)) "$(found)"
_put $PARAMS/poll_us 50

step "resets of the disk and of the controller, under I/O"
must "I/O" load "$DISK"
for queues in 1 0 2 1 2; do
	_put /sys/module/nvme/parameters/poll_queues $queues
	check "the SSD is reset, and has $queues queues to be polled then" nvme reset "/dev/${SSD:5:5}"
	nap 0.3
	# refused while the connection recovers, as it may where packets are lost
	check_await 60 "the host's controller is reset" nvme reset "/dev/$CTRL"
	check_await 30 "live again" state_is "$CTRL" live
done
check "I/O goes on, and ends" io_stop

step "turned off and on under I/O"
must "I/O" load "$DISK"
for ((i = 0; i < 6; i++)); do
	_put $PARAMS/io_threads N
	nap 0.2
	_put $PARAMS/io_threads Y
	nap 0.2
done
check "I/O goes on, and ends" io_stop

step "another disk keeps the threads"
must "connect to it" connect $O "$MY_IP4" 4420 -i 2
disk=$DISK
get_disk $O 1
away() { key_sum away_completions $THREADS/*; }
is_found_away() { [ "$(away)" -ge $((before + 20)) ]; }
for cpu in 0 1; do
	while taskset -c $cpu dd if="$DISK" of=/dev/null bs=64k count=1 iflag=direct status=none; do
		:
	done &
	readers[cpu]=$!
done
before=$(away)
must "I/O of the SSD" load "$disk"
check_await 60 "works poll the SSD while threads are away" is_found_away
check "I/O of the SSD ends" io_stop
check "a thread is away now and then" test "$(key_sum absences $THREADS/*)" -ge 1
kill "${readers[@]}"
wait "${readers[@]}" 2> /dev/null
check_await 20 "the threads are back" not any_away
before=$(found)
check "fio with verification" fio_verify "$disk" 2M --iodepth=8
check "they poll again" at_least $((before + 50)) "$(found)"
check "disconnect it" disconnect $O

step "threads end with commands at the disk"
must "I/O" load "$disk"
_put $PARAMS/io_threads N
check "the target is removed" target_teardown
check "disconnect" disconnect $N
io_stop > /dev/null	# its disk is gone
check "the disk has not had to tell of a timeout" not disk_waited
all_down
finish
