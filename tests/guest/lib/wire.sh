# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Network cards and software RDMA on them: RoCE v2 (rxe), or with FABRIC=siw or FABRIC=vrnic
# iWARP (siw) or the virtual device (vrnic). A scenario sets FABRIC before it sources this, and
# has the module in its head, "with: siw", because Debian's kernels have neither.
#
# In a run of several guests eth0 is the wire between them; in a run of one it
# is a dummy, over which host and target in the same guest meet. Guest number n
# (from 1) has 10.77.0.n and fd77::n.

MTU=${MTU:-9000}
FABRIC=${FABRIC:-rxe}
RDMA_DEV=${FABRIC}0
declare -A FABRIC_MODULE=([rxe]=rdma_rxe [siw]=siw [vrnic]=vrnic)

ip4_of() { echo "10.77.0.$1"; }
ip6_of() { echo "fd77::$1"; }

MY_IP4=$(ip4_of $((VM_INDEX + 1)))
MY_IP6=$(ip6_of $((VM_INDEX + 1)))

rxe_ready() { [ "$(cat /sys/class/infiniband/"$1"/ports/1/state)" = "4: ACTIVE" ]; }

# wire_up: eth0 and rxe0, siw0 or vrnic0 on it, ready for use
wire_up() {
	[ -n "$VM_WIRE" ] || must "a dummy eth0" ip link add eth0 type dummy
	{
		ip link set eth0 mtu "$MTU" &&
		ip addr add "$MY_IP4/24" dev eth0 &&
		ip addr add "$MY_IP6/64" dev eth0 nodad &&
		ip link set eth0 up &&
		{ [ -z "$VM_WIRE" ] || tc qdisc add dev eth0 ingress; } &&
		{ [ "$FABRIC" != siw ] || give_siw_time; } &&
		modprobe -a "${FABRIC_MODULE[$FABRIC]}" rdma_cm ib_uverbs &&
		rdma link add "$RDMA_DEV" type "$FABRIC" netdev eth0
	} > "$CHECK_OUT" 2>&1 || { cat "$CHECK_OUT"; die "no $FABRIC on eth0"; }
	must_await 20 "$RDMA_DEV is active" rxe_ready "$RDMA_DEV"
	remember_resources
}

# siw accepts a connection by sending its reply, and only then handles the socket's data as that
# of a QP (siw_accept(); 6.1 to 7.2). If the first message of the other side arrives before, it
# stays unread until more data arrives; without more, Connect waits for its timeout. In an
# emulated and busy guest that step took 21 ms, and the answer arrived half a millisecond later.
# Therefore the wire has a delay.
give_siw_time() {
	[ -z "$VM_WIRE" ] || tc qdisc add dev eth0 root netem delay 30ms
}

# plain_card NAME ADDRESS/LEN: a dummy card without any RDMA device
plain_card() {
	ip link add "$1" type dummy && ip addr add "$2" dev "$1" &&
		ip link set "$1" up
}

# pull the wire at this guest's end, or plug it, by the machine below
wire_pull() { ask_below "link $VM_NAME off"; }
wire_plug() { ask_below "link $VM_NAME on"; }

# The wire goes dead without a loss of carrier: nothing arrives here any more. (A packet refused
# on the way out is an error of this guest's own card: rxe takes the queue pair down without a
# reason. Packets sent while a qdisc is added or removed are refused as well, so ingress has its
# qdisc from wire_up on.)
wire_drop() {
	WIRE_HARMED=yes
	tc filter add dev eth0 parent ffff: matchall action drop
}
wire_undrop() { tc filter del dev eth0 parent ffff:; }

# The target's answers are lost: its acknowledgments still come, so the host's
# sends succeed, no link changes, and all that the host can see is that commands
# do not end. (RoCE v2 is UDP to port 4791; BTH opcode 11h is ACKNOWLEDGE of RC.)
wire_answers_lost() {
	WIRE_HARMED=yes
	tc filter add dev eth0 parent ffff: protocol ip prio 1 u32 \
		match ip dport 4791 0xffff match u8 0x11 0xff at 28 \
		action pass &&
		tc filter add dev eth0 parent ffff: protocol ip prio 2 u32 \
			match ip dport 4791 0xffff action drop
}

# rxe retransmits what is not acknowledged for half a second, also if nothing was lost but the
# machine below is slow to run the peer. It then executes the REG_MRs in between again, finds
# their keys in use, and takes the queue pair down: an untouched controller starts error
# recovery.
WIRE_HARMED=
RESENT=0
count_resent() {
	local n=/sys/class/infiniband/rxe0/ports/1/hw_counters/completer_retry_err
	[ ! -e $n ] || RESENT=$(cat $n)
}

# say_if_starved: of a scenario that failed, whether that may be why; tests/run
# gives it a second run
say_if_starved() {
	[ -n "$VM_WIRE" ] && [ -z "$WIRE_HARMED" ] || return
	count_resent
	[ "$RESENT" -eq 0 ] || echo "starved: nobody harmed the wire, but" \
		"rxe0 sent again, $RESENT times"
}
