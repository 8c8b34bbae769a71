#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   plain reads and writes, by a bio of the target's own: what the disk gets and each of its failures, as with those of the core; disks that are full, hang, or fail late while a queue ends
# with:    memdisk
# check:   6.12
# timeout: 600
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:bdev
H=nqn.2026-01.test:hangs
PARAMS=/sys/module/nvmet_rdma/parameters
THREADS_DIR=$SHOWN/threads
TRACING=/sys/kernel/tracing
MEM=/sys/block/mem0/memdisk
HUNG=/sys/block/mem1/memdisk
END=$((64 << 11))	# of the disk, in blocks of 512 bytes

# io VERB BLOCK BYTES: a command
io() {
	nvme "$1" "$DISK" -s "$2" -c $(($3 / 512 - 1)) -z "$3" -d "/run/block.$1" 2>&1
}
# told VERB BLOCK: the status of a command, and what the error log says of it
told() {
	io "$1" "$2" 512 | grep -oE '\(0x[0-9a-f]+\)|[A-Za-z]+: Success' | tail -n 1
	nvme error-log "/dev/$CTRL" -e 1 -o json |
		sed -nE 's/.*"(status_field|parm_error_location|lba|nsid)" *: *([^,]*),?/\1 \2/p'
}
# Statuses of the block layer, by errno: no space, remote I/O, not supported, medium, time out,
# transport, reservation conflict, protection information, offline, resource, would wait, I/O
ERRNOS=(28 121 95 61 110 67 52 84 19 12 11 5)
# what_happens: requests that reach the disk, and the status of each failure. A command that
# shall not wait, and fails because it would, fails a second time.
what_happens() {
	local size verb errno block
	echo > $MEM/requests
	for size in 512 4096 8192 20480 65536 262144; do
		for verb in write read; do
			io $verb 40000 $size > /dev/null || echo "$verb $size failed"
		done
	done
	# not those of a search for partitions
	grep ' sector=40000 ' $MEM/requests
	for errno in "${ERRNOS[@]}"; do
		for verb in read write; do
			echo "$errno 2" > $MEM/fail
			echo "errno $errno, $verb:" $(told $verb 16)
			echo "$errno 0" > $MEM/fail
		done
	done
	for block in $END $((END - 1)) $((1 << 60)); do
		for verb in read write; do echo "$verb at $block:" $(told $verb "$block"); done
	done
}
# But for what threads ask for, and for the number of pieces, which depends on the memory
in_common() { sed -E 's/ (nowait|polled|nomerge|pieces=[0-9]+)\b//g' "/run/said.$1"; }
same_as_core() { diff <(in_common "$1") <(in_common core); }

host_load
wire_up
must "disks" eval "memdisk mem0 64 && memdisk mem1 64"
for f in read write; do head -c 262144 /dev/urandom > /run/block.$f; done
[ -e $TRACING/kprobe_events ] || must "kernel probes" mount -t tracefs none $TRACING

# What the core executes is told by a probe of its function. With rdma_rw, that is everything
for mode in core own threads; do
	step "what reaches a disk, and what its failures mean: $mode"
	case $mode in core) how="io_threads=N use_rw_api=Y" ;; own) how=io_threads=N ;; threads) how=io_threads=Y ;; esac
	must "load" modprobe nvmet-rdma $how
	must "the target" eval "subsys $N && namespace $N 1 /dev/mem0 &&
		port 1 $MY_IP4 4420 0 && expose 1 $N"
	must "connect" connect $N "$MY_IP4" 4420 -i 2 -k 600
	[ $mode = core ] || check_module nvmet-rdma
	get_disk $N 1
	must "a probe" eval "echo 'p:core nvmet:nvmet_bdev_execute_rw' > $TRACING/kprobe_events &&
		echo 1 > $TRACING/events/kprobes/core/enable"
	what_happens > /run/said.$mode
	echo 0 > $TRACING/events/kprobes/core/enable
	by_core=$(awk '$1 == "core" { print $2 }' $TRACING/kprobe_profile)
	echo > $TRACING/kprobe_events
	case $mode in
	core) check "the core executed the commands" at_least 36 "$by_core" ;;
	own) equal "the core executed none" 0 "$by_core" ;;
	threads) check "the core executed at most those that would wait" at_most 10 "$by_core" ;;
	esac
	[ $mode = core ] || check "as the core's" same_as_core $mode
	equal "12 requests" 12 "$(grep -c ' pieces=' /run/said.$mode)"
	begin_anew
done
sed 's/^/# /' /run/said.threads
# Works execute those that come before there is a thread, or while its CPU is taken from it
check "threads ask the disk not to wait" at_least 4 "$(grep -c ' nowait' /run/said.threads)"
equal "works do not" 0 "$(grep -c ' nowait' /run/said.own)"

must "load" modprobe nvmet-rdma
simple_target $N /dev/mem0
must "connect" connect $N "$MY_IP4" 4420 -i 2 -l 600 -k 600
check_module nvmet-rdma
get_disk $N 1
for threads in N Y; do
	_put $PARAMS/io_threads $threads
	step "io_threads=$threads: data"
	for size in 512 4096 8192 20480 131072 1048576; do
		check "$size bytes" round_trip "$DISK" $size
	done
	check "fio with verification" fio_verify "$DISK" 16M --iodepth=32 --bsrange=512-256k
done

left() { key_sum wait_no_tag $SHOWN/hosts/*; }
disk_has() { awk -v n="$2" '{ exit !($1 + $2 >= n) }' "/sys/block/$1/inflight"; }
a_queue_ends() { grep -q "^state disconnecting" $SHOWN/queues/*; }
none_ends() { ! a_queue_ends 2> /dev/null; }

step "a disk that would have waited, as it says later"
_put $MEM/delay_ns 2000000
# A work executes one now and then, which the disk may keep waiting
none_to_come() { io read 16 4096 > /dev/null && [ "$(cat $MEM/fail)" = 0 ]; }
for errno in 11 95; do
	before=$(left)
	_put $MEM/fail "$errno 1 nowait"
	check_await 20 "errno $errno: a work waits in the thread's place" none_to_come
	equal "it is counted" $((before + 1)) "$(left)"
done
_put $MEM/delay_ns 0
# Reads of neighbours would be one request
must "no merging" _put /sys/block/mem0/queue/nomerges 2
_put $MEM/fail "11 16 nowait"
_put $MEM/hold Y
before=$(left)
io_begin "$DISK" --rw=randread --verify=0 --iodepth=32
check_await 20 "commands are at the disk" disk_has mem0 32
_put $MEM/hold N
many_left() { [ "$(left)" = $((before + 16)) ]; }
check_await 20 "16 at a time: works waited for each" many_left
check "no error" io_stop

step "the same while the queue ends"
for ((i = 0; i < 3; i++)); do
	_put $MEM/fail "11 8 nowait"
	_put $MEM/hold Y
	io_begin "$DISK" --rw=randread --verify=0 --iodepth=16
	check_await 20 "commands are at the disk" disk_has mem0 16
	# The target holds Connect until they have ended, for two seconds; then the host tries again
	nvme reset "/dev/$CTRL" > /dev/null 2>&1 &
	check_await 20 "a reset: a queue waits for them" a_queue_ends
	_put $MEM/hold N
	wait $!
	check_await 30 "it has ended" none_ends
	check_await 30 "live again" state_is "$CTRL" live
	check "the host sees no error" io_stop
done
must "merging" _put /sys/block/mem0/queue/nomerges 0

step "a disk that is full"
must "one with two tags" timer_disk nullb5 64 1000000 hw_queue_depth=2
must "its namespace" namespace $N 3 /dev/nullb5
get_disk $N 3
before=$(left)
check "reads" fio --name=full --filename="$DISK" --direct=1 --ioengine=libaio --iodepth=32 \
	--rw=randread --bs=4k --number_ios=2000
check "threads left commands to works" at_least $((before + 100)) "$(left)"
check "I/O" io_start "$DISK" --rw=randread --verify=0
for ((i = 0; i < 5; i++)); do
	check "reset" nvme reset "/dev/$CTRL"
	check_await 30 "live again" state_is "$CTRL" live
	nap 0.3
done
check "I/O goes on, and ends" io_stop

step "a disk that hangs with more commands than it takes"
must "a subsystem" eval "subsys $H && namespace $H 1 /dev/mem1 && expose 1 $H"
good=$CTRL
must "connect" connect $H "$MY_IP4" 4420 -i 2 -l 600 -k 600
hanging=$CTRL
get_disk $H 1
_put $HUNG/hold Y
io_begin "$DISK" --rw=randread --verify=0 --iodepth=128 --numjobs=2
work_waits() {
	local p
	for p in $(pgrep -f 'kworker.*nvmet-rdma-io'); do
		! grep -q blk_mq_get_tag "/proc/$p/stack" || return 0
	done
	return 1
}
threads_wait() { grep -q blk_mq_get_tag $(sed -n 's|^pid \(.*\)|/proc/\1/stack|p' $THREADS_DIR/*); }
check_await 30 "a work waits for a tag" work_waits
check "no thread does" not threads_wait
get_disk $N 1
rounds=$(key_sum rounds $THREADS_DIR/*)
check "the threads' other queues go on" fio_verify "$DISK" 8M
check "in the threads" at_least $((rounds + 20)) "$(key_sum rounds $THREADS_DIR/*)"
check "it still hangs" work_waits
check "its subsystem leaves the port" timeout 20 rm "$NVMET/ports/1/subsystems/$H"
check_await 10 "its host hears of it" not state_is "$hanging" live
check_await 20 "queues wait for the disk" a_queue_ends
check "the others go on" fio_verify "$DISK" 4M
check "the host of the others noticed nothing" state_is "$good" live
_put $HUNG/hold N
check_await 30 "the queues are gone" none_ends
must "the subsystem is back" expose 1 $H
check_await 60 "and its host" state_is "$hanging" live
check "which saw no error" io_stop

check "disconnect" eval "disconnect $N && disconnect $H"
all_down
finish
