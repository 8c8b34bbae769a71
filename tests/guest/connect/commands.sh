#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   every command the target offers: admin and I/O ioctls, flush, discard, write zeroes
# shares:  io
# check:   6.12
# timeout: 400
# cpus:    1 2
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:commands
host_load
wire_up
must "a disk" memory_disk nullb0 64
simple_target $N /dev/nullb0
must "connect" connect $N "$MY_IP4"
check_module nvme-rdma
check_module nvmet-rdma
get_disk $N 1
C=/dev/$CTRL

# bytes OFFSET COUNT: prints bytes, in hex, of the output of the last checked command
bytes() { od -An -v -tx1 -j"$1" -N"$2" "$CHECK_OUT" | tr -d ' \n'; }

# log_page WORDS ID LENGTH
log_page() {
	check "$1" nvme get-log "$C" --log-id="$2" --log-len="$3" -b
	equal "all of it" "$3" "$(stat -c %s "$CHECK_OUT")"
}

parameter() { cat "/sys/module/nvme_rdma/parameters/$1"; }

equal "register_always is Y" Y "$(parameter register_always)"
! is_ours nvme-rdma ||
	equal "remote_invalidate is Y" Y "$(parameter remote_invalidate)"

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
log_page "log of changed namespaces" 4 4096
equal "none has changed" "" "$(tr -d '\0' < "$CHECK_OUT")"
log_page "log of commands supported" 5 4096
equal "Identify is" 01000000 "$(bytes $((4 * 6)) 4)"
equal "admin opcode 7Eh is not" 00000000 "$(bytes $((4 * 0x7e)) 4)"
equal "Read is" 01000000 "$(bytes $((1024 + 4 * 2)) 4)"
log_page "ANA log" 0xc 52
equal "one group" 0100 "$(bytes 8 2)"
equal "group 1 with one namespace" 0100000001000000 "$(bytes 16 8)"
equal "optimized" 01 "$(bytes 32 1)"
equal "namespace 1" 01000000 "$(bytes 48 4)"
check "Abort" nvme admin-passthru "$C" --opcode=8 --cdw10=0x50001
equal "it finds nothing to abort" 1 "$(grep -c '0x0*1$' "$CHECK_OUT")"
check "Property Get, CSTS" nvme get-property "$C" --offset=0x1c
equal "ready" 1 "$(grep -Ec 'value: *(0x)?0*1$' "$CHECK_OUT")"
check "Property Get, CC" nvme get-property "$C" --offset=0x14
equal "enabled, entries of 64 and 16 bytes" 1 \
	"$(grep -c 'value: *4600[06]1$' "$CHECK_OUT")"
check "get feature, host identifier of 16 bytes" nvme admin-passthru "$C" \
	--opcode=0xa --cdw10=0x81 --cdw11=1 --data-len=16 --read -b
equal "this host's" "${HOSTID//-/}" \
	"$(tail -c 16 "$CHECK_OUT" | od -An -v -tx1 | tr -d ' \n')"
refuse 30 "one of 8 bytes, which fabrics have not, gets an NVMe error" \
	nvme admin-passthru "$C" --opcode=0xa --cdw10=0x81 --data-len=16 --read -b
check "get feature, number of queues" nvme get-feature "$C" -f 7
check "get feature, keep-alive" nvme get-feature "$C" -f 15
check "set feature, asynchronous events" nvme set-feature "$C" -f 11 -v 0x900
refuse 30 "an unknown opcode gets an NVMe error" \
	nvme admin-passthru "$C" --opcode=0x7e
refuse 30 "an unknown log page gets an NVMe error" \
	nvme get-log "$C" --log-id=0x60 --log-len=512
refuse 30 "an unknown namespace gets an NVMe error" nvme id-ns "$C" -n 77 -f

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
check "set feature, write protection" \
	nvme set-feature "$C" -n 1 -f 0x84 -v 1
check "get feature, write protection" nvme get-feature "$C" -n 1 -f 0x84
equal "it is on" 1 "$(grep -Ec 'value:(0x)?0*1$' "$CHECK_OUT")"
refuse 30 "a write gets an NVMe error" \
	nvme write "$DISK" -s 8 -c 7 -z 4096 -d /run/in
check "set feature, no write protection" \
	nvme set-feature "$C" -n 1 -f 0x84 -v 0
check_await 30 "writes are possible again" \
	nvme write "$DISK" -s 8 -c 7 -z 4096 -d /run/in
refuse 30 "a read past the end gets an NVMe error" \
	nvme read "$DISK" -s 0x20000 -c 7 -z 4096 -d /run/back
refuse 30 "an unknown I/O opcode gets an NVMe error" \
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
equal "register_always is N" N "$(parameter register_always)"
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
	equal "remote_invalidate is N" N "$(parameter remote_invalidate)"
	mark
	for size in 16384 65536 1048576; do
		check "$size bytes, then LOCAL_INV" round_trip "$DISK" $size
	done
	check "fio with verification" fio_verify "$DISK" 4M
	equal "no recovery" 0 "$(dmesg | grep -c 'starting error recovery')"
fi
all_down
finish
