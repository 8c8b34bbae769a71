#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   settings of the host's connections: timers, a deadline, completion vectors by blk-mq's map, the right one of two devices with the same GUID
# check:   none
# cpus:    4
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:settings
host_load
wire_up
must "a disk" memory_disk nullb0 16
simple_target $N /dev/nullb0
[ -e $TRACING/kprobe_events ] || must "tracefs" mount -t tracefs none $TRACING

# timers: start to note what the CM is told
timers() {
	: > $TRACING/trace
	{
		echo 'p:rnr rdma_set_min_rnr_timer value=%si:u8'
		echo 'p:ack rdma_set_ack_timeout value=%si:u8'
	} > $TRACING/kprobe_events &&
		echo 1 > $TRACING/events/kprobes/enable
}
timers_off() {
	trace_is_whole
	echo 0 > $TRACING/events/kprobes/enable
	echo > $TRACING/kprobe_events
}
told() { grep -c " $1: .*value=$2\$" $TRACING/trace; }

step "min_rnr_timer and ack_timeout, for each of three queues"
must "load" modprobe nvme-rdma min_rnr_timer=7 ack_timeout=20
must "probes" timers
must "connect" connect $N "$MY_IP4" 4420 -i 2
equal "min_rnr_timer" 3 "$(told rnr 7)"
equal "ack_timeout" 3 "$(told ack 20)"
get_disk $N 1
check "data" round_trip "$DISK" 65536
check "disconnect" disconnect $N
timers_off
unload nvme-rdma
must "load" modprobe nvme-rdma
must "probes" timers
must "connect" connect $N "$MY_IP4" 4420 -i 2
check "0.64 ms by default" at_least 3 "$(told rnr 12)"
# the target sets the same for its three queues
equal "and 0.54 s on Ethernet" 6 "$(told ack 17)"
check "disconnect" disconnect $N
timers_off
unload nvme-rdma

for wrong in min_rnr_timer=32 ack_timeout=32 resolve_tmo=0 resolve_tmo=61 \
	fabrics_tmo=0 ack_timeout=x; do
	mark
	refuse 10 "$wrong" modprobe nvme-rdma $wrong
	said 5 "the kernel's words" \
		"nvme_rdma: invalid ${wrong%=*} \"${wrong#*=}\" .expected [01] to [36][01]."
done

step "fabrics_tmo of 2 s, a peer that does not answer Connect"
must "load" modprobe nvme-rdma fabrics_tmo=2
must "RDMA for programs" modprobe rdma_ucm
must "the peer" peer_start listen "$MY_IP4" 4421 silent
mark
begin from
check "the connect fails" fabrics_refused \
	"traddr=$MY_IP4,trsvcid=4421,nqn=$N" "Connection timed out"
check "long before the 15 s that are the default" at_most 11000 "$(ms_since "$from")"
said 5 "the kernel's words" \
	"queue 0 to $MY_IP4:4421: .*opcode 0x7f: no response within 2 s"
check "no controller is left" no_controllers
peer_stop
unload nvme-rdma
must "load" modprobe nvme-rdma

# in_list LIST NUMBER: is it in a list like sysfs has them, "0-1, 3"?
in_list() {
	local part
	for part in ${1//,/ }; do
		[ "$2" -ge "${part%-*}" ] && [ "$2" -le "${part#*-}" ] && return
	done
	echo "$2 is not in $1"
	return 1
}

# vectors KINDS: each I/O queue's completion vector is that of one of its CPUs.
# A soft-RoCE device has a vector for each CPU, of that number.
vectors() {
	local mq=/sys/block/nvme*c*n1/mq dir q vector
	for dir in $mq/*; do
		q=$((${dir##*/} + 1))
		vector=$(sed -n 's/^vector //p' \
			"/sys/kernel/debug/nvme_rdma/$CTRL/queue$q")
		check "$1: queue $q has vector $vector, its CPUs are $(< "$dir/cpu_list")" \
			in_list "$(< "$dir/cpu_list")" "$vector"
	done
}

step "completion vectors, four CPUs"
for kinds in "-i 1" "-i 2" "-i 3" "-i 4" "-i 2 -W 2" "-i 1 -W 2 -P 2"; do
	# shellcheck disable=SC2086
	must "connect $kinds" connect $N "$MY_IP4" 4420 $kinds
	get_disk $N 1
	vectors "$kinds"
	check "disconnect" disconnect $N
	check_await 10 "no controller is left" no_controllers
done

step "two RDMA devices with one GUID, as cards with one MAC address have"
must "a card" ip link add eth1 type dummy
must "with the MAC of the other" ip link set eth1 address \
	"$(< /sys/class/net/eth0/address)" addrgenmode none
must "up" ip link set eth1 up
must "its address" ip addr add 10.88.0.1/24 dev eth1
must "its device" rdma link add rxe1 type rxe netdev eth1
must_await 20 "rxe1 is active" rxe_ready rxe1
guid() { cat "/sys/class/infiniband/$1/node_guid"; }
equal "the same GUID" "$(guid rxe0)" "$(guid rxe1)"
must "a port there" port 2 10.88.0.1
must "it listens" expose 2 $N
must "connect by rxe0" connect $N "$MY_IP4" 4420 -i 2
first=$CTRL
must "connect by rxe1" connect $N 10.88.0.1 4420 -i 2
device() { sed -n 's/^device //p' "/sys/kernel/debug/nvme_rdma/$1/queue1"; }
equal "each by its own device" "rxe0 rxe1" "$(device "$first") $(device "$CTRL")"
round_robin
get_disk $N 1
check "data over both" fio_verify "$DISK" 2M
check "disconnect" disconnect $N
check "the target is taken down" target_teardown
check "rxe1 can be taken away" timeout 30 rdma link delete rxe1
all_down
finish
