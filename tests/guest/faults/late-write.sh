#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   a write that the disk holds back until its connection has ended: the host gets no new controller before it is written
# with:    memdisk
# check:   none
# timeout: 400
# cpus:    2
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:late
O=nqn.2026-01.test:other
REFUSE=/sys/module/nvmet_rdma/parameters/refuse_unfinished
HOLD=/sys/block/mem0/memdisk/hold
host_load
wire_up
must "a disk that can hold a write" memdisk mem0 16
must "another" memdisk mem1 16
must "I/O times out after 4 s" dd of=/sys/module/nvme_core/parameters/io_timeout status=none <<< 4
simple_target $N /dev/mem0
must "another subsystem" subsys $O
must "its namespace" namespace $O 1 /dev/mem1
must "on the same port" expose 1 $O

refused() { key_sum refused_unfinished $SHOWN/ports/1; }
refused_again() { [ "$(refused)" -ge 2 ]; }
held_connects() { key_sum connects_held $SHOWN/ports/1; }
held() { [ "$(cat $HOLD)" = N ]; }
# hold_a_write: I/O on a few blocks, and one write of it does not reach the disk
hold_a_write() {
	must "I/O on a few blocks" acked_start "$DISK" --size 65536 --writers 1 --depth 1 --block 4096 \
		--reads 0 --flush 0
	mark
	must "the disk holds a write" _put $HOLD once
	check_await 20 "it has one" held
	said 60 "the host gives the connection up" "starting error recovery"
}

step "the write is held back"
must "connect" connect $N "$MY_IP4" 4420 -c 1 -i 2 --ctrl-loss-tmo=600
get_disk $N 1
hold_a_write
said 60 "no new controller meanwhile" "Connect rejected: a disk of $N still has commands of this host's last connection"
check_await 30 "nor at the next attempt" refused_again
check "the host tries on" state_is "$CTRL" connecting
late=$CTRL
check "another subsystem is not concerned" connect $O "$MY_IP4" 4420 -i 1
get_disk $O 1
check "data" round_trip "$DISK" 65536
check "disconnect" disconnect $O
must "the write reaches the disk" _put $HOLD N
check_await 30 "the host connects" state_is "$late" live
nap 1
check "nothing was lost or late" acked_clean

step "the administrator's word is the last one"
get_disk $N 1
must "not refused" _put $REFUSE N
before=$(refused)
hold_a_write
check_await 30 "it connects at once" state_is "$late" live
# The blocks are written in any order
acked_now
enough=$((ACKED_OK + 300))
check_await 60 "all blocks are written again" eval 'acked_now && [ "$ACKED_OK" -ge $enough ]'
check "it ends" acked_end
equal "nothing was refused" "$before" "$(refused)"
must "the old write reaches the disk" _put $HOLD N
check_await 20 "its queue is gone" port_queues_are 3
check "the data is older than what was acknowledged" not acked_verify
check "a write is lost by that" at_least 1 "$(acked_found lost)"
must "refused again" _put $REFUSE Y

step "a reset waits for what a disk is about to end"
# The target waits two seconds: a machine that stands still may take longer, so there are tries
with_a_wait() {
	local try before asked
	for try in 1 2 3 4 5; do
		before=$(refused) asked=$(held_connects)
		_put $HOLD once && await 20 held || return 1
		nvme reset "/dev/$late" &
		await 20 eval '[ "$(held_connects)" -gt '"$asked"' ]' && _put $HOLD N
		wait $!
		await 60 state_is "$late" live || return 1
		echo "try $try: $(held_connects) held, $(refused) refused, before: $asked, $before"
		[ "$(refused)" != "$before" ] || [ "$(held_connects)" = "$asked" ] || return 0
	done
	return 1
}
must "I/O" acked_start "$DISK" --size 1048576
check "it is held, and not refused" with_a_wait
check "data" acked_clean
check "disconnect" disconnect $N
all_down
finish
