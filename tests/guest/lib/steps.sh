# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Stepping through the faults that one round of connect, I/O and disconnect can meet
# (tests/fixtures/io-round), for a scenario that sources this after lib.sh, vrnic-wire.sh and
# vrnic-faults.sh.

# Each STEPS_EVERYth number is met: on a kernel that watches itself, where all of them would
# take days, each tenth
STEPS_EVERY=${STEPS_EVERY:-$((WATCHED > 1 ? 10 : 1))}
ROUND=$VM_REPO/build/tools/round
ROUND_OUT=/run/round.out
ROUND_LOG=/run/round.log
# A round that met no fault takes a second or two; one that met some, its deadlines too
ROUND_LIMIT=150

# steps_begin OPTIONS: those of /dev/nvme-fabrics; a first round, without a fault
steps_begin() {
	ROUND_OPTIONS="transport=rdma,$1,ctrl_loss_tmo=600,reconnect_delay=1"
	ROUND_OPTIONS+=",keep_alive_tmo=10,hostnqn=$HOSTNQN,hostid=$HOSTID"
	ROUNDS=0
	rm -f $ROUND_LOG
	must "a round without a fault" round
	equal "it connected at once" "connect tries=1 errno=0" "$(head -n 1 $ROUND_OUT)"
}

# steps_over_wire: the same from one device of the virtual wire to the other. Queues are
# short: a receive more that is posted and flushed is a round more that shows nothing new.
steps_over_wire() {
	local nqn=nqn.2026-01.test:steps options
	host_load
	vrnic_wire roce ack_lag=8
	must "a disk" memory_disk nullb0 64
	soon_noticed
	must "so have those of the admin queue" eval \
		'echo 5 > /sys/module/nvme_core/parameters/admin_timeout'
	simple_target $nqn /dev/nullb0 $TARGET_IP
	options="nqn=$nqn,traddr=$TARGET_IP,trsvcid=4420,host_traddr=$HOST_IP"
	steps_begin "$options,nr_io_queues=1,queue_size=16"
}

# round [look]: one round; returns when all its resources are released, including the
# controller's. With look, the writes acknowledged to earlier rounds have to be on the disk.
round() {
	ROUNDS=$((ROUNDS + 1))
	_round "$@"
}
_round() {
	command timeout -k 5 $((ROUND_LIMIT * SLOW)) "$ROUND" "$ROUND_OPTIONS" $ROUNDS $ROUND_LOG "$@" \
		> $ROUND_OUT 2>&1 &
	# a process whose I/O never ends cannot be killed
	await $((ROUND_LIMIT + 10)) not runs $! || { echo "a round that cannot be killed"; return 1; }
	wait $! || { cat $ROUND_OUT; return 1; }
	await 30 no_controllers || { echo "a controller is left"; return 1; }
}

# leave: whatever a round has left; in the background, as that may not end
leave() {
	disconnect_all > /dev/null 2>&1 &
	await 60 _left $!
}

_left() { ! runs "$1" && no_controllers; }

# excused: whether a round that was wrong is not what the scenario is about
excused() { false; }

# faulty_round WORDS: one that meets a fault; it is counted in TWICE if it had to connect
# twice, in LONGEST if none took as many milliseconds, and in FAILED if it was wrong
faulty_round() {
	local at ms
	begin at
	if ! round > /run/round.words; then
		excused || {
			FAILED=$((FAILED + 1))
			fail "$1: $(tail -n 1 /run/round.words)"
		}
		leave || die "a controller is left"
	fi
	ms=$(ms_since "$at")
	[ "$ms" -le $LONGEST ] || LONGEST=$ms
	grep -q "tries=1" $ROUND_OUT || TWICE=$((TWICE + 1))
}

# steps_count DEVICE LINE: NUMBERS is how many numbers in place of NTH a round without a
# fault has; by some, it is not the same each time
steps_count() {
	local far=1000000 left
	vrnic_fault "$1" "${2/NTH/$far}" || die "$1 does not take '$2'"
	must_quietly round
	left=$(sed -n 's/.* (\([0-9]*\) to go)$/\1/p' "$VRNIC_SHOWN/$1/faults")
	vrnic_fault "$1" clear
	NUMBERS=$((far - left))
}

# steps_met EVERY MET: checks that each (or EVERYth) of NUMBERS was, but for a fifth
steps_met() {
	check "met: $2 of $NUMBERS, each ${1}th" at_least $((NUMBERS * 4 / 5 / $1 + 1)) "$2"
}

# steps_fault DEVICE LINE: prints the fault; with STEPS_SKIP, false for the first STEPS_SKIP
# faults. tests/vrnic/in-tree uses that to continue after a fault that a guest did not survive.
STEPS_FAULTS=0
steps_fault() {
	STEPS_FAULTS=$((STEPS_FAULTS + 1))
	[ $STEPS_FAULTS -gt "${STEPS_SKIP:-0}" ] || return
	STEPS_NAME=steps.$1.${2// /_}
	step "$1: $2"
	echo "fault $STEPS_NAME"
}

# steps_end: there is no other fault
steps_end() { echo "faults end"; }

# steps_through EVERY DEVICE LINE: a round for each (or, for a short run, each EVERYth) number
# in place of NTH, until two rounds are too short to reach the number. One check for all rounds,
# and one for the faults that occurred.
steps_through() {
	local every=$1 dev=$2 line=$3 n=1 met=0 unmet=0 from=$SECONDS used=$(keys_used_late)
	FAILED=0 TWICE=0 LONGEST=0
	steps_fault "$dev" "$line" || return
	steps_count "$dev" "$line"
	while [ $FAILED -lt 3 ] && [ $unmet -lt 2 ]; do
		vrnic_fault "$dev" "${line/NTH/$n}" || die "$dev does not take '$line'"
		faulty_round "$dev: ${line/NTH/$n}"
		if none_armed "$dev"; then
			met=$((met + 1)) unmet=0 n=$((n + every))
		else
			unmet=$((unmet + 1))
			vrnic_fault "$dev" clear
		fi
	done
	[ $FAILED -gt 0 ] || pass "$dev: ${line/NTH/1 to $((n - every))}: all rounds were right"
	[[ "$line" != "cqe recv NTH twice from=nvmet_rdma" ]] || taken_twice "$used"
	steps_met "$every" $met
	echo "result $STEPS_NAME rounds=$met numbers=$NUMBERS bad=$FAILED" \
		"connected_twice=$TWICE longest_ms=$LONGEST seconds=$((SECONDS - from))"
}

# keys_used_late: how many of the target's RDMA operations were by keys that were gone
keys_used_late() {
	dmesg | grep -c "$HOST_DEV: violation: .*: a peer's RDMA .* not valid: invalidated"
}

# taken_twice BEFORE: if the device reports the receive of a command twice, the command is
# executed twice if its receive was reposted in between. The keys of the first execution may
# then be invalid. That is the device's fault, and ends the connection. BEFORE is the previous
# count.
taken_twice() {
	EXCUSED[$HOST_DEV]=$(($(keys_used_late) - $1))
	[ "${EXCUSED[$HOST_DEV]}" = 0 ] ||
		echo "    of these rounds, ${EXCUSED[$HOST_DEV]} executed a command twice"
}

# steps_through_all DEVICE MODULE: each fault that a work request, completion or post of
# MODULE can meet, at each STEPS_EVERYth
steps_through_all() {
	local what
	for what in "wr any NTH flush" "wr any NTH retry after" "wr recv NTH loc-prot" \
		"wr any NTH qp-dies" "wr recv NTH qp-dies" \
		"cqe send NTH delay 20000" "cqe recv NTH delay 20000" \
		"cqe send NTH reorder" "cqe recv NTH reorder" \
		"cqe send NTH twice" "cqe recv NTH twice" \
		"cqe send NTH never" "cqe recv NTH never" \
		"cqe send NTH overrun" "cqe recv NTH overrun" \
		"post any NTH 12" "post recv NTH 12"; do
		steps_through "$STEPS_EVERY" "$1" "$what from=$2"
	done
}

# deaths EVERY DEVICE CARD LINE: for each (or EVERYth) number in place of NTH, a round in which
# the device dies and is removed, until two rounds are too short to reach the number. Such a
# round may fail anywhere, but must not hang, nor read data that was not written. The next
# round, with a new device, has to succeed, and finds the writes that were acknowledged before.
# KEPT counts those writes.
deaths() {
	local every=$1 dev=$2 card=$3 line=$4 n=1 met=0 unmet=0 failed=0 kept from=$SECONDS
	KEPT=0
	steps_fault "$dev" "$line" || return
	steps_count "$dev" "$line"
	while [ $failed -lt 3 ] && [ $unmet -lt 2 ]; do
		vrnic_fault "$dev" "${line/NTH/$n}" || die "$dev does not take '$line'"
		# not in the background, where the number would be lost
		ROUNDS=$((ROUNDS + 1))
		_round > /run/round.words &
		await $ROUND_LIMIT _died_or_ended "$dev" $! || die "the round does not end"
		none_armed "$dev" || {
			wait $!
			unmet=$((unmet + 1))
			vrnic_fault "$dev" clear
			continue
		}
		must_quietly timeout 60 rdma link delete "$dev"
		must_quietly vrnic_add "$dev" "$card"
		wait $!
		_died_well && _next_is_right || {
			failed=$((failed + 1))
			fail "$dev: ${line/NTH/$n}: $(tail -n 1 $ROUND_OUT)"
		}
		kept=$(sed -n 's/^looked .* of_last=//p' $ROUND_OUT)
		KEPT=$((KEPT + ${kept:-0}))
		met=$((met + 1)) unmet=0 n=$((n + every))
	done
	[ $failed -gt 0 ] || pass "$dev: ${line/NTH/1 to $((n - every))}: each next round was right"
	steps_met "$every" $met
	echo "result $STEPS_NAME rounds=$met numbers=$NUMBERS bad=$failed kept=$KEPT" \
		"seconds=$((SECONDS - from))"
}
_died_or_ended() { none_armed "$1" || ! runs "$2"; }
_died_well() {
	local last
	last=$(tail -n 1 $ROUND_OUT)
	[ "$last" = ok ] || [[ $last = *": "* && $last != *"not what was written"* ]]
}
_next_is_right() {
	leave && await 60 listeners_are 1 && await 30 pings && round look
}
must_quietly() { "$@" > "$CHECK_OUT" 2>&1 || die "$*: $(cat "$CHECK_OUT")"; }
