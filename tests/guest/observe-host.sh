#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   what the host shows: debugfs, whose counts add up, and tracepoints
# check:   6.12
# timeout: 400
. "$(dirname "$0")/lib.sh"
. "$GUEST_DIR/lib/observe.sh"

N=nqn.2026-01.test:observe
MAN=$VM_REPO/Documentation/nvme-rdma.4
host_load
wire_up
must "a disk" null_disk nullb0 16
simple_target $N /dev/nullb0
must "connect" connect $N "$MY_IP4" 4420 -i 2 -P 1
DIR=/sys/kernel/debug/nvme_rdma/$CTRL
get_disk $N 1

# value QUEUE KEY
value() { sed -n "s/^$2 //p" "$DIR/queue$1"; }
# total KEY: over the I/O queues
total() { key_sum "$1" "$DIR"/queue[123]; }
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
check_await 10 "each command got one response" settled
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
refuse 10 "a read beyond the end" nvme read "$DISK" -s 99999999 -c 0 -z 512
more "responses with an error" responses_with_error 1 0

step "tracepoints"
equal "each tracepoint is in the manual page" "" \
	"$(for t in "$TRACING"/events/nvme_rdma/nvme_rdma_*; do
		grep -q "^\.It Sy ${t##*/}\$" "$MAN" || echo "${t##*/}"; done)"
equal "and each of the page's is here" "" \
	"$(for t in $(sed -n 's/^\.It Sy //p' "$MAN"); do
		[ -d "$TRACING/events/nvme_rdma/$t" ] || echo "$t"; done)"
echo 1 > $TRACING/events/nvme_rdma/enable
check "a write and a read" round_trip "$DISK" 4096
check "a reset" nvme reset "/dev/$CTRL"
check_await 20 "live again" state_is "$CTRL" live
echo 0 > $TRACING/events/nvme_rdma/enable
traced "the write" "nvme_rdma_send: $CTRL qid=[1-3] .*opcode=0x1 data=in-capsule bytes=4096 signaled=1"
traced "the read" "nvme_rdma_send: $CTRL qid=[1-3] .*opcode=0x2 data=registered bytes=4096"
traced "its response" "nvme_rdma_response: $CTRL qid=[1-3] cid=0x[0-9a-f]+ status=0x0 invalidated=1 ns=[1-9]"
traced "a queue that closes" "nvme_rdma_queue_state: $CTRL qid=1 live -> closing"
traced "and comes up" "nvme_rdma_queue_state: $CTRL qid=1 connected -> live"
traced "the CM" "nvme_rdma_cm_event: $CTRL qid=1 event=[0-9]+ status=0"

step "counts outlive a connection, the files a controller"
equal "connected twice" 2 "$(value 3 connects)"
check "disconnect" disconnect $N
check_await 10 "the files are gone" gone "$DIR"
all_down
check "the directory, too" gone /sys/kernel/debug/nvme_rdma
finish
