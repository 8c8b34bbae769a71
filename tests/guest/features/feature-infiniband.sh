#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    features: InfiniBand: IPoIB addresses, path records, P_Keys, a subnet administrator that does not answer
# with:     vrnic
# variants: ours none sides
# check:    none
# append:   init_on_free=1
# timeout:  700
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:infiniband
PKEY=0x8001
# the same addresses, in a partition of their own
TARGET_PART=10.78.0.1 HOST_PART=10.78.0.2
host_load
# Acknowledgments are late: until they arrive the memory must not change, and freed memory is
# overwritten. Inline data is copied at once; without it commands and responses are checked as
# well.
vrnic_wire ib pkeys=0xffff,$PKEY ack_lag=8 max_inline=0

child() { ip link add "$1.8001" link "$1" type ipoib pkey $PKEY; }

# in_space NAME CARD ADDRESS: moves the card into a separate network namespace
in_space() {
	ip netns add "$1" && ip link set "$2" netns "$1" &&
		ip -n "$1" addr add "$3/24" dev "$2" &&
		ip -n "$1" link set "$2" up
}
space_gone() { ip -n "$1" link set "$2" netns 1 && ip netns del "$1"; }

link_local() {
	ip -n "$1" -6 addr show dev "$2" | sed -n 's/.*inet6 \(fe80[^/]*\).*/\1/p'
}
has_link_local() { [ -n "$(link_local "$@")" ]; }
space_pings() { ip netns exec a busybox ping "$@"; }

# bad_pkeys: messages that were dropped for their P_Key
bad_pkeys() {
	echo $(($(vrnic_count $TARGET_DEV bad_pkeys) + $(vrnic_count $HOST_DEV bad_pkeys)))
}

step "IPoIB, in a partition, from one network name space to another"
must "the target's child interface" child ib0
must "the host's" child ib1
must "a name space" in_space a ib0.8001 $TARGET_PART
must "another" in_space b ib1.8001 $HOST_PART
check_await 20 "IPv4" space_pings -c 1 -W 2 $HOST_PART
check "large packets" space_pings -c 2 -W 2 -s 3000 $HOST_PART
check_await 20 "it has a link local address" has_link_local b ib1.8001
check_await 20 "IPv6" space_pings -6 -c 1 -W 2 -I ib0.8001 \
	"$(link_local b ib1.8001)"
equal "nothing was sent in a wrong partition" 0 "$(bad_pkeys)"
must "both are limited members" vrnic_fault $HOST_DEV pkey 1 0x0001
must "the target, too" vrnic_fault $TARGET_DEV pkey 1 0x0001
check "who do not hear each other" not space_pings -c 2 -W 1 $HOST_PART
check "of which the ports know" at_least 1 "$(bad_pkeys)"
must "the target is a full member again" vrnic_fault $TARGET_DEV pkey 1 $PKEY
check_await 30 "a full and a limited member do" \
	space_pings -c 1 -W 2 $HOST_PART
must "the host is one, too" vrnic_fault $HOST_DEV pkey 1 $PKEY
check "multicast groups were joined" at_least 6 "$(sa_count mcmember_answered)"
must "back" space_gone a ib0.8001
must "back" space_gone b ib1.8001

must "a disk" memory_disk nullb0 64
# The device retries for a minute what the target sends while the host is gone, until the host
# is back. That may be an empty RDMA WRITE after the last response.
! is_ours nvmet-rdma || must "load" modprobe nvmet-rdma ack_timeout=21
simple_target $N /dev/nullb0 $TARGET_IP

step "data"
check_module nvmet-rdma
asked=$(sa_count path_asked)
must "connect" connect_wire $N -i 2
check_module nvme-rdma
check "each queue asked for its path" \
	at_least 3 $(($(sa_count path_answered) - asked))
get_disk $N 1
check_sizes "$DISK" 512 4096 16384 131072 1048576 4194304
check "fio with verification" fio_verify "$DISK" 6M
inv=$(vrnic_count $HOST_DEV wr_inv)
reg=$(vrnic_count $HOST_DEV wr_reg)
check "64 reads" dd if="$DISK" of=/dev/null bs=4k count=64 iflag=direct status=none
check "the host made keys for them" \
	at_least 64 $(($(vrnic_count $HOST_DEV wr_reg) - reg))
check "which the target invalidated" \
	at_most 2 $(($(vrnic_count $HOST_DEV wr_inv) - inv))
check "disconnect" disconnect $N

step "both on one device"
must "connect" connect $N $TARGET_IP 4420 -i 1
equal "the host uses the target's device" 0 \
	"$(vrnic_qps $HOST_DEV nvme_rdma | wc -l)"
get_disk $N 1
check "data" round_trip "$DISK" 131072
check "disconnect" disconnect $N

# its_qps_in PKEY: all queue pairs of both modules are in this partition
its_qps_in() {
	local qps
	qps=$(grep -h "^qp .* owner=nvmet\?_rdma " $VRNIC_SHOWN/vrnic?/counters)
	[ -n "$qps" ] && ! grep -v " pkey=$1 " <<< "$qps"
}

step "a partition"
must "the target's address" card_up ib0.8001 $TARGET_PART/24
must "the host's" card_up ib1.8001 $HOST_PART/24
must "over the wire" over_the_wire ib0.8001 ib1.8001
must "a port there" port 2 $TARGET_PART
must "it listens" expose 2 $N
must "rules" ip rule add pref 12 iif lo from $HOST_PART to $TARGET_PART lookup 103
must "rules" ip rule add pref 13 iif lo from $TARGET_PART to $HOST_PART lookup 102
must_await 20 "carrier" has_carrier ib0.8001
must_await 20 "carrier" has_carrier ib1.8001
must "route" ip route add $TARGET_PART dev ib1.8001 table 103
must "route" ip route add $HOST_PART dev ib0.8001 table 102
must "connect" connect $N $TARGET_PART 4420 -w $HOST_PART -i 2 -c 1 -l 300
first=$CTRL
check "its queue pairs have that P_Key" its_qps_in $PKEY
get_disk $N 1
check "fio with verification" fio_verify "$DISK" 4M

step "the host is thrown out of the partition, under I/O"
must "I/O" io_start "$DISK"
before=$(bad_pkeys)
must "the P_Key goes" vrnic_fault $HOST_DEV pkey 1 0x8002
check_await 60 "the host notices" not state_is "$first" live
check "messages were dropped for it" \
	at_least $((before + 1)) "$(bad_pkeys)"
check_await 60 "it tries to reconnect" state_is "$first" connecting
must "the P_Key is back" vrnic_fault $HOST_DEV pkey 1 $PKEY
check_await 90 "so is the host" state_is "$first" live
io_moves || :
check_await 30 "I/O goes on" io_moves
check "every block was verified, no error" io_stop
check "disconnect" disconnect $N

step "no answer to the question for a path"
unload nvme-rdma
modprobe nvme-fabrics
resolve=3	# the in-tree host's
if is_ours nvme-rdma; then
	resolve=5
	must "load, resolve_tmo=$resolve" modprobe nvme-rdma resolve_tmo=$resolve
fi
OPTIONS="traddr=$TARGET_IP,trsvcid=4420,host_traddr=$HOST_IP,nqn=$N,nr_io_queues=1"
asked=$(sa_count path_asked)
mark
must "nobody answers" vrnic_sa silent path
begin from
clock=${EPOCHREALTIME/./}
check "connect fails" not fabrics "$OPTIONS"
clock=$(ms_since "$clock")
cp "$CHECK_OUT" /run/no-path.out
ms=$(ms_since "$from")
check "not before its deadline: $clock ms" at_least $((resolve * 1000 - 500)) "$clock"
check "and soon after it: $ms ms" at_most $((resolve * 3000 * SLOW)) "$ms"
check "it asked more than once" at_least 2 $(($(sa_count path_asked) - asked))
if is_ours nvme-rdma; then
	check "its errno says so" grep -q "Connection timed out" /run/no-path.out
	said 5 "the kernel, too" "no path to the controller: the subnet administrator did not answer"
fi
check "no controller is left" no_controllers
if is_ours nvme-rdma; then
	unload nvme-rdma
	modprobe nvme-fabrics
	must "load, resolve_tmo=50" modprobe nvme-rdma resolve_tmo=50
	called_off "$OPTIONS"
fi
# late_answer: there is one before the deadline
late_answer() {
	fabrics "$OPTIONS" > /run/late.out 2>&1 &
	await 20 asked_again && vrnic_sa answer && wait $! && return
	cat /run/late.out
	return 1
}
asked_again() { [ "$(sa_count path_asked)" -gt "$asked" ]; }
asked=$(sa_count path_asked)
check "an answer that comes late is one" late_answer
check "disconnect" disconnect $N

step "there is no path"
mark
must "it says so" vrnic_sa refuse path
check "connect fails" not fabrics "$OPTIONS"
cp "$CHECK_OUT" /run/no-path.out
if is_ours nvme-rdma; then
	check "its errno says so" grep -q "No route to host" /run/no-path.out
	said 5 "the kernel, too" "no path to the controller: the subnet administrator knows none"
fi
check "no controller is left" no_controllers
must "it knows one" vrnic_sa answer

step "refused"
mark
refuse 20 "nobody listens on this port" \
	nvme connect -t rdma -n $N -a $TARGET_IP -s 4999 -w $HOST_IP
! is_ours nvme-rdma ||
	said 5 "in words" "rejected: nothing listens for NVMe/RDMA on port 4999"
check "no controller is left" no_controllers

two_target_qps() { [ "$(vrnic_qps $TARGET_DEV nvmet_rdma | wc -l)" = 2 ]; }
no_host_qps() { [ -z "$(vrnic_qps $HOST_DEV nvme_rdma)" ]; }

# away DEVICE: its port is, under I/O, until the host has noticed
away() {
	must "$1: the port goes down" vrnic_fault "$1" port down
	check_await 90 "the host notices" not state_is "$first" live
	check_await 90 "it tries to reconnect" state_is "$first" connecting
}
back() {
	check_await 90 "the host is back" state_is "$first" live
	io_moves || :
	check_await 30 "I/O goes on" io_moves
}

step "the port of the target goes down, and comes up"
must "connect" connect_wire $N -i 1 -c 1 -l 300 -k 20
first=$CTRL
get_disk $N 1
must "I/O" io_start "$DISK"
away $TARGET_DEV
must "it comes up" vrnic_fault $TARGET_DEV port up
back

step "the wire is pulled"
must "down" ip link set eth1 down
check_await 90 "the host notices" not state_is "$first" live
must "up" ip link set eth1 up
must_await 30 "carrier" has_carrier ib1
back

step "the target still has a connection of before"
check "every block was verified, no error" io_stop
check "disconnect" disconnect $N
# No command is under way, so that the target does not notice; and there is a time in
# which to prepare for the first attempt to reconnect.
must "connect" connect_wire $N -i 1 -c 10 -l 300 -k 60
first=$CTRL
get_disk $N 1
must_await 60 "the target has no other any more" two_target_qps
qp=$(vrnic_qps $HOST_DEV nvme_rdma | head -n 1)
must "the port goes down" vrnic_fault $HOST_DEV port down
must "and then a queue pair" vrnic_fault $HOST_DEV qp \
	"$(vrnic_qps $HOST_DEV nvme_rdma | tail -n 1)" die
check_await 30 "the host notices" state_is "$first" connecting
check_await 60 "its queue pairs are gone" no_host_qps
check "the target's are not" two_target_qps
mark
must "the next has the number of the first" vrnic_fault $HOST_DEV qpn "$qp"
must "the port comes up" vrnic_fault $HOST_DEV port up
check_await 90 "the host is back" state_is "$first" live
if is_ours nvme-rdma; then
	said 5 "the target took it for the old one" "rejected: stale"
	said 5 "it was asked again at once" "reconnected after 1 attempts"
fi
check "data" round_trip "$DISK" 65536
check "disconnect" disconnect $N

step "the device goes"
must "connect" connect_wire $N -i 2
get_disk $N 1
device_goes
check "every acknowledged write is there" acked_verify /dev/nullb0
check "the port in the partition goes" conceal 2 $N
must "its interface goes" ip link del ib0.8001
vrnic_down
finish
