# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The target alone: a feeder (tests/bench/feeder) in the host's place. The plan of
# costs/target.py begins with this file, after lib.sh.
. "$GUEST_DIR/lib/feeder.sh"

# Namespaces 1 and 2, each on a null_blk: a command completes
#   inline    before the function that submits it returns
#   timer     10 us later, in an interrupt
# and 3, if the target has a processor of its own (apart.sh), on one that
#   polled    is polled by threads, and completes at once for works
# Completion in a softirq (irqmode 1) cannot be measured on one processor: the block layer
# completes a command at once if no other processor uses the queue.
FED_DISKS=(/dev/nullb0 /dev/nullb2)	# the first is that of lib.sh

# fed_begin: what all measurements share. No host is preempted here: workers preempt each other
# as on a user's machine. A worker that has slept leaves the scheduler's queue at once, as it
# does where the target has the processor for itself; beside the feeder, it would stay there or
# not as chance has it.
fed_begin() {
	local features=/sys/kernel/debug/sched/features
	check "a disk that interrupts" backing timer
	[ -z "${THREADS_CPU-}" ] || {
		check "a disk that can be polled" backing polled
		FED_DISKS+=(/dev/nullb3)
	}
	must "the feeder" modprobe feeder
	[ -n "$BENCH_PREEMPT" ] && ORDER=at-once || ORDER=
	echo WAKEUP_PREEMPTION > $features
	! grep -q DELAY_DEQUEUE $features || echo NO_DELAY_DEQUEUE > $features
}

fed_end() {
	fed_down
	check "unload the feeder" rmmod feeder
}

fed_down() {
	[ -z "${FED_QUEUES-}" ] || check "disconnect" feeder_disconnect
	FED_QUEUES=
}

_fed_target() {
	local n
	target_insert "$1" && subsys $N || return 1
	for n in "${!FED_DISKS[@]}"; do
		namespace $N $((n + 1)) "${FED_DISKS[n]}" || return 1
	done
	port 1 "$MY_IP4" && expose 1 $N
}

# fed_target NAME WHOSE: the target that is measured from now on
fed_target() {
	PAIR=$1
	FED_WHOSE=$2
	step "$PAIR"
	fed_down
	down
	check "a target" _fed_target "$2" && check "symbols" symbols
}

# fed_queues NUMBER [hosts]: connect that many I/O queues, of one host or each of another
fed_queues() {
	fed_down
	check "$1 queues${2:+ of as many $2}" feeder_connect $N "$@" || return
	FED_QUEUES=$1
	[ "$FED_WHOSE" != threads ] || check "threads" fed_threads
}

# commands start them
fed_threads() { feed read 1 1 16 && threads_up; }

# fed NAME WARM COUNT ALL RW NSID DEPTH [WORD...]: a job of ALL commands, of which COUNT are
# counted, after the first WARM
fed() {
	local name=$PAIR.$1 warm=$2 count=$3 all=$4 rw=$5 nsid=$6 depth=$7
	[ -n "$FED_QUEUES" ] || { fail "$name: not connected"; return; }
	counters "$name.before"
	tell arm "$name" "$warm" "$count" feeder_send
	check "$name" feed "$rw" "$nsid" "$depth" "$all" "${@:8}" $ORDER
	tell disarm
	counters "$name.after"
}
