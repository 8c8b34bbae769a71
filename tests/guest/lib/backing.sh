# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What namespaces are exported from.

# memory_disk NAME MIB: /dev/NAME, a disk in memory that keeps its data: null_blk, whose driver
# sleeps then, or with I/O threads one that they go on with (tests/fixtures/memdisk)
memory_disk() {
	if [ "${IO_THREADS-}" ]; then memdisk "$@"; else null_disk "$@"; fi
}

memdisk() {
	modprobe memdisk && echo "$1 $2" > /sys/module/memdisk/parameters/add && [ -b "/dev/$1" ]
}

null_disk() {
	local d=/sys/kernel/config/nullb/$1
	[ -d /sys/kernel/config/nullb ] || modprobe null_blk nr_devices=0 ||
		return 1
	mkdir "$d" && echo "$2" > "$d/size" && echo 1 > "$d/memory_backed" &&
		echo 1 > "$d/discard" && echo 4096 > "$d/max_sectors" &&
		echo 1 > "$d/power" && [ -b "/dev/$1" ]
}

# full_disk NAME MIB: the same, with all the memory that it can take
full_disk() {
	memory_disk "$1" "$2" &&
		dd if=/dev/zero of="/dev/$1" bs=1M count="$2" oflag=direct status=none
}

# fast_disk NAME MIB: /dev/NAME, a disk that forgets its data, for speed
fast_disk() {
	local d=/sys/kernel/config/nullb/$1
	[ -d /sys/kernel/config/nullb ] || modprobe null_blk nr_devices=0 ||
		return 1
	mkdir "$d" && echo "$2" > "$d/size" && echo 0 > "$d/irqmode" &&
		echo 1 > "$d/power" && [ -b "/dev/$1" ]
}

_ssd() {
	local c
	for c in /sys/class/nvme/nvme*; do
		[ "$(tr -d ' ' < "$c/serial")" = "vm-ssd-$1" ] 2> /dev/null ||
			continue
		# one that was pulled while in use keeps its number: this one is n2
		c=$(echo "$c"/nvme*n[0-9]*)
		c=${c##*/}
		# with multipath the visible disk has no controller in its name
		SSD=/dev/$(echo "$c" | sed 's/c[0-9]*n/n/')
		[ -b "$SSD" ] && return 0
	done
	return 1
}

# timer_disk NAME MIB NS [ATTRIBUTE=VALUE...]: a null_blk that keeps each command for NS, and no
# data; its driver does not sleep. It would end them at once for who polls it, which it allows by
# default.
timer_disk() {
	local d=/sys/kernel/config/nullb/$1 attribute
	modprobe null_blk nr_devices=0 && mkdir "$d" && echo "$2" > "$d/size" &&
		echo 2 > "$d/irqmode" && echo "$3" > "$d/completion_nsec" &&
		echo 0 > "$d/poll_queues" || return
	for attribute in "${@:4}"; do
		echo "${attribute#*=}" > "$d/${attribute%%=*}" || return
	done
	echo 1 > "$d/power" && [ -b "/dev/$1" ]
}

# ssd NUMBER: waits for the guest's NVMe SSD of that number; sets SSD
ssd() {
	modprobe nvme || return 1
	await 20 _ssd "$1"
}

# file_disks DEVICE: an ext4 on DEVICE, mounted on /mnt/files, to hold files
file_disks() {
	mkfs.ext4 -q -E lazy_itable_init=1,nodiscard "$1" && mkdir -p /mnt/files &&
		mount "$1" /mnt/files
}
