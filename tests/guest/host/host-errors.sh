#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   failing work requests, refused posts, responses that break the rules: the host counts and logs them, and recovers
# check:   none
# with:    faulty
# timeout: 400
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/faulty.sh"

N=nqn.2026-01.test:errors
host_load
wire_up
must "a disk" memory_disk nullb0 64
faulty_load nvme_rdma
simple_target $N /dev/nullb0

connected_again() { state_is "$CTRL" live && key_is connects $((CONNECTS + 1)) "$DIR/queue1"; }

# once PARAMETER KEY REGEX: under I/O, which continues over another connection
once() {
	CONNECTS=$(key_sum connects "$DIR/queue1")
	faulty_once "$@" "$DIR"/queue[012]
	check_await 30 "the host has connected again" connected_again
	check_await 20 "I/O goes on" io_moves
	check "every block was verified, no error" io_stop
}

must "connect" connect $N "$MY_IP4" 4420 -i 2 -c 1 -l 600
DIR=/sys/kernel/debug/nvme_rdma/$CTRL
get_disk $N 1

step "a receive fails"
faulty opcode 128
once errors error_work "RECV failed: .* \(21\)"

step "a SEND fails"
faulty opcode 0
once errors error_work "SEND failed: .* \(21\)"

step "the device refuses a SEND"
once sends error_post "the device took no more work: error -12"

step "the device refuses a receive"
once receives error_protocol "receive not posted again: error -12"

step "a response is too short"
once shorts error_protocol "response of 8 bytes .expected 16."

step "each response is too short, for some time"
CONNECTS=$(key_sum connects "$DIR/queue1")
failed_thrice() { [ "$(key_sum error_connect "$DIR/queue0")" -ge $((BEFORE + 3)) ]; }
BEFORE=$(key_sum error_connect "$DIR/queue0")
must "I/O" io_start "$DISK" --bs=32k
mark
faulty shorts 1000000
said 20 "the kernel says what" "response of 8 bytes .expected 16."
check_await 60 "three attempts to connect have failed" failed_thrice
faulty shorts 0
check_await 30 "the host has connected again" connected_again
check_await 20 "I/O goes on" io_moves
check "every block was verified, no error" io_stop
check "disconnect" disconnect $N

step "while it connects"
# connect_fails PARAMETER WORDS: the errno's
connect_fails() {
	faulty "$1" 1
	refuse 20 "$1" nvme connect -t rdma -n $N -a "$MY_IP4" -s 4420
	check "it says '$2'" grep -q "$2" <<< "$(< "$CHECK_OUT")"
	check_await 10 "no controller is left" no_controllers
	faulty "$1" 0
}
connect_fails shorts "Protocol error"
faulty opcode 128
connect_fails errors "Input/output error"
connect_fails sends "Input/output error"
connect_fails receives "Cannot allocate memory"

must "connect" connect $N "$MY_IP4" 4420 -i 2
get_disk $N 1
check "data" fio_verify "$DISK" 2M
check "disconnect" disconnect $N
faulty_unload
all_down
finish
