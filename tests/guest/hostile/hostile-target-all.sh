#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   like hostile-target, with up to 64 values of each case, the slow cases, and 200 twists from a seed
# check:   none
# timeout: 9000
# allow:   UBSAN: shift-out-of-bounds in drivers/nvme/host/nvme.h|WARNING: .* nvme_parse_ana_log\+|^Call Trace:$
#
# nvme-core computes with a namespace's block size before it refuses a wrong one
# (nvme_update_ns_info_block(), 6.12), and warns of a wrong ANA log, with any transport.
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/hostile-target.sh"

# FUZZ_SEED, FUZZ_FIRST, FUZZ_COUNT: what 'make fuzz' chooses; ONLY_FUZZ: no cases
hostile_up
if [ -z "${ONLY_FUZZ-}" ]; then
	step "cases"
	# on a kernel that watches itself all of them would take days
	hostile_drive --thin "${THIN:-$((WATCHED > 1 ? 1 : 64))}" --slow
	check "every case was driven" grep -q '^all: [1-9]' $HOSTILE_RESULTS
	hostile_judge
fi
step "twists that a seed makes"
hostile_drive --fuzz "${FUZZ_SEED:-2}" "${FUZZ_FIRST:-0}" "${FUZZ_COUNT:-200}"
check "all were driven" grep -q "^all: ${FUZZ_COUNT:-200} " $HOSTILE_RESULTS
hostile_judge
hostile_down
finish
