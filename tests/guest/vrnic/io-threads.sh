#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   threads that poll (io_threads): data, how they sleep, turned on and off under I/O, a cap of their spinning, CPUs that go away
# with:    vrnic
# check:   none
# timeout: 500
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:threads
PARAMS=/sys/module/nvmet_rdma/parameters
THREADS=/sys/kernel/debug/nvmet_rdma/threads

# thread_count KEY: of all threads
thread_count() {
	find $THREADS -type f -exec cat {} + |
		awk -v key="$1" '$1 == key { n += $2 } END { print n + 0 }'
}
threads() { find $THREADS -type f | wc -l; }
refuses() { ! _put $PARAMS/"$1" "$2" 2> /dev/null; }
threads_are() { [ "$(threads)" -"$1" "$2" ]; }

host_load
vrnic_wire roce delay_ns=5000
# One whose driver does not sleep; that of null_blk with memory may
must "a disk" modprobe brd rd_nr=1 rd_size=65536
must "load" modprobe nvmet-rdma io_threads=Y
simple_target $N /dev/ram0 $TARGET_IP

step "data"
must "connect" connect_wire $N -i 2
check_module nvmet-rdma
get_disk $N 1
check "each vector with a queue has a thread" test "$(threads)" -ge 1
check "fio with verification" fio_verify "$DISK" 32M --iodepth=32
check "threads have run the queues" at_least 100 "$(thread_count rounds)"
check "and have slept" at_least 1 "$(thread_count sleeps)"

step "turned off and on under I/O"
must "I/O" io_start "$DISK"
for ((i = 0; i < 10; i++)); do
	_put $PARAMS/io_threads N
	nap 0.3
	_put $PARAMS/io_threads Y
	nap 0.3
done
check "I/O goes on, and ends" io_stop
check "fio with verification" fio_verify "$DISK" 8M --iodepth=8
check "threads run the queues again" at_least 10 "$(thread_count rounds)"
_put $PARAMS/io_threads N
check_await 20 "turned off, no thread is left" threads_are eq 0
check "fio with verification, turned off" fio_verify "$DISK" 8M --iodepth=8
check "and none comes" threads_are eq 0
_put $PARAMS/io_threads Y

step "a cap of the time spent on looks in vain"
_put $PARAMS/poll_us 1000
_put $PARAMS/poll_percent 5
# Commands come soon enough for threads to spin between them all the time
must "I/O" io_start "$DISK" --rate_iops=2000
nap 1
begin=$(date +%s%N) spun=$(thread_count spun_ns)
nap 3
spent=$(($(thread_count spun_ns) - spun)) passed=$((($(date +%s%N) - begin) * $(threads)))
# A virtual CPU that is taken away in such a look seems to look on
check "it is kept: $spent of $passed ns" at_most $((passed * 15 / 100)) $spent
check "I/O ends" io_stop
_put $PARAMS/poll_percent 100
_put $PARAMS/poll_us 50
check "more than all of the time is refused" refuses poll_percent 101

step "CPUs"
must "I/O" io_start "$DISK"
for ((i = 0; i < 4; i++)); do
	check "CPU 1 goes" _put /sys/devices/system/cpu/cpu1/online 0
	nap 0.5
	check "and comes" _put /sys/devices/system/cpu/cpu1/online 1
	nap 0.5
done
check "reset under I/O" nvme reset "/dev/$(controllers $N | head -n 1)"
check "I/O goes on, and ends" io_stop

step "idle"
nap 2
spun=$(thread_count spun_ns)
nap 5
check "an idle target's threads spin less than 1 % of the time" at_most $((spun + 50000000)) \
	"$(thread_count spun_ns)"
check "disconnect" disconnect $N
_put $PARAMS/io_threads N
check_await 20 "no thread is left" threads_are eq 0
vrnic_down
finish
