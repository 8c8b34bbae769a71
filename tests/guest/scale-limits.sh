#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   how many connections an RDMA device of the target carries: the completion queues that they take, and what comes when it has no more queue pairs
# with:    vrnic
# check:   none
# timeout: 400
. "$(dirname "$0")/lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:scale
# used cq|qp: how many of them the target's device has given out
used() { rdma resource show $TARGET_DEV | sed -n "s/.* $1 \([0-9]*\).*/\1/p"; }
used_are() { [ "$(used "$1")" = "$2" ]; }
refused_for_memory() { key_sum refused_no_memory $SHOWN/ports/1; }

# another: past nvme-cli, which wants one: a controller of one more host, of an admin queue and an I/O queue of 128 commands
HOSTS=0
another() {
	HOSTS=$((HOSTS + 1))
	echo "transport=rdma,nqn=$N,traddr=$TARGET_IP,trsvcid=4420,host_traddr=$HOST_IP,nr_io_queues=1,queue_size=128,hostnqn=nqn.2026-01.test:host-$HOSTS,hostid=$(< /proc/sys/kernel/random/uuid)" > /dev/nvme-fabrics
}

host_load
vrnic_wire roce vectors=1
must "a disk" null_disk nullb0 64
simple_target $N /dev/nullb0 $TARGET_IP

step "on one completion vector"
CQS=$(used cq) QPS=$(used qp)
for n in {1..12}; do
	must "controller $n" another
	echo "$n: cq $(($(used cq) - CQS)) qp $(($(used qp) - QPS))"
done
check "disconnect" disconnect $N
check_await 20 "they are given back" used_are qp "$QPS"

step "a device with 48 queue pairs"
must "the target's device goes" timeout 30 rdma link delete $TARGET_DEV
must "one with few" vrnic_is max_qp=48
must "it comes" vrnic_add $TARGET_DEV eth0
must "others are as ever" vrnic_is max_qp=65536
check_await 30 "the port listens on it" listeners_are 1
n=0
while another > /run/said 2>&1; do
	n=$((n + 1))
	[ $n -lt 40 ] || break
done
cat /run/said
echo "$n controllers, qp $(used qp), refused $(refused_for_memory)"
dmesg | grep 'nvme.*refused' | tail -n 5
check "disconnect" disconnect $N
vrnic_down
finish
