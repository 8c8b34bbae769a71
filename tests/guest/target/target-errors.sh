#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   failing work requests, refused posts, capsules that break the rules: the target counts and logs them, and continues
# shares:  io
# check:   6.12
# with:    faulty
# timeout: 500
# cpus:    1 2
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/faulty.sh"

N=nqn.2026-01.test:errors
PORT=$SHOWN/ports/1
host_load
wire_up
must "a disk" memory_disk nullb0 64
faulty_load nvmet_rdma

one_more_failed() { [ "$(key_sum queues_failed $PORT)" -gt "$ENDED" ]; }

# once PARAMETER KEY REGEX: under I/O; the connection ends, and I/O continues
once() {
	ENDED=$(key_sum queues_failed $PORT)
	faulty_once "$@" $SHOWN/hosts/*
	check_await 20 "the connection ends" one_more_failed
	check_await 30 "the host is back" state_is "$CTRL" live
	check_await 20 "I/O goes on" io_moves
	check "every block was verified, no error" io_stop
}

io_stands() {
	io_moves
	# longer than soft-RoCE alone stands still
	nap 5
	not io_moves
}

for srq in Y N; do
	step "use_srq=$srq"
	must "load" modprobe nvmet-rdma use_srq=$srq
	simple_disk $N /dev/nullb0 -i 2 -c 1 -l 600

	step "use_srq=$srq: a receive fails"
	faulty opcode 128
	once errors error_work "receiving a capsule"

	step "use_srq=$srq: an RDMA READ fails"
	faulty opcode 2
	once errors error_work "RDMA READ"

	step "use_srq=$srq: a response fails"
	faulty opcode 0
	once errors error_work "sending a response"

	step "use_srq=$srq: the device refuses to send"
	once sends error_post "rxe0 cannot post .*error -12"

	step "use_srq=$srq: a capsule is too short"
	once shorts error_protocol "invalid capsule length 8 \(expected 64 or more\)"

	step "use_srq=$srq: the device refuses a receive"
	if [ $srq = N ]; then
		once receives error_post \
			"rxe0 cannot post a receive again \(error -12\)"
	else
		ENDED=$(key_sum queues_failed $PORT)
		ERRORS=$(key_sum error_post $SHOWN/hosts/*)
		must "I/O" io_start "$DISK" --bs=32k
		faulty receives 1
		check_await 20 "the target counts it" \
			key_is error_post $((ERRORS + 1)) $SHOWN/hosts/*
		check_await 20 "I/O goes on" io_moves
		check "every block was verified, no error" io_stop

		step "use_srq=$srq: the device refuses every receive, for a time"
		must "I/O" io_start "$DISK" --bs=32k
		faulty receives 1000000
		check_await 60 "until there is none left" io_stands
		faulty receives 0
		check_await 20 "I/O goes on" io_moves
		check "every block was verified, no error" io_stop
		equal "no connection ended" "$ENDED" \
			"$(key_sum queues_failed $PORT)"
	fi
	begin_anew
done
faulty_unload
all_down
finish
