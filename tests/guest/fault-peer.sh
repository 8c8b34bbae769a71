#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    the peer is paused, reset, loses its module, port and subsystem, or is killed, under I/O; no acknowledged write is lost, no read stale
# guests:   target host
# disks:    target=32M
# variants: ours none
# check:    none
# timeout:  1500
. "$(dirname "$0")/lib.sh"
. "$GUEST_DIR/lib/fault.sh"

# A disk that keeps its data while the target is off
fault_disk() { ssd 0 && FAULT_DISK=$SSD; }

module_goes() { conceal 1 $FAULT_NQN && await 20 module_idle nvmet_rdma && bounded 60 rmmod nvmet_rdma; }
port_goes() { conceal 1 $FAULT_NQN && rmdir $NVMET/ports/1; }
port_comes() { port 1 "$MY_IP4" && expose 1 $FAULT_NQN; }
subsystem_goes() {
	conceal 1 $FAULT_NQN && namespace_remove $FAULT_NQN 1 &&
		rmdir "$NVMET/subsystems/$FAULT_NQN"
}
subsystem_comes() { fault_export && expose 1 $FAULT_NQN; }

# stands NAME STOP GO WORDS
stands() {
	fault "$1" "it stands still for 30 s, $4" || return
	check "stop" ask_below "$2 target"
	nap 30
	check "it goes on" ask_below "$3 target"
	fault_end ok
	fault_stood 29000
}

# away NAME SECONDS WORDS GOES COMES
away() {
	fault "$1" "its $3 is gone for $2 s" || return
	check "it goes" there "$4"
	nap "$2"
	check "it comes back" there "$5"
	fault_end ok
}

# The last case: the target frees all that it held for the host, and verifies from
# its log what the host had been told
fault_served() {
	local outcome=ok from back
	must "the host's cord is pulled" ask_below "kill host"
	from=${EPOCHREALTIME/./}
	judge "all that was held for it is given back" \
		await 60 resources_back target || outcome=leaks
	back=$(ms_since "$from")
	judge "what was acknowledged is there" acked_verify_of host ||
		outcome=lost-data
	back="free_ms=$back bytes_verified=$(acked_found bytes_verified)"
	echo "result host-killed outcome=$outcome $back"
}

acked_verify_of() {
	ACKED_LOG=$SYNC/acked-$1.log acked_verify "$FAULT_DISK"
}

fault_last() {
	fault host-killed "the host's cord is pulled"
	nap 2
	# The counts are said before the end, which this guest does not live to see
	FINISHED=1
	echo "$CHECKS_PASSED passed, $CHECKS_FAILED failed"
	[ $CHECKS_FAILED -eq 0 ] || exit 1
	there_is_no_more
	while :; do nap 10; done
}

cases() {
	stands target-paused pause resume "and its clock"
	stands target-frozen freeze thaw "and its clock goes on"
	away target-module 5 module module_goes "expose 1 $FAULT_NQN"
	away target-port 5 port port_goes port_comes
	away target-subsystem 5 subsystem subsystem_goes subsystem_comes
	if fault target-reset "its cord is pulled, and it boots again"; then
		rm -f "$SYNC/at-ready"
		check "reset" ask_below "reset target"
		check_await 120 "it has booted" test -e "$SYNC/at-ready"
		fault_end ok
	fi
}

fault_run
