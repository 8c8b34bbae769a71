#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   features: namespaces appear, grow, shrink, are replaced and vanish under I/O; a file shrinks unnoticed; TRIM and write zeroes reach the target's disk; reservations
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:namespaces
S=$NVMET/subsystems/$N/namespaces
host_load
wire_up
must "a disk" memory_disk nullb0 64
must "another disk" memory_disk nullb1 32
must "a file" truncate -s 16M /run/file
simple_target $N /dev/nullb0
must "connect" connect $N "$MY_IP4"
get_disk $N 1
FIRST=$DISK

size_is() { [ "$(blockdev --getsize64 "$1")" = "$2" ]; }
changed() { # a change that the target tells of is done when the host sees it
	check_await 20 "the host sees it" "$@"
}

step "namespaces appear while another is written"
must "I/O" io_start "$FIRST"
must "namespace 2, a file" namespace $N 2 /run/file buffered
get_disk $N 2
FILE=$DISK
check "its size" size_is "$FILE" 16777216
check "data" round_trip "$FILE" 65536
must "namespace 7, a disk" namespace $N 7 /dev/nullb1
get_disk $N 7
check "data" round_trip "$DISK" 65536
equal "three namespaces" 3 "$(nvme list-ns "/dev/$CTRL" | wc -l)"

step "it grows and shrinks"
was=$(sum_of "$FILE" 65536)
must "the file grows" truncate -s 48M /run/file
must "the target looks" _put $S/2/revalidate_size 1
changed size_is "$FILE" 50331648
equal "the data is there" "$was" "$(sum_of "$FILE" 65536)"
check "data at its new end" dd if=/run/file of="$FILE" bs=64k count=1 \
	seek=767 oflag=direct status=none
must "the file shrinks" truncate -s 8M /run/file
must "the target looks" _put $S/2/revalidate_size 1
changed size_is "$FILE" 8388608
refuse 10 "beyond the end" dd if="$FILE" of=/dev/null bs=64k count=1 skip=767 \
	iflag=direct status=none
check "data" round_trip "$FILE" 65536

step "it goes and comes back as another"
id=$(cat "/sys/block/${FILE##*/}/uuid")
check "namespace 2 goes" namespace_remove $N 2
changed not has_disk $N 2
must "namespace 2 again" namespace $N 2 /run/file buffered
get_disk $N 2
check "with another identity" [ "$(cat "/sys/block/${DISK##*/}/uuid")" != "$id" ]
equal "its size" 8388608 "$(blockdev --getsize64 "$DISK")"
check "off" _put $S/2/enable 0
changed not has_disk $N 2
check "on" _put $S/2/enable 1
changed has_disk $N 2
check "I/O to the first one went on" io_moves
check "every block was verified, no error" io_stop

step "eight at once come and go"
for i in 11 12 13 14 15 16 17 18; do
	truncate -s 1M "/run/file$i" && namespace $N $i "/run/file$i" buffered
done
eight() {
	local i
	for i in 11 12 13 14 15 16 17 18; do
		"$@" $N $i || return 1
	done
}
check_await 20 "eight disks" eight has_disk
for i in 11 12 13 14 15 16 17 18; do
	namespace_remove $N $i
done
check_await 20 "none of them" eight not has_disk

# A buffer of the target serves one command after another. The part of it that a file does not
# fill still has the data of an earlier command, maybe of another host. A read beyond the end of
# a file succeeds with no bytes, and the core uses the size that the file had when it last
# looked.
step "a file that shrank behind the target's back gives nothing of other disks"
must "a disk for files" memory_disk nullb2 64
must "a file system" file_disks /dev/nullb2
must "two files" truncate -s 8M /mnt/files/buffered /mnt/files/direct
must "namespace 3, buffered" namespace $N 3 /mnt/files/buffered buffered
must "namespace 4, direct" namespace $N 4 /mnt/files/direct
yes SECRET | tr -d '\n' | head -c 1048576 > /run/secret

# secret_to DISK: buffers of all sizes that leaks asks for hold the secret then
secret_to() {
	local bs
	for bs in 4k 16k 128k 1M; do
		dd if=/run/secret of="$1" bs=$bs count=1 oflag=direct \
			iflag=fullblock status=none || return 1
	done
}

# leaks DISK: reads of all sizes, from byte 512 KiB on; tells one with the secret
leaks() {
	local k
	for k in 4 16 128 512; do
		timeout 60 dd if="$1" of=/run/got bs=${k}k count=1 \
			skip=$((512 / k)) iflag=direct status=none
		! grep -aq SECRET /run/got || return 0
	done
	return 1
}

for n in 3 4; do
	get_disk $N $n
	check "data of namespace $n" round_trip "$DISK" 1048576
	must "the secret, on another disk" secret_to "$FIRST"
	file=$(< $S/$n/device_path)
	must "its file shrinks to nothing" truncate -s 0 "$file"
	check "nothing of the other disk is read" not leaks "$DISK"
	must "the secret again" secret_to "$FIRST"
	must "its file ends inside of what is read" truncate -s 514k "$file"
	check "nothing of the other disk is read" not leaks "$DISK"
	equal "the host was told nothing" 8388608 "$(blockdev --getsize64 "$DISK")"
	check "namespace $n goes" namespace_remove $N $n
done
check "the files' disk is free" umount /mnt/files

# discarded: sectors that have been discarded on the target's disk
discarded() { awk '{ print $14 }' /sys/block/nullb0/stat; }
zeroes() { cmp -n "$2" "$1" /dev/zero; }

step "TRIM arrives as such"
DISK=$FIRST
check "the host's disk can" at_least 1 \
	"$(cat "/sys/block/${DISK##*/}/queue/discard_max_bytes")"
check "data" round_trip "$DISK" 1048576
was=$(discarded)
check "discard 512 KiB" blkdiscard -l 524288 "$DISK"
equal "1024 sectors of the target's disk" 1024 $(($(discarded) - was))
check "zeroes are read" zeroes "$DISK" 524288
check "not beyond" not zeroes "$DISK" 1048576
was=$(discarded)
check "two ranges in one command" nvme dsm "$DISK" -n 1 --ad --slbs=1024,1536 \
	--blocks=128,64
equal "192 sectors" 192 $(($(discarded) - was))
check "a file system" mkfs.ext4 -q -E nodiscard,lazy_itable_init=1 "$DISK"
check "mounted" mount "$DISK" /mnt
check "a file on it" dd if=/dev/urandom of=/mnt/file bs=1M count=4 conv=fsync \
	status=none
was=$(discarded)
check "remove it" rm /mnt/file
check "trim" fstrim -v /mnt
check "more than its 8192 sectors" at_least 8192 $(($(discarded) - was))
check "umount" umount /mnt

step "write zeroes carries no data"
check "data" round_trip "$DISK" 1048576
must "count commands" counting $COMMANDS opcode
check "the block layer's, 256 KiB" blkdiscard -z -l 262144 "$DISK"
check "zeroes are read" zeroes "$DISK" 262144
check "not beyond" not zeroes "$DISK" 1048576
check "as Write Zeroes" at_least 1 "$(counted $COMMANDS "opcode: *8 ")"
equal "not as Write" 0 "$(counted $COMMANDS "opcode: *1 ")"
check "by ioctl" nvme write-zeroes "$DISK" -n 1 -s 1024 -c 7
counted_off $COMMANDS opcode

step "reservations"
if [ ! -e $S/1/resv_enable ]; then
	not_here "the target has no reservations (6.13 and later)"
	all_down
	finish
fi
# A subsystem with one namespace: commands of one host alone go by its controller
R=nqn.2026-01.test:reservations
n=$NVMET/subsystems/$R/namespaces/1
check "namespace 7 goes" namespace_remove $N 7
must "a subsystem" subsys $R
must "its namespace" mkdir $n
must "on disk two" _put $n/device_path /dev/nullb1
must "with reservations" _put $n/resv_enable 1
must "enabled" _put $n/enable 1
must "on the port" expose 1 $R
RESERVED="traddr=$MY_IP4,trsvcid=4420,nqn=$R,nr_io_queues=1"
must "host one" fabrics_as nqn.2026-01.test:host-one "$RESERVED"
ONE=/dev/$CTRL
get_disk $R 1
check "one registers" nvme resv-register "$ONE" -n 1 --nrkey=0x11 --rrega=0
check "and acquires, write exclusive" nvme resv-acquire "$ONE" -n 1 \
	--crkey=0x11 --rtype=1 --racqa=0
check "one may write" round_trip "$DISK" 65536
must "host two" fabrics_as nqn.2026-01.test:host-two "$RESERVED"
TWO=/dev/$CTRL
check "the report" nvme resv-report "$TWO" -n 1 -e
equal "one registrant" 1 "$(grep -Ec '^ *regctl *: *1$' "$CHECK_OUT")"
equal "its kind" 1 "$(grep -Ec '^ *rtype *: *1$' "$CHECK_OUT")"
refuse 10 "two may not write" \
	nvme io-passthru "$TWO" --opcode=8 --namespace-id=1 --cdw12=0
check "reservation conflict" grep -qi "reservation conflict" <<< "$(< "$CHECK_OUT")"
check "one releases" nvme resv-release "$ONE" -n 1 --crkey=0x11 --rtype=1 \
	--rrela=0
check "two may write" nvme io-passthru "$TWO" --opcode=8 --namespace-id=1 --cdw12=0
all_down
finish
