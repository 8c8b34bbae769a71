#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   features: tos and disable_sqflow on the wire; keep-alive: a silent host, a silent target
# guests:  target host
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:wire
TOS=104		# 0x68, DSCP af31
UDP=4791	# RoCE v2
# A packet is an IPv4 header of 20 bytes, UDP of 8, BTH of 12, which begins with
# the opcode; the payload follows, here after 4 bytes of a key to invalidate. In
# a completion entry, SQHD is at byte 8.
RC_MASK=0xe0		# opcodes of reliable connections: three bits of zero
SEND_ONLY_INV=0x17
SQHD=$((20 + 8 + 12 + 4 + 8))

# watch PRIO MATCH...: count received packets that match, and let them pass
watch() {
	local prio=$1
	shift
	tc filter add dev eth0 parent ffff: protocol ip prio "$prio" u32 \
		match ip dport $UDP 0xffff "$@" action continue
}
watch_off() { tc filter del dev eth0 parent ffff: protocol ip prio "$1"; }

# seen PRIO: number of packets counted so far
seen() {
	tc -s filter show dev eth0 parent ffff: protocol ip prio "$1" |
		sed -n 's/.*Sent [0-9]* bytes \([0-9]*\) pkt.*/\1/p'
}

target() {
	wire_up
	must "a disk" memory_disk nullb0 32
	simple_target $N /dev/nullb0
	must "count packets of connections" watch 10 match u8 0 $RC_MASK at 28
	must "those with TOS $TOS" watch 11 match u8 0 $RC_MASK at 28 \
		match ip tos $TOS 0xff
	signal_peers ready "$MY_IP4"

	wait_for plain 200
	step "tos"
	check "packets came" at_least 64 "$(seen 10)"
	equal "none had TOS $TOS" 0 "$(seen 11)"
	before=$(seen 10)
	signal_peers plain-seen
	wait_for tos 200
	check "more packets came" at_least 64 $(($(seen 10) - before))
	equal "all of them with TOS $TOS" $(($(seen 10) - before)) "$(seen 11)"
	watch_off 10
	watch_off 11
	signal_peers tos-seen

	wait_for short 200
	step "keep-alive: the host falls silent"
	mark
	check "nothing arrives any more" wire_drop
	said 60 "the target ends the controller" \
		"nvmet: ctrl [0-9]+ (keep-alive timer \([0-9]+ seconds\) expired|fatal error occurred)"
	said 60 "for that reason" "keep-alive timer \(4 seconds\) expired"
	check_await 60 "and lets its queues go" connections_are 0
	check "packets arrive again" wire_undrop
	signal_peers silent-over
	wait_for end 300
	all_down
	finish
}

connections_are() {
	[ "$(rdma resource show cm_id | grep -c 'state CONNECT')" = "$1" ]
}

some_io() {
	fio --name=io --filename="$DISK" --direct=1 --ioengine=libaio --rw="$1" \
		--bs=4k --number_ios=64 --size=8M --iodepth=4 --randrepeat=0
}

host() {
	host_load
	wire_up
	wait_for ready 200
	address=$VALUE
	must "connect" connect $N "$address" 4420 -i 1
	get_disk $N 1
	check "64 reads" some_io randread
	check "disconnect" disconnect $N
	signal_peers plain
	wait_for plain-seen 60
	# The answers' TOS is the connection's, not the target's own.
	must "count packets of connections" watch 10 match u8 0 $RC_MASK at 28
	must "those with TOS $TOS" watch 11 match u8 0 $RC_MASK at 28 \
		match ip tos $TOS 0xff
	must "tos=$TOS" connect $N "$address" 4420 -i 1 -T $TOS
	get_disk $N 1
	check "64 writes" some_io randwrite
	check "64 reads" some_io randread
	check "disconnect" disconnect $N
	check "answers came" at_least 64 "$(seen 10)"
	equal "all of them with TOS $TOS" "$(seen 10)" "$(seen 11)"
	watch_off 10
	watch_off 11
	signal_peers tos
	wait_for tos-seen 60
	mark
	must "tos=256" fabrics "traddr=$address,nqn=$N,tos=256"
	said 5 "is cut" "nvme_fabrics: Clamping type of service to 255"
	check "disconnect" disconnect $N

	step "disable_sqflow: completions have no SQ head"
	must "count completions" watch 10 match u8 $SEND_ONLY_INV 0xff at 28
	must "those with SQHD 0" watch 11 match u8 $SEND_ONLY_INV 0xff at 28 \
		match u16 0 0xffff at $SQHD
	must "those with FFFFh, as Connect has" watch 12 \
		match u8 $SEND_ONLY_INV 0xff at 28 \
		match u16 0xffff 0xffff at $SQHD
	must "connect" connect $N "$address" 4420 -i 1
	get_disk $N 1
	check "64 reads" some_io randread
	check "completions came" at_least 64 "$(seen 10)"
	check "with an SQ head, which is seldom 0" \
		at_most 8 $(($(seen 11) + $(seen 12)))
	check "disconnect" disconnect $N
	before=$(seen 10) none=$(($(seen 11) + $(seen 12)))
	must "disable_sqflow" connect $N "$address" 4420 -i 1 -d
	get_disk $N 1
	check "64 reads" some_io randread
	check "fio with verification" fio_verify "$DISK" 1M
	check "disconnect" disconnect $N
	check "completions came" at_least 64 $(($(seen 10) - before))
	equal "none with an SQ head" $(($(seen 10) - before)) \
		$(($(seen 11) + $(seen 12) - none))
	watch_off 10
	watch_off 11
	watch_off 12

	step "keep-alive: the target does not hear the host"
	must "connect, keep-alive of 4 s" connect $N "$address" 4420 -i 1 -k 4 -c 1 \
		-l 600
	get_disk $N 1
	must "I/O" io_start "$DISK"
	mark
	signal_peers short
	check_await 60 "the host notices" not state_is "$CTRL" live
	wait_for silent-over 200
	check_await 60 "the host is back" state_is "$CTRL" live
	check_await 30 "I/O goes on" io_moves
	check "every block was verified, no error" io_stop

	step "keep-alive: the target falls silent, and there is no I/O"
	mark
	check "nothing but acknowledgments comes" wire_answers_lost
	check_await 60 "the host notices" not state_is "$CTRL" live
	said 5 "by the Keep Alive command" "nvme $CTRL: .*(opcode 0x18|keep.alive)"
	check "answers come again" wire_undrop
	check_await 60 "the host is back" state_is "$CTRL" live
	check "data" round_trip "$DISK" 65536
	check "disconnect" disconnect $N
	all_down
	signal_peers end
	finish
}

"$VM_NAME"
