#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   features: MDTS of the target and of a port; an RDMA device is removed under I/O while another path continues
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:target
host_load
wire_up
must "a disk" memory_disk nullb0 64
simple_target $N /dev/nullb0
P=$NVMET/ports/1

# mdts_is WANTED KIB: checks the controller's MDTS, the disk's limit, and the number of commands
# for one MiB
mdts_is() {
	local was
	check "Identify" nvme id-ctrl "/dev/$CTRL"
	equal "MDTS" "$1" "$(id_field mdts)"
	get_disk $N 1
	equal "the disk's largest transfer, in KiB" "$2" \
		"$(cat "/sys/block/${DISK##*/}/queue/max_hw_sectors_kb")"
	must "count commands" counting $COMMANDS opcode
	was=$(counted $COMMANDS "opcode: *1 ")
	check "a MiB" round_trip "$DISK" 1048576
	equal "came in $((1024 / $2)) writes" $((1024 / $2)) \
		$(($(counted $COMMANDS "opcode: *1 ") - was))
	counted_off $COMMANDS opcode
}

step "a MiB in one command"
must "connect" connect $N "$MY_IP4" 4420 -i 1
mdts_is 8 1024
check "disconnect" disconnect $N

if [ -e $P/param_mdts ]; then
	for mdts in 5 255 0; do
		step "param_mdts of $mdts"
		must "close the port" conceal 1 $N
		must "param_mdts" _put $P/param_mdts $mdts
		must "open it" expose 1 $N
		must "connect" connect $N "$MY_IP4" 4420 -i 1
		case $mdts in
		5) mdts_is 5 128 ;;
		*) mdts_is 8 1024 ;;	# no more than the transport has
		esac
		refuse 10 "not while the port is open" dd of=$P/param_mdts \
			status=none <<< 6
		check "disconnect" disconnect $N
	done
else
	not_here "ports have no param_mdts"
fi

step "a second path, by a device of its own"
must "a card" plain_card eth1 10.88.0.1/24
must "its device" rdma link add rxe1 type rxe netdev eth1
must_await 20 "rxe1 is active" rxe_ready rxe1
must "a port there" port 2 10.88.0.1 4420
must "it listens" expose 2 $N
must "connect" connect $N "$MY_IP4" 4420 -i 2
first=$CTRL

# by_rxe1: number of connections on that device; both ends of each are in this guest
by_rxe1() { rdma resource show cm_id link rxe1 | grep -c 'state CONNECT'; }

for round in 1 2; do
	step "the device is removed under I/O, round $round"
	must "connect by rxe1" connect $N 10.88.0.1 4420 -i 2
	second=$CTRL
	equal "three queues, two ends each" 6 "$(by_rxe1)"
	get_disk $N 1
	round_robin
	must "I/O" io_start "$DISK"
	mark
	check "rxe1 is removed" timeout 60 rdma link delete rxe1
	check_await 30 "its controller goes" gone "/sys/class/nvme/$second"
	equal "the other one is live" live "$(state_of "$first")"
	said 5 "the target says what the port waits for" \
		"nvmet_rdma: port 2: waiting for"
	check_await 20 "I/O goes on" io_moves
	check "every block was verified, no error" io_stop
	must "rxe1 is back" rdma link add rxe1 type rxe netdev eth1
	must_await 20 "rxe1 is active" rxe_ready rxe1
	check_await 20 "both ports listen" listeners_are 2
done

step "the device of the last path is removed under I/O"
must "I/O" io_start "$DISK"
check "rxe0 is removed" timeout 60 rdma link delete rxe0
check_await 30 "no controller is left" no_controllers
check "fio saw the errors" io_errors
rxe0_back 2
must "connect" connect $N "$MY_IP4" 4420 -i 2
get_disk $N 1
check "data" fio_verify "$DISK" 2M
check "disconnect" disconnect $N
check "the target is taken down" target_teardown
check "rxe1 can be taken away" timeout 30 rdma link delete rxe1
all_down
finish
