#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Several jobs on several processors, by the clock: in-tree and our modules in turn, so that
# other load of the machine affects both. The only output is fio's files, PAIR.ROUND.JOB.fio.
#
# The processor that does the work of a queue matters more than the module. If the target works
# on the processor of the jobs that use the queue, each command preempts the job that has just
# sent it, with one or two task switches for each I/O. On another processor, commands arrive
# together. If the host's interrupts come on the target's processor as well, jobs are hardly
# ever interrupted. Modules choose in turns, in which connections arrive in any order, and by
# the number of the queue, which is that of a processor on one kernel and not on another. So
# pairs are connected until the host's interrupts of all I/O queues come on their jobs'
# processors, and the target's work is where BENCH_PLACED says: apart (like separate machines)
# or together; "as it comes" leaves the placement to chance.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/place.sh"

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

# host_placed: do the host's interrupts come where the jobs are?
host_placed() {
	local cpu
	[ "$FABRIC" = vrnic ] && [ "$BENCH_PLACED" != "as it comes" ] || return 0
	for ((cpu = 0; cpu < CPUS; cpu++)); do
		[ "$(worker nvme_rdma $cpu)" = $cpu ] || return 1
	done
}

# target_placed: is its work where it should be?
target_placed() {
	local cpu target
	[ "$FABRIC" = vrnic ] || return 0
	for ((cpu = 0; cpu < CPUS; cpu++)); do
		target=$(worker nvmet_rdma $cpu) || return 1
		case $BENCH_PLACED in
		apart) [ "$target" != $cpu ] || return 1 ;;
		together) [ "$target" = $cpu ] || return 1 ;;
		esac
	done
}

# device CPU: creates the device again; its first vector interrupts CPU
device() {
	[ "$FABRIC" = vrnic ] || return 0
	rdma link delete "$RDMA_DEV" &&
		echo "$1" > /sys/module/vrnic/parameters/first_cpu &&
		rdma link add "$RDMA_DEV" type vrnic netdev eth0 &&
		await 20 rxe_ready "$RDMA_DEV"
}

# join: connect, and find the disk
join() {
	connect $N "$MY_IP4" 4420 -k 600 -i "$CPUS" && await 20 has_disk $N 1 &&
		DISK=$(disk_of $N 1)
}

up() { # HOST TARGET
	target_insert "$2" && host_insert "$1" && _simple_target $N /dev/nullb0 &&
		join
}

# place: connect again until the target's work is where it should be. Where the host
# connects in order, the in-tree target is at the other processor's turn beside another
# admin queue, and ours after another I/O queue.
place() {
	local try=0
	until target_placed; do
		if ((++try > 20)); then
			echo "after $try times, not all queues are $BENCH_PLACED"
			return 1
		fi
		disconnect_all
		((try % 2 == 0)) ||
			connect $DISCOVERY "$MY_IP4" 4420 -k 600 || return 1
		((try % 4 < 2)) ||
			{ connect $N "$MY_IP4" 4420 -i 1 && disconnect $N; } || return 1
		join || return 1
	done
	host_placed
}

host_load
modprobe -a nvmet rdma_cm
wire_up
must "a disk" backing
for ((ROUND = 0; ROUND < BENCH_ROUNDS; ROUND++)); do
	for WHOSE in $BENCH_PAIRS; do
		PAIR=$WHOSE.$ROUND
		step "$PAIR"
		case $WHOSE in
		our-host) SIDES="ours kernel" ;;
		our-target) SIDES="kernel ours" ;;
		*) SIDES="$WHOSE $WHOSE" ;;
		esac
		# Where the host's interrupts come is up to the device alone
		for ((FIRST = 0; FIRST < CPUS; FIRST++)); do
			down
			check "the first vector is processor $FIRST's" device "$FIRST"
			# shellcheck disable=SC2086
			check "connect" up $SIDES || continue 2
			! host_placed || break
		done
		check "the host's interrupts and the target's work: $BENCH_PLACED" place ||
			continue
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
