# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A hostile target for the host of this guest, see tests/hostile/target.h and drive.c. The same
# host also uses a well-behaved target, the kernel's.

HOSTILE=$VM_REPO/build/tools/hostile-target
HOSTILE_PORT=4430
HOSTILE_OUT=/run/hostile-target.out
HOSTILE_RESULTS=/run/hostile-results
GOOD=nqn.2026-01.test:good

# hostile_up: both targets, and the host connected to the well-behaved one: $BESIDE
hostile_up() {
	host_load
	wire_up
	must "a disk" memory_disk nullb0 64
	# short waits of ours; the in-tree module has none of them
	! is_ours nvme-rdma || modprobe nvme-rdma resolve_tmo=$((3 * MACHINE_SLOW)) \
		connect_tmo=$((4 * MACHINE_SLOW)) fabrics_tmo=$((4 * MACHINE_SLOW))
	simple_target $GOOD /dev/nullb0
	# with timeouts that a busy machine does not exceed: it must never be lost
	must "connect to the well-behaved target" \
		connect $GOOD "$MY_IP4" 4420 -i 2 -c 1 -l 600 -k 60
	check_module nvme-rdma
	get_disk $GOOD 1
	BESIDE=$DISK
	# later ones have short timeouts
	echo $((2 * MACHINE_SLOW)) > /sys/module/nvme_core/parameters/io_timeout
	echo $((4 * MACHINE_SLOW)) > /sys/module/nvme_core/parameters/admin_timeout
	echo 2 > /sys/module/nvme_core/parameters/max_retries
	"$HOSTILE" "$MY_IP4" $HOSTILE_PORT good > $HOSTILE_OUT 2>&1 &
	HOSTILE_PID=$!
	must_await 30 "the hostile target listens" grep -q ready $HOSTILE_OUT
}

# hostile_drive OPTIONS...: drive the host; the lines of the results come as they are
# made, for a guest that crashes takes its files along
hostile_drive() {
	"$HOSTILE" drive "$MY_IP4" $HOSTILE_PORT --beside "$BESIDE" --device "$RDMA_DEV" "$@" \
		2>&1 | tee $HOSTILE_RESULTS
	return "${PIPESTATUS[0]}"
}

# hostile_judge: a check for each case, from the results of hostile_drive
hostile_judge() {
	local name bad
	for name in $(sed -n 's/^\(BAD \)\?result \([^ ]*\) .*/\2/p' $HOSTILE_RESULTS | uniq); do
		bad=$(grep -c "^BAD result $name " $HOSTILE_RESULTS)
		if [ "$bad" -eq 0 ]; then
			pass "$name"
		else
			fail "$name: $bad inputs went wrong"
			grep "^BAD result $name " $HOSTILE_RESULTS | head -n 3 | sed 's/^/    /'
		fi
	done
}

hostile_down() {
	check "the hostile target is still there" kill "$HOSTILE_PID"
	wait "$HOSTILE_PID"
	equal "no alarm" "" "$(grep ALARM $HOSTILE_OUT)"
	equal "the well-behaved controller was never lost" 0 "$(times_lost "$CTRL")"
	check "disconnect" disconnect $GOOD
	all_down
}
