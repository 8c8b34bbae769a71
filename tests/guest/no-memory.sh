#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    connect, I/O and disconnect without memory: each place where host or target asks for some fails once
# with:     vrnic allocfail
# variants: ours none
# kernels:  6.12-debug
# check:    none
# timeout:  9000
FABRIC=vrnic
. "$(dirname "$0")/lib.sh"
. "$GUEST_DIR/lib/vrnic-faults.sh"
. "$GUEST_DIR/lib/steps.sh"

N=nqn.2026-01.test:no-memory
A=/sys/module/allocfail/parameters

places() { cat $A/places; }
is_armed() { [ "$(cat $A/armed)" = Y ]; }

# without_memory MODULE: rounds until one finds no place that has not failed yet
without_memory() {
	local from=$SECONDS
	FAILED=0 TWICE=0 LONGEST=0
	must "$1 is to find no memory" modprobe allocfail user="$1"
	soon_noticed
	simple_target $N /dev/nullb0
	steps_begin "nqn=$N,traddr=$MY_IP4,trsvcid=4420,nr_io_queues=1"
	step "rounds"
	while [ $FAILED -lt 3 ]; do
		echo Y > $A/armed
		faulty_round "$1: place $(places)"
		! is_armed || break
	done
	echo N > $A/armed
	[ $FAILED -gt 0 ] || pass "$1: all rounds were right"
	check "$1: $(places) places had no memory" at_least 20 "$(places)"
	echo "result no-memory.$1 places=$(places) connected_twice=$TWICE" \
		"seconds=$((SECONDS - from))"
	disconnect_all > /dev/null 2>&1
	check "the target is taken down" target_teardown
	nothing_left
	unload nvme-rdma nvmet-rdma allocfail
	modprobe nvme-fabrics
}

host_load
wire_up
must "a disk" null_disk nullb0 64
# NO_MEMORY: one of them alone
for module in ${NO_MEMORY:-nvme_rdma nvmet_rdma}; do
	without_memory "$module"
done
all_down
finish
