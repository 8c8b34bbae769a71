# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Steps, checks, counts; the exit status.
#
# Each check prints one line, "ok - words" or "not ok - words"; the last line
# of a scenario is "N passed, N failed". Checks run in the scenario's own
# shell, never in a subshell, where counts would be lost.

CHECKS_PASSED=0
CHECKS_FAILED=0
FINISHED=
CHECK_OUT=/run/check.out	# what the last checked command printed
STARTED=${EPOCHREALTIME/./}

_kmsg() { echo "<6>test: $*" > /dev/kmsg; }

# seconds since the scenario began, with a tenth
elapsed() {
	local us=$((${EPOCHREALTIME/./} - STARTED))
	printf '%d.%d' $((us / 1000000)) $((us / 100000 % 10))
}

# step WORDS...: announce the next step, here and in the kernel's log
step() {
	echo "== $(elapsed) s: $*"
	_kmsg "== $*"
}

pass() {
	CHECKS_PASSED=$((CHECKS_PASSED + 1))
	echo "ok - $*"
}

fail() {
	CHECKS_FAILED=$((CHECKS_FAILED + 1))
	echo "not ok - $* (at $(elapsed) s)"
	_kmsg "not ok - $*"
}

# check WORDS COMMAND...: the command has to succeed
check() {
	local words=$1 rc
	shift
	"$@" > "$CHECK_OUT" 2>&1
	rc=$?
	if [ $rc -eq 0 ]; then
		pass "$words"
		return 0
	fi
	fail "$words: '$*' ended with status $rc"
	sed 's/^/    /' "$CHECK_OUT"
	return 1
}

# refuse SECONDS WORDS COMMAND...: the command has to fail by itself, with
# words, within SECONDS
refuse() {
	local limit=$1 words=$2 rc
	shift 2
	timeout -k 5 "$limit" "$@" > "$CHECK_OUT" 2>&1
	rc=$?
	if [ $rc -eq 124 ] || [ $rc -eq 137 ]; then
		fail "$words: '$*' was still at it after $((limit * SLOW)) s"
	elif [ $rc -eq 126 ] || [ $rc -eq 127 ]; then
		fail "$words: '$*' is no program that can be run"
	elif [ $rc -eq 0 ]; then
		fail "$words: '$*' succeeded"
	elif [ ! -s "$CHECK_OUT" ]; then
		fail "$words: '$*' failed without a word"
	else
		pass "$words (status $rc: $(tail -n 1 "$CHECK_OUT"))"
		return 0
	fi
	sed 's/^/    /' "$CHECK_OUT"
	return 1
}

# equal WORDS WANTED GOT
equal() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1: expected '$2', got '$3'"
		return 1
	fi
}

# for check: two numbers, expected and found
at_least() { [ "$2" -ge "$1" ] || { echo "$2, expected are $1"; return 1; }; }
at_most() { [ "$2" -le "$1" ] || { echo "$2, allowed are $1"; return 1; }; }

# must WORDS COMMAND...: as check, but the scenario cannot continue after a failure
must() {
	check "$@" || die "cannot go on"
}

die() {
	fail "$*"
	finish
}

# mark: remember where the kernel's log is now, for said
mark() {
	LOG_MARK="vmtest mark $RANDOM$RANDOM"
	_kmsg "$LOG_MARK"
}

_log_since_mark() {
	dmesg | sed "1,/$LOG_MARK/d"
}

# said SECONDS WORDS REGEX: the kernel has logged a match since the mark
said() {
	local end
	deadline end "$1"
	while ! _log_since_mark | grep -v 'test: ' | grep -Eq -- "$3"; do
		if timed_out "$end"; then
			fail "$2: the kernel did not say '$3'; it said:"
			_log_since_mark | sed 's/^/    /'
			return 1
		fi
		nap 0.2
	done
	pass "$2: $(_log_since_mark | grep -v 'test: ' | grep -Em1 -- "$3" |
		    sed 's/^\[[^]]*\] //')"
}

finish() {
	FINISHED=1
	[ $CHECKS_FAILED -eq 0 ] || say_if_starved
	echo "$CHECKS_PASSED passed, $CHECKS_FAILED failed"
	[ $CHECKS_FAILED -eq 0 ] && [ $CHECKS_PASSED -gt 0 ]
	exit $?
}

_on_exit() {
	local rc=$?
	[ -n "$FINISHED" ] && exit $rc
	fail "the scenario ended before its end, status $rc"
	say_if_starved
	echo "$CHECKS_PASSED passed, $CHECKS_FAILED failed"
	exit 1
}
trap _on_exit EXIT
