#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma doctor: a wire that really loses packets
# guests:  target host
# check:   none
# timeout: 500
# cpus:    1
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/fault.sh"
. "$GUEST_DIR/lib/doctor.sh"

# States that no guest can have are simulated in nvmerdma-doctor-made-up: RoCE v1, Secure Boot.

N=nqn.2026-01.test:doctor
DOCTOR="$NVMERDMA doctor --only"

target() {
	fault_wire
	must "a disk" null_disk nullb0 16
	simple_target $N /dev/nullb0
	signal_peers ready "$MY_IP4"
	fault_serve
	all_down
	finish
}

# The device counts retransmissions; the names of the counters depend on the side that lost
# packets
RETRIED="(completer_retry_err|rcvd_seq_err|out_of_seq_request|duplicate_request)"
read_some() { dd if="$DISK" of=/dev/null bs=64k count=64 iflag=direct status=none; }

a_bad_wire() {
	step "a wire that loses packets"
	DOCTOR_CHECK=counters-device DOCTOR_ARGS=()
	clean_now "before"
	both loss 3%
	check "data comes" read_some
	both
	finds counters-device warning "$RETRIED of rxe0 is [0-9]*, of [0-9]* packets sent"
	check "what it says to look at is there: ${MEND[0]-}" eval "${MEND[0]-false} || [ \$? = 1 ]"
}

host() {
	host_load
	fault_wire
	wait_for ready 100
	PEER=$VALUE
	must "connect" connect $N "$PEER" 4420
	get_disk $N 1
	a_bad_wire
	check "disconnect" disconnect $N
	there_is_no_more
	all_down
	finish
}

"$VM_NAME"
