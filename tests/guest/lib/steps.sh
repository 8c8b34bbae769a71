# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Stepping through the faults that one round of connect, I/O and disconnect can meet
# (tests/round), for a scenario that sources this after lib.sh, vrnic-wire.sh and
# vrnic-faults.sh.

ROUND=$VM_REPO/build/tools/round
ROUND_OUT=/run/round.out
# A round that met no fault takes a second or two; one that met some, its deadlines too
ROUND_LIMIT=150

# steps_begin OPTIONS: those of /dev/nvme-fabrics; a first round, without a fault
steps_begin() {
	ROUND_OPTIONS="transport=rdma,$1,ctrl_loss_tmo=600,reconnect_delay=1"
	ROUND_OPTIONS+=",keep_alive_tmo=10,hostnqn=$HOSTNQN,hostid=$HOSTID"
	ROUNDS=0
	must "a round without a fault" round
	equal "it connected at once" "connect tries=1 errno=0" "$(head -n 1 $ROUND_OUT)"
}

# round: back when nothing of it is left, the controller's resources neither
round() {
	ROUNDS=$((ROUNDS + 1))
	timeout -k 5 $ROUND_LIMIT "$ROUND" "$ROUND_OPTIONS" $ROUNDS > $ROUND_OUT 2>&1 ||
		{ cat $ROUND_OUT; return 1; }
	await 30 no_controllers || { echo "a controller is left"; return 1; }
}

# steps_through EVERY DEVICE LINE: a round for each (or, for a short run, each
# EVERYth) number in place of NTH, until no round is long enough to meet it. One check
# for all of them, and one for those that were met.
steps_through() {
	local every=$1 dev=$2 line=$3 n=1 met=0 failed=0 twice=0 from=$SECONDS longest=0 ms
	local at
	step "$dev: $line"
	while :; do
		vrnic_fault "$dev" "${line/NTH/$n}" || die "$dev does not take '$line'"
		at=${EPOCHREALTIME/./}
		if ! round > /run/round.words; then
			failed=$((failed + 1))
			fail "$dev: ${line/NTH/$n}: $(tail -n 1 /run/round.words)"
			[ $failed -lt 3 ] || break
			disconnect_all > /dev/null 2>&1
			await 60 no_controllers || die "a controller is left"
		fi
		ms=$(ms_since "$at")
		[ "$ms" -le $longest ] || longest=$ms
		grep -q "tries=1" $ROUND_OUT || twice=$((twice + 1))
		none_armed "$dev" || break
		met=$((met + 1))
		n=$((n + every))
	done
	vrnic_fault "$dev" clear
	[ $failed -gt 0 ] || pass "$dev: ${line/NTH/1 to $((n - every))}: all rounds were right"
	check "it was met: $met times" at_least 1 $met
	echo "result steps.$dev.${line// /_} rounds=$met connected_twice=$twice" \
		"longest_ms=$longest seconds=$((SECONDS - from))"
}
