#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# several.sh PATH=SECONDS...: run scenarios one after the other in one guest, each with a
# deadline. The guest boots once, and QEMU has most of their code translated already. A
# scenario leaves nothing of host and target (all_down); tidy removes cards, disks and
# modules, which would end with a guest of its own. If tidy fails, or a scenario does not
# end, the remaining ones do not run, and tests/run counts them as failed.
set -u
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/guest/lib/wait.sh
. "$here/wait.sh"

die() { echo "not ok - $name: $*"; exit 1; }

# away COMMAND...: clean up; if that fails, print why and end the guest's run
away() {
	local said
	said=$("$@" 2>&1) || die "cannot clean up after it: $*: $said"
}

# tidy: remove mounts, mappings, cards, disks in memory and traces; unload modules, which resets
# their parameters; move the kernel's log to the guest's results, so that the next scenario
# sees only its own
tidy() {
	local d trace=/sys/kernel/tracing

	for d in set_event kprobe_events trace; do away eval "echo > $trace/$d"; done
	away eval "echo 1 > $trace/tracing_on"
	for d in $(findmnt -rno TARGET -R /mnt | grep '^/mnt/.' | tac); do away umount "$d"; done
	for d in $(dmsetup ls 2> /dev/null | awk '/\(/ { print $1 }'); do
		away dmsetup remove --noudevsync "$d"
	done
	for d in /sys/class/net/*; do
		case ${d##*/} in
		lo | sit0 | ip6tnl0) ;;
		*) [ ! -e "$d" ] || away ip link delete "${d##*/}" ;;
		esac
	done
	for d in /sys/kernel/config/nullb/*/; do
		[ ! -d "$d" ] || { away eval "echo 0 > ${d}power"; away rmdir "$d"; }
	done
	for d in nvme_rdma nvmet_rdma rdma_ucm rdma_rxe siw null_blk nvme_fabrics nvmet memdisk nvme_core; do
		[ ! -e /sys/module/$d ] || away modprobe -r $d
	done
	rm -rf /run/* /etc/nvme /etc/nvmet
	away eval "dmesg -c >> /vm/$VM_NAME/dmesg"
}

# until_over SECONDS PID: kill the process after the deadline, which ends the guest
until_over() {
	local end
	deadline end "$1"
	until timed_out "$end"; do nap 2; done
	echo w > /proc/sysrq-trigger
	echo "not ok - $name: still running after $(($1 * SLOW)) s"
	kill -9 "$2"
}

status=0
for scenario; do
	seconds=${scenario##*=}
	scenario=${scenario%=*}
	name=$(basename "$scenario" .sh)
	echo "=== $name"
	# for the harness: a kernel that hangs keeps until_over from running
	echo "$seconds $name" > /vm/"$VM_NAME"/scenario
	until_over "$seconds" $$ &
	disown $!
	bash "$scenario" || {
		status=1
		echo "not ok - that was scenario $name"
		# make check-quick, without KEEP_GOING
		[ "${QUICK-}" != stop ] || exit 1
	}
	tidy
	kill $!
done
exit $status
