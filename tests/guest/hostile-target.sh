#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   a target that breaks the rules of NVMe/RDMA, the most telling cases: the host refuses, recovers or reports errors, in time and in words
# check:   6.12
# timeout: 1500
# mem:     2048
. "$(dirname "$0")/lib.sh"
. "$GUEST_DIR/lib/hostile-target.sh"

QUICK="good|accept-(len|recfmt-io|recfmt-back|crqsize-0)|reject-(status|len|cm|back-wrong|back-busy)"
QUICK+="|ignore-io|too-late|silent-io|leave-(io|connected-io|read)|response-(short|long|short-connect)"
QUICK+="|cid-(generation|idle|range|other-queue|event)|twice|twice-plain|replay|flood"
QUICK+="|status-(once|connect|connect-back|admin)|invalidate-.*|not-invalidated|immediate"
QUICK+="|write-immediate-16|only-immediate|event-(flood|unasked|firmware)|lost-(abort|keep-alive)"
QUICK+="|read-nothing|early-read-invalidate|beyond-read|across-write|read-of-read|write-to-write"
QUICK+="|stale-(write|read)|key-guessed|ioccsz-(0|max)|icdoff-1|maxcmd-1|sgls-plain|mdts|cntlid-other"
QUICK+="|kas-0|cap-(mqes-0|max)|csts-(never|max)|queues-(refused|65536)|ns-(lba-size|size-max|list-far)"
QUICK+="|back-(mqes|icdoff|cntlid)"

# By hand: ONLY=REGEX, THIN=values of a case; tests/hostile/in-tree-host sets the others
hostile_up
step "cases"
hostile_drive --only "${ONLY:-^($QUICK)\$}" ${AFTER:+--after "$AFTER"} ${RECORD:+--record} \
	--thin "${THIN:-1}"
check "every case was driven" grep -q '^all: [1-9]' $HOSTILE_RESULTS
hostile_judge
[ -n "${ONLY-}${RECORD-}" ] || {
	step "twists that a seed makes"
	hostile_drive --fuzz 1 0 10
	check "all were driven" grep -q '^all: 10 ' $HOSTILE_RESULTS
	hostile_judge
}
hostile_down
finish
