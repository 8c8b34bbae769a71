#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   other than the defaults: module parameters, kinds of queues, any address, the largest capsules
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:parameters
host_load
wire_up
must "a disk" memory_disk nullb0 64

parameter() { cat "/sys/module/$1/parameters/$2"; }
over() {
	check "disconnect" disconnect $N
	begin_anew
}

step "the target moves all data by rdma_rw and keeps no buffers"
must "load" modprobe nvmet-rdma use_rw_api=Y buffer_cache_mb=0
equal "use_rw_api, buffer_cache_mb" "Y 0" \
	"$(parameter nvmet_rdma use_rw_api) $(parameter nvmet_rdma buffer_cache_mb)"
simple_target $N /dev/nullb0
must "connect" connect $N "$MY_IP4"
get_disk $N 1
for size in 512 8192 131072 1048576; do
	check "$size bytes" round_trip "$DISK" $size
done
check "fio with verification" fio_verify "$DISK" 4M
check "its file counts them so" \
	at_least 100 "$(key_sum transfers_in_pages $SHOWN/queues/*)"
equal "and none in buffers" 0 "$(key_sum transfers_in_chunks $SHOWN/queues/*)"
over

step "buffers that are kept are given back when memory is short"
simple_target $N /dev/nullb0
must "connect" connect $N "$MY_IP4"
get_disk $N 1
for i in 1 2 3; do
	check "round $i: fio with verification" fio_verify "$DISK" 2M
	check "round $i: the shrinkers are called" \
		bash -c "echo 2 > /proc/sys/vm/drop_caches"
done
over

step "a port on any address, capsules with 64 KiB"
must "a subsystem" subsys $N
must "a namespace" namespace $N 1 /dev/nullb0
must "a port" port 1 0.0.0.0 4420 65536
must "open it" expose 1 $N
must "connect" connect $N "$MY_IP4"
equal "capsules of 64 + 65536 bytes" $(((64 + 65536) / 16)) \
	"$(nvme id-ctrl "/dev/$CTRL" | sed -n 's/^ioccsz *: *//p')"
get_disk $N 1
for size in 4096 61440 65536 69632; do
	check "$size bytes" round_trip "$DISK" $size
done
check "fio with verification" fio_verify "$DISK" 4M
over

step "queues for writes and queues that are polled"
simple_target $N /dev/nullb0
mark
must "connect" connect $N "$MY_IP4" 4420 -i 1 -W 1 -P 1
said 5 "the kernel's words" "$CTRL: mapped 1/1/1 default/read/poll queues"
get_disk $N 1
check "fio with verification" fio_verify "$DISK" 2M
check "fio, polled" fio_verify "$DISK" 2M --ioengine=io_uring --hipri
check "a reset" nvme reset "/dev/$CTRL"
check_await 20 "live again" state_is "$CTRL" live
check "fio, polled, after it" fio_verify "$DISK" 2M --ioengine=io_uring --hipri
over

step "the RDMA device goes and comes back under an open port"
simple_target $N /dev/nullb0
check "the device is taken away" rdma link delete rxe0
check_await 20 "nobody listens" listeners_are 0
rxe0_back 1
must "connect" connect $N "$MY_IP4"
get_disk $N 1
check "data" round_trip "$DISK" 65536
over

step "connect_tmo"
must "load" modprobe nvme-rdma connect_tmo=2
must "an address whose owner is silent" \
	ip neigh add 10.77.0.98 lladdr 52:54:00:00:00:98 dev eth0
mark
refuse 8 "within two seconds" nvme connect -t rdma -n $N -a 10.77.0.98 -s 4420
said 5 "the kernel's words" "10.77.0.98:4420: not connected: still connecting after 2 s"
check "no controller is left" no_controllers
unload nvme-rdma
for value in 0 61 words; do
	mark
	refuse 10 "connect_tmo=$value" modprobe nvme-rdma connect_tmo=$value
	said 5 "the kernel's words" "nvme_rdma: .*connect_tmo"
done
all_down
finish
