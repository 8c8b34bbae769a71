#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   features: io_uring_cmd and ioctl passthrough of host and target; a passthru target on an NVMe SSD
# disks:   64M
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:passthrough
host_load
wire_up
must "a disk" memory_disk nullb0 64
simple_target $N /dev/nullb0

# the character device of a namespace: /dev/ngXnY for /dev/nvmeXnY
char_of() { echo "/dev/ng${1#/dev/nvme}"; }

# uring_cmd SIZE [fio options]: write SIZE by io_uring_cmd, read and verify
uring_cmd() {
	fio --name=verify --filename="$CHAR" --size="$1" --iodepth=8 \
		--ioengine=io_uring_cmd --cmd_type=nvme --rw=randwrite \
		--verify=crc32c --verify_fatal=1 --do_verify=1 --bs=16k \
		--verify_state_save=0 --randrepeat=0 "${@:2}"
}

step "io_uring_cmd"
must "connect, with a polled queue" connect $N "$MY_IP4" 4420 -i 1 -P 1
get_disk $N 1
CHAR=$(char_of "$DISK")
must_await 20 "it has a character device" [ -c "$CHAR" ]
must "count commands" counting $COMMANDS qid,opcode
for options in "--bs=4k" "--bs=16k" "--bs=128k" "--fixedbufs=1" \
	"--sqthread_poll=1" "--registerfiles=1"; do
	# shellcheck disable=SC2086
	check "fio with verification, $options" uring_cmd 1M $options
done
check "all of it by queue 1" at_least 400 "$(counted $COMMANDS "qid: *1, ")"
equal "none polled so far" 0 "$(counted $COMMANDS "qid: *2, ")"
case $VM_KVER in
6.1.*)	# "always punt polled uring_cmd end_io work to task_work" came to a
	# kernel where the work's function and the bio to poll are a union.
	not_here "polled io_uring_cmd: nvme-core polls what is no bio and dies" ;;
*)	check "fio with verification, polled" uring_cmd 512K --hipri
	check "by queue 2" at_least 64 "$(counted $COMMANDS "qid: *2, ")" ;;
esac
equal "what was written is what the target's disk has" \
	"$(sum_of "$DISK" 1048576)" "$(sum_of /dev/nullb0 1048576)"
counted_off $COMMANDS qid,opcode

step "ioctl: data either way, results, errors, metadata"
passthru_read() {
	nvme io-passthru "$1" --opcode=2 --namespace-id=1 --data-len="$2" \
		--cdw10=64 --cdw12=$(($2 / 512 - 1)) --read -b > /run/back
}

head -c 8192 /dev/urandom > /run/in
for dev in "$DISK" "$CHAR"; do
	check "write by $dev" nvme io-passthru "$dev" --opcode=1 \
		--namespace-id=1 --data-len=8192 --cdw10=64 --cdw12=15 \
		--write --input-file=/run/in
	check "read by $dev" passthru_read "$dev" 8192
	check "the same" cmp /run/in /run/back
	refuse 10 "past the end of $dev" nvme io-passthru "$dev" --opcode=2 \
		--namespace-id=1 --data-len=512 --cdw10=0x20000 --read
done
check "Identify by the controller's device" nvme admin-passthru "/dev/$CTRL" \
	--opcode=6 --cdw10=1 --data-len=4096 --read -b
equal "it is the subsystem" "$N" "$(dd if="$CHECK_OUT" bs=1 skip=768 \
	count=256 status=none | tr -d '\0')"
# Separate metadata takes a namespace that has it, so PI, so an HCA that has it.
not_here "rxe has no T10-PI, so namespaces have no metadata"
case $VM_KVER in
6.1.*)	not_here "metadata for a namespace without is refused, but nvme-core" \
		"forgets the request, and disconnecting waits for it for ever" ;;
*)	refuse 10 "a read with metadata of a namespace without gets an error" \
		nvme io-passthru "$DISK" --opcode=2 --namespace-id=1 \
		--data-len=512 --metadata-len=8 --cdw10=0 --read ;;
esac
equal "the controller is live" live "$(state_of "$CTRL")"
check "disconnect" disconnect $N

S=$NVMET/subsystems/$N-ssd
if [ ! -e $NVMET/subsystems/$N/passthru ]; then
	not_here "the target has no passthru (NVME_TARGET_PASSTHRU)"
	all_down
	finish
fi

step "a passthru target: the SSD's own controller behind ours"
must "an NVMe SSD" ssd 0
SSD_CTRL=
for c in /sys/class/nvme/nvme*; do
	grep -q vm-ssd-0 "$c/serial" && SSD_CTRL=${c##*/}
done
must "a subsystem" subsys $N-ssd
must "its controller" _put $S/passthru/device_path "/dev/$SSD_CTRL"
# Host and target are one machine here, which knows a disk by its identifiers.
must "identifiers of its own" _put $S/passthru/clear_ids 1
must "on" _put $S/passthru/enable 1
must "open the port to it" expose 1 $N-ssd
must "connect" connect $N-ssd "$MY_IP4"
check "Identify" nvme id-ctrl "/dev/$CTRL"
equal "the SSD's model" "QEMU NVMe Ctrl" "$(id_field mn | sed 's/ *$//')"
check "its SMART log" nvme smart-log "/dev/$CTRL"
equal "temperature" 1 "$(grep -c '^temperature.*[1-9]' "$CHECK_OUT")"
get_disk $N-ssd 1
equal "the SSD's size" "$(blockdev --getsize64 "$SSD")" \
	"$(blockdev --getsize64 "$DISK")"
for size in 512 4096 65536 131072; do
	check "$size bytes" round_trip "$DISK" $size
done
check "fio with verification" fio_verify "$DISK" 4M
CHAR=$(char_of "$DISK")
check "fio, io_uring_cmd" uring_cmd 1M
check "write zeroes" blkdiscard -z -o 65536 -l 65536 "$DISK"
check "discard" blkdiscard -o 1048576 -l 1048576 "$DISK"
check "flush" nvme flush "$DISK" -n 1
equal "the SSD has it all" "$(sum_of "$DISK" 4194304)" \
	"$(sum_of "$SSD" 4194304)"
refuse 10 "an unknown opcode gets the SSD's error" \
	nvme io-passthru "$DISK" --opcode=0x7d --namespace-id=1
check "a reset" nvme reset "/dev/$CTRL"
check_await 20 "live again" state_is "$CTRL" live
check "data" round_trip "$DISK" 65536
check "disconnect" disconnect $N-ssd
check "the port is closed to it" conceal 1 $N-ssd
check "off" _put $S/passthru/enable 0
all_down
finish
