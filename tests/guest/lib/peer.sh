# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A peer that connects and then does as it was told: tests/fixtures/misbehaving-peer/peer.c.

PEER=$VM_REPO/build/tools/peer
PEER_OUT=/run/peer.out

# peer_start WORD...: starts it in the background; back when it is ready
peer_start() {
	peer_stop
	"$PEER" "$@" > $PEER_OUT 2>&1 &
	PEER_PID=$!
	await "${PEER_READY:-30}" peer_said ready || { cat $PEER_OUT; return 1; }
}

peer_said() { grep -q -- "$1" $PEER_OUT; }

peer_stop() {
	[ -n "${PEER_PID-}" ] || return 0
	kill "$PEER_PID"
	wait "$PEER_PID"
	PEER_PID=
}
