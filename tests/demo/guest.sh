#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The demo's part in the guests; see tests/demo/run.
. "$(dirname "$0")/../guest/lib.sh"

N=nqn.2026-01.demo:disks
SUMMARY=/vm/$VM_NAME/summary
note() { echo "$1=$2" >> "$SUMMARY"; }

module_words() {
	echo "$1, version $(cat "/sys/module/${1//-/_}/version")," \
		"srcversion $(cat "/sys/module/${1//-/_}/srcversion")," \
		"$(is_ours "$1" && echo ours || echo "NOT OURS")"
}

target() {
	step "soft-RoCE on the wire"
	wire_up
	step "export two NVMe SSDs through configfs"
	must "the first SSD" ssd 0
	first=$SSD
	must "the second SSD" ssd 1
	must "a subsystem" subsys $N
	must "namespace 1 on $first" namespace $N 1 "$first"
	must "namespace 2 on $SSD" namespace $N 2 "$SSD"
	must "an RDMA port at $MY_IP4" port 1 "$MY_IP4"
	must "the subsystem on the port" expose 1 $N
	check_module nvmet-rdma
	check "it is ours" is_ours nvmet-rdma
	note target_module "$(module_words nvmet-rdma)"
	signal_peers ready "$MY_IP4"
	wait_for end 320
	step "take the target down"
	all_down
	note after "nothing left on either side: no controller, no RDMA object, modules unloaded"
	finish
}

BYTES=0		# verified so far

# fio_number FIELD...: of fio's JSON output; the parts of a field are parted by
# slashes
fio_number() {
	python3 -c '
import json, sys
text = open("/run/fio.out").read()
job = json.loads(text[text.index("{"):])["jobs"][0]
for path in sys.argv[1:]:
    v = job
    for p in path.split("/"):
        v = v[p]
    print(int(v))' "$@"
}

# measure DEVICE OPTIONS...: reads for some seconds; the figures are in V
measure() {
	local dev=$1
	shift
	fio --name=m --filename="$dev" --direct=1 --ioengine=libaio --readonly \
		--time_based --runtime=5 --ramp_time=1 --norandommap \
		--output-format=json --output=/run/fio.out "$@" || return 1
	mapfile -t V < <(fio_number read/iops read/clat_ns/mean \
		read/clat_ns/percentile/99.000000 read/bw_bytes)
	[ ${#V[@]} -eq 4 ] && [ "${V[0]}" -gt 0 ] && [ "${V[1]}" -ge 1000 ]
}

# tree_list: a real tree of up to 300 files, from what is installed; it has to
# have some size, or copying it shows little
tree_list() {
	find /usr/share/doc /usr/share/perl /usr/lib/python3 -xdev -type f \
		-size +4k -size -512k 2> /dev/null | sort | head -n 300
}

copy_tree() { tar -c -P -T /run/tree | tar -x -C "$1" --strip-components=1; }

tree_same() { (cd "$1" && sha256sum --quiet -c /run/sums); }

mount_both() {
	mkdir -p /mnt/ext4 /mnt/xfs
	mount "$ONE" /mnt/ext4 && mount "$TWO" /mnt/xfs
}

get_disks() {
	get_disk $N 1
	ONE=$DISK
	get_disk $N 2
	TWO=$DISK
}

connected() {
	local from=${EPOCHREALTIME/./}
	connect $N "$ADDRESS" 4420 -c 1 -k 5 || return 1
	MS=$(((${EPOCHREALTIME/./} - from) / 1000))
}

host_connect() {
	step "discover"
	check "discovery at $ADDRESS" discover "$ADDRESS"
	grep -E '^(trtype|adrfam|subnqn|trsvcid|traddr):' "$CHECK_OUT" |
		sed 's/^/    /'
	step "connect"
	must "nvme connect -t rdma -a $ADDRESS -n $N" connected
	check_module nvme-rdma
	check "it is ours" is_ours nvme-rdma
	get_disks
	nvme list | sed 's/^/    /'
	note host_module "$(module_words nvme-rdma)"
	note connect "$MS ms for nvme connect, $(nproc) I/O queues"
	note disks "$ONE and $TWO, NVMe SSDs of the target guest ($(blockdev --getsize64 "$ONE" | numfmt --to=iec) and $(blockdev --getsize64 "$TWO" | numfmt --to=iec))"
	if [ "$VM_ACCEL" = kvm ]; then
		note accel "under KVM"
	else
		note accel "under software emulation, slow by its nature"
	fi
}

host_files() {
	step "file systems"
	check "ext4 on $ONE" mkfs.ext4 -q -F "$ONE"
	check "xfs on $TWO" mkfs.xfs -q -f "$TWO"
	must "mount both" mount_both
	step "a real tree of files"
	tree_list > /run/tree
	must "at least 100 files to copy" [ "$(wc -l < /run/tree)" -ge 100 ]
	sed 's|^/usr/||' /run/tree > /run/tree.rel
	must "checksums of the originals" bash -c \
		'cd /usr && xargs -d "\n" sha256sum < /run/tree.rel > /run/sums'
	files=$(wc -l < /run/sums)
	size=$(cd /usr && xargs -d '\n' stat -c %s < /run/tree.rel |
		awk '{ n += $1 } END { print n }')
	check "$files files, $size bytes, copied to ext4" copy_tree /mnt/ext4
	check "and to xfs" copy_tree /mnt/xfs
	check "unmount" umount /mnt/ext4 /mnt/xfs
	must "mount again: nothing is in the cache" mount_both
	check "every file on ext4 has its checksum" tree_same /mnt/ext4
	check "every file on xfs has its checksum" tree_same /mnt/xfs
	BYTES=$((BYTES + 2 * size))
}

host_fio() {
	step "fio with verification, 4 KiB to 1 MiB, mixed reads and writes"
	check "fio verify on ext4" fio_verify /mnt/ext4/fio 24M --rw=randrw \
		--bsrange=4k-1m --fallocate=none \
		--output-format=json
	mapfile -t V < <(fio_number write/io_bytes)
	note fio "${V[0]} bytes written and verified, 4 KiB to 1 MiB, randrw"
	BYTES=$((BYTES + V[0]))
	rm /mnt/ext4/fio
	step "speed"
	check "4 KiB random reads, one at a time" measure "$TWO" --rw=randread \
		--bs=4k --iodepth=1
	note qd1 "$(speed_words) (QD1)"
	check "4 KiB random reads, 32 at a time" measure "$TWO" --rw=randread \
		--bs=4k --iodepth=32
	note qd32 "$(speed_words) (QD32)"
	check "128 KiB reads, 8 at a time" measure "$TWO" --rw=read --bs=128k \
		--iodepth=8
	note big "$(speed_words) (QD8)"
}

# rate BYTES: a second, in a unit in which it is no zero
rate() {
	if [ "$1" -ge 10000000 ]; then
		echo "$(($1 / 1000000)) MB/s"
	else
		echo "$(($1 / 1000)) kB/s"
	fi
}

# What fio did not measure is not said: under emulation it may have too few
# reads for a percentile.
speed_words() {
	local words

	words="${V[0]} IOPS, $(rate "${V[3]}"); latency mean $((V[1] / 1000)) us"
	[ "${V[2]}" -lt 1000 ] || words+=", 99 % $((V[2] / 1000)) us"
	echo "$words"
}

host_again() {
	step "disconnect, reconnect, find the data"
	check "unmount" umount /mnt/ext4 /mnt/xfs
	check "disconnect" disconnect $N
	check_await 10 "the disks are gone" not has_disk $N 1
	must "connect" connected
	get_disks
	must "mount both" mount_both
	check "every file on ext4 has its checksum" tree_same /mnt/ext4
	check "every file on xfs has its checksum" tree_same /mnt/xfs
	BYTES=$((BYTES + 2 * size))
}

away() { not state_is "$CTRL" live; }

host_wire() {
	step "pull the wire under I/O"
	fio --name=wire --filename=/mnt/xfs/wire --size=12M --direct=1 \
		--ioengine=libaio --iodepth=8 --rw=randwrite --bsrange=4k-64k \
		--verify=crc32c --verify_fatal=1 --verify_backlog=64 \
		--verify_state_save=0 --fallocate=none --loops=3 \
		--output-format=json --output=/run/fio.out > /run/fio.err 2>&1 &
	load=$!
	IO_DEV=$TWO IO_COUNT=
	must_await 20 "I/O runs" io_moves
	at=${EPOCHREALTIME/./}
	must "the wire is pulled" wire_pull
	check_await 60 "the host notices" away
	noticed=${EPOCHREALTIME/./}
	nap 4
	must "the wire is plugged" wire_plug
	plugged=${EPOCHREALTIME/./}
	check_await 60 "the controller is live again" state_is "$CTRL" live
	back=${EPOCHREALTIME/./}
	check "fio comes to its end: every block verified, no error" wait $load
	mapfile -t V < <(fio_number write/io_bytes)
	BYTES=$((BYTES + V[0]))
	note wire "for $(tenths $((plugged - at))) s under I/O; noticed after $(tenths $((noticed - at))) s, live $(tenths $((back - plugged))) s after it was back; nothing lost"
	check "every file on ext4 has its checksum" tree_same /mnt/ext4
	BYTES=$((BYTES + size))
	check "unmount" umount /mnt/ext4 /mnt/xfs
	check "ext4 is sound" e2fsck -fn "$ONE"
	check "xfs is sound" xfs_repair -n "$TWO"
}

tenths() { printf '%d.%d' $(($1 / 1000000)) $(($1 / 100000 % 10)); }

host() {
	host_load
	step "soft-RoCE on the wire"
	wire_up
	wait_for ready 60
	ADDRESS=$VALUE
	host_connect
	host_files
	host_fio
	host_again
	host_wire
	note tree "$files files, $((size / 1000000)) MB, on ext4 and on xfs, checksums compared after remount and after reconnect"
	all_down
	note verified "$((BYTES / 1000000)) MB of data compared or checksummed, 0 errors"
	signal_peers end
	finish
}

"$VM_NAME"
