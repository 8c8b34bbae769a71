#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    under I/O the target is paused, reset, and loses its module, port and subsystem: no acknowledged write is lost, no read is stale
# guests:   target host
# disks:    target=32M
# variants: ours none
# check:    none
# timeout:  1500
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/fault.sh"

clock_may_leap

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
	check "stop" stop_peer "$2" target
	nap 30
	check "it goes on" start_peer "$3" target
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

# Not beside another subsystem whose port stays listening: a Linux target then answers with "do
# not retry". Our host does not remove a controller for that once it was connected.
beside_another() {
	fault target-unlinked "its subsystem is unlinked from a port that has another" || return
	check "another" there "subsys $FAULT_NQN-other && expose 1 $FAULT_NQN-other"
	check "it goes" there "conceal 1 $FAULT_NQN"
	nap 3
	check "it comes back" there "expose 1 $FAULT_NQN"
	fault_end ok
	check "the other goes" there \
		"conceal 1 $FAULT_NQN-other && rmdir $NVMET/subsystems/$FAULT_NQN-other"
}

cases() {
	# before it is stopped: emulated processors that stopped may not start again
	if fault target-reset "its cord is pulled, and it boots again"; then
		rm -f "$SYNC/at-ready"
		check "reset" ask_below "reset target"
		check_await 120 "it has booted" test -e "$SYNC/at-ready"
		fault_end ok
	fi
	stands target-paused pause resume "and its clock"
	stands target-frozen freeze thaw "and its clock goes on"
	away target-module 5 module module_goes "expose 1 $FAULT_NQN"
	away target-port 5 port port_goes port_comes
	away target-subsystem 5 subsystem subsystem_goes subsystem_comes
	beside_another
}

fault_run
