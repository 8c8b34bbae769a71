#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   a disk that hangs delays only queues that use it; queues that end wait for it, and the HCA is not considered dead
# check:   none
# timeout: 500
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:hangs
O=nqn.2026-01.test:other
host_load
wire_up
# A disk that takes only a few requests, which wait for as long as the disk below is suspended:
# the submitter of another request waits as well
must "addresses of other hosts" ip addr add 10.77.0.101/24 dev eth0
must "and more" ip addr add 10.77.0.102/24 dev eth0
must "a disk" memory_disk nullb0 64
must "another" memory_disk nullb1 64
must "one that can be suspended" dmsetup create --noudevsync hangs \
	--table "0 131072 linear /dev/nullb1 0"
must "few tags" modprobe loop hw_queue_depth=4
LOOP=$(losetup --find --show --direct-io=on /dev/dm-0)
must "the disk that hangs" test -b "$LOOP"

# reads DISK [DEPTH]: by two jobs
reads() {
	fio --name=reads --filename="$1" --direct=1 --ioengine=libaio --numjobs=2 \
		--rw=randread --bs=4k --size=32M --iodepth="${2-16}" --time_based \
		--runtime=600 --output=/dev/null > /dev/null 2>&1 &
}

sectors() { awk '{ print $3 }' "/sys/block/$1/stat"; }
beyond() { [ "$(sectors "$1")" -ge "$2" ]; }
# reads_on DISK: another MiB of it is read
reads_on() { await 20 beyond "$1" $(($(sectors "$1") + 2048)); }
worker_waits() { grep -l blk_mq_get_tag /proc/[0-9]*/stack; }
kernel_says() { _log_since_mark | grep -v 'test: ' | grep -E -- "$1"; }
host_is_blamed() { kernel_says "has taken no response"; }
hca_is_blamed() { kernel_says "rxe0 (did not flush|cannot flush)"; }

# A queue with few commands shares a work with others; it has more than the disk takes
declare -A DEPTH=([Y]=16 [N]=3)
for srq in Y N; do
	step "use_srq=$srq: the disk hangs with more commands than it takes"
	must "load" modprobe nvmet-rdma use_srq=$srq response_tmo=8
	simple_target $N "$LOOP"
	must "another subsystem" subsys $O
	must "its namespace" namespace $O 1 /dev/nullb0
	must "on the same port" expose 1 $O
	must "connect" connect $N "$MY_IP4" 4420 -i 1
	get_disk $N 1
	hanging_disk=$DISK hanging_ctrl=$CTRL
	for n in 1 2; do
		must "another host, $n" connect $O "$MY_IP4" 4420 -i 2 -k 300 \
			-w 10.77.0.10$n
	done
	get_disk $O 1
	check "by all ways" round_robin
	check "nobody waits for it" not worker_waits
	# Some of these queues share a completion queue with it.
	reads "$DISK"
	others=$!
	check "the others read" reads_on nullb0
	must "suspend" dmsetup suspend --noudevsync --noflush --nolockfs hangs
	mark
	reads "$hanging_disk" "${DEPTH[$srq]}"
	hang=$!
	check_await 20 "a worker waits for the disk" worker_waits
	check "the others go on" reads_on nullb0

	step "use_srq=$srq: its host is sent away, and the port stays"
	check "the subsystem goes" timeout 20 rm "$NVMET/ports/1/subsystems/$N"
	check_await 10 "its host hears of it" not state_is "$hanging_ctrl" live
	check_await 20 "a queue waits for the disk" \
		grep -l "^state disconnecting" $SHOWN/queues/*
	for n in 1 2 3 4; do
		nap 10
		check "the others go on" reads_on nullb0
	done
	check "the HCA is not blamed" not hca_is_blamed
	check "nor are other hosts" not host_is_blamed
	check "the worker still waits" worker_waits
	check "so does the queue" grep -l "^state disconnecting" \
		$SHOWN/queues/*

	step "use_srq=$srq: the disk goes on"
	must "resume" dmsetup resume --noudevsync hangs
	check_await 20 "those queues are gone" port_queues_are 6
	equal "none by force" 0 "$(key_sum error_drain $SHOWN/ports/1)"
	check "the HCA was not blamed" not hca_is_blamed
	disconnect_all > /dev/null 2>&1
	kill -9 $hang $others 2> /dev/null
	wait $hang $others 2> /dev/null
	check_await 20 "no controller is left" no_controllers
	must "the subsystem is back" expose 1 $N
	must "connect to it" connect $N "$MY_IP4" 4420 -i 2
	get_disk $N 1
	check "data" round_trip "$DISK" 65536
	begin_anew
done
check "the disk is free" losetup -d "$LOOP"
check_await 10 "and the one below it" dmsetup remove --noudevsync hangs
all_down
finish
