#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    packets are lost, late, out of order, twice there or wrong, both ways; no acknowledged write is lost, no read stale
# guests:   target host
# variants: ours none
# check:    none
# timeout:  1500
# allow:    WARNING: .* rxe_completer\+|^Call Trace:$
#
# Soft-RoCE warns of itself where the response to a READ comes out of order: check_ack()
# ends the READ as one that failed, and gives no reason (6.12). The connection ends, too.
. "$(dirname "$0")/lib.sh"
. "$GUEST_DIR/lib/fault.sh"

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

cases() {
	bad loss-0.1 30 loss 0.1%
	bad loss-1 30 loss 1%
	bad loss-5 30 loss 5%
	bad loss-burst 30 loss gemodel 1% 30% 80% 0.1%
	check "some were lost" at_least 10 "$(netem_dropped)"
	bad delay-50ms 20 delay 50ms
	bad jitter 20 delay 20ms 15ms
	bad reorder 20 delay 10ms reorder 75% 50%
	bad duplicate 20 duplicate 5%
	bad corrupt-0.1 30 corrupt 0.1%
	bad corrupt-1 30 corrupt 1%
	bad everything 30 delay 10ms 5ms loss 0.5% duplicate 1% corrupt 0.2%
}

fault_run
