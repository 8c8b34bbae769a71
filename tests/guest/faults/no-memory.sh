#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    connect, I/O and disconnect while each allocation of host and target fails once
# with:     vrnic allocfail
# variants: ours none
# kernels:  6.12-debug
# check:    none
# timeout:  9000
FABRIC=vrnic
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-faults.sh"
. "$GUEST_DIR/lib/steps.sh"

N=nqn.2026-01.test:no-memory
A=/sys/module/allocfail/parameters

places() { cat $A/places; }
is_armed() { [ "$(cat $A/armed)" = Y ]; }

# The target's core answers a command for which it has no memory with an error. The host's core
# accepts such an answer to Identify for good: there is no disk then.
excused() {
	local way
	! is_armed && grep -q "no disk of" /run/round.words || return 1
	way=$(dmesg | tac | sed '/allocfail: [a-z ]* for /q' | tac)
	[[ $(grep -m 1 '\[nvmet' <<< "$way") = *" nvmet_execute_"* ]] && CORES=$((CORES + 1))
}

# port_round: the port listens and does not, once without memory, where it may refuse to;
# then it has to
port_round() {
	echo Y > $A/armed
	expose 1 $N 2> /dev/null && conceal 1 $N
	is_armed || met=$((met + 1))
	echo N > $A/armed
	check "a port, after place $(places)" eval "expose 1 $N && conceal 1 $N"
}

# The target's port comes and goes, until no round meets a place any more
ports_without_memory() {
	local met=0 before=-1
	step "ports"
	check "it does not listen" conceal 1 $N
	while [ $met != $before ]; do
		before=$met
		port_round
	done
	check "$met places of a port had no memory" at_least 3 $met
	check "it listens" expose 1 $N
}

# The controller reconnects with one queue more or less, repeatedly, until four changes in a row
# meet no failing allocation. Some of the failing allocations are blk-mq's.
io_queues_are() {
	state_is "$CTRL" live && [ "$(cat "/sys/class/nvme/$CTRL/queue_count")" = $(($1 + 1)) ]
}

# one_for_now QUEUES: the device had no memory region for the second one. The controller, live,
# is content with one queue until it is lost for another reason (host/mr.c).
one_for_now() {
	[ "$1" = 2 ] && io_queues_are 1 &&
		_log_since_mark | grep -q "has memory regions for 1 of 2 I/O queues"
}
has_come_back() { io_queues_are "$1" || one_for_now "$1"; }
qid_max_is() { _put "$NVMET/subsystems/$N/attr_qid_max" "$1"; }

queues_without_memory() {
	local n=2 met=0 idle=0
	step "another number of queues"
	must "connect" connect $N "$MY_IP4" 4420 -i 2 -c 1 -l 600
	get_disk $N 1
	while [ $idle -lt 4 ]; do
		n=$((3 - n))
		mark
		echo Y > $A/armed
		must "$n queues" qid_max_is $n
		check_await 60 "it is back, after place $(places)" has_come_back $n || break
		if one_for_now $n; then
			check "a place had no memory" not is_armed
			must "lost again" qid_max_is $n
			check_await 60 "it has $n then" io_queues_are $n || break
		fi
		check "data" dd status=none if="$DISK" of=/dev/null bs=4k count=8 iflag=direct
		idle=$((idle + 1))
		is_armed || { idle=0; met=$((met + 1)); }
	done
	echo N > $A/armed
	check "$met places of that had no memory" at_least 3 $met
	check "disconnect" disconnect $N
}

# without_memory MODULE: rounds until three in turn find no place that has not failed yet
without_memory() {
	local from=$SECONDS idle=0
	FAILED=0 TWICE=0 LONGEST=0 CORES=0
	must "$1 is to find no memory" modprobe allocfail user="$1"
	soon_noticed
	simple_target $N /dev/nullb0
	steps_begin "nqn=$N,traddr=$MY_IP4,trsvcid=4420,nr_io_queues=1,queue_size=16"
	step "rounds"
	while [ -z "${NO_ROUNDS-}" ] && [ $FAILED -lt 3 ]; do
		echo Y > $A/armed
		faulty_round "$1: place $(places)"
		idle=$((idle + 1))
		is_armed || idle=0
		[ $idle -lt 3 ] || break
	done
	echo N > $A/armed
	if [ -z "${NO_ROUNDS-}" ]; then
		[ $FAILED -gt 0 ] || pass "$1: all rounds were right"
		[ $CORES = 0 ] || echo "    in $CORES the core made no disk, until it scans again"
		check "$1: $(places) places had no memory" at_least 20 "$(places)"
	fi
	# in-tree hosts crash in the first of these
	case $(is_ours nvme-rdma && echo "$1") in
	nvme_rdma) queues_without_memory ;;
	nvmet_rdma) ports_without_memory ;;
	esac
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
must "a disk" memory_disk nullb0 64
# NO_MEMORY: one of them alone; NO_ROUNDS: not the rounds
for module in ${NO_MEMORY:-nvme_rdma nvmet_rdma}; do
	without_memory "$module"
done
all_down
finish
