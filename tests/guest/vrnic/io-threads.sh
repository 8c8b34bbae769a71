#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   threads that poll (io_threads): data, how they sleep, turned on and off under I/O, a cap of their spinning, CPUs that go away
# with:    vrnic memdisk
# check:   none
# timeout: 500
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:threads
PARAMS=/sys/module/nvmet_rdma/parameters
THREADS=/sys/kernel/debug/nvmet_rdma/threads

# thread_count KEY: of all threads
thread_count() { key_sum "$1" $THREADS/*; }
threads() { find $THREADS -type f | wc -l; }
refuses() { ! _put $PARAMS/"$1" "$2" 2> /dev/null; }
threads_are() { [ "$(threads)" -"$1" "$2" ]; }

host_load
vrnic_wire roce delay_ns=5000
must "a disk whose driver does not sleep" memdisk mem0 64
must "load" modprobe nvmet-rdma io_threads=Y
simple_target $N /dev/mem0 $TARGET_IP

step "data"
must "connect" connect_wire $N -i 2
check_module nvmet-rdma
get_disk $N 1
check "fio with verification" fio_verify "$DISK" 32M --iodepth=32
check_await 20 "a vector whose queue has run has a thread" threads_are ge 1
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

# spun WORDS: the part of the time that the threads look in vain in 3 s, in parts of 1,000: SPUN
spun() {
	local begin spun spent passed
	begin=$(date +%s%N) spun=$(thread_count spun_ns)
	nap 3
	spent=$(($(thread_count spun_ns) - spun)) passed=$((($(date +%s%N) - begin) * $(threads)))
	SPUN=$((spent * 1000 / passed))
	echo "# $1: $spent of $passed ns"
}

step "a cap of the time spent on looks in vain"
_put $PARAMS/poll_us 1000
# Commands come soon enough for threads to spin between them all the time
must "I/O" io_start "$DISK" --rate_iops=2000
nap 1
spun "without a cap"
uncapped=$SPUN
if [ "$WATCHED" -gt 1 ]; then
	echo "# not judged: a kernel that watches itself leaves no time between such commands"
else
	check "threads spin" at_least 5 $SPUN
fi
spins() { [ "$(thread_count spin_ns)" -ge 1000 ]; }
check_await 20 "they know how long to" spins
_put $PARAMS/poll_percent 1
nap 0.1
spun "1 percent"
# A virtual CPU that is taken away in such a look seems to look on
if [ "$uncapped" -ge 60 ]; then
	check "the cap is kept" at_most $((uncapped / 2)) $SPUN
else
	echo "# the cap is not judged: this machine is too slow to spin for longer"
fi
check "I/O ends" io_stop
_put $PARAMS/poll_percent 100
check "more than all of the time is refused" refuses poll_percent 101

step "interrupts"
io_of() { fio --name=io --filename="$DISK" --direct=1 --ioengine=libaio --iodepth=16 --rw=randread \
	--bs=4k --size=8M --number_ios="$1" --io_size=100G --norandommap --output=/run/some.out; }
before=$(thread_count interrupts)
check "20,000 reads" io_of 20000
busy=$(($(thread_count interrupts) - before))
check "threads that spin take few of them: $busy" at_most 10000 $busy

step "traced"
TRACING=/sys/kernel/tracing
[ -e $TRACING/events/nvmet_rdma ] || must "tracefs" mount -t tracefs none $TRACING
# traced WORDS REGEX: an event since the last one
traced() { check "traced: $1" timeout $((60 * SLOW)) grep -Em1 "$2" $TRACING/trace_pipe; }
must "trace" _put $TRACING/events/nvmet_rdma/enable 1
must "I/O" io_start "$DISK"
traced "a look that found a command" "nvme_rdma_cq_poll: dev=$TARGET_DEV .* by=thread found=[1-9]"
check "I/O ends" io_stop
traced "a sleep" "nvmet_rdma_thread_slept: dev=$TARGET_DEV vector=[0-9]+ ns=[1-9][0-9]* spin_ns=[0-9]+"
must "a disk whose driver sleeps" null_disk nullb7 16
must "its namespace" namespace $N 7 /dev/nullb7
get_disk $N 7
check "reads of the disk that sleeps" io_of 100
traced "a thread that left others to works" "nvmet_rdma_thread_away: dev=$TARGET_DEV vector=[0-9]+"
_put $TRACING/events/nvmet_rdma/enable 0
# Queues that have used that disk have works from then on
check "disconnect" disconnect $N
must "connect" connect_wire $N -i 2
get_disk $N 1
_put $PARAMS/poll_us 50

step "commands that come seldom"
# seldom NUMBER: of reads on each CPU
seldom() {
	local i cpu
	for ((i = 0; i < $1; i++)); do
		for cpu in 0 1; do
			taskset -c $cpu dd if="$DISK" of=/dev/null bs=4k count=1 iflag=direct status=none
		done
		nap 0.3
	done
}
seldom 15
spun=$(thread_count spun_ns)
seldom 5
spun=$(($(thread_count spun_ns) - spun))
check "no thread spins after them: $spun ns" at_most 100000 $spun

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

step "idle, with 64 connections"
options=traddr=$TARGET_IP,trsvcid=4420,host_traddr=$HOST_IP,nqn=$N,nr_io_queues=1,duplicate_connect
options+=,hostnqn=nqn.2026-01.test:many,hostid=$(< /proc/sys/kernel/random/uuid)
for ((i = 0; i < 31; i++)); do must "connect" fabrics "$options"; done
equal "queues" 65 "$(key_sum queues /sys/kernel/debug/nvmet_rdma/ports/1)"
nap 5
begin=$(date +%s%N) used=$(thread_count cpu_ns)
nap 5
used=$(($(thread_count cpu_ns) - used)) passed=$(($(date +%s%N) - begin))
check "the threads use less than 1 % of one CPU: $used of $passed ns" at_most $((passed / 100)) $used
check "disconnect" disconnect_all
_put $PARAMS/io_threads N
check_await 20 "no thread is left" threads_are eq 0
vrnic_down
finish
