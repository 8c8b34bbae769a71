#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    a host's RDMA device has too few memory regions or queue pairs, or creates no more: fewer queues, or an error with a message; other controllers are unaffected, and requests take another path at once
# with:     vrnic
# cpus:     4
# check:    none
# timeout:  800
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:short
N2=nqn.2026-01.test:short2
# Of 128 commands each queue has as many regions, and the admin queue 32
host_load
vrnic_wire roce integrity=N
must "a disk" memory_disk nullb0 64
must "another" memory_disk nullb1 64
simple_target $N /dev/nullb0 $TARGET_IP
must "a second subsystem" eval "subsys $N2 && namespace $N2 1 /dev/nullb1 && expose 1 $N2"

# host_device PARAMETER=VALUE...: create the host's device again
host_device() {
	step "$*"
	no_violations $HOST_DEV
	must "$HOST_DEV goes" timeout 30 rdma link delete $HOST_DEV
	must "it is to be so" vrnic_is max_mr=1048576 max_mr_errno=12 max_qp=65536 "$@"
	must "$HOST_DEV" vrnic_add $HOST_DEV eth1
	RDMA_DEV=$HOST_DEV remember_resources host
}

CONNECT=(nvme connect -t rdma -a $TARGET_IP -s 4420 -w $HOST_IP -n)

# second NQN OPTIONS: connects; its name is in $second, that of the first stays in $first
second() {
	check "connect a second one" connect_wire "$@" || return
	second=$CTRL
}

# serves CONTROLLER QUEUES: is live with so many I/O queues
serves() { state_is "$1" live && [ "$(ctrl_attr queue_count "$1")" = $(($2 + 1)) ]; }

# first_up OPTIONS: a first controller, with verified I/O
first_up() {
	must "connect" connect_wire $N -c 1 -l 600 "$@"
	first=$CTRL
	get_disk $N 1
	must "I/O" acked_start "$DISK" --size $((8 << 20)) --writers 2 --pace 15
}

# first_unharmed: nothing has happened to it
first_unharmed() {
	check_await 30 "I/O of the first goes on" acked_moves
	equal "the first is live" live "$(state_of "$first")"
	equal "it was not lost" 0 "$(times_lost "$first")"
}

# first_done: the written data is read; the first controller is disconnected
first_done() {
	check "all I/O of the first ended well" acked_end
	check "what was acknowledged is there" acked_verify "$DISK"
	check "disconnect the first" disconnect $N
}

# second_gets_one: there are regions for one queue of the second; then the first goes
second_gets_one() {
	mark
	second $N2 -i 4 -c 1 -l 600
	said 20 "it runs out" "$HOST_DEV: allocated only [0-9]+ of 128 memory regions .error -12."
	said 60 "it goes on with fewer" "$HOST_DEV has memory regions for 1 of 4 I/O queues of 128"
	check_await 60 "it has one" serves "$second" 1
	get_disk $N2 1
	disk2=$DISK
	check "its data" fio_verify "$disk2" 2M --iodepth=128
	get_disk $N 1
	first_unharmed
	first_done
}

# as_before: nothing is left on the host's device
as_before() {
	check_await 20 "no controller is left" no_controllers
	check_await 20 "nor an object of the device" _host_resources_are host ||
		rdma resource show
}

host_device max_mr=300
mark
begin from
must "connect, asking for four queues" timeout 30 "${CONNECT[@]}" $N -i 4 -c 1 -l 600
ms=$(ms_since "$from")
check "within seconds: $ms ms" at_most $((10000 * SLOW)) "$ms"
check_module nvme-rdma
CTRL=$(controllers $N) first=$CTRL
said 5 "how many there are for what" "$HOST_DEV has memory regions for 2 of 4 I/O queues of 128"
check_await 10 "it has two" serves "$first" 2
get_disk $N 1
check "data over all tags" fio_verify "$DISK" 4M --iodepth=256
must "I/O" acked_start "$DISK" --size $((8 << 20)) --writers 2 --pace 15
mark
refuse 15 "a second controller is refused" "${CONNECT[@]}" $N2 -i 1
said 5 "why" "$HOST_DEV: cannot allocate memory regions for 32 commands .error -12."
first_unharmed
check "reset" timeout 60 nvme reset "/dev/$first"
check_await 30 "it has two once more" serves "$first" 2
check_await 30 "I/O goes on" acked_moves
first_done
as_before

host_device max_mr=100
mark
refuse 10 "connect" "${CONNECT[@]}" $N -i 4
said 5 "why, and how else" \
	"$HOST_DEV has 100 memory regions .expected 160 or more.: connect with a smaller queue size"
must "connect with queues of 32" connect_wire $N -i 4 -Q 32
check_await 10 "it has two" serves "$CTRL" 2
get_disk $N 1
check "data" fio_verify "$DISK" 2M --iodepth=64
check "disconnect" disconnect $N
as_before

# The device does not report what its other users hold: that shows only when it has no more
host_device max_mr=500
first_up -i 2
second_gets_one
check "reset" timeout 60 nvme reset "/dev/$second"
check_await 60 "it asks for more, and has three" serves "$second" 3
check "its data" fio_verify "$disk2" 2M --iodepth=128
check "disconnect" disconnect $N2
as_before

host_device max_mr=420
first_up -i 2
mark
refuse 15 "there is not enough for one queue of a second" "${CONNECT[@]}" $N2 -i 4
said 5 "why" "$HOST_DEV: cannot allocate memory regions for 128 commands .error -12."
first_unharmed
first_done
first_up -i 1
second_gets_one
# lost for another reason, it asks for all of them
must "its connection breaks" vrnic_fault $HOST_DEV qp \
	"$(vrnic_qps $HOST_DEV nvme_rdma | tail -n 1)" die
check_await 60 "the second has all three" serves "$second" 3
check "disconnect" disconnect $N2
as_before

# Drivers also report EINVAL when there are no more
host_device max_mr=420 max_mr_errno=22
NO_MORE="$HOST_DEV makes no more memory regions: error -22, taken for -12"
first_up -i 2
mark
refuse 15 "there is not enough for one queue of a second" "${CONNECT[@]}" $N2 -i 4
said 5 "what the driver says" "$NO_MORE"
said 5 "why" "$HOST_DEV: cannot allocate memory regions for 128 commands .error -12."
first_unharmed
first_done
first_up -i 1
second_gets_one
said 5 "what the driver says" "$NO_MORE"
check "disconnect" disconnect $N2
as_before

# The connection manager has one, each admin queue another
host_device max_qp=4
first_up -i 1
mark
refuse 15 "a second controller is refused" "${CONNECT[@]}" $N2 -i 4
said 5 "why" "$HOST_DEV: cannot allocate queue pair for 128 commands .error -12."
first_unharmed
check "reset" timeout 60 nvme reset "/dev/$first"
check_await 30 "it is back" serves "$first" 1
first_done
as_before

# The admin queue's and the first I/O queue's are there when it connects. Two works make
# the others; each meets a command of the firmware that is lost.
host_device integrity=N
must "a controller on $TARGET_DEV" connect $N2 $TARGET_IP 4420 -i 2 -c 1 -l 600
first=$CTRL
get_disk $N2 1
must "I/O" acked_start "$DISK" --size $((8 << 20)) --writers 2 --pace 15
must "a path on $TARGET_DEV" connect $N $TARGET_IP 4420 -w $TARGET_IP -i 2
well=$CTRL
get_disk $N 1
# longer than any of these steps may take; the test ends it
HANG=$((600 * MACHINE_SLOW * SLOW))
for nth in 180 181; do
	must "$HOST_DEV hangs at region $nth" vrnic_fault $HOST_DEV make mr $nth 110 $((HANG * 1000))
done
mark
must "a path on $HOST_DEV" connect_wire $N -i 3 -c 1 -l 600
sick=$CTRL
check_await 20 "it hangs" none_armed $HOST_DEV
check "round robin" round_robin
fio --name=r --filename="$DISK" --rw=randread --bs=4k --iodepth=64 --ioengine=libaio \
	--direct=1 --size=8M --numjobs=2 --group_reporting --output=/run/fio.out &
reads=$!
begin from
must "another controller on $TARGET_DEV" fabrics "nqn=$N2,traddr=$TARGET_IP,trsvcid=4420,nr_io_queues=1,duplicate_connect,hostnqn=$HOSTNQN,hostid=$HOSTID"
ms=$(ms_since "$from")
check "it connects meanwhile: $ms ms" at_most $((8000 * SLOW)) "$ms"
said 40 "the sick one is left" "$HOST_DEV has allocated no memory region for 10 s"
check_await 30 "what was sent by it goes by the other path" not runs $reads
check "and well" wait $reads
check "$HOST_DEV hangs still" state_is "$sick" resetting
first_unharmed
check "the path on $TARGET_DEV resets meanwhile" timeout 30 nvme reset "/dev/$well"
check_await 20 "it is back" state_is "$well" live
check "$HOST_DEV answers again" vrnic_fault $HOST_DEV clear
check_await 60 "the sick one comes back" serves "$sick" 3
check "data by both paths" fio_verify "$DISK" 4M --iodepth=256
check "the sick path goes" nvme disconnect -d "$sick"

# has_regions: there are those of an admin queue of 32 and of two queues of 128
has_regions() { [ "$(vrnic_count $HOST_DEV mrs)" = $((32 + 2 * 128)) ]; }

# hung_path: a path on the host's device; each of its two I/O queues has some regions, and
# the firmware hangs while it makes the next. Their end waits for that. No keep-alive takes a
# completion that is to be lost, or ends the connection before.
hung_path() {
	must "a path on $HOST_DEV" connect_wire $N -i 2 -c 1 -l 600 -k 600
	sick=$CTRL
	check "round robin" round_robin
	must_await 20 "it has all regions" has_regions
	for nth in 60 61; do
		must "$HOST_DEV hangs at region $nth" vrnic_fault $HOST_DEV make mr $nth 110 $((HANG * 1000))
	done
	must "it is reset" timeout 30 nvme reset "/dev/$sick"
	must_await 20 "both queues wait for a region" none_armed $HOST_DEV
}

# load KIND: random I/O of 4 KiB by both paths, in the background
load() {
	fio --name=l --filename="$DISK" --rw="$1" --bs=4k --iodepth=64 --ioengine=libaio \
		--direct=1 --size=8M --numjobs=2 --group_reporting --output=/run/fio.out &
	load=$!
}

# taken_over: the load ends by the other path, long before the firmware answers
taken_over() {
	check_await 10 "what was sent by it goes by the other path" not runs $load
	check "and well" wait $load
	check "$HOST_DEV hangs still" state_is "$sick" resetting
	first_unharmed
	check "$HOST_DEV answers again" vrnic_fault $HOST_DEV clear
	check_await 60 "the sick one comes back" serves "$sick" 2
	check "data by both paths" fio_verify "$DISK" 4M --iodepth=256
	check "the sick path goes" nvme disconnect -d "$sick"
}

step "queues that break at once while the firmware hangs"
requests_wait() {
	awk '$1 == "wait_no_mr" { n += $2 } END { exit !n }' "/sys/kernel/debug/nvme_rdma/$sick"/queue*
}
hung_path
# the admin queue's is the first
mapfile -t qps < <(vrnic_qps $HOST_DEV nvme_rdma | tail -n 2)
# breaks QP: on a busy machine the host may have given it up before, after 10 s
breaks() {
	vrnic_fault $HOST_DEV qp "$1" die ||
		! vrnic_qps $HOST_DEV nvme_rdma | grep -qx "$1"
}
load randread
check_await 8 "reads wait for a region" requests_wait
must "a queue breaks" breaks "${qps[0]}"
must "so does the other" breaks "${qps[1]}"
taken_over

# Writes need no region. Timeouts come well before the 10 s, on a busy machine, too.
step "commands that are late at once while the firmware hangs"
must "commands have 2 seconds" commands_may_take $((2 * MACHINE_SLOW))
hung_path
for nth in {20..27}; do
	must "a completion is lost" vrnic_fault $HOST_DEV cqe recv "$nth" never from=nvme_rdma
done
mark
load randwrite
check_await 8 "all are lost" none_armed $HOST_DEV
said 8 "they are late" "no response within $((2 * MACHINE_SLOW)) s"
taken_over
must "commands have 30 seconds" commands_may_take 30
check "disconnect" disconnect $N
check "all I/O of the first ended well" acked_end
get_disk $N2 1
check "what was acknowledged is there" acked_verify "$DISK"
check "disconnect" disconnect $N2
as_before
vrnic_down
finish
