#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   shared receives by use, over the virtual RNIC: few for an idle host, all for a burst, and few again later
# with:    vrnic
# check:   none
# timeout: 500
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:growth
DEPTH=128
# those of the admin queue, which has the same completion vector, are 32
ALL=$((DEPTH + 32))

# value KEY: of the I/O queue
value() { cat "$SHOWN"/queues/* | awk -v key="$1" '$1 == "qid" { q = $2 } $1 == key && q == 1 { print $2 }'; }
receives_are() { [ "$(value receives)" = "$1" ]; }
outstanding_are() { [ "$(value outstanding)" -ge "$1" ]; }

# burst: as many writes at once as the queue may have, each in its receive until the disk has
# taken it
burst() {
	local before
	before=$(vrnic_count $HOST_DEV rnr)
	fio --name=burst --filename="$DISK" --direct=1 --ioengine=libaio --rw=randwrite \
		--bs=4k --size=32M --iodepth=$DEPTH --iodepth_batch=$DEPTH --number_ios=512 \
		--output=/run/burst.out > /run/burst.err 2>&1 &
	# Linux keeps one command of a queue in reserve, and one place is never used
	check_await 20 "all of them are under way" outstanding_are $((DEPTH - 2))
	check_await 5 "with all receives" receives_are $ALL
	check "every write succeeds" wait $!
	equal "no error" 0 "$(grep -c 'err= *[1-9]' /run/burst.out)"
	RNR=$(($(vrnic_count $HOST_DEV rnr) - before))
}

host_load
vrnic_wire roce
# 0.8 s for each command, in which a slow kernel sends all of a burst, too; null_blk itself times
# out after 5. No command waits for another
must "a slow disk" timer_disk nullb0 64 $((SLOW < 5 ? SLOW * 800000000 : 4000000000)) \
	hw_queue_depth=1024 memory_backed=1
simple_target $N /dev/nullb0 $TARGET_IP
must "dynamic debug" bash -c \
	"echo 'file srq_*.c +p' > /sys/kernel/debug/dynamic_debug/control"

step "a lone host"
must "connect" connect_wire $N -i 1 -Q $DEPTH
check_module nvmet-rdma
get_disk $N 1
equal "its queue" $DEPTH "$(value depth)"
equal "it begins with half of the receives" 64 "$(value receives)"
check "few commands" dd if="$DISK" of=/dev/null bs=4k count=20 iflag=direct status=none
equal "which are enough for few commands" 64 "$(value receives)"

step "a burst from idle"
mark
burst
said 5 "in steps" "nvmet_rdma: .*: 128 shared receives instead of 64, of at most $ALL"
check "$RNR times no receive: until there were more" at_most 50 "$RNR"
equal "no command was moved out of its receive" 0 "$(key_sum short_of_receives "$SHOWN"/hosts/*)"
burst
equal "$RNR times no receive, once there are all" 0 "$RNR"

step "idle again"
check_await 90 "receives retire" receives_are 64
# a receive that is posted cannot be taken back: each of these takes one, the oldest first
check "few commands at a time" fio --name=few --filename="$DISK" --direct=1 --ioengine=libaio \
	--rw=read --bs=4k --size=2M --iodepth=16 --number_ios=400 --output=/dev/null
said 10 "their memory is freed" "freed the memory of [0-9]+ shared receives"
equal "they were not used again" 64 "$(value receives)"

step "another burst"
burst
check "data" fio_verify "$DISK" 1M
equal "the connection was never lost" 2 "$(cat "$SHOWN"/ports/* | sed -n 's/^queues_connected //p')"
equal "nothing was taken for lost" 0 "$(dmesg | grep -c 'did not come back')"
check "disconnect" disconnect $N
vrnic_down
finish
