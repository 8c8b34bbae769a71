#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   features: native multipath over two ports: numa, round-robin, queue-depth; ANA groups and states; failover and failback under verified I/O
# shares:  io
# check:   6.12
# timeout: 400
# cpus:    1 2
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:multipath
P=$NVMET/ports
host_load
wire_up
must "a disk" memory_disk nullb0 64
must "another disk" memory_disk nullb1 32

step "a subsystem on two ports, each namespace in an ANA group of its own"
must "a subsystem" subsys $N
must "namespace 1" namespace $N 1 /dev/nullb0
must "port 1" port 1 "$MY_IP4" 4420
must "port 2" port 2 "$MY_IP4" 4421
for p in 1 2; do
	must "group 2 on port $p" mkdir $P/$p/ana_groups/2
	must "optimized" _put $P/$p/ana_groups/2/ana_state optimized
	must "open port $p" expose $p $N
done
must "connect to port 1" connect $N "$MY_IP4" 4420 -i 1 -c 1 -l 600
ONE=$CTRL
must "connect to port 2" connect $N "$MY_IP4" 4421 -i 1 -c 1 -l 600
TWO=$CTRL
get_disk $N 1
SUBSYS=$(echo /sys/class/nvme-subsystem/nvme-subsys*)
check "one disk, of both controllers" \
	[ -e "$SUBSYS/$ONE" -a -e "$SUBSYS/$TWO" -a "$(has_disk $N 1; echo $?)" = 0 ]

if is_ours nvme-rdma; then
	equal "no peer's keys reach the other controller: protection domains" 2 \
		"$(rdma resource show pd | grep -c '\[nvme_rdma\]')"
fi

# path CTRL NSID: the name of a path to a namespace
path() {
	local d
	for d in /sys/class/nvme/"$1"/nvme*c*n*; do
		[ "$(cat "$d/nsid")" = "$2" ] && echo "${d##*/}"
	done
}
ONE1=$(path "$ONE" 1)
TWO1=$(path "$TWO" 1)

# done_by PATH: commands that this path has completed
done_by() {
	local r w
	read -r r _ _ _ w _ < "/sys/block/$1/stat"
	echo $((r + w))
}

# shares: by how much each path has moved on while 60 commands went through
shares() {
	local one two
	one=$(done_by "$ONE1") two=$(done_by "$TWO1")
	await 20 _enough || { echo "I/O does not go on"; return 1; }
	ONE_DID=$(($(done_by "$ONE1") - one)) TWO_DID=$(($(done_by "$TWO1") - two))
	echo "path 1 did $ONE_DID, path 2 $TWO_DID"
}
_enough() { [ $(($(done_by "$ONE1") + $(done_by "$TWO1") - one - two)) -ge 60 ]; }

# By the time of a change some commands are still under way on the other path,
# so a check of shares is given a few turns.
only_one() { shares && [ "$TWO_DID" -eq 0 ] && [ "$ONE_DID" -gt 0 ]; }
only_two() { shares && [ "$ONE_DID" -eq 0 ] && [ "$TWO_DID" -gt 0 ]; }
only_any() { shares && [ $((ONE_DID * TWO_DID)) -eq 0 ]; }
both() { shares && [ "$ONE_DID" -gt 5 ] && [ "$TWO_DID" -gt 5 ]; }

policy() {
	must "policy $1" _put "$SUBSYS/iopolicy" "$1"
	equal "it is" "$1" "$(cat "$SUBSYS/iopolicy")"
}

ana() { # PORT GROUP STATE
	check "port $1, group $2: $3" _put $P/$1/ana_groups/$2/ana_state "$3"
}
path_is() { [ "$(cat "/sys/block/$1/ana_state")" = "$2" ]; }

step "policies, both paths optimized"
must "I/O" acked_start "$DISK" --block 4096 --writers 2
policy numa
check_await 30 "one path does it all" only_any
policy round-robin
check_await 30 "both do" both
if echo queue-depth 2> /dev/null > "$SUBSYS/iopolicy"; then
	policy queue-depth
	check_await 30 "both do" both
	policy round-robin
else
	not_here "there is no policy queue-depth"
fi

step "ANA states move the I/O"
ana 1 1 non-optimized
check_await 20 "the host knows" path_is "$ONE1" non-optimized
check_await 30 "path 2 does it all" only_two
ana 2 1 inaccessible
check_await 20 "the host knows" path_is "$TWO1" inaccessible
check_await 30 "path 1 does it all" only_one
ana 1 1 change
check_await 20 "the host knows" path_is "$ONE1" change
check_await 60 "I/O waits" acked_stands
ana 1 1 inaccessible
check_await 20 "the host knows" path_is "$ONE1" inaccessible
check "I/O still waits" not acked_moves
ana 2 1 optimized
check_await 20 "the host knows" path_is "$TWO1" optimized
check_await 30 "path 2 does it all" only_two
ana 1 1 optimized
check_await 20 "the host knows" path_is "$ONE1" optimized
check_await 30 "both do" both

step "failover and failback, one way and the other"
for p in 1 2; do
	[ $p = 1 ] && gone=$ONE other=only_two || gone=$TWO other=only_one
	check "port $p closes" conceal $p $N
	check_await 20 "its controller is away" state_is "$gone" connecting
	check_await 30 "the other path does it all" $other
	check "port $p opens" expose $p $N
	check_await 30 "its controller is back" state_is "$gone" live
	check_await 30 "both paths do" both
done

step "no path at all for a while"
check "port 1 closes" conceal 1 $N
check "port 2 closes" conceal 2 $N
check_await 20 "both controllers are away" state_is "$ONE" connecting
check_await 20 "both controllers are away" state_is "$TWO" connecting
check_await 60 "I/O waits" acked_stands
check "port 2 opens" expose 2 $N
check "port 1 opens" expose 1 $N
check_await 30 "both are back" state_is "$ONE" live
check_await 30 "both are back" state_is "$TWO" live
check_await 30 "both paths do" both

step "one controller is reset, the other deleted"
check "reset" nvme reset "/dev/$ONE"
check_await 20 "live again" state_is "$ONE" live
check "delete" dd status=none of="/sys/class/nvme/$TWO/delete_controller" <<< 1
check_await 20 "it is gone" gone "/sys/class/nvme/$TWO"
acked_moves || :
check_await 20 "I/O goes on" acked_moves
check "no I/O error in all that time, every acknowledged write is there" acked_clean
equal "and the kernel saw none" 0 "$(dmesg | grep -c 'I/O error')"

step "a namespace in another group, with a state of its own"
must "connect to port 2 again" connect $N "$MY_IP4" 4421 -i 1 -c 1 -l 600
TWO=$CTRL
ana 1 2 inaccessible
n=$NVMET/subsystems/$N/namespaces/2
must "namespace 2" mkdir $n
must "its disk" _put $n/device_path /dev/nullb1
must "its group" _put $n/ana_grpid 2
must "on" _put $n/enable 1
get_disk $N 2
check_await 20 "path 1 to it is inaccessible" path_is "$(path "$ONE" 2)" inaccessible
check "path 2 is optimized" path_is "$(path "$TWO" 2)" optimized
check "path 1 to namespace 1 is optimized" path_is "$ONE1" optimized
check "data on it" round_trip "$DISK" 65536
check "the ANA log names both groups" nvme ana-log "/dev/$ONE"
equal "two" 2 "$(grep -c '^grpid' "$CHECK_OUT")"
equal "in both states" "inaccessible optimized " \
	"$(sed -n 's/^state[ \t]*:[ \t]*//p' "$CHECK_OUT" | sort | tr '\n' ' ')"
all_down
finish
