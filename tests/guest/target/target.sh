#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   ports of both families and all in-capsule sizes, every kind of backing, several hosts and subsystems
# disks:   128M
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"

A=nqn.2026-01.test:all-backings
B=nqn.2026-01.test:for-one-host
host_load
wire_up
must "an NVMe SSD" ssd 0
must "a disk" memory_disk nullb0 32
must "a disk for files" memory_disk nullb1 160
must "a file system" file_disks /dev/nullb1
must "files" truncate -s 32M /mnt/files/buffered /mnt/files/direct
must "a small disk" memory_disk nullb2 16

step "one subsystem over a block device, two files and an SSD; three ports"
must "subsystem A for all" subsys $A
must "1: a block device" namespace $A 1 /dev/nullb0
must "2: a file through the page cache" namespace $A 2 /mnt/files/buffered buffered
must "3: a file, direct" namespace $A 3 /mnt/files/direct
must "4: an NVMe SSD" namespace $A 4 "$SSD"
ONE=$HOSTNQN
TWO=nqn.2014-08.org.nvmexpress:uuid:$(< /proc/sys/kernel/random/uuid)
must "subsystem B for one host only" subsys $B "$ONE"
must "its namespace" namespace $B 1 /dev/nullb2

# The in-tree target uses the in-capsule size of the device's first port for all ports, so that
# the largest has to come first there.
inlines="0 4096 16384"
is_ours nvmet-rdma || inlines="16384 4096 0"
n=0
for inline in $inlines; do
	n=$((n + 1))
	must "port $n with $inline bytes inline" \
		port $n "$MY_IP4" $((4419 + n)) "$inline"
	must "A on it" expose $n $A
done
must "port 4, IPv6" port 4 "$MY_IP6" 4420
must "A on it" expose 4 $A
must "B on it" expose 4 $B
equal "four listeners" 4 "$(listeners)"

step "discovery by either family"
check "discovery over IPv4" discover "$MY_IP4"
equal "port 1 has A alone" "1 0" \
	"$(grep -c "subnqn: *$A" "$CHECK_OUT") $(grep -c "subnqn: *$B" "$CHECK_OUT")"
check "discovery over IPv6" discover "$MY_IP6"
equal "port 4 has A and B" "1 1" \
	"$(grep -c "subnqn: *$A" "$CHECK_OUT") $(grep -c "subnqn: *$B" "$CHECK_OUT")"

step "in-capsule sizes"
n=0
for inline in $inlines; do
	n=$((n + 1))
	must "connect to port $n" connect $A "$MY_IP4" $((4419 + n)) -i 1
	get_disk $A 1
	equal "port $n: capsules of 64 + $inline bytes" $(((64 + inline) / 16)) \
		"$(nvme id-ctrl "/dev/$CTRL" | sed -n 's/^ioccsz *: *//p')"
	for size in 512 4096 8192 16384 20480; do
		check "port $n: $size bytes" round_trip "$DISK" $size
	done
	check "disconnect" disconnect $A
done

step "every backing, over IPv6"
must "connect to port 4" connect $A "$MY_IP6" 4420 -i 2
for nsid in 1 2 3 4; do
	get_disk $A $nsid
	check "namespace $nsid: 1 MiB" round_trip "$DISK" 1048576
	check "namespace $nsid: fio" fio_verify "$DISK" 2M
	check "namespace $nsid: flush" nvme flush "$DISK" -n $nsid
	check "namespace $nsid: discard" blkdiscard -l 65536 "$DISK"
	check "namespace $nsid: write zeroes" blkdiscard -z -l 65536 "$DISK"
done

step "several hosts, subsystems and ports at once"
# First, because nvme-cli itself refuses what looks like a second connection.
mark
refuse 30 "host two has no access to B" nvme connect -t rdma -n $B \
	-a "$MY_IP6" -s 4420 -q "$TWO" -I "${TWO##*:}"
! is_ours nvme-rdma || equal "it says why" 1 \
	"$(grep -c "Permission denied" "$CHECK_OUT")"
said 5 "the target's words" "nvmet: .*$TWO.*not allowed"
must "host one, B on port 4" connect $B "$MY_IP6" 4420 -i 1
must "host two, A on port 1" connect $A "$MY_IP4" 4420 -i 1 \
	-q "$TWO" -I "${TWO##*:}"
must "host two, A on port 2" connect $A "$MY_IP4" 4421 -i 1 \
	-q "$TWO" -I "${TWO##*:}"
equal "four controllers" 4 "$(controllers | wc -l)"
get_disk $B 1
fio_verify "$DISK" 2M --output=/run/fio.b > /run/fio.b.out 2>&1 &
other=$!
get_disk $A 1
check "fio on A by three paths" fio_verify "$DISK" 2M
check "fio on B at the same time" wait $other
disconnect_all > /dev/null 2>&1
check "the target is taken down" target_teardown
check "nothing holds the file system" umount /mnt/files
all_down
finish
