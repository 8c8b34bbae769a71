#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   a host loses power under I/O: the target releases all of its resources, and has all acknowledged writes
# guests:  target host
# disks:   target=64M
# check:   6.12
# timeout: 400
# cpus:    1 2
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:host-gone

target() {
	wire_up
	must "an NVMe SSD" ssd 0
	simple_target $N "$SSD"
	remember_resources target
	signal_peers ready "$MY_IP4"
	wait_for connected 100
	check "a host is connected" not resources_back target
	mark
	signal_peers now
	check_await 120 "all that was held for it is given back" \
		resources_back target
	check "every acknowledged write is there" acked_verify_of host "$SSD"
	check "there were some" at_least 4096 "$(acked_found bytes_verified)"
	said 5 "the kernel's words" "nvmet(_rdma)?: .*(keep-alive|fatal|disconnect|expired)"
	check "the target still answers: discovery from here" \
		discover_here
	all_down
	finish
}

discover_here() {
	host_load && discover "$MY_IP4"
}

host() {
	host_load
	wire_up
	wait_for ready 100
	# longer than a guest or soft-RoCE stands still: the host must not lose its connection
	# before the power is cut
	must "connect" connect $N "$VALUE" 4420 -k 10
	get_disk $N 1
	must "I/O" acked_start "$DISK" "${ACKED_GENTLE[@]}"
	nap 1
	signal_peers connected
	wait_for now 60
	# The counts are printed before this guest loses power.
	FINISHED=1
	echo "$CHECKS_PASSED passed, $CHECKS_FAILED failed"
	ask_below "kill host"
	while :; do nap 10; done
}

"$VM_NAME"
