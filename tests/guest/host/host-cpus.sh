#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    queues whose processors are isolated, go offline and return
# cpus:     4
# variants: ours none
# check:   none
# append:   isolcpus=3
# timeout:  240
#
# The Connect of a queue is a request, for which blk-mq needs a processor of that queue which is
# online and, on newer kernels, not isolated. The in-tree host does not connect a controller if
# one of its queues has no such processor, and does not reconnect it either.
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:cpus
host_load
wire_up
must "a disk" memory_disk nullb0 64
simple_target $N /dev/nullb0

if ! is_ours nvme-rdma; then
	judge "connect, a processor isolated" connect $N "$MY_IP4" 4420 -i 4
	all_down
	finish
fi

cpu() { echo "$2" > "/sys/devices/system/cpu/cpu$1/online"; }
queue_states() {
	sed -n 's/^state //p' "/sys/kernel/debug/nvme_rdma/$CTRL"/queue[1-9]* | uniq -c
}
data_on() {
	timeout 60 taskset -c "$1" dd if="$DISK" of=/dev/null bs=4k count=4 iflag=direct status=none
}

# all_send WORDS CPU...: by each of them comes data
all_send() {
	local c words=$1
	shift
	for c; do
		check "$words, processor $c" data_on "$c"
	done
}

# broken_off: the connection breaks, and is there again
broken_off() {
	mark
	must "the target ends the connections" eval "conceal 1 $N && expose 1 $N"
	said 20 "the host has lost it" "starting error recovery"
	check_await 60 "the controller is back" state_is "$CTRL" live
	queue_states | sed 's/^/    /'
}

# some_idle WORDS: and the others live
some_idle() { check "$1" test "$(queue_states | sed 's/[ 0-9]*//' | sort -u | xargs)" = "idle live"; }

# offline KINDS...: a processor goes offline and returns under a controller with these queues
offline() {
	step "connect $*"
	must "connect" connect $N "$MY_IP4" 4420 -l 600 -c 1 "$@"
	get_disk $N 1
	queue_states | sed 's/^/    /'
	all_send "each sends" 0 1 2 3

	step "processor 2 goes, and the connection breaks"
	must "it goes" cpu 2 0
	all_send "the others send" 0 1 3
	broken_off
	all_send "the others send" 0 1 3

	step "it comes back"
	must "it comes back" cpu 2 1
	check "it sends" data_on 2
	check_await 60 "the controller is live" state_is "$CTRL" live
	all_send "each sends" 0 1 2 3
	check "data" round_trip "$DISK" 131072
}

check "processor 3 is isolated" grep -qx 3 /sys/devices/system/cpu/isolated
# as many queues as there are processors: fewer, while there are fewer
offline -i 4
check "disconnect" disconnect $N

# one is of processor 2 alone
mark
offline -i 3
said 5 "the kernel's words" "a CPU of this queue is online again: resetting the controller"
check "disconnect" disconnect $N

# one is of processor 2, and the isolated one, which cannot connect it alone
offline -i 2 -W 4 -P 2
some_idle "queues for which there was no processor are idle"
check "disconnect" disconnect $N

step "connect while a processor is offline"
must "it goes" cpu 2 0
must "connect" connect $N "$MY_IP4" 4420 -l 600 -c 1 -i 4
get_disk $N 1
all_send "each sends" 0 1 3
must "it comes back" cpu 2 1
all_send "each sends" 0 1 2 3
broken_off
all_send "each sends" 0 1 2 3
check "disconnect" disconnect $N
all_down
finish
