#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    in short: a lossy wire, errors of the target's disk; no acknowledged write is lost, no read is stale (a pulled or dead wire: recovery, fault-link)
# guests:   target host
# variants: ours none
# check:    ours:6.12
# timeout:  500
# cpus:     1 2
# allow:    WARNING: .* rxe_completer\+|^Call Trace:$
#
# The warning is soft-RoCE's, see fault-loss.
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/fault.sh"

# What makes the disk of memory_disk() fail, and not fail any more
FAILS="echo +0-65535 > /sys/kernel/config/nullb/nullb0/badblocks"
HEALS=${FAILS/+/-}
if [ "${IO_THREADS-}" ]; then
	FAILS="echo 5 1000000000 > /sys/block/nullb0/memdisk/fail"
	HEALS="echo 5 0 > /sys/block/nullb0/memdisk/fail"
fi

some_dropped() { [ "$(netem_dropped)" -ge 1 ]; }

cases() {
	if fault loss-1 "one packet of 100 is lost, both ways, for 20 s"; then
		both loss 1%
		nap 20
		check_await 60 "some were" some_dropped
		both
		fault_end ok
	fi

	if fault disk-errors "the target's disk fails for a time"; then
		check "it begins" there "$FAILS"
		check_await 20 "I/O fails" acked_fails
		check "it ends" there "$HEALS"
		fault_end errors
	fi
}

fault_run
