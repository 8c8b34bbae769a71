#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   features: IPv4, IPv6, link-local with scope, host_traddr, wildcards, ports on one device, many controllers, duplicate_connect, hostnqn, hostid
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:addresses
host_load
wire_up
must "a second IPv4 address" ip addr add 10.77.0.11/24 dev eth0
LINK_LOCAL=$(ip -6 -o addr show dev eth0 scope link | sed 's|.*inet6 ||;s|/.*||')
must "a link-local address" [ -n "$LINK_LOCAL" ]
must "a disk" memory_disk nullb0 64
must "a subsystem" subsys $N
must "a namespace" namespace $N 1 /dev/nullb0

step "four ports on one device: any IPv4, IPv6, link-local with scope, any IPv6"
must "port 1" port 1 0.0.0.0 4420
must "port 2" port 2 "$MY_IP6" 4421
must "port 3" port 3 "$LINK_LOCAL%eth0" 4422
must "port 4" port 4 :: 4423
for p in 1 2 3 4; do
	must "open port $p" expose $p $N
done
equal "listeners" 4 "$(listeners)"

# over ADDRESS SERVICE PEER: connect, compare data, and check which host is connected
over() {
	must "connect to $1, service $2" connect $N "$1" "$2" -i 1
	equal "the controller's address" "traddr=$1,trsvcid=$2" \
		"$(ctrl_attr address | sed 's/,src_addr=.*//')"
	check "both connections are with $3" [ "$(rdma resource show cm_id |
		grep -c "state CONNECT.* dst-addr $3:$2 ")" = 2 ]
	get_disk $N 1
	check "data" round_trip "$DISK" 65536
	check "disconnect" disconnect $N
}

over "$MY_IP4" 4420 "$MY_IP4"
over 10.77.0.11 4420 10.77.0.11
over "$MY_IP6" 4421 "$MY_IP6"
over "$LINK_LOCAL%eth0" 4422 "$LINK_LOCAL"
over "$LINK_LOCAL%eth0" 4423 "$LINK_LOCAL"
over "$MY_IP6" 4423 "$MY_IP6"

step "a port on any address says in its log which one a host came by"
log_addresses() { sed -n 's/^traddr: *//p' "$CHECK_OUT" | sort -u; }
for a in "$MY_IP4" 10.77.0.11; do
	check "discovery at $a" discover "$a" 4420
	equal "its log has this address alone" "$a" "$(log_addresses)"
done
check "discovery at the IPv6 address" discover "$MY_IP6" 4423
equal "its log has this address alone" "$MY_IP6" "$(log_addresses)"

# TRADDR is the 256 bytes at 512 of the entry, which is behind a header of 1 KiB
check "discovery that stays" discover "$MY_IP4" 4420 -p -c 1
CTRL=$(controllers)
check "its log" eval "nvme get-log /dev/$CTRL --log-id=0x70 --log-len=2048 \
	--raw-binary | tail -c +1537 | head -c 256 > /run/traddr"
equal "the address is in it" "$MY_IP4" "$(head -c ${#MY_IP4} /run/traddr)"
equal "and nothing else" 0 "$(tail -c +$((${#MY_IP4} + 1)) /run/traddr | tr -d '\0' | wc -c)"
check "disconnect" nvme disconnect -d "$CTRL"

# from ADDRESS: connections of the host that come from there
from() { rdma resource show cm_id | grep -c "src-addr $1:[0-9]* dst-addr $2:"; }

step "host_traddr"
must "from 10.77.0.11" connect $N "$MY_IP4" 4420 -i 1 -w 10.77.0.11
equal "two connections come from there" 2 "$(from 10.77.0.11 "$MY_IP4")"
equal "the address says so" 1 \
	"$(ctrl_attr address | grep -c "host_traddr=10.77.0.11")"
get_disk $N 1
check "data" round_trip "$DISK" 65536
check "a reset" nvme reset "/dev/$CTRL"
check_await 20 "live again" state_is "$CTRL" live
equal "still from there" 2 "$(from 10.77.0.11 "$MY_IP4")"
check "disconnect" disconnect $N
must "from an IPv6 address" connect $N "$MY_IP6" 4421 -i 1 -w "$MY_IP6"
check "disconnect" disconnect $N
mark
check "an address that is not this host's is refused" fabrics_refused \
	"traddr=$MY_IP4,nqn=$N,host_traddr=10.77.0.77" \
	"Cannot assign requested address"
said 5 "the kernel's words" "nvme.*queue 0 to $MY_IP4:4420: .*host_traddr"
check "words are refused" fabrics_refused \
	"traddr=$MY_IP4,nqn=$N,host_traddr=here" "Invalid argument"

step "duplicate_connect"
must "connect" connect $N "$MY_IP4" 4420 -i 1
mark
check "once more is refused" fabrics_refused \
	"traddr=$MY_IP4,trsvcid=4420,nqn=$N,hostnqn=$HOSTNQN,hostid=$HOSTID" \
	"already in progress"
said 5 "the kernel's words" "subsystem \"$N\" at $MY_IP4:4420 is already connected"
must "unless duplicate_connect is given" fabrics \
	"traddr=$MY_IP4,trsvcid=4420,nqn=$N,hostnqn=$HOSTNQN,hostid=$HOSTID,duplicate_connect"
equal "two controllers" 2 "$(controllers $N | wc -l)"
get_disk $N 1
check "data over both" fio_verify "$DISK" 1M
check "disconnect" disconnect $N

step "hostnqn, hostid"
TWO=nqn.2014-08.org.nvmexpress:uuid:$(< /proc/sys/kernel/random/uuid)
mark
must "another host" connect $N "$MY_IP4" 4420 -i 1 -q "$TWO" -I "${TWO##*:}"
equal "its name" "$TWO" "$(ctrl_attr hostnqn)"
equal "its identifier" "${TWO##*:}" "$(ctrl_attr hostid)"
said 5 "the target's words" "nvmet: [Cc]reat(ing|ed) nvm controller .* for NQN $TWO"
check "Get Features, host identifier" nvme admin-passthru "/dev/$CTRL" \
	--opcode=0xa --cdw10=0x81 --cdw11=1 --data-len=16 --read -b
equal "the same" "${TWO##*:}" "$(tail -c 16 "$CHECK_OUT" | od -An -v -tx1 |
	tr -d ' \n' | sed 's/^\(.\{8\}\)\(.\{4\}\)\(.\{4\}\)\(.\{4\}\)/\1-\2-\3-\4-/')"
check "disconnect" disconnect $N

step "four subsystems, two ports each, connected at once"
for i in 1 2 3 4; do
	must "disk $i" memory_disk nullb$i 16
	must "subsystem $i" subsys $N-$i
	must "namespace $i" namespace $N-$i 1 /dev/nullb$i
	must "on port 1" expose 1 $N-$i
	must "on port 2" expose 2 $N-$i
done
pids=
for i in 1 2 3 4; do
	_connect $N-$i "$MY_IP4" 4420 -i 1 > /run/c.$i 2>&1 & pids="$pids $!"
	_connect $N-$i "$MY_IP6" 4421 -i 1 > /run/c6.$i 2>&1 & pids="$pids $!"
done
for p in $pids; do
	check "connect" wait "$p"
done
equal "eight controllers" 8 "$(controllers | wc -l)"
for i in 1 2 3 4; do
	get_disk $N-$i 1
	echo "subsystem $i" | dd of="$DISK" conv=sync bs=4096 oflag=direct \
		status=none
done
for i in 1 2 3 4; do
	get_disk $N-$i 1
	equal "its own data" "subsystem $i" "$(dd if="$DISK" bs=4096 count=1 \
		iflag=direct status=none | tr -d '\0')"
done
check "disconnect from all" disconnect_all
all_down
finish
