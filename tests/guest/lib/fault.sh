# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Faults between two guests, 'target host', under the checker of lib/acked.sh: what
# came of each is a line
#
#   result CASE outcome=... stall_ms=... outage_ms=... io_errors=... ...
#
# Our modules have to end as the case expects. The in-tree modules run the same, and their
# outcome is only reported. The outcomes:
#
#   ok         all I/O succeeded, and continued after the fault
#   errors     some I/O failed, then it continued
#   gone       the controller was removed, and connected by hand
#   stuck      I/O did not continue, or the controller did not reconnect
#   hangs      some I/O never completed
#   lost-data  an acknowledged write is lost, or a read was stale, torn ...
#   unread     the disk could not be read afterwards
#   not-run    because of an earlier failure

FAULT_NQN=nqn.2026-01.test:fault
FAULT_OPTIONS=reconnect_delay=1,ctrl_loss_tmo=600,keep_alive_tmo=5,nr_io_queues=2
# Seconds to reconnect after the fault: the next attempt starts within reconnect_delay, and the
# present one may still have met the fault. Other modules get more time.
FAULT_BACK=$(is_ours nvme-rdma && echo 20 || echo 90)

# fault_run: runs the scenario; the host's part is the function 'cases'
fault_run() {
	case $VM_NAME in
	target) fault_target ;;
	host) fault_host ;;
	esac
}

# netem [WORDS]: what becomes of all that this guest sends. It is there before there is a
# connection, and only changed, for packets are refused while a qdisc comes or goes.
netem() {
	# shellcheck disable=SC2086
	tc qdisc change dev eth0 root netem limit 10000 ${*:-corrupt 0%} &&
		tc qdisc show dev eth0 | grep -q "netem .*${1:-limit}"
}
netem_dropped() { tc -s qdisc show dev eth0 | sed -n '/netem/,/Sent/s/.*dropped \([0-9]*\),.*/\1/p'; }
# both WORDS...: what becomes of it both ways; both: of nothing, again
both() {
	check "${*:-nothing of that any more}" netem "$@"
	check "and there" there netem "$@"
}

# clock_may_leap: by so much that a processor seems to have stood still, in a guest that is
# frozen
clock_may_leap() {
	echo 1 > /sys/module/rcupdate/parameters/rcu_cpu_stall_suppress &&
		echo 0 > /proc/sys/kernel/soft_watchdog
}

# stop_peer pause|freeze GUEST: stop the other guest; start_peer resume|thaw GUEST. A wire loses
# the packets that a stopped machine does not take. Here they would stay with the sender, and
# soft-RoCE waits up to 50 s for each packet that a queue pair has sent, then frees the queue
# pair that they use (rxe_destroy_qp(), 6.12).
stop_peer() { netem loss 100% && ask_below "$1 $2"; }
start_peer() { netem && ask_below "$1 $2"; }

fault_wire() {
	wire_up
	must "a wire that can be bad" eval "modprobe sch_netem &&
		tc qdisc add dev eth0 root netem limit 10000"
	WIRE_HARMED=yes
}

# KiB of slab_kib. It differs by some hundred by itself; a controller's queues take more
# in a few reconnects.
FAULT_SLAB=3072
check_slab() {
	judge "the kernel's memory is back" slab_back $FAULT_SLAB
	echo "result slab-$VM_NAME grown_kb=$SLAB_GROWN"
}

# fault_disk: the disk to export. A scenario that resets its target uses another one, which
# keeps its data.
fault_disk() { memory_disk nullb0 32 && FAULT_DISK=/dev/nullb0; }

# fault_export: the same disk, to the host, each time that it is done
fault_export() {
	local s=$NVMET/subsystems/$FAULT_NQN
	subsys $FAULT_NQN && _put "$s/attr_serial" fault && mkdir "$s/namespaces/1" &&
		_put "$s/namespaces/1/device_path" "$FAULT_DISK" &&
		_put "$s/namespaces/1/device_uuid" 0fa17000-0000-4000-8000-000000000001 &&
		_put "$s/namespaces/1/enable" 1
}

# Functions that a scenario may replace: what the target does when it has no more to serve, and
# what the host does after all cases
fault_served() { :; }
fault_last() {
	check "disconnect" fault_disconnect
	there_is_no_more
	all_down
	finish
}

fault_target() {
	fault_wire
	# A short connect_tmo: connections that a host abandoned while this guest stood still are
	# released before the check for leaks
	! is_ours nvmet-rdma || must "load" modprobe nvmet-rdma connect_tmo=10
	must "a disk" fault_disk
	must "exported" fault_export
	must "on a port" eval "port 1 $MY_IP4 && expose 1 $FAULT_NQN"
	check_module nvmet-rdma
	remember_resources target
	remember_slab
	signal_peers ready "$MY_IP4"
	fault_serve
	fault_served
	check_slab
	all_down
	finish
}

fault_host() {
	host_load
	fault_wire
	wait_for ready 100
	PEER=$VALUE
	fault_connect || die "no connection"
	check_module nvme-rdma
	remember_slab
	cases
	fault_hung
	check_slab
	fault_last
}

# In-tree modules that hang are left as they are
fault_hung() {
	[ -n "${FAULT_HUNG-}" ] || return 0
	echo "result end outcome=hung"
	there_is_no_more
	finish
}

# there COMMAND...: runs it in the target's guest, and returns its status; not in a subshell,
# which would keep the number to itself
THERE=0
there() {
	THERE=$((THERE + 1))
	signal_peers do-$THERE "$*"
	await 70 test -e "$SYNC/at-did-$THERE" || { echo "no answer"; return 1; }
	cat "$SYNC/there-$THERE"
	[ "$(cat "$SYNC/at-did-$THERE")" = 0 ]
}
there_is_no_more() { signal_peers do-$((THERE + 1)) no-more; }

fault_serve() {
	local n=1
	# One that was reset has answered some before
	while [ -e "$SYNC/at-did-$n" ]; do n=$((n + 1)); done
	while wait_for do-$n 900 && [ "$VALUE" != no-more ]; do
		_kmsg "the host asks for: $VALUE"
		eval "$VALUE" > "$SYNC/there-$n" 2>&1
		signal_peers did-$n $?
		n=$((n + 1))
	done
}

# fault_connect [OPTIONS]: with other ones than usual; sets CTRL and DISK
fault_connect() {
	judge "connect" fabrics \
		"traddr=$PEER,trsvcid=4420,nqn=$FAULT_NQN,hostnqn=$HOSTNQN,hostid=$HOSTID,${1:-$FAULT_OPTIONS}" ||
		return 1
	get_disk $FAULT_NQN 1
}

# bounded SECONDS COMMAND...: stops waiting after that time, even if it cannot be killed
bounded() {
	local limit=$1 pid
	shift
	"$@" &
	pid=$!
	await "$limit" not runs $pid || { echo "it does not end"; return 1; }
	wait $pid
}

# fault_disconnect: whatever state it is in
fault_disconnect() {
	[ -z "${FAULT_HUNG-}" ] || return 1
	bounded 90 nvme disconnect -n $FAULT_NQN && await 20 no_controllers
}

# fault_again [OPTIONS]: a new connection for the next case. In-tree ports that lost their
# device do not listen again until they are linked again.
fault_again() {
	is_ours nvme-rdma || there "conceal 1 $FAULT_NQN; expose 1 $FAULT_NQN"
	judge "disconnect" fault_disconnect && fault_connect "$@" && return
	is_ours nvme-rdma && die "cannot go on"
	FAULT_HUNG=yes
}

# The RDMA objects of a guest while the host is connected; exchanged beside the barriers,
# because one guest may be reset meanwhile
held_remember() { resources > "$SYNC/held-$VM_NAME"; }
_held_is() { [ "$(resources)" = "$(cat "$SYNC/held-$VM_NAME")" ]; }
held_as_before() {
	await 30 _held_is && return
	echo "$(cat "$SYNC/held-$VM_NAME") before, now $(resources)"
	return 1
}

# fault NAME WORDS...: a case begins, and I/O with it. Status 1 if it cannot, as in-tree
# modules are past it.
fault() {
	CASE=$1
	shift
	step "$CASE: $*"
	FAULT_ENDED=
	held_remember
	there held_remember
	if [ -z "${FAULT_HUNG-}" ]; then
		judge "I/O" acked_start "$DISK" "${ACKED_GENTLE[@]}" && { nap 1; return; }
		is_ours nvme-rdma && die "no I/O"
		FAULT_HUNG=yes
	fi
	echo "result $CASE outcome=not-run"
	return 1
}

# fault_over: from now on the way back is measured
fault_over() { begin FAULT_ENDED; }

live_and_moves() { state_is "$CTRL" live && acked_moves; }

# fault_stood MS: a check of the fault itself: for so long, nothing can have moved
fault_stood() {
	check "$CASE: nothing moved" at_least "$1" "$(acked_value longest_stall_ms)"
}

# fault_end OUTCOME: ends the fault, and compares its outcome with the expected one: ok, errors
# or gone. Several outcomes, separated by |, if all of them are right.
fault_end() {
	local outcome=ok back=
	[ -n "$FAULT_ENDED" ] || fault_over
	if [ "$1" = gone ]; then
		_fault_gone || outcome=stuck
	else
		acked_now
		ACKED_DONE=${ACKED_OK:-0}
		await $FAULT_BACK live_and_moves || outcome=stuck
	fi
	back=$(ms_since "$FAULT_ENDED")
	nap 1
	_fault_judge "$1"
	back="stall_ms=$(acked_value longest_stall_ms) outage_ms=$(acked_value longest_outage_ms) slowest_ms=$(acked_value slowest_io_ms) io_errors=$(acked_value io_errors) first_error=$(acked_value first_error) back_ms=$back"
	back="$back bytes_read=$(acked_value bytes_verified) bytes_verified=$(acked_found bytes_verified)"
	echo "result $CASE outcome=$outcome $back"
	_kmsg "result $CASE outcome=$outcome $back"
	if is_ours nvme-rdma; then
		check "$CASE: the outcome is $1" _is_one_of "$outcome" "$1" ||
			cat $ACKED_OUT $ACKED_VERIFY
	fi
	case $outcome in
	stuck | hangs | unread) fault_again ;;
	*)
		judge "$CASE: RDMA objects are as before" held_as_before
		judge "$CASE: and the target's" there held_as_before
		;;
	esac
}

_is_one_of() { [[ "|$2|" = *"|$1|"* ]]; }

# The controller was removed, and its disk with it; another one has the data
_fault_gone() {
	acked_end > /dev/null
	await $FAULT_BACK no_controllers $FAULT_NQN || return 1
	fault_connect || return 1
	ACKED_DEV=$DISK
}

_fault_judge() {
	acked_end > /dev/null
	case $outcome,$(acked_value verdict) in
	*,bad) outcome=lost-data ;;
	stuck,*) ;;
	*,hangs) outcome=hangs ;;
	*,good) [ "$(acked_value io_errors)" = 0 ] || outcome=errors ;;
	*) outcome=hangs ;;
	esac
	[ "$outcome,$1" != errors,gone ] || outcome=gone
	case $outcome in
	ok | errors | gone | lost-data)
		acked_verify > /dev/null
		case $(acked_found verdict) in
		good) [ "$(acked_found bytes_verified)" -gt 0 ] || outcome=unread ;;
		bad) outcome=lost-data ;;
		*) outcome=unread ;;
		esac ;;
	esac
}
