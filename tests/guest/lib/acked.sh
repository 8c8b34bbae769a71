# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# I/O during a fault, and verification of acknowledged writes
# afterwards: tests/fixtures/acked-io. Its log is beside the barriers, so that it outlives the
# guest, and any guest can verify.

ACKED=$VM_REPO/build/tools/acked
ACKED_LOG=$SYNC/acked-$VM_NAME.log
ACKED_OUT=/run/acked.out
ACKED_VERIFY=/run/acked.verify
ACKED_STATUS=/run/acked.status
# Seconds for outstanding I/O at the end, and for all reads of verify
ACKED_DRAIN=60
ACKED_READS=120
# Two threads with up to 16 I/Os outstanding, and pauses: soft-RoCE between two emulated
# guests does 10 MB/s, and with no time to breathe loses packets by itself
ACKED_GENTLE=(--size $((8 << 20)) --writers 2 --depth 8 --pace 15)

# acked_start DEVICE [options]: in the background; back when the first I/O is done
acked_start() {
	ACKED_DEV=$1
	shift
	rm -f $ACKED_OUT $ACKED_VERIFY $ACKED_STATUS
	"$ACKED" run "$ACKED_DEV" "$ACKED_LOG" --status $ACKED_STATUS \
		--drain $ACKED_DRAIN "$@" > $ACKED_OUT 2>&1 &
	ACKED_PID=$!
	ACKED_DONE=0
	await 30 _acked_began
	[ "$ACKED_DONE" -gt 0 ] || { cat $ACKED_OUT; return 1; }
}
_acked_began() { acked_moves || ! runs "$ACKED_PID"; }

# acked_now: how many I/Os have succeeded, in ACKED_OK, and failed, in ACKED_FAILED
acked_now() { read -r ACKED_OK ACKED_FAILED _ 2> /dev/null < $ACKED_STATUS; }

# acked_moves: more I/O has succeeded than at the last call
acked_moves() {
	local was=$ACKED_DONE
	acked_now || return 1
	ACKED_DONE=$ACKED_OK
	[ "$ACKED_OK" -gt "$was" ]
}

# acked_stands: no more I/O succeeds, for longer than soft-RoCE alone stands still
acked_stands() { acked_moves || :; nap 5; ! acked_moves; }

acked_fails() { acked_now && [ "$ACKED_FAILED" -gt 0 ]; }

_acked_said() { grep -qs '^verdict ' "$1"; }

# acked_end: stop I/O and wait until outstanding I/O has ended. Status 1 if it did not end, or
# if a read was wrong. (A process whose I/O hangs cannot be waited for.)
acked_end() {
	kill -TERM "$ACKED_PID" 2> /dev/null
	await $((ACKED_DRAIN + 30)) _acked_said $ACKED_OUT ||
		await 5 not runs "$ACKED_PID" || :
	cat $ACKED_OUT
	_acked_said $ACKED_OUT || { echo "acked: it came to no end"; return 1; }
	[ "$(acked_value verdict)" = hangs ] || wait "$ACKED_PID"
	[ "$(acked_value verdict)" = good ]
}

# acked_verify [DEVICE]: the writes in the log are on the disk; run by another process, of any
# guest
acked_verify() {
	"$ACKED" verify "${1:-$ACKED_DEV}" "$ACKED_LOG" > $ACKED_VERIFY 2>&1 &
	local pid=$!
	await $ACKED_READS eval "_acked_said $ACKED_VERIFY || ! runs $pid"
	cat $ACKED_VERIFY
	_acked_said $ACKED_VERIFY || { echo "acked: verify came to no end"; return 1; }
	wait $pid
}

# acked_verify_of GUEST DEVICE: verify the writes acknowledged to another guest, which may be
# dead
acked_verify_of() { ACKED_LOG=$SYNC/acked-$1.log acked_verify "$2"; }

# acked_stop: both; acked_clean: and no I/O has failed
acked_stop() { acked_end && acked_verify; }
acked_clean() {
	acked_stop && [ "$(acked_value io_errors)" = 0 ] && [ "$(acked_found bytes_verified)" -gt 0 ]
}

# acked_given_up: I/O fails, because its disk is gone, and ends. Acknowledged writes are
# verified elsewhere: acked_verify DEVICE
acked_given_up() { await 60 acked_fails && acked_end; }

# acked_value KEY: a value of the run; acked_found KEY: a value of verify; '-' if there is none
acked_value() { _acked_of $ACKED_OUT "$1"; }
acked_found() { _acked_of $ACKED_VERIFY "$1"; }
_acked_of() {
	local value
	value=$(sed -n "s/^$2 //p" "$1" 2> /dev/null)
	echo "${value:--}"
}
