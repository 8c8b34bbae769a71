#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   how many connections an RDMA device of the target carries: the completion queues that they use, and the refusal when queue pairs run out
# with:    vrnic
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"
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
must "a disk" memory_disk nullb0 64
simple_target $N /dev/nullb0 $TARGET_IP

step "on one completion vector"
CQS=$(used cq) QPS=$(used qp)
# places QID: entries of a completion queue for the only queue with that number: its send queue,
# one for the drain and one for sweeps (target/qp.c)
places() {
	local file
	file=$(grep -l "^qid $1\$" $SHOWN/queues/*) && echo $(($(key_sum sq_slots "$file") + 2))
}
# expected CONTROLLERS: how many completion queues there are after each; a further one has room
# for twice as many sends as the one before, and one more (target/cqs.c)
expected() {
	local n take room=$SENDS size=$SENDS nr=1
	for ((n = 0; n < $1; n++)); do
		for take in "$ADMIN_TAKES" "$IO_TAKES"; do
			[ "$room" -ge "$take" ] || size=$((2 * size + 1)) room=$size nr=$((nr + 1))
			room=$((room - take))
		done
		printf ' %d' $nr
	done
}
cqs=
for n in {1..12}; do
	must "controller $n" another
	cqs="$cqs $(($(used cq) - CQS))"
	[ "$n" -gt 1 ] || ADMIN_TAKES=$(places 0) IO_TAKES=$(places 1)
done
equal "two queue pairs each" 24 $(($(used qp) - QPS))
SENDS=$(sed -n 's/^#define FIRST_CQ_SENDS[[:space:]]*//p' "$VM_REPO/target/srq.c")
echo "of $SENDS places an admin queue takes $ADMIN_TAKES, an I/O queue $IO_TAKES"
equal "an I/O queue takes what scale.md says" \
	"$(sed -n 's/.*takes \([0-9]*\) of those.*/\1/p' "$VM_REPO/Documentation/scale.md")" "$IO_TAKES"
equal "completion queues" "$(expected 12)" "$cqs"
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
# one is the connection manager's own; the last one went to an admin queue
equal "23 controllers have come" 23 $n
check "the next one is told that the device is busy" grep "Device or resource busy" /run/said
equal "the port has counted it" 1 "$(refused_for_memory)"
check "it is said" eval "dmesg | grep 'connection rejected: no resources on $TARGET_DEV, or no memory, for a queue of 128 commands'"
get_disk $N 1
check "those that are there work" round_trip "$DISK" 65536
check "one goes" nvme disconnect -d "$(controllers | head -n 1)"
check_await 20 "another one can come" another
check "disconnect" disconnect $N
vrnic_down
finish
