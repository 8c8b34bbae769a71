#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   what the host reports: debugfs with consistent counts, errors included, and tracepoints
# shares:  io
# check:   6.12
# timeout: 400
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/observe.sh"

N=nqn.2026-01.test:observe
MAN=$VM_REPO/Documentation/nvme-rdma.4
host_load
wire_up
must "a disk" memory_disk nullb0 16
simple_target $N /dev/nullb0
must "connect" connect $N "$MY_IP4" 4420 -i 2 -P 1 -c 1
DIR=/sys/kernel/debug/nvme_rdma/$CTRL
get_disk $N 1

# value QUEUE KEY
value() { sed -n "s/^$2 //p" "$DIR/queue$1"; }
# total KEY: over the I/O queues
total() { key_sum "$1" "$DIR"/queue[123]; }
# buckets FIRST LAST: of the histogram, from 0, over the I/O queues
buckets() {
	sed -n 's/^latency_log2_us //p' "$DIR"/queue[123] |
		awk -v first="$1" -v last="$2" '{
			for (i = first; i <= last; i++) n += $(i + 1) }
			END { print n + 0 }'
}
sent() {
	echo $(($(total sent_without_data) + $(total sent_in_capsule) +
		$(total sent_registered) + $(total sent_protected) +
		$(total sent_global_key)))
}

step "what a queue is"
equal "files" "queue0 queue1 queue2 queue3" "$(cd "$DIR" && echo queue*)"
equal "state" live "$(value 1 state)"
equal "device" rxe0 "$(value 1 device)"
equal "depth" 128 "$(value 1 depth)"
equal "polled queues" "0 0 1" \
	"$(value 1 polled) $(value 2 polled) $(value 3 polled)"
equal "in-capsule size" 4096 "$(value 2 in_capsule_size)"
equal "connected once" 1 "$(value 3 connects)"
equal "each key is in the manual page" "" \
	"$(for key in $(cut -d' ' -f1 "$DIR/queue1"); do
		grep -q "^\.It Cm $key\$" "$MAN" || echo "$key"; done)"
equal "and each of the page's is here" "" \
	"$(for key in $(sed -n 's/^\.It Cm //p' "$MAN"); do
		grep -q "^$key " "$DIR/queue1" || echo "$key"; done)"

step "what it did"
capsule=$(total sent_in_capsule) registered=$(total sent_registered)
read_bytes=$(total bytes_read) written=$(total bytes_written)
check "20 writes of 4 KiB, 10 of 64 KiB, 30 reads" small_and_large
more "in-capsule commands" sent_in_capsule 20 "$capsule"
more "registered commands" sent_registered 40 "$registered"
more "bytes read" bytes_read $((30 * 4096)) "$read_bytes"
more "bytes written" bytes_written $((20 * 4096 + 10 * 65536)) "$written"
polls=$(total polls)
check "polled reads" fio --name=p --filename="$DISK" --size=1M --bs=4k \
	--rw=read --ioengine=io_uring --hipri --direct=1 --output=/run/p
more "polls" polls 256 "$polls"

settled() { [ "$(sent)" -eq "$(total responses)" ]; }
check_await 30 "each command got one response" settled
equal "each response is in the histogram" "$(total responses)" \
	"$(total latency_log2_us)"
equal "each key was invalidated" "$(total sent_registered)" \
	$(($(total keys_invalidated_by_peer) + $(total keys_invalidated_here)))
equal "work requests: SENDs and REG_MRs" \
	$(($(sent) + $(total sent_registered))) "$(total work_requests)"
check "posts are fewer than work requests" \
	test "$(total posts)" -lt "$(total work_requests)"
check "signaled SENDs completed" \
	test "$(total sends_completed)" -eq "$(total signaled_sends)"
equal "no error of any kind" 0 "$(for key in connect connection_lost work flush \
	protocol post protection timeout; do total error_$key; done | sort -u)"

step "errors"
refuse 30 "a read beyond the end" nvme read "$DISK" -s 99999999 -c 0 -z 512
more "responses with an error" responses_with_error 1 0

step "a disk that takes 140 ms"
fast=$DISK
must "the disk" timer_disk slow 8 140000000
must "its namespace" namespace $N 2 /dev/slow
get_disk $N 2
check_await 20 "nobody else reads" settled
less=$(buckets 0 17) as_long=$(buckets 18 18) all=$(total latency_log2_us)
check "20 reads" dd if="$DISK" of=/dev/null bs=4096 count=20 iflag=direct \
	status=none
equal "none of them is counted as shorter than 134 ms" "$less" "$(buckets 0 17)"
check "all are in the histogram" \
	at_least 20 $(($(total latency_log2_us) - all))
# on a busy machine some reads take longer
three_as_long() {
	[ $(($(buckets 18 18) - as_long)) -ge 3 ] ||
		{ dd if="$DISK" of=/dev/null bs=4096 count=5 iflag=direct status=none && false; }
}
check_await 60 "those that nothing else holds up below 268 ms" three_as_long
equal "still none is counted as shorter" "$less" "$(buckets 0 17)"

step "commands that are late"
for path in /sys/block/nvme*c*n2 /sys/block/"${DISK##*/}"; do
	[ ! -e "$path/queue/io_timeout" ] || echo 20 > "$path/queue/io_timeout"
done
dd if="$DISK" of=/dev/null bs=4096 iflag=direct status=none &
READER=$!
one_late() { [ "$(total error_timeout)" -gt 0 ]; }
check_await 30 "one is too late" one_late
kill $READER
wait $READER
equal "an Abort was sent for each" "$(total error_timeout)" "$(total aborts)"
check_await 20 "the controller is live" state_is "$CTRL" live
check "the disk goes" namespace_remove $N 2
DISK=$fast

step "tracepoints"
all_in_manual nvme_rdma
echo 1 > $TRACING/events/nvme_rdma/enable
check "a write and a read" round_trip "$DISK" 4096
check "a reset" nvme reset "/dev/$CTRL"
check_await 20 "live again" state_is "$CTRL" live
echo 0 > $TRACING/events/nvme_rdma/enable
trace_is_whole
traced "the write" "nvme_rdma_send: $CTRL qid=[1-3] .*opcode=0x1 data=in-capsule bytes=4096 signaled=1"
traced "the read" "nvme_rdma_send: $CTRL qid=[1-3] .*opcode=0x2 data=registered bytes=4096"
traced "its response" "nvme_rdma_response: $CTRL qid=[1-3] cid=0x[0-9a-f]+ status=0x0 invalidated=1 ns=[1-9]"
traced "a queue that closes" "nvme_rdma_queue_state: $CTRL qid=1 live -> closing"
traced "and comes up" "nvme_rdma_queue_state: $CTRL qid=1 connected -> live"
traced "the CM" "nvme_rdma_cm_event: $CTRL qid=1 event=[0-9]+ status=0"
cqn=$(value 1 completion_queue)
check "the queue's completion queue is known to the device" \
	cq_is_shown "$RDMA_DEV" "$cqn" nvme_rdma
traced "it is polled" "nvme_rdma_cq_poll: dev=$RDMA_DEV cqn=$cqn vector=[0-9]+ by=(interrupt|softirq) found=[1-9]"
traced "and asks for interrupts" "nvme_rdma_cq_arm: dev=$RDMA_DEV cqn=$cqn vector=[0-9]+ missed=[01]"

step "counts outlive a connection"
equal "connected twice" 2 "$(value 3 connects)"

step "the target closes its port, and opens it again"
lost() { key_sum error_connection_lost "$DIR"/queue*; }
lost_some() { [ "$(lost)" -ge 1 ]; }
failed_twice() { [ "$(value 0 error_connect)" -ge 2 ]; }
equal "no connection was lost so far" 0 "$(lost)"
equal "and each attempt to connect went well" 0 "$(value 0 error_connect)"
flushed=$(total error_flush)
check "the port closes" conceal 1 $N
check_await 20 "connections were lost" lost_some
check_await 60 "two attempts to connect have failed" failed_twice
equal "none of an I/O queue" 0 "$(total error_connect)"
more "receives were flushed" error_flush 128 "$flushed"
check "the port opens" expose 1 $N
check_await 20 "live again" state_is "$CTRL" live
equal "connected for the third time" "3 3" "$(value 0 connects) $(value 3 connects)"
check "data" round_trip "$DISK" 4096

step "the files go with the controller"
check "disconnect" disconnect $N
check_await 30 "the files are gone" gone "$DIR"
all_down
check "the directory, too" gone /sys/kernel/debug/nvme_rdma
finish
