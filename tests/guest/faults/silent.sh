#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   a controller stops answering while a host connects: the errno fits, and a disconnect does not wait for it
# guests:  target host
# with:    deaf
# check:   6.12
# timeout: 400
# cpus:    1 2
#
# Its connections stay: the target is silent, not its HCA. The wire is slow enough to silence
# the target between two commands.
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/deaf.sh"

N=nqn.2026-01.test:silent
# No command before the silence may take as long; 60 is the most
TMO=$((MACHINE_SLOW < 6 ? 10 * MACHINE_SLOW : 60))
# The device ends a connection after seven times 4.096 us * 2^this without an acknowledgement,
# which has to be later than the host does
ACK_TIMEOUT=18
while [ $((7 * (4096 << ACK_TIMEOUT) / 1000000000)) -lt $((2 * TMO)) ]; do
	ACK_TIMEOUT=$((ACK_TIMEOUT + 1))
done

slow_wire() { tc qdisc add dev eth0 root netem delay 200ms limit 1000; }

target() {
	local n
	wire_up
	must "a disk" memory_disk nullb0 16
	must "load" modprobe nvmet-rdma ack_timeout=$ACK_TIMEOUT
	simple_target $N /dev/nullb0
	deaf_load nvmet_rdma
	must "a slow wire" slow_wire
	signal_peers ready "$MY_IP4"
	for n in 1 2; do
		wait_for fall-silent-$n 150
		deaf Y
		signal_peers silent-$n
		wait_for hear-$n 100
		deaf N
		signal_peers hears-$n
	done
	wait_for end 100
	deaf_unload
	all_down
	finish
}

# in_setup: Connect has succeeded, and the controller is not live yet; in this
# order, for before a reset the queue is live, too
in_setup() {
	grep -qsx connecting /sys/class/nvme/nvme*/state &&
		grep -qsx "state live" /sys/kernel/debug/nvme_rdma/nvme*/queue0
}

silence() {
	must_await 60 "Connect has succeeded" in_setup
	signal_peers "fall-silent-$1"
	wait_for "silent-$1" 30
	must "the controller is not live yet" in_setup
}

hear() {
	signal_peers "hear-$1"
	wait_for "hears-$1" 30
}

host() {
	local job from address ms
	host_load
	wire_up
	must "a slow wire" slow_wire
	wait_for ready 100
	address=$VALUE

	step "the first connect"
	must "load" modprobe nvme-rdma fabrics_tmo=$TMO ack_timeout=$ACK_TIMEOUT
	fabrics "traddr=$address,trsvcid=4420,nqn=$N,hostnqn=$HOSTNQN,hostid=$HOSTID,nr_io_queues=1,keep_alive_tmo=$((4 * TMO))" \
		> /run/fabrics.out 2>&1 &
	job=$!
	silence 1
	check "it fails" not wait $job
	check "with what it is" grep "Connection timed out" /run/fabrics.out
	check "no controller is left" no_controllers
	hear 1
	unload nvme-rdma

	step "a disconnect during a reset"
	must "load" modprobe -a nvme-fabrics
	must "load" modprobe nvme-rdma fabrics_tmo=60 ack_timeout=$ACK_TIMEOUT
	must "connect" connect $N "$address" 4420 -i 1
	echo 1 > "/sys/class/nvme/$CTRL/reset_controller" &
	job=$!
	silence 2
	begin from
	# not by nvme-cli, which asks the disk first, if there is one already
	check "disconnect" timeout 60 sh -c "echo 1 > /sys/class/nvme/$CTRL/delete_controller"
	ms=$(ms_since "$from")
	check "it waited for nobody: $ms ms" test "$ms" -lt 30000
	wait $job
	check "no controller is left" no_controllers
	hear 2

	signal_peers end
	all_down
	finish
}

"$VM_NAME"
