#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Memory of an idle connected I/O queue, on each side: a host and a target in
# guests of their own. A line of the file "memory" of each is "PAIR SETUP QUEUES KIB":
# how much it had free with so many. In-tree modules on both sides, then ours.
MTU=9000
. "$(dirname "$0")/lib.sh"

# SETUP:ADDRESSES:QUEUES. Each address of the host is a host to the target, with so
# many queues for writes, for reads and polled. What "few" has is subtracted.
SETUPS="few:1:1 one:1:16 many:12:5"
# The addresses but the first, of 24 bits of network. The target has a route to them through the
# first: it counts hosts by their MAC address unless they are behind a router (target/peer.c).
BEHIND=10.78.0
ROUNDS=3

# The other guest is where this one is.
meet() {
	signal_peers "$1-$VM_NAME" "$MY_IP4"
	wait_for "$1-$([ "$VM_NAME" = host ] && echo target || echo host)" 200
}

# Memory of the last connection is released gradually: wait until three readings, half a second
# apart, are within 256 KiB.
settled_kib() {
	local was now same=0 end=$((SECONDS + 60))
	was=$(free_kib)
	while [ $same -lt 2 ] && [ $SECONDS -lt $end ]; do
		nap 0.5
		now=$(free_kib)
		same=$((now - was < 256 && was - now < 256 ? same + 1 : 0))
		was=$now
	done
	[ $same -ge 2 ] && echo "$was"
}

measure() {
	local kib
	if kib=$(settled_kib); then
		echo "$PAIR $SETUP $((3 * ADDRESSES * QUEUES)) $kib" >> "$OUT/memory"
	else
		fail "$PAIR, $SETUP: memory comes and goes for a minute"
	fi
}

# each_setup COMMAND: with PAIR, SETUP, ADDRESSES, QUEUES, and STEP, which differs
each_setup() {
	local round setup
	for ((round = 0; round < ROUNDS; round++)); do
		for setup in $SETUPS; do
			IFS=: read -r SETUP ADDRESSES QUEUES <<< "$setup"
			STEP=$PAIR-$round-$SETUP
			"$1"
		done
	done
}

target_step() {
	meet "$STEP"
	measure
	meet "$STEP-done"
}

target() {
	modprobe -a nvmet rdma_cm
	wire_up
	must "a disk" backing
	for PAIR in kernel ours; do
		must "$PAIR" target_insert "$PAIR"
		must "a target" _simple_target $N /dev/nullb0
		meet "$PAIR"
		must "a route" ip route replace $BEHIND.0/24 via "$VALUE"
		each_setup target_step
		meet "$PAIR-end"
		must "take it down" target_teardown
		must_await 30 "nobody holds it" module_idle nvmet_rdma
		must "unload it" rmmod nvmet_rdma
	done
	finish
}

# address NUMBER: those but the first are the bench's
address() {
	[ "$1" = 0 ] && echo "$MY_IP4" || echo "$BEHIND.$1"
}

host_step() {
	local options i
	# shellcheck disable=SC2153
	options=traddr=$VALUE,trsvcid=4420,nqn=$N,hostnqn=$HOSTNQN
	options+=,hostid=$HOSTID,keep_alive_tmo=600,nr_io_queues=$QUEUES
	options+=,nr_write_queues=$QUEUES,nr_poll_queues=$QUEUES
	for ((i = 0; i < ADDRESSES; i++)); do
		must "$STEP, $((3 * QUEUES)) queues" fabrics \
			"$options,host_traddr=$(address $i)"
		equal "$CTRL has them" $((3 * QUEUES + 1)) "$(ctrl_attr queue_count)"
	done
	has_disk $N 1 || await 20 has_disk $N 1
	meet "$STEP"
	measure
	meet "$STEP-done"
	must "disconnect" nvme disconnect -n $N
}

host() {
	local i
	host_load
	modprobe rdma_cm
	wire_up
	for ((i = 1; i < 12; i++)); do
		must "an address" ip addr add "$(address $i)/32" dev eth0
	done
	for PAIR in kernel ours; do
		must "$PAIR" host_insert "$PAIR"
		meet "$PAIR"
		each_setup host_step
		must_await 30 "nobody holds it" module_idle nvme_rdma
		must "unload it" rmmod nvme_rdma
		meet "$PAIR-end"
	done
	finish
}

"$VM_NAME"
