#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma doctor: TCP port 4420 of iWARP, dropped by the target and by the host
# guests:  target host
# with:    siw
# check:   none
# timeout: 400
FABRIC=siw
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/fault.sh"
. "$GUEST_DIR/lib/doctor.sh"

N=nqn.2026-01.test:doctor
DROP="tcp dport 4420 drop"

target() { firewalled_target $N; }

host() {
	host_of_target
	DOCTOR_CHECK=port-blocked
	DOCTOR_ARGS=("$PEER")
	clean_now "all is well"

	step "the target drops it"
	check "a rule there" there "nft add rule inet filter input $DROP"
	finds port-blocked error "does not answer a connection request: .* firewall" "$PEER"
	check "what to look at there shows the rule" there "{ ${MEND_THERE[0]-false}; } | grep -q '$DROP'"
	equal "no rule is here" "" "${MEND[0]-}"
	check "the rule goes" there "nft flush chain inet filter input"
	clean_now

	step "this host drops it"
	check "a rule here" nft "add table inet here; add chain inet here out { type filter hook output priority 0; }; add rule inet here out $DROP"
	finds port-blocked error "does not answer a connection request: .* firewall" "$PEER"
	check "what to look at here shows it" eval "${MEND[0]-false} | grep -q '$DROP'"
	nft flush ruleset
	clean_now
	there_is_no_more
	all_down
	finish
}

"$VM_NAME"
