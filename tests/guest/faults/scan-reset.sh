#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    the core creates a disk while its controller is being reset: the new disk's queue is quiesced and released, frozen and unfrozen with the others; the number of queues changes without a disk
# with:     vrnic
# variants: ours
# check:    none
# timeout:  300
#
# When the core hears of a new namespace, it sends several commands. One after another, the
# answer to each is held back while a reset quiesces the request queues of all disks. Then the
# scan continues, because the admin queue is torn down last. The core's own
# nvme_unquiesce_io_queues() assumes that a disk created meanwhile was quiesced. The same again with
# a CPU more or less each time: then the reset changes the number of queues, for which it freezes
# all disks. On 6.1 the core's nvme_unfreeze() assumes that a disk created meanwhile was frozen.
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:scan
FIRST=$NVMET/subsystems/$N/namespaces/1/enable
ENABLE=$NVMET/subsystems/$N/namespaces/2/enable

reset_now() { echo 1 > "/sys/class/nvme/$CTRL/reset_controller"; }

# other_cpus: one processor more or less
other_cpus() {
	local file=/sys/devices/system/cpu/cpu1/online
	echo $((1 - $(cat $file))) > $file
}

# reset_in_scan NTH: the NTH answer of the admin queue is late. The first one is the event,
# which is also held back until the target has listed the namespace
reset_in_scan() {
	local qp
	qp=qp=$(vrnic_qps $HOST_DEV nvme_rdma | head -n 1)
	must "the event waits" vrnic_fault $HOST_DEV cqe recv 1 delay 100000 "$qp"
	must "answer $1 waits" vrnic_fault $HOST_DEV cqe recv "$1" delay 2000000 "$qp"
	echo 1 > "$ENABLE"
	await 2 none_armed $HOST_DEV || return 1
	[ -z "$CPUS" ] || check "other processors" other_cpus
	check "reset before answer $1" reset_now
	check_await 20 "live" state_is "$CTRL" live
	equal "queues, and the admin queue" $(($(nproc) < 2 ? 2 : 3)) "$(cat "/sys/class/nvme/$CTRL/queue_count")"
}

host_load
vrnic_wire roce
must "a disk" memory_disk nullb0 16
must "another disk" memory_disk nullb1 16
simple_target $N /dev/nullb0 $TARGET_IP
must "a second namespace" namespace $N 2 /dev/nullb1
echo 0 > "$ENABLE"
echo 0 > "$FIRST"
must "connect" connect_wire $N -i 2
check_module nvme-rdma

step "another number of queues without a disk"
for queues in 2 3 2 3; do
	check "other processors" other_cpus
	check "reset" reset_now
	check_await 20 "live" state_is "$CTRL" live
	equal "queues, and the admin queue" $queues "$(cat "/sys/class/nvme/$CTRL/queue_count")"
done
echo 1 > "$FIRST"
get_disk $N 1
for cpu in 0 1; do
	check "data by processor $cpu" taskset -c $cpu dd if="$DISK" of=/dev/null bs=64k \
		count=16 iflag=direct status=none
done

for CPUS in "" other; do
	resets=0
	for nth in 2 3 4 5 6 7 8 9 10 11; do
		step "answer $nth${CPUS:+, $CPUS processors}"
		must_await 20 "one disk" not has_disk $N 2
		! reset_in_scan $nth || resets=$((resets + 1))
		vrnic_fault $HOST_DEV clear
		get_disk $N 2
		check "data" round_trip "$DISK" 65536
		echo 0 > "$ENABLE"
	done
	check "$resets resets came in a scan" at_least 5 $resets
done
echo 1 > /sys/devices/system/cpu/cpu1/online
check "disconnect" disconnect $N
vrnic_down
finish
