#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma doctor: finds a controller with fewer I/O queues than processors, and its command connects the others; finds threads that poll on all processors
# shares:  io
# check:   6.12
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/doctor.sh"

N=nqn.2026-01.test:doctor
host_load
wire_up
must "a disk" memory_disk nullb0 16
simple_target $N /dev/nullb0

step "one queue"
must "connect" connect $N "$MY_IP4" 4420 -i 1
get_disk $N 1
finds queues note "$CTRL has 1 I/O queue for $(nproc) processors"
check "what is told of it can be seen: ${MEND[0]-}" bash -c "${MEND[0]-false}"
must "as it says, connected anew" eval "disconnect $N && connect $N $MY_IP4 4420"

step "threads that poll, as many as processors"
_put /sys/module/nvmet_rdma/parameters/io_threads Y
get_disk $N 1
read_on_all_cpus() {
	local cpu
	for ((cpu = 0; cpu < $(nproc); cpu++)); do
		taskset -c $cpu dd if="$DISK" of=/dev/null bs=4k count=4 iflag=direct status=none || return 1
	done
}
check "reads on all queues" read_on_all_cpus
finds target-threads warning "$(nproc) threads of the target poll on $(nproc) processors"
must "as it says: ${MEND[0]-}" bash -c "${MEND[0]-false}"
clean_now
check "disconnect" disconnect $N
all_down
finish
