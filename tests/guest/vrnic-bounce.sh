#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    data over a virtual RNIC that sees memory only as it was mapped and synced: all of it is bounced, and acknowledgments are late
# with:     vrnic
# check:   none
# append:   swiotlb=65536,force init_on_free=1
# timeout:  400
. "$(dirname "$0")/lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:bounce
host_load
vrnic_wire roce ack_lag=8 max_inline=0
must "a disk" null_disk nullb0 64
simple_target $N /dev/nullb0 $TARGET_IP

step "what is mapped for long is bounced, too"
must "connect" connect_wire $N
check "slots are taken" at_least 1 "$(cat /sys/kernel/debug/swiotlb/io_tlb_used)"
check "disconnect" disconnect $N

# Data that begins within a page and ends in another one is not here: bounced, it has
# gaps that a memory region cannot have, unless the device's driver asks swiotlb to
# keep offsets (dma_set_min_align_mask()), which those of RDMA devices do not.
step "data"
must "connect" connect_wire $N -i 2
check_module nvme-rdma
check_module nvmet-rdma
get_disk $N 1
for size in 512 4096 16384 131072 1048576 4194304; do
	check "$size bytes, direct" round_trip "$DISK" $size
done
check "fio with verification" fio_verify "$DISK" 4M
check "disconnect" disconnect $N
vrnic_down
finish
