#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    the target's disk fails, hangs for longer than the host waits, is pulled and plugged; file systems of file namespaces fill up: no acknowledged write is lost, no read is stale
# guests:   target host
# disks:    target=32M
# variants: ours none
# check:    none
# timeout:  1200
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/fault.sh"

# The host gives a command so many seconds
IO_TIMEOUT=5
SECTORS=$((32 << 11))

# An SSD, behind a mapping that can be suspended, lead nowhere, and get another SSD
fault_disk() {
	ssd 0 && modprobe dm-mod &&
		dmsetup create --noudevsync broken --table "0 $SECTORS linear $SSD 0" &&
		FAULT_DISK=/dev/dm-0 && await 10 test -b $FAULT_DISK
}
mapped() {
	dmsetup suspend --noudevsync --noflush --nolockfs broken &&
		dmsetup load broken --table "0 $SECTORS $*" &&
		dmsetup resume --noudevsync broken
}
disk_fails() { mapped error; }
disk_works() { ssd 0 && mapped "linear $SSD 0"; }
disk_stands() { dmsetup suspend --noudevsync --noflush --nolockfs broken; }
disk_moves() { dmsetup resume --noudevsync broken; }
disk_pulled() {
	local c
	for c in /sys/class/nvme/nvme*; do
		[ "$(tr -d ' ' < "$c/serial")" = vm-ssd-0 ] || continue
		echo 1 > "$c/device/remove" && gone "$SSD"
		return
	done
	return 1
}
disk_plugged() { echo 1 > /sys/bus/pci/rescan && disk_works; }

# Namespaces 2 and 3: a file larger than its file system, written directly and through the page
# cache. A filler uses up the remaining space.
FILES=/mnt/files
files_export() {
	memory_disk nullb9 48 && file_disks /dev/nullb9 || return 1
	local n
	for n in 2 3; do
		truncate -s 64M $FILES/disk$n || return 1
	done
	namespace $FAULT_NQN 2 $FILES/disk2 && namespace $FAULT_NQN 3 $FILES/disk3 buffered
}
# files_full MIB: that much is left
files_full() {
	local left
	left=$(df --output=avail -B 1M $FILES | tail -n 1)
	fallocate -l $((left - $1))M $FILES/filler
}
files_have_room() { rm $FILES/filler; }
files_unexport() {
	namespace_remove $FAULT_NQN 3 && namespace_remove $FAULT_NQN 2 && umount $FILES
}

# broken NAME WORDS SECONDS FAILS WORKS OUTCOME
broken() {
	fault "$1" "$2 for $3 s" || return
	check "it begins" there "$4"
	nap "$3"
	check "it ends" there "$5"
	fault_end "$6"
}

# full NAME NSID WORDS
full() {
	get_disk $FAULT_NQN "$2"
	check "the file system has 2 MiB left" there "files_full 2"
	if fault "$1" "$3"; then
		check_await 60 "writes fail" acked_fails
		check "there is room" there files_have_room
		fault_end errors
		# nvmet reports EIO for a write of which only a part found space
		check "$1: the application was told" _is_one_of "$(acked_value first_error)" \
			"ENOSPC|EIO"
	fi
}

cases() {
	broken device-errors "its disk fails all I/O" 5 disk_fails disk_works errors
	broken device-pulled "its SSD is pulled" 5 disk_pulled disk_plugged errors
	broken device-slow "its disk stands still, shortly," $((IO_TIMEOUT - 2)) \
		disk_stands disk_moves ok
	fault_stood $((IO_TIMEOUT * 1000 - 2500))
	broken device-stalls "its disk stands still" $((3 * IO_TIMEOUT)) disk_stands disk_moves ok
	fault_stood $((IO_TIMEOUT * 3000 - 500))
	check "files" there files_export
	full no-space 2 "the file of its namespace finds no room"
	full no-space-buffered 3 "the same, by the page cache"
	check "no files" there files_unexport
}

[ "$VM_NAME" = target ] ||
	must "commands may take $IO_TIMEOUT s" commands_may_take $IO_TIMEOUT
fault_run
