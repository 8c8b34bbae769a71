#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Several jobs on several processors, by the clock: in-tree modules and ours in turn,
# so that what the machine below does besides is in both. fio's files are all that
# comes out, PAIR.ROUND.JOB.fio.
#
# Where the target does its work for a queue matters more than whose the target is. On
# the processor of the jobs that use the queue, each command takes it from the job that
# has just sent it, and there is one switch of tasks, or two, for each I/O. On another,
# commands come together. Modules choose by turns, in which connections come in any
# order: so pairs are connected until all I/O queues are as BENCH_PLACED says, apart (as
# host and target are that have machines of their own) or together.
BENCH_PREEMPT=1
. "$(dirname "$0")/lib.sh"

DISCOVERY=nqn.2014-08.org.nvmexpress.discovery
CPUS=$(nproc)

timed() { # NAME FIO...
	local name=$1
	shift
	check "$PAIR.$name" fio --name=b --filename="$DISK" --direct=1 \
		--ioengine=io_uring --norandommap --randrepeat=1 --time_based \
		--runtime="$BENCH_SECONDS" --ramp_time=1 --group_reporting=1 \
		--output-format=json --output="$OUT/$PAIR.$name.fio" "$@"
}

# target_cpu CPU: which processor does the target's work for jobs on CPU? That of the
# queue pair that has answered most of what was read there.
target_cpu() {
	local answers="/^qp .* owner=nvmet_rdma /p"
	sed -n "$answers" "$COUNTERS" > /run/before
	taskset -c "$1" dd if="$DISK" of=/dev/null bs=4k count=64 iflag=direct \
		status=none || return 1
	sed -n "$answers" "$COUNTERS" | awk '{
		for (i = 3; i <= NF; i++) {
			split($i, pair, "=")
			value[pair[1]] = pair[2]
		}
		if (NR == FNR) {
			had[$2] = value["wr_send"]
		} else if (value["wr_send"] - had[$2] > most) {
			most = value["wr_send"] - had[$2]
			cpu = value["cpu"]
		}
	}
	END { print cpu }' /run/before -
}

# placed: is each as it should be?
placed() {
	local cpu target
	[ -e "$COUNTERS" ] || return 0
	for ((cpu = 0; cpu < CPUS; cpu++)); do
		target=$(target_cpu $cpu)
		case $BENCH_PLACED in
		apart) [ "$target" != $cpu ] || return 1 ;;
		together) [ "$target" = $cpu ] || return 1 ;;
		esac
	done
}

# up HOST TARGET: a pair is connected, and placed. Where the host connects in order, the
# in-tree target is at the other processor's turn beside another admin queue, and ours
# after another I/O queue.
up() {
	local try
	target_insert "$2" && host_insert "$1" &&
		_simple_target $N /dev/nullb0 || return 1
	for try in {0..19}; do
		((try % 2 == 0)) ||
			connect $DISCOVERY "$MY_IP4" 4420 -k 600 || return 1
		((try % 4 < 2)) ||
			{ connect $N "$MY_IP4" 4420 -i 1 && disconnect $N; } || return 1
		connect $N "$MY_IP4" 4420 -k 600 -i "$CPUS" &&
			await 20 has_disk $N 1 || return 1
		DISK=$(disk_of $N 1)
		! placed || return 0
		disconnect_all
	done
	echo "after $try times, not all queues are $BENCH_PLACED"
	return 1
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
		check "connect, queues $BENCH_PLACED" up $SIDES || continue
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
