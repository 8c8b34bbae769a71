#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    time of connect, reset and disconnect by number of queues, with 10 ms of round trip: in-tree host, then ours
# guests:   target host
# cpus:     16
# check:    none
# debug:    no
# timeout:  1200
#
# The kernel's part alone: the write to /dev/nvme-fabrics, reset_controller and
# delete_controller. Each figure is the best of three, in milliseconds. Both
# hosts run in the same guest, one after the other; and once more with no delay,
# which tells time on the wire from time of processors. tests/bench/connect
# makes tables of it.
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:time
PER_KIND="1 3 11 16"
RTT_MS=10

slow_wire() { tc qdisc add dev eth0 root netem delay $((RTT_MS / 2))ms limit 10000; }
fast_wire() { tc qdisc del dev eth0 root; }

target() {
	wire_up
	must "5 ms on the way out" slow_wire
	must "a disk" memory_disk nullb0 16
	simple_target $N /dev/nullb0
	check_module nvmet-rdma
	signal_peers ready "$MY_IP4"
	wait_for near 900
	must "none any more" fast_wire
	signal_peers is-near
	wait_for end 400
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

# once WHOSE-WIRE NUMBER: connect, reset and disconnect with NUMBER queues of each kind
once() {
	local q=$2 c
	timed "$1 connect $q" /dev/nvme-fabrics "$WHAT,nr_io_queues=$q,nr_write_queues=$q,nr_poll_queues=$q" ||
		return 1
	c=$(controllers $N)
	equal "$c has $((3 * q)) I/O queues" $((3 * q + 1)) \
		"$(cat "/sys/class/nvme/$c/queue_count")"
	timed "$1 reset $q" "/sys/class/nvme/$c/reset_controller" 1 || return 1
	state_is "$c" live || return 1
	timed "$1 disconnect $q" "/sys/class/nvme/$c/delete_controller" 1
}

# measure WHOSE-WIRE NUMBER...: the same with the loaded module, for each NUMBER
measure() {
	local whose=$1 q i
	shift
	for q; do
		for i in 1 2 3; do
			must "$whose: $((3 * q)) I/O queues, $i" once "$whose" "$q"
		done
	done
}

# trips WHOSE WHAT: prints how many hundredths of a round trip each of 45 more queues adds. The
# time that the processors take is subtracted.
trips() {
	local added=$((BEST["$1-far $2 16"] - BEST["$1-far $2 1"] -
		(BEST["$1-near $2 16"] - BEST["$1-near $2 1"])))
	echo $((added * 100 / 45 / RTT_MS))
}

# part WHAT: the tables' cells for it
part() {
	local q
	for q in $PER_KIND; do
		echo "table $((3 * q)) $1 ${BEST["kernel-far $1 $q"]} ${BEST["ours-far $1 $q"]}"
	done
	for q in 1 16; do
		echo "near $((3 * q)) $1 ${BEST["kernel-near $1 $q"]} ${BEST["ours-near $1 $q"]}"
	done
	echo "trips $1 $(trips kernel "$1") $(trips ours "$1")"
	# ours adds none, except for jitter of the two CPUs below, which has made half of one; the
	# in-tree host adds two to connect and to reset
	check "$1: a queue adds less than three quarters of a round trip" \
		test "$(trips ours "$1")" -lt 75
}

# faster WHAT TIMES: with the most queues. Connect gains less, because both modules share the
# core's requests before it, and the processors' time.
faster() {
	check "$1 with 48 queues is $2 times as fast" test \
		$((BEST["ours-far $1 16"] * $2)) -lt "${BEST["kernel-far $1 16"]}"
}

host() {
	local of=/lib/modules/$VM_KVER/kernel/drivers/nvme/host
	host_load
	wire_up
	must "5 ms on the way out" slow_wire
	wait_for ready 100
	WHAT="transport=rdma,nqn=$N,traddr=$VALUE,trsvcid=4420"
	WHAT="$WHAT,hostnqn=$HOSTNQN,hostid=$HOSTID"

	must "load what it needs" modprobe -a nvme-fabrics rdma_cm
	theirs=$(compgen -G "$of/nvme-rdma.ko*")

	step "the kernel's own host"
	must "load it" insmod "$theirs"
	measure kernel-far $PER_KIND
	check "unload it" rmmod nvme_rdma

	step "ours"
	must "load it" modprobe nvme-rdma
	check_module nvme-rdma
	measure ours-far $PER_KIND

	step "without delay: ours, the kernel's"
	signal_peers near
	wait_for is-near 60
	must "no delay here either" fast_wire
	measure ours-near 1 16
	check "unload it" rmmod nvme_rdma
	must "load the kernel's" insmod "$theirs"
	measure kernel-near 1 16

	step "milliseconds: the kernel's host, ours"
	part connect
	part reset
	part disconnect
	faster connect 2
	faster reset 3
	faster disconnect 5
	signal_peers end
	all_down
	finish
}

"$VM_NAME"
