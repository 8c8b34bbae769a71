#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    two paths to a disk under I/O, each over RDMA devices of its own; devices on either side die or are removed one after another: no error reaches the application, no acknowledged write is lost
# with:     vrnic
# variants: ours none
# check:    none
# append:   init_on_free=1
# timeout:  600
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"
. "$GUEST_DIR/lib/vrnic-faults.sh"

N=nqn.2026-01.test:paths
TARGET_TWO=vrnic2 TARGET_TWO_IP=10.78.0.1
HOST_TWO=vrnic3 HOST_TWO_IP=10.78.0.2
# A host is told when its own device fails. If the target's device fails, the host has to notice
# that there is no response: commands time out after 5 s, and so does the keep-alive.
TOLD=4000 UNTOLD=12000

second_wire() {
	ip link add eth2 type veth peer name eth3 && ip link set eth2 up &&
		ip link set eth3 up &&
		vrnic_add $TARGET_TWO eth2 && vrnic_add $HOST_TWO eth3 &&
		card_up eth2 $TARGET_TWO_IP/24 && card_up eth3 $HOST_TWO_IP/24 &&
		over_the_wire eth2 eth3 &&
		ip rule add pref 12 iif lo from $HOST_TWO_IP to $TARGET_TWO_IP lookup 103 &&
		ip rule add pref 13 iif lo from $TARGET_TWO_IP to $HOST_TWO_IP lookup 102 &&
		ip route replace $TARGET_TWO_IP dev eth3 table 103 &&
		ip route replace $HOST_TWO_IP dev eth2 table 102
}
OPTIONS="-i 2 -c 1 -l 600 -k 5"
# shellcheck disable=SC2086
connect_one() { connect_wire $N $OPTIONS && ONE=$CTRL; }
# shellcheck disable=SC2086
connect_two() {
	connect $N $TARGET_TWO_IP 4420 -w $HOST_TWO_IP $OPTIONS && TWO=$CTRL
}

host_load
vrnic_wire roce ack_lag=8
must "a second wire" second_wire
must "a disk" memory_disk nullb0 64
soon_noticed
simple_target $N /dev/nullb0 $TARGET_IP
must "a second port" eval "port 2 $TARGET_TWO_IP && expose 2 $N"
check_await 30 "both listen" listeners_are 2
must "connect" connect_one
must "by the other wire" connect_two
get_disk $N 1
must "I/O by both" round_robin

# a controller that was connected again has another name
both_paths_move() { both_move "$ONE" "$TWO"; }

# stuck DEVICE: the path by it is not back. In-tree targets do not listen by themselves
# where a device was taken away.
stuck() {
	outcome=stuck
	! is_ours nvme-rdma || return
	case $1 in
	"$TARGET_DEV") _port_anew 1 $TARGET_IP ;;
	"$TARGET_TWO") _port_anew 2 $TARGET_TWO_IP ;;
	esac
}
_port_anew() {
	must "the port is made anew" eval "conceal $1 $N && port_remove $1 && port $1 $2 &&
		expose $1 $N"
	await 60 both_paths_move
}

# ends NAME DEVICE CARD MS [CTRL CONNECT]: a device "dies", or is "taken", under I/O, and
# another is there. No I/O takes more than so long. With a device of the host's its
# controller goes, unless it was between two attempts to reconnect, and has to be connected
# by CONNECT.
ends() {
	local name=$1 dev=$2 card=$3 ms=$4 ctrl=${5-} again=${6-} outcome=ok from back
	step "$name: $dev"
	must "I/O" faulty_load
	judge "by both paths" await 20 both_paths_move
	if [[ "$name" = *-dies* ]]; then
		must "$dev dies" vrnic_fault "$dev" device die
		acked_moves || :
		judge "I/O goes on" await $((ms / 1000)) acked_moves
		nap 3
		no_violations "$dev"
	fi
	judge "$dev is taken away" timeout 60 rdma link delete "$dev" || ends_here "$name"
	acked_moves || :
	judge "I/O goes on" await $((ms / 1000)) acked_moves
	must "$dev is there" vrnic_add "$dev" "$card"
	begin from
	[ -z "$ctrl" ] || [ -e "/sys/class/nvme/${!ctrl}" ] || judge "connect" $again
	judge "both paths are back" await 60 both_paths_move || stuck "$dev"
	back=$(ms_since "$from")
	judge "no I/O error, every acknowledged write is there" acked_clean || outcome=errors
	echo "result $name outcome=$outcome stall_ms=$(acked_value longest_stall_ms)" \
		"back_ms=$back slowest_ms=$(acked_value slowest_io_ms)" \
		"io_errors=$(acked_value io_errors)" \
		"bytes_verified=$(acked_found bytes_verified)"
	judge "the slowest I/O took less than $ms ms" \
		at_most "$ms" "$(acked_value slowest_io_ms)"
}
# ends_here NAME: ends the scenario: a failure of our module, and the outcome of any other
ends_here() {
	is_ours nvme-rdma || echo "result $1 outcome=stuck"
	finish
}
for how in taken dies; do
	ends path-host-$how $HOST_DEV eth1 $TOLD ONE connect_one
	ends path-host-$how-2 $HOST_TWO eth3 $TOLD TWO connect_two
	ends path-target-$how $TARGET_DEV eth0 $UNTOLD
	ends path-target-$how-2 $TARGET_TWO eth2 $UNTOLD
done

step "the second wire goes"
check "disconnect" disconnect $N
check "its port goes" eval "conceal 2 $N && port_remove 2"
no_violations $HOST_TWO $TARGET_TWO
check "$HOST_TWO goes" timeout 30 rdma link delete $HOST_TWO
check "$TARGET_TWO goes" timeout 30 rdma link delete $TARGET_TWO
vrnic_down
finish
