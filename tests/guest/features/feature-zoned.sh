#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   features: zoned namespaces: report, sequential writes, Zone Append, reset, open, close, finish; zonefs on top
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:zoned
host_load
wire_up

# zoned_disk NAME: /dev/NAME with 16 zones of 4 MiB that must be written in order
zoned_disk() {
	local d=/sys/kernel/config/nullb/$1
	[ -d /sys/kernel/config/nullb ] || modprobe null_blk nr_devices=0 ||
		return 1
	mkdir "$d" && _put "$d/size" 64 && _put "$d/memory_backed" 1 &&
		_put "$d/blocksize" 4096 && _put "$d/zoned" 1 &&
		_put "$d/zone_size" 4 && _put "$d/power" 1 && [ -b "/dev/$1" ]
}

must "a zoned disk" zoned_disk nullb0
simple_target $N /dev/nullb0
must "connect" connect $N "$MY_IP4" 4420 -i 2
get_disk $N 1
Q=/sys/block/${DISK##*/}/queue
ZONE=1024	# blocks of 4 KiB

# zone NUMBER: start, write pointer and condition as blkzone has them
zone() {
	blkzone report -o $(($1 * ZONE * 8)) -c 1 "$DISK" |
		sed 's/.*wptr 0x0*\([0-9a-f]*\) .*zcond: *[0-9]*(\([a-z]*\)).*/\1 \2/' |
		sed 's/^ /0 /'
}
empty() { [ "$(zone "$1" | cut -d' ' -f2)" = em ]; }

step "what the host knows"
equal "zoned" host-managed "$(cat "$Q/zoned")"
equal "zones" 16 "$(cat "$Q/nr_zones")"
equal "their size in sectors" 8192 "$(cat "$Q/chunk_sectors")"
check "Zone Append has a limit" at_least 4096 "$(cat "$Q/zone_append_max_bytes")"
check "Identify Controller, ZNS" nvme zns id-ctrl "/dev/$CTRL"
check "zone append size limit" at_least 1 "$(id_field zasl)"
check "Identify Namespace, ZNS" nvme zns id-ns "$DISK"
equal "zone size" 1 "$(grep -c 'zsze: *0x400\b' "$CHECK_OUT")"
check "report by ioctl" nvme zns report-zones "$DISK" -n 1
equal "16 zones" 1 "$(grep -c 'nr_zones: 16$' "$CHECK_OUT")"

step "writes in order, and what is not is refused"
check "fio in the order of zones, verified" fio --name=zbd --filename="$DISK" \
	--direct=1 --zonemode=zbd --rw=write --bs=64k --size=8M --iodepth=1 \
	--ioengine=psync --verify=crc32c --verify_fatal=1 --do_verify=1 \
	--verify_state_save=0
equal "zone 0 is full" fu "$(zone 0 | cut -d' ' -f2)"
# Before 6.10 nothing keeps writes of a zone in order that are under way at once.
case $VM_KVER in 6.1.*) depth=1 ;; *) depth=8 ;; esac
check "fio at random within zones, $depth at once" fio --name=zbd --filename="$DISK" \
	--direct=1 --zonemode=zbd --rw=randwrite --bs=16k --size=24M \
	--offset=8M --number_ios=200 --iodepth=$depth --ioengine=io_uring \
	--max_open_zones=4 --verify=crc32c --verify_fatal=1 --do_verify=1 \
	--verify_state_save=0
check "reset all" blkzone reset "$DISK"
check "zone 0 is empty" empty 0
head -c 8192 /dev/urandom > /run/in
check "a write at the write pointer" dd if=/run/in of="$DISK" bs=8192 count=1 \
	oflag=direct status=none
equal "the pointer has moved" "10 oi" "$(zone 0)"
refuse 10 "a write elsewhere gets an error" dd if=/run/in of="$DISK" bs=4096 \
	count=1 seek=7 oflag=direct status=none
equal "the pointer has not moved" "10 oi" "$(zone 0)"
check "what was written is there" cmp -n 8192 /run/in "$DISK"

step "Zone Append"
check "two blocks to zone 1" nvme zns zone-append "$DISK" -s $ZONE \
	-z 8192 -d /run/in
equal "they went to its start" 400 "$(sed -n 's/.* LBA //p' "$CHECK_OUT")"
check "two more" nvme zns zone-append "$DISK" -s $ZONE -z 8192 -d /run/in
equal "they went behind those" 402 "$(sed -n 's/.* LBA //p' "$CHECK_OUT")"
equal "the pointer is there" "20 oi" "$(zone 1)"
check "the data is there" cmp <(cat /run/in /run/in) \
	<(dd if="$DISK" bs=4096 skip=$ZONE count=4 iflag=direct status=none)

step "zone management"
check "open zone 2" nvme zns open-zone "$DISK" -s $((2 * ZONE))
equal "it is open" oe "$(zone 2 | cut -d' ' -f2)"
check "close zone 1" nvme zns close-zone "$DISK" -s $ZONE
equal "it is closed" cl "$(zone 1 | cut -d' ' -f2)"
check "finish zone 1" nvme zns finish-zone "$DISK" -s $ZONE
equal "it is full" fu "$(zone 1 | cut -d' ' -f2)"
check "reset zone 1" nvme zns reset-zone "$DISK" -s $ZONE
check "it is empty" empty 1
check "a reset of the controller" nvme reset "/dev/$CTRL"
check_await 20 "live again" state_is "$CTRL" live
equal "zone 0 is as it was" "10 oi" "$(zone 0)"
check "reset all" nvme zns reset-zone "$DISK" -s 0 --select-all
check "zone 0 is empty" empty 0
# and so that the block layer, where it plugs writes of a zone, knows of it
check "reset all by the block layer" blkzone reset "$DISK"

step "zonefs"
# Its superblock is all that mkzonefs would write: magic, CRC, version 1 features
superblock() {
	python3 - <<'EOF'
import struct, sys, zlib
sb = struct.pack("<I4s64s16sQIII", 0x5a4f4653, b"\0" * 4, b"test", b"u" * 16,
                 0, 0, 0, 0o640).ljust(4096, b"\0")
crc = zlib.crc32(sb) ^ 0xffffffff
sys.stdout.buffer.write(sb[:4] + struct.pack("<I", crc) + sb[8:])
EOF
}
superblock > /run/sb
check "its superblock" dd if=/run/sb of="$DISK" bs=4096 count=1 oflag=direct \
	status=none
check "mount" mount -t zonefs "$DISK" /mnt
equal "a file for each zone but the first" 15 "$(ls /mnt/seq | wc -l)"
# Asynchronous: 6.1's zonefs makes Zone Appends of writes that are waited for,
# and misreads their result on any disk, null_blk itself included.
check "write 1 MiB, verified" fio --name=zonefs --filename=/mnt/seq/3 \
	--rw=write --create_on_open=1 \
	--bs=64k --size=1M --direct=1 --ioengine=libaio --iodepth=1 \
	--verify=crc32c --verify_fatal=1 --do_verify=1 --verify_state_save=0
equal "the file's size" 1048576 "$(stat -c %s /mnt/seq/3)"
was=$(sha256sum < /mnt/seq/3)
check "umount" umount /mnt
check "mount" mount -t zonefs "$DISK" /mnt
equal "the same data" "$was" "$(sha256sum < /mnt/seq/3)"
check "truncate" truncate -s 0 /mnt/seq/3
check "its zone is empty" empty 4
check "umount" umount /mnt
all_down
finish
