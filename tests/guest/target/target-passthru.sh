#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   an NVMe controller passed through to hosts, where the kernel supports it; T10-PI requested of a device without it
# check:   none
# disks:   64M 64M:ms=8,pi=1
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:passthru
P=nqn.2026-01.test:pi
host_load
wire_up
must "an NVMe SSD" ssd 0
ctrl=$(basename "$(readlink -f "/sys/block/${SSD##*/}/device")")
# with multipath the disk's parent is its subsystem
for c in /sys/class/nvme/nvme*; do
	[ "$(tr -d ' ' < "$c/serial")" = vm-ssd-0 ] && ctrl=${c##*/}
done
must "a subsystem" subsys $N
S=$NVMET/subsystems/$N

if [ -d "$S/passthru" ]; then
	step "the whole controller is handed on"
	check "device" dd of="$S/passthru/device_path" status=none <<< "/dev/$ctrl"
	must "enable" dd of="$S/passthru/enable" status=none <<< 1
	must "a port" port 1 "$MY_IP4"
	must "it listens" expose 1 $N
	must "connect" connect $N "$MY_IP4" 4420 -i 2
	get_disk $N 1
	equal "the model is the SSD's own" \
		"$(tr -d ' ' < "/sys/class/nvme/$ctrl/model")" \
		"$(tr -d ' ' < "/sys/class/nvme/$CTRL/model")"
	check "its log pages" nvme smart-log "/dev/$CTRL"
	check "identify namespace" nvme id-ns "$DISK"
	for size in 512 4096 8192 65536 131072; do
		check "$size bytes" round_trip "$DISK" $size
	done
	check "fio with verification" fio_verify "$DISK" 2M
	check "flush" nvme flush "$DISK" -n 1
	check "discard" blkdiscard -l 65536 "$DISK"
	must "I/O" io_start "$DISK"
	check "a reset under I/O" nvme reset "/dev/$CTRL"
	check_await 20 "live again" state_is "$CTRL" live
	check_await 20 "I/O goes on" io_moves
	check "every block was verified, no error" io_stop
	check "disconnect" disconnect $N
	check "conceal" conceal 1 $N
	check "disable" dd of="$S/passthru/enable" status=none <<< 0
	port_remove 1
else
	echo "    this kernel passes no controller through"
	equal "it has no passthru" 0 "$(modinfo -F parm nvmet | grep -c passthru)"
fi

step "T10-PI asked of a device without it"
must "an SSD that has it" ssd 1
must "a subsystem" subsys $P
check "it asks for it" dd of="$NVMET/subsystems/$P/attr_pi_enable" status=none <<< 1
must "its namespace, of a disk that has it" namespace $P 1 "$SSD"
must "a port" port 2 "$MY_IP4"
check "it asks for it" dd of="$NVMET/ports/2/param_pi_enable" status=none <<< 1
mark
must "it listens" expose 2 $P
said 5 "the kernel's words" \
	"port 2: its RDMA device has no integrity offload for T10 protection information; continuing without it"
equal "configfs shows it" 0 "$(cat "$NVMET/ports/2/param_pi_enable")"
must "connect" connect $P "$MY_IP4" 4420 -i 2
get_disk $P 1
equal "transfers of up to 1 MiB" 8 \
	"$(nvme id-ctrl "/dev/$CTRL" | sed -n 's/^mdts *: *//p')"
equal "no protection information" 0 \
	"$(nvme id-ns "$DISK" | sed -n 's/^dps *: *//p')"
for size in 4096 65536; do
	check "$size bytes" round_trip "$DISK" $size
done
check "disconnect" disconnect $P
check "conceal" conceal 2 $P
port_remove 2
must "a port for all addresses" port 3 0.0.0.0
check "it asks for it" dd of="$NVMET/ports/3/param_pi_enable" status=none <<< 1
mark
must "it listens" expose 3 $P
said 5 "the kernel's words" "port 3: some RDMA devices have no integrity offload"
all_down
finish
