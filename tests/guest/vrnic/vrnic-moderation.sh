#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    adaptive moderation of both modules' completion queues, on a virtual RNIC that moderates and behind a wire that takes time: data, the levels that they ask for, "rdma" commands that show it and turn it off
# with:     vrnic
# check:    none
# timeout:  600
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:moderation

# shows DEVICE: the completion queues of our modules, which have their names. A host's queue has a
# second one for sends: it seldom interrupts, and is not moderated.
shows() { rdma -d resource show cq dev "$1" | grep -w -e nvme_rdma -e nvmet_rdma; }

moderated() { shows "$1" | grep -w "adaptive-moderation on"; }

moderations() { vrnic_count "$1" moderations; }

# said_by MODULE: its tracepoint has shown a level
said_by() {
	grep -Eq "nvme_rdma_cq_moderate: dev=[a-z0-9_]+ cqn=[0-9]+ completions=([1-9]|[1-9][0-9]) us=[0-9]+ error=0" \
		"$TRACES/instances/$1/trace"
}

busy() { # SECONDS DEPTH
	fio --name=load --filename="$DISK" --direct=1 --ioengine=io_uring --rw=randrw \
		--bs=4k --size=32M --iodepth="$2" --time_based --runtime="$1" \
		--output=/run/fio.out || { cat /run/fio.out; return 1; }
}

host_load
vrnic_wire roce use_cq_dim=Y delay_ns=5000
must "a disk" memory_disk nullb0 64
# What a thread finds does not count among the completions of an interrupt
must "load" modprobe nvmet-rdma io_threads=N
simple_target $N /dev/nullb0 $TARGET_IP

step "moderated"
must "connect" connect_wire $N -i 2
check_module nvme-rdma
check_module nvmet-rdma
TRACES=/sys/kernel/tracing
for module in nvme_rdma nvmet_rdma; do
	must "trace $module" mkdir "$TRACES/instances/$module"
	must "its levels" eval \
		'echo 1 > "$TRACES/instances/$module/events/$module/nvme_rdma_cq_moderate/enable"'
done
get_disk $N 1
check "fio with verification" fio_verify "$DISK" 16M --iodepth=32
# A measurement takes 64 interrupts, which is long on a slow machine
asked() { [ "$(moderations $TARGET_DEV)" -ge 1 ] && [ "$(moderations $HOST_DEV)" -ge 1 ]; }
for ((i = 0; i < 12 * MACHINE_SLOW; i++)); do
	check "many commands under way" busy 5 64
	! asked || break
done
check "the target's queues ask for levels" at_least 1 "$(moderations $TARGET_DEV)"
check "and those of the host" at_least 1 "$(moderations $HOST_DEV)"
for module in nvme_rdma nvmet_rdma; do
	check "a tracepoint of $module shows them" said_by $module
	check "no more traces" rmdir "$TRACES/instances/$module"
done
check "the target's queues are shown as moderated" moderated $TARGET_DEV
check "and those of the host" moderated $HOST_DEV
check "one command at a time" busy 2 1
must "I/O" io_start "$DISK"
check "reset under I/O" nvme reset "/dev/$(controllers $N | head -n 1)"
check "I/O goes on, and ends" io_stop
check "disconnect" disconnect $N

step "turned off"
for dev in $TARGET_DEV $HOST_DEV; do
	check "off for $dev" rdma dev set "$dev" adaptive-moderation off
done
must "connect" connect_wire $N -i 2
get_disk $N 1
before=$(($(moderations $TARGET_DEV) + $(moderations $HOST_DEV)))
check "many commands under way" busy 3 64
equal "no queue asks for a level" "$before" \
	"$(($(moderations $TARGET_DEV) + $(moderations $HOST_DEV)))"
for dev in $TARGET_DEV $HOST_DEV; do
	check "$dev shows queues of ours" shows "$dev"
	check "none is moderated" not moderated "$dev"
done
check "disconnect" disconnect $N
vrnic_down
finish
