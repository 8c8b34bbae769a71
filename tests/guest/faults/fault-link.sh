#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    the wire is pulled briefly, for long, repeatedly, past fast_io_fail_tmo and ctrl_loss_tmo, or fails in one direction
# guests:   target host
# variants: ours none
# check:    none
# timeout:  1500
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/fault.sh"

# pulled NAME SECONDS WORDS OUTCOME: at the host's end
pulled() {
	fault "$1" "$3" || return
	check "pull" wire_pull
	nap "$2"
	check "plug" wire_plug
	fault_end "$4"
	fault_stood $((${5:-$2} * 1000 - 500))
}

flaps() {
	local i
	fault link-flaps "10 times a second without the wire, then one with it" || return
	for i in 1 2 3 4 5 6 7 8 9 10; do
		check "pull" wire_pull
		nap 1
		check "plug" wire_plug
		nap 1
	done
	fault_end ok
}

# dead NAME SECONDS WORDS [there]: nothing arrives at the host, or there
dead() {
	fault "$1" "$3" || return
	# shellcheck disable=SC2086
	check "drop" ${4-} wire_drop
	nap "$2"
	# shellcheck disable=SC2086
	check "no more" ${4-} wire_undrop
	fault_end ok
	fault_stood $(($2 * 1000 - 500))
}

cases() {
	pulled link-1s 1 "the wire is pulled for 1 s" ok
	pulled link-10s 10 "the wire is pulled for 10 s" ok
	pulled link-40s 40 "the wire is pulled for 40 s" ok
	flaps
	dead half-open-in 30 "for 30 s nothing arrives at the host"
	dead half-open-out 30 "for 30 s nothing arrives at the target" there

	step "with a fast_io_fail_tmo of 3 s"
	fault_again "$FAULT_OPTIONS,fast_io_fail_tmo=3"
	pulled fast-io-fail 25 "the wire is pulled for 25 s" errors 1
	check "I/O failed, not at once" at_least 3000 "$(acked_value longest_stall_ms)"

	step "with a ctrl_loss_tmo of 5 s"
	fault_again reconnect_delay=1,ctrl_loss_tmo=5,keep_alive_tmo=5,nr_io_queues=2
	if fault ctrl-loss "the wire is pulled until the host gives up"; then
		check "pull" wire_pull
		check_await 90 "the host gives up" no_controllers $FAULT_NQN
		check "plug" wire_plug
		fault_end gone
	fi
}

fault_run
