#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    features: iWARP as in hardware: keys for sinks of READs, no RNR, how connections start and end
# with:     vrnic
# variants: ours none sides
# check:    none
# append:   init_on_free=1
# timeout:  500
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:iwarp
M=nqn.2026-01.test:iwarp-too
S=nqn.2026-01.test:iwarp-slow
HOSTS=6
host_load
# Acknowledgments are late: until they arrive the memory must not change, and freed memory is
# overwritten.
vrnic_wire iwarp vectors=1 ack_lag=8
# so small that a few hosts might need more, if there were any
! is_ours nvmet-rdma || must "load" modprobe nvmet-rdma srq_size=256
must "a disk" memory_disk nullb0 64
must "another" memory_disk nullb1 32
simple_target $N /dev/nullb0 $TARGET_IP
must "a second subsystem" subsys $M
must "its namespace" namespace $M 1 /dev/nullb1
must "on the same port" expose 1 $M

keys() { vrnic_count "$1" "wr_$2"; }

step "data"
check_module nvmet-rdma
must "connect" connect_wire $N
check_module nvme-rdma
get_disk $N 1
check_sizes "$DISK" 512 4096 16384 131072 1048576 4194304
check "fio with verification" fio_verify "$DISK" 6M
host_inv=$(keys $HOST_DEV inv)
host_reg=$(keys $HOST_DEV reg)
target_reg=$(keys $TARGET_DEV reg)
target_read=$(keys $TARGET_DEV read)
check "64 reads" dd if="$DISK" of=/dev/null bs=4k count=64 iflag=direct status=none
check "the host made keys for them" at_least 64 $(($(keys $HOST_DEV reg) - host_reg))
check "which the target invalidated" at_most 2 $(($(keys $HOST_DEV inv) - host_inv))
check "64 writes" dd if=/dev/zero of="$DISK" bs=64k count=64 oflag=direct status=none
check "the target read their data" at_least 64 $(($(keys $TARGET_DEV read) - target_read))
check "into keys of its own, which a sink needs" \
	at_least 64 $(($(keys $TARGET_DEV reg) - target_reg))

step "several controllers"
first=$CTRL
must "I/O" io_start "$DISK"
other=$(< /proc/sys/kernel/random/uuid)
must "another host's" connect_wire $M -q "$HOSTNQN-b" -I "$other" -i 1
get_disk $M 1
check "data" round_trip "$DISK" 65536
must "a third" fabrics "traddr=$TARGET_IP,trsvcid=4420,host_traddr=$HOST_IP,nqn=$M,hostnqn=$HOSTNQN-b,hostid=$other,nr_io_queues=2,duplicate_connect"
check "two go" disconnect $M
io_moves || :
check_await 10 "I/O of the first goes on" io_moves
equal "its connection was not touched" live "$(state_of "$first")"

# reconnects KEY-WORDS...: what just happened ends the connection, under I/O
reconnects() {
	check_await 60 "$1: the host notices" not state_is "$first" live
	check_await 60 "and is back" state_is "$first" live
	io_moves || :
	check_await 30 "I/O goes on" io_moves
}

step "a connection breaks"
qp=$(vrnic_qps $HOST_DEV nvme_rdma | tail -n 1)
must "the host's queue pair dies" vrnic_fault $HOST_DEV "qp $qp die"
reconnects "the host's"
qp=$(vrnic_qps $TARGET_DEV nvmet_rdma | tail -n 1)
must "the target's queue pair dies" vrnic_fault $TARGET_DEV "qp $qp die"
reconnects "the target's"
check "every block was verified, no error" io_stop
check "disconnect" disconnect $N

# lost: number of sent messages without an answer
lost() { echo $(($(vrnic_count $HOST_DEV lost) + $(vrnic_count $TARGET_DEV lost))); }
more_lost() { [ "$(lost)" -gt "$before" ]; }

step "the wire is away for a moment, which TCP outlives"
must "connect" connect_wire $N -c 1 -l 300 -k 8
first=$CTRL
get_disk $N 1
must "I/O" io_start "$DISK"
qps=$(vrnic_qps $HOST_DEV nvme_rdma)
before=$(lost)
must "down" ip link set eth1 down
check_await 20 "what is sent is not answered" more_lost
must "up" ip link set eth1 up
must "routes" _routes
io_moves || :
check_await 30 "I/O goes on" io_moves
equal "by the same connections" "$qps" "$(vrnic_qps $HOST_DEV nvme_rdma)"

step "the wire is away for long"
must "the target's port goes down" vrnic_fault $TARGET_DEV port down
check_await 90 "the host notices" not state_is "$first" live
check_await 60 "it tries to reconnect" state_is "$first" connecting
must "the port comes up" vrnic_fault $TARGET_DEV port up
check_await 90 "the host is back" state_is "$first" live
io_moves || :
check_await 30 "I/O goes on" io_moves
check "every block was verified, no error" io_stop
check "disconnect" disconnect $N

step "more commands than a shared receive queue would have receives"
must "a disk that takes half a second" timer_disk nullb2 64 500000000 hw_queue_depth=1024
must "the slow subsystem" subsys $S
must "its namespace" namespace $S 1 /dev/nullb2
must "on the same port" expose 1 $S
# host_at NUMBER: a host with its own address
host_at() {
	ip addr add 10.77.0.$((100 + $1))/24 dev eth1 &&
		ip rule add pref $((20 + $1)) iif lo from 10.77.0.$((100 + $1)) \
			to $TARGET_IP lookup 101 &&
		connect $S $TARGET_IP 4420 -i 1 -Q 64 -w 10.77.0.$((100 + $1)) \
			-k 60 -c 1
}
for n in $(seq $HOSTS); do must "host $n" host_at "$n"; done
get_disk $S 1
must "by all of them" round_robin
mark
check "writes of 4 KiB, which hold their receive as long as the disk takes" \
	fio --name=many --filename="$DISK" --direct=1 --ioengine=libaio \
	--rw=randwrite --bs=4k --size=32M --iodepth=$((HOSTS * 60)) \
	--iodepth_batch=64 --number_ios=2000
equal "no connection was lost" 0 "$(_log_since_mark |
	grep -Ec "starting error recovery|fatal error|connection lost")"
no_violations $TARGET_DEV
check "they go" disconnect $S

step "refused"
mark
refuse 20 "nobody listens on this port" \
	nvme connect -t rdma -n $N -a $TARGET_IP -s 4999 -w $HOST_IP
! is_ours nvme-rdma ||
	said 5 "in words" "rejected: nothing listens for NVMe/RDMA on port 4999"
check "no controller is left" no_controllers

# nobody_answers LIMIT-MS: there is no answer, and no refusal
nobody_answers() {
	local from ms
	begin from
	check "connect fails" not fabrics "$OPTIONS"
	cp "$CHECK_OUT" /run/nobody.out
	ms=$(ms_since "$from")
	check "within its time: $ms ms" at_most "$1" "$ms"
	check "no controller is left" no_controllers
}
OPTIONS="traddr=$TARGET_IP,trsvcid=4420,host_traddr=$HOST_IP,nqn=$N,nr_io_queues=1"
step "nobody answers"
must "the target's port goes down" vrnic_fault $TARGET_DEV port down
if is_ours nvme-rdma; then
	unload nvme-rdma
	modprobe nvme-fabrics
	must "load, connect_tmo=2" modprobe nvme-rdma connect_tmo=2
	mark
	nobody_answers 6000
	check "its errno says so" grep -q "Connection timed out" /run/nobody.out
	unload nvme-rdma
	modprobe nvme-fabrics
	must "load, connect_tmo=50" modprobe nvme-rdma connect_tmo=50
	step "called off"
	called_off "$OPTIONS"
else
	nobody_answers 20000
fi
must "the target's port comes up" vrnic_fault $TARGET_DEV port up

step "the device goes"
must "connect" connect_wire $N -i 2
get_disk $N 1
device_goes
must "connect" connect_wire $N -i 2
get_disk $N 1
check "every acknowledged write is there" acked_verify "$DISK"
check "data" round_trip "$DISK" 65536
check "disconnect" disconnect $N
vrnic_down
finish
