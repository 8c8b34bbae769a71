#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    I/O, resets and connects where no two free pages are adjacent, as on a server after months: slower, without an error
# with:     fragment
# variants: ours none
# check:    ours:6.12
# debug:    no
# mem:      768
# timeout:  600
# cpus:     1 2
. "$(dirname "$0")/../lib/short-memory.sh"
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:short-memory
# for the runs of minutes, by hand
TIMES=${TIMES:-1}

# free blocks of 16 KiB and more, of all zones
large_blocks() { awk '{ for (i = 7; i <= NF; i++) n += $i } END { print n + 0 }' /proc/buddyinfo; }

reset() { _put "/sys/class/nvme/$CTRL/reset_controller" 1; }

# all_large_io WORDS PART: the four jobs, a PARTth of their usual length
all_large_io() {
	local rw
	for rw in randread randwrite; do
		large_io $rw 128k 128 $((1000 * TIMES / $2))
		echo "result short-memory.$1.$rw.128k KiB/s=$SPEED"
		large_io $rw 1M 32 $((200 * TIMES / $2))
		echo "result short-memory.$1.$rw.1M KiB/s=$SPEED"
	done
}

# make_target: and connect to it
make_target() {
	must "subsystem" subsys $N
	must "namespace" namespace $N 1 /dev/nullb1
	must "another" namespace $N 2 /dev/nullb0
	must "port" port 1 "$MY_IP4"
	must "queues of 1024" eval "[ ! -e $NVMET/ports/1/param_max_queue_size ] ||
		_put $NVMET/ports/1/param_max_queue_size 1024"
	must "open" expose 1 $N
	must "connect" connect $N "$MY_IP4" 4420 -i 1 -Q 128
}

host_load
wire_up
must "a disk" full_disk nullb0 48
must "a slow one" slow_disk
make_target
get_disk $N 2
KEPT=$DISK
get_disk $N 1
before=$(key_sum responses_with_error $SHOWN/hosts/*)

step "memory in single pages"
# Where it finds no large block, the kernel raises its watermarks, here above all that is free
must "watermarks as they are" sysctl -qw vm.watermark_boost_factor=0
must "fragment" modprobe fragment leave_mb=128
dmesg | grep 'fragment: took'
blocks=$(large_blocks)
check "few larger blocks are left: $blocks" at_most 300 "$blocks"
all_large_io usual 1
check "data" fio_verify "$KEPT" 32M --bsrange=4k-1M --iodepth=16
check "small I/O after large" fio_verify "$KEPT" 4M
check "reset" reset
check "data" round_trip "$KEPT" 65536
check "disconnect" disconnect $N
must "connect, with queues of 1024" connect $N "$MY_IP4" 4420 -i 2 -Q 1024
get_disk $N 2
check "reset" reset
check "data" fio_verify "$DISK" 8M --iodepth=64
if is_ours nvmet-rdma; then
	check "transfers took small buffers" at_least 100 "$(key_sum short_of_chunks $SHOWN/hosts/*)"
	equal "responses with an error" "$before" "$(key_sum responses_with_error $SHOWN/hosts/*)"
fi
blocks=$(large_blocks)
check "few larger blocks are left: $blocks" at_most 300 "$blocks"
check "disconnect" disconnect $N
must "give back" modprobe -r fragment
if is_ours nvmet-rdma; then
	step "without a cache of buffers"
	begin_anew
	must "load" modprobe nvmet-rdma buffer_cache_mb=0
	make_target
	get_disk $N 2
	KEPT=$DISK
	get_disk $N 1
	before=$(key_sum responses_with_error $SHOWN/hosts/*)
	must "fragment" modprobe fragment leave_mb=128
	all_large_io uncached 4
	check "data" fio_verify "$KEPT" 8M --bsrange=4k-1M --iodepth=16
	check "transfers took small buffers" at_least 10 "$(key_sum short_of_chunks $SHOWN/hosts/*)"
	equal "responses with an error" "$before" "$(key_sum responses_with_error $SHOWN/hosts/*)"
	check "disconnect" disconnect $N
	must "give back" modprobe -r fragment
fi
all_down
finish
