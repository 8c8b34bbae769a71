#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   a target that breaks the rules of NVMe/RDMA, the most telling cases: the host refuses, recovers or reports an error, in time and with a message
# check:   6.12
# timeout: 900
# cpus:    1 2
# allow:   UBSAN: shift-out-of-bounds in drivers/nvme/host/nvme.h|WARNING: .* nvme_parse_ana_log\+|^Call Trace:$
#
# nvme-core computes with a namespace's block size before it refuses a wrong one
# (nvme_update_ns_info_block(), 6.12), and warns of a wrong ANA log, with any transport.
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/hostile-target.sh"

QUICK="good|accept-(len|crqsize-0)|reject-(status|cm|back-wrong)|too-late|leave-(io|read)"
QUICK+="|response-(short|long)|cid-(generation|idle|event)|twice|flood|status-(once|connect)"
QUICK+="|invalidate-(unknown|other)|not-invalidated|write-immediate-16|event-(unasked|invalidate|firmware-lost)"
QUICK+="|lost-abort|subsystem-reset-gone|read-nothing|beyond-read|read-of-read|stale-write|key-guessed|ioccsz-0"
QUICK+="|recv-few|key-other-queue|stale-association|cancelled-other-queue"
QUICK+="|maxcmd-1|mdts|cntlid-other|kas-0|csts-never|queues-refused|ns-lba-size|back-m(qes|axcmd)"
QUICK+="|ana-(log|leaves)|connect-atr|aborted(-path)?"

# By hand: ONLY=REGEX, THIN=values of a case; tests/hostile/in-tree-host sets the others
hostile_up
step "cases"
hostile_drive --only "${ONLY:-^($QUICK)\$}" ${AFTER:+--after "$AFTER"} ${RECORD:+--record} \
	--thin "${THIN:-1}"
check "every case was driven" grep -q '^all: [1-9]' $HOSTILE_RESULTS
hostile_judge
[ -n "${ONLY-}${RECORD-}" ] || {
	step "twists that a seed makes"
	hostile_drive --fuzz 1 0 5
	check "all were driven" grep -q '^all: 5 ' $HOSTILE_RESULTS
	hostile_judge
}

# short_discovery TWIST: a discovery controller has no I/O queues, so that values about I/O
# queues do not matter
short_discovery() {
	local peer ctrl
	"$HOSTILE" "$MY_IP4" 4431 "$1" > /run/short-discovery 2>&1 &
	peer=$!
	must_await 30 "$1 listens" grep -q ready /run/short-discovery
	check "a discovery controller with $1" dd of=/dev/nvme-fabrics bs=4096 status=none \
		<<< "transport=rdma,nqn=nqn.2014-08.org.nvmexpress.discovery,traddr=$MY_IP4,trsvcid=4431,hostnqn=$HOSTNQN,hostid=$HOSTID"
	# by its address, because it reports another subsystem
	ctrl=$(grep -ls 'trsvcid=4431' /sys/class/nvme/nvme*/address)
	equal "it is live" live "$(cat "${ctrl%/address}/state")"
	check "delete" _put "${ctrl%/address}/delete_controller" 1
	kill "$peer"
	wait "$peer"
}
[ -n "${ONLY-}${RECORD-}" ] || {
	step "discovery controllers of one command"
	for twist in maxcmd-1 cap-mqes-0 cap-mqes-1; do
		short_discovery $twist
	done
}
hostile_down
finish
