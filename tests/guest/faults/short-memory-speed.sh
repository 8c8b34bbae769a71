#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    speed of large I/O where no two free pages are adjacent, beside the in-tree target in the same guest
# with:     fragment
# check:    none
# debug:    no
# icount:   yes
# mem:      768
# timeout:  2400
. "$(dirname "$0")/../lib/short-memory.sh"
. "$(dirname "$0")/../lib.sh"

# Time is instructions here: in real time, on a busy machine, a job may take three times as long in one
# round as in the next. The host's module is the same with each target.
N=nqn.2026-01.test:short-memory-speed
ROUNDS=${ROUNDS:-3}
JOBS="randread:128k:128:400 randread:1M:32:100 randwrite:128k:128:400 randwrite:1M:32:100"
SPEEDS=/run/speeds

load_target() {
	case $1 in
	in-tree) modprobe nvmet && insmod "/lib/modules/$VM_KVER/kernel/drivers/nvme/target/nvmet-rdma.ko"* ;;
	ours) modprobe nvmet-rdma ;;
	uncached) modprobe nvmet-rdma buffer_cache_mb=0 ;;
	esac
}

one_round() {
	local job
	must "$1: load" load_target "$1"
	must "target" simple_target $N /dev/nullb1
	must "connect" connect $N "$MY_IP4" 4420 -i 1 -Q 128
	get_disk $N 1
	must "fragment" modprobe fragment leave_mb=128
	for job in $JOBS; do
		# shellcheck disable=SC2086 # its words
		large_io ${job//:/ }
		echo "$1 $job $SPEED" >> $SPEEDS
	done
	must "give back" modprobe -r fragment
	check "disconnect" disconnect $N
	must "the target is taken down" target_teardown
	unload nvmet-rdma
}

# median TARGET JOB: KiB/s
median() {
	awk -v who="$1" -v job="$2" '$1 == who && $2 == job { print $3 }' $SPEEDS | sort -n |
		sed -n $(((ROUNDS + 1) / 2))p
}

host_load
wire_up
[ -n "$VM_ICOUNT" ] || die "the clock of this guest does not count instructions"
must "a disk" memory_disk nullb0 4
must "a slow one" slow_disk
must "the host's module" modprobe nvme-rdma
for ((i = 0; i < ROUNDS; i++)); do
	step "round $((i + 1))"
	for who in ours in-tree uncached; do one_round $who; done
done
step "medians"
for job in $JOBS; do
	least=$(($(median in-tree "$job") * 9 / 10))
	for who in ours uncached; do
		echo "result short-memory-speed.$job $who=$(median $who "$job")" \
			"in-tree=$(median in-tree "$job")"
		check "$job, $who: nine tenths of in-tree's" at_least $least "$(median $who "$job")"
	done
done
all_down
finish
