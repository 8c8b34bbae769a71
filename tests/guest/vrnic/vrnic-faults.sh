#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    injected faults under I/O: work requests fail, completions are late, reordered, doubled or lost, posts are refused, queue pairs and devices die, objects are not created, ports go down; no acknowledged write is lost
# with:     vrnic
# variants: ours
# check:    6.12
# append:   init_on_free=1
# timeout:  900
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"
. "$GUEST_DIR/lib/vrnic-faults.sh"

N=nqn.2026-01.test:faults
# in 'make check-quick': one fault of each kind, with its outcome
[ -z "${QUICK-}" ] || {
	SENDS=("wr send 20 flush" "cqe send 5 never" "post send 20 12")
	RECEIVES=("cqe recv 20 twice")
}
host_load
must "the virtual NIC" modprobe vrnic
INLINE=$(cat /sys/module/vrnic/parameters/max_inline)
# Acknowledgments are late: until they arrive the memory must not change, and freed memory is
# overwritten.
vrnic_wire roce ack_lag=8 max_inline=0
must "a disk" memory_disk nullb0 64
soon_noticed
simple_target $N /dev/nullb0 $TARGET_IP
must "connect" connect_wire $N -i 2 -c 1 -l 600 -k 10
first=$CTRL
get_disk $N 1
faulty_load

# more_inline DEVICE: more than the CM sent
more_inline() { at_least 100 "$(vrnic_count "$1" inline)"; }

step "the host's"
hit_all $HOST_DEV nvme_rdma "${SENDS[@]}" "${RECEIVES[@]}" "wr reg 20 loc-prot"

step "the target's"
hit_all $TARGET_DEV nvmet_rdma "${SENDS[@]}" "${RECEIVES[@]}" \
	"wr write 20 rem-access" "wr read 20 rem-access"

step "completion queues fail: that is heard of"
# cq_fails DEVICE MODULE QUEUE WORDS
cq_fails() {
	mark
	hit "$1" cqe "$3" 5 overrun from="$2"
	said 10 "$2" "$1 reports that $4 has failed"
}
for queue in send recv; do
	cq_fails $HOST_DEV nvme_rdma $queue "a completion queue"
	cq_fails $TARGET_DEV nvmet_rdma $queue "a completion queue of shared receives"
done

# the last of a module's queue pairs is one for I/O
step "queue pairs die"
mark
must "the host's" vrnic_fault $HOST_DEV qp \
	"$(vrnic_qps $HOST_DEV nvme_rdma | tail -n 1)" die
said 30 "the host recovers" "nvme nvme[0-9]+: starting error recovery"
goes_on
mark
must "the target's" vrnic_fault $TARGET_DEV qp \
	"$(vrnic_qps $TARGET_DEV nvmet_rdma | tail -n 1)" die
said 30 "the host recovers" "nvme nvme[0-9]+: starting error recovery"
goes_on

# Only its destruction stops it then: until that, work requests continue and complete, beside
# the release.
step "queue pairs that can neither be broken nor reset"
# stay STATE...: the target's queue pairs cannot be moved to these
stay() {
	local i state
	for i in {1..12}; do
		for state; do
			vrnic_fault $TARGET_DEV modify "$state" 1 5 from=nvmet_rdma || return 1
		done
	done
}
stubborn() {
	stay err reset &&
		vrnic_fault $TARGET_DEV cqe send 3 delay 30000 from=nvmet_rdma &&
		vrnic_fault $TARGET_DEV cqe recv 3 delay 30000 from=nvmet_rdma
}
given_up() {
	must "the host ends its connections" \
		dd of="/sys/class/nvme/$first/reset_controller" status=none <<< 1
	said 30 "the target gives up" "cannot flush its work requests \(error -5\)"
	vrnic_fault $TARGET_DEV clear
	goes_on
}
for _ in 1 2 3; do
	mark
	must "the target's" stubborn
	given_up
done

# a command that the core has parked is responded to by then
step "a queue pair that can only be reset: nothing is posted to it after that"
mark
must "the target's" stay err
given_up
no_violations $TARGET_DEV

step "ports go down, and come up"
for dev in $HOST_DEV $TARGET_DEV; do
	must "$dev: down" vrnic_fault $dev port down
	check_await 60 "the connection is lost" not state_is "$first" live
	must "$dev: up" vrnic_fault $dev port up
	goes_on
done

# unmade DEVICE OBJECT NTH: the object is not created when the controller connects again; the
# attempt may fail and is retried
unmade() {
	must "$1: $2 number $3 is not made" vrnic_fault "$1" make "$2" "$3" 12
	echo 1 2> /dev/null > "/sys/class/nvme/$first/reset_controller"
	check_await 30 "it has come" none_armed "$1"
	goes_on
}
# From "mr 100" on the controller makes them all before it connects
step "what a connection is made of is not to be had"
for what in "cq 1" "cq 4" "qp 1" "qp 3" "mr 1" "mr 100"; do
	# shellcheck disable=SC2086
	unmade $HOST_DEV $what
done
for what in "qp 1" "qp 3"; do
	# shellcheck disable=SC2086
	unmade $TARGET_DEV $what
done

# dies DEVICE CARD: the device stops answering, and is created again
dies() {
	must "$1 dies" vrnic_fault "$1" device die
	check_await 60 "the connection is lost" not state_is "$first" live
	no_violations "$1"
	must "it goes" timeout 60 rdma link delete "$1"
	must "it is back" vrnic_add "$1" "$2"
}

step "the target's device dies, and one that takes data inline comes"
must "from now on" vrnic_is max_inline=$INLINE
dies $TARGET_DEV eth0
check_await 30 "the port listens on it" listeners_are 1
goes_on

hit_all $TARGET_DEV nvmet_rdma "${SENDS[@]}"
check_await 60 "responses went inline" more_inline $TARGET_DEV

step "every block is verified"
check "no I/O error, every acknowledged write is there" acked_clean

# its controller goes with it, unless it was between two attempts to reconnect
step "the host's device dies"
faulty_load
dies $HOST_DEV eth1
check "what is left of it" disconnect_all
check "I/O fails, and comes to an end" acked_given_up
must "connect" connect_wire $N -i 2 -c 1 -l 600 -k 10
first=$CTRL
get_disk $N 1
check "every acknowledged write is there" acked_verify "$DISK"
faulty_load
hit_all $HOST_DEV nvme_rdma "${SENDS[@]}"
check_await 60 "capsules went inline" more_inline $HOST_DEV
check "no I/O error, every acknowledged write is there" acked_clean

# the host waits for its end by then
step "a completion queue fails when its connection ends: nobody waits for what it does not complete"
# reset_as_it_fails: the fault is in an I/O queue, whose drain would take 10 s. Three attempts
# at most, because the machine itself may stand still.
reset_as_it_fails() {
	local try from ms
	for try in 1 2 3; do
		vrnic_fault $HOST_DEV cqe recv 1 overrun-told 500000 \
			qp="$(vrnic_qps $HOST_DEV nvme_rdma | tail -n 1)" || return
		begin from
		nvme reset "/dev/$first" && await 30 state_is "$first" live || return
		ms=$(ms_since "$from")
		echo "$try: live after $ms ms"
		# the 10 s are a timer's; a machine so slow may need as long
		[ "$SLOW" -le 4 ] && [ "$ms" -gt 8000 ] || return 0
	done
	return 1
}
mark
check "a reset, live again within 8 s" reset_as_it_fails
said 5 "the host" "$HOST_DEV reports that a completion queue has failed"
check "data" round_trip "$DISK" 131072
check "disconnect" disconnect $N
vrnic_down
finish
