#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   shared receive queues: the effect of slow hosts and of hosts that break off on other hosts
# check:   none
# timeout: 500
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/srq.sh"

N=nqn.2026-01.test:fast
S=nqn.2026-01.test:slow
host_load
wire_up
must "a disk" memory_disk nullb0 64
# 4 s for each command (null_blk itself times out after 5), and no command waits for another
must "a disk that takes its time" timer_disk nullb1 64 4000000000 hw_queue_depth=1024

step "six hosts with a slow disk do not starve one with a fast disk"
must "load" modprobe nvmet-rdma srq_size=256
both_subsystems
must "dynamic debug" bash -c \
	"echo 'file srq_low.c +p' > /sys/kernel/debug/dynamic_debug/control"
for n in {1..6}; do
	must "address of host $n" ip addr add 10.77.0.$((100 + n))/24 dev eth0
	must "host $n" connect $S "$MY_IP4" 4420 -i 2 -Q 64 \
		-w 10.77.0.$((100 + n))
done
equal "all of them share" "18 18" "$(shared_qps) $(target_qps)"
get_disk $S 1
slow=$DISK
must "the fast host" connect $N "$MY_IP4" 4420 -i 2 -Q 64 -w "$MY_IP4"
get_disk $N 1
# 768 commands may be outstanding where there are 512 receives; writes of 4 KiB
# hold their receive for as long as the disk takes
round_robin
mark
fio --name=hold --filename="$slow" --direct=1 --ioengine=libaio --rw=randwrite \
	--bs=4k --size=32M --iodepth=512 --iodepth_batch=64 --numjobs=2 \
	--time_based --runtime=600 --output=/run/hold.out > /run/hold.err 2>&1 &
hold=$!
said 60 "the receives run low" "nvmet_rdma: .*: few shared receives are left"
before=$(rnr)
begin from
check "a MiB in 4 KiB writes on the fast disk" timeout 60 dd if=/dev/zero \
	of="$DISK" bs=4k count=256 oflag=direct status=none
ms=$(ms_since "$from")
# Each would wait for a receive that a slow disk holds, and be told so
waited=$(($(rnr) - before))
check "within 20 s ($ms ms)" at_most $((20000 * SLOW)) "$ms"
check "senders found receives (all but $waited times)" test $waited -lt 200
check "fast data" round_trip "$DISK" 65536
check "commands have left their receives" \
	at_least 10 "$(key_sum short_of_receives $SHOWN/hosts/*)"
kill -INT $hold
wait $hold
equal "the slow hosts saw no error" 0 "$(grep -c 'err= *[1-9]' /run/hold.out)"
equal "nobody was disconnected" 7 "$(grep -l live /sys/class/nvme/nvme*/state | wc -l)"

step "hosts that break off do not take receives along"
for n in {1..6}; do disconnect $S > /dev/null 2>&1; done
check_await 20 "the slow hosts are gone" no_controllers $S
# not before the slow disk has completed their commands
check_await 40 "so are their queues" port_queues_are 3
equal "one host holds the SRQs" 3 "$(shared_qps)"
two_more() {
	must "a second host" connect $N "$MY_IP4" 4420 -i 2 -Q 64 -w 10.77.0.101
	breaker=$CTRL
	must "a third on the slow disk" connect $S "$MY_IP4" 4420 -i 2 -Q 64 -w 10.77.0.102
	slow_breaker=$CTRL
	get_disk $S 1
	slow=$DISK
	get_disk $N 1
	fast=$DISK
}
two_more

# in_flight DISK COUNT: so many requests are with its controllers
in_flight() {
	local name=${1##*/} stat n=0 r w
	for stat in /sys/block/"${name%n*}"c*n"${name##*n}"/inflight \
		/sys/block/"$name"/inflight; do
		read -r r w 2> /dev/null < "$stat" && n=$((n + r + w))
	done
	[ $n -ge "$2" ]
}

# On both CPUs, so by both of a host's queues
load() {
	local disk=$1
	shift
	fio --name=load --filename="$disk" --direct=1 --ioengine=libaio \
		--rw=randwrite --size=32M --iodepth=128 --time_based \
		--numjobs=2 --cpus_allowed=0,1 --cpus_allowed_policy=split \
		--runtime=600 --output=/dev/null "$@" > /dev/null 2>&1 &
}

for i in 1 2 3 4 5; do
	load "$slow" --bs=4k
	a=$!
	load "$fast" --bs=16k
	b=$!
	check_await 30 "round $i: commands are with the slow disk" in_flight "$slow" 100
	check_await 30 "round $i: and with the fast one" in_flight "$fast" 20
	check "round $i: reset of one" nvme reset "/dev/$breaker"
	check "round $i: reset of the other" nvme reset "/dev/$slow_breaker"
	check_await 30 "round $i: live" state_is "$breaker" live
	check_await 30 "round $i: live" state_is "$slow_breaker" live
	kill -INT $a $b
	wait $a $b
done
# A queue that ends counts as one of its host's while the slow disk has its commands, so that
# the queue that replaces it may have receives of its own.
for c in "$breaker" "$slow_breaker"; do
	check "one disconnects" nvme disconnect -d "$c"
done
check_await 40 "the queues of before are gone" port_queues_are 3
two_more
equal "all nine share" 9 "$(shared_qps)"
# Three hosts may have 480 commands outstanding, and there are 512 receives, so that no host has
# to wait, if all receives were reposted.
before=$(rnr)
load "$slow" --bs=4k
a=$!
load "$fast" --bs=4k
b=$!
check_await 30 "the slow disk is busy" in_flight "$slow" 120
check_await 30 "so is the fast one" in_flight "$fast" 40
nap 5
kill -INT $a $b
wait $a $b
equal "nobody found no receive" "$before" "$(rnr)"
all_down
finish
