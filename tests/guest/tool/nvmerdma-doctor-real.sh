#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma doctor: a wire that loses packets, one completion vector, an IOMMU, for real
# guests:  target host
# check:   none
# timeout: 500
# cpus:    1
# append:  intel_iommu=on
# qemu:    -machine q35 -device intel-iommu
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/fault.sh"
. "$GUEST_DIR/lib/doctor.sh"

# What no guest has is made up in nvmerdma-doctor-made-up: several NUMA nodes with a card on one
# of them, RoCE v1, Secure Boot, a card's interrupts.

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

# The device counts what was sent again; by which names, depends on which side lost it
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

one_vector() {
	step "one completion vector"
	check "disconnect" disconnect $N
	must "two queues" connect $N "$PEER" 4420 -W 1
	finds vectors warning "all 2 I/O queues of $CTRL have completion vector 0"
	check "disconnect" disconnect $N
	must "one queue" connect $N "$PEER" 4420
	clean_now "of one queue nothing is said"
}

# The type of a group can be changed while no driver has its device
an_iommu() {
	local group=/sys/kernel/iommu_groups/0 device
	step "an IOMMU"
	finds iommu note "the IOMMU translates \(DMA-FQ\)"
	device=$(ls $group/devices)
	echo "group 0: $device"
	check "no driver has it" eval "[ ! -e /sys/bus/pci/devices/$device/driver ] ||
		echo $device > /sys/bus/pci/devices/$device/driver/unbind"
	check "strictly" _put $group/type DMA
	finds iommu note "the IOMMU translates \(DMA\), strictly"
	check "passed through" _put $group/type identity
	clean_now "so it is well"
}

host() {
	host_load
	fault_wire
	wait_for ready 100
	PEER=$VALUE
	must "connect" connect $N "$PEER" 4420
	get_disk $N 1
	a_bad_wire
	one_vector
	an_iommu
	check "disconnect" disconnect $N
	there_is_no_more
	all_down
	finish
}

"$VM_NAME"
