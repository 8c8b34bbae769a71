#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   plain reads and writes, by a bio of the target's own: data of all shapes, and failures of a disk, as those that the core executes
# check:   6.12
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:bdev
PARAMS=/sys/module/nvmet_rdma/parameters
BAD=4660	# where scsi_debug has a bad medium (0x1234), of 10 blocks

scsi_disk() {
	modprobe sd_mod && modprobe scsi_debug dev_size_mb=64 opts=2 &&
		await 20 has_scsi_disk && ln -sf "$(scsi_path)" /dev/bad
}
scsi_path() {
	local d
	for d in /sys/block/sd*; do
		grep -q scsi_debug "$d/device/model" 2> /dev/null && echo "/dev/${d##*/}" && return
	done
	return 1
}
has_scsi_disk() { [ -b "$(scsi_path)" ]; }

# told VERB LBA [OPTION...]: the status of a command of one block, and what the error log says
# of it. With an option, the core executes it.
told() {
	local verb=$1 lba=$2 words
	shift 2
	words=$(nvme "$verb" "$DISK" -s "$lba" -c 0 -z 512 -d /run/block "$@" 2>&1)
	grep -oE '\(0x[0-9a-f]+\)|[A-Za-z]+: Success' <<< "$words" | tail -n 1
	nvme error-log "/dev/$CTRL" -e 1 -o json |
		sed -nE 's/.*"(status_field|parm_error_location|lba|nsid)" *: *([^,]*),?/\1 \2/p'
}
# alike WORDS VERB LBA OPTION: both ways
alike() {
	local mine theirs
	mine=$(told "$2" "$3")
	theirs=$(told "$2" "$3" "$4")
	echo "# $1: $(xargs <<< "$mine")"
	equal "$1" "$theirs" "$mine"
}

host_load
wire_up
must "a disk" modprobe brd rd_nr=1 rd_size=65536
must "one with a bad medium" scsi_disk
must "load" modprobe nvmet-rdma
simple_target $N /dev/ram0
must "its namespace" namespace $N 2 /dev/bad
must "connect" connect $N "$MY_IP4" 4420 -i 2
check_module nvmet-rdma
head -c 512 /dev/urandom > /run/block

for threads in N Y; do
	_put $PARAMS/io_threads $threads
	get_disk $N 1
	step "io_threads=$threads: data"
	for size in 512 4096 8192 20480 131072 1048576; do
		check "$size bytes" round_trip "$DISK" $size
	done
	check "fio with verification" fio_verify "$DISK" 16M --iodepth=32 --bsrange=512-256k
	get_disk $N 2
	check "fio with verification, a SCSI disk" fio_verify "$DISK" 1M --iodepth=32

	step "io_threads=$threads: failures"
	alike "a read of a bad medium" read $BAD --limited-retry
	alike "a read next to it" read $((BAD - 1)) --limited-retry
	alike "a write to it" write $BAD --force-unit-access
	alike "a read beyond the end" read $((64 << 11)) --limited-retry
	alike "a write beyond the end" write $((64 << 11)) --force-unit-access
	alike "a read far beyond it" read $((1 << 60)) --limited-retry
	_put /sys/bus/pseudo/drivers/scsi_debug/opts 0
	check "the medium is whole again" nvme read "$DISK" -s $BAD -c 0 -z 512 -d /run/read
	_put /sys/bus/pseudo/drivers/scsi_debug/opts 2
done

step "a disk that is full"
must "one with two tags" timer_disk nullb5 64 1000000 hw_queue_depth=2
must "its namespace" namespace $N 3 /dev/nullb5
get_disk $N 3
left() { key_sum wait_no_tag $SHOWN/hosts/*; }
before=$(left)
check "reads" fio --name=full --filename="$DISK" --direct=1 --ioengine=libaio --iodepth=32 \
	--rw=randread --bs=4k --number_ios=2000
check "threads left commands to works" at_least $((before + 100)) "$(left)"
get_disk $N 1
check "another disk meanwhile" fio_verify "$DISK" 8M --iodepth=8
get_disk $N 3
check "I/O" io_start "$DISK" --rw=randread --verify=0
for ((i = 0; i < 5; i++)); do
	check "reset" nvme reset "/dev/$CTRL"
	check_await 30 "live again" state_is "$CTRL" live
	nap 0.3
done
check "I/O goes on, and ends" io_stop

check "disconnect" disconnect $N
all_down
finish
