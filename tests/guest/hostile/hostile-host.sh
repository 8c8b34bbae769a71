#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   a host that breaks the rules, the most telling cases and at random, beside a host that follows them
# check:   6.12
# timeout: 600
# cpus:    1 2
#
# HOSTILE_CASES: cases by name or pattern, all, or none (some). HOSTILE_FUZZ: number of random
# inputs (20). HOSTILE_SEED (1). HOSTILE_PARAMS: parameters of nvmet-rdma. HOSTILE_EVERY: of
# long series of outcomes only every Nth is tested (25); hostile-host-all tests all.
# HOSTILE_IOPS: limit for the host that follows the rules (100), or "all" for none; it then has
# to reach the same rate afterwards. tests/hostile/in-tree runs the in-tree modules.
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/hostile.sh"

N=nqn.2026-01.test:kept
host_load
wire_up
must "RDMA for programs" modprobe rdma_ucm
# short, but longer than the guest or soft-RoCE stands still on a busy machine: the hosts that
# follow the rules must not lose their connections by it
# shellcheck disable=SC2086
must "load" modprobe nvmet-rdma connect_tmo=$((6 * MACHINE_SLOW)) \
	response_tmo=$((10 * MACHINE_SLOW)) ${HOSTILE_PARAMS-}
# A message about a command before there is a controller must not access one
echo 'module nvmet_rdma +p' > /sys/kernel/debug/dynamic_debug/control
target_pair $N
check_module nvmet-rdma

step "a host that keeps the rules"
# its keep-alives may be late on a busy machine
must "connect" connect $N "$MY_IP4" 4420 -i 2 -k 60
get_disk $N 1
rate=()
[ "${HOSTILE_IOPS:=100}" = all ] || rate=("--rate_iops=$HOSTILE_IOPS")
must "verified I/O" io_start "$DISK" --runtime=3600 "${rate[@]}"
beside=(--moves "$(path_stat)" --device "$RDMA_DEV" "${HOSTILE_TARGET[@]}")
[ ! -d $SHOWN/queues ] || beside+=(--queues $SHOWN/queues)
# once, so that what stays for good is there
"$HOSTILE_HOST" "$MY_IP4" 4420 $HOSTILE_NQN cm-no-reads > /dev/null
remember_resources before
sync
slab=$(slab_kib)
[ "$HOSTILE_IOPS" != all ] || before=$(best_speed)

SHORT="cm-length cm-field cm-no-reads cm-no-ctrl capsule-length capsule-short
	before-connect-opcode capsule-verbs after-disconnect sgl-write-type sgl-offset
	sgl-wrap sgl-admin sgl-write-length sgl-before-connect key-forged key-bounds
	cid-twice connect-io connect-late connect-foreign connect-other-port cm-no-rtu
	cm-foreign-qp admin-deep auth-length auth-message auth-fetch auth-io-queue flood-events
	bad-capsules recv-none killed"

step "one that does not"
if [ "${HOSTILE_CASES-}" != none ]; then
	"$HOSTILE_HOST" "${beside[@]}" --every "${HOSTILE_EVERY:-25}" \
		"$MY_IP4" 4420 $HOSTILE_NQN \
		${HOSTILE_CASES:-$SHORT} > "$HOSTILE_OUT" 2>&1
	equal "it ends with success" 0 $?
	hostile_results
	check "$OUTCOMES outcomes" at_least 1 "$OUTCOMES"
fi

step "at random"
seed=${HOSTILE_SEED:-1} inputs=${HOSTILE_FUZZ:-20}
if [ "$inputs" -gt 0 ]; then
	"$HOSTILE_HOST" "${beside[@]}" "$MY_IP4" 4420 $HOSTILE_NQN \
		fuzz "$seed" "$inputs" > "$HOSTILE_OUT" 2>&1
	equal "it ends with success" 0 $?
	hostile_results
fi

step "nothing is left of it"
check_await 60 "no RDMA object: ${RESOURCES[before]}" resources_back before
sync
check "no memory" at_most $((slab + 16384)) "$(slab_kib)"
if [ "$HOSTILE_IOPS" = all ]; then
	check "I/O goes on as before" as_fast "$before"
else
	io_moves
	check_await 30 "I/O goes on" io_moves
fi
check "all that was written was read" io_stop
equal "the host that keeps them was never disturbed" 0 "$(times_lost "$CTRL")"
all_down
finish
