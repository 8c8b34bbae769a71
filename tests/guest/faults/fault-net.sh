#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    under I/O, on either side: the MTU changes, the address is removed and added again, the RDMA device is deleted and created again, the interface is renamed
# guests:   target host
# variants: ours none
# check:    none
# timeout:  1500
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/fault.sh"

MY=MY_IP4	# of whoever evaluates it

mtu() { ip link set eth0 mtu "$1"; }
# long_packets: a connection is for the MTU that there was when it was made
long_packets() { [ -n "${FAULT_HUNG-}" ] || judge "for this MTU" nvme reset "/dev/$CTRL"; }
# Packets that were longer than the MTU, and not to be cut in pieces
_too_long() { awk '$1 == "Ip:" { for (i = 2; i <= NF; i++) if (name[i] == "FragFails") print $i; else name[i] = $i }' /proc/net/snmp; }

address_goes() { ip addr del "${!MY}/24" dev eth0; }
address_comes() { ip addr add "${!MY}/24" dev eth0; }

device_goes() { bounded 60 rdma link delete "$RDMA_DEV" && gone "/sys/class/infiniband/$RDMA_DEV"; }
device_comes() {
	rdma link add "$RDMA_DEV" type rxe netdev eth0 &&
		await 20 rxe_ready "$RDMA_DEV"
}
# too_long [there]: TOO_LONG; 'there' cannot be asked in a subshell
too_long() { "$@" _too_long > /run/too-long && TOO_LONG=$(< /run/too-long); }
too_long_since() {
	local long=$1
	shift
	too_long "$@" && at_least $((long + 1)) "$TOO_LONG"
}

# A MAD that soft-RoCE cannot send, because its address is gone, leaves its GSI queue pair in
# ERR for good: rxe_requester() puts it there (of a UD queue pair, SQE would be right), and
# rxe_completer() flushes what failed, so that ib_mad_send_error() finds nothing to repair. No
# connection request is answered from then on, until the device is created again.
gsi_state() { rdma resource show qp link "$RDMA_DEV/1" lqpn 1 | sed -n 's/.* state \([A-Z]*\).*/\1/p'; }
gsi_dead() { [ "$(gsi_state)" = ERR ]; }
gsi_mended() {
	case $(gsi_state) in
	RTS) ;;
	ERR)	echo "soft-RoCE's GSI queue pair is in ERR: the device is made anew"
		device_goes && device_comes ;;
	*)	echo "it is in '$(gsi_state)'"
		return 1 ;;
	esac
}

# mads_are_sent [there]: repair the device if it sends no MADs, and record that in the result
mads_are_sent() {
	judge "its MADs are sent" "$@" gsi_mended
	! grep -q "made anew" "$CHECK_OUT" || echo "result $CASE mended=device"
}

# request ADDRESS: of a service that there is not
request() {
	modprobe rdma_ucm || return 1
	"$VM_REPO/build/tools/peer" connect "$1" 4998 idle 1 > /run/request 2>&1 &
	REQUEST=$!
}
request_ends() {
	cat /run/request
	kill -KILL $REQUEST
}

# Older kernels rename no interface that is up, and one that goes down forgets its
# IPv6 addresses
rename() {
	ip link set "$1" name "$2" 2> /dev/null || {
		ip link set "$1" down && ip link set "$1" name "$2" &&
			ip link set "$2" up
	}
}

# side NAME [there]: the cases of one side
side() {
	local name=$1 at=${2-} long

	if fault "address-$name" "its address is removed for 10 s"; then
		check "it goes" $at address_goes
		nap 10
		check "it comes back" $at address_comes
		mads_are_sent $at
		fault_end ok
		fault_stood 8000
	fi
	if fault "rename-$name" "its interface has another name for 10 s"; then
		check "another name" $at rename eth0 wire0
		nap 10
		check "the old one" $at rename wire0 eth0
		fault_end ok
	fi
	long_packets
	if fault "mtu-$name" "its MTU is 1500 for 10 s, that of the other side is not"; then
		too_long $at
		long=$TOO_LONG
		check "1500" $at mtu 1500
		nap 10
		check "packets were too long for it" too_long_since $long $at
		check "$MTU" $at mtu "$MTU"
		fault_end ok
	fi
}

cases() {
	local long
	side host
	side target there

	long_packets
	if fault mtu "the MTU of both sides is 1500 for 20 s"; then
		too_long
		long=$TOO_LONG
		check "1500" mtu 1500
		check "and there" there mtu 1500
		nap 20
		check "packets were too long for it" too_long_since $long
		is_ours nvme-rdma && check_await 60 "I/O goes on with it" live_and_moves
		check "$MTU" mtu "$MTU"
		check "and there" there mtu "$MTU"
		fault_end ok
	fi

	# No NVMe module sends this MAD: it is a fault of soft-RoCE, whatever the MAD is for
	if fault gsi-target "its address is removed while a connection request of it is unanswered"; then
		check "the host answers nothing" netem loss 100%
		check "the target asks it" there request "$MY_IP4"
		nap 1
		check "the address goes" there address_goes
		check_await 30 "the GSI queue pair of soft-RoCE is in ERR" there gsi_dead
		check "it asks no more" there request_ends
		check "the address comes back" there address_comes
		mads_are_sent there
		check "the host answers" netem
		fault_end ok
	fi

	if fault device-target "its RDMA device is deleted, and made anew after 5 s"; then
		check "it goes" there device_goes
		nap 5
		check "it comes back" there device_comes
		fault_end ok
		fault_stood 4000
	fi

	# Without a device a controller cannot reconnect
	if fault device-host "its RDMA device is deleted, and made anew"; then
		check "it goes" device_goes
		check "it comes back" device_comes
		fault_end gone
	fi
}

fault_run
