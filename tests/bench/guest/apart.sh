#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Instructions of an I/O, by side. As costs.sh, in a guest of several processors, which take
# turns under one clock of instructions (plugin/turn.c): the host is on processor 0, the target
# on processor 1. Each side has a device with one vector, which interrupts its processor, and
# the work of a queue is done on the processor of its interrupts. Jobs of fio run on processor
# 0, as all programs do.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../../guest/lib/vrnic-wire.sh"

counters() {
	cat "$VRNIC_SHOWN/$TARGET_DEV/counters" "$VRNIC_SHOWN/$HOST_DEV/counters" > "$OUT/$1"
}

# device_of_host: again, as its vector interrupts processor 0
device_of_host() {
	rdma link delete "$HOST_DEV" && vrnic_is first_cpu=0 && vrnic_add "$HOST_DEV" eth1
}

taskset -pc 0 $$ > /dev/null || exit 1
host_load
modprobe -a nvmet rdma_cm
vrnic_wire roce vectors=1 first_cpu=1
must "the host's device" device_of_host
# shellcheck disable=SC2034 # lib.sh and what it sources read them
MY_IP4=$TARGET_IP THREADS_CPU=1 UNPOLLED=yes
# shellcheck disable=SC2034
FROM=$HOST_IP
must "a disk" backing
quiet
tell --clock clock > "$OUT/clock.ns"
# shellcheck source=/dev/null
. "$OUT/plan"
down
finish
