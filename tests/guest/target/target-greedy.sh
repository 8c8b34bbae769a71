#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   how much of the shared resources one host may hold: too many commands, responses not taken, capsules sent in part
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/peer.sh"
. "$GUEST_DIR/lib/srq.sh"

N=nqn.2026-01.test:greedy
host_load
wire_up
must "a disk" memory_disk nullb0 64

over() {
	peer_stop
	begin_anew
}

explain() {
	must "dynamic debug" bash -c \
		"echo 'file $1 +p' > /sys/kernel/debug/dynamic_debug/control"
}
# The honest host: it has to get on
writes() {
	check "$1" timeout 20 dd if=/dev/zero of="$DISK" bs=4k count=64 oflag=direct status=none
}

step "one command more than the queue may have"
must "load" modprobe nvmet-rdma
simple_target $N /dev/nullb0
must "an honest host" connect $N "$MY_IP4" 4420 -i 2
get_disk $N 1
mark
must "one that is not" peer_start connect "$MY_IP4" 4420 exceed $N
said 5 "the kernel's words" "queue 0: more than 2 commands outstanding; closing the connection"
check_await 10 "its connection is closed" peer_said DISCONNECTED
writes "the other goes on"
equal "nobody else was disconnected" 3 "$(target_qps)"
over

step "hosts that take no response"
must "load" modprobe nvmet-rdma srq_size=256 response_tmo=30
explain srq_low.c
simple_target $N /dev/nullb0
must "an honest host" connect $N "$MY_IP4" 4420 -i 2
get_disk $N 1
mark
peers=()
# On each of two SRQs 12 queues of 32 commands, where there are 256 receives; the
# host can take one response, so that all but two of the commands wait
for n in 1 2 3; do
	must "address $n" ip addr add 10.77.0.$((100 + n))/24 dev eth0
	PEER_PID=
	must "deaf host $n" peer_start connect "$MY_IP4" 4420 deaf 8 10.77.0.$((100 + n))
	peers+=("$PEER_PID")
done
PEER_PID=
said 10 "the receives run low" "few shared receives are left"
writes "commands that wait have left theirs"
said 45 "the kernel's words" "the host has taken no response and given no data for 30 seconds \(response_tmo\); closing the connection"
check_await 20 "only the honest host is left" target_qps_are 3
writes "which goes on"
equal "and was not disconnected" live "$(state_of "$CTRL")"
for PEER_PID in "${peers[@]}"; do peer_stop; done
over

step "hosts that break off inside a capsule"
must "load" modprobe nvmet-rdma
explain srq_low.c
must "a subsystem" subsys $N
must "its namespace" namespace $N 1 /dev/nullb0
must "a port with much in-capsule data" port 1 "$MY_IP4" 4420 16384
must "it listens" expose 1 $N
must "an honest host" connect $N "$MY_IP4" 4420 -i 2 -Q 16
get_disk $N 1
mark
# soft-RoCE of 6.12 loses a receive each time; there are some 18 on each SRQ
must "hosts that break off" peer_start connect "$MY_IP4" 4420 break 100
writes "there are receives"
check "data" round_trip "$DISK" 65536
equal "the host was not disconnected" live "$(state_of "$CTRL")"
case $(uname -r) in
6.1.*) ;;
*)
	said 5 "the kernel's words" "shared receives did not come back; posted as many new ones" ;;
esac
over

all_down
finish
