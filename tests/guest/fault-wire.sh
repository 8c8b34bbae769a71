#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    faults of the wire in short: pulled, lossy, dead in one direction; no acknowledged write is lost, no read stale
# guests:   target host
# variants: ours none
# check:    ours:6.12
# timeout:  500
. "$(dirname "$0")/lib.sh"
. "$GUEST_DIR/lib/fault.sh"

cases() {
	if fault link-10s "the wire is pulled for 10 s"; then
		check "pull" wire_pull
		nap 10
		check "plug" wire_plug
		fault_end ok
		fault_stood 9000
	fi

	if fault loss-1 "one packet of 100 is lost, both ways, for 20 s"; then
		both loss 1%
		nap 20
		check "some were" at_least 1 "$(netem_dropped)"
		both
		fault_end ok
	fi

	if fault half-open-in "for 10 s nothing arrives at the host"; then
		check "drop" wire_drop
		nap 10
		check "no more" wire_undrop
		fault_end ok
		fault_stood 9000
	fi
}

fault_run
