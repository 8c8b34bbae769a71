#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What 'in-tree' runs in each of its guests: the hostile host against whichever target
# module there is, from where the last guest came to. Nothing is judged here but
# that the hostile host could be run.
. "$(dirname "$0")/../guest/lib.sh"
. "$GUEST_DIR/lib/hostile.sh"

N=nqn.2026-01.test:kept
host_load
wire_up
must "RDMA for programs" modprobe rdma_ucm
must "load" modprobe nvmet-rdma
target_pair $N
check_module nvmet-rdma
must "connect" connect $N "$MY_IP4" 4420 -i 2
get_disk $N 1
must "verified I/O" io_start "$DISK" --runtime=3600
"$HOSTILE_HOST" --moves "$(path_stat)" --device "$RDMA_DEV" "${HOSTILE_TARGET[@]}" --stop yes \
	${HOSTILE_AFTER:+--after "$HOSTILE_AFTER"} \
	"$MY_IP4" 4420 $HOSTILE_NQN $HOSTILE_CASES > "$HOSTILE_OUT" 2>&1
echo "status $?" > "/vm/$VM_NAME/hostile-status"
pass "as far as it came"
finish
