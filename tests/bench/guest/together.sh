#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Instructions of an I/O, and cache lines, where each processor has a job of fio, a queue, and
# the work of both sides for that queue. As apart.sh in all else. Whatever moves between
# processors here, moves between queues of one host, or of one target.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../../guest/lib/vrnic-wire.sh"
. "$(dirname "$0")/place.sh"

CPUS=$(nproc)
# shellcheck disable=SC2034 # lib.sh reads it
QUEUES=$CPUS
# shellcheck disable=SC2034 # place.sh reads it
COUNTERS=("$VRNIC_SHOWN/$TARGET_DEV/counters" "$VRNIC_SHOWN/$HOST_DEV/counters")

# A plan has the number of I/Os of one job; these do as many each. Both would begin and end the
# counting if one fio did several jobs.
counters() { :; }
job() { job_alone "$@"; }
fio() {
	command fio --numjobs="$CPUS" --cpus_allowed="0-$((CPUS - 1))" \
		--cpus_allowed_policy=split --group_reporting "$@"
}

# target_device CPU: again, as its first vector interrupts that processor
target_device() {
	rdma link delete "$TARGET_DEV" && vrnic_is "first_cpu=$1" &&
		vrnic_add "$TARGET_DEV" eth0
}

# together: the work of each processor's queue is done there, on both sides
together() {
	local cpu side
	await 20 has_disk "$N" 1 || return 1
	DISK=$(disk_of "$N" 1)
	for ((cpu = 0; cpu < CPUS; cpu++)); do
		for side in nvme_rdma nvmet_rdma; do
			[ "$(worker $side "$cpu")" = "$cpu" ] || return 1
		done
	done
}

# The target chooses vectors in turns.
rdma_up() { # HOST TARGET OPTIONS...
	local host=$1 target=$2 first
	shift 2
	for ((first = 0; first < CPUS; first++)); do
		down
		target_device $first && target_insert "$target" &&
			host_insert "$host" && _simple_target $N /dev/nullb0 &&
			connect $N "$MY_IP4" 4420 -k 600 -w "$HOST_IP" "$@" || return 1
		! together || return 0
	done
	echo "the queues' work is not on their jobs' processors"
	return 1
}

host_load
modprobe -a nvmet rdma_cm
vrnic_wire roce
# shellcheck disable=SC2034 # lib.sh and what it sources read it
MY_IP4=$TARGET_IP
must "a disk" backing
quiet
tell --clock clock > "$OUT/clock.ns"
# shellcheck source=/dev/null
. "$OUT/plan"
down
finish
