#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    queues with receives of their own share completion queues: how many there are, a failure of one ends the queues of two hosts, and one host's queue pairs that cannot be stopped do not stop the other host
# with:     vrnic
# variants: ours
# check:    none
# append:   init_on_free=1
# timeout:  600
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"
. "$GUEST_DIR/lib/vrnic-faults.sh"
. "$GUEST_DIR/lib/srq.sh"

N=nqn.2026-01.test:one
S=nqn.2026-01.test:two
MY_IP4=$TARGET_IP
host_load
# freed memory is overwritten
vrnic_wire roce vectors=1
must "a disk" memory_disk nullb0 64
must "another disk" memory_disk nullb1 64
soon_noticed use_srq=N
both_subsystems

# target_cqs: completion queues of the target
target_cqs() { rdma resource show cq dev $TARGET_DEV | grep -cw nvmet_rdma; }
target_cqs_are() { [ "$(target_cqs)" = "$1" ]; }
# ended: queues that the failure of a completion queue has ended since the mark
ended() { _log_since_mark | grep -c "queue [0-9]*: $TARGET_DEV reports that the completion queue has failed"; }

step "two hosts on one completion vector"
must "one connects" connect_wire $N -i 2 -c 1 -l 600
first=$CTRL
get_disk $N 1
disk=$DISK
qps=$(vrnic_qps $TARGET_DEV nvmet_rdma)
equal "the admin queue has one, the first I/O queue needs more, and the next one gets twice as much" \
	3 "$(target_cqs)"
must "the other one" connect_wire $S -i 2 -Q 32 -c 1 -l 600 \
	--hostnqn=nqn.2026-01.test:host --hostid="$(< /proc/sys/kernel/random/uuid)"
second=$CTRL
get_disk $S 1
other=$DISK
equal "no queue shares receives" "0 6" "$(srqs) $(target_qps)"
check "six queues share fewer completion queues" at_most 4 "$(target_cqs)"
DISK=$disk
faulty_load
must "I/O of the other host" io_start "$other"

# cq_fails LINE...: one of the target's does, and both hosts come back
cq_fails() {
	mark
	must "$*" vrnic_fault $TARGET_DEV cqe "$@"
	check_await 30 "it has come" none_armed $TARGET_DEV
	said 10 "the target" "queue [0-9]+: $TARGET_DEV reports that the completion queue has failed"
}
both_go_on() {
	goes_on
	check_await 60 "the other host's controller is live" state_is "$second" live
	check_await 20 "I/O of the other host goes on" io_moves
	check_await 20 "none of the ended queues is left" eval \
		"target_qps_are 6 && [ \$(target_cqs) -le 4 ]"
}

step "a completion queue fails that both hosts use"
# lost CONTROLLER NUMBER: it has lost its connections more often than that
lost() { [ "$(times_lost "$1")" -gt "$2" ]; }
# The last one, which had room for queues of the other host
of_first=$(times_lost "$first") of_second=$(times_lost "$second")
cq_fails recv 1 overrun qp="$(tail -n 1 <<< "$qps")"
check "several queues end" at_least 2 "$(ended)"
check_await 10 "one host loses its connections" lost "$first" "$of_first"
check_await 10 "so does the other" lost "$second" "$of_second"
both_go_on

step "another one, by what it sends"
cq_fails send 1 overrun from=nvmet_rdma
both_go_on

# Only their destruction stops them. Until then work requests continue and complete, on
# completion queues that the other host uses.
step "queue pairs of one host that can neither be broken nor reset"
stuck() {
	local i state
	for i in {1..12}; do
		for state in err reset; do
			vrnic_fault $TARGET_DEV modify $state 1 5 from=nvmet_rdma || return 1
		done
	done
	vrnic_fault $TARGET_DEV cqe send 3 delay 30000 from=nvmet_rdma &&
		vrnic_fault $TARGET_DEV cqe recv 3 delay 30000 from=nvmet_rdma
}
of_second=$(times_lost "$second")
for _ in 1 2 3; do
	mark
	must "the target's" stuck
	must "the host ends its connections" \
		dd of="/sys/class/nvme/$first/reset_controller" status=none <<< 1
	said 30 "the target gives up" "cannot flush its work requests \(error -5\)"
	vrnic_fault $TARGET_DEV clear
	goes_on
	check_await 20 "I/O of the other host goes on" io_moves
done
check "it has not lost its connections" not lost "$second" "$of_second"

step "no I/O has failed"
check "every block of the other host was verified" io_stop
check "every acknowledged write is there" acked_clean
check "one host goes" disconnect $N
check_await 20 "its queues are gone" target_qps_are 3
check "data of the other one" round_trip "$other" 131072
check "it goes" disconnect $S
check_await 20 "no completion queue is left" target_cqs_are 0
vrnic_down
finish
