#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    packets are lost, delayed, reordered, duplicated or corrupted in both directions: no acknowledged write is lost, no read is stale
# guests:   target host
# variants: ours none
# check:    none
# timeout:  1500
# allow:    WARNING: .* rxe_completer\+|^Call Trace:$
#
# Soft-RoCE prints a warning if the response to a READ is out of order: check_ack() lets the
# READ fail without a reason (6.12). The connection ends as well.
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/fault.sh"

# count COUNTER...: sets COUNTED to what soft-RoCE has counted on both guests, in all
count() {
	local ports=/sys/class/infiniband/rxe0/ports/1/hw_counters
	there "cd $ports && cat $*" > /run/theirs
	COUNTED=$(cd $ports && cat "$@" /run/theirs | awk '{ n += $1 } END { print n }')
}
# Counters of requester and responder for missing and early packets
MISSED="out_of_seq_request rcvd_seq_err completer_retry_err"

# bad NAME SECONDS WORDS...: what netem makes of packets for so long
bad() {
	local name=$1 seconds=$2
	shift 2
	fault "$name" "$*, both ways, for $seconds s" || return
	both "$@"
	nap "$seconds"
	both
	fault_end ok
}

# seen NAME SECONDS COUNTERS WORDS...: the same, which leaves its mark on COUNTERS
seen() {
	local name=$1 seconds=$2 counters=$3 before
	shift 3
	# shellcheck disable=SC2086
	count $counters
	before=$COUNTED
	bad "$name" "$seconds" "$@" || return
	# shellcheck disable=SC2086
	count $counters
	check "$name: soft-RoCE has seen it" at_least $((before + 1)) "$COUNTED"
}

cases() {
	seen loss-0.1 30 "$MISSED" loss 0.1%
	seen loss-1 30 "$MISSED" loss 1%
	seen loss-5 30 "$MISSED" loss 5%
	dropped=$(netem_dropped)
	seen loss-burst 30 "$MISSED" loss gemodel 1% 30% 80% 0.1%
	check "some were lost" at_least $((dropped + 10)) "$(netem_dropped)"
	bad delay-50ms 20 delay 50ms
	# there and back
	check "each took long" at_least 100 "$(acked_value slowest_io_ms)"
	seen jitter 20 "$MISSED" delay 20ms 15ms
	seen reorder 20 "$MISSED" delay 10ms reorder 75% 50%
	seen duplicate 20 duplicate_request duplicate 5%
	seen corrupt-0.1 30 "$MISSED" corrupt 0.1%
	seen corrupt-1 30 "$MISSED" corrupt 1%
	seen everything 30 "$MISSED" delay 10ms 5ms loss 0.5% duplicate 1% corrupt 0.2%
}

fault_run
