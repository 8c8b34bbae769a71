#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    two paths to a disk under I/O, one of them cut: no error reaches the application, and no I/O takes longer than the timers allow
# guests:   target host
# variants: ours none
# check:    none
# timeout:  900
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/fault.sh"

SECOND=10.77.0.201
KATO=5
# A command on a path that is cut waits until the host knows: by the keep-alive, at the
# latest, which is sent within half its time, and then has it to be answered
BOUND=$((KATO * 1500 + 1000))

second_path() {
	ip addr add $SECOND/24 dev eth0 && port 2 $SECOND && expose 2 $FAULT_NQN
}
# Nothing arrives at the host over one path; the other path continues
path_cut() {
	tc filter add dev eth0 parent ffff: protocol ip prio 1 u32 \
		match ip src $SECOND/32 action drop
}
path_back() { tc filter del dev eth0 parent ffff:; }

# cut_path NAME WORDS SECONDS GOES COMES MS [back]: no I/O moves over the cut paths in the last
# second before they are restored; a path that was reset has reconnected by then
cut_path() {
	local two
	fault "$1" "$2 for $3 s" || return
	check "it is cut" eval "$4"
	nap $(($3 - 1))
	two=$(path_count "$TWO")
	nap 1
	[ "${7-}" = back ] || equal "$1: nothing moves by it" "$two" "$(path_count "$TWO")"
	check "the other one moves" acked_moves
	check "it is mended" eval "$5"
	fault_over
	judge "both paths are back" await $FAULT_BACK both_move "$CTRL" "$TWO"
	fault_end ok
	judge "$1: the slowest I/O is done within $6 ms" \
		at_most "$6" "$(acked_value slowest_io_ms)"
}

cases() {
	check "a second path" there second_path
	judge "connect to it" fabrics_second || return
	check "I/O by both" round_robin
	cut_path path-cut "nothing arrives by one path" 20 path_cut path_back $BOUND
	cut_path path-closed "the port of one path is closed" 10 \
		"there 'conceal 2 $FAULT_NQN'" "there 'expose 2 $FAULT_NQN'" 2000
	cut_path path-inaccessible "the target says 'inaccessible' of one path" 10 \
		"there 'ana 2 inaccessible'" "there 'ana 2 optimized'" 2000
	cut_path path-reset "the controller of one path is reset" 2 \
		"nvme reset /dev/$TWO" : 2000 back
	check "one path again" dd status=none of="/sys/class/nvme/$TWO/delete_controller" <<< 1
	check_await 20 "it is gone" gone "/sys/class/nvme/$TWO"
}

ana() { _put "$NVMET/ports/$1/ana_groups/1/ana_state" "$2"; }
fabrics_second() {
	local one=$CTRL
	PEER=$SECOND fault_connect || return 1
	TWO=$CTRL CTRL=$one
}

FAULT_OPTIONS=reconnect_delay=1,ctrl_loss_tmo=600,keep_alive_tmo=$KATO,nr_io_queues=2
fault_run
