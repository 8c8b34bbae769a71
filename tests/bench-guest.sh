#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The bench's part in the guest; see tests/bench-icount.
. "$(dirname "$0")/guest/lib.sh"

MTU=1500
N=nqn.2026-01.bench:null
host_load
wire_up
must "a disk" fast_disk nullb0 1024
simple_target $N /dev/nullb0
must "connect" connect $N "$MY_IP4" 4420 -i 1
check_module nvme-rdma
check_module nvmet-rdma
get_disk $N 1

# bench NAME OPTIONS...: instructions per I/O, at one instruction a nanosecond:
# the median of three runs, and by how much they differ, in percent of it
bench() {
	local name=$1 run
	shift
	for run in 1 2 3; do
		fio --name=b --filename="$DISK" --direct=1 --ioengine=io_uring \
			--time_based --runtime=1 --ramp_time=300ms \
			--norandommap --randrepeat=1 --output-format=json \
			--output=/run/fio.$run "$@" || return 1
	done
	python3 -c '
import json, sys

def instructions(path):
    text = open(path).read()
    job = json.loads(text[text.index("{"):])["jobs"][0]
    return 1e9 / (job["read"]["iops"] + job["write"]["iops"])

least, median, most = sorted(instructions(f"/run/fio.{n}") for n in (1, 2, 3))
print(sys.argv[1], round(median), round((most - least) / median * 100, 1))
' "$name" >> /vm/guest/figures
}

check "4 KiB, QD1" bench 4_KiB_randread_QD1 --rw=randread --bs=4k --iodepth=1
check "4 KiB, QD32" bench 4_KiB_randread_QD32 --rw=randread --bs=4k --iodepth=32
check "4 KiB writes" bench 4_KiB_randwrite_QD32 --rw=randwrite --bs=4k --iodepth=32
check "128 KiB" bench 128_KiB_randread_QD8 --rw=randread --bs=128k --iodepth=8
check "128 KiB writes" bench 128_KiB_randwrite_QD8 --rw=randwrite --bs=128k --iodepth=8
all_down
finish
