#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    I/O, resets and connects where no two free pages are neighbours, as on a server that has run for months: slower, without an error
# with:     fragment
# variants: ours none
# check:    ours:6.12
# debug:    no
# mem:      768
# timeout:  600
# cpus:     1 2
# soft-RoCE's packets have to fit a page, too: it ends a connection when it has no memory
# for one
MTU=1500
. "$(dirname "$0")/lib.sh"

N=nqn.2026-01.test:short-memory
# for the runs of minutes, by hand
TIMES=${TIMES:-1}

# free blocks of 16 KiB and more, of all zones
large_blocks() { awk '{ for (i = 7; i <= NF; i++) n += $i } END { print n + 0 }' /proc/buddyinfo; }

# errors that the disk's users or the target's have seen
no_errors() { ! dmesg | grep -E 'I/O error|critical target error|Internal Error'; }

# slow_disk: /dev/nullb1, which forgets its data, and takes 2 ms for each command
slow_disk() {
	local d=/sys/kernel/config/nullb/nullb1
	mkdir $d && echo 48 > $d/size && echo 2 > $d/irqmode && echo 2000000 > $d/completion_nsec &&
		echo 1024 > $d/hw_queue_depth && echo 1 > $d/power && [ -b /dev/nullb1 ]
}

reset() { _put "/sys/class/nvme/$CTRL/reset_controller" 1; }

# io RW BLOCK DEPTH COUNT
io() {
	local out=/run/short.out
	check "$4 times $1 of $2, $3 at a time" fio --name=short --filename="$DISK" \
		--direct=1 --ioengine=libaio --rw="$1" --bs="$2" --iodepth="$3" \
		--number_ios=$(($4 * TIMES)) --size=48M --randrepeat=0 --norandommap \
		--io_size=100G --output=$out
	check "without an error" no_errors
	echo "result short-memory.$1.$2 $(sed -n 's/.*\(BW=[^ ]*\).*/\1/p' $out)"
}

host_load
wire_up
must "a disk" full_disk nullb0 48
# so that a queue is full of commands: 2 ms for each
must "a slow one" slow_disk
must "subsystem" subsys $N
must "namespace" namespace $N 1 /dev/nullb1
must "another" namespace $N 2 /dev/nullb0
must "port" port 1 "$MY_IP4"
must "queues of 1024" eval "[ ! -e $NVMET/ports/1/param_max_queue_size ] ||
	_put $NVMET/ports/1/param_max_queue_size 1024"
must "open" expose 1 $N
must "connect" connect $N "$MY_IP4" 4420 -i 1 -Q 128
get_disk $N 2
KEPT=$DISK
get_disk $N 1
before=$(key_sum responses_with_error $SHOWN/hosts/*)

step "memory in single pages"
must "fragment" modprobe fragment leave_mb=128
dmesg | grep 'fragment: took'
blocks=$(large_blocks)
check "few larger blocks are left: $blocks" at_most 300 "$blocks"
for rw in randread randwrite; do
	io $rw 128k 128 1000
	io $rw 1M 32 200
done
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
all_down
finish
