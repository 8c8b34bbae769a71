# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Parts of the bench's guests: a disk, in-tree and our modules in turn, jobs of fio. The machine
# below counts instructions on request (tell).
export FABRIC=$BENCH_DEVICE MTU=${MTU:-1500}
. "$(dirname "$0")/../../guest/lib.sh"

N=nqn.2026-01.bench:null
OUT=/vm/$VM_NAME
COUNTERS=/sys/kernel/debug/$FABRIC/$RDMA_DEV/counters
DISK=
# Jobs that are to be done by the next do_jobs
JOBS=()
# Programs that read from a disk that is full
FULL=()
JOB_FILE=/run/jobs.fio
# The host's address, if it has another one than the target, and its I/O queues
FROM=
QUEUES=1

# Host and target share a processor here. A worker that wakes would preempt fio at once, so that
# each command is alone on its way whatever the queue's depth. On separate machines neither can
# preempt the other, so that workers wait for the processor here. Not if fio polls: then it
# never sleeps.
preemption() { # on|off
	local no=NO_
	[ "$1" = off ] && [ -z "$BENCH_PREEMPT" ] || no=
	echo "${no}WAKEUP_PREEMPTION" > /sys/kernel/debug/sched/features
}

# Occasional events would be in one figure and not in another. The kernel runs modprobe for
# modules that are loaded (at each connect) or do not exist (when a scheduler is removed). While
# modprobe waits for files, a clock that counts instructions advances by seconds. Whether fio's
# buffers are in huge pages is chance, and 1 MiB costs less if they are.
quiet() {
	preemption off
	echo never > /sys/kernel/mm/transparent_hugepage/enabled
	sysctl -qw kernel.modprobe= kernel.watchdog=0 kernel.hung_task_timeout_secs=0 \
		vm.stat_interval=3600 vm.dirty_writeback_centisecs=0
}

# backing [WHICH]: one of the disks behind the target
#   inline    /dev/nullb0: a command completes before the function that submits it returns;
#             with a queue to be polled, unless UNPOLLED is set
#   softirq   /dev/nullb1: in a softirq, in a guest of two processors. With one, or with a
#             queue to be polled, the block layer completes it at once
#   timer     /dev/nullb2: 10 us later, by a timer of its own
#   nvme      the NVMe disk that QEMU has, with a queue to be polled
#   polled    /dev/nullb3: as inline, with a queue to be polled in any case
# disk() knows "beside", too: inline, while another queue's disk is full
backing() {
	local d=/sys/kernel/config/nullb/nullb number=0 mode=0 poll=0
	case ${1:-inline} in
	inline) [ -n "${UNPOLLED-}" ] || poll=1 ;;
	polled) number=3 poll=1 ;;
	softirq) number=1 mode=1 ;;
	timer) number=2 mode=2 ;;
	nvme)
		modprobe nvme poll_queues=1 && await 20 has_pcie_disk
		return ;;
	esac
	d+=$number
	modprobe null_blk nr_devices=0 && mkdir $d && echo 1024 > $d/size &&
		echo $mode > $d/irqmode && echo 10000 > $d/completion_nsec &&
		echo $poll > $d/poll_queues && echo 1 > $d/power &&
		[ -b /dev/nullb$number ] || return 1
	no_scheduler /sys/block/nullb$number/queue
}

pcie_disk() {
	local c d
	for c in /sys/class/nvme/nvme*; do
		[ "$(cat "$c/transport")" = pcie ] || continue
		for d in /sys/block/"${c##*/}"n*; do
			[ -b "/dev/${d##*/}" ] && echo "/dev/${d##*/}" && return
		done
	done
	return 1
}

has_pcie_disk() { pcie_disk > /dev/null; }

# module_file NAME WHOSE SIDE
module_file() {
	local of=/lib/modules/$VM_KVER
	case $2 in
	ours | threads) echo "$of/updates/$1.ko" ;;
	uncounted) echo "$VM_REPO/build/uncounted/$VM_KVER/$1.ko" ;;
	*) compgen -G "$of/kernel/drivers/nvme/$3/$1.ko*" ;;
	esac
}

# no_scheduler DIR: of the queue in sysfs, of which it may have none now
no_scheduler() {
	local has
	read -r has < "$1/scheduler" && [[ $has = *"[none]"* ]] || echo none > "$1/scheduler"
}

# adjacent random blocks stay separate commands; of a multipath disk, the paths have the queues.
# Removing a scheduler waits for a while, for all of them together. Newer kernels refuse it while
# they change the queues of another path.
no_merges() {
	local spaces=("$NVMET/subsystems/$N/namespaces"/*)
	# a disk that appears later would keep its scheduler
	check_await 60 "each path is there" \
		paths_are $(($(controllers $N | wc -l) * ${#spaces[@]}))
	check "each I/O is a command" _no_merges
}

paths_are() {
	local paths=(/sys/block/nvme*c*n*)
	[ "$1" = 0 ] || { [ -e "${paths[0]}" ] && [ ${#paths[@]} -ge "$1" ]; }
}

_no_merges() (
	local q bad=0 pid pids=()
	for q in "/sys/block/${DISK##*/}/queue" /sys/block/nvme*c*n*/queue; do
		[ ! -e "$q/nomerges" ] || echo 2 > "$q/nomerges"
		# what disks of several queues have: here it is one, for one processor
		[ -e "$q/scheduler" ] || continue
		await 20 no_scheduler "$q" ||
			{ echo "$q keeps its scheduler"; false; } &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || bad=1
	done
	return $bad
)

symbols() {
	cat /proc/kallsyms > "$OUT/$PAIR.symbols" && tell symbols "$PAIR.symbols"
}

# tell WORDS...: the machine below (plugin/count.c)
tell() { "$VM_REPO/build/tools/mark" "$@"; }

# down: what the last pair has left
down() {
	do_jobs
	disconnect_all > /dev/null 2>&1
	check "all is taken down" target_teardown
	check_await 30 "no controller is left" no_controllers
	local m
	for m in nvme_rdma nvmet_rdma nvme_loop; do
		module_loaded $m || continue
		check_await 30 "nobody holds $m" module_idle $m
		check "unload $m" rmmod $m
	done
}

loop_up() {
	local p=$NVMET/ports/1
	modprobe nvme-loop && subsys $N && namespace $N 1 /dev/nullb0 &&
		mkdir "$p" && echo loop > "$p/addr_trtype" && expose 1 $N &&
		nvme connect -t loop -n $N -k 600 "$@"
}

host_insert() { insmod "$(module_file nvme-rdma "$1" host)"; }

target_insert() {
	local parameters=()
	[ "$1" != threads ] || parameters=(io_threads=Y)
	insmod "$(module_file nvmet-rdma "$1" target)" "${parameters[@]}"
}

rdma_up() { # HOST TARGET OPTIONS...
	target_insert "$2" && host_insert "$1" &&
		_simple_target $N /dev/nullb0 || return 1
	shift 2
	connect $N "$MY_IP4" 4420 -k 600 ${FROM:+-w "$FROM"} "$@"
}

# free_kib: unused memory. MemAvailable does not include the free pages of each processor, which
# may be tens of MiB.
free_kib() {
	sync
	echo 3 > /proc/sys/vm/drop_caches
	awk '$1 == "MemAvailable:" { kib = $2 }
	     $1 == "count:" { kib += $2 * 4 }
	     END { print kib }' /proc/meminfo /proc/zoneinfo
}

# grow NUMBER: so many controllers with one I/O queue each, all of them paths to one disk. A
# line of the file "grown" has the numbers of controllers before and after, and the free KiB;
# the instructions of connecting are counted
grow() {
	local have want=$1 free
	do_jobs
	have=$(controllers $N | wc -l)
	free=$(free_kib)
	tell begin "$PAIR.grow@$want"
	check "$want controllers" grow_by $((want - have))
	tell end
	echo "$PAIR $have $want $free $(free_kib)" >> "$OUT/grown"
	no_merges
}

grow_by() {
	local i options=traddr=$MY_IP4,trsvcid=4420,nqn=$N,nr_io_queues=1
	options+=,hostnqn=$HOSTNQN,hostid=$HOSTID,keep_alive_tmo=600,duplicate_connect${FROM:+,host_traddr=$FROM}
	for ((i = 0; i < $1; i++)); do
		fabrics "$options" || return 1
	done
}

# queues NUMBER: so many controllers with one I/O queue each, which I/O takes in turn
queues() {
	do_jobs
	check "$1 controllers" grow_by $(($1 - $(controllers $N | wc -l)))
	no_merges
	policy round-robin
}

# policy WHICH: which of the paths I/O takes: numa (one), round-robin (each)
policy() {
	local s
	do_jobs
	for s in /sys/class/nvme-subsystem/nvme-subsys*; do
		[ "$(cat "$s/subsysnqn")" != $N ] || echo "$1" > "$s/iopolicy"
	done
}

has_threads() { pgrep nvmet-io > /run/threads; }

# threads_up: the target's threads are there, which the first commands of the disk have started,
# and run where they shall
threads_up() {
	local pid
	await 20 has_threads || return 1
	while read -r pid; do
		taskset -pc "${THREADS_CPU:-0}" "$pid" > /dev/null || return 1
	done < /run/threads
}

# pair NAME HOST TARGET [OPTIONS]: selects what is measured from now on: the modules (ours,
# kernel; loop; raw for the disk itself), and how to connect
pair() {
	local host=$2 target=$3
	PAIR=$1
	HOST=$2
	shift 3
	step "$PAIR"
	down
	DISK=
	case $host in
	raw) DISK=/dev/nullb0 ;;
	loop) check "connect" loop_up "$@" || return ;;
	*) check "connect" rdma_up "$host" "$target" -i $QUEUES "$@" || return ;;
	esac
	if [ -z "$DISK" ]; then
		check_await 20 "a disk" has_disk $N 1 || return
		DISK=$(disk_of $N 1)
	fi
	no_merges
	[ "$target" != threads ] || check "threads" threads_up
	check "symbols" symbols
}

# disk WHICH [commands]: what I/O goes to from now on, see backing, which makes it if it is not
# there yet; as NVMe commands if so
disk() {
	local number path
	do_jobs
	case $1 in
	inline) number=1 path=/dev/nullb0 ;;
	beside)
		number=1 path=/dev/nullb0
		check "another disk is full" full_begins
		;;
	softirq) number=2 path=/dev/nullb1 ;;
	timer) number=3 path=/dev/nullb2 ;;
	nvme) number=4 path=$(pcie_disk) ;;
	polled) number=5 path=/dev/nullb3 ;;
	esac
	if [ ! -b "$path" ]; then
		must "a disk, $1" backing "$1"
		if [ "$1" = nvme ]; then
			check "symbols of its module" symbols
			path=$(pcie_disk)
		fi
	fi
	DISK=$path
	if [ "$HOST" != raw ]; then
		DISK=
		has_disk $N $number ||
			check "$1: a namespace" namespace $N $number "$path" || return
		get_disk $N $number
	fi
	no_merges
	[ "${2-}" != commands ] || DISK=/dev/ng${DISK#/dev/nvme}
}

counters() {
	[ ! -e "$COUNTERS" ] || cp "$COUNTERS" "$OUT/$1"
}

# before NAME WARM COUNT: counts between calls of the functions that read and write a disk, or
# begin a command of its character device; the first WARM calls are not counted
before() {
	counters "$1.before"
	tell arm "$1" "$2" "$3" blkdev_read_iter blkdev_write_iter \
		nvme_ns_chr_uring_cmd nvme_ns_head_chr_uring_cmd
}

after() { # NAME
	tell disarm
	counters "$1.after"
}

run_fio() { # OUTPUT OPTIONS...
	fio --norandommap --randrepeat=1 --clocksource=clock_gettime --lat_percentiles=1 \
		--clat_percentiles=0 --output-format=json --output="$OUT/$1" "${@:2}"
}

# job NAME WARM COUNT FIO...: to be done by do_jobs. One with larger blocks than pages has a fio of
# its own: what it costs depends on whether pages of a buffer are adjacent, and hence on what was
# in memory before.
job() {
	local name=$PAIR.$1
	if [[ " $* " != *" --bs=4096 "* ]]; then
		job_alone "$@"
		return
	fi
	[ -n "$DISK" ] || { fail "$name: no disk"; return; }
	[ ${#JOBS[@]} -gt 0 ] || : > $JOB_FILE
	JOBS+=("$name")
	printf '%s\n' "[$name]" stonewall "filename=$DISK" \
		"exec_prerun=bash /run/around before $name $2 $3" \
		"exec_postrun=bash /run/around after $name" "${@:4}" | sed 's/^--//' >> $JOB_FILE
}

# do_jobs: those that were collected, one after another in one fio. Its start takes longer than a
# job: it loads 60 libraries, and measures the clock for 64 ms, which are as many million
# instructions. What it says of all of them is in PAIR.FIRST.fios
do_jobs() {
	local first=${JOBS[0]-} number=${#JOBS[@]}
	[ "$number" -gt 0 ] || return 0
	JOBS=()
	{
		declare -p OUT COUNTERS VM_REPO
		declare -p VRNIC_SHOWN TARGET_DEV HOST_DEV 2> /dev/null
		declare -f tell counters before after
		echo '"$@"'
	} > /run/around
	(cd /run && check "$number jobs from $first on" run_fio "$first.fios" $JOB_FILE)
	[ ${#FULL[@]} -eq 0 ] || full_ends
}

# full_begins: another queue has more commands than its disk takes, each for five seconds. They are
# not adjacent, so that none are merged.
full_begins() {
	local of=nqn.2026-01.bench:full i
	[ -b /dev/nullb4 ] || timer_disk nullb4 64 5000000000 hw_queue_depth=2 || return
	subsys $of && namespace $of 1 /dev/nullb4 && expose 1 $of &&
		connect $of "$MY_IP4" 4420 -k 600 -i 1 ${FROM:+-w "$FROM"} &&
		await 60 has_disk $of 1 || return
	# the start of fio takes seconds, see quiet()
	for i in {0..7}; do
		dd if="$(disk_of $of 1)" of=/dev/null bs=4k count=1 skip=$((2 * i)) \
			iflag=direct status=none &
		FULL+=($!)
	done
}

# full_ends: the jobs have ended before the disk took all commands
full_ends() {
	local pid
	check "the other disk was full" full_runs
	for pid in "${FULL[@]}"; do
		check "and goes on" wait "$pid"
	done
	FULL=()
}

full_runs() {
	local pid
	for pid in "${FULL[@]}"; do
		kill -0 "$pid" 2> /dev/null && return
	done
	return 1
}

# job_alone NAME WARM COUNT FIO...: a job at once, by a fio of its own
job_alone() {
	local name=$PAIR.$1
	[ -n "$DISK" ] || { fail "$name: no disk"; return; }
	before "$name" "$2" "$3"
	check "$name" run_fio "$name.fio" --name=b --filename="$DISK" "${@:4}"
	after "$name"
}
