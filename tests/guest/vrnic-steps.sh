#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    connect, I/O and disconnect, with each work request of either side failed once by its number, its completion late, early, doubled or lost, and the queue pair dead at each of them
# with:     vrnic
# variants: ours
# check:    none
# append:   init_on_free=1
# timeout:  3000
. "$(dirname "$0")/lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"
. "$GUEST_DIR/lib/vrnic-faults.sh"
. "$GUEST_DIR/lib/steps.sh"

steps_over_wire

for side in "$HOST_DEV nvme_rdma" "$TARGET_DEV nvmet_rdma"; do
	for what in "wr any NTH flush" "wr any NTH retry after" "wr recv NTH loc-prot" \
		"wr any NTH qp-dies" "wr recv NTH qp-dies" \
		"cqe send NTH delay 20000" "cqe recv NTH delay 20000" \
		"cqe send NTH reorder" "cqe recv NTH reorder" \
		"cqe send NTH twice" "cqe recv NTH twice" \
		"cqe send NTH never" "cqe recv NTH never" \
		"post any NTH 12" "post recv NTH 12"; do
		# shellcheck disable=SC2086
		steps_through ${STEPS_EVERY:-1} ${side% *} "$what from=${side#* }"
	done
done
vrnic_down
finish
