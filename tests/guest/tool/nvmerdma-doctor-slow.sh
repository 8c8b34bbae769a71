#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma doctor: no controller stays, be the doctor killed or the target too slow for it
# check:   none
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/doctor.sh"

host_load
wire_up
# longer than the doctor waits: the kernel's attempt has to outlast it
must "load" modprobe nvme-rdma fabrics_tmo=60
must "RDMA for programs" modprobe rdma_ucm

# each admin command takes 0.2 s there
"$VM_REPO/build/tools/hostile-target" "$MY_IP4" 4430 slow-admin > /run/hostile.out 2>&1 &
hostile=$!
listens() { rdma resource show cm_id | grep -q ":4430.*LISTEN\|LISTEN.*:4430"; }
must_await 10 "a slow target listens" listens

# Its queue is connected for some tenths of a second: there is no time for a program or a pause
queue_lives() {
	local end file lines
	deadline end 20
	until timed_out "$end"; do
		for file in /sys/kernel/debug/nvme_rdma/nvme*/queue0; do
			{ mapfile -t lines < "$file"; } 2> /dev/null || continue
			[[ " ${lines[*]} " != *" state live "* ]] || return 0
		done
	done
	return 1
}

# begin_discovery WORDS: until its queue is connected
begin_discovery() {
	"$NVMERDMA" doctor "$MY_IP4" -p 4430 --only discovery > /run/slow.out 2>&1 &
	doctor=$!
	check "$1" queue_lives
}

step "the doctor is killed"
begin_discovery "it is connecting"
kill -KILL $doctor
check_await 30 "no controller stays" no_controllers

step "the target stops for longer than the doctor waits"
begin_discovery "it is connecting"
kill -STOP $hostile
wait $doctor
check "the doctor gives up" grep -q "could not connect to discover: Connection timed out" \
	/run/slow.out
check "and the kernel does not yet" not no_controllers
kill -CONT $hostile
check_await 30 "no controller stays" no_controllers
cat /run/slow.out
kill $hostile
wait $hostile
all_down
finish
