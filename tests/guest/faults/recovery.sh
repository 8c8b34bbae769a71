#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   the wire is pulled, the wire goes dead, the target loses power: no acknowledged write is lost
# guests:  target host
# disks:   target=64M
# check:   6.12
# timeout: 600
# cpus:    1 2
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:recovery

target() {
	wire_up
	must "an NVMe SSD" ssd 0
	simple_target $N "$SSD"
	check_module nvmet-rdma
	signal_peers ready "$MY_IP4"
	wait_for unlink 500
	step "the port closes while the host is away"
	check "unlink" conceal 1 $N
	signal_peers unlinked
	# The rest of its life is the host's to decide: the cord is pulled.
	finish_and_wait
}

# The counts are printed before this guest loses power.
finish_and_wait() {
	echo "$CHECKS_PASSED passed, $CHECKS_FAILED failed"
	FINISHED=1
	[ $CHECKS_FAILED -eq 0 ] || exit 1
	wait_for relink 100
	expose 1 $N || exit 1
	signal_peers relinked
	while :; do nap 10; done
}

# goes_on: and nothing was wrong
goes_on() {
	acked_moves || :
	check_await 30 "I/O goes on" acked_moves
	check "no I/O error, every acknowledged write is there" acked_clean
}

away() { not state_is "$CTRL" live; }

host() {
	host_load
	wire_up
	commands_may_take 5
	wait_for ready 100
	address=$VALUE
	must "connect" connect $N "$address" 4420 -c 1 -l 200 -k 3
	check_module nvme-rdma
	get_disk $N 1

	step "the wire is pulled for some seconds under I/O"
	must "I/O" acked_start "$DISK" "${ACKED_GENTLE[@]}"
	check "pull" wire_pull
	check_await 30 "the host notices" away
	nap 3
	check "plug" wire_plug
	check_await 60 "the host is back" state_is "$CTRL" live
	goes_on

	step "the wire goes dead under I/O"
	must "I/O" acked_start "$DISK" "${ACKED_GENTLE[@]}"
	mark
	check "nothing arrives any more" wire_drop
	check_await 60 "the host notices" away
	if is_ours nvme-rdma; then
		# "flushed" is all there is where rxe sends a REG_MR again
		said 10 "why" "nvme $CTRL: .*(no response within|transport retry counter exceeded|keep.alive|WR flushed)"
	else
		said 10 "why" "nvme $CTRL: .*(timeout|failed|keep.alive)"
	fi
	check "packets arrive again" wire_undrop
	check_await 60 "the host is back" state_is "$CTRL" live
	goes_on

	step "the target's answers are lost: commands time out"
	check "disconnect" disconnect $N
	must "connect, with rare keep-alives" \
		connect $N "$address" 4420 -c 1 -l 200 -k 120
	get_disk $N 1
	must "I/O" acked_start "$DISK" "${ACKED_GENTLE[@]}"
	mark
	check "nothing but acknowledgments comes" wire_answers_lost
	check_await 60 "the host notices" away
	if is_ours nvme-rdma; then
		said 10 "why" "nvme $CTRL: queue [1-9][0-9]* to .* opcode 0x[012]: no response within 5 s.*; response not received;"
	else
		said 10 "why" "nvme $CTRL: .*timeout"
	fi
	check "answers come again" wire_undrop
	check_await 60 "the host is back" state_is "$CTRL" live
	goes_on
	check "disconnect" disconnect $N
	must "connect" connect $N "$address" 4420 -c 1 -l 200 -k 3
	get_disk $N 1

	step "a reset while the wire is dead"
	check "nothing arrives any more" wire_drop
	echo 1 > "/sys/class/nvme/$CTRL/reset_controller" &
	check_await 30 "the reset is under way" away
	check "packets arrive again" wire_undrop
	wait $!
	check_await 60 "the host is back" state_is "$CTRL" live
	check "data" round_trip "$DISK" 65536

	step "delete while reconnecting"
	must "I/O" acked_start "$DISK" "${ACKED_GENTLE[@]}"
	check "pull" wire_pull
	check_await 30 "the host notices" away
	check "disconnect" timeout 90 nvme disconnect -n $N
	check "I/O fails, and comes to an end" acked_given_up
	check "no controller is left" no_controllers
	check "plug" wire_plug
	check_await 60 "the target answers again" \
		busybox ping -c 1 -W 1 "$address"

	step "ctrl_loss_tmo: the port stays closed"
	must "connect" connect $N "$address" 4420 -c 1 -l 4 -k 10
	get_disk $N 1
	check "every acknowledged write is there" acked_verify "$DISK"
	must "I/O" acked_start "$DISK" "${ACKED_GENTLE[@]}"
	signal_peers unlink
	wait_for unlinked 60
	check_await 60 "the host gives up" no_controllers $N
	check "I/O fails, and comes to an end" acked_given_up
	check_await 30 "the disk is gone" not has_disk $N 1
	signal_peers relink
	wait_for relinked 60

	step "the target's cord is pulled"
	must "connect" connect $N "$address" 4420 -c 1 -l 4 -k 10
	get_disk $N 1
	check "every acknowledged write is there" acked_verify "$DISK"
	must "I/O" acked_start "$DISK" "${ACKED_GENTLE[@]}"
	must "pull the cord" ask_below "kill target"
	check_await 120 "the host gives up" no_controllers $N
	check "I/O fails, and comes to an end" acked_given_up

	step "a target that is down"
	limit=120
	is_ours nvme-rdma && limit=60
	mark
	refuse $limit "connect" nvme connect -t rdma -n $N -a "$address" -s 4420
	if is_ours nvme-rdma; then
		said 5 "the reason" "queue 0 to $address:4420: (not connected: still|the address cannot be resolved to an RDMA device)"
	else
		said 5 "the reason" "nvme nvme[0-9]+: (rdma connection establishment failed|rdma_resolve_addr failed)"
	fi
	check "no controller is left" no_controllers
	check_await 30 "nobody holds nvme_rdma" module_idle nvme_rdma
	refuse $limit "discover" nvme discover -t rdma -a "$address" -s 4420
	all_down
	finish
}

"$VM_NAME"
