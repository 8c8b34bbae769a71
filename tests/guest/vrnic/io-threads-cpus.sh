#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   threads that poll share CPUs with others, and run where the administrator, the kernel's command line, a cpuset, or what is left of the CPUs has them run; user tasks that are frozen
# with:    vrnic memdisk
# cpus:    4
# append:  isolcpus=3
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:cpus
THREADS_DIR=/sys/kernel/debug/nvmet_rdma/threads
CPUSET=/sys/fs/cgroup/cpuset-test

pids() { sed -n 's/^pid //p' $THREADS_DIR/*; }
rounds() { key_sum rounds $THREADS_DIR/*; }
may_use() { sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$1/status"; }
# all_may_use CPUS
all_may_use() {
	local pid
	for pid in $(pids); do [ "$(may_use "$pid")" = "$1" ] || { may_use "$pid"; return 1; }; done
}
# goes_on WORDS: threads run queues on and on
goes_on() {
	local before
	before=$(rounds)
	check_await 20 "$1: I/O goes on" io_moves
	check_await 20 "in threads" eval "[ \$(rounds) -gt $((before + 100)) ]"
}
runs_on_3() { grep -q '^cpu 3$' $THREADS_DIR/*; }
bind_all() { local pid; for pid in $(pids); do taskset -pc "$1" "$pid" || return 1; done; }

host_load
vrnic_wire roce delay_ns=5000
must "a disk" memdisk mem0 64
must "load" modprobe nvmet-rdma io_threads=Y
simple_target $N /dev/mem0 $TARGET_IP
must "connect" connect_wire $N -i 4
check_module nvmet-rdma
get_disk $N 1
must "I/O" io_start "$DISK"
all_there() { [ "$(pids | wc -l)" -ge 2 ]; }
check_await 20 "threads" all_there

step "an isolated CPU"
goes_on "without it"
check "no thread is there" not runs_on_3
check "all are bound to it" bind_all 3
goes_on "on it alone"
check "a thread is there" runs_on_3
check "and all are bound elsewhere" bind_all 0-2
goes_on "elsewhere"
check "they may not run there" all_may_use 0-2

step "a CPU goes to which they are bound"
check "bind" bind_all 1
goes_on "on CPU 1"
check "it goes" _put /sys/devices/system/cpu/cpu1/online 0
goes_on "without it"
check "it comes" _put /sys/devices/system/cpu/cpu1/online 1
goes_on "with it"
check "bind" bind_all 0-2

step "a cpuset"
[ -e /sys/fs/cgroup/cgroup.procs ] || must "cgroups" mount -t cgroup2 none /sys/fs/cgroup
must "cpusets" _put /sys/fs/cgroup/cgroup.subtree_control +cpuset
must "one of CPU 2" eval "mkdir $CPUSET && _put $CPUSET/cpuset.cpus 2"
for pid in $(pids); do check "a thread is moved there" _put $CPUSET/cgroup.procs "$pid"; done
check_await 5 "they have CPU 2" all_may_use 2
goes_on "there"
for pid in $(pids); do check "and back" _put /sys/fs/cgroup/cgroup.procs "$pid"; done
check "no more cpuset" rmdir $CPUSET
goes_on "everywhere"

step "other tasks want all CPUs"
for pid in $(pids); do
	equal "a thread is an ordinary task" SCHED_OTHER \
		"$(chrt -p "$pid" | sed -n 's/.*policy: //p')"
done
hogs=()
for cpu in 0 1 2; do
	taskset -c $cpu bash -c 'while :; do :; done' &
	hogs+=($!)
done
# in ticks of 10 ms, of one task
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
least() { local pid; for pid in "${hogs[@]}"; do ticks "$pid"; done | sort -n | head -n 1; }
before=$(least)
nap 5
goes_on "beside them"
# More than threads at nice -5 leave them on one CPU each; starved ones would get none
check "each gets its part: $(($(least) - before)) ticks" at_least 25 $(($(least) - before))
kill "${hogs[@]}"
wait "${hogs[@]}" 2> /dev/null

step "user tasks are frozen, as for a suspend"
if [ -w /sys/power/pm_test ]; then
	must "test freezing" _put /sys/power/pm_test freezer
	check "suspend" _put /sys/power/state freeze
	must "test no more" _put /sys/power/pm_test none
	goes_on "after it"
else
	echo "# this kernel has no pm_test"
fi

check "I/O ends, without an error" io_stop
check "disconnect" disconnect $N
vrnic_down
finish
