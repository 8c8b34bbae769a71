#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    how long connect, reset and disconnect take by number of queues, 10 ms away
# guests:   target host
# variants: sides none
# cpus:     16
# check:    none
# timeout:  900
#
# The kernel's part alone: the write to /dev/nvme-fabrics, reset_controller and
# delete_controller. Each figure is the best of three, in milliseconds; tests/run
# --only connect-time, or make bench-connect, prints them.
. "$(dirname "$0")/lib.sh"

N=nqn.2026-01.test:time
PER_KIND="1 3 11 16"

slow_wire() { tc qdisc add dev eth0 root netem delay 5ms limit 10000; }

target() {
	wire_up
	must "5 ms on the way out" slow_wire
	must "a disk" null_disk nullb0 16
	simple_target $N /dev/nullb0
	check_module nvmet-rdma
	signal_peers ready "$MY_IP4"
	wait_for end 800
	all_down
	finish
}

# best_of NAME VALUE: keeps the smallest
declare -A BEST
best_of() {
	[ -n "${BEST[$1]-}" ] && [ "${BEST[$1]}" -le "$2" ] || BEST[$1]=$2
}

# timed NAME FILE TEXT: one write of TEXT, its time is NAME's
timed() {
	local from to fd
	exec {fd}> "$2"
	from=${EPOCHREALTIME/./}
	printf '%s' "$3" >&$fd || return 1
	to=${EPOCHREALTIME/./}
	exec {fd}>&-
	best_of "$1" $(((to - from) / 1000))
}

once() {
	local q=$1 c
	timed "connect $q" /dev/nvme-fabrics "$WHAT,nr_io_queues=$q,nr_write_queues=$q,nr_poll_queues=$q" ||
		return 1
	c=$(controllers $N)
	equal "$c has $((3 * q)) I/O queues" $((3 * q + 1)) \
		"$(cat "/sys/class/nvme/$c/queue_count")"
	timed "reset $q" "/sys/class/nvme/$c/reset_controller" 1 || return 1
	state_is "$c" live || return 1
	timed "disconnect $q" "/sys/class/nvme/$c/delete_controller" 1
}

host() {
	local q i
	host_load
	wire_up
	must "5 ms on the way out" slow_wire
	wait_for ready 100
	WHAT="transport=rdma,nqn=$N,traddr=$VALUE,trsvcid=4420"
	WHAT="$WHAT,hostnqn=$HOSTNQN,hostid=$HOSTID"
	modprobe nvme-rdma
	for q in $PER_KIND; do
		for i in 1 2 3; do
			must "$((3 * q)) I/O queues, $i" once "$q"
		done
	done
	check_module nvme-rdma
	printf '%-12s %10s %10s %10s\n' "I/O queues" connect reset disconnect
	for q in $PER_KIND; do
		printf '%-12s %7s ms %7s ms %7s ms\n' $((3 * q)) \
			"${BEST[connect $q]}" "${BEST[reset $q]}" \
			"${BEST[disconnect $q]}"
	done
	signal_peers end
	all_down
	finish
}

"$VM_NAME"
