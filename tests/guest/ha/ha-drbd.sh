#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   two targets replicate a disk by DRBD and export it as one; the primary is killed under I/O, the other one is promoted, the first one returns, resyncs and becomes active again: no acknowledged write is lost
# guests:  a b host
# disks:   a=32M b=32M
# check:   none
# mem:     1024
# timeout: 1200
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/ha.sh"

export NQN=nqn.2026-01.test:ha
export DM_DISABLE_UDEV=1	# nobody runs udev here
DATA=$((24 << 20))

# ---- a and b ----

# The switch that the recipe's handler asks: the host reports whose power it has cut
switch_off() {
	cat > /usr/local/sbin/switch-off <<- EOF
	#!/bin/sh
	[ -e $SYNC/at-off-\$1 ]
	EOF
	chmod +x /usr/local/sbin/switch-off
}
is() { [ "$(drbdadm "$1" r0)" = "$2" ]; }
# A resync beside I/O takes a minute here, with the connection before it
await_is() { await 150 is "$@" || { drbdadm "$1" r0; return 1; }; }
# sum: of the disk below DRBD, without its metadata
sum() { sum_of "$SSD" $DATA; }

target() {
	local boots
	boots=$(ha_boots)
	[ "$boots" = 1 ] || ha_off "$boots"
	hostname "$VM_NAME"
	mkdir -p /run/lock /var/lib/drbd
	must "the switch" switch_off
	must "the handler" recipe drbd-fence-peer
	wire_up
	must "an NVMe SSD" ssd 0
	equal "as in the recipe" /dev/nvme0n1 "$SSD"
	must "the hook" recipe hook
	must "load" modprobe nvmet-rdma
	check_module nvmet-rdma
	signal_peers "ready-$VM_NAME-$boots"
	ha_serve
	check "no export" target_teardown
	[ ! -e /dev/drbd0 ] || check "DRBD is down" drbdadm down r0
	all_down
	finish
}

# The obvious configuration, for comparison: DRBD's device itself is the namespace, and can be
# enabled only on the primary
plain_export() {
	local ns=$NVMET/subsystems/$NQN/namespaces/1
	echo 0 > $ns/enable && { [ ! -e /dev/mapper/nvmerdma-r0 ] || dmsetup remove nvmerdma-r0; } &&
		echo /dev/drbd0 > $ns/device_path &&
		echo optimized > $NVMET/ports/1/ana_groups/2/ana_state
}
plain_on() { drbdadm primary r0 && echo 1 > $NVMET/subsystems/$NQN/namespaces/1/enable; }
plain_off() { echo 0 > $NVMET/subsystems/$NQN/namespaces/1/enable && drbdadm secondary r0; }

# ---- the host ----

failover() {
	local from
	step "a's cord is pulled under I/O"
	ha_io
	must "a's cord is pulled" ask_below "reset a"
	signal_peers off-a
	begin from
	must "b is promoted, as soon as DRBD has noticed" on b recipe drbd-takeover
	from=$(ms_since "$from")
	check_await 60 "b serves" paths_optimized 10.77.0.2
	ha_io_end drbd-failover "promote_ms=$from"
}

# paths_optimized ADDRESS: the path to ADDRESS is optimized, and no other live path is
paths_optimized() {
	local p found=
	for p in /sys/block/nvme*c*n1; do
		[ "$(cat "$p/device/state")" = live ] || continue
		case $(cat "$p/ana_state"),$(cat "$p/device/address") in
		optimized,*"traddr=$1,"*) found=1 ;;
		optimized,* | *"traddr=$1,"*) return 1 ;;
		esac
	done
	[ -n "$found" ]
}

host() {
	host_load
	wire_up
	check_await 10 "native multipath" grep -q Y /sys/module/nvme_core/parameters/multipath
	wait_for ready-a-1 120
	wait_for ready-b-1 120
	step "the recipe"
	must "a: DRBD" on a recipe drbd-resource drbd-create
	must "b: DRBD" on b recipe drbd-resource drbd-create
	must "a: new disks are alike" on a recipe drbd-first
	check "b has it" on b await_is dstate UpToDate/UpToDate
	must "a: exported" on a recipe drbd-a drbd-export
	must "b: exported" on b recipe drbd-b drbd-export
	must "the host connects" recipe drbd-host
	check_module nvme-rdma
	must "a is promoted" on a recipe drbd-promote
	get_disk $NQN 1
	check_await 10 "a serves" paths_optimized 10.77.0.1
	equal "both are paths to one disk" 2 "$(compgen -G '/sys/block/nvme*c*n1' | wc -l)"
	check "its status" on a nvmerdma-ha status r0
	check "and b's" on b 'nvmerdma-ha status r0; [ $? = 3 ]'

	refusals
	failover
	comeback
	failback

	same_data
	plain

	step "the end"
	check "disconnect" disconnect_all
	check_await 20 "no controller" no_controllers
	ha_no_more a
	ha_no_more b
	all_down
	finish
}

same_data() {
	local a
	check "a's disk" on a sum
	a=$(< $HA_SAID)
	check "b's disk" on b sum
	equal "both are the same" "$a" "$(< $HA_SAID)"
}

refusals() {
	# others: guest/ha-hook
	step "when b may not be promoted"
	check "a is primary" on_refuses b "the peer is primary" nvmerdma-ha promote r0
	check "b's wire is pulled" ask_below "link b off"
	check "DRBD notices" on b await_is role Secondary/Unknown
	check "a may be alive, nobody has fenced it" on_refuses b "fence-peer" nvmerdma-ha promote r0
	check "b's wire is plugged" ask_below "link b on"
	check "both are there again" on b await_is dstate UpToDate/UpToDate
	check "a goes on" on a await_is role Primary/Secondary
	check_await 60 "both paths are there" both_live
}

comeback() {
	local kb
	step "a comes back"
	ha_booted a
	ha_on a
	rm "$SYNC/at-off-a"
	ha_io
	# unlike a real machine, a guest loses its files with its power
	must "a: DRBD and the export" on a recipe drbd-resource drbd-return drbd-a drbd-export
	must "a's data is resynced" on a await_is dstate UpToDate/UpToDate
	check "it was" on a "dmesg | sed -n 's/.*Began resync as SyncTarget (will sync \([0-9]*\) KB.*/\1/p'"
	kb=$(tail -n 1 $HA_SAID)
	check "what was written meanwhile, not all: $kb KiB of $((DATA >> 10))" \
		eval "at_least 4 $kb && at_most $((DATA >> 11)) $kb"
	check_await 60 "both paths are there" both_live
	check "b serves" paths_optimized 10.77.0.2
	ha_io_end drbd-comeback "resync_kb=$kb"
}
both_live() {
	local c n=0
	for c in $(controllers $NQN); do state_is "$c" live && n=$((n + 1)); done
	[ $n = 2 ]
}

failback() {
	local from
	step "a serves again"
	ha_io
	begin from
	must "b stands by" on b recipe drbd-demote
	must "a is promoted" on a recipe drbd-promote
	from=$(ms_since "$from")
	check_await 20 "a serves" paths_optimized 10.77.0.1
	ha_io_end drbd-failback "commands_ms=$from"
}

# plain_result NAME: only told
plain_result() {
	local outcome
	nap 5
	acked_moves || :
	nap 2
	acked_moves && outcome=goes-on || outcome=stands
	acked_end > /dev/null
	echo "result $1 outcome=$outcome stall_ms=$(acked_value longest_stall_ms)" \
		"io_errors=$(acked_value io_errors) first_error=$(acked_value first_error)" \
		"paths=$(compgen -G '/sys/block/nvme*c*n1' | wc -l)"
}

plain() {
	step "for comparison: the namespace on DRBD itself"
	check "disconnect" disconnect_all
	check "a stands by" on a nvmerdma-ha demote r0
	check "a: on DRBD itself" on a plain_export
	check "b: on DRBD itself" on b plain_export
	check "b cannot be enabled" not on b "echo 1 > $NVMET/subsystems/$NQN/namespaces/1/enable"
	check "a can" on a plain_on
	must "the host connects" recipe drbd-host
	get_disk $NQN 1
	equal "by one path" 1 "$(compgen -G '/sys/block/nvme*c*n1' | wc -l)"
	ha_io
	check "from a" on a plain_off
	check "to b" on b plain_on
	plain_result drbd-plain-move
}

case $VM_NAME in
host) host ;;
*) target ;;
esac
