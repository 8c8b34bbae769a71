#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   host_iface: the requested interface is used, or none
# shares:  io
# check:   6.1
# timeout: 300
# cpus:    1 2
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:iface
host_load
# before eth0, so that its route for link-local addresses is the first
must "a card without RDMA" plain_card eth1 10.88.0.1/24
wire_up
must "a disk" memory_disk nullb0 16
simple_target $N /dev/nullb0

# works: data goes by the controller, after a reset, too; it is disconnected then
works() {
	get_disk $N 1
	check "data" round_trip "$DISK" 65536
	check "a reset" nvme reset "/dev/$CTRL"
	check_await 20 "live again" state_is "$CTRL" live
	check "data" round_trip "$DISK" 65536
	check "disconnect" disconnect $N
}

step "host_iface eth0"
must "connect" connect $N "$MY_IP4" 4420 -f eth0 -i 1
check "sysfs tells it" grep -q "host_iface=eth0" \
	"/sys/class/nvme/$CTRL/address"
works

step "a link-local address without a scope, which host_iface says"
LINK_LOCAL=$(ip -6 -o addr show dev eth0 scope link | sed 's|.*inet6 ||;s|/.*||')
must "a port" port 2 "$LINK_LOCAL%eth0" 4422
must "open it" expose 2 $N
# link_local [OPTIONS]: of connect
link_local() {
	must "connect${*:+ with $1}" connect $N "$LINK_LOCAL" 4422 -f eth0 -i 1 "$@"
	works
}
link_local
link_local -w "$LINK_LOCAL"

# refused_by WORDS INTERFACE ERRNO-WORDS REGEX: what nvme-cli would write
refused_by() {
	step "$1"
	mark
	refuse 30 "the kernel" dd of=/dev/nvme-fabrics bs=4096 status=none \
		<<< "transport=rdma,nqn=$N,traddr=$MY_IP4,trsvcid=4420,hostnqn=$HOSTNQN,hostid=$HOSTID,host_iface=$2"
	check "it says '$3'" grep -q "$3" <<< "$(< "$CHECK_OUT")"
	said 5 "the kernel's words" "$4"
	check "no controller is left" no_controllers
}
# without host_iface, the same address was reached above
refused_by "an interface without an RDMA device" eth1 "No such device" \
	"$MY_IP4:4420: the address cannot be resolved to an RDMA device"
refused_by "one that is not there" eth9 "No such device" \
	'invalid host_iface "eth9" .no such network interface.'
all_down
finish
