#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Memory of an idle connected I/O queue, on each side: a host and a target in
# guests of their own. A line of the file "memory" of each is "PAIR QUEUES KIB":
# how much it had free with so many. In-tree modules on both sides, then ours.
MTU=9000
BENCH_PREEMPT=
. "$(dirname "$0")/lib.sh"

PER_KIND="1 16"		# a third each for writes, for reads and polled
ROUNDS=5

# The other guest is where this one is.
meet() {
	signal_peers "$1-$VM_NAME" "$MY_IP4"
	wait_for "$1-$([ "$VM_NAME" = host ] && echo target || echo host)" 200
}

# What the last connection had is given back bit by bit: until three readings,
# half a second apart, are within 256 KiB.
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

measure() { # QUEUES
	local kib
	if kib=$(settled_kib); then
		echo "$PAIR $1 $kib" >> "$OUT/memory"
	else
		fail "$PAIR, $1 queues: memory comes and goes for a minute"
	fi
}

target() {
	local queues round
	modprobe -a nvmet rdma_cm
	wire_up
	must "a disk" backing
	for PAIR in kernel ours; do
		must "$PAIR" target_insert "$PAIR"
		must "a target" _simple_target $N /dev/nullb0
		meet "$PAIR"
		for ((round = 0; round < ROUNDS; round++)); do
			for queues in $PER_KIND; do
				meet "$PAIR-$round-$queues"
				measure $((3 * queues))
				meet "$PAIR-$round-$queues-done"
			done
		done
		meet "$PAIR-end"
		must "take it down" target_teardown
		must_await 30 "nobody holds it" module_idle nvmet_rdma
		must "unload it" rmmod nvmet_rdma
	done
	finish
}

host() {
	local queues round options
	host_load
	modprobe rdma_cm
	wire_up
	for PAIR in kernel ours; do
		must "$PAIR" host_insert "$PAIR"
		meet "$PAIR"
		# shellcheck disable=SC2153
		options=traddr=$VALUE,trsvcid=4420,nqn=$N,hostnqn=$HOSTNQN
		options+=,hostid=$HOSTID,keep_alive_tmo=600
		for ((round = 0; round < ROUNDS; round++)); do
			for queues in $PER_KIND; do
				must "$PAIR, $((3 * queues)) queues" fabrics \
					"$options,nr_io_queues=$queues,nr_write_queues=$queues,nr_poll_queues=$queues"
				equal "$CTRL has them" $((3 * queues + 1)) \
					"$(ctrl_attr queue_count)"
				has_disk $N 1 || await 20 has_disk $N 1
				meet "$PAIR-$round-$queues"
				measure $((3 * queues))
				meet "$PAIR-$round-$queues-done"
				must "disconnect" nvme disconnect -n $N
			done
		done
		must_await 30 "nobody holds it" module_idle nvme_rdma
		must "unload it" rmmod nvme_rdma
		meet "$PAIR-end"
	done
	finish
}

"$VM_NAME"
