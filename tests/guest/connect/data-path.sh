#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   cost of a command: posts, registrations, invalidations, signaled sends and copies, counted by the function tracer
# shares:  io
# check:   6.12
# debug:   no
# timeout: 400
# cpus:    1 2
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:data-path
T=/sys/kernel/tracing
LOG=/run/trace
BTF_ARGS=

FUNCTIONS="rxe_post_send ib_map_mr_sg nvme_rdma_place_command
	nvme_rdma_post_invalidate rxe_post_recv nvme_rdma_send_done
	nvme_rdma_recv_done nvme_rdma_unmap_data"

# The tracer prints each call as a line "function <-caller". Host and target are in one guest;
# the caller tells which of them made the call.
trace_on() {
	local f
	: > $T/set_ftrace_filter
	for f in $FUNCTIONS; do
		echo "$f" >> $T/set_ftrace_filter || return 1
	done
	echo function > $T/current_tracer || return 1
	[ -z "$BTF_ARGS" ] || {
		echo 'p:dp/grant rxe_reg_fast_mr access=wqe->wr.wr.reg.access' \
			> $T/kprobe_events && echo 1 > $T/events/dp/enable
	} || return 1
	: > $T/trace
	echo 1 > $T/tracing_on
}

trace_off() {
	echo 0 > $T/tracing_on
	cat $T/trace > $LOG
	# before another tracer empties it
	LOST=$(trace_lost)
	echo nop > $T/current_tracer
	[ ! -e $T/events/dp ] || echo 0 > $T/events/dp/enable
	: > $T/kprobe_events
	: > $T/set_ftrace_filter
}

# count FUNCTION [CALLER]
count() { grep -c " $1 <-${2-}" $LOG; }

# rights of the keys that were registered
granted() { grep -o ' access=.*' $LOG | sort -u | tr -d ' \n'; }

# trace_io RW BLOCK COUNT: runs COUNT commands in batches of 16, 32 at a time. COMPLETED is the
# number of completed commands, which may include some admin commands.
trace_io() {
	must "trace" trace_on
	check "fio: $3 times $1 of $2" fio --name=io --filename="$DISK" \
		--direct=1 --ioengine=io_uring --rw="$1" --bs="$2" \
		--number_ios="$3" --size=48M --iodepth=32 \
		--iodepth_batch_submit=16 --iodepth_batch_complete_min=16 \
		--randrepeat=0 --norandommap
	check "the trace" trace_off
	equal "nothing is missing in it" 0 "$LOST"
	COMPLETED=$(count nvme_rdma_recv_done)
	POSTS=$(count rxe_post_send nvme_rdma_post_locked)
	LISTS=$(count nvme_rdma_queue_rqs)
	MAPPED=$(count ib_map_mr_sg nvme_rdma_)
	COPIED=$(count nvme_rdma_place_command)
	INVALIDATED=$(count nvme_rdma_post_invalidate)
	SENT=$(count nvme_rdma_send_done)
	RECEIVES=$(count rxe_post_recv nvme_rdma_post_chain)
	echo "    $COMPLETED completed in $LISTS lists, $POSTS posts of the host and" \
		"$(count rxe_post_send nvmet_rdma_) of the target, $MAPPED" \
		"registered, $INVALIDATED LOCAL_INV, $SENT signaled sends," \
		"$RECEIVES posts of receives, $COPIED copied"
	check "$3 commands were seen" at_least "$3" "$COMPLETED"
	check "and few others" at_most $(($3 + 20)) "$COMPLETED"
}

# Each response's receive is given back before its command is completed. They
# are posted eight at a time, and there are eight more than commands: so when one
# is completed, no more than seven of each queue's, of three, are missing.
receives_first() {
	awk '/ nvme_rdma_recv_done <-/ { n++ }
		/ rxe_post_recv <-nvme_rdma_post_chain/ { n -= 8 }
		/ nvme_rdma_unmap_data <-/ && n > 3 * 7 {
			print n " receives are missing: " $0
			exit 1
		}' $LOG
}

# Two consecutive commands with the same tag of a queue must have different IDs; the last three
# digits of an ID are the tag. Otherwise a second answer to the first command would complete the
# second one.
ids_differ() {
	awk '/ nvme_rdma_send: / {
			n++
			for (i = 1; i <= NF; i++)
				if ($i ~ /^qid=/)
					queue = $i
				else if ($i ~ /^cid=0x/)
					id = "000" substr($i, 7)
			tag = substr(id, length(id) - 2)
			if (last[queue, tag] == id) {
				print "twice in turn: " $0
				twice = 1
			}
			last[queue, tag] = id
		}
		END {
			print "    " n " IDs"
			exit twice || n < 1024
		}' $LOG
}

# ids SCHEDULER: of writes and flushes, which take a tag of another request
ids() {
	check "scheduler $1" queue_set scheduler "$1"
	: > $T/trace
	echo 1 > $T/events/nvme_rdma/nvme_rdma_send/enable
	echo 1 > $T/tracing_on
	check "fio: writes and flushes" fio --name=io --filename="$DISK" \
		--direct=1 --ioengine=io_uring --rw=randwrite --bs=4k \
		--number_ios=1024 --size=48M --iodepth=32 --fsync=64
	echo 0 > $T/tracing_on
	echo 0 > $T/events/nvme_rdma/nvme_rdma_send/enable
	cat $T/trace > $LOG
	trace_is_whole
	check "no ID comes twice in turn to a tag" ids_differ
}

# with PARAMETERS...: reload nvme-rdma with these parameters, and connect
with() {
	disconnect_all > /dev/null 2>&1
	must_await 20 "no controller is left" no_controllers
	unload nvme-rdma
	must "nvme-rdma ${*:-as it comes}" modprobe nvme-rdma "$@"
	# without keep-alive and its commands
	must "connect" connect $N "$MY_IP4" 4420 -k 600
	get_disk $N 1
	# neighbours among random blocks stay commands of their own
	queue_set nomerges 2
	# by default only disks of several queues have none
	queue_set scheduler none
}

host_load
wire_up
must "a disk" fast_disk nullb0 64
simple_target $N /dev/nullb0
echo 0 > $T/tracing_on
echo mono > $T/trace_clock
echo 8192 > $T/buffer_size_kb
# 6.1's probes do not know arguments by name, and its blk-mq is not given queue_rqs()
case $VM_KVER in 6.1.*) ;; *) BTF_ARGS=1 FUNCTIONS+=" nvme_rdma_queue_rqs" ;; esac

step "reads of 4 KiB"
with
check_module nvme-rdma
check_module nvmet-rdma
trace_io randread 4k 1024
check "one post for a batch" at_most $((COMPLETED / 4)) "$POSTS"
check "some posts" at_least 16 "$POSTS"
[ -z "$BTF_ARGS" ] ||
	check "blk-mq hands over lists of requests" at_least 16 "$LISTS"
check "each read is registered" at_least 1024 "$MAPPED"
equal "the controller invalidates: no LOCAL_INV" 0 "$INVALIDATED"
check "most sends are not signaled" at_most $((COMPLETED / 4)) "$SENT"
check "some are" at_least 16 "$SENT"
equal "no command is copied to a capsule" 0 "$COPIED"
check "a post of receives for eight completions" \
	at_least $((COMPLETED / 8 - 1)) "$RECEIVES"
check "and no more" at_most $((COMPLETED / 8 + 1)) "$RECEIVES"
check "posted before the completion" receives_first
[ -z "$BTF_ARGS" ] ||
	equal "a read's key grants local and remote writing" "access=3" \
		"$(granted)"

step "writes of 4 KiB, in the capsule"
trace_io randwrite 4k 512
check "one post for a batch" at_most $((COMPLETED / 4)) "$POSTS"
equal "nothing is registered" 0 "$MAPPED"
check "each send is signaled" at_least 512 "$SENT"
check "each command is in a capsule" at_least 512 "$COPIED"
check "posted before the completion" receives_first

step "command IDs"
ids mq-deadline
ids none

step "writes of 64 KiB"
trace_io randwrite 64k 128
equal "each is registered" 128 "$MAPPED"
equal "no LOCAL_INV" 0 "$INVALIDATED"
equal "no command is copied to a capsule" 0 "$COPIED"
[ -z "$BTF_ARGS" ] ||
	equal "a write's key grants remote reading" "access=4" \
		"$(granted)"

step "remote_invalidate=N"
with remote_invalidate=N
trace_io randread 4k 256
equal "each key is invalidated once by LOCAL_INV" "$MAPPED" \
	"$INVALIDATED"
check "each read is registered" at_least 256 "$MAPPED"

step "register_always=N"
with register_always=N
trace_io randread 4k 256
equal "nothing is registered" 0 "$MAPPED"
equal "nothing is invalidated" 0 "$INVALIDATED"
all_down
finish
