#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    large I/O while the kernel gives the target only single pages of memory: slower, without an error
# kernels:  6.12-debug
# check:    none
# timeout:  900
. "$(dirname "$0")/../lib/short-memory.sh"
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:no-large-memory
FAIL=/sys/kernel/debug/fail_page_alloc

# fail_pages MODULE: whatever asks for more than a page with a function of MODULE on its stack
fail_pages() {
	local text
	text=$(awk -v m="[$1]" '$4 == m && tolower($2) == "t" { print $1 }' /proc/kallsyms | sort)
	[ -n "$text" ] && _put $FAIL/probability 0 && _put $FAIL/verbose 0 &&
		_put $FAIL/min-order 1 && _put $FAIL/ignore-gfp-wait N &&
		_put $FAIL/stacktrace-depth 32 &&
		_put $FAIL/require-start "0x$(head -n 1 <<< "$text")" &&
		_put $FAIL/require-end "0x$(tail -n 1 <<< "$text")" &&
		_put $FAIL/times 1000000 && _put $FAIL/probability 100
}
failed() { echo $((1000000 - $(cat $FAIL/times))); }

host_load
wire_up
must "a disk" full_disk nullb0 48
must "a slow one" slow_disk
for mb in 64 0; do
	step "a cache of $mb MiB"
	begin_anew
	must "load" modprobe nvmet-rdma buffer_cache_mb=$mb
	must "a target" eval "subsys $N && namespace $N 1 /dev/nullb1 &&
		namespace $N 2 /dev/nullb0 && port 1 $MY_IP4 && expose 1 $N"
	must "connect" connect $N "$MY_IP4" 4420 -i 1 -Q 128
	get_disk $N 2
	KEPT=$DISK
	get_disk $N 1
	before=$(key_sum responses_with_error $SHOWN/hosts/*)
	must "no more than a page" fail_pages nvmet_rdma
	for rw in randread randwrite; do
		large_io $rw 128k 128 600
		large_io $rw 1M 32 128
	done
	check "data" fio_verify "$KEPT" 16M --bsrange=4k-1M --iodepth=16
	check "it failed $(failed) times" at_least 10 "$(failed)"
	must "enough" _put $FAIL/probability 0
	check "transfers took small buffers" at_least 10 "$(key_sum short_of_chunks $SHOWN/hosts/*)"
	equal "responses with an error" "$before" "$(key_sum responses_with_error $SHOWN/hosts/*)"
	check "disconnect" disconnect $N
done
all_down
finish
