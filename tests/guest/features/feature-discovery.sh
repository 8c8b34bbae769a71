#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   features: referrals, connect-all, persistent discovery controllers and their events, a configured discovery NQN, allowed hosts, cntlid range, identity
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"

A=nqn.2026-01.test:a
B=nqn.2026-01.test:b
C=nqn.2026-01.test:c
D=nqn.2026-01.test:d
TWO=nqn.2014-08.org.nvmexpress:uuid:$(< /proc/sys/kernel/random/uuid)
host_load
wire_up
must "a disk" memory_disk nullb0 32
must "another" memory_disk nullb1 32
must "and another" memory_disk nullb2 32

# names: of the subsystems in the log that the last checked discovery printed
names() { sed -n 's/^subnqn: *nqn.2026-01.test://p' "$CHECK_OUT" | sort | tr -d '\n'; }

step "two ports; the first refers to the second"
must "A for all" subsys $A
must "B for host two" subsys $B "$TWO"
must "C for all" subsys $C
must "A's disk" namespace $A 1 /dev/nullb0
must "B's disk" namespace $B 1 /dev/nullb1
must "C's disk" namespace $C 1 /dev/nullb2
must "port 1" port 1 "$MY_IP4" 4420
must "port 2" port 2 "$MY_IP6" 4421
must "A on port 1" expose 1 $A
must "B on port 1" expose 1 $B
must "C on port 2" expose 2 $C
r=$NVMET/ports/1/referrals/second
must "a referral" mkdir $r
must "by RDMA" _put $r/addr_trtype rdma
must "to IPv6" _put $r/addr_adrfam ipv6
must "to port 2's address" _put $r/addr_traddr "$MY_IP6"
must "and service" _put $r/addr_trsvcid 4421
must "on" _put $r/enable 1
check "discovery" discover "$MY_IP4"
equal "port 1 has A, for this host" a "$(names)"
equal "and a referral" 1 "$(grep -c '^subtype: .*referral' "$CHECK_OUT")"
equal "to port 2" "$MY_IP6 4421" "$(grep -A9 '^subtype: .*referral' "$CHECK_OUT" |
	sed -n 's/^traddr: *//p;s/^trsvcid: *//p' | sort -r | xargs)"
check "connect-all" nvme connect-all -t rdma -a "$MY_IP4" -s 4420
equal "A and, by the referral, C" "$A $C" \
	"$(for c in $(controllers); do ctrl_attr subsysnqn "$c"; done | sort | xargs)"
get_disk $A 1
check "data on A" round_trip "$DISK" 65536
get_disk $C 1
check "data on C" round_trip "$DISK" 65536
check "disconnect from all" disconnect_all

step "allowed hosts"
check "discovery by host two" discover "$MY_IP4" 4420 -q "$TWO" -I "${TWO##*:}"
equal "it sees A and B" ab "$(names)"
mark
check "this host has no access to B" fabrics_refused \
	"traddr=$MY_IP4,nqn=$B,hostnqn=$HOSTNQN,hostid=$HOSTID" "Permission denied"
said 5 "the host's words" "Connect for subsystem $B is not allowed, hostnqn: $HOSTNQN"
must "host two has" connect $B "$MY_IP4" 4420 -i 1 -q "$TWO" -I "${TWO##*:}"
check "disconnect" disconnect $B
must "this host is made known" mkdir "$NVMET/hosts/$HOSTNQN"
must "and allowed" ln -s "$NVMET/hosts/$HOSTNQN" \
	"$NVMET/subsystems/$B/allowed_hosts/$HOSTNQN"
check "discovery" discover "$MY_IP4"
equal "it sees A and B" ab "$(names)"
must "and connects to B" connect $B "$MY_IP4" 4420 -i 1
check "disconnect" disconnect $B
check "not allowed any more" rm "$NVMET/subsystems/$B/allowed_hosts/$HOSTNQN"
check "has no access again" fabrics_refused \
	"traddr=$MY_IP4,nqn=$B,hostnqn=$HOSTNQN,hostid=$HOSTID" "Permission denied"

# told PROPERTY: the kernel has told user space
told() { grep -q "^$1\$" /run/uevents; }

step "a persistent discovery controller, and what it tells of"
udevadm monitor --kernel --property --subsystem-match=nvme > /run/uevents 2>&1 &
MONITOR=$!
check_await 20 "events are watched" grep -q KERNEL /run/uevents
check "discovery" discover "$MY_IP4" 4420 -p -c 1
CTRL=$(controllers)
equal "one controller stays" 1 "$(controllers | wc -w)"
equal "for discovery" "live discovery nqn.2014-08.org.nvmexpress.discovery" \
	"$(state_of "$CTRL") $(ctrl_attr cntrltype) $(ctrl_attr subsysnqn)"
equal "it has an admin queue only" 1 "$(ctrl_attr queue_count)"
check "and a keep-alive" at_least 1 "$(ctrl_attr kato)"
check "D for all" subsys $D
check "on port 1" expose 1 $D
check_await 20 "its event comes" told NVME_AEN=0x70f002
check "the log by this controller" nvme discover -d "$CTRL" -t rdma \
	-a "$MY_IP4" -s 4420
equal "has A and D" ad "$(names)"
equal "it needed no other controller" "$CTRL" "$(controllers)"
check "a reset" nvme reset "/dev/$CTRL"
check_await 20 "live again" state_is "$CTRL" live
: > /run/uevents
check "D goes" conceal 1 $D
check_await 20 "the event comes" told NVME_AEN=0x70f002
: > /run/uevents
check "port 1 closes" bash -c "rm $NVMET/ports/1/subsystems/*"
check_await 20 "the controller is away" state_is "$CTRL" connecting
check "port 1 opens" expose 1 $A
check_await 30 "and comes back" state_is "$CTRL" live
check_await 20 "user space is told to look again" told NVME_EVENT=rediscover
check "disconnect" nvme disconnect -d "$CTRL"
check "no controller is left" no_controllers
kill $MONITOR

printf_to() { printf '%s' "$2" > "$1"; }

if [ -e $NVMET/discovery_nqn ]; then
	step "a discovery NQN of one's own"
	was=$(cat $NVMET/discovery_nqn)
	# The kernel takes a newline for a second, empty value.
	must "the NQN" printf_to $NVMET/discovery_nqn nqn.2026-01.test:discovery
	check "discovery by it" discover "$MY_IP4" 4420 \
		-n nqn.2026-01.test:discovery
	equal "the log has A" 1 "$(grep -c "^subnqn: *$A\$" "$CHECK_OUT")"
	check "by the well-known one" discover "$MY_IP4"
	equal "names it" 1 "$(grep -c '^subnqn: *nqn.2026-01.test:discovery$' \
		"$CHECK_OUT")"
	must "and back" printf_to $NVMET/discovery_nqn "$was"
else
	not_here "the target has no discovery_nqn"
fi

step "controller IDs from 10 to 11, and an identity"
# No host has connected to D yet: its model can still be changed.
s=$NVMET/subsystems/$D
must "least" _put $s/attr_cntlid_min 10
must "most" _put $s/attr_cntlid_max 11
must "model" _put $s/attr_model "a model"
must "serial" _put $s/attr_serial "a serial"
must "on port 1" expose 1 $D
o=traddr=$MY_IP4,nqn=$D,nr_io_queues=1,duplicate_connect
must "connect" fabrics "$o"
equal "its ID" 10 "$(ctrl_attr cntlid)"
check "Identify" nvme id-ctrl "/dev/$CTRL"
equal "ID, model, serial" "0xa a model a serial" \
	"$(id_field cntlid) $(id_field mn | xargs) $(id_field sn | xargs)"
must "once more" fabrics "$o"
equal "its ID" 11 "$(ctrl_attr cntlid)"
mark
check "a third one is refused" fabrics_refused "$o" "Device or resource busy"
said 5 "the host's words" "controller is busy or not available"
check "disconnect" disconnect $D
check_await 20 "no controller is left" no_controllers
must "then there is one again" fabrics "$o"
equal "its ID" 10 "$(ctrl_attr cntlid)"
check "disconnect" disconnect $D
rmdir $r
all_down
finish
