#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   shared receive queues: which connections share and which do not
# check:   none
# timeout: 500
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/srq.sh"

N=nqn.2026-01.test:one
S=nqn.2026-01.test:two
host_load
wire_up
must "a disk" memory_disk nullb0 64
must "another disk" memory_disk nullb1 64

parameter() { cat "/sys/module/nvmet_rdma/parameters/$1"; }

step "by default all queues share"
simple_target $N /dev/nullb0
equal "use_srq, srq_size" "Y 4096" "$(parameter use_srq) $(parameter srq_size)"
equal "none without a queue" 0 "$(srqs)"
must "connect" connect $N "$MY_IP4" 4420 -i 2
equal "one for each of two vectors" 2 "$(srqs)"
equal "all three queues share" "3 3" "$(shared_qps) $(target_qps)"
get_disk $N 1
for size in 512 4096 8192 131072 1048576; do
	check "$size bytes" round_trip "$DISK" $size
done
check "fio with verification" fio_verify "$DISK" 4M
check "disconnect" disconnect $N
check_await 10 "none is left with the last queue" srqs_are 0
begin_anew

step "use_srq=N: none"
must "load" modprobe nvmet-rdma use_srq=N
simple_target $N /dev/nullb0
must "connect" connect $N "$MY_IP4" 4420 -i 2
equal "no SRQ for three queues" "0 3" "$(srqs) $(target_qps)"
get_disk $N 1
check "fio with verification" fio_verify "$DISK" 4M
begin_anew

step "how large shared receive queues may be"
for value in 0 255 32768; do
	mark
	refuse 10 "srq_size=$value" modprobe nvmet-rdma srq_size=$value
	said 5 "the kernel's words" \
		"nvmet_rdma: invalid srq_size \"$value\" .expected 256 to 32767."
done

step "ports of different in-capsule size do not share"
must "load" modprobe nvmet-rdma srq_size=512
must "a subsystem" subsys $N
must "its namespace" namespace $N 1 /dev/nullb0
n=0
for inline in 0 4096 16384; do
	n=$((n + 1))
	must "port $n: $inline bytes" port $n "$MY_IP4" $((4419 + n)) $inline
	must "it listens" expose $n $N
done
for n in 1 2 3; do
	must "connect to port $n" connect $N "$MY_IP4" $((4419 + n)) -i 2
done
# admin queues use 4 KiB, whatever the port's size
equal "three sizes on two vectors" 6 "$(srqs)"
equal "all nine queues share" "9 9" "$(shared_qps) $(target_qps)"
get_disk $N 1
for size in 4096 16384 20480; do
	check "$size bytes over three paths" round_trip "$DISK" $size
done
check "fio with verification" fio_verify "$DISK" 4M
begin_anew

step "a host gets no more than half of the receives"
must "load" modprobe nvmet-rdma srq_size=256
mark
both_subsystems
must "dynamic debug" bash -c \
	"echo 'file srq.c +p' > /sys/kernel/debug/dynamic_debug/control"
must "two queues of 96 commands" connect $N "$MY_IP4" 4420 -i 2 -Q 96
equal "they share" "3 3" "$(shared_qps) $(target_qps)"
must "two more" connect $S "$MY_IP4" 4420 -i 2 -Q 96
said 5 "two are turned away" "queue [12]: receives of its own \(error -122\)"
equal "four of six share" "4 6" "$(shared_qps) $(target_qps)"
get_disk $N 1
check "data on those that share" fio_verify "$DISK" 2M
check "disconnect" disconnect $S
check_await 20 "its queues are released" port_queues_are 3
must "another host" ip addr add 10.77.0.50/24 dev eth0
must "it connects" connect $S "$MY_IP4" 4420 -i 2 -Q 96 -w 10.77.0.50
equal "it shares" "6 6" "$(shared_qps) $(target_qps)"
begin_anew

step "memory that a load has taken goes some time after it"
must "load" modprobe nvmet-rdma
both_subsystems
must "dynamic debug" bash -c \
	"echo 'file srq_shrink.c +p' > /sys/kernel/debug/dynamic_debug/control"
must "two queues that stay" connect $N "$MY_IP4" 4420 -i 2 -Q 32
get_disk $N 1
must "two large ones" connect $S "$MY_IP4" 4420 -i 2 -Q 128 -w "$MY_IP4"
must "two of another host" connect $S "$MY_IP4" 4420 -i 2 -Q 128 -w 10.77.0.50
equal "all share" "9 9" "$(shared_qps) $(target_qps)"
mark
must "the large ones go" disconnect $S
check_await 20 "three are left" target_qps_are 3
said 60 "receives retire" "nvmet_rdma: .*: 128 shared receives retire, [0-9]+ are left for [0-9]+ commands"
# each takes one of the remaining receives of the SRQ, the oldest first
check "commands go on" dd if="$DISK" of=/dev/null bs=4k count=2000 iflag=direct status=none
said 10 "and their memory goes" "freed the memory of 128 shared receives"
check "data" fio_verify "$DISK" 2M
must "the large ones come back" connect $S "$MY_IP4" 4420 -i 2 -Q 128
equal "they share" "6 6" "$(shared_qps) $(target_qps)"
check "data of both: of those that stayed" fio_verify "$DISK" 2M
get_disk $S 1
check "and of those that came back" fio_verify "$DISK" 4M
begin_anew

all_down
finish
