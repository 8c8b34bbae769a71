#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    the host freezes under I/O, with or without its clock: the target releases its resources within the keep-alive timeout, and the host reconnects
# guests:   host target
# variants: ours none
# check:    none
# timeout:  900
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/fault.sh"

clock_may_leap

KATO=5
# nvmet gives a host that sent anything in the last time another one, then takes it down
FREED=$((KATO * 2000 + 5000))

# Of this scenario it is the target that asks for the host to stop
stand() {
	local from
	stop_peer "$1" host || return 1
	begin from
	await 60 resources_back target
	echo $? "$(ms_since "$from")" > /run/stood
	[ "$3" -gt "$(($(ms_since "$from") / 1000))" ] &&
		nap $(($3 - $(ms_since "$from") / 1000))
	start_peer "$2" host
}

# stood NAME STOP GO SECONDS WORDS
stood() {
	local free
	fault "$1" "$5" || return
	check "it stands, and goes on" there "stand $2 $3 $4"
	fault_end ok
	judge "the target gave back all that it held" there "sed -n '/^0 /!q1;p' /run/stood"
	free=$(sed 's/.* //' "$CHECK_OUT")
	echo "result $1-target free_ms=$free"
	judge "in time" at_most $FREED "$free"
}

cases() {
	stood host-paused pause resume 30 "it stands still for 30 s, and its clock"
	stood host-frozen freeze thaw 30 "it stands still for 30 s, and its clock goes on"
	[ "${CASE-}" != host-frozen ] || fault_stood 25000
}

fault_run
