#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    PREEMPT_RT: how late a real-time task wakes beside the I/O of host and target, as a histogram, by the modules and by threads
# kernels:  6.12-rt 7.3-rt
# variants: ours none
# with:     vrnic memdisk
# check:    none
# icount:   yes
# debug:    no
# timeout:  900
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

# The clock counts instructions. So a delay is that of the code that keeps the task from the only
# CPU, and is the same on a busy machine. Host, target and device share the CPU.
N=nqn.2026-01.test:neighbour
LOOPS=5000
[ -n "$VM_ICOUNT" ] || die "the clock of this guest does not count instructions"

# neighbour NAME [fio options]: the task beside that load, or beside none
neighbour() {
	local name=$1 out=/run/latencies
	shift
	[ $# = 0 ] || must "I/O" io_start "$DISK" "$@"
	check "a task of real-time priority wakes $LOOPS times, $name" \
		timeout 400 cyclictest --quiet --mlockall --priority=90 --interval=500 \
		--loops=$LOOPS --histogram=500 --histfile=$out
	if [ $# != 0 ]; then
		check "I/O went on meanwhile" io_moves
		check "and ends" io_stop
	fi
	awk -v name="$name" '!/^#/ && NF { us[++n] = $1 + 0; count[n] = $2; sum += $2 }
		END {
			for (i = 1; i <= n; i++) {
				seen += count[i]
				if (p50 == "" && seen >= sum / 2)
					p50 = us[i]
				if (p999 == "" && seen >= sum * 0.999)
					p999 = us[i]
			}
			printf "result %s wakeups=%d p50_us=%d p999_us=%d\n", name, sum, p50, p999
		}' $out
	echo "result $name max_us=$(sed -n 's/^# Max Latencies: 0*\([0-9]\)/\1/p' $out)"
	equal "none of its wake-ups is missing" "$LOOPS" \
		"$(awk '!/^#/ && NF { n += $2 } END { print n + 0 }' $out)"
}

host_load
vrnic_wire roce
must "a disk whose driver does not sleep" memdisk mem0 64
must "load" modprobe nvmet-rdma
simple_target $N /dev/mem0 $TARGET_IP
must "connect" connect_wire $N -i 1
is_ours nvmet-rdma && check_module nvmet-rdma
get_disk $N 1

step "a real-time task beside I/O"
neighbour idle
neighbour reads --rw=randread --verify=0 --iodepth=32
neighbour writes --iodepth=32
neighbour large --bs=128k --iodepth=8
if is_ours nvmet-rdma; then
	step "the same with I/O threads"
	must "threads" _put /sys/module/nvmet_rdma/parameters/io_threads Y
	neighbour threads-reads --rw=randread --verify=0 --iodepth=32
	neighbour threads-writes --iodepth=32
fi
check "disconnect" disconnect_all
no_violations $HOST_DEV $TARGET_DEV
vrnic_down
finish
