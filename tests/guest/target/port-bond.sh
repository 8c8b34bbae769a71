#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   soft-RoCE on a bond: failover to another MAC address and back, under I/O
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:bond
host_load
wire_up
must "a disk" memory_disk nullb0 64
must "bonding" modprobe bonding max_bonds=0
# fail_over_mac 1: the bond has the MAC of its active card, so that a failover is a change of
# address to the CM; 0: one MAC, so that a failover may go unnoticed
must "two cards in a bond" bash -c "
	ip link add c0 type dummy && ip link add c1 type dummy &&
	ip link add bond0 type bond mode active-backup miimon 100 fail_over_mac active &&
	ip link set c0 master bond0 && ip link set c1 master bond0 &&
	ip link set bond0 mtu 9000 up && ip link set c0 up && ip link set c1 up &&
	ip addr add 10.66.0.1/24 dev bond0"
active() { cat /sys/class/net/bond0/bonding/active_slave; }
is_active() { [ "$(active)" = "$1" ]; }
mac() { cat /sys/class/net/bond0/address; }
must_await 10 "one of them is active" test -n "$(active)"
must "soft-RoCE on the bond" rdma link add rxe1 type rxe netdev bond0
must_await 20 "rxe1 is active" rxe_ready rxe1

must "a subsystem" subsys $N
must "its namespace" namespace $N 1 /dev/nullb0
must "a port" port 1 10.66.0.1
mark
must "it listens" expose 1 $N
said 5 "at once" "port 1: listening at 10.66.0.1"
must "connect" connect $N 10.66.0.1 4420 -i 2 -c 1 -l 300
get_disk $N 1
must "I/O" io_start "$DISK"

# the number of the CM's ID
listener() {
	rdma resource show cm_id link rxe1 | sed -n '/state LISTEN/s/.*cm-idn \([0-9]*\).*/\1/p'
}
listens_anew() { [ -n "$(listener)" ] && [ "$(listener)" != "$1" ]; }
listens_on_bond() { rdma resource show cm_id link rxe1 | grep -q 'state LISTEN'; }
for round in 1 2 3; do
	was=$(active)
	next=c0
	[ "$was" = c0 ] && next=c1
	before=$(mac) listener=$(listener)
	check "round $round: $was is set down" ip link set "$was" down
	check_await 10 "$next takes over" is_active $next
	equal "its MAC is the bond's now" no \
		"$([ "$(mac)" = "$before" ] && echo yes || echo no)"
	check_await 10 "there is another listener" listens_anew "$listener"
	check "it takes connections" discover 10.66.0.1
	check_await 60 "the host is connected" state_is "$CTRL" live
	check_await 30 "I/O goes on" io_moves
	check "$was is back" ip link set "$was" up
done
check "every block was verified, no error" io_stop
check "disconnect" disconnect $N

step "the bond loses both cards, and gets them back"
must "connect" connect $N 10.66.0.1 4420 -i 2 -c 1 -l 300
get_disk $N 1
must "I/O" io_start "$DISK"
check "down" bash -c "ip link set c0 down; ip link set c1 down"
nap 2
check "up" bash -c "ip link set c0 up; ip link set c1 up"
must_await 20 "rxe1 is active" rxe_ready rxe1
check_await 20 "the listener is there" listens_on_bond
check_await 90 "the host is connected" state_is "$CTRL" live
check_await 30 "I/O goes on" io_moves
check "every block was verified, no error" io_stop
check "disconnect" disconnect $N
check "the target is taken down" target_teardown
check "rxe1 can be taken away" timeout 30 rdma link delete rxe1
all_down
finish
