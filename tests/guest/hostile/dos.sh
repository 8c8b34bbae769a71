#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    throughput left to other hosts beside a thousand idle connections, hosts that take no responses, and a host that holds all of its shared receives
# variants: ours none
# icount:   yes
# mem:      3072
# check:    none
# debug:    no
# timeout:  1800
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/srq.sh"
. "$GUEST_DIR/lib/hostile.sh"

# With -icount guest time is instructions, so that what hosts do with the time that the
# processor gives them is exact, whatever else the machine below does. While the guest
# waits for that machine its time leaps from timer to timer: deadlines are generous.
PEER_READY=600
N=nqn.2026-01.test:dos
S=nqn.2026-01.test:dos-slow
# so does what looks for tasks that hang
must "nobody looks for such" dd of=/proc/sys/kernel/hung_task_timeout_secs status=none <<< 0
host_load
must "commands may take 600 s" commands_may_take 600
wire_up
must "a disk" fast_disk nullb0 64
must "another" fast_disk nullb1 64
must "one that can be suspended" dmsetup create --noudevsync holds \
	--table "0 131072 linear /dev/nullb1 0"
must "RDMA for programs" modprobe rdma_ucm
for n in {50..60}; do
	must "address $n" ip addr add 10.77.0.$n/24 dev eth0
done

# measure JOB...: I/Os a second of the honest host; sets IOPS, to 0 if they do not end
measure() {
	fio --name=honest --filename="$DISK" --direct=1 --ioengine=libaio --size=32M \
		--time_based --ramp_time=500ms --runtime=2s --output=/run/fio.json \
		--output-format=json "$@" > /run/fio.err 2>&1 &
	honest_fio=$!
	IOPS=0
	await 120 not runs $honest_fio || return 0
	wait $honest_fio || { cat /run/fio.err; die "fio"; }
	IOPS=$(sed -n 's/^ *"iops" : \([0-9]*\).*/\1/p' /run/fio.json |
		sort -n | tail -n 1)
}

# taken: the percentage of the processor that is used while there is no load:
# TAKEN. The target's module does not use it: all calls of the module are counted.
TAKEN_TMO=5
taken() {
	local calls
	must "trace the target" eval "echo ':mod:nvmet_rdma' > $TRACING/set_ftrace_filter &&
		echo function > $TRACING/current_tracer"
	check "one read" dd if="$DISK" of=/dev/null bs=4k count=1 iflag=direct status=none
	check "is seen" grep -q ' <-' $TRACING/trace
	echo > $TRACING/trace
	awk '/^cpu / { print $2 + $3 + $4 + $7 + $8, $5 + $6 }' /proc/stat > /run/taken
	nap $TAKEN_TMO
	awk '/^cpu / { print $2 + $3 + $4 + $7 + $8, $5 + $6 }' /proc/stat >> /run/taken
	calls=$(($(grep -c ' <-' $TRACING/trace) + $(trace_lost)))
	must "no more" eval "echo nop > $TRACING/current_tracer &&
		echo > $TRACING/set_ftrace_filter"
	TAKEN=$(awk 'NR == 1 { b = $1; i = $2 } END { printf "%d\n", 100 * ($1 - b) / ($1 - b + $2 - i) }' /run/taken)
	judge "the target's module does nothing: $calls calls in $TAKEN_TMO s" \
		at_most $((20 * TAKEN_TMO)) "$calls"
}

WORKLOADS=("randread 4k 8" "randwrite 4k 8" "randread 64k 4" "randwrite 64k 4")
declare -A BEFORE

# keeps CASE [TAKEN]: each workload keeps at least nine tenths of its throughput. If the device
# takes TAKEN percent of the processor, at least nine tenths of the rest.
keeps() {
	local rw bs qd part left=$((100 - ${2:-0})) words=
	for job in "${WORKLOADS[@]}"; do
		read -r rw bs qd <<< "$job"
		measure --rw="$rw" --bs="$bs" --iodepth="$qd"
		[ -n "${BEFORE[$job]-}" ] || BEFORE[$job]=$IOPS
		part=$((IOPS * 100 / BEFORE[$job]))
		words+=" ${rw}_${bs}_qd$qd=$part%"
		echo "    $1: $job: $IOPS a second, before ${BEFORE[$job]}"
		! is_ours nvmet-rdma ||
			check "$1: $job: $part % of before${2:+, where soft-RoCE leaves $left %}" \
				at_least 90 $((part * 100 / left))
		[ "$IOPS" != 0 ] || break
	done
	echo "result dos.$1$words${2:+ device=$2%}"
}

# Half of the shared receives is a host's share: 32 of its admin queue, and 224. He has so
# many controllers that he could have all.
SRQ_SIZE=512 GREEDY=224 HOLDS=200 HOGS=3 SHARED=4
if is_ours nvmet-rdma; then
	must "time for Connect" modprobe nvmet-rdma connect_tmo=600 host_pending=2048 \
		host_pending_mb=1024 max_pending_mb=1024 response_tmo=600 srq_size=$SRQ_SIZE
else
	must "shared receives" modprobe nvmet-rdma use_srq=1 srq_size=$SRQ_SIZE
	# its queues are of 128
	HOLDS=100 HOGS=5 SHARED=12
fi
must "a subsystem" eval "subsys $N && namespace $N 1 /dev/nullb0 && port 1 $MY_IP4 &&
	expose 1 $N"
for ((n = 0; n < HOGS; n++)); do
	must "another" eval "subsys $S$n && namespace $S$n 1 /dev/dm-0 && expose 1 $S$n"
done
must "an honest host" connect $N "$MY_IP4" 4420 -i 1 -k 600 -w "$MY_IP4"
honest=$CTRL
get_disk $N 1
step "nobody else"
for job in "${WORKLOADS[@]}"; do
	read -r rw bs qd <<< "$job"
	measure --rw="$rw" --bs="$bs" --iodepth="$qd"
	echo "    the first time: $job: $IOPS a second"
done
keeps nobody

step "a thousand connections that send nothing"
must "they are there" peer_start connect "$MY_IP4" 4420 idle 1000
keeps idle-1000
judge "they are still there" target_qps_are 1002
peer_stop
check_await 600 "they are gone" target_qps_are 2

# readers QPS RESENT HOW...: eight hosts of four queues, each of as many commands as it may
# have. Soft-RoCE sends a response that finds no receive again, and all that was posted behind
# it with it: if that is much data (RESENT), then it takes a part of the processor that no
# target decides about.
readers() {
	local n qps=$1 resent=$2 pids=()
	shift 2
	for n in {50..57}; do
		"$PEER" connect "$MY_IP4" 4420 "$@" 4 10.77.0.$n > "/run/$1.$n" 2>&1 &
		pids+=($!)
	done
	check_await 600 "they have sent what they may" eval \
		"[ \"\$(cat /run/$1.* | grep -c ready)\" = 8 ]"
	[ -z "$resent" ] || taken
	keeps "$1-32" ${resent:+"$TAKEN"}
	judge "they are still there" target_qps_are $((qps + 2))
	kill "${pids[@]}"
	wait "${pids[@]}"
	check_await 600 "they are gone" target_qps_are 2
}
step "hosts that take no answers"
readers 32 "" deaf
step "hosts of which each queue takes an answer in 100 ms"
readers 32 "" slow
# and an admin queue each
step "hosts that have the target read 64 KiB for each command, and take none of it"
readers 40 yes reads $N

step "a host that holds every receive that it may have"
honest_disk=$DISK
DISKS=() INFLIGHT=()
for ((n = 0; n < HOGS; n++)); do
	must "it is there" connect $S$n "$MY_IP4" 4420 -i 1 -k 600 -Q $GREEDY -w 10.77.0.60
	get_disk $S$n 1
	DISKS+=("--name=hold$n" "--filename=$DISK")
	INFLIGHT+=("$(dirname "$(path_stat)")/inflight")
done
equal "it shares them with the honest one" $SHARED "$(shared_qps)"
must "its disk answers nothing" dmsetup suspend --noudevsync --noflush --nolockfs holds
fio --direct=1 --ioengine=libaio --rw=randwrite --bs=4k --size=32M \
	--iodepth=$((GREEDY - 1)) --iodepth_batch=50 --time_based --runtime=600 \
	--output=/run/hold.out "${DISKS[@]}" > /run/hold.err 2>&1 &
hold=$!
# holds N: so many of its writes are with the target, each in a receive
holds() {
	runs $hold && cat "${INFLIGHT[@]}" | awk -v n="$1" '{ i += $1 + $2 } END { exit !(i >= n) }'
}
check_await 300 "it holds them" holds $((HOGS * HOLDS))
DISK=$honest_disk
keeps receives
judge "it still does" holds $((HOGS * HOLDS))
check "its disk answers" dmsetup resume --noudevsync holds
kill -KILL $hold
wait $hold $honest_fio 2> /dev/null
judge "the honest host was never disturbed" state_is "$honest" live
all_down
check "the disk is taken down" dmsetup remove --noudevsync holds
finish
