#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   every command the target offers: admin and I/O ioctls, flush, discard, write zeroes
# timeout: 400
. "$(dirname "$0")/lib.sh"

N=nqn.2026-01.test:commands
host_load
wire_up
must "a disk" null_disk nullb0 64
simple_target $N /dev/nullb0
must "connect" connect $N "$MY_IP4"
get_disk $N 1
C=/dev/$CTRL

step "admin commands"
check "identify controller" nvme id-ctrl "$C"
equal "it is the subsystem" 1 "$(grep -c "subnqn *: *$N" "$CHECK_OUT")"
check "identify namespace" nvme id-ns "$C" -n 1
equal "its size" "nsze    : 0x20000" "$(grep nsze "$CHECK_OUT")"
check "namespace descriptors" nvme ns-descs "$C" -n 1
check "active namespaces" nvme list-ns "$C"
check "SMART log" nvme smart-log "$C"
check "error log of 8 KiB" nvme get-log "$C" --log-id=1 --log-len=8192 -b
equal "all of it" 8192 "$(stat -c %s "$CHECK_OUT")"
check "firmware log of 512 bytes" nvme get-log "$C" --log-id=3 --log-len=512 -b
equal "all of it" 512 "$(stat -c %s "$CHECK_OUT")"
check "get feature, number of queues" nvme get-feature "$C" -f 7
check "get feature, keep-alive" nvme get-feature "$C" -f 15
check "set feature, asynchronous events" nvme set-feature "$C" -f 11 -v 0x900
refuse 10 "an unknown opcode gets an NVMe error" \
	nvme admin-passthru "$C" --opcode=0x7e
refuse 10 "an unknown log page gets an NVMe error" \
	nvme get-log "$C" --log-id=0x60 --log-len=512
refuse 10 "an unknown namespace gets an NVMe error" nvme id-ns "$C" -n 77 -f

# passthru BYTES: written and read by ioctl
passthru() {
	local n=$(($1 / 512 - 1))
	head -c "$1" /dev/urandom > /run/in
	nvme io-passthru "$DISK" --opcode=1 --namespace-id=1 --data-len="$1" \
		--cdw10=64 --cdw12=$n --write --input-file=/run/in &&
	nvme io-passthru "$DISK" --opcode=2 --namespace-id=1 --data-len="$1" \
		--cdw10=64 --cdw12=$n --read -b > /run/back &&
	cmp /run/in /run/back
}

step "I/O commands by ioctl"
for size in 512 4096 16384 131072; do
	check "passthrough write and read of $size bytes" passthru $size
done
check "nvme write" nvme write "$DISK" -s 8 -c 7 -z 4096 -d /run/in
check "nvme read" nvme read "$DISK" -s 8 -c 7 -z 4096 -d /run/back
check "the same" cmp -n 4096 /run/in /run/back
check "flush" nvme flush "$DISK" -n 1
refuse 10 "a read past the end gets an NVMe error" \
	nvme read "$DISK" -s 0x20000 -c 7 -z 4096 -d /run/back
refuse 10 "an unknown I/O opcode gets an NVMe error" \
	nvme io-passthru "$DISK" --opcode=0x7d --namespace-id=1
equal "the controller is still live" live "$(state_of "$CTRL")"

zeroes() { cmp -n "$2" "$1" /dev/zero; }

step "discard, write zeroes, flush by the block layer"
check "data" round_trip "$DISK" 1048576
check "write zeroes of 256 KiB" blkdiscard -z -l 262144 "$DISK"
check "zeroes are read" zeroes "$DISK" 262144
check "data" round_trip "$DISK" 1048576
check "discard of 512 KiB" blkdiscard -l 524288 "$DISK"
check "zeroes are read" zeroes "$DISK" 524288
check "not beyond" not zeroes "$DISK" 1048576
check "dataset management of two ranges by ioctl" \
	nvme dsm "$DISK" -n 1 --ad --slbs=0,64 --blocks=8,8
check "nvme write-zeroes" nvme write-zeroes "$DISK" -n 1 -s 2000 -c 7
check "a write that is synced" dd if=/dev/zero of="$DISK" bs=4096 count=8 \
	conv=fsync status=none

step "registered only for what needs it: register_always=N"
check "disconnect" disconnect $N
unload nvme-rdma
must "nvme-rdma with register_always=N" modprobe nvme-rdma register_always=N
must "connect" connect $N "$MY_IP4"
get_disk $N 1
for size in 512 4096 65536 1048576; do
	check "$size bytes without registration" round_trip "$DISK" $size
done
check "fio with verification" fio_verify "$DISK" 4M

# An MR that was not invalidated cannot be registered again: the second use of
# each would break the connection.
if is_ours nvme-rdma; then
	step "keys invalidated by LOCAL_INV: remote_invalidate=N"
	check "disconnect" disconnect $N
	unload nvme-rdma
	must "nvme-rdma with remote_invalidate=N" \
		modprobe nvme-rdma remote_invalidate=N
	must "connect" connect $N "$MY_IP4"
	get_disk $N 1
	mark
	for size in 16384 65536 1048576; do
		check "$size bytes, then LOCAL_INV" round_trip "$DISK" $size
	done
	check "fio with verification" fio_verify "$DISK" 4M
	equal "no recovery" 0 "$(dmesg | grep -c 'starting error recovery')"
fi
all_down
finish
