#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    injected faults under I/O on the paths that vrnic-faults leaves out: polled queues, rdma_rw, receives of a queue's own, protection information, iWARP; no acknowledged write is lost
# with:     vrnic
# disks:    64M:ms=8,pi=1
# variants: ours
# check:    none
# append:   init_on_free=1 nvme_core.multipath=N
# timeout:  900
# allow:    DMA-API: (nvme [0-9a-f:.]+|platform vrnic[01]): cacheline tracking EEXIST|WARNING: .* at add_dma_entry\+
#
# Why that is allowed is in feature-pi.
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"
. "$GUEST_DIR/lib/vrnic-faults.sh"

N=nqn.2026-01.test:paths

# connect_on DISK [options of connect]: by a target that is made
connect_on() {
	local disk=$1 pi=0
	shift
	[ "$disk" = "$SSD" ] && pi=1
	must "a subsystem" eval "subsys $N &&
		_put $NVMET/subsystems/$N/attr_pi_enable $pi && namespace $N 1 $disk"
	must "a port" eval "port 1 $TARGET_IP &&
		_put $NVMET/ports/1/param_pi_enable $pi && expose 1 $N"
	must "connect" connect_wire $N -c 1 -l 600 -k 10 "$@"
	first=$CTRL
	get_disk $N 1
}

# both LINE...: as hit_all, on either side
both() {
	hit_all $HOST_DEV nvme_rdma "$@"
	hit_all $TARGET_DEV nvmet_rdma "$@"
}

load_off() {
	check "no I/O error, every acknowledged write is there" acked_clean
	all_off
}

all_off() {
	check "data" round_trip "$DISK" 131072
	check "disconnect" disconnect $N
	check "the target is taken down" target_teardown
	unload nvmet-rdma
}

devices() {
	vrnic_anew "$@"
	remember_wire
}

host_load
must "an SSD" ssd 0
must "a disk" memory_disk nullb0 64
vrnic_wire roce ack_lag=8 max_inline=0 max_srq=0 flush_done=Y

step "polled queues; a target that uses rdma_rw, and has no SRQ"
soon_noticed use_rw_api=Y
connect_on /dev/nullb0 -i 1 -P 1
faulty_load --polled --writers 1
both "${SENDS[@]}" "${RECEIVES[@]}"
mark
hit $TARGET_DEV wr write 20 rem-access from=nvmet_rdma
said 5 "the target says what failed, though it was not signaled" \
	"an RDMA WRITE failed: remote access error"
mark
hit $TARGET_DEV wr read 20 rem-access from=nvmet_rdma
said 5 "here, too" "an RDMA READ failed: remote access error"
load_off

# What completes again, later, before it is posted again. Receives are posted 8 at a time:
# on the host's side the 8th, the 16th and so on take those before them along, on the
# target's the 9th, the 17th.
step "completions that come again"
soon_noticed
connect_on /dev/nullb0 -i 1
read_one() { dd if="$DISK" of=/dev/null bs=4k count=1 iflag=direct status=none; }
# The host looks for completions of SENDs when something arrives; a read awaits none
write_and_read() {
	dd if=/dev/zero of="$DISK" bs=4k count=1 oflag=direct status=none &&
		nap 0.2 && read_one
}
io_qp() { vrnic_qps "$1" "$2" | tail -n 1; }
host_shows() { sed -n "s/^$1 //p" "/sys/kernel/debug/nvme_rdma/$first/queue1"; }
target_shows() {
	local q
	q=$(grep -lx "qid 1" $SHOWN/queues/*)
	sed -n "s/^$1 //p" "$q"
}
# read_until COMMAND...: reads until of the number that it prints and 1 the rest by 8 is 4
read_until() {
	while [ $((($("$@") + 1) % 8)) != 4 ]; do
		must "one more" read_one
	done
}
reconnected() {
	[ "$(io_qp $HOST_DEV nvme_rdma)" != "$was" ] && read_one &&
		state_is "$first" live
}
# again DEVICE MODULE send|recv COMMAND...: COMMAND doubles a completion, which is reported
again() {
	was=$(io_qp $HOST_DEV nvme_rdma)
	must "$1: the next $3 comes again" vrnic_fault "$1" cqe "$3" 1 again 20000 \
		qp="$(io_qp "$1" "$2")"
	mark
	check "${*:4}" "${@:4}"
	said 20 "what the device did" "completed (the same work request )?twice"
	check_await 60 "the host connects anew" reconnected
}
read_until host_shows responses
again $HOST_DEV nvme_rdma recv read_one
read_until target_shows receives_completed
again $TARGET_DEV nvmet_rdma recv read_one
again $HOST_DEV nvme_rdma send write_and_read
# responses that linger are swept up by an empty RDMA WRITE of the queue itself
sweeps=$(target_shows sweeps)
swept() { [ "$(target_shows sweeps)" -gt "$sweeps" ] || { read_one && false; }; }
must_await 20 "what lingers is swept up" swept
again $TARGET_DEV nvmet_rdma send read_one
all_off

step "and LOCAL_INVs"
devices remote_inv=N
soon_noticed
connect_on /dev/nullb0 -i 1
read_and_read() { read_one && nap 0.2 && read_one; }
again $HOST_DEV nvme_rdma send read_and_read
all_off

step "protection information"
# where a block was written, the emulated SSD has tags that do not fit for its neighbours
must "every block has tags" dd if=/dev/zero of="$SSD" bs=1M count=8 oflag=direct status=none
devices max_srq=16384 remote_inv=Y
soon_noticed
connect_on "$SSD" -i 2
faulty_load
check "it is there" grep -q T10-DIF "/sys/block/${DISK##*/}/integrity/format"
# the post starts with a registration
both "${SENDS[@]/#post send/post any}" "${RECEIVES[@]}" "wr reg 20 loc-prot"
hit $TARGET_DEV wr write 20 rem-access from=nvmet_rdma
hit $TARGET_DEV wr read 20 rem-access from=nvmet_rdma
load_off

step "iWARP"
devices link=iwarp
soon_noticed
connect_on /dev/nullb0 -i 2
faulty_load
both "${SENDS[@]}" "${RECEIVES[@]}" "wr reg 20 loc-prot"
hit $TARGET_DEV wr write 20 rem-access from=nvmet_rdma
hit $TARGET_DEV wr read 20 rem-access from=nvmet_rdma
load_off
vrnic_down
finish
