# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Waiting with a deadline; barriers between guests.
#
# No wait is a plain pause: each names its event, and has a deadline that is a failure. On a
# debug kernel and on a slow machine deadlines are multiplied. Time during which the guest had
# no processor of the machine below does not count: the harness writes it to VM_STARVED
# (tests/vm/harness/guest.py).
readonly SLOW=${VM_SLOW:-1}
# The same for amounts, which a slow machine does not change: more than 1 on a kernel that
# watches itself
readonly WATCHED=${VM_WATCHED:-1}
# How many times as slow the machine is, for kernel timers, which follow neither
readonly MACHINE_SLOW=$((SLOW / WATCHED))

SYNC=/vm/sync
exec {NAP_FD}<> <(:)

# timeout SECONDS COMMAND...: as timeout(1), with such a deadline. A command that ended after
# it also returns 124. In a subshell: the caller's $! stays.
timeout() (
	options=()
	while [[ $1 == -* ]]; do
		options+=("$1" "$2")
		shift 2
	done
	deadline end "$1"
	# 0: without its own deadline; the event that ends it also ends the command
	command timeout "${options[@]}" 0 "${@:2}" <&0 &
	pid=$!
	{ until timed_out "$end"; do nap 0.5; done; kill "$pid"; } > /dev/null 2>&1 &
	dog=$!
	wait "$pid"
	status=$?
	kill "$dog" 2> /dev/null
	wait "$dog" 2> /dev/null
	! timed_out "$end" || exit 124
	exit $status
)

# nap SECONDS, without starting a program (a tenth of a second, emulated)
nap() {
	read -rt "$1" -u "$NAP_FD" _ || :
}

# runs PID: the process does. A child that has ended counts as one that does not, whether
# bash has noticed or not: bash 5.2 blocks SIGCHLD for good where the time of nap's read is
# over before it begins, as on a machine that starves the guest (read_builtin() sets a signal
# mask that it has not got yet). wait still works then, kill -0 is no way to ask.
runs() {
	local stat
	{ read -r stat < "/proc/$1/stat"; } 2> /dev/null || return 1
	stat=${stat##*) }
	[ "${stat%% *}" != Z ]
}

# _starved: for how many microseconds this guest has waited for a processor, in STARVED
_starved() {
	STARVED=0
	read -r STARVED 2> /dev/null < "${VM_STARVED:-/dev/null}" || :
	STARVED=$((STARVED * 1000))
}

# begin NAME: the time is in variable NAME, for ms_since
begin() {
	_starved
	printf -v "$1" '%s' "${EPOCHREALTIME/./}-$STARVED"
}

# ms_since TIME: milliseconds since begin, or since EPOCHREALTIME was TIME, its point left out
ms_since() {
	local now=${EPOCHREALTIME/./}
	if [[ $1 == *-* ]]; then
		_starved
		now=$((now - STARVED))
	fi
	now=$(((now - ($1)) / 1000))
	# the event may be noticed late
	echo $((now > 0 ? now : 0))
}

# deadline NAME SECONDS: the moment is in variable NAME
deadline() {
	_starved
	printf -v "$1" '%s' $((${EPOCHREALTIME/./} - STARVED + $2 * SLOW * 1000000))
}

# timed_out DEADLINE: it is over
timed_out() {
	[ "${EPOCHREALTIME/./}" -ge "$1" ] || return 1
	_starved
	[ $((${EPOCHREALTIME/./} - STARVED)) -ge "$1" ]
}

# await SECONDS COMMAND...: until the command succeeds; status 1 if it never did
await() {
	local end limit=$1
	shift
	deadline end "$limit"
	until "$@" > /dev/null 2>&1; do
		! timed_out "$end" || return 1
		nap 0.1
	done
}

# check_await SECONDS WORDS COMMAND...: the same, as a check
check_await() {
	local limit=$1 words=$2 from=${EPOCHREALTIME/./} ms
	shift 2
	if await "$limit" "$@"; then
		ms=$(((${EPOCHREALTIME/./} - from) / 1000))
		pass "$words (after $ms ms)"
	else
		fail "$words: not within $((limit * SLOW)) s: '$*'"
		return 1
	fi
}

# must_await: as check_await, but the scenario cannot continue after a failure
must_await() {
	check_await "$@" || die "cannot go on"
}

not() { ! "$@"; }

# gone PATH...: none of these is there (globs are matched by the caller)
gone() {
	local p
	for p; do
		[ ! -e "$p" ] || return 1
	done
}

# signal_peers NAME [VALUE]: tell the other guests that NAME has been reached
signal_peers() {
	echo "${2-}" > "$SYNC/at-$1.new" && mv "$SYNC/at-$1.new" "$SYNC/at-$1"
}

_reached() {
	[ -e "$SYNC/failed" ] && die "guest '$(cat "$SYNC/failed")' has failed"
	[ -e "$SYNC/at-$1" ]
}

# wait_for NAME SECONDS: until another guest signals NAME; its value is in VALUE
wait_for() {
	local end
	deadline end "$2"
	until _reached "$1"; do
		! timed_out "$end" || die "no other guest said '$1' in $2 s"
		nap 0.1
	done
	read -r VALUE < "$SYNC/at-$1" || :
}

# ask_below LINE: a request to the machine below (tests/vm/harness/control.py)
ask_below() {
	local n=$VM_NAME-${EPOCHREALTIME/./}
	WIRE_HARMED=yes
	echo "$*" > "$SYNC/.new-$n" && mv "$SYNC/.new-$n" "$SYNC/ask-$n"
	await 15 test -e "$SYNC/answer-$n" || {
		echo "no answer from below to '$*'"
		return 1
	}
	read -r VALUE < "$SYNC/answer-$n"
	[ "$VALUE" = ok ] || { echo "$VALUE"; return 1; }
}
