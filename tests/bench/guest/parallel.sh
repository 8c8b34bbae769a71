#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Several jobs on several processors, by the clock: in-tree modules and ours in turn,
# so that what the machine below does besides is in both. fio's files are all that
# comes out, PAIR.ROUND.JOB.fio.
BENCH_PREEMPT=1
. "$(dirname "$0")/lib.sh"

CPUS=$(nproc)

timed() { # NAME FIO...
	local name=$1
	shift
	check "$PAIR.$name" fio --name=b --filename="$DISK" --direct=1 \
		--ioengine=io_uring --norandommap --randrepeat=1 --time_based \
		--runtime="$BENCH_SECONDS" --ramp_time=1 --group_reporting=1 \
		--output-format=json --output="$OUT/$PAIR.$name.fio" "$@"
}

host_load
modprobe -a nvmet rdma_cm
wire_up
must "a disk" backing
for ((ROUND = 0; ROUND < BENCH_ROUNDS; ROUND++)); do
	for WHOSE in $BENCH_PAIRS; do
		PAIR=$WHOSE.$ROUND
		step "$PAIR"
		down
		case $WHOSE in
		our-host) SIDES="ours kernel" ;;
		our-target) SIDES="kernel ours" ;;
		*) SIDES="$WHOSE $WHOSE" ;;
		esac
		# shellcheck disable=SC2086
		check "connect" rdma_up $SIDES -i "$CPUS" || continue
		check_await 20 "a disk" has_disk $N 1 || continue
		DISK=$(disk_of $N 1)
		no_merges
		timed 4k-read --rw=randread --bs=4k --iodepth=32 --numjobs="$CPUS"
		timed 4k-write --rw=randwrite --bs=4k --iodepth=32 --numjobs="$CPUS"
		timed 4k-mixed --rw=randrw --rwmixread=70 --bs=4k --iodepth=32 \
			--numjobs=$((2 * CPUS))
		timed 128k-read --rw=randread --bs=128k --iodepth=8 --numjobs="$CPUS"
	done
done
down
finish
