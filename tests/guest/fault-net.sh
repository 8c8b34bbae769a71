#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    under I/O, on either side: another MTU, the address goes and comes back, the RDMA device is deleted and made anew, the interface gets another name
# guests:   target host
# variants: ours none
# check:    none
# timeout:  1500
. "$(dirname "$0")/lib.sh"
. "$GUEST_DIR/lib/fault.sh"

MY=MY_IP4	# of whoever evaluates it

mtu() { ip link set eth0 mtu "$1"; }
address_goes() { ip addr del "${!MY}/24" dev eth0; }
address_comes() { ip addr add "${!MY}/24" dev eth0; }

device_goes() { bounded 60 rdma link delete "$RDMA_DEV" && gone "/sys/class/infiniband/$RDMA_DEV"; }
device_comes() {
	rdma link add "$RDMA_DEV" type rxe netdev eth0 &&
		await 20 rxe_ready "$RDMA_DEV"
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
	local name=$1 at=${2-}

	if fault "address-$name" "its address is removed for 10 s"; then
		check "it goes" $at address_goes
		nap 10
		check "it comes back" $at address_comes
		fault_end ok
		fault_stood 8000
	fi
	if fault "rename-$name" "its interface has another name for 10 s"; then
		check "another name" $at rename eth0 wire0
		nap 10
		check "the old one" $at rename wire0 eth0
		fault_end ok
	fi
	if fault "mtu-$name" "its MTU is 1500 for 10 s, that of the other side is not"; then
		check "1500" $at mtu 1500
		nap 10
		check "$MTU" $at mtu "$MTU"
		fault_end ok
	fi
}

cases() {
	side host
	side target there

	if fault mtu "the MTU of both sides is 1500 for 20 s"; then
		check "1500" mtu 1500
		check "and there" there mtu 1500
		nap 20
		is_ours nvme-rdma && check_await 60 "I/O goes on with it" live_and_moves
		check "$MTU" mtu "$MTU"
		check "and there" there mtu "$MTU"
		fault_end ok
	fi

	if fault device-target "its RDMA device is deleted, and made anew after 5 s"; then
		check "it goes" there device_goes
		nap 5
		check "it comes back" there device_comes
		fault_end ok
		fault_stood 4000
	fi

	# Without a device a controller has nothing to come back over
	if fault device-host "its RDMA device is deleted, and made anew"; then
		check "it goes" device_goes
		check "it comes back" device_comes
		fault_end gone
	fi
}

fault_run
