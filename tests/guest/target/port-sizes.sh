#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   different ports of one device: in-capsule sizes, queue sizes, families, all addresses
# check:   none
# timeout: 500
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:sizes
host_load
wire_up
must "a disk" memory_disk nullb0 64
must "a subsystem" subsys $N
must "its namespace" namespace $N 1 /dev/nullb0

identify() { nvme id-ctrl "/dev/$CTRL" | sed -n "s/^$1 *: *//p"; }
ports_close() {
	for n; do check "port $n goes" conceal "$n" $N; port_remove "$n"; done
}

step "seven in-capsule sizes at once on one device"
sizes=(0 512 1000 4096 8192 16384 65536)
for i in "${!sizes[@]}"; do
	must "port $((i + 1)): ${sizes[i]} bytes" \
		port $((i + 1)) "$MY_IP4" $((4420 + i)) "${sizes[i]}"
	mark
	must "it listens" expose $((i + 1)) $N
	said 5 "and says so" "port $((i + 1)): listening at .*, ${sizes[i]} bytes of in-capsule data"
done
equal "seven listeners" 7 "$(listeners)"
declare -A ctrl
for i in "${!sizes[@]}"; do
	must "connect to port $((i + 1))" connect $N "$MY_IP4" $((4420 + i)) -i 1
	ctrl[$i]=$CTRL
	equal "capsules of 64 + ${sizes[i]} bytes" $(((64 + sizes[i]) / 16)) \
		"$(identify ioccsz)"
	equal "transfers of up to 1 MiB" 8 "$(identify mdts)"
done
# all but one are taken away in turn, so that each size carries the data
get_disk $N 1
for i in "${!sizes[@]}"; do
	for size in 512 1024 4096 8192 12288 16384 65536 69632; do
		check "${sizes[i]} bytes in a capsule: $size" round_trip "$DISK" $size
	done
	[ "$i" -eq 6 ] || check "disconnect" nvme disconnect -d "${ctrl[$i]}"
done
check "the last one goes" disconnect $N
ports_close 1 2 3 4 5 6 7

step "an in-capsule size that nobody can have, and the default"
must "a port" port 1 "$MY_IP4" 4420 65537
mark
refuse 10 "65537 bytes" ln -s "$NVMET/subsystems/$N" "$NVMET/ports/1/subsystems/$N"
said 5 "the kernel's words" "invalid param_inline_data_size 65537 \(expected 0 to 65536\)"
check "65536 will do" dd of="$NVMET/ports/1/param_inline_data_size" status=none <<< 65536
check "it listens" expose 1 $N
ports_close 1
must "a port without a word" port 1 "$MY_IP4"
must "it listens" expose 1 $N
equal "4 KiB" 4096 "$(cat "$NVMET/ports/1/param_inline_data_size")"
ports_close 1

if [ -e "$NVMET/ports" ] && must "a port" port 9 "$MY_IP4" &&
	[ -e "$NVMET/ports/9/param_max_queue_size" ]; then
	step "queue sizes of ports"
	n=0
	for entries in 16 64 512 1024; do
		n=$((n + 1))
		must "port $n" port $n "$MY_IP4" $((4430 + n))
		check "$entries entries" dd of="$NVMET/ports/$n/param_max_queue_size" \
			status=none <<< $entries
		must "it listens" expose $n $N
		must "connect" connect $N "$MY_IP4" $((4430 + n)) -i 1 -Q 1024
		cap=$(nvme get-property "/dev/$CTRL" -o 0 | sed 's/.*value: *//')
		equal "the host is told of $entries (CAP $cap)" $((entries - 1)) \
			$((0x$cap & 0xffff))
		equal "it makes its queue so" $entries \
			$(($(cat "/sys/class/nvme/$CTRL/sqsize") + 1))
		get_disk $N 1
		check "data" fio_verify "$DISK" 2M --iodepth=64
		check "disconnect" disconnect $N
	done
	ports_close 1 2 3 4
	mark
	echo 2000 > "$NVMET/ports/9/param_max_queue_size"
	refuse 10 "2000 entries" ln -s "$NVMET/subsystems/$N" \
		"$NVMET/ports/9/subsystems/$N"
	said 5 "the kernel's words" "invalid param_max_queue_size 2000 \(expected at most 1024\)"
fi
port_remove 9

step "all addresses of either family, on one port number"
must "all of IPv4" port 1 0.0.0.0
must "it listens" expose 1 $N
must "all of IPv6" port 2 ::
must "it listens" expose 2 $N
check "discovery over IPv4" discover "$MY_IP4"
equal "it names no address but the one that was asked" "traddr:  $MY_IP4" \
	"$(grep traddr: "$CHECK_OUT" | sort -u)"
check "discovery over IPv6" discover "$MY_IP6"
equal "it names no address but the one that was asked" "traddr:  $MY_IP6" \
	"$(grep traddr: "$CHECK_OUT" | sort -u)"
must "connect over IPv4" connect $N "$MY_IP4" 4420 -i 1
must "connect over IPv6" connect $N "$MY_IP6" 4420 -i 1
get_disk $N 1
check "data over both" fio_verify "$DISK" 2M
disconnect_all > /dev/null 2>&1
must "an RDMA device that comes later" plain_card eth1 10.88.0.1/24
must "its link" rdma link add rxe1 type rxe netdev eth1
must_await 20 "rxe1 is active" rxe_ready rxe1
check "the port is there, too" discover 10.88.0.1
check "the device goes again" rdma link delete rxe1
must "one address besides all" port 3 "$MY_IP4" 4420
mark
refuse 10 "it is taken" ln -s "$NVMET/subsystems/$N" "$NVMET/ports/3/subsystems/$N"
equal "and no other thing" 1 "$(grep -c "Address already in use" "$CHECK_OUT")"
said 5 "the kernel's words" "is in use by another listener"
port_remove 3
ports_close 1 2

step "IPv6 link-local"
LL=$(ip -6 -o addr show dev eth0 scope link | sed 's/.*inet6 \([^/]*\).*/\1/')
must "an address" test -n "$LL"
must "a port" port 1 "$LL%eth0"
must "it listens" expose 1 $N
must "connect" connect $N "$LL%eth0" 4420 -i 1
get_disk $N 1
check "data" round_trip "$DISK" 65536
check "disconnect" disconnect $N
all_down
finish
