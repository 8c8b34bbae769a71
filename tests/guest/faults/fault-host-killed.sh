#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    the host is killed under I/O without a disconnect: the target releases all of its resources within the keep-alive timeout, and acknowledged writes are on the disk
# guests:   target host
# disks:    target=32M
# variants: ours none
# check:    none
# timeout:  400
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/fault.sh"

KATO=5
FAULT_OPTIONS=reconnect_delay=1,ctrl_loss_tmo=600,keep_alive_tmo=$KATO,nr_io_queues=2
# nvmet extends the keep-alive once for a host that sent anything in the last period, then tears
# its controller down. So the time of the first part is chance; the time of the second part is
# that of the transport.
FREED=$((KATO * 2000 + 5000))
FREED_AFTER=5000

fault_disk() { ssd 0 && FAULT_DISK=$SSD; }

# after_expiry: from when nvmet gave the host up to when all was back, in milliseconds,
# by the kernel's log
after_expiry() {
	dmesg | awk -F '[][]' '/keep-alive timer .* expired/ { gone = $2 }
		/later all that was held/ { back = $2 } END { print int((back - gone) * 1000) }'
}

fault_served() {
	local outcome=ok from free after
	must "the host's cord is pulled" ask_below "kill host"
	begin from
	_kmsg "the host's cord was pulled"
	judge "all that was held for it is given back" await 60 resources_back target ||
		outcome=leaks
	free=$(ms_since "$from")
	_kmsg "$free ms later all that was held for it was back"
	after=$(after_expiry)
	judge "in time: $free ms" at_most $((FREED * SLOW)) "$free" || outcome=late
	judge "$after ms after its keep-alive" at_most $((FREED_AFTER * SLOW)) "$after" ||
		outcome=late
	judge "what was acknowledged is there" acked_verify_of host "$FAULT_DISK" ||
		outcome=lost-data
	echo "result host-killed outcome=$outcome free_ms=$free after_ms=$after" \
		"bytes_verified=$(acked_found bytes_verified)"
}

# The host prints its counts before it is killed
fault_last() {
	FINISHED=1
	echo "$CHECKS_PASSED passed, $CHECKS_FAILED failed"
	[ $CHECKS_FAILED -eq 0 ] || exit 1
	there_is_no_more
	while :; do nap 10; done
}

cases() {
	fault host-killed "the host's cord is pulled" && nap 2
}

fault_run
