#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# several.sh NAME...: scenarios one after the other in one guest, for 'make check-quick':
# what a boot costs is paid once. Each has to leave nothing behind (all_down), but for what
# else ends with its guest, which goes here. Ends with the first that fails.
set -u
here=$(dirname "$(readlink -f "$0")")

# the wire's card, disks in memory, what was traced, the parameters of nvme-core
tidy() {
	local d trace=/sys/kernel/tracing

	echo > $trace/set_event && echo > $trace/kprobe_events && echo > $trace/trace &&
		echo 1 > $trace/tracing_on || return
	ip link delete eth0 2> /dev/null
	for d in /sys/kernel/config/nullb/*/; do
		[ ! -d "$d" ] || { echo 0 > "${d}power"; rmdir "$d"; }
	done
	for d in null_blk nvme_fabrics nvmet nvme_core; do
		[ ! -e /sys/module/$d ] || modprobe -r $d || return 1
	done
	rm -rf /run/*
}

for name; do
	echo "=== $name"
	bash "$here/../$name.sh" || exit
	tidy || { echo "not ok - $name: what it leaves cannot be taken away"; exit 1; }
done
