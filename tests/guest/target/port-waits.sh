#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   a port whose address, RDMA device or interface does not exist yet, or is removed and returns
# check:   none
# timeout: 500
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:waits
host_load
wire_up
must "a disk" memory_disk nullb0 64
must "a subsystem" subsys $N
must "its namespace" namespace $N 1 /dev/nullb0

# waits WORDS REGEX ID ADDRESS [SERVICE]: a port that is enabled and waits
waits() {
	local words=$1 regex=$2
	shift 2
	mark
	must "a port in configfs" port "$@"
	check "$words: it is enabled all the same" expose "$1" $N
	said 5 "the kernel says what it waits for" "nvmet_rdma: port $1: $regex"
}

# comes BEFORE WORDS COMMAND...: the command makes one more listener. The slow
# poll is every 10 s, so that 5 s is the work of an event.
comes() {
	local words=$1
	shift
	equal "nobody listens before" "$HAVE" "$(listeners)"
	mark
	must "$words" "$@"
	check_await 5 "the port listens" listeners_are $((HAVE + 1))
	said 5 "the kernel says so" "nvmet_rdma: port [0-9]+: listening at"
}

goes() {
	local words=$1
	shift
	mark
	must "$words" "$@"
	check_await 5 "the port does not listen" listeners_are "$HAVE"
	said 5 "the kernel says what it waits for" \
		"nvmet_rdma: port [0-9]+: waiting for"
}

# usable ADDRESS: a host connects there, moves data, and goes
usable() {
	must "connect" connect $N "$1" 4420 -i 1
	get_disk $N 1
	check "data" round_trip "$DISK" 65536
	check "disconnect" disconnect $N
	check_await 10 "no controller is left" no_controllers
}

HAVE=0
step "an address that comes, goes and comes back"
waits "no such address" "waiting for 10.77.0.98, which is no address" 1 10.77.0.98
comes "the address" ip addr add 10.77.0.98/24 dev eth0
usable 10.77.0.98
must "connect" connect $N 10.77.0.98 4420 -i 1 -c 1 -l 120
get_disk $N 1
must "I/O" io_start "$DISK"
goes "the address goes" ip addr del 10.77.0.98/24 dev eth0
comes "the address is back" ip addr add 10.77.0.98/24 dev eth0
check_await 60 "the host is connected" state_is "$CTRL" live
check_await 20 "I/O goes on" io_moves
check "every block was verified, no error" io_stop
check "disconnect" disconnect $N
check "the port is taken away" conceal 1 $N
goes_quietly() { listeners_are 0; }
check_await 5 "nobody listens" goes_quietly

step "the port waits and is disabled, enabled and removed"
must "no address" ip addr del 10.77.0.98/24 dev eth0
mark
check "enable" expose 1 $N
said 5 "it waits" "port 1: waiting for 10.77.0.98"
check "disable" timeout 10 rm "$NVMET/ports/1/subsystems/$N"
must "the address" ip addr add 10.77.0.98/24 dev eth0
nap 1
equal "a disabled port does not listen" 0 "$(listeners)"
check "enable" expose 1 $N
equal "it listens at once" 1 "$(listeners)"
check "disable" conceal 1 $N
check "remove" port_remove 1

step "an address on a card that gets its RDMA device later"
must "a plain card" plain_card eth1 10.88.0.1/24
waits "no RDMA device" "waiting for an RDMA device behind 10.88.0.1" 2 10.88.0.1
comes "the device" rdma link add rxe1 type rxe netdev eth1
usable 10.88.0.1
goes "the device goes" rdma link delete rxe1
comes "the device is back" rdma link add rxe1 type rxe netdev eth1
usable 10.88.0.1

step "the interface is set down and up"
must "down" ip link set eth1 down
must "up" ip link set eth1 up
must_await 20 "rxe1 is active" rxe_ready rxe1
check_await 15 "the port listens" listeners_are 1
usable 10.88.0.1
goes "the whole card goes" ip link del eth1
comes "and is back" bash -c "ip link add eth1 type dummy &&
	ip addr add 10.88.0.1/24 dev eth1 && ip link set eth1 up &&
	rdma link add rxe1 type rxe netdev eth1"
usable 10.88.0.1

step "the address moves to another card"
must "another card" plain_card eth2 10.99.0.1/24
must "its device" rdma link add rxe2 type rxe netdev eth2
goes "it leaves the one" ip addr del 10.88.0.1/24 dev eth1
comes "it comes to the other" ip addr add 10.88.0.1/24 dev eth2
equal "rxe2 has the listener" 1 \
	"$(rdma resource show cm_id link rxe2 | grep -c 'state LISTEN')"
usable 10.88.0.1
check "disable" conceal 2 $N
check "remove" port_remove 2
check "rxe1 can be taken away" timeout 30 rdma link delete rxe1
check "rxe2 can be taken away" timeout 30 rdma link delete rxe2

step "IPv6, with duplicate address detection"
waits "no such address" "waiting for fd77::98" 3 fd77::98
comes "the address" ip addr add fd77::98/64 dev eth0
usable fd77::98
must "down: the address goes" ip link set eth0 down
check_await 5 "the port does not listen" listeners_are 0
must "up" ip link set eth0 up
must_await 20 "rxe0 is active" rxe_ready rxe0
comes "the address is back" ip addr replace fd77::98/64 dev eth0 nodad
must "the guest's own" ip addr replace "$MY_IP6/64" dev eth0 nodad
usable fd77::98
check "disable" conceal 3 $N
check "remove" port_remove 3

step "IPv6 link-local, on an interface that comes and goes"
link_local() {
	ip link add eth3 type dummy && ip link set eth3 addrgenmode none &&
		ip addr add fe80::5/64 dev eth3 nodad && ip link set eth3 up &&
		rdma link add rxe3 type rxe netdev eth3
}
waits "no such interface" "waiting for an RDMA device behind fe80::5%eth3" \
	4 fe80::5%eth3
comes "the interface" link_local
goes "the interface goes" ip link del eth3
comes "and is back, with another number" link_local
goes "its address goes" ip addr del fe80::5/64 dev eth3
comes "and is back" ip addr add fe80::5/64 dev eth3 nodad
check "disable" conceal 4 $N
check "remove" port_remove 4
check "rxe3 can be taken away" timeout 30 rdma link delete rxe3

# refused WORDS ERRNO REGEX ID ADDRESS [SERVICE]: an error that no event can resolve
refused() {
	local words=$1 errno=$2 regex=$3
	shift 3
	mark
	must "a port in configfs" port "$@"
	refuse 10 "$words" ln -s "$NVMET/subsystems/$N" \
		"$NVMET/ports/$1/subsystems/$N"
	equal "its errno" 1 "$(grep -c "$errno" "$CHECK_OUT")"
	said 5 "the kernel's words" "nvmet_rdma: port $1: $regex"
	check "remove" port_remove "$1"
}

step "what can never work is refused at once"
must "a good port" port 1 "$MY_IP4"
must "it listens" expose 1 $N
must "a port that waits" port 2 10.77.0.97
must "it waits" expose 2 $N
refused "no address at all" "Invalid argument" "invalid addr_traddr" 9 10.77.0.777
refused "an IPv6 address that is none" "Invalid argument" "invalid addr_traddr" \
	9 fd77::zz
refused "link-local without an interface" "Invalid argument" \
	"cannot listen at .*fe80: needs its interface" 9 fe80::5
refused "link-local on what cannot be an interface" "Invalid argument" \
	"invalid addr_traddr" 9 fe80::5%a/b
refused "an address that is taken" "Address already in use" \
	".* is in use by another listener" 9 "$MY_IP4"
refused "an address that another port waits for" "Address already in use" \
	".* is in use by another listener" 9 10.77.0.97
refused "no port number" "Invalid argument" "invalid addr_trsvcid" 9 "$MY_IP4" 0
step "a family that the transport does not have"
mark
must "a port in configfs" port 9 "$MY_IP4" 4421
check "its family" dd of="$NVMET/ports/9/addr_adrfam" status=none <<< ib
refuse 10 "it is refused" ln -s "$NVMET/subsystems/$N" "$NVMET/ports/9/subsystems/$N"
said 5 "the kernel's words" "invalid addr_adrfam [0-9]+ \(expected ipv4 or ipv6\)"
check "remove" port_remove 9
equal "the good port listens" 1 "$(listeners)"
all_down
finish
