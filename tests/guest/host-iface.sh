#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   host_iface: two interfaces in one network, and the one that was asked for is used
# guests:  target host
# check:   6.1
# timeout: 300
. "$(dirname "$0")/lib.sh"

N=nqn.2026-01.test:iface

target() {
	wire_up
	must "a disk" null_disk nullb0 16
	simple_target $N /dev/nullb0
	signal_peers ready "$MY_IP4"
	wait_for end 250
	all_down
	finish
}

# a second interface on the wire, with an RDMA device of its own; each answers
# for its own address alone
second_card() {
	echo 1 > /proc/sys/net/ipv4/conf/all/arp_ignore &&
		echo 2 > /proc/sys/net/ipv4/conf/all/arp_announce || return 1
	ip link add mv0 link eth0 type macvlan mode bridge &&
		ip link set mv0 mtu "$MTU" up &&
		ip addr add 10.77.0.22/24 dev mv0 &&
		rdma link add rxe1 type rxe netdev mv0
}

# qps DEVICE: queue pairs that are connected
qps() { rdma resource show qp | grep -c "link $1/1 .*type RC state RTS"; }

host() {
	local iface dev
	host_load
	wire_up
	must "a second interface, mv0, with rxe1" second_card
	must_await 20 "rxe1 is active" rxe_ready rxe1
	wait_for ready 100
	for iface in eth0:rxe0:rxe1 mv0:rxe1:rxe0; do
		IFS=: read -r iface dev other <<< "$iface"
		step "host_iface $iface"
		must "connect" connect $N "$VALUE" 4420 -f "$iface" -i 1
		equal "two queue pairs are on $dev" 2 "$(qps "$dev")"
		equal "and none on $other" 0 "$(qps "$other")"
		check "sysfs tells it" grep -q "host_iface=$iface" \
			"/sys/class/nvme/$CTRL/address"
		get_disk $N 1
		check "data" round_trip "$DISK" 65536
		check "a reset" nvme reset "/dev/$CTRL"
		check_await 20 "live again" state_is "$CTRL" live
		equal "two queue pairs are on $dev" 2 "$(qps "$dev")"
		check "data" round_trip "$DISK" 65536
		check "disconnect" disconnect $N
	done

	step "one that is not there"
	mark
	WHAT="transport=rdma,nqn=$N,traddr=$VALUE,host_iface=eth9"
	refuse 10 "the kernel" dd of=/dev/nvme-fabrics bs=4096 status=none \
		<<< "$WHAT,hostnqn=$HOSTNQN,hostid=$HOSTID"
	check "it says so" grep -q "No such device" <<< "$(< "$CHECK_OUT")"
	said 5 "the kernel's words" 'no network interface "eth9"'
	check "no controller is left" no_controllers
	signal_peers end
	check "rxe1 goes" rdma link delete rxe1
	all_down
	finish
}

"$VM_NAME"
