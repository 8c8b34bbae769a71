#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   features: nr_io_queues, nr_write_queues, nr_poll_queues, io_uring polled without an interrupt, queue_size
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:queues
host_load
wire_up
must "a disk" memory_disk nullb0 64
simple_target $N /dev/nullb0

# io RW COUNT [fio options]: so many 4 KiB commands
io() {
	fio --name=io --filename="$DISK" --direct=1 --ioengine=io_uring \
		--rw="$1" --bs=4k --number_ios="$2" --size=8M --iodepth=8 \
		--randrepeat=0 --norandommap "${@:3}"
}

# on_queue OPCODE QID: commands of this opcode that came by this queue
on_queue() { counted $COMMANDS "qid: *$2, opcode: *$1 "; }

# calls_of FUNCTION COMMAND...: how often the host called it meanwhile: CALLS
calls_of() {
	echo "$1:mod:nvme_rdma" > $TRACING/set_ftrace_filter &&
		echo > $TRACING/trace &&
		echo function > $TRACING/current_tracer || return 1
	shift
	"$@"
	local status=$?
	grep ' <-' $TRACING/trace > /run/calls
	CALLS=$(wc -l < /run/calls)
	[ "$(trace_lost)" = 0 ] || { echo "records of the trace are lost"; status=1; }
	echo nop > $TRACING/current_tracer
	echo > $TRACING/set_ftrace_filter
	return $status
}

step "a queue for writes, one for reads, one that is polled"
must "count commands by queue" counting $COMMANDS qid,opcode
mark
must "connect" connect $N "$MY_IP4" 4420 -i 1 -W 1 -P 1 -k 600
said 5 "the kernel's words" "$CTRL: mapped 1/1/1 default/read/poll queues"
equal "queues, admin queue included" 4 "$(ctrl_attr queue_count)"
get_disk $N 1

was=$(on_queue 1 1)
check "64 writes" io randwrite 64
check "came by queue 1" at_least 64 $(($(on_queue 1 1) - was))
was=$(on_queue 2 2)
check "64 reads" calls_of nvme_rdma_cq_interrupt io randread 64
check "with interrupts" at_least 1 "$CALLS"
check "came by queue 2" at_least 64 $(($(on_queue 2 2) - was))
equal "none by queue 3" "0 0" "$(on_queue 1 3) $(on_queue 2 3)"
was=$(counted $COMMANDS "qid: *[012],")
check "64 reads, io_uring polled" calls_of nvme_rdma_cq_interrupt \
	io randread 64 --hipri
others=$(($(counted $COMMANDS "qid: *[012],") - was))
check "without an interrupt, but for those of $others others" \
	at_most $((others * 2)) "$CALLS" || tail -n 50 /run/calls
equal "came by queue 3" 64 "$(on_queue 2 3)"
check "64 writes, io_uring polled" calls_of nvme_rdma_poll \
	io randwrite 64 --hipri
equal "came by queue 3" 64 "$(on_queue 1 3)"
check "the queue was polled for them" at_least 16 "$CALLS"
check "polled, with verification" fio_verify "$DISK" 2M --ioengine=io_uring \
	--hipri
check "a reset" nvme reset "/dev/$CTRL"
check_await 20 "live again" state_is "$CTRL" live
check "polled, with verification, after it" fio_verify "$DISK" 1M \
	--ioengine=io_uring --hipri
counted_off $COMMANDS qid,opcode

# mapped OPTIONS QUEUES WORDS: checks which queues a connection with OPTIONS has
mapped() {
	check "disconnect" disconnect $N
	mark
	# shellcheck disable=SC2086
	must "connect $1" connect $N "$MY_IP4" 4420 $1
	said 5 "the kernel's words" "$CTRL: mapped $3 default/read/poll queues"
	equal "queues with $1" "$2" "$(ctrl_attr queue_count)"
	get_disk $N 1
	check "data" round_trip "$DISK" 65536
}

step "numbers of queues; each kind has at most one for each of 2 processors"
mapped "-i 1" 2 1/0/0
mapped "-i 16" 3 2/0/0
mapped "-i 2 -W 2 -P 2" 7 2/2/2

step "the target grants fewer queues, then more, under I/O"
check "disconnect" disconnect $N
must "connect" connect $N "$MY_IP4" 4420 -i 2 -W 2 -c 1 -l 600
equal "queues" 5 "$(ctrl_attr queue_count)"
get_disk $N 1
must "I/O" io_start "$DISK"
for most in 1 3 128; do
	check "the port closes" conceal 1 $N
	check "no more than $most" \
		_put $NVMET/subsystems/$N/attr_qid_max $most
	check "the port opens" expose 1 $N
	[ $most -le 4 ] || most=4
	check_await 60 "the host has $most" queues_are $((most + 1))
	check_await 30 "I/O goes on" io_moves
done
check "every block was verified, no error" io_stop
check "disconnect" disconnect $N
must "no more than two" _put $NVMET/subsystems/$N/attr_qid_max 2
must "connect" connect $N "$MY_IP4" 4420
mapped "-i 1 -W 1 -P 2" 3 1/1/0
must "and 128 again" _put $NVMET/subsystems/$N/attr_qid_max 128

# takes: entries of a queue that the controller takes, from its CAP.MQES
takes() {
	nvme get-property "/dev/$CTRL" --offset=0 |
		sed -n 's/.*value: *\([0-9a-f]*\)$/\1/p' | {
			read -r cap
			echo $(((0x$cap & 0xffff) + 1))
		}
}

step "queue_size from 16 to 1024, the most that the core takes"
check "disconnect" disconnect $N
for size in 16 256 1024; do
	must "queue_size=$size" connect $N "$MY_IP4" 4420 -i 1 -Q $size
	most=$(takes)
	check "the controller takes 256 or more" at_least 256 "$most"
	[ $size -le "$most" ] || size=$most
	equal "entries" $((size - 1)) "$(ctrl_attr sqsize)"
	get_disk $N 1
	check "fio, as many at once and twice that" fio_verify "$DISK" 2M \
		--bsrange=4k-4k --iodepth=$((2 * size))
	equal "the controller is live" live "$(state_of "$CTRL")"
	check "disconnect" disconnect $N
done
for size in 15 1025; do
	mark
	check "queue_size=$size is refused" fabrics_refused \
		"traddr=$MY_IP4,nqn=$N,queue_size=$size" "Invalid argument"
	said 5 "the kernel's words" "nvme_fabrics: Invalid queue_size $size"
done

P=$NVMET/ports/1/param_max_queue_size
if [ -e $P ]; then
	step "param_max_queue_size of the port"
	must "close the port" conceal 1 $N
	must "32" _put $P 32
	must "open it" expose 1 $N
	must "connect" connect $N "$MY_IP4" 4420 -i 1 -Q 128
	equal "entries" 31 "$(ctrl_attr sqsize)"
	equal "the controller takes no more" 32 "$(takes)"
	get_disk $N 1
	check "fio" fio_verify "$DISK" 1M --iodepth=64
else
	not_here "ports have no param_max_queue_size"
fi
all_down
finish
