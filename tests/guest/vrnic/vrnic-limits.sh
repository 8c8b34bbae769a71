#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    data over a virtual RNIC with few resources: no inline data, no SRQ, one SGE, few pages, short queues, no key for all of memory, no remote invalidate, late acknowledgments; and one that flushes what it has done
# with:     vrnic
# variants: ours none sides
# check:    none
# append:   init_on_free=1
# timeout:  900
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:limits
host_load
# Acknowledgments are late: until they arrive the memory must not change, and freed memory is
# overwritten.
vrnic_wire roce ack_lag=8
must "a disk" memory_disk nullb0 64
simple_target $N /dev/nullb0 $TARGET_IP

# limited NAME=VALUE...: create both devices again with exactly these limits
USUAL="vectors=0 max_qp_wr=16384 max_send_sge=30 max_recv_sge=30 max_sge_rd=30
max_inline=512 max_cqe=1048576 max_srq=16384 max_mr_pages=4096 max_rd_atom=16 mr_us=0
sg_gaps=Y remote_inv=Y integrity=Y local_dma_lkey=Y flush_done=N"
limited() {
	step "$*"
	# shellcheck disable=SC2086
	vrnic_anew $USUAL "$@"
	# the in-tree target does not listen again by itself
	is_ours nvmet-rdma || must "the port, anew" eval \
		"rm $NVMET/ports/1/subsystems/$N && expose 1 $N"
	check_await 30 "the port listens on it" listeners_are 1
}

regions() { rdma resource show "$HOST_DEV" | sed -n 's/.* mr \([0-9]*\).*/\1/p'; }

# freed_first SCHEDULER COMMAND: the last that the host does on its disk. The request
# is freed with the disk, and then the device flushes what carried it
freed_first() {
	must "connect" connect_wire $N -i 1
	get_disk $N 1
	check "scheduler $1" queue_set scheduler "$1"
	check "$1: $2" eval "$2"
	check "disconnect" disconnect $N
}

step "late acknowledgments"
wire_data $N
limited max_inline=0
wire_data $N
limited max_srq=0
wire_data $N
limited remote_inv=N
wire_data $N
limited local_dma_lkey=N
wire_data $N
limited sg_gaps=N max_mr_pages=32
wire_data $N
limited flush_done=Y
wire_data $N
# shellcheck disable=SC2016 # its disk, later
freed_first mq-deadline 'dd if=$DISK of=/dev/null bs=4k count=1 iflag=direct'
# shellcheck disable=SC2016
freed_first none 'dd if=/dev/zero of=$DISK bs=512 count=1 oflag=direct conv=fsync'
limited vectors=1 integrity=N max_rd_atom=1
wire_data $N
# the in-tree target counts a command's READs in a byte: 256 of them, for 1 MiB, are none
limited max_send_sge=3 max_recv_sge=3 max_sge_rd="$(is_ours nvmet-rdma && echo 1 || echo 2)"
wire_data $N
if is_ours nvme-rdma && is_ours nvmet-rdma; then
	# as few as the CM's own queue pair can do with
	limited max_qp_wr=512 max_cqe=1024
	wire_data $N -Q 1024
	limited max_send_sge=2 max_recv_sge=2 max_sge_rd=1
	wire_data $N
	limited max_send_sge=2 max_recv_sge=2 max_sge_rd=1 max_inline=0 max_srq=0 \
		remote_inv=N local_dma_lkey=N sg_gaps=N max_mr_pages=32 max_qp_wr=512 \
		max_cqe=1024 max_rd_atom=1 vectors=1 integrity=N
	wire_data $N -Q 1024

	# The queue that it had is connected, and its memory regions are being made; then
	# blk-mq gets the other one
	limited mr_us=$((10000 * WATCHED))
	must "one I/O queue is granted" _put $NVMET/subsystems/$N/attr_qid_max 1
	RDMA_DEV=$HOST_DEV remember_resources before
	must "connect" connect_wire $N -i 2 -c 1 -l 600
	check "it has one" queues_are 2
	get_disk $N 1
	check "the port closes" conceal 1 $N
	check_await 20 "the host tries to come back" not state_is "$CTRL" live
	check "two are granted" _put $NVMET/subsystems/$N/attr_qid_max 128
	check "the port opens" expose 1 $N
	check_await 60 "it has two" queues_are 3
	made=$(regions)
	check "data" round_trip "$DISK" 1048576
	check "data once more, over all tags" fio_verify "$DISK" 2M --iodepth=128
	check "more memory regions than $made have been made since" at_least $((made + 1)) "$(regions)"
	equal "it is live still" live "$(state_of "$CTRL")"
	check "disconnect" disconnect $N
	check_await 20 "no memory region is left" _host_resources_are before ||
		rdma resource show
fi
vrnic_down
finish
