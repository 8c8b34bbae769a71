# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The virtual RDMA NIC (tests/vrnic), for a scenario with "with: vrnic" in its
# head that sources this after lib.sh.
#
# vrnic_wire makes two network cards joined by a wire in one guest, and a device on each: vrnic0
# is the target's, at 10.77.0.1, vrnic1 the host's, at 10.77.0.2. Over InfiniBand these
# addresses belong to IPoIB, on ib0 and ib1. Both are in one network namespace, because host and
# target use only one. Rules send packets between them over the wire nevertheless.

VRNIC_SHOWN=/sys/kernel/debug/vrnic
TARGET_DEV=vrnic0 TARGET_IP=10.77.0.1 TARGET_CARD=eth0
HOST_DEV=vrnic1 HOST_IP=10.77.0.2 HOST_CARD=eth1

# vrnic_is PARAMETER=VALUE...: what devices are like that are made from now on
vrnic_is() {
	local p
	[ -d /sys/module/vrnic ] || modprobe vrnic || return 1
	for p; do
		echo "${p#*=}" > "/sys/module/vrnic/parameters/${p%%=*}" || return 1
	done
}

# vrnic_add NAME CARD: a device on a card
vrnic_add() {
	rdma link add "$1" type vrnic netdev "$2" && await 20 rxe_ready "$1"
}

# vrnic_fault DEVICE LINE...: see tests/vrnic/driver/fault.c
vrnic_fault() {
	local dev=$1
	shift
	echo "$*" > "$VRNIC_SHOWN/$dev/faults"
}

# none_armed DEVICE: no fault is still to come; a file of debugfs has no size
none_armed() { [ -z "$(cat "$VRNIC_SHOWN/$1/faults")" ]; }

# vrnic_sa LINE...: see tests/vrnic/driver/sa.c
vrnic_sa() { echo "$*" > $VRNIC_SHOWN/sa; }
sa_count() { sed -n "s/^$1 //p" $VRNIC_SHOWN/sa; }

# vrnic_count DEVICE KEY: a counter of the whole device
vrnic_count() { sed -n "s/^$2 //p" "$VRNIC_SHOWN/$1/counters"; }

# vrnic_qps DEVICE MODULE: the numbers of its queue pairs
vrnic_qps() {
	sed -n "s/^qp \([0-9]*\) owner=$2 .*/\1/p" "$VRNIC_SHOWN/$1/counters"
}

# by device: how often one was broken through a fault of the other side's device
declare -A EXCUSED
# no_violations DEVICE...: no rule of verbs was broken
no_violations() {
	local dev
	for dev; do
		equal "no rule was broken on $dev" "${EXCUSED[$dev]:-0}" "$(vrnic_count "$dev" violations)" ||
			dmesg | grep "$dev: violation:" | head -n 20 | sed 's/^/    /'
	done
}

has_carrier() { [ "$(cat "/sys/class/net/$1/carrier" 2> /dev/null)" = 1 ]; }

# both addresses are this guest's own: without these, a packet from the one to
# the other never leaves, and is not taken if it comes
over_the_wire() {
	local c
	for c; do
		echo 1 > "/proc/sys/net/ipv4/conf/$c/accept_local" &&
			echo 1 > "/proc/sys/net/ipv4/conf/$c/arp_ignore" &&
			echo 0 > "/proc/sys/net/ipv4/conf/$c/rp_filter" || return 1
	done
	echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter
}

_rules() {
	ip rule add pref 10 iif lo from $HOST_IP to $TARGET_IP lookup 101 &&
		ip rule add pref 11 iif lo from $TARGET_IP to $HOST_IP lookup 100 &&
		ip rule add pref 100 lookup local && ip rule del pref 0
}

# a route goes with its card
_routes() {
	ip route replace $TARGET_IP dev "$HOST_CARD" table 101 &&
		ip route replace $HOST_IP dev "$TARGET_CARD" table 100
}

_cards() {
	ip link add eth0 type veth peer name eth1 && ip link set eth0 up &&
		ip link set eth1 up
}

pings() { busybox ping -c 1 -W 2 -I $HOST_IP $TARGET_IP; }

# vrnic_wire LINK [PARAMETER=VALUE...]: all of it, ready for use
vrnic_wire() {
	must "devices of link type $1" vrnic_is "link=$1" "${@:2}"
	must "two network cards" _cards
	must "modules" modprobe -a rdma_cm ib_uverbs
	if [ "$1" = ib ]; then
		must "IPoIB" modprobe ib_ipoib
		TARGET_CARD=ib0 HOST_CARD=ib1
	fi
	must "$TARGET_DEV" vrnic_add $TARGET_DEV eth0
	must "$HOST_DEV" vrnic_add $HOST_DEV eth1
	must "the target's address" card_up "$TARGET_CARD" $TARGET_IP/24
	must "the host's address" card_up "$HOST_CARD" $HOST_IP/24
	must "routes over the wire" over_the_wire "$TARGET_CARD" "$HOST_CARD"
	must "rules" _rules
	must_await 20 "carriers" has_carrier "$TARGET_CARD"
	must_await 20 "carriers" has_carrier "$HOST_CARD"
	must "routes" _routes
	must_await 30 "the host reaches the target" pings
	remember_wire
}

# remember_wire: what both devices have now, for vrnic_down
remember_wire() {
	RDMA_DEV=$HOST_DEV remember_resources host
	RDMA_DEV=$TARGET_DEV
	remember_resources
}

# vrnic_anew PARAMETER=VALUE...: create both devices again
vrnic_anew() {
	no_violations $TARGET_DEV $HOST_DEV
	must "the host's device goes" timeout 30 rdma link delete $HOST_DEV
	must "the target's" timeout 30 rdma link delete $TARGET_DEV
	must "they are to be so" vrnic_is "$@"
	must "$TARGET_DEV" vrnic_add $TARGET_DEV eth0
	must "$HOST_DEV" vrnic_add $HOST_DEV eth1
}

# card_up CARD ADDRESS/LEN: sets the card up, with its own address
card_up() {
	[ ! -e "/sys/class/net/$1/mtu" ] || ip link set "$1" up || return 1
	ip addr add "$2" dev "$1"
}

# connect_wire NQN [options]: as connect, from the host's device to the target's
connect_wire() {
	local nqn=$1
	shift
	connect "$nqn" $TARGET_IP 4420 -w $HOST_IP "$@"
}

# wire_data NQN [options of connect]: data is written and read back, on all paths
wire_data() {
	local nqn=$1 size
	shift
	must "connect" connect_wire "$nqn" -i 2 "$@"
	check_module nvme-rdma
	check_module nvmet-rdma
	get_disk "$nqn" 1
	for size in 512 16384 1048576; do
		check "$size bytes, direct" round_trip "$DISK" $size
	done
	check "pieces here and there" _pieces "$DISK"
	check "disconnect" disconnect "$nqn"
}

# buffers that begin and end anywhere, as an application may have them
_pieces() {
	fio --name=pieces --filename="$1" --direct=1 --ioengine=libaio --iodepth=16 \
		--rw=randwrite --bsrange=512-64k --bs_unaligned=0 --iomem_align=512 \
		--size=4M --verify=crc32c --do_verify=1 --output-format=terse
}

# _host_resources_are MOMENT: as then
_host_resources_are() {
	# shellcheck disable=SC2034 # resources reads it
	local RDMA_DEV=$HOST_DEV
	resources_back "$1"
}

_host_has_qps() { [ -n "$(vrnic_qps $HOST_DEV nvme_rdma)" ]; }

# called_off OPTIONS: a signal ends an attempt to connect that has no answer
called_off() {
	local from ms
	env --default-signal=INT dd of=/dev/nvme-fabrics bs=4096 status=none \
		<<< "transport=rdma,$1" 2> /run/called-off &
	must_await 20 "a controller is being created" not no_controllers
	must_await 20 "it has a queue pair" _host_has_qps
	begin from
	kill -INT $!
	wait $!
	ms=$(ms_since "$from")
	check "it ended at once: $ms ms" at_most $((4000 * SLOW)) "$ms"
	check "no controller is left" no_controllers
}

# device_goes: the host's device is removed under I/O to $DISK, and returns. The caller verifies
# acknowledged writes on another disk.
device_goes() {
	must "I/O" acked_start "$DISK"
	no_violations $HOST_DEV
	check "$HOST_DEV is taken away under I/O" \
		timeout 60 rdma link delete $HOST_DEV
	check "I/O fails, and comes to an end" acked_given_up
	check_await 30 "its controllers are gone" no_controllers
	must "$HOST_DEV is back" vrnic_add $HOST_DEV eth1
	RDMA_DEV=$HOST_DEV remember_resources host
}

# vrnic_down: as all_down, for both devices; no rule was broken
vrnic_down() {
	step "down"
	disconnect_all > /dev/null 2>&1
	say_threads
	check "the target is taken down" target_teardown
	equal "nobody listens" 0 "$(listeners)"
	nothing_left
	check_await 20 "nor on the host's device (${RESOURCES[host]})" \
		_host_resources_are host || rdma resource show
	unload nvme-rdma nvmet-rdma
	no_violations $TARGET_DEV $HOST_DEV
	check "$HOST_DEV can be taken away" timeout 30 rdma link delete $HOST_DEV
	check "$TARGET_DEV can be taken away" timeout 30 rdma link delete $TARGET_DEV
	unload ib_ipoib vrnic
	no_leak "kmemleak finds nothing after unloading"
}
