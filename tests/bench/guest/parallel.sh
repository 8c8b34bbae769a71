#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Several jobs on several processors, by the clock: in-tree modules and ours in turn,
# so that what the machine below does besides is in both. fio's files are all that
# comes out, PAIR.ROUND.JOB.fio.
#
# Where the target does its work for a queue matters more than whose the target is. On
# the processor of the host's part, each command takes it from the job that has just
# sent it, and there is one switch of tasks, or two, for each I/O. On another, commands
# come together. Modules choose by turns, in which connections come in any order: so
# pairs are connected until all I/O queues are as BENCH_PLACED says, apart (as host and
# target are that have machines of their own) or together.
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

# placed: are they? The device has made their queue pairs last.
placed() {
	[ -e "$COUNTERS" ] || return 0
	grep '^qp .* owner=nvmet\?_rdma ' "$COUNTERS" | sort -nk2 | tail -n $((2 * CPUS)) |
		awk -v want="$BENCH_PLACED" '{
			for (i = 3; i <= NF; i++) {
				split($i, pair, "=")
				if (pair[1] == "to")
					to[$2] = pair[2]
				else if (pair[1] == "cpu")
					cpu[$2] = pair[2]
			}
		}
		END {
			for (qp in to)
				if ((cpu[qp] == cpu[to[qp]]) != (want == "together"))
					exit 1
		}'
}

# up HOST TARGET: a pair is connected, and placed. The in-tree target has one turn for
# queues of all kinds, and hosts connect in order: it is at the other processor's after
# another admin queue.
up() {
	local try
	target_insert "$2" && host_insert "$1" &&
		_simple_target $N /dev/nullb0 || return 1
	for try in {0..19}; do
		((try % 2 == 0)) ||
			connect $DISCOVERY "$MY_IP4" 4420 -k 600 || return 1
		connect $N "$MY_IP4" 4420 -k 600 -i "$CPUS" || return 1
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
