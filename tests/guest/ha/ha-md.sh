#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   md RAID1 on the host over two targets: one dies under I/O, returns and is resynced by the bitmap, then the other one's wire is pulled: no acknowledged write is lost
# guests:  a b host
# disks:   a=64M b=64M
# check:   none
# mem:     1024
# timeout: 900
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/ha.sh"

export MDADM_NO_UDEV=1	# nobody runs udev here

target() {
	local boots
	boots=$(ha_boots)
	[ "$boots" = 1 ] || ha_off "$boots"
	wire_up
	must "an NVMe SSD" ssd 0
	equal "as in the recipe" /dev/nvme0n1 "$SSD"
	must "exported" recipe "md-$VM_NAME" md-export
	check_module nvmet-rdma
	signal_peers "ready-$VM_NAME-$boots"
	ha_serve
	all_down
	finish
}

# leg GUEST: the disk of that target
leg() { disk_of "nqn.2026-01.test:leg-$1" 1; }
leg_is() { grep -w "$2" "/sys/block/md0/md/dev-$(basename "$(leg "$1")")/state"; }
degraded() { [ "$(cat /sys/block/md0/md/degraded)" = "$1" ]; }
whole() { degraded 0 && [ "$(cat /sys/block/md0/md/sync_action)" = idle ]; }
# written GUEST: KiB that have been written to its disk, by its path
written() {
	local name stat
	name=$(basename "$(leg "$1")")
	for stat in /sys/block/"${name%n*}"c*n1/stat; do
		awk '{ print int($7 / 2) }' "$stat"
	done
}
# dirty GUEST: KiB of chunks that the bitmap of this leg marks
dirty() {
	mdadm --examine-bitmap "$(leg "$1")" | awk '
		/Chunksize/ { kb = $3 }
		/Bitmap/ { sub(/.*chunks\), /, ""); print $1 * kb }'
}

dies() { # GUEST WORDS LINE: under I/O
	local from
	step "$1's $2 is pulled under I/O"
	must "pull" ask_below "$3"
	begin from
	check_await 60 "md fails its leg" degraded 1
	FAILED_MS=$(ms_since "$from")
	check "the leg is faulty" leg_is "$1" faulty
	acked_moves || :
	check_await 20 "I/O goes on" acked_moves
	nap 3
}

comes_back() { # GUEST
	step "$1 comes back"
	case $1 in
	a) ha_booted a && ha_on a ;;
	b) check "its wire is plugged" ask_below "link b on" ;;
	esac
	check_await 60 "its controller is back" leg_live "$1"
	check "read again" dd if="$(leg "$1")" of=/dev/null bs=4096 count=1 iflag=direct status=none
}
leg_live() {
	local c
	for c in $(controllers "nqn.2026-01.test:leg-$1"); do state_is "$c" live && return; done
	return 1
}

host() {
	local before kb
	host_load
	wire_up
	wait_for ready-a-1 120
	wait_for ready-b-1 120
	step "the recipe"
	must "the host connects" recipe md-host
	check_module nvme-rdma
	get_disk nqn.2026-01.test:leg-a 1
	get_disk nqn.2026-01.test:leg-b 1
	must "RAID1" recipe md-create
	check_await 60 "in sync" whole
	DISK=/dev/md0
	SIZE=$(($(cat /sys/block/md0/size) / 2))

	ha_io
	dies a cord "reset a"
	ha_io_end md-leg-dies "failed_ms=$FAILED_MS"

	comes_back a
	LEG=$(leg a)
	export LEG
	kb=$(dirty b)
	before=$(written a)
	check "it is added again" recipe md-readd
	check_await 120 "the array is whole" whole
	kb="kb=$(($(written a) - before)) dirty_kb=$kb array_kb=$SIZE"
	echo "result md-resync $kb"
	check "by the bitmap: $kb" at_most $((SIZE / 3)) $(($(written a) - before))
	check "and not by nothing" at_least 64 $(($(written a) - before))

	# reads can now only come from the leg that was resynced
	ha_io
	dies b wire "link b off"
	ha_io_end md-other-dies "failed_ms=$FAILED_MS"

	comes_back b
	ha_io
	LEG=$(leg b)
	check "it is added again, under I/O" recipe md-readd
	check_await 120 "the array is whole" whole
	ha_io_end md-resync-under-io
	check "both legs are compared" recipe md-check
	equal "they are the same" 0 "$(cat /sys/block/md0/md/mismatch_cnt)"

	step "the end"
	check "no array" mdadm --stop /dev/md0
	check "disconnect" disconnect_all
	ha_no_more a
	ha_no_more b
	all_down
	finish
}

case $VM_NAME in
host) host ;;
*) target ;;
esac
