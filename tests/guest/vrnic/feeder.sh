#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   the bench's feeder: its reads and writes arrive, its checks can fail, and nothing of it is left
# check:   none
# with:    vrnic feeder
# timeout: 300
FABRIC=vrnic
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/feeder.sh"
N=nqn.2026-01.test:feeder

# result WORDS...: of the last job, "sent N answered N failed N wrong N"
result() { equal "the result" "$*" "$(feeder_result)"; }

# rejected WORDS COMMAND...: the command fails with these words
rejected() {
	local words=$1
	shift
	"$@" 2>&1 | grep "$words"
}

host_load
wire_up
must "a disk" memory_disk nullb0 512
must "the modules" modprobe -a nvmet-rdma feeder
simple_target $N /dev/nullb0

step "one queue"
must "connect" feeder_connect $N 1
check "not connected twice" rejected "already connected" feeder_connect $N 1
check "write in capsules" feed write 1 32 500 check
result sent 500 answered 500 failed 0 wrong 0
check "what was written is read" feed read 1 32 500 check
result sent 500 answered 500 failed 0 wrong 0
check "write by READs of the target" feed write-keyed 1 8 500 check at-once
check "what was written is read, at once" feed read 1 8 500 check at-once
check "other data is written over it" dd if=/dev/zero of=/dev/nullb0 bs=1M count=8 \
	oflag=direct status=none
check "other data is found" rejected "Input/output error" feed read 1 32 64 check
result sent 64 answered 64 failed 0 wrong 64
check "a namespace that does not exist" rejected "Input/output error" feed read 7 1 3
result sent 3 answered 3 failed 3 wrong 0
check "more commands at a time than it has" rejected "Invalid argument" feed read 1 65 100
check "an unknown word" rejected "Invalid argument" feed read 1 1 1 check,at-once
check "a rate that is no number" rejected "Invalid argument" feed read 1 1 1 every=soon
began=${EPOCHREALTIME/./}
check "at a rate" feed read 1 32 500 every=1000000
result sent 500 answered 500 failed 0 wrong 0
check "the last one is not sent before its time" test $((${EPOCHREALTIME/./} - began)) -ge 499000
check "disconnect" feeder_disconnect

step "64 queues"
must "connect" feeder_connect $N 64
check "write, in turn" feed write 1 32 1000 check
check "what was written is read, in turn" feed read 1 32 1000 check
check "write, at random" feed write 1 64 1000 random check
check "what was written is read, at random" feed read 1 64 1000 random check at-once
check "the target is removed" target_teardown
check "the connections have ended" rejected "error" feed read 1 1 1
check "disconnect" feeder_disconnect

step "512 queues, of 8 controllers and 128 hosts"
simple_target $N /dev/nullb0
check "no more than that" rejected "Invalid argument" feeder_connect $N 513 hosts
must "connect" feeder_connect $N 512 hosts
equal "the target has as many peers" 128 \
	"$(cat /sys/kernel/debug/nvmet_rdma/queues/* | grep -o "^peer ${FEEDER_NET}[0-9]*" | sort -u | wc -l)"
check "write, in turn" feed write 1 32 1000 check
check "what was written is read, at random" feed read 1 64 1000 random check
check "disconnect" feeder_disconnect
check "the target is removed" target_teardown

step "nobody to connect to"
check "no target" rejected "refused" feeder_connect $N 1
check "unload" rmmod feeder
nothing_left
finish
